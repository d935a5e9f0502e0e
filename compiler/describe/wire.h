// SPDX-License-Identifier: Apache-2.0
//
// wire: the wire header of the hosts, made of a program.
#ifndef SILKEN_COMPILER_DESCRIBE_WIRE_H
#define SILKEN_COMPILER_DESCRIBE_WIRE_H

#include "compiler/ir/ir.h"

#include <stdio.h>

// For each header type X of the program
//   #define X_BYTES n                                        (upper case)
//   static inline uintN_t X_get_FIELD(const uint8_t *p)      (N: smallest of 8, 16, 32, 64)
//   static inline void X_set_FIELD(uint8_t *p, uintN_t v)
// in network order; fields wider than 64 bits copy to and from a byte array.
void emit_wire_header(FILE *out, const struct ir_program *p);

#endif
