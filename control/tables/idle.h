// SPDX-License-Identifier: Apache-2.0
//
// idle: ageing of table entries (tables with 'idle_timeout', tna-facts 4.12, 8.3).
//
// An entry with a time to live ($ENTRY_TTL, milliseconds) is idle when no packet has matched it for
// that long, in any pipe, or in its own where pipes have entries of their own. A packet only
// records the time of its match; the control plane polls the entries (sk_control_idle_poll) and
// reports each entry that has become idle, once, and each idle entry that was matched again. No
// entry is deleted: that is the controller's task. A match that is more than 78 hours old at a poll
// is taken for a later one (the packet clock has 48 bits).
//
// Apart from that, an entry has a hit state, as BF Runtime's poll mode has it:
// sk_control_hit_update makes it ENTRY_ACTIVE where packets matched since the update before, else
// ENTRY_IDLE.
//
// Time is the switch's own (sk_switch_now), in nanoseconds.
#ifndef SILKEN_CONTROL_TABLES_IDLE_H
#define SILKEN_CONTROL_TABLES_IDLE_H

#include "control/tables/control.h"
#include "control/tables/names.h"
#include "control/tables/pauses.h"

struct sk_idle_event {
    const struct sk_table_desc *table;
    const struct sk_entry *entry; // of one pipe; valid during the call
    unsigned pipe;                // the first that has it
    bool idle;                    // has become idle; else it was matched again
};
struct sk_idle_listener {
    void (*fn)(void *aux, const struct sk_idle_event *event); // it must not change tables
    // An entry that has been idle for its time once more. May be null.
    void (*again)(void *aux, const struct sk_idle_event *event);
    // Are entries of one key in several pipes entries of their own? Null: they are one.
    bool (*is_asymmetric)(void *aux, const struct sk_table_desc *table);
    void *aux;
};
// Looks at all entries of all tables that age and tells the listener, which may be null, of each
// change. Returns how many there were. Entries are read in slices of 'pauses', which may be null.
size_t sk_control_idle_poll(struct sk_switch *sw, struct sk_pauses *pauses,
                            const struct sk_idle_listener *listener);
// Has any table entries that age?
bool sk_control_idle_used(const struct sk_switch *sw);
// All entries of the table go on ageing as if no time had passed since 'stopped' (0: ever).
// In a slice of 'pauses', which may be null, and in further ones.
void sk_control_idle_resume(struct sk_switch *sw, struct sk_pauses *pauses,
                            const struct sk_object *table, uint64_t stopped);
// In a slice as well.
int sk_control_hit_update(struct sk_switch *sw, struct sk_pauses *pauses, const char *table,
                          struct sk_error *err);

// ---- one entry ----
void sk_idle_start(struct sk_entry *e, uint32_t ttl_ms, uint64_t now); // begins with a full TTL
// Makes it as old as it was at 'stopped'; one that was added or matched since then has its full
// TTL.
void sk_idle_freeze(struct sk_entry *e, uint64_t stopped, uint64_t now);
uint64_t sk_idle_age(const struct sk_entry *e, uint64_t now);  // ns since its last match
uint64_t sk_idle_left(const struct sk_entry *e, uint64_t now); // ms of its TTL; 0: idle
bool sk_idle_hit(const struct sk_entry *e);                    // its hit state

#endif
