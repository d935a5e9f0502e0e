// SPDX-License-Identifier: Apache-2.0
//
// entry: finding the entries that a specification means, for the rest of control/.
#ifndef SILKEN_CONTROL_TABLES_ENTRY_H
#define SILKEN_CONTROL_TABLES_ENTRY_H

#include "control/tables/control.h"

struct sk_found {
    const struct sk_table_desc *desc;
    struct sk_entry *entry[SK_PIPES]; // in each pipe meant, lowest first
    unsigned n;                       // at least one
};
// The entry with the key and priority of 'e' (without a priority: the one that has the key), or
// without keys the default entry, in the pipe or all pipes it names; an error when one of them
// lacks it.
int sk_control_entry_find(struct sk_switch *sw, const struct sk_entry_spec *e, struct sk_found *out,
                          struct sk_error *err);

#endif
