// SPDX-License-Identifier: Apache-2.0
//
// run: what waits in a core runs, and what happens by itself.
//
// A packet goes on as far as it can while it is in cache: it is resubmitted, crosses the traffic
// manager, passes egress and recirculates without waiting anywhere, and so do the copies of a
// multicast one after the other. Only what must not overtake others waits in a queue: packets for a
// port with a speed, from other cores, behind mirrored copies (which are made while a program runs
// and begin their own way when it is done), and recirculated ones behind such.
#include "pipeline/cores/isolated.h"
#include "pipeline/cores/cores.h"
#include "pipeline/path/ingress.h"

#define BURST 32

// ---- mirrored copies ----

void run_mirror_received(void *aux, const struct sk_packet *p, const struct sk_mirror_out *m) {
    struct sk_core *core = aux;
    tm_mirror(core, p, m, SK_MIRROR_IN, core->pass_ns);
}

void run_mirror_arrived(void *aux, const struct sk_packet *p, const struct sk_mirror_out *m) {
    struct sk_core *core = aux;
    tm_mirror(core, p, m, SK_MIRROR_OUT, core->pass_ns);
}

// ---- queues ----

void run_waited(struct sk_core *core, struct sk_packet *p, uint64_t now_ns) {
    p = leave_in_full(core, p, now_ns);
    if (p)
        ingress_push(&core->pipes[sk_port_pipe(p->ingress_port)], p);
}

// Of a burst 'i' packets have run.
INLINE bool run_ingress(struct sk_core *core, struct pipe *pipe, uint64_t now_ns, int i,
                        const bool plain) {
    struct sk_packet *p;
    for (; i < BURST && (p = ingress_pop(pipe)); i++) {
        if (p->next)
            __builtin_prefetch(sk_packet_data(p->next));
        write_ingress_prefix(core, p);
        run_on(core, pipe, p, now_ns, plain);
    }
    return i > 0;
}

bool run_pipe_from(struct sk_core *core, struct pipe *pipe, uint64_t now_ns, int i) {
    bool worked = false;
    struct sk_packet *p;
    if (pipe->ingress.first)
        worked = send_is_plain(core) ? run_ingress(core, pipe, now_ns, i, true)
                                     : run_ingress(core, pipe, now_ns, i, false);
    for (int n = 0; n < BURST && (p = fifo_pop(&pipe->egress)); n++) {
        run_waited(core, p, now_ns);
        worked = true;
    }
    return worked;
}

bool run_pipe(struct sk_core *core, struct pipe *pipe, uint64_t now_ns) {
    return run_pipe_from(core, pipe, now_ns, 0);
}

// ---- the run loop ----

// Ends: recirculations, mirrors of mirrors and resubmits are limited, and each group has finitely
// many copies.
static void drain(struct sk_core *core, uint64_t now_ns) {
    for (bool worked = true; worked;) {
        worked = false;
        for (unsigned i = 0; i < SK_PIPES; i++)
            worked |= run_pipe(core, &core->pipes[i], now_ns);
    }
}

// What happens by itself until now, in the order of its time; packets that a port sends come before
// those that are generated at the same time.
void core_timed_events(struct sk_core *core, uint64_t now_ns) {
    uint16_t port = 0;
    unsigned pipe = 0;
    while (core->n_shaped || core->n_pktgens || core->arrivals.first) {
        uint64_t sent = queue_next(core, &port), generated = pktgen_next(core, &pipe);
        const uint64_t arrives = isolated_next(core);
        uint64_t t = sent <= generated ? sent : generated;
        const bool arrival = arrives < t;
        t = arrival ? arrives : t;
        if (t > now_ns)
            break;
        t = t > core->now ? t : core->now; // a port's speed changed meanwhile
        core->now = t;
        drain(core, t); // what was there before
        if (arrival)
            isolated_arrive(core, t);
        else if (sent <= generated)
            run_waited(core, queue_pop(core, port), t);
        else
            pktgen_fire(core, pipe, t);
        drain(core, t);
    }
}

unsigned sk_core_run(struct sk_core *core, uint64_t now_ns) {
    unsigned arrived = 0;
    core_events(core, now_ns);
    const bool rings = core->sw->n_cores > 1 && !switch_is_isolated(core->sw);
    if (rings) {
        cores_expect(core);
        now_ns = core->now; // another core's clock was read later
    }
    drain(core, now_ns);
    if (rings && (arrived = cores_arrive(core, &now_ns)) > 0)
        drain(core, now_ns);
    // a port that was idle may send at once what has just come
    if (core->n_shaped)
        core_events(core, now_ns);
    core->now = now_ns > core->now ? now_ns : core->now;
    if (rings)
        cores_publish(core, arrived);
    if (core->recorder)
        recorder_publish(core->recorder, core->now);
    return arrived;
}

uint64_t sk_core_next(const struct sk_core *core, bool timers) {
    uint16_t port;
    unsigned pipe;
    uint64_t sent = queue_next(core, &port),
             generated = timers ? pktgen_next(core, &pipe) : UINT64_MAX;
    const uint64_t first = sent <= generated ? sent : generated, arrives = isolated_next(core);
    return arrives < first ? arrives : first;
}

// ---- a core ----

uint64_t sk_core_now(const struct sk_core *core) {
    return core->now;
}

uint64_t sk_core_serial(const struct sk_core *core) {
    return core->serial;
}

void sk_core_set_serial(struct sk_core *core, uint64_t serial) {
    core->serial = serial;
}
