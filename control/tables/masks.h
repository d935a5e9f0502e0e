// SPDX-License-Identifier: Apache-2.0
//
// masks: which bits of its keys a table compares (BF Runtime's table attribute DynamicKeyMask).
//
// A table with @dynamic_table_key_masks(1) has a mask for each of its keys, all of which are exact.
// The table compares only those bits of a packet's key that the mask has; its entries have zeros in
// the other bits. A mask can be changed only while the table has no entries, as on the chip. Errors
// as in control.h: a refused call changes nothing.
#ifndef SILKEN_CONTROL_TABLES_MASKS_H
#define SILKEN_CONTROL_TABLES_MASKS_H

#include "control/tables/control.h"

// 'masks' are numbers by the keys' names; a key without one is compared whole, so that n = 0 takes
// all masks back.
int sk_control_key_mask_set(struct sk_switch *sw, const char *table,
                            const struct sk_named_value *masks, size_t n, int pipe,
                            struct sk_error *err);

// The masks in one pipe (the first that has the table when 'pipe' is -1): 'words' are the table's,
// laid out as key words, and change with its mask.
struct sk_key_mask_view {
    const struct sk_table_desc *desc;
    const uint64_t *words;
};
int sk_control_key_mask(struct sk_switch *sw, const char *table, int pipe,
                        struct sk_key_mask_view *view, struct sk_error *err);

#endif
