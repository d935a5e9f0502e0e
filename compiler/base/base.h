// SPDX-License-Identifier: Apache-2.0
//
// base: code that all rooms of the compiler use, independent of P4.
//
//     arena.c     memory that lives as long as one compilation
//     bigint.c    integers of any size
//     diag.c      messages to the user, with the source line
//     json_out.c  writing JSON
//     share.c     the place of Silken's own files
//     text.c      text that grows
//     utf8.c      text from users in documents that must be UTF-8
#ifndef SILKEN_COMPILER_BASE_BASE_H
#define SILKEN_COMPILER_BASE_BASE_H

#include "compiler/base/arena.h"
#include "compiler/base/bigint.h"
#include "compiler/base/diag.h"
#include "compiler/base/json_out.h"
#include "compiler/base/share.h"
#include "compiler/base/text.h"
#include "compiler/base/utf8.h"

#endif
