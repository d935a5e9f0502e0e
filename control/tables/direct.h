// SPDX-License-Identifier: Apache-2.0
//
// direct: cells of direct registers, which live in a table's entries. A register is named like any
// object, a cell by the key of its entry. Calls return 0 or a negative code with a sentence; a
// failed call changes nothing.
#ifndef SILKEN_CONTROL_TABLES_DIRECT_H
#define SILKEN_CONTROL_TABLES_DIRECT_H

#include "control/tables/control.h"

struct sk_direct { // a word of a direct register
    const char *table;
    uint32_t word; // in an entry's cells
    const struct sk_field_desc *field;
};
// 'field' null: the first word.
int sk_control_direct_find(const struct sk_switch *sw, const char *name, const char *field,
                           struct sk_direct *out, struct sk_error *err);
// 'e' says key, priority and pipe (-1: all), and its table is that of 'd'. 'values' receives one
// value for each pipe that has the entry, the lowest first.
int sk_control_direct_read(struct sk_switch *sw, const struct sk_entry_spec *e,
                           const struct sk_direct *d, uint64_t values[SK_PIPES],
                           struct sk_error *err);
int sk_control_direct_write(struct sk_switch *sw, const struct sk_entry_spec *e,
                            const struct sk_direct *d, const char *value, struct sk_error *err);

#endif
