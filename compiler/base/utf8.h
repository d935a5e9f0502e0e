// SPDX-License-Identifier: Apache-2.0
//
// utf8: text from outside in documents that must be UTF-8.
#ifndef SILKEN_COMPILER_BASE_UTF8_H
#define SILKEN_COMPILER_BASE_UTF8_H

#include <stddef.h>

#define UTF8_REPLACEMENT "\xef\xbf\xbd" // for bytes that are no character

// Bytes of the character that zero-terminated 'text' begins with, 1 to 4; 0: it begins with none
// (also at its end). Neither surrogates nor overlong forms are characters.
size_t p4_utf8_length(const char *text);

#endif
