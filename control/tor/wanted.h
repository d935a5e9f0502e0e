// SPDX-License-Identifier: Apache-2.0
//
// wanted: the intended contents of the switch's tables, and the writes that produce them.
//
// Modules declare the objects they want, as text; there is no other way to write tables. An object
// that is there already costs nothing, one that differs is changed in place, and after a reload or
// a replaced program everything can be written again from here. tor_wanted_flush() does the
// collected writes, in an order in which no object refers to one that does not exist yet.
//
//     tor_want(w, TOR_FDB_LEARNED, "entry destinations vid=%u dst_addr=%s -> bridge interface=%u",
//     ...)
//
// Objects, and after the arrow their contents (names: those of the P4 source, or a unique suffix):
//
//     entry TABLE field=value... [priority=N]  -> ACTION argument=value...  |  member=N  |  group=N
//     member PROFILE ID                        -> ACTION argument=value...
//     group SELECTOR ID                        -> N N N!...       members; N! is down
//     node ID                                  -> rid=N [ports=N,N] [lags=N,N]
//     lag ID                                   -> ports=N,N       of the replication engine
//     mcast ID                                 -> NODE NODE:XID ...
//     prune ID                                 -> ports=N,N       level-2 exclusion
//     session ID                            -> port=N | group=N  [length=N] [direction=in|out|both]
//     meter NAME INDEX                         -> cir_pps=N ... (attached.h)
//
// Words are separated by one space; values have none (control.h has their forms; ternary fields
// that are left out match anything). Two texts are the same object if they are the same bytes, so a
// module writes fields always in the same order.
//
// Sets: each object belongs to the set of the module that wants it. A module that declares all its
// objects again, after a change of the configuration, does so between tor_begin() and tor_end():
// objects that it does not declare again are removed.
//
// wanted.c compares, wanted_write.c makes one object's text into calls of the control API.
#ifndef SILKEN_CONTROL_TOR_WANTED_H
#define SILKEN_CONTROL_TOR_WANTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/tables/control.h"

// Sets. Those with _LEARNED come and go with packets, the others with the configuration.
enum tor_set {
    TOR_LINKS,
    TOR_FDB_STATIC,
    TOR_FDB_LEARNED,
    TOR_ROUTES,
    TOR_NEIGHBOURS_LEARNED,
    TOR_SNOOP,
    TOR_SNOOP_LEARNED,
    TOR_POLICY,
    TOR_QUEUES,
    TOR_MIRRORS,
    TOR_JOBS,
    TOR_SETS
};

struct tor_wanted;
struct sk_switch;

struct tor_wanted *tor_wanted_new(void);
void tor_wanted_free(struct tor_wanted *w); // null allowed

// Wants an object: "OBJECT -> WHAT IT IS", a format. An object is wanted by one set; it is taken
// over from another. Text that is none of the above aborts: it is ours.
void tor_want(struct tor_wanted *w, enum tor_set set, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// No longer: "OBJECT". One that is not wanted is left alone.
void tor_unwant(struct tor_wanted *w, const char *object, ...)
    __attribute__((format(printf, 2, 3)));
void tor_unwant_set(struct tor_wanted *w, enum tor_set set);
// What the object is wanted to be, or null.
const char *tor_wanted_as(const struct tor_wanted *w, const char *object);

void tor_begin(struct tor_wanted *w, enum tor_set set);
void tor_end(struct tor_wanted *w, enum tor_set set);

// Does at most 'most' of the writes that wait; returns how many still do. What the switch refuses
// (a full table) is told by 'refused', once for each object until it is wanted again, and does not
// stop the rest. The caller has paused the switch.
size_t tor_wanted_flush(struct tor_wanted *w, struct sk_switch *sw, size_t most,
                        void (*refused)(void *aux, const char *object, const char *why), void *aux);
bool tor_wanted_waits(const struct tor_wanted *w);
// As if nothing had been written: the switch is a new one.
void tor_wanted_anew(struct tor_wanted *w);
// Calls 'fn' for each object, in no order.
void tor_wanted_each(const struct tor_wanted *w,
                     void (*fn)(void *aux, enum tor_set set, const char *object, const char *as,
                                bool written),
                     void *aux);

#endif
