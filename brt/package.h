// SPDX-License-Identifier: Apache-2.0
//
// package: a program as a controller carries it: the file tofino.bin that `silken build --sde`
// writes and that SetForwardingPipelineConfig sends back. It has the preprocessed P4 text and
// nothing that is loaded or run as it is. Numbers are big-endian:
//
//     offset  bytes
//          0      8  "SilkenP4"
//          8      4  version: 1
//         12      4  n, bytes of text
//         16      n  the text
//     16 + n     32  SHA-256 of all bytes before
//
// Nothing follows.
#ifndef SILKEN_BRT_PACKAGE_H
#define SILKEN_BRT_PACKAGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define BRT_PACKAGE_MOST ((size_t)64 << 20) // bytes of text

// The file's bytes, malloc'ed, '*length' of them; the caller frees them. At most BRT_PACKAGE_MOST
// bytes of text, of which line markers keep names of files without folders.
uint8_t *brt_package_write(const void *text, size_t n, size_t *length);
// '*text' is in 'bytes', not zero-terminated. Negative with a sentence.
int brt_package_read(const uint8_t *bytes, size_t length, const uint8_t **text, size_t *n,
                     struct sk_error *err);

#endif
