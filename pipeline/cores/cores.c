// SPDX-License-Identifier: Apache-2.0
#include "pipeline/cores/cores.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/cores/isolated.h"
#include "pipeline/path/send.h"

#define AHEAD 8u  // packets whose memory is asked for before they are looked at
#define NOTED 32u // the same of slots of a ring, four in a line

// Packets that are taken from one core before others have their turn.
#define ARRIVALS 128u
// Buffers that are taken back at once.
#define COLLECTED 64u
// Of each core's buffers one in so many is kept back for a while before it goes back.
#define KEPT 64u

bool cores_check(const struct sk_switch_options *opt, char *error, size_t error_size) {
    bool used[SK_PIPES] = {false};
    if (opt->crossing_ns && opt->n_cores != SK_PIPES) {
        snprintf(error, error_size, "pipes that are isolated run on one core each, not on %u",
                 opt->n_cores);
        return false;
    }
    if (opt->n_cores > SK_PIPES) {
        snprintf(error, error_size, "%u cores: a switch has %u pipes, so at most as many cores",
                 opt->n_cores, SK_PIPES);
        return false;
    }
    for (unsigned i = 0; i < SK_PIPES; i++) {
        if (opt->core_of[i] >= opt->n_cores) {
            snprintf(error, error_size, "pipe %u is on core %u; there are cores 0 to %u", i,
                     opt->core_of[i], opt->n_cores - 1u);
            return false;
        }
        used[opt->core_of[i]] = true;
    }
    for (unsigned c = 0; c < opt->n_cores; c++)
        if (!used[c]) {
            snprintf(error, error_size, "core %u has no pipe", c);
            return false;
        }
    return true;
}

bool cores_join(struct sk_switch *sw) {
    const unsigned n = sw->n_cores;
    for (unsigned from = 0; from < n; from++)
        for (unsigned to = 0; to < n; to++) {
            struct sk_core *core = sw->cores[from];
            if (from == to || switch_is_isolated(sw))
                continue;
            // half of the buffers, so that a core that is behind does not take all of another's;
            // payments are never more than there are buffers
            core->to[to] = crossing_new_noted(sw->opt.n_packets / 2);
            core->back[to] = crossing_new(n * sw->opt.n_packets);
            if (!core->to[to] || !core->back[to])
                return false;
        }
    return true;
}

void cores_part(struct sk_switch *sw) {
    for (unsigned c = 0; c < sw->n_cores; c++)
        for (unsigned to = 0; sw->cores[c] && to < SK_PIPES; to++) {
            crossing_free(sw->cores[c]->to[to]);
            crossing_free(sw->cores[c]->back[to]);
        }
}

// ---- crossing ----

bool cores_cross(struct sk_core *core, struct sk_packet *p, uint64_t now_ns) {
    if (switch_is_isolated(core->sw)) {
        isolated_cross(core, p, now_ns);
        return true;
    }
    return crossing_put_noted(core->to[core->sw->core_of[sk_port_pipe(p->egress_port)]], p, 0);
}

static inline void pay(struct crossing *back, struct sk_packet *p) {
    const bool room = crossing_put(back, p);
    assert(room); // it holds all buffers there are
    (void)room;
}

static void cores_pay(struct sk_core *core, unsigned to) {
    if (sk_pool_is_shared(core->pool))
        core->owed[to] = 0;
    while (core->owed[to] > 0) {
        struct sk_packet *p = sk_pool_take(core->pool);
        if (!p)
            return;
        p->pool = core->sw->cores[to]->pool;
        pay(core->back[to], p);
        core->owed[to]--;
    }
}

// Not more than will soon be used, so that they are in the cache then, while others are free.
static void cores_collect(const struct sk_core *core, struct crossing *c) {
    uint32_t n = crossing_ready(c);
    if (n > COLLECTED && sk_pool_available(core->pool) >= core->sw->opt.n_packets / 2)
        n = COLLECTED;
    for (uint32_t i = 0; i < n && i < AHEAD; i++)
        __builtin_prefetch(crossing_at(c, i), 1);
    for (uint32_t i = 0; i < n; i++) {
        if (i + AHEAD < n)
            __builtin_prefetch(crossing_at(c, i + AHEAD), 1);
        sk_pool_put(crossing_at(c, i));
    }
    if (n > 0)
        crossing_took(c, n);
}

// Where packets that need not be looked at leave for, looked up when one goes somewhere else than
// the one before.
struct passing {
    unsigned number; // SK_PORTS: nothing is known
    unsigned ways;   // which nobody looks at, of those that CROSSED_ says
    struct port *port;
    const struct pipe *pipe;
};

static struct passing pass_for(struct sk_core *core, unsigned number) {
    const struct pipe *const pipe = &core->pipes[sk_port_pipe(number)];
    const bool sends = send_is_plain(core) && core->ways[number] & PORT_SENDS && !core->recorder &&
                       !core->invariant_crc && !sk_pool_is_shared(core->pool);
    return (struct passing){.number = number,
                            .ways = !sends                    ? 0
                                    : pipe->desc->egress_idle ? CROSSED_STRAIGHT
                                                              : CROSSED_BYPASSES,
                            .port = &core->ports[number],
                            .pipe = pipe};
}

// It is known that the packet need not be looked at, unless something waits where it goes.
INLINE bool cores_passes(struct sk_core *core, struct crossed x, struct passing *to) {
    const unsigned way = crossed_way(x);
    const uint32_t length = crossed_length(x);
    if (__builtin_expect(way % SK_PORTS != to->number, 0))
        *to = pass_for(core, way % SK_PORTS);
    return way & to->ways && length - 1 < to->port->longest;
}

// A packet is in the cache of the core that it comes from: its lines are asked for, unless they are
// not needed if it goes where the one before goes.
INLINE void arrival_expect(const struct sk_core *core, struct crossed x, const struct passing *to) {
    if (__builtin_expect(crossed_way(x) & to->ways, 1))
        return;
    crossing_expect_to_write(crossed_packet(x));
    if (!(crossed_way(x) & CROSSED_STRAIGHT))
        crossing_expect_to_write(&crossed_packet(x)->observer); // the line after
    if (core->egress_reach == 0)
        return;
    crossing_expect_to_write(crossed_data(x) - SK_EGRESS_PREFIX);
    crossing_expect_to_write(crossed_data(x) + 32);
}

// The packet leaves, and its buffer goes back. False: nothing has happened.
INLINE bool cores_pass_on(struct sk_core *core, struct crossed x, struct crossing *back,
                          struct passing *to) {
    const uint32_t length = crossed_length(x);
    if (!cores_passes(core, x, to) || to->pipe->egress.first)
        return false;
    send_crossed(core, crossed_packet(x), (uint16_t)to->number, crossed_data(x), length);
    pay(back, crossed_packet(x));
    return true;
}

static unsigned arrive_from(struct sk_core *core, unsigned from, uint64_t *now_ns) {
    struct crossing *const c = core->sw->cores[from]->to[core->number];
    struct crossing *const back = core->back[from];
    uint32_t n = crossing_ready(c);
    if (n == 0)
        return 0;
    // no packet comes before it left
    const uint64_t left = crossing_time(c);
    *now_ns = left > *now_ns ? left : *now_ns;
    n = n < ARRIVALS ? n : ARRIVALS;
    const uint32_t taken = atomic_load_explicit(&c->taken, memory_order_relaxed);
    for (uint32_t i = 0; i < n && i < NOTED; i += 4)
        __builtin_prefetch(crossing_noted(c, taken + i));
    struct passing to = pass_for(core, crossed_way(crossing_noted_at(c, 0)) % SK_PORTS);
    for (uint32_t i = 0; i < n && i < AHEAD; i++)
        arrival_expect(core, crossing_noted_at(c, i), &to);
    for (uint32_t i = 0; i < n; i++) {
        const struct crossed x = crossing_noted_at(c, i);
        if (i % 4 == 0 && i + NOTED < n)
            __builtin_prefetch(crossing_noted(c, taken + i + NOTED));
        if (i + AHEAD < n)
            arrival_expect(core, crossing_noted_at(c, i + AHEAD), &to);
        if (__builtin_expect(cores_pass_on(core, x, back, &to), 1))
            continue;
        struct sk_packet *const p = crossed_packet(x);
        p->pool = core->pool;
        core->owed[from]++;
        tm_arrive_crossed(core, p, crossed_way(x) & CROSSED_STRAIGHT ? p->wish : 0, *now_ns);
    }
    crossing_took(c, n);
    return n;
}

void cores_expect(const struct sk_core *core) {
    for (unsigned c = 0; c < core->sw->n_cores; c++)
        if (c != core->number) {
            crossing_expect(core->sw->cores[c]->to[core->number]);
            crossing_expect(core->sw->cores[c]->back[core->number]);
        }
}

unsigned cores_arrive(struct sk_core *core, uint64_t *now_ns) {
    unsigned arrived = 0;
    for (unsigned c = 0; c < core->sw->n_cores; c++) {
        if (c == core->number)
            continue;
        cores_collect(core, core->sw->cores[c]->back[core->number]);
        arrived += arrive_from(core, c, now_ns);
    }
    return arrived;
}

void cores_publish(struct sk_core *core, unsigned arrived) {
    for (unsigned c = 0; c < core->sw->n_cores; c++) {
        if (c == core->number)
            continue;
        crossing_set_time(core->to[c], core->now);
        crossing_publish(core->to[c]);
        cores_pay(core, c);
        if (arrived == 0 || crossing_unpublished(core->back[c]) >= core->sw->opt.n_packets / KEPT)
            crossing_publish(core->back[c]);
    }
}

// ---- for those who see the switch ----

unsigned sk_switch_cores(const struct sk_switch *sw) {
    return sw->n_cores;
}

struct sk_core *sk_switch_core(struct sk_switch *sw, unsigned core) {
    assert(core < sw->n_cores);
    return sw->cores[core];
}

unsigned sk_switch_core_of(const struct sk_switch *sw, unsigned pipe) {
    assert(pipe < SK_PIPES);
    return sw->core_of[pipe];
}

// Of arrays of numbers only.
static void add_up(void *sum, const void *one, size_t bytes) {
    uint64_t *to = sum;
    const uint64_t *from = one;
    for (size_t i = 0; i < bytes / sizeof *to; i++)
        to[i] += from[i];
}

_Static_assert(sizeof(struct sk_switch_stats) % sizeof(uint64_t) == 0 &&
                   sizeof(struct sk_port_stats) % sizeof(uint64_t) == 0,
               "statistics are numbers of 64 bits and nothing else");

void sk_switch_stats(const struct sk_switch *sw, struct sk_switch_stats *out) {
    *out = (struct sk_switch_stats){0};
    for (unsigned c = 0; c < sw->n_cores; c++)
        add_up(out, &sw->cores[c]->stats, sizeof *out);
}

void sk_switch_port_stats(const struct sk_switch *sw, uint16_t dev_port,
                          struct sk_port_stats *out) {
    assert(dev_port < SK_PORTS);
    *out = (struct sk_port_stats){0};
    for (unsigned c = 0; c < sw->n_cores; c++)
        add_up(out, &sw->cores[c]->ports[dev_port].stats, sizeof *out);
}

uint32_t sk_switch_buffers_free(const struct sk_switch *sw) {
    uint32_t n = 0;
    if (sk_pool_is_shared(sw->cores[0]->pool)) {
        int64_t in_use = 0;
        for (unsigned c = 0; c < sw->n_cores; c++)
            in_use += sk_pool_in_use(sw->cores[c]->pool);
        return (uint32_t)(sw->n_cores * (int64_t)sw->opt.n_packets - in_use);
    }
    for (unsigned c = 0; c < sw->n_cores; c++) {
        n += sk_pool_available(sw->cores[c]->pool) + isolated_paid(sw->cores[c]);
        for (unsigned to = 0; to < SK_PIPES; to++)
            if (sw->cores[c]->back[to]) {
                const struct crossing *back = sw->cores[c]->back[to];
                n += back->put - atomic_load_explicit(&back->taken, memory_order_relaxed);
            }
    }
    return n;
}

uint32_t sk_switch_inside(const struct sk_switch *sw) {
    return sw->n_cores * sw->opt.n_packets - sk_switch_buffers_free(sw);
}

// ---- packets that were there before ----

static bool came_before(const struct sk_packet *p, uint64_t time) {
    const uint64_t since = (time - p->mac_tstamp) & ((UINT64_C(1) << 48) - 1);
    return since != 0 && since < UINT64_C(1) << 47;
}

static bool any_before(const struct fifo *f, uint64_t time) {
    for (const struct sk_packet *p = f->first; p; p = p->next)
        if (came_before(p, time))
            return true;
    return false;
}

static bool crosses_before(struct crossing *c, uint64_t time) {
    const uint32_t taken = atomic_load_explicit(&c->taken, memory_order_relaxed);
    for (uint32_t i = taken; i != c->put; i++)
        if (came_before(crossed_packet(*crossing_noted(c, i)), time))
            return true;
    return false;
}

static bool queues_before(const struct sk_core *core, uint64_t time) {
    for (uint32_t i = 0; i < core->n_shaped; i++) {
        const struct port *port = &core->ports[core->shaped[i]];
        for (unsigned q = 0; port_recirculates(core->sw, core->shaped[i]) && q < SK_PORT_QUEUES;
             q++)
            if (port->queue.queues && any_before(&port->queue.queues[q].waiting, time))
                return true;
    }
    return false;
}

bool sk_switch_passes_since(const struct sk_switch *sw, uint64_t time) {
    for (unsigned c = 0; c < sw->n_cores; c++) {
        const struct sk_core *core = sw->cores[c];
        for (unsigned i = 0; i < SK_PIPES; i++)
            if (any_before(&core->pipes[i].ingress, time) ||
                any_before(&core->pipes[i].egress, time) ||
                (core->to[i] && crosses_before(core->to[i], time)))
                return true;
        if (any_before(&core->arrivals, time) || queues_before(core, time))
            return true;
    }
    return false;
}

static bool crossings_empty(const struct sk_switch *sw) {
    for (unsigned c = 0; c < sw->n_cores; c++)
        for (unsigned to = 0; to < SK_PIPES; to++) {
            struct crossing *one = sw->cores[c]->to[to];
            if (one && one->put != atomic_load_explicit(&one->taken, memory_order_relaxed))
                return false;
        }
    return true;
}

// Two rounds after the last packet all buffers are back, too.
static void settle_isolated(struct sk_switch *sw, uint64_t now_ns) {
    for (unsigned last = 0; last < 2; last = isolated_crossing(sw) ? 0 : last + 1)
        for (unsigned c = 0, round = (unsigned)sw->cores[0]->round + 1; c < sw->n_cores; c++) {
            struct sk_core *core = sw->cores[c];
            sk_core_round(core, round);
            const struct sk_packet *p = core->arrivals.last;
            sk_core_run(core, p && p->enq_tstamp > now_ns ? p->enq_tstamp : now_ns);
        }
}

void sk_switch_settle(struct sk_switch *sw, uint64_t now_ns) {
    if (switch_is_isolated(sw)) {
        settle_isolated(sw, now_ns);
        return;
    }
    do {
        for (unsigned c = 0; c < sw->n_cores; c++)
            sk_core_run(sw->cores[c], now_ns);
    } while (!crossings_empty(sw));
}

void sk_switch_stop(struct sk_switch *sw, uint64_t now_ns) {
    sk_switch_settle(sw, now_ns);
    for (unsigned c = 0; c < sw->n_cores; c++) {
        struct sk_core *core = sw->cores[c];
        for (uint32_t i = 0; i < core->n_shaped; i++) {
            struct port_queue *q = &core->ports[core->shaped[i]].queue;
            flow_control_release(q, now_ns, true);
            while (queue_waits(q))
                core_drop(core, queue_pop(core, core->shaped[i]), core->shaped[i], SK_DROP_STOPPED);
        }
    }
}
