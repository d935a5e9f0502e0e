// SPDX-License-Identifier: Apache-2.0
//
// wireshark: pipeline IR -> a dissector for Wireshark, in Lua.
//
// The dissector walks packets as the program's ingress parser does, state by state, and shows the
// headers it extracts. Wireshark calls it by the parser's selects: for EtherTypes, IP protocols,
// UDP and TCP ports that lead to states of the program's own; and, when a preference says so or
// nothing else leads to it, for whole frames. docs/wireshark.md describes its use.
//
// Files:
//
//     wireshark.c  the file; header descriptions
//     expr.c       expressions as Lua
//     state.c      parser states as Lua functions
//     entry.c      the places where Wireshark calls the dissector
//     lua.c        the part that is the same for all programs
#ifndef SILKEN_COMPILER_WIRESHARK_WIRESHARK_H
#define SILKEN_COMPILER_WIRESHARK_WIRESHARK_H

#include <stdio.h>

#include "compiler/ir/ir.h"

// Writes the Lua text. What of the parser cannot be expressed stands there in comments, and the
// dissector stops at it. The same IR always gives the same text.
void wireshark_dissector(FILE *f, struct arena *a, const struct ir_program *p);

#endif
