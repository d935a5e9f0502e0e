// SPDX-License-Identifier: Apache-2.0
//
// trap: holds single packets of a running switch before they are processed, so that a caller can
// trace them exactly.
//
// While a trap is set, 'match' is called for each packet of a burst that one of its 'ports'
// received. A packet that matches is held, with those after it in the burst, and its port is no
// longer polled (ports.c calls sk_core_holds), so that no packet of the port overtakes it; all
// other ports go on. The control thread reads 'hit' now and then, pauses the cores, lets packets
// between two cores arrive (sk_switch_settle), and runs the packet alone with sk_trap_run_first():
// the cores then have no other packets but those that wait in queues of ports with a speed.
// sk_trap_run_rest() runs the packets after it, which may be trapped in turn.
//
// Without a trap this costs nothing, and with one only packets of its ports pay: one bit of what a
// core knows of a port (PORT_TRAPS of switch_impl.h) keeps them from the fast path.
//
// A trap does not see frames that come by sk_core_rx() instead of in a burst.
#ifndef SILKEN_PIPELINE_OBSERVE_TRAP_H
#define SILKEN_PIPELINE_OBSERVE_TRAP_H

#include <stdatomic.h>

#include "pipeline/switch/core.h"
#include "pipeline/trace.h"

#define SK_TRAP_BURST 64u

struct sk_trap {
    // On the threads of the cores, perhaps of several at a time.
    bool (*match)(void *aux, uint16_t port, const uint8_t *frame, uint32_t length);
    void *aux;
    bool ports[SK_PORTS]; // not to be changed while the trap is set
    struct {
        atomic_bool hit;
        uint16_t port;
        unsigned n;
        struct sk_packet *held[SK_TRAP_BURST]; // the first is the one that matched
    } cores[SK_PIPES];
};

// ---- while no core runs ----
// Zeroed but for 'match', 'aux' and 'ports'; it must live until another one, or null, is set. What
// is held is let go on.
void sk_switch_set_trap(struct sk_switch *sw, struct sk_trap *trap, uint64_t now_ns);
// A core that holds a packet, or -1.
int sk_trap_hit(const struct sk_switch *sw);
// The packet that the core holds, with its port.
const struct sk_packet *sk_trap_first(const struct sk_switch *sw, unsigned core, uint16_t *port);
// It goes on, and 'o' (or null) is told of it, on all cores, in place of their observers; those
// behind it stay.
void sk_trap_run_first(struct sk_switch *sw, unsigned core, uint64_t now_ns, struct sk_observer *o);
void sk_trap_run_rest(struct sk_switch *sw, unsigned core, uint64_t now_ns);

// ---- on the thread of the core ----
bool sk_core_holds(const struct sk_core *core, uint16_t port);

// ---- a second switch beside this one ----
// 'to' (of one core, of any program) has the ports, replication, mirrors and CPU port of 'from'
// from here on, and shares what is large. Returns what is to be given back before 'to' is freed, or
// takes the settings again.
struct sk_pre *sk_switch_borrow(struct sk_switch *to, const struct sk_switch *from);
void sk_switch_give_back(struct sk_switch *to, struct sk_pre *own);

#endif
