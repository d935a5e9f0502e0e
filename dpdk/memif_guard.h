// SPDX-License-Identifier: Apache-2.0
//
// memif_guard: keeps a memif device's memory where it is while a burst uses it.
//
// When the peer of a memif device goes away, DPDK's interrupt thread unmaps the memory that both
// shared and clears the device's table of it, at once (memif_disconnect in
// drivers/net/memif/memif_socket.c; 22.11 and later alike). A burst that runs at that moment on
// another thread checked that the device was connected when it began, and writes to what is no longer
// there. The driver has no lock for that and tells nobody beforehand.
//
// So the driver's interrupt handlers are made to wait for bursts: the driver registers them with
// rte_intr_callback_register(), which, in a process that has this file, is the function of this file.
// It puts a wrapper around the handlers of memif, which holds all guards while the handler runs, and
// hands everything on to DPDK. The same wrapper takes back what the driver forgets: a handler for a peer
// that went away while it connected, whose descriptor is closed and which DPDK would panic over. A burst holds the guard of its device, which costs an atomic
// exchange.
#ifndef SILKEN_DPDK_MEMIF_GUARD_H
#define SILKEN_DPDK_MEMIF_GUARD_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

struct memif_guard {
    atomic_bool held;
    struct memif_guard *next; // of those that handlers hold
};

// From here to memif_guard_remove handlers hold it. Not while it is held.
void memif_guard_add(struct memif_guard *g);
void memif_guard_remove(struct memif_guard *g);

static inline void memif_guard_hold(struct memif_guard *g) {
    while (atomic_exchange_explicit(&g->held, true, memory_order_acquire))
        sched_yield(); // a peer comes or goes: rare, and takes system calls
}
static inline void memif_guard_release(struct memif_guard *g) {
    atomic_store_explicit(&g->held, false, memory_order_release);
}

// No handler runs until memif_guard_go_on(); for stopping and closing devices. Guards cannot be added or
// removed meanwhile.
void memif_guard_stop_handlers(void);
void memif_guard_go_on(void);
// While handlers are stopped: the last device of the server's socket 'path' was closed. The driver
// forgets to take its handler for new peers back; it will not run any more.
void memif_guard_end_listener(const char *path);

#endif
