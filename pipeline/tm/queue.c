// SPDX-License-Identifier: Apache-2.0
//
// queue: packets between the traffic manager's decision and the egress pipeline.
//
// A port without a speed takes packets as they come: they wait for nothing but the run loop, and
// queue depths and waiting times are zero, whatever the machine's load. A port with a speed is a
// server in the switch's clock: a packet leaves the queue when it is there and the one before it
// has been sent, which takes its bytes on the wire (with FCS, preamble and gap) at that speed. So
// the output stays a function of the input and its times.
//
// Which packet that is: strict priorities, and by weights among the queues of one. The chip has
// deficit round robin there (tna-facts 5.7), of which no order of single packets is known. Here it
// is self-clocked fair queueing (Golestani, INFOCOM 1994), which gives the same shares without
// rounds: the first packet of a queue would be finished its length over its weight after the one
// before it in its queue, or after the one that its priority sent last if its queue was empty; the
// earliest goes, of equal ones the one with the lowest number.
//
// Cells: a port and its queues belong to one core; a pool is all cores', so what is used of it is
// an atomic number, and a packet has its cells when that number has them. Nothing is ordered by it:
// relaxed will do. A port whose queues are in no pool does not look at it.
#include <errno.h>
#include <stdlib.h>

#include "pipeline/switch/switch_impl.h"

#define CELL_BYTES    80u  // of a Tofino 1
#define CELL_BYTES_2  176u // of a Tofino 2 (tna-facts 2.5)
#define WIRE_OVERHEAD 24u  // FCS, preamble, gap between packets
#define FCS_BYTES     4u

uint32_t sk_switch_cell_bytes(const struct sk_switch *sw) {
    return sk_switch_is_tofino_2(sw) ? CELL_BYTES_2 : CELL_BYTES;
}

static uint32_t cells_of(const struct sk_core *core, uint32_t bytes) {
    bool tofino2 = core->tofino_2;
    uint32_t cell = tofino2 ? CELL_BYTES_2 : CELL_BYTES;
    return (bytes + FCS_BYTES + cell - 1) / cell;
}

static bool queue_can_be_held(const struct sk_port_queue *q) {
    bool any = false;
    for (size_t i = 0; i < SK_PORT_QUEUES; i++)
        any |= q->schedule[i].xoff;
    return any;
}

// ---- settings ----

static bool limits_ascend(uint32_t red, uint32_t yellow, uint32_t green) {
    const uint32_t limits[] = {red, yellow, green};
    uint32_t last = 0;
    for (size_t i = 0; i < 3; i++) {
        if (limits[i] && limits[i] < last)
            return false;
        last = limits[i] ? limits[i] : last;
    }
    return true;
}

static bool buffer_is_valid(const struct sk_queue_buffer *b) {
    return b->share <= SK_SHARE_HIGHEST && b->pool < SK_APP_POOLS;
}

static bool queue_is_valid(const struct sk_port_queue *q) {
    if (!limits_ascend(q->limit_red, q->limit_yellow, q->limit_green) ||
        !buffer_is_valid(&q->buffer))
        return false;
    for (size_t i = 0; i < SK_PORT_QUEUES; i++) {
        const struct sk_queue_schedule *s = &q->schedule[i];
        if (s->priority >= SK_PRIORITIES || s->weight > SK_WEIGHT_HIGHEST ||
            !limits_ascend(s->limits.red, s->limits.yellow, s->limits.green) ||
            !buffer_is_valid(&s->buffer))
            return false;
    }
    return true;
}

static const struct sk_queue_buffer *buffer_of(const struct sk_port_queue *q, unsigned qid) {
    return q->schedule[qid].own_buffer ? &q->schedule[qid].buffer : &q->buffer;
}

static bool has_queue_in(const struct sk_port_queue *q, unsigned pool) {
    bool any = false;
    for (unsigned i = 0; q && i < SK_PORT_QUEUES; i++)
        any |= buffer_of(q, i)->pooled && buffer_of(q, i)->pool == pool;
    return any;
}

static const struct sk_port_queue *settings_of(const struct sk_switch *sw, uint16_t port) {
    return port_owner(sw, port)->ports[port].queue.as;
}

bool sk_switch_app_pool_has_queues(const struct sk_switch *sw, unsigned pool) {
    bool any = false;
    for (uint16_t port = 0; port < SK_PORTS; port++)
        any |= has_queue_in(settings_of(sw, port), pool);
    return any;
}

// Pipes that are isolated run at times of their own: what is free in a pool would depend on them.
static bool pools_cross(const struct sk_switch *sw, uint16_t port, const struct sk_port_queue *q) {
    bool cross = false;
    for (unsigned pool = 0; sw->opt.crossing_ns && pool < SK_APP_POOLS; pool++)
        for (uint16_t other = 0; has_queue_in(q, pool) && other < SK_PORTS; other++)
            cross |= sk_port_pipe(other) != sk_port_pipe(port) &&
                     has_queue_in(settings_of(sw, other), pool);
    return cross;
}

// ---- cells ----

// What of so many cells of a queue is not covered by its guarantee.
static uint32_t beyond(const struct queue *own, uint32_t cells) {
    return cells > own->guaranteed ? cells - own->guaranteed : 0;
}

static void cells_back(struct port_queue *q, const struct queue *own, uint32_t cells) {
    q->cells -= cells;
    if (own->pool && cells)
        atomic_fetch_sub_explicit(&own->pool->used, cells, memory_order_relaxed);
}

// Whoever set it says how much there may be from now on; what is there stays.
static void queue_resolve(struct sk_switch *sw, struct port_queue *q, unsigned qid) {
    struct queue *own = &q->queues[qid];
    const struct sk_queue_schedule *s = &q->as->schedule[qid];
    const struct sk_queue_buffer *b = buffer_of(q->as, qid);
    cells_back(q, own, beyond(own, own->cells));
    own->weight = s->weight ? s->weight : SK_WEIGHT_HIGHEST;
    own->priority = s->priority;
    own->limits = s->own_limits ? s->limits
                                : (struct sk_queue_limits){q->as->limit_red, q->as->limit_yellow,
                                                           q->as->limit_green};
    own->guaranteed = b->guaranteed;
    own->pool = b->pooled ? &sw->app_pools[b->pool] : NULL;
    own->share = b->share;
    own->base = b->base;
    const uint32_t cells = beyond(own, own->cells);
    q->cells += cells;
    if (own->pool)
        atomic_fetch_add_explicit(&own->pool->used, cells, memory_order_relaxed);
}

// Room for what is to be set, so that nothing fails later.
static int queue_make_room(struct port_queue *pq, bool queues) {
    if (queues && !pq->queues && !(pq->queues = calloc(SK_PORT_QUEUES, sizeof *pq->queues)))
        return -ENOMEM;
    if (!pq->as && !(pq->as = calloc(1, sizeof *pq->as)))
        return -ENOMEM;
    return 0;
}

int sk_switch_port_queue(struct sk_switch *sw, uint16_t dev_port, const struct sk_port_queue *q) {
    if (!queue_is_valid(q) || !sk_port_exists(dev_port))
        return -EINVAL;
    if (pools_cross(sw, dev_port, q))
        return -ENOTSUP;
    struct sk_core *owner = port_owner(sw, dev_port);
    struct port_queue *pq = &owner->ports[dev_port].queue;
    const bool holds = queue_can_be_held(q);
    int rc = queue_make_room(pq, q->speed_mbps || holds);
    rc = rc ? rc : flow_control_set(sw, dev_port, q);
    if (rc)
        return rc;
    *pq->as = *q;
    pq->speed_mbps = q->speed_mbps;
    pq->limit = q->limit;
    pq->holds = holds;
    for (unsigned i = 0; pq->queues && i < SK_PORT_QUEUES; i++)
        queue_resolve(sw, pq, i);
    flow_control_release(pq, owner->now, false);
    if ((q->speed_mbps || holds) && !pq->listed) {
        pq->listed = true;
        owner->shaped[owner->n_shaped++] = dev_port;
    }
    core_port_changed(owner, dev_port);
    return 0;
}

void sk_switch_port_queue_get(const struct sk_switch *sw, uint16_t dev_port,
                              struct sk_port_queue *out) {
    const struct sk_port_queue *as = settings_of(sw, dev_port);
    *out = as ? *as : (struct sk_port_queue){0};
}

static const struct queue *find_queue(const struct sk_switch *sw, uint16_t port, unsigned qid) {
    const struct port_queue *q = &port_owner(sw, port)->ports[port].queue;
    return q->queues && qid < SK_PORT_QUEUES ? &q->queues[qid] : NULL;
}

uint32_t sk_switch_port_depth(const struct sk_switch *sw, uint16_t dev_port, unsigned qid) {
    const struct queue *own = find_queue(sw, dev_port, qid);
    return own ? own->cells : 0;
}

bool sk_switch_queue_counts(const struct sk_switch *sw, uint16_t dev_port, unsigned qid,
                            struct sk_queue_counts *out) {
    const struct queue *own = find_queue(sw, dev_port, qid);
    *out = own ? own->counts : (struct sk_queue_counts){0};
    return own != NULL;
}

// ---- pools ----

int sk_switch_app_pool(struct sk_switch *sw, unsigned pool, const struct sk_app_pool *as) {
    const uint32_t highest = as->limit_green    ? as->limit_green
                             : as->limit_yellow ? as->limit_yellow
                                                : as->limit_red;
    if (pool >= SK_APP_POOLS || !limits_ascend(as->limit_red, as->limit_yellow, as->limit_green) ||
        highest > as->cells)
        return -EINVAL;
    sw->app_pools[pool].as = *as;
    sw->has_app_pools = false;
    for (unsigned i = 0; i < SK_APP_POOLS; i++)
        sw->has_app_pools |= sw->app_pools[i].as.cells > 0;
    return 0;
}

void sk_switch_app_pool_get(const struct sk_switch *sw, unsigned pool, struct sk_app_pool *out) {
    *out = pool < SK_APP_POOLS ? sw->app_pools[pool].as : (struct sk_app_pool){0};
}

uint32_t sk_switch_app_pool_used(const struct sk_switch *sw, unsigned pool) {
    return pool < SK_APP_POOLS
               ? atomic_load_explicit(&sw->app_pools[pool].used, memory_order_relaxed)
               : 0;
}

// tna-facts 5.7: 0 below all limits, 1 to 3 above the one for red, yellow, green packets.
static uint8_t congestion(const struct sk_queue_limits *l, uint32_t depth) {
    const uint32_t limits[] = {l->red, l->yellow, l->green};
    uint8_t state = 0;
    for (uint8_t i = 0; i < 3; i++)
        if (limits[i] && depth >= limits[i])
            state = i + 1;
    return state;
}

// Colours are 0 green, 1 and 2 yellow, 3 red.
static bool admits(uint8_t state, uint8_t color) {
    return color == 0 ? state < 3 : color == 3 ? state < 1 : state < 2;
}

static uint8_t pool_congestion(const struct app_pool *pool, uint32_t used) {
    const struct sk_app_pool *as = &pool->as;
    const struct sk_queue_limits l = {as->limit_red, as->limit_yellow,
                                      as->limit_green ? as->limit_green : as->cells};
    return congestion(&l, used);
}

// app_pool_congest_stat
static uint8_t pools_congestion(const struct sk_switch *sw) {
    uint8_t all = 0;
    for (unsigned i = 0; sw->has_app_pools && i < SK_APP_POOLS; i++)
        all |=
            (uint8_t)(pool_congestion(&sw->app_pools[i], sk_switch_app_pool_used(sw, i)) << 2 * i);
    return all;
}

// Cells of the queue's pool for it, which then has 'then' of them.
static enum sk_drop_reason pool_take(const struct queue *own, uint32_t cells, uint32_t then,
                                     uint8_t color) {
    struct app_pool *pool = own->pool;
    uint32_t used = atomic_load_explicit(&pool->used, memory_order_relaxed);
    do {
        if (used >= pool->as.cells || pool->as.cells - used < cells ||
            !admits(pool_congestion(pool, used), color))
            return SK_DROP_POOL_FULL;
        const uint64_t may = (uint64_t)(pool->as.cells - used) << own->share;
        if (own->share && then > own->base && (uint64_t)then << 7 > may)
            return SK_DROP_SHARE_FULL;
    } while (!atomic_compare_exchange_weak_explicit(&pool->used, &used, used + cells,
                                                    memory_order_relaxed, memory_order_relaxed));
    return SK_DROP_COUNT;
}

// Whether a packet of so many cells is taken; then they are its queue's.
static enum sk_drop_reason cells_take(struct port_queue *q, const struct queue *own, uint32_t cells,
                                      uint8_t color) {
    if (!admits(congestion(&own->limits, own->cells), color))
        return SK_DROP_QUEUE_FULL;
    const uint32_t then = beyond(own, own->cells + cells), more = then - beyond(own, own->cells);
    if (more == 0)
        return SK_DROP_COUNT;
    if (q->limit && (q->cells >= q->limit || q->limit - q->cells < more))
        return SK_DROP_PORT_FULL;
    if (own->pool) {
        const enum sk_drop_reason why = pool_take(own, more, then, color);
        if (why != SK_DROP_COUNT)
            return why;
    }
    q->cells += more;
    return SK_DROP_COUNT;
}

// ---- packets ----

void queue_passed(struct sk_packet *p, uint64_t now_ns) {
    p->enq_tstamp = now_ns;
    p->enq_qdepth = p->deq_qdepth = 0;
    p->enq_congest = p->deq_congest = p->pool_congest = 0;
}

bool queue_waits(const struct port_queue *q) {
    uint64_t any = 0;
    for (size_t i = 0; i < SK_PORT_QUEUES / 64; i++)
        any |= q->busy[i];
    return any != 0;
}

// When the queue's first packet would be finished, 'from' being when it begins.
static uint64_t finish_of(const struct port_queue *q, unsigned qid, uint64_t from) {
    const uint64_t bytes = q->queues[qid].waiting.first->len + WIRE_OVERHEAD;
    // fine enough that weights of 1,022 and 1,023 differ; wraps after centuries
    return from + (bytes << 16) / q->queues[qid].weight;
}

static unsigned count_color(uint8_t color) {
    return color == 0 ? 0 : color == 3 ? 2 : 1;
}

enum sk_drop_reason queue_push(struct sk_core *core, struct sk_packet *p, uint64_t now_ns) {
    struct port_queue *q = &core->ports[p->egress_port].queue;
    queue_passed(p, now_ns);
    if (!q->speed_mbps && !q->holds && !queue_waits(q)) {
        fifo_push(&core->pipes[sk_port_pipe(p->egress_port)].egress, p);
        return SK_DROP_COUNT;
    }
    const unsigned qid = p->qid;
    struct queue *own = &q->queues[qid];
    const uint32_t depth = own->cells, cells = cells_of(core, p->len);
    const enum sk_drop_reason why = cells_take(q, own, cells, p->color);
    if (why != SK_DROP_COUNT) {
        own->counts.refused[count_color(p->color)][why - SK_DROP_QUEUE_FULL]++;
        return why;
    }
    own->counts.taken++;
    p->cells = cells;
    p->enq_qdepth = depth;
    p->enq_congest = congestion(&own->limits, depth);
    own->cells = depth + cells;
    const bool first = !own->waiting.first;
    fifo_push(&own->waiting, p);
    if (first) {
        const uint64_t served = q->served[own->priority];
        q->busy[qid / 64] |= UINT64_C(1) << qid % 64;
        own->finish = finish_of(q, qid, own->finish > served ? own->finish : served);
    }
    return SK_DROP_COUNT;
}

// The next queue that has something and is not held, from 'qid' on; SK_PORT_QUEUES: none.
static unsigned ready_from(const struct port_queue *q, unsigned qid) {
    for (; qid < SK_PORT_QUEUES; qid = (qid / 64 + 1) * 64) {
        const uint64_t held = atomic_load_explicit(&q->held[qid / 64], memory_order_acquire);
        const uint64_t rest = (q->busy[qid / 64] & ~held) >> qid % 64;
        if (rest)
            return qid + (unsigned)__builtin_ctzll(rest);
    }
    return SK_PORT_QUEUES;
}
#define EACH_READY(q, i)                                                                           \
    for (unsigned i = ready_from(q, 0); i < SK_PORT_QUEUES; i = ready_from(q, i + 1))

// When the port's next packet leaves.
static uint64_t due(const struct port_queue *q) {
    uint64_t there = UINT64_MAX;
    if (!(q->busy[0] | q->busy[1])) // asked before and after each packet of each port
        return there;
    EACH_READY(q, i)
    if (q->queues[i].waiting.first->enq_tstamp < there)
        there = q->queues[i].waiting.first->enq_tstamp;
    if (there == UINT64_MAX)
        return there;
    const uint64_t resumed = atomic_load_explicit(&q->resumed_at, memory_order_relaxed);
    const uint64_t free_at = q->free_at > resumed ? q->free_at : resumed;
    return there > free_at ? there : free_at;
}

uint64_t queue_next(const struct sk_core *core, uint16_t *port) {
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; i < core->n_shaped; i++) {
        uint64_t t = due(&core->ports[core->shaped[i]].queue);
        if (t < first) {
            first = t;
            *port = core->shaped[i];
        }
    }
    return first;
}

// Of those that are there when the port is free.
static unsigned queue_choose(const struct port_queue *q) {
    const uint64_t now = due(q);
    unsigned best = SK_PORT_QUEUES;
    EACH_READY(q, i) {
        if (q->queues[i].waiting.first->enq_tstamp > now)
            continue;
        const unsigned priority = q->queues[i].priority;
        const unsigned highest = best < SK_PORT_QUEUES ? q->queues[best].priority : 0;
        if (best == SK_PORT_QUEUES || priority > highest ||
            (priority == highest && q->queues[i].finish < q->queues[best].finish))
            best = i;
    }
    return best;
}

struct sk_packet *queue_pop(struct sk_core *core, uint16_t port) {
    struct port_queue *q = &core->ports[port].queue;
    const unsigned qid = queue_choose(q);
    struct queue *own = &q->queues[qid];
    struct sk_packet *p = fifo_pop(&own->waiting);
    q->served[own->priority] = own->finish;
    if (own->waiting.first)
        own->finish = finish_of(q, qid, own->finish);
    else
        q->busy[qid / 64] &= ~(UINT64_C(1) << qid % 64);
    cells_back(q, own, beyond(own, own->cells) - beyond(own, own->cells - p->cells));
    own->cells -= p->cells;
    own->counts.left++;
    p->deq_qdepth = own->cells;
    p->deq_congest = congestion(&own->limits, p->deq_qdepth);
    p->pool_congest = pools_congestion(core->sw);
    return p;
}

void queue_sent(struct sk_core *core, uint16_t port, uint32_t bytes, uint64_t now_ns) {
    struct port_queue *q = &core->ports[port].queue;
    if (!q->speed_mbps)
        return;
    // rounded up: a port is never faster than its speed
    uint64_t bits = (uint64_t)(bytes + WIRE_OVERHEAD) * 8;
    q->free_at = now_ns + (bits * 1000 + q->speed_mbps - 1) / q->speed_mbps;
}
