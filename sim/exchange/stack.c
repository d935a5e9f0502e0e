// SPDX-License-Identifier: Apache-2.0
//
// A host's end of an exchange: its flows in their order, its pipes in turn, its answers first.
//
// Ends that may have something to send wait in two lists: receivers' signals go before all data. In
// a list they take turns, a frame each. Who has nothing leaves the list until something happens: an
// answer, its deadline, more to send. What is urgent has gone first when pieces were given to the
// transport.
//
// Of DLCP's data the hosts that they go to take turns, and to one host the frontmost class goes
// first, and in it what is older, as in hosts/dlcp/station.c. If pieces to one host took turns,
// they would all end late at the same time, which each step of a ring would wait for.
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sim/exchange/exchange_impl.h"

// ---- lists ----

static unsigned list_of(const struct xend *e) {
    return e->receives ? 0 : 1;
}

static void xend_append(struct xend *e, unsigned list) {
    struct xstack *s = e->stack;
    e->next = NULL;
    if (s->last[list])
        s->last[list]->next = e;
    else
        s->first[list] = e;
    s->last[list] = e;
    e->listed = true;
}

static struct xend *xend_take(struct xstack *s, unsigned list) {
    struct xend *e = s->first[list];
    if (!e)
        return NULL;
    s->first[list] = e->next;
    if (!e->next)
        s->last[list] = NULL;
    e->listed = false;
    return e;
}

// ---- DLCP's data, by host ----

static bool xend_is_ranked(const struct xend *e) {
    return !e->receives && x_is_dlcp(e->stack->x);
}

static struct xlane *xlane_of(const struct xend *e) {
    return &e->stack->lanes[e->pipe->receiver.stack->station];
}

static void xlane_append(struct xstack *s, struct xlane *l) {
    l->next = NULL;
    *(s->last_lane ? &s->last_lane->next : &s->first_lane) = l;
    s->last_lane = l;
}

static void xlane_leave(struct xstack *s, const struct xlane *l) {
    struct xlane *before = NULL, *at = s->first_lane;
    while (at != l) {
        before = at;
        at = at->next;
    }
    *(before ? &before->next : &s->first_lane) = l->next;
    if (s->last_lane == l)
        s->last_lane = before;
}

static void xlane_insert(struct xend *e) {
    struct xlane *l = xlane_of(e);
    struct xend **at = &l->first;
    if (!l->first)
        xlane_append(e->stack, l);
    while (*at && (*at)->rank < e->rank)
        at = &(*at)->next;
    e->next = *at;
    *at = e;
    e->listed = true;
}

static void xlane_remove(struct xend *e) {
    struct xlane *l = xlane_of(e);
    struct xend **at = &l->first;
    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    e->listed = false;
    if (!l->first)
        xlane_leave(e->stack, l);
}

// ---- all of them ----

// The one whose turn it is, out of its list.
static struct xend *xend_next_of(struct xstack *s, unsigned list) {
    if (list == 0 || !x_is_dlcp(s->x))
        return xend_take(s, list);
    struct xend *e = s->first_lane ? s->first_lane->first : NULL;
    if (e)
        xlane_remove(e);
    return e;
}

static void xend_leave(struct xend *e) {
    struct xstack *s = e->stack;
    const unsigned list = list_of(e);
    struct xend *before = NULL, *at = s->first[list];
    if (!e->listed)
        return;
    if (xend_is_ranked(e)) {
        xlane_remove(e);
        return;
    }
    while (at != e) {
        before = at;
        at = at->next;
    }
    *(before ? &before->next : &s->first[list]) = e->next;
    if (s->last[list] == e)
        s->last[list] = before;
    e->listed = false;
}

void xend_ready(struct xend *e) {
    if (e->listed || e->stack->down)
        return;
    if (xend_is_ranked(e))
        xlane_insert(e);
    else
        xend_append(e, list_of(e));
}

// It has sent a frame, of its lane if it has one; unless it has ended, it waits for its next turn.
static void xend_sent(struct xstack *s, struct xend *e, struct xlane *l, bool ended) {
    if (l && l->first) {
        xlane_leave(s, l);
        xlane_append(s, l);
    }
    if (!ended)
        xend_ready(e);
}

void xend_wait(struct xend *e, uint64_t until) {
    sim_timer_set(&e->timer, until);
}

static void xend_wake(void *who, void *what) {
    struct xend *e = who;
    (void)what;
    if (!e->pipe->used || e->stack->down)
        return;
    if (!x_is_dlcp(e->stack->x))
        xstream_expire(e, xnow(e->stack->x));
    xend_ready(e);
    host_serve(e->stack->x->sim->stations[e->stack->station].host);
}

// ---- pipes ----

struct xpipe *xpipe_new(struct sim_exchange *x, struct xstack *from, struct xstack *to) {
    struct xpipe *p;
    if (x->n_free) {
        p = x->pipes[x->free_slots[--x->n_free]];
    } else {
        x->pipes = sk_resize(x->pipes, x->n_pipes + 1, sizeof *x->pipes);
        x->free_slots = sk_resize(x->free_slots, x->n_pipes + 1, sizeof *x->free_slots);
        p = x->pipes[x->n_pipes] = calloc(1, sizeof *p);
        if (!p)
            abort();
        p->slot = x->n_pipes++;
        p->sender.pipe = p->receiver.pipe = p;
        sim_timer_init(&p->sender.timer, &x->sim->events, xend_wake, &p->sender);
        sim_timer_init(&p->receiver.timer, &x->sim->events, xend_wake, &p->receiver);
    }
    x->n_used++;
    p->x = x;
    p->generation++;
    p->used = true;
    p->sender.stack = from;
    p->receiver.stack = to;
    p->receiver.receives = true;
    p->n_pieces = p->arrived = p->returned = 0;
    p->end = 0;
    p->enough = p->credited = false;
    return p;
}

void xpipe_release(struct xpipe *p) {
    struct sim_exchange *x = p->x;
    xend_leave(&p->sender);
    xend_leave(&p->receiver);
    if (x_is_dlcp(x))
        xdlcp_end(p);
    else
        xstream_end(p);
    free(p->pieces);
    p->pieces = NULL;
    p->piece_capacity = 0;
    p->used = false;
    x->n_used--;
    x->free_slots[x->n_free++] = p->slot;
}

// ---- pieces ----

void xstack_submit(struct xstack *s, struct xflow *f) {
    order_add(&s->order, x_urgency(s->x, f->layer), f->bytes, f);
    xstack_pump(s);
}

void xstack_pump(struct xstack *s) {
    struct order_part part;
    if (s->down)
        return;
    while (order_next(&s->order, &part)) {
        struct xflow *f = part.of;
        if (x_is_dlcp(s->x))
            xdlcp_give(f, part.bytes);
        else
            xstream_give(f, part.bytes);
        f->given += part.bytes;
        f->pieces++;
    }
    // the card may be idle
    sim_timer_set(&s->x->sim->stations[s->station].host->timer, xnow(s->x));
}

void x_piece_arrived(struct xflow *f, uint64_t bytes) {
    f->arrived += bytes;
    if (f->arrived == f->bytes)
        x_flow_arrived(f);
}

void x_credit_back(struct xstack *s, uint64_t bytes) {
    order_done(&s->order, bytes);
    if (s->order.n)
        xstack_pump(s);
}

// ---- the host's app ----

void xstack_ack(struct xstack *s, const uint8_t *frame, size_t length) {
    if (s->down || length > X_ACK_BYTES)
        return;
    if (s->n_acks == s->ack_capacity) {
        const size_t n = s->ack_capacity ? 2 * s->ack_capacity : 64;
        struct xack *more = malloc(n * sizeof *more);
        if (!more)
            abort();
        for (size_t i = 0; i < s->n_acks; i++)
            more[i] = s->acks[(s->acks_at + i) % s->ack_capacity];
        free(s->acks);
        s->acks = more;
        s->acks_at = 0;
        s->ack_capacity = n;
    }
    struct xack *a = &s->acks[(s->acks_at + s->n_acks++) % s->ack_capacity];
    a->length = (uint32_t)length;
    memcpy(a->bytes, frame, length);
}

static bool xstack_wants(const struct sim_app *a, const uint8_t *frame, uint32_t length) {
    const struct xstack *s = (const struct xstack *)a;
    return x_is_dlcp(s->x) ? xdlcp_wants(s, frame, length) : xstream_wants(s->x, frame, length);
}

static void xstack_deliver(struct sim_app *a, const uint8_t *frame, uint32_t length, uint64_t now) {
    struct xstack *s = (struct xstack *)a;
    if (x_is_dlcp(s->x))
        xdlcp_deliver(s, frame, length, now);
    else
        xstream_deliver(s, frame, length, now);
}

static size_t xend_next(struct xend *e, uint8_t *buf, size_t cap, uint64_t now) {
    return x_is_dlcp(e->stack->x) ? xdlcp_next(e, buf, cap, now) : xstream_next(e, buf, cap, now);
}

static size_t xstack_next(struct sim_app *a, uint8_t *buf, size_t cap, uint64_t now) {
    struct xstack *s = (struct xstack *)a;
    if (s->n_acks) {
        const struct xack *ack = &s->acks[s->acks_at];
        memcpy(buf, ack->bytes, ack->length);
        s->acks_at = (s->acks_at + 1) % s->ack_capacity;
        s->n_acks--;
        return ack->length;
    }
    for (unsigned i = 0; i < X_LISTS; i++) {
        struct xend *e;
        while ((e = xend_next_of(s, i))) {
            struct xlane *lane = xend_is_ranked(e) ? xlane_of(e) : NULL;
            const uint32_t generation = e->pipe->generation;
            const size_t length = xend_next(e, buf, cap, now);
            // it may have ended, or even be another one by now
            if (length) {
                xend_sent(s, e, lane, !e->pipe->used || e->pipe->generation != generation);
                return length;
            }
        }
    }
    return 0;
}

static uint64_t xstack_deadline(struct sim_app *a) {
    (void)a; // each end has a timer of its own
    return SIM_NEVER;
}

static void xstack_expire(struct sim_app *a, uint64_t now) {
    (void)a;
    (void)now;
}

static void xstack_keep(struct sim_app *a) {
    (void)a; // the exchange frees it
}

static const struct sim_app_ops xstack_ops = {xstack_wants,    xstack_deliver, xstack_next,
                                              xstack_deadline, xstack_expire,  xstack_keep};

struct xstack *xstack_new(struct sim_exchange *x, uint32_t station) {
    struct xstack *s = calloc(1, sizeof *s);
    const struct sim_station *st = &x->sim->stations[station];
    if (!s)
        abort();
    s->app.ops = &xstack_ops;
    s->x = x;
    s->station = station;
    memcpy(s->at.mac, st->mac, 6);
    s->at.ip = st->ip;
    s->order = (struct order){.partition = x->as->partition_bytes,
                              .credit = x->as->credit_bytes,
                              .by_layer = x->as->by_layer};
    s->lanes = calloc(x->sim->scenario->n_stations, sizeof *s->lanes);
    if (!s->lanes)
        abort();
    host_add(st->host, &s->app);
    return s;
}

void xstack_free(struct xstack *s) {
    order_free(&s->order);
    free(s->acks);
    free(s->lanes);
    free(s);
}
