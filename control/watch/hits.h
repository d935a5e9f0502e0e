// SPDX-License-Identifier: Apache-2.0
//
// hits: how often packets looked up each table of a running switch, and what they found. The fast
// build counts it in the entries (stages/table.h); here they are added up.
//
// Thread-safety: the control thread.
#ifndef SILKEN_CONTROL_WATCH_HITS_H
#define SILKEN_CONTROL_WATCH_HITS_H

#include <jansson.h>

#include "control/tables/control.h"
#include "control/tables/pauses.h"

// Entries that one call reads at most. Reading is in slices, but a table of millions would take
// processor time from packets all the same: tables that would be beyond are left out.
#define SK_HITS_MOST 65536u

// [{"name", "entries", "size", "hits", "misses"}] of the program's tables, in all pipes that have
// them; "entries" are those of the pipe with most of them. A miss ran the default action; so does
// each packet in a table without a key. "hits" and "misses" are null for a table that was filled as
// a whole, which counts nothing, and for one with too many entries. A new reference.
json_t *sk_hits_json(struct sk_switch *sw, struct sk_pauses *pauses);

#endif
