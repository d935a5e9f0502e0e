// SPDX-License-Identifier: Apache-2.0
//
// table_ternary: ternary and range match: tuple space search.
//
// Entries with the same mask are a group. A lookup masks the key once per group and asks a hash for
// the result; groups stand in order of the best entry that each has, so the search ends at the
// first group that cannot have a better entry than the one found. Of a mask only the words that are
// not zero are looked at.
//
// A range counts in the mask with the bits that its ends have in common from the top (all bits of a
// single value, none of the whole range), so a key that lies in the range agrees in them. Entries
// of one group with equal masked values are a chain, in order of precedence; with ranges each of
// them is compared in full, until one matches.
//
// A group of a single entry has no use for the hash: the entry itself is compared. And of each
// group the order has one word of what all its entries have in common, so that most keys that
// cannot match in it never get to it: with as many masks as entries the search is one of a dense
// list.
//
// The order of the groups is an array that does not change and a list of the places taken since it
// was made; after so many changes there is a new one. A group that comes to stand further in front
// has a place in the list, and its old place stays; one whose best entry is deleted stays where it
// is; both cost a probe, until there is a new array. So a place is never after an entry that was in
// the group when a reader began.
#ifndef SILKEN_STAGES_TABLE_TERNARY_H
#define SILKEN_STAGES_TABLE_TERNARY_H

#include "stages/table_writer.h"

struct sk_ternary *sk_ternary_new(void);  // null when there is no memory
void sk_ternary_free(struct sk_table *t); // the structure, not the entries
// For readers. The entry, or null.
struct sk_entry *sk_ternary_lookup(const struct sk_table *t, const uint64_t *key);
// Makes an entry visible that is not there. False, with nothing changed, when there is no memory.
bool sk_ternary_insert(struct sk_table *t, struct node *n);
// 'now' has inherited the place of the entry that it replaces.
void sk_ternary_replace(struct sk_table *t, struct node *now);
void sk_ternary_remove(struct sk_table *t, struct node *n);
// In order of precedence, until 'fn' returns false.
void sk_ternary_each(const struct sk_table *t, bool (*fn)(void *aux, const struct sk_entry *e),
                     void *aux);

#endif
