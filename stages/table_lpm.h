// SPDX-License-Identifier: Apache-2.0
//
// table_lpm: longest prefix match.
//
// A key is read as a string of bytes: those of its exact fields, then those of the lpm field, each
// from its highest byte on. So every entry is a prefix of such a string, one that ends in the lpm
// field. A trie holds them: a node is of one byte of the string, tells for each of the byte's 256
// values which of the prefixes that end within the byte is the longest, and leads on to nodes of
// later bytes. Bytes in which nothing differs have no node; a node has the bytes before it, to
// compare those that were skipped. The last result met on the way down is the longest prefix.
//
// A node is compressed: runs of equal results are one result, and children are only those there
// are; a bitmap tells where they stand. 1 Mi prefixes of 32 bits take about 100 bytes each in all,
// and a lookup at most four nodes.
//
// A node does not change in shape: a prefix that is added makes a new one in its place. Results and
// children are replaced within.
#ifndef SILKEN_STAGES_TABLE_LPM_H
#define SILKEN_STAGES_TABLE_LPM_H

#include "stages/table_writer.h"

// Null when there is no memory. The table's keys are there: one of them is the lpm field.
struct sk_lpm *sk_lpm_new(const struct sk_table *t);
void sk_lpm_free(struct sk_lpm *l); // what the trie holds now; null is ignored
// For readers. The entry, or null.
struct sk_entry *sk_lpm_lookup(const struct sk_table *t, const uint64_t *key);
// Makes an entry visible that is not there. False, with nothing changed, when there is no memory.
bool sk_lpm_insert(struct sk_table *t, struct sk_entry *e);
void sk_lpm_replace(struct sk_table *t, struct sk_entry *old, struct sk_entry *now);
// The entry is still in the table's hash or no longer, but shorter prefixes are.
void sk_lpm_remove(struct sk_table *t, struct sk_entry *e);

#endif
