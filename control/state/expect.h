// SPDX-License-Identifier: Apache-2.0
//
// expect: what an item of a file's state means, for compare.c.
#ifndef SILKEN_CONTROL_STATE_EXPECT_H
#define SILKEN_CONTROL_STATE_EXPECT_H

#include "base/json.h"
#include "control/state/state_impl.h"

// Is 'key' a member by which an item of the section is said?
bool state_is_identity(enum state_section s, const char *key);
// These members of an item, in the walk's spelling: full names, keys as sk_key_format() writes
// them. A new reference, or null after failing the document.
json_t *state_identity(const struct sk_at *item, enum state_section s, struct sk_switch *sw);

#endif
