// SPDX-License-Identifier: Apache-2.0
#include "pipeline/observe/trap.h"

#include <assert.h>
#include <string.h>

#include "pipeline/switch/switch_impl.h"

void core_port_trapped(struct sk_core *core, uint16_t port) {
    const bool traps = core->trap && core->trap->ports[port];
    core->ways[port] = (uint8_t)((core->ways[port] & ~PORT_TRAPS) | (traps ? PORT_TRAPS : 0));
}

static void trap_set(struct sk_switch *sw, struct sk_trap *trap) {
    for (unsigned c = 0; c < sw->n_cores; c++) {
        struct sk_core *core = sw->cores[c];
        core->trap = trap;
        for (uint16_t port = 0; port < SK_PORTS; port++)
            core_port_trapped(core, port);
    }
    sw->trap = trap;
}

void sk_switch_set_trap(struct sk_switch *sw, struct sk_trap *trap, uint64_t now_ns) {
    struct sk_trap *before = sw->trap;
    trap_set(sw, NULL);
    for (unsigned c = 0; before && c < sw->n_cores; c++)
        if (atomic_load(&before->cores[c].hit)) {
            sw->trap = before; // no other packet is trapped meanwhile
            sk_trap_run_first(sw, c, now_ns, sw->cores[0]->observer);
            trap_set(sw, NULL);
            for (unsigned i = 1; i < before->cores[c].n; i++)
                sk_core_rx_packet(sw->cores[c], before->cores[c].port, before->cores[c].held[i],
                                  now_ns);
            atomic_store(&before->cores[c].hit, false);
            sk_switch_settle(sw, now_ns);
        }
    trap_set(sw, trap);
}

bool core_trap(struct sk_core *core, uint16_t port, struct sk_packet *const *p, unsigned n) {
    struct sk_trap *t = core->trap;
    if (n > SK_TRAP_BURST ||
        atomic_load_explicit(&t->cores[core->number].hit, memory_order_relaxed) ||
        !t->match(t->aux, port, sk_packet_data(p[0]), p[0]->len))
        return false;
    memcpy(t->cores[core->number].held, p, n * sizeof(struct sk_packet *));
    t->cores[core->number].n = n;
    t->cores[core->number].port = port;
    atomic_store(&t->cores[core->number].hit, true);
    return true;
}

bool sk_core_holds(const struct sk_core *core, uint16_t port) {
    const struct sk_trap *t = core->trap;
    return t && atomic_load_explicit(&t->cores[core->number].hit, memory_order_relaxed) &&
           t->cores[core->number].port == port;
}

int sk_trap_hit(const struct sk_switch *sw) {
    for (unsigned c = 0; sw->trap && c < sw->n_cores; c++)
        if (atomic_load(&sw->trap->cores[c].hit))
            return (int)c;
    return -1;
}

const struct sk_packet *sk_trap_first(const struct sk_switch *sw, unsigned core, uint16_t *port) {
    *port = sw->trap->cores[core].port;
    return sw->trap->cores[core].held[0];
}

void sk_trap_run_first(struct sk_switch *sw, unsigned core, uint64_t now_ns,
                       struct sk_observer *o) {
    struct sk_trap *t = sw->trap;
    struct sk_observer *before[SK_PIPES] = {0};
    for (unsigned c = 0; c < sw->n_cores; c++) {
        before[c] = sw->cores[c]->observer;
        sw->cores[c]->observer = o;
        sw->cores[c]->observed |= o != NULL;
        core_watched(sw->cores[c]);
    }
    sk_core_rx_packet(sw->cores[core], t->cores[core].port, t->cores[core].held[0], now_ns);
    sk_switch_settle(sw, now_ns);
    for (unsigned c = 0; c < sw->n_cores; c++) {
        sw->cores[c]->observer = before[c];
        core_watched(sw->cores[c]);
    }
}

void sk_trap_run_rest(struct sk_switch *sw, unsigned core, uint64_t now_ns) {
    struct sk_trap *t = sw->trap;
    struct sk_packet *rest[SK_TRAP_BURST];
    const unsigned n = t->cores[core].n - 1;
    memcpy(rest, t->cores[core].held + 1, n * sizeof *rest);
    atomic_store(&t->cores[core].hit, false);
    if (n > 0)
        sk_core_rx_burst(sw->cores[core], t->cores[core].port, rest, n, now_ns);
    sk_switch_settle(sw, now_ns);
}

// ---- a second switch ----

struct sk_pre *sk_switch_borrow(struct sk_switch *to, const struct sk_switch *from) {
    assert(to->n_cores == 1);
    struct sk_pre *own = to->pre;
    to->pre = from->pre;
    memcpy(to->mirrors, from->mirrors, sizeof to->mirrors);
    to->deflect_port = from->deflect_port;
    to->deflect_qid = from->deflect_qid;
    to->opt.cpu_port = from->opt.cpu_port;
    memcpy(to->settings, from->settings, sizeof to->settings);
    for (uint16_t port = 0; port < SK_PORTS; port++)
        core_port_changed(to->cores[0], port);
    return own;
}

void sk_switch_give_back(struct sk_switch *to, struct sk_pre *own) {
    to->pre = own;
}
