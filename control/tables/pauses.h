// SPDX-License-Identifier: Apache-2.0
//
// pauses: reads state that packets change, in slices, while the switch runs.
//
// All cores wait while a slice is copied, and run before the next one. So a read of any size stops
// packets only for a short time at once, and for at most half of the time in all. Two slices are
// read at different times: state that packets change is consistent only within a slice. State that
// only the control plane changes (the set of entries, their keys, actions and specifications) needs
// no pause, since one thread reads and changes it.
//
//     for (uint64_t i = 0; i < n; i += SK_SLICE) {
//         sk_pauses_begin(p);
//         ... copy cells i to i + SK_SLICE ...
//         sk_pauses_end(p);
//         ... make text of the copies ...
//     }
//
// Thread-safety: the control thread.
#ifndef SILKEN_CONTROL_TABLES_PAUSES_H
#define SILKEN_CONTROL_TABLES_PAUSES_H

#include <stdbool.h>
#include <stdint.h>

#include "stages/meter.h"
#include "stages/table.h"

#define SK_SLICE 512u // entries or cells: some ten microseconds

struct sk_pauses {
    void (*pause)(void *aux); // null: nobody runs the switch's cores meanwhile
    void (*resume)(void *aux);
    // Whether the cores have nothing to do, so that the next slice need not wait for them; null: it
    // always does.
    bool (*idle)(void *aux);
    void *aux;
    // own
    uint64_t from, ended; // ns: the slice that is copied, or the one before
    uint64_t owed;        // ns that packets waited in slices and did not run since
};

// 'p' may be null: then nobody runs the cores. begin() waits before it pauses, if there are
// packets, until they had as much time as slices took, but for 100 to 200 us: a call of some slices
// ends without a wait, and a read of many leaves packets half of the time.
void sk_pauses_begin(struct sk_pauses *p);
void sk_pauses_end(struct sk_pauses *p);
// An entry as it is now, with what packets change in it: hits, counts, meter, direct register
// cells. Its key and action data are the table's own. 'direct' has room for the entry's cells,
// 'words' of them. In a slice.
struct sk_entry_copy {
    struct sk_entry entry;
    struct sk_meter_cell meter;
};
void sk_entry_copy(struct sk_entry_copy *out, const struct sk_entry *e, uint64_t *direct,
                   uint32_t words);
// For a reader that cannot copy: called between two reads in a slice, now and then ends it and
// begins the next.
void sk_pauses_breathe(struct sk_pauses *p);
// The same as a callback; 'pauses' is a struct sk_pauses, or null.
void sk_pauses_between(void *pauses);

#endif
