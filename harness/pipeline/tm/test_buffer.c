// SPDX-License-Identifier: Apache-2.0
//
// The buffer of a traffic manager: limits by colour, guarantees, pools, shares, limits of ports.
// Random packets go through a switch and through a plain model of it, which must agree on each:
// whether it is taken and if not why, when it leaves and after which others, and every depth and
// state that egress sees. Then the same accounts with ports of several cores on threads.
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "harness/pipeline/toy_program.h"
#include "pipeline/prefix.h"
#include "pipeline/switch/core.h"

#define PORTS     3u // with a speed: 4, 5, 6
#define FIRST     4u
#define QUEUES    6u
#define CELL      80u
#define SERIAL_AT 40u
#define MOST      600u // packets that wait

static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}
static uint32_t below(uint64_t *state, uint32_t n) {
    return (uint32_t)(next_random(state) % n);
}

// ---- the model ----

struct waiting {
    uint32_t serial, length, cells, enq_depth;
    uint8_t enq_state;
    uint64_t at;
};
struct model_queue {
    struct waiting list[MOST];
    size_t n;
    uint32_t depth, charged;
    uint64_t finish;
    uint64_t taken, left, refused[SK_COLORS][SK_QUEUE_DROPS];
};
struct model_port {
    struct sk_port_queue as;
    struct model_queue queues[QUEUES];
    uint64_t free_at, served[SK_PRIORITIES];
};
struct seen { // of a packet that left
    uint32_t serial, enq_depth, deq_depth;
    uint16_t port;
    uint8_t enq_state, deq_state, pools, qid;
};
struct model {
    struct model_port ports[PORTS];
    struct sk_app_pool pools[SK_APP_POOLS];
    uint32_t used[SK_APP_POOLS];
    struct seen left[PORTS * QUEUES * MOST];
    size_t n_left;
};

static struct sk_queue_limits limits_at(const struct sk_port_queue *q, unsigned qid) {
    if (q->schedule[qid].own_limits)
        return q->schedule[qid].limits;
    return (struct sk_queue_limits){q->limit_red, q->limit_yellow, q->limit_green};
}
static struct sk_queue_buffer buffer_at(const struct sk_port_queue *q, unsigned qid) {
    return q->schedule[qid].own_buffer ? q->schedule[qid].buffer : q->buffer;
}

static unsigned state_of(uint32_t red, uint32_t yellow, uint32_t green, uint32_t depth) {
    if (green && depth >= green)
        return 3;
    if (yellow && depth >= yellow)
        return 2;
    return red && depth >= red ? 1 : 0;
}
static bool state_lets(unsigned state, unsigned color) {
    static const bool lets[4][4] = {{true, true, true, true},
                                    {true, true, true, false},
                                    {true, false, false, false},
                                    {false, false, false, false}};
    return lets[state][color];
}
static unsigned pool_state(const struct model *m, unsigned pool) {
    const struct sk_app_pool *p = &m->pools[pool];
    return state_of(p->limit_red, p->limit_yellow, p->limit_green ? p->limit_green : p->cells,
                    m->used[pool]);
}

static uint32_t port_charged(const struct model_port *p) {
    uint32_t all = 0;
    for (unsigned i = 0; i < QUEUES; i++)
        all += p->queues[i].charged;
    return all;
}

static void charge(struct model *m, struct model_port *p, unsigned qid) {
    struct model_queue *q = &p->queues[qid];
    const struct sk_queue_buffer b = buffer_at(&p->as, qid);
    q->charged = q->depth > b.guaranteed ? q->depth - b.guaranteed : 0;
    if (b.pooled)
        m->used[b.pool] += q->charged;
}
static void discharge(struct model *m, struct model_port *p, unsigned qid) {
    const struct sk_queue_buffer b = buffer_at(&p->as, qid);
    if (b.pooled)
        m->used[b.pool] -= p->queues[qid].charged;
    p->queues[qid].charged = 0;
}

static enum sk_drop_reason model_admits(const struct model *m, const struct model_port *p,
                                        unsigned qid, uint32_t cells, unsigned color) {
    static const double shares[] = {0, 1 / 64., 1 / 32., 1 / 16., 1 / 8., 1 / 4., 1 / 2., 1, 2, 4};
    const struct model_queue *q = &p->queues[qid];
    const struct sk_queue_limits l = limits_at(&p->as, qid);
    const struct sk_queue_buffer b = buffer_at(&p->as, qid);
    if (!state_lets(state_of(l.red, l.yellow, l.green, q->depth), color))
        return SK_DROP_QUEUE_FULL;
    const uint32_t then = q->depth + cells > b.guaranteed ? q->depth + cells - b.guaranteed : 0;
    const uint32_t more = then - q->charged;
    if (more == 0)
        return SK_DROP_COUNT;
    if (p->as.limit && (uint64_t)port_charged(p) + more > p->as.limit)
        return SK_DROP_PORT_FULL;
    if (!b.pooled)
        return SK_DROP_COUNT;
    if (!state_lets(pool_state(m, b.pool), color) ||
        (uint64_t)m->used[b.pool] + more > m->pools[b.pool].cells)
        return SK_DROP_POOL_FULL;
    const double of_free = (double)(m->pools[b.pool].cells - m->used[b.pool]) * shares[b.share];
    return b.share && then > b.base && then > of_free ? SK_DROP_SHARE_FULL : SK_DROP_COUNT;
}

static uint64_t finish_from(const struct model_port *p, unsigned qid, uint32_t length,
                            uint64_t from) {
    const uint32_t weight = p->as.schedule[qid].weight;
    return from + ((uint64_t)(length + 24) << 16) / (weight ? weight : SK_WEIGHT_HIGHEST);
}

static enum sk_drop_reason model_give(struct model *m, unsigned port, unsigned qid, unsigned color,
                                      uint32_t serial, uint32_t length, uint64_t now) {
    struct model_port *p = &m->ports[port];
    struct model_queue *q = &p->queues[qid];
    const uint32_t cells = (length + 4 + CELL - 1) / CELL;
    const enum sk_drop_reason why = model_admits(m, p, qid, cells, color);
    const struct sk_queue_limits l = limits_at(&p->as, qid);
    if (why != SK_DROP_COUNT) {
        q->refused[color == 0 ? 0 : color == 3 ? 2 : 1][why - SK_DROP_QUEUE_FULL]++;
        return why;
    }
    assert_true(q->n < MOST);
    q->taken++;
    q->list[q->n] = (struct waiting){
        serial, length, cells, q->depth, (uint8_t)state_of(l.red, l.yellow, l.green, q->depth),
        now};
    if (q->n++ == 0) {
        const uint64_t served = p->served[p->as.schedule[qid].priority];
        q->finish = finish_from(p, qid, length, q->finish > served ? q->finish : served);
    }
    discharge(m, p, qid);
    q->depth += cells;
    charge(m, p, qid);
    return why;
}

static uint64_t model_due(const struct model_port *p) {
    uint64_t first = UINT64_MAX;
    for (unsigned i = 0; i < QUEUES; i++)
        if (p->queues[i].n && p->queues[i].list[0].at < first)
            first = p->queues[i].list[0].at;
    return first == UINT64_MAX || first > p->free_at ? first : p->free_at;
}

static void model_send(struct model *m, unsigned port, uint64_t now) {
    struct model_port *p = &m->ports[port];
    int best = -1;
    for (int i = 0; i < (int)QUEUES; i++) {
        const struct model_queue *q = &p->queues[i];
        if (!q->n || q->list[0].at > now)
            continue;
        const int a = p->as.schedule[i].priority, b = best < 0 ? -1 : p->as.schedule[best].priority;
        if (a > b || (a == b && q->finish < p->queues[best].finish))
            best = i;
    }
    assert_true(best >= 0);
    struct model_queue *q = &p->queues[best];
    const struct waiting w = q->list[0];
    memmove(q->list, q->list + 1, --q->n * sizeof *q->list);
    p->served[p->as.schedule[best].priority] = q->finish;
    if (q->n)
        q->finish = finish_from(p, (unsigned)best, q->list[0].length, q->finish);
    q->left++;
    discharge(m, p, (unsigned)best);
    q->depth -= w.cells;
    charge(m, p, (unsigned)best);
    const struct sk_queue_limits l = limits_at(&p->as, (unsigned)best);
    struct seen s = {.serial = w.serial,
                     .enq_depth = w.enq_depth,
                     .deq_depth = q->depth,
                     .port = (uint16_t)(FIRST + port),
                     .enq_state = w.enq_state,
                     .deq_state = (uint8_t)state_of(l.red, l.yellow, l.green, q->depth),
                     .qid = (uint8_t)best};
    for (unsigned i = 0; i < SK_APP_POOLS; i++)
        s.pools |= (uint8_t)(pool_state(m, i) << 2 * i);
    assert_true(m->n_left < sizeof m->left / sizeof *m->left);
    m->left[m->n_left++] = s;
    // egress has put SK_EGRESS_PREFIX bytes in front of it
    const uint64_t bits = (uint64_t)(w.length + SK_EGRESS_PREFIX + 24) * 8;
    p->free_at = now + (bits * 1000 + p->as.speed_mbps - 1) / p->as.speed_mbps;
}

static void model_run(struct model *m, uint64_t now) {
    for (;;) {
        unsigned first = 0;
        for (unsigned i = 1; i < PORTS; i++)
            if (model_due(&m->ports[i]) < model_due(&m->ports[first]))
                first = i;
        const uint64_t t = model_due(&m->ports[first]);
        if (t > now)
            return;
        model_send(m, first, t);
    }
}

// ---- both ----

struct bench {
    struct sk_program *prog;
    struct sk_switch *sw;
    struct model model;
    size_t checked;
    uint64_t seen[SK_COLORS][SK_QUEUE_DROPS]; // refused, of all runs
};

static uint32_t bits_at(const uint8_t *bytes, unsigned at, unsigned n) {
    uint32_t v = 0;
    for (unsigned i = at; i < at + n; i++)
        v = v << 1 | (bytes[i / 8] >> (7 - i % 8) & 1);
    return v;
}

static bool leaves(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    struct bench *b = aux;
    const uint8_t *own = frame + SK_EGRESS_PREFIX;
    assert_true(length >= SK_EGRESS_PREFIX + 64);
    // the model knows before the switch does
    assert_true(b->checked < b->model.n_left);
    const struct seen *s = &b->model.left[b->checked++];
    uint32_t serial;
    memcpy(&serial, own + SERIAL_AT, sizeof serial);
    assert_int_equal(serial, s->serial);
    assert_int_equal(port, s->port);
    assert_int_equal(own[TOY_WISH_AT + 16], s->qid);
    assert_int_equal(bits_at(frame, 21, 19), s->enq_depth);
    assert_int_equal(bits_at(frame, 46, 2), s->enq_state);
    assert_int_equal(bits_at(frame, 64 + 21, 19), s->deq_depth);
    assert_int_equal(bits_at(frame, 64 + 46, 2), s->deq_state);
    assert_int_equal(bits_at(frame, 64 + 48, 8), s->pools);
    return true;
}

static void check_queues(struct bench *b) {
    for (unsigned p = 0; p < PORTS; p++)
        for (unsigned i = 0; i < QUEUES; i++) {
            const struct model_queue *q = &b->model.ports[p].queues[i];
            struct sk_queue_counts n;
            assert_true(sk_switch_queue_counts(b->sw, (uint16_t)(FIRST + p), i, &n));
            assert_int_equal(sk_switch_port_depth(b->sw, (uint16_t)(FIRST + p), i), q->depth);
            assert_int_equal(n.taken, q->taken);
            assert_int_equal(n.left, q->left);
            assert_int_equal(n.taken, n.left + q->n);
            assert_memory_equal(n.refused, q->refused, sizeof n.refused);
        }
    for (unsigned i = 0; i < SK_APP_POOLS; i++)
        assert_int_equal(sk_switch_app_pool_used(b->sw, i), b->model.used[i]);
}

static void random_limits(uint64_t *r, struct sk_queue_limits *l) {
    *l = (struct sk_queue_limits){0};
    if (below(r, 3) == 0)
        l->red = 1 + below(r, 40);
    if (below(r, 2) == 0)
        l->yellow = l->red + 1 + below(r, 40);
    if (below(r, 2) == 0)
        l->green = (l->yellow ? l->yellow : l->red) + 1 + below(r, 60);
}

static void random_buffer(uint64_t *r, struct sk_queue_buffer *b) {
    *b = (struct sk_queue_buffer){.guaranteed = below(r, 2) ? below(r, 30) : 0,
                                  .pooled = below(r, 4) > 0};
    if (b->pooled) {
        b->pool = (uint8_t)below(r, 3);
        b->share = (uint8_t)below(r, SK_SHARE_HIGHEST + 1);
        b->base = below(r, 2) ? below(r, 60) : 0;
    }
}

static void set_ports(struct bench *b, uint64_t *r) {
    struct model *m = &b->model;
    for (unsigned i = 0; i < PORTS; i++) {
        struct sk_port_queue q = {.speed_mbps = 100u << below(r, 4)};
        struct sk_queue_limits l;
        random_limits(r, &l);
        q.limit_red = l.red, q.limit_yellow = l.yellow, q.limit_green = l.green;
        random_buffer(r, &q.buffer);
        q.limit = below(r, 2) ? 20 + below(r, 200) : 0;
        for (unsigned k = 0; k < QUEUES; k++) {
            struct sk_queue_schedule *s = &q.schedule[k];
            s->priority = (uint8_t)below(r, 3);
            s->weight = (uint16_t)below(r, 20);
            s->own_limits = below(r, 2);
            s->own_buffer = below(r, 2);
            if (s->own_limits)
                random_limits(r, &s->limits);
            if (s->own_buffer)
                random_buffer(r, &s->buffer);
        }
        assert_int_equal(sk_switch_port_queue(b->sw, (uint16_t)(FIRST + i), &q), 0);
        for (unsigned k = 0; k < QUEUES; k++)
            discharge(m, &m->ports[i], k);
        m->ports[i].as = q;
        for (unsigned k = 0; k < QUEUES; k++)
            charge(m, &m->ports[i], k);
    }
}

static void set_pools(struct bench *b, uint64_t *r) {
    for (unsigned i = 0; i < 3; i++) {
        struct sk_queue_limits l = {0};
        struct sk_app_pool p = {.cells = 50 + below(r, 300)};
        if (below(r, 3) == 0)
            random_limits(r, &l);
        if (below(r, 8) == 0)
            p = (struct sk_app_pool){0};
        else if (l.red <= p.cells && l.yellow <= p.cells && l.green <= p.cells)
            p.limit_red = l.red, p.limit_yellow = l.yellow, p.limit_green = l.green;
        assert_int_equal(sk_switch_app_pool(b->sw, i, &p), 0);
        b->model.pools[i] = p;
    }
}

static void give_both(struct bench *b, unsigned port, unsigned qid, unsigned color, uint32_t serial,
                      uint32_t length, uint64_t now) {
    uint8_t frame[1600] = {0};
    struct sk_switch_stats before, after;
    toy_frame(frame, &(struct toy_wish){.flags = TOY_UCAST | TOY_SHOW_EGRESS,
                                        .ucast_port = (uint16_t)(FIRST + port),
                                        .qid = (uint8_t)qid,
                                        .color = (uint8_t)color});
    memcpy(frame + SERIAL_AT, &serial, sizeof serial);
    b->model.n_left = b->checked = 0;
    sk_switch_stats(b->sw, &before);
    model_run(&b->model, now);
    const enum sk_drop_reason why = model_give(&b->model, port, qid, color, serial, length, now);
    model_run(&b->model, now);
    sk_switch_rx(b->sw, 1, frame, length, now);
    sk_switch_run(b->sw, now);
    assert_int_equal(b->checked, b->model.n_left);
    sk_switch_stats(b->sw, &after);
    for (unsigned i = 0; i < SK_DROP_COUNT; i++)
        assert_int_equal(after.drops[i] - before.drops[i], i == why);
}

// Short bursts to one queue, and pauses.
static void play(struct bench *b, uint64_t seed, unsigned packets) {
    uint64_t r = seed, now = 1000;
    unsigned port = 0, qid = 0, run = 0;
    memset(&b->model, 0, sizeof b->model);
    b->sw =
        toy_switch(b->prog, &(struct sk_switch_options){.tx = leaves, .aux = b, .n_packets = 4096});
    set_pools(b, &r);
    set_ports(b, &r);
    for (unsigned i = 0; i < packets; i++) {
        if (run == 0) {
            run = 1 + below(&r, 60);
            port = below(&r, PORTS);
            qid = below(&r, QUEUES);
            now += below(&r, 4) == 0 ? below(&r, 300000) : 0;
        }
        run--;
        now += below(&r, 3) * below(&r, 1500);
        if (below(&r, 400) == 0)
            set_pools(b, &r);
        if (below(&r, 400) == 0)
            set_ports(b, &r);
        // what is over is kept small enough for the model's lists
        const uint32_t length = below(&r, 2) ? 64 + below(&r, 100) : 64 + below(&r, 1400);
        const unsigned to = below(&r, 4) ? qid : below(&r, QUEUES);
        if (b->model.ports[port].queues[to].n < MOST)
            give_both(b, port, to, below(&r, 4), i, length, now);
        if (i % 64 == 0)
            check_queues(b);
    }
    check_queues(b);
    for (unsigned p = 0; p < PORTS; p++)
        for (unsigned i = 0; i < QUEUES; i++)
            for (unsigned k = 0; k < SK_COLORS * SK_QUEUE_DROPS; k++)
                b->seen[k / SK_QUEUE_DROPS][k % SK_QUEUE_DROPS] +=
                    b->model.ports[p].queues[i].refused[k / SK_QUEUE_DROPS][k % SK_QUEUE_DROPS];
    // and all of it leaves
    for (unsigned i = 0; i < 100000 && b->model.n_left + sk_switch_inside(b->sw) > 0; i++) {
        b->model.n_left = b->checked = 0;
        now += 20000;
        model_run(&b->model, now);
        sk_switch_run(b->sw, now);
        assert_int_equal(b->checked, b->model.n_left);
    }
    check_queues(b);
    for (unsigned i = 0; i < SK_APP_POOLS; i++)
        assert_int_equal(sk_switch_app_pool_used(b->sw, i), 0);
    sk_switch_free(b->sw);
    b->sw = NULL;
}

static void test_agrees_with_the_model(void **state) {
    const char *more = getenv("SILKEN_SEEDS");
    const unsigned seeds = more ? (unsigned)strtoul(more, NULL, 10) : 60;
    struct bench *b = *state;
    for (unsigned seed = 1; seed <= seeds; seed++)
        play(b, seed, 2000);
    for (unsigned k = 0; k < SK_COLORS * SK_QUEUE_DROPS; k++) // nothing was left out
        assert_true(b->seen[k / SK_QUEUE_DROPS][k % SK_QUEUE_DROPS] > 100);
}

// ---- single rules ----

static bool shows_nothing(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    (void)aux, (void)port, (void)frame, (void)length;
    return true;
}

static void simple_switch(struct bench *b) {
    b->sw =
        toy_switch(b->prog, &(struct sk_switch_options){.tx = shows_nothing, .n_packets = 4096});
}

static void give_cells(struct bench *b, uint16_t port, uint8_t qid, uint8_t color, unsigned n) {
    uint8_t frame[64];
    toy_frame(frame, &(struct toy_wish){
                         .flags = TOY_UCAST, .ucast_port = port, .qid = qid, .color = color});
    for (unsigned i = 0; i < n; i++) {
        sk_switch_rx(b->sw, 1, frame, sizeof frame, 0);
        sk_switch_run(b->sw, 0);
    }
}

static uint64_t refused(struct bench *b, uint16_t port, unsigned qid, unsigned color,
                        enum sk_drop_reason why) {
    struct sk_queue_counts n;
    assert_true(sk_switch_queue_counts(b->sw, port, qid, &n));
    return n.refused[color][why - SK_DROP_QUEUE_FULL];
}

static void test_colors_of_a_queue(void **state) {
    struct bench *b = *state;
    struct sk_port_queue q = {.speed_mbps = 1, .limit_green = 50};
    q.schedule[3] =
        (struct sk_queue_schedule){.own_limits = true, .limits = {.red = 2, .yellow = 5}};
    simple_switch(b);
    assert_int_equal(sk_switch_port_queue(b->sw, FIRST, &q), 0);
    give_cells(b, FIRST, 3, 0, 1); // leaves at once
    give_cells(b, FIRST, 3, 3, 10);
    give_cells(b, FIRST, 3, 1, 10);
    give_cells(b, FIRST, 3, 2, 10);
    give_cells(b, FIRST, 3, 0, 100);
    give_cells(b, FIRST, 2, 0, 100);
    assert_int_equal(refused(b, FIRST, 3, 2, SK_DROP_QUEUE_FULL), 8);
    assert_int_equal(refused(b, FIRST, 3, 1, SK_DROP_QUEUE_FULL), 7 + 10);
    assert_int_equal(refused(b, FIRST, 3, 0, SK_DROP_QUEUE_FULL), 0);
    assert_int_equal(refused(b, FIRST, 2, 0, SK_DROP_QUEUE_FULL), 50);
    sk_switch_free(b->sw);
    b->sw = NULL;
}

// However much of a pool others have, what is guaranteed to a queue is there.
static void test_guarantee(void **state) {
    struct bench *b = *state;
    const struct sk_queue_buffer greedy = {.pooled = true},
                                 poor = {.guaranteed = 10, .pooled = true};
    struct sk_port_queue q = {.speed_mbps = 1, .buffer = greedy, .limit = 150}, other = q;
    q.schedule[1] = (struct sk_queue_schedule){.own_buffer = true, .buffer = poor};
    other.limit = 0;
    simple_switch(b);
    assert_int_equal(sk_switch_app_pool(b->sw, 0, &(struct sk_app_pool){.cells = 100}), 0);
    assert_int_equal(sk_switch_port_queue(b->sw, FIRST, &q), 0);
    assert_int_equal(sk_switch_port_queue(b->sw, FIRST + 1, &other), 0);
    give_cells(b, FIRST + 1, 0, 0, 200);
    assert_int_equal(sk_switch_app_pool_used(b->sw, 0), 100);
    assert_int_equal(refused(b, FIRST + 1, 0, 0, SK_DROP_POOL_FULL), 99);
    give_cells(b, FIRST, 0, 0, 20); // the first leaves at once, but had to be taken
    give_cells(b, FIRST, 1, 0, 20);
    assert_int_equal(refused(b, FIRST, 0, 0, SK_DROP_POOL_FULL), 20);
    assert_int_equal(sk_switch_port_depth(b->sw, FIRST, 1), 10);
    assert_int_equal(refused(b, FIRST, 1, 0, SK_DROP_POOL_FULL), 20 - 11);
    sk_switch_free(b->sw);
    b->sw = NULL;
}

static void test_share_and_port(void **state) {
    struct bench *b = *state;
    struct sk_port_queue q = {.speed_mbps = 1, .buffer = {.pooled = true, .share = 7}};
    simple_switch(b);
    assert_int_equal(sk_switch_app_pool(b->sw, 0, &(struct sk_app_pool){.cells = 100}), 0);
    assert_int_equal(sk_switch_port_queue(b->sw, FIRST, &q), 0);
    q.limit = 16;
    assert_int_equal(sk_switch_port_queue(b->sw, FIRST + 1, &q), 0);
    give_cells(b, FIRST, 0, 0, 1); // leaves
    give_cells(b, FIRST, 0, 0, 100);
    // as much as is left: half of it
    assert_int_equal(sk_switch_port_depth(b->sw, FIRST, 0), 50);
    give_cells(b, FIRST, 1, 0, 100);
    assert_int_equal(sk_switch_port_depth(b->sw, FIRST, 1), 25);
    assert_int_equal(refused(b, FIRST, 1, 0, SK_DROP_SHARE_FULL), 75);
    give_cells(b, FIRST + 1, 0, 0, 1); // leaves
    give_cells(b, FIRST + 1, 0, 0, 100);
    give_cells(b, FIRST + 1, 1, 0, 100);
    assert_int_equal(sk_switch_port_depth(b->sw, FIRST + 1, 0), 13);
    assert_int_equal(refused(b, FIRST + 1, 0, 0, SK_DROP_SHARE_FULL), 87);
    assert_int_equal(sk_switch_port_depth(b->sw, FIRST + 1, 1), 3);
    assert_int_equal(refused(b, FIRST + 1, 1, 0, SK_DROP_PORT_FULL), 97);
    sk_switch_free(b->sw);
    b->sw = NULL;
}

static void test_refused(void **state) {
    struct bench *b = *state;
    struct sk_port_queue q = {.speed_mbps = 1}, is;
    simple_switch(b);
    q.schedule[9].own_limits = true;
    q.schedule[9].limits = (struct sk_queue_limits){.red = 5, .green = 4};
    assert_int_equal(sk_switch_port_queue(b->sw, FIRST, &q), -22);
    q.schedule[9] = (struct sk_queue_schedule){.buffer = {.pool = SK_APP_POOLS}};
    assert_int_equal(sk_switch_port_queue(b->sw, FIRST, &q), -22);
    q.schedule[9] = (struct sk_queue_schedule){.buffer = {.share = SK_SHARE_HIGHEST + 1}};
    assert_int_equal(sk_switch_port_queue(b->sw, FIRST, &q), -22);
    sk_switch_port_queue_get(b->sw, FIRST, &is);
    assert_int_equal(is.speed_mbps, 0);
    const struct sk_app_pool bad[] = {{.cells = 5, .limit_green = 6},
                                      {.cells = 5, .limit_red = 6},
                                      {.cells = 50, .limit_red = 6, .limit_yellow = 5}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(sk_switch_app_pool(b->sw, 0, &bad[i]), -22);
    assert_int_equal(sk_switch_app_pool(b->sw, SK_APP_POOLS, &(struct sk_app_pool){.cells = 5}),
                     -22);
    struct sk_queue_counts n;
    assert_false(sk_switch_queue_counts(b->sw, FIRST, 0, &n));
    sk_switch_free(b->sw);
    b->sw = NULL;
}

static void test_isolated_pipes_share_nothing(void **state) {
    struct bench *b = *state;
    char error[256];
    struct sk_switch_options o = {
        .tx = shows_nothing, .n_cores = 4, .core_of = {0, 1, 2, 3}, .crossing_ns = 100};
    const struct sk_port_queue q = {.speed_mbps = 1, .buffer = {.pooled = true}};
    struct sk_switch *sw = sk_switch_new(b->prog, &o, error, sizeof error);
    assert_non_null(sw);
    assert_int_equal(sk_switch_app_pool(sw, 0, &(struct sk_app_pool){.cells = 100}), 0);
    assert_int_equal(sk_switch_port_queue(sw, 4, &q), 0);
    assert_int_equal(sk_switch_port_queue(sw, 5, &q), 0);
    assert_int_equal(sk_switch_port_queue(sw, 128 + 5, &q), -95);
    sk_switch_free(sw);
}

// ---- on threads ----

#define CORES  4u
#define ROUNDS 4000u

struct lane {
    struct sk_switch *sw;
    struct sk_core *core;
    unsigned number;
    _Atomic bool *over;
    pthread_t thread;
};

// Packets to the own port and to the next core's.
static void *lane_runs(void *arg) {
    struct lane *l = arg;
    uint64_t r = l->number + 1;
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint8_t frame[300] = {0};
        const unsigned to = (l->number + below(&r, 2)) % CORES;
        const uint64_t now = 1000 + (uint64_t)i * 700;
        toy_frame(frame, &(struct toy_wish){.flags = TOY_UCAST,
                                            .ucast_port = (uint16_t)(to << 7 | FIRST),
                                            .qid = (uint8_t)below(&r, 3),
                                            .color = (uint8_t)below(&r, 4)});
        for (unsigned k = 0; k < 3; k++)
            sk_core_rx(l->core, (uint16_t)(l->number << 7 | 1), frame, 64 + below(&r, 200), now);
        sk_core_run(l->core, now);
        if (sk_switch_app_pool_used(l->sw, 1) > 60)
            atomic_store(l->over, true);
    }
    return NULL;
}

static void test_pool_of_several_cores(void **state) {
    struct bench *b = *state;
    struct sk_switch_options o = {.tx = shows_nothing, .n_packets = 2048};
    _Atomic bool over = false;
    struct lane lanes[CORES];
    toy_spread(&o, CORES);
    b->sw = toy_switch(b->prog, &o);
    assert_int_equal(
        sk_switch_app_pool(b->sw, 1, &(struct sk_app_pool){.cells = 60, .limit_red = 40}), 0);
    for (unsigned i = 0; i < CORES; i++) {
        const struct sk_port_queue q = {
            .speed_mbps = 1000,
            .buffer = {
                .pooled = true, .pool = 1, .guaranteed = i, .share = (uint8_t)(7 * (i % 2))}};
        assert_int_equal(sk_switch_port_queue(b->sw, (uint16_t)(i << 7 | FIRST), &q), 0);
    }
    for (unsigned i = 0; i < CORES; i++) {
        lanes[i] = (struct lane){
            .sw = b->sw, .core = sk_switch_core(b->sw, i), .number = i, .over = &over};
        assert_int_equal(pthread_create(&lanes[i].thread, NULL, lane_runs, &lanes[i]), 0);
    }
    for (unsigned i = 0; i < CORES; i++)
        pthread_join(lanes[i].thread, NULL);
    assert_false(over);
    sk_switch_settle(b->sw, 1000000000); // what was between two cores is in queues
    sk_switch_settle(b->sw, 2000000000);
    uint64_t full = 0;
    for (unsigned i = 0; i < CORES; i++)
        for (unsigned qid = 0; qid < 3; qid++) {
            struct sk_queue_counts n;
            assert_true(sk_switch_queue_counts(b->sw, (uint16_t)(i << 7 | FIRST), qid, &n));
            assert_int_equal(n.taken, n.left);
            for (unsigned color = 0; color < SK_COLORS; color++)
                full += n.refused[color][SK_DROP_POOL_FULL - SK_DROP_QUEUE_FULL];
        }
    assert_true(full > 0);
    assert_int_equal(sk_switch_app_pool_used(b->sw, 1), 0);
    sk_switch_free(b->sw);
    b->sw = NULL;
}

// ---- all ----

static int begin(void **state) {
    return toy_setup(state, sizeof(struct bench));
}

static int end(void **state) {
    sk_switch_free(((struct bench *)*state)->sw);
    return toy_teardown(state);
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, begin, end)
    const struct CMUnitTest tests[] = {
        T(test_agrees_with_the_model),
        T(test_colors_of_a_queue),
        T(test_guarantee),
        T(test_share_and_port),
        T(test_refused),
        T(test_isolated_pipes_share_nothing),
        T(test_pool_of_several_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
