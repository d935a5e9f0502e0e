// SPDX-License-Identifier: Apache-2.0
//
// units: units made by hand, as chip_graph() leaves them, for tests of the phases after it.
#ifndef SILKEN_HARNESS_COMPILER_CHIP_UNITS_H
#define SILKEN_HARNESS_COMPILER_CHIP_UNITS_H

#include "compiler/chip/chip.h"

struct units {
    struct arena *a;
    struct chip_report r;
    struct chip_pipe pipe;
};
void units_begin(struct units *t, enum chip_target target);
void units_end(struct units *t);
struct ir_var *units_var(struct units *t, const char *name, unsigned width);
// A table with one action beside the default-only NoAction. Its key is one field of 'width' bits;
// 0: none.
struct chip_unit *units_table(struct units *t, unsigned gress, const char *name,
                              enum ir_match match, unsigned width, uint64_t size);
struct chip_unit *units_last(struct units *t, unsigned gress); // until the next one is added
// Another action of a unit that sets a field of 'width' bits from 'data' bits of action data.
struct chip_action *units_action(struct units *t, struct chip_unit *u, unsigned width,
                                 unsigned data);
void units_register(struct units *t, struct chip_unit *u, struct ir_register *reg);
struct ir_register *units_new_register(struct units *t, const char *name, unsigned width,
                                       uint64_t size);
void units_dep(struct units *t, unsigned gress, enum chip_dep_kind kind, unsigned from,
               unsigned to);
// memory and place, after all that is above.
void units_run(struct units *t);
const struct chip_violation *units_violation(const struct units *t, const char *rule);

#endif
