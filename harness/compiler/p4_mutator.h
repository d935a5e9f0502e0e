// SPDX-License-Identifier: Apache-2.0
//
// p4_mutator: changes to P4 text by words and brackets instead of bytes, for libFuzzer.
//
// Random bytes make syntax errors. To reach the checker and what comes after it a mutation has to
// leave a program nearly right: it takes words that stand elsewhere in the program, numbers at the
// borders of widths, whole {...}, (...), <...> and ...; groups, and deletes, copies, swaps or
// replaces them. Targets call these from LLVMFuzzerCustomMutator and LLVMFuzzerCustomCrossOver.
#ifndef SILKEN_HARNESS_P4_MUTATOR_H
#define SILKEN_HARNESS_P4_MUTATOR_H

#include <stddef.h>
#include <stdint.h>

// Changes 'data' (size bytes, room for max) in place once or a few times; the new size. What is
// before the end of a first line beginning with '#' stays.
size_t p4_mutate(uint8_t *data, size_t size, size_t max, unsigned seed);
// Puts a group of the program 'y' into the program 'x'; the size written to 'out'.
size_t p4_cross(const uint8_t *x, size_t nx, const uint8_t *y, size_t ny, uint8_t *out, size_t max,
                unsigned seed);

#endif
