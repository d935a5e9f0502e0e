// SPDX-License-Identifier: Apache-2.0
//
// The traffic manager: from the ingress deparser's wishes to packets waiting for egress.
#include "pipeline/tm/pre_walk.h"
#include "pipeline/path/egress.h"

// Destinations become known one by one and the original packet is used for the last of them, so one
// is held back until it is clear whether another follows.
struct fan_out {
    struct sk_core *core;
    struct sk_packet *packet;
    const struct sk_ingress_out *out;
    uint64_t now_ns;
    bool at_once; // copies need not wait in a queue
    bool telling; // the observer is told of all copies before the first one goes on
    bool held;
    struct destination destination;
    const char *why; // of the next one, and the multicast group: for the observer
    uint16_t group;
};

// False when there is no room, and the packet the caller's.
static bool admit_to_queue(struct sk_core *core, struct sk_packet *p, uint64_t now_ns) {
    return owns_port(core, p->egress_port) ? queue_push(core, p, now_ns) == SK_DROP_COUNT
                                           : cores_cross(core, p, now_ns);
}

// A packet that its queue did not take goes to the place for deflected ones, if it asks for that.
static bool tm_deflect(struct sk_core *core, struct sk_packet *p, uint64_t now_ns) {
    uint16_t port = core->sw->deflect_port;
    if (!switch_port_is_there(core->sw, port))
        return false;
    p->egress_port = port;
    p->qid = core->sw->deflect_qid;
    p->deflected = true;
    return admit_to_queue(core, p, now_ns);
}

// A full queue's packet goes to the place for deflected ones, if it asks for that, or nowhere.
static void deflect_or_drop(struct sk_core *core, struct sk_packet *p, uint16_t port,
                            enum sk_drop_reason why, uint64_t now_ns) {
    if (!(p->deflect_on_drop && tm_deflect(core, p, now_ns)))
        core_drop(core, p, port, why);
}

void tm_arrive(struct sk_core *core, struct sk_packet *p, uint64_t now_ns) {
    const uint16_t port = p->egress_port;
    const enum sk_drop_reason why = queue_push(core, p, now_ns);
    if (__builtin_expect(why != SK_DROP_COUNT, 0))
        deflect_or_drop(core, p, port, why, now_ns);
}

// One that crossed with nothing but what ingress wished, 'w'. False: it has to wait, and knows all
// that it then must.
static bool arrive_wished(struct sk_core *core, struct sk_packet *p, uint64_t w, uint64_t now_ns) {
    const struct destination d = {SK_WISH_PORT(w), 0, false, sk_wish_cos(w)};
    if (!send_is_plain(core) || !goes_at_once(core, d.port)) {
        struct sk_ingress_out *const out = &core->ingress_out;
        sk_ingress_wishes(w, out);
        switch_address(p, &d, out);
        sk_ingress_out_clear(out);
        return false;
    }
    p = leave_at_once(core, p, &d, w & SK_WISH_BYPASS, sk_wish_qid(w), now_ns, true);
    if (p)
        ingress_push(&core->pipes[sk_port_pipe(p->ingress_port)], p);
    return true;
}

void tm_arrive_crossed(struct sk_core *core, struct sk_packet *p, uint64_t w, uint64_t now_ns) {
    if (!w || !arrive_wished(core, p, w, now_ns))
        tm_arrive(core, p, now_ns);
}

// What goes on in ingress at once, or null.
static struct sk_packet *send_on(struct fan_out *f, struct sk_packet *p) {
    const struct destination *d = &f->destination;
    struct sk_core *core = f->core;
    if (!switch_port_is_there(core->sw, d->port)) {
        core_drop(core, p, d->port, SK_DROP_PORT_DOWN);
        return NULL;
    }
    if (f->at_once && goes_at_once(core, d->port))
        return leave_now(core, p, d, f->out, f->now_ns);
    switch_address(p, d, f->out);
    if (!owns_port(core, d->port)) {
        if (!cores_cross(core, p, f->now_ns))
            core_drop(core, p, d->port, SK_DROP_CROSSING_FULL);
        return NULL;
    }
    tm_arrive(core, p, f->now_ns);
    return NULL;
}

static struct sk_packet *clone(struct sk_core *core, const struct sk_packet *p) {
    struct sk_packet *c = sk_pool_get(core->pool);
    if (!c)
        return NULL;
    const size_t from = offsetof(struct sk_packet, head);
    const size_t bytes = offsetof(struct sk_packet, pool) - from;
    struct sk_pool *pool = c->pool;
    memcpy((char *)c + from, (const char *)p + from, bytes);
    memcpy(&c->pool, &p->pool, sizeof *p - offsetof(struct sk_packet, pool));
    c->pool = pool;
    memcpy(c->buf + c->head, p->buf + p->head, p->len);
    return c;
}

static void send_clone(struct fan_out *f) {
    struct sk_core *core = f->core;
    struct sk_packet *copy = clone(core, f->packet);
    if (copy) {
        copy = send_on(f, copy);
        if (copy)
            ingress_push(&core->pipes[sk_port_pipe(copy->ingress_port)], copy);
        return;
    }
    core_refuse(core, f->packet, f->destination.port, SK_DROP_NO_BUFFER);
}

static void send_copy(struct fan_out *f) {
    f->core->stats.copies++;
    send_clone(f);
}

static void tm_announce(struct fan_out *f, const struct destination *d) {
    struct sk_core *core = f->core;
    f->packet->rid_first = d->rid_first;
    if (switch_port_is_there(core->sw, d->port))
        tell_copy(core, f->packet, d, f->out, f->why, f->group);
}

static void tm_add(struct fan_out *f, struct destination d) {
    if (f->telling) {
        tm_announce(f, &d);
        return;
    }
    if (f->held)
        send_copy(f);
    f->held = true;
    f->destination = d;
}

static enum sk_drop_reason why_nowhere(const struct sk_ingress_out *out) {
    if (out->drop_ctl & 3)
        return sk_ingress_drop_out(out);
    return out->mcast_a_valid || out->mcast_b_valid ? SK_DROP_MCAST_EMPTY : SK_DROP_NO_DESTINATION;
}

// The packet itself to the destination that is held, or nowhere. What goes on in ingress at once,
// or null.
static struct sk_packet *send_last(struct fan_out *f) {
    if (f->held)
        return send_on(f, f->packet);
    core_drop(f->core, f->packet, f->packet->ingress_port, why_nowhere(f->out));
    return NULL;
}

static struct sk_pre_request tm_request(const struct sk_core *core,
                                        const struct sk_ingress_out *out, uint16_t mgid) {
    return (struct sk_pre_request){.mgid = mgid,
                                   .level1_exclusion_id = out->level1_exclusion_id,
                                   .level2_exclusion_id = out->level2_exclusion_id,
                                   .rid = out->rid,
                                   .level1_hash = out->level1_mcast_hash,
                                   .level2_hash = out->level2_mcast_hash,
                                   .rid_in_hash = core->tofino_2};
}

static void tm_add_group(struct fan_out *f, uint16_t mgid) {
    const struct sk_pre_request req = tm_request(f->core, f->out, mgid);
    struct pre_walk w;
    struct sk_pre_copy c;
    f->why = "multicast";
    f->group = mgid;
    pre_begin(&w, f->core->sw->pre, f->core->marks, &req);
    while (pre_next(&w, &c))
        tm_add(f, (struct destination){c.port, c.rid, c.rid_first, f->out->ingress_cos});
}

// ---- copies without buffers ----

// A multicast's copies are made in the packet's own buffer, one after the other: of its bytes those
// are kept that egress may change. More of them than LENT, and a copy has a buffer.
#define LENT   256u
#define LISTED 128u // of a group that lists its copies
struct lender {
    uint32_t changed, head, len;
    bool bypass;
    uint64_t now_ns;
    // of what egress has before a copy, what all have in common
    uint64_t times, queue;
    uint16_t length;
    uint8_t kept[LENT];
    struct roce_copies copies; // where ports make the invariant CRC
};

// Copies whole cache lines: up to 63 bytes past the end, within SK_POOL_SLACK.
_Static_assert(SK_POOL_SLACK >= LINE_BYTES - 1 && LENT % LINE_BYTES == 0, "whole lines are copied");
INLINE void copy_lines(const struct sk_core *core, uint8_t *to, const uint8_t *from,
                       uint32_t bytes) {
    for (uint32_t at = 0; at < bytes; at += LINE_BYTES)
        core->copy_line(to + at, from + at);
}

// Called before the first copy; false: each copy needs a buffer. With an observer, copies are
// always made.
INLINE bool begin_lending(struct sk_core *core, const struct sk_packet *p, bool bypass, uint8_t qid,
                          uint8_t cos, uint64_t now_ns, struct lender *l) {
    const uint32_t reach = bypass ? 0 : core->egress_reach;
    l->head = p->head;
    l->len = p->len;
    l->changed = reach < p->len ? reach : p->len;
    l->bypass = bypass;
    l->now_ns = now_ns;
    l->times = sk_egress_times(now_ns, 0, 0, 0);
    l->queue = sk_egress_queue(qid, cos);
    l->length = sk_egress_length(p->arrived);
    if (sk_pool_is_shared(core->pool) || core->watched || core->tofino_2 || l->changed > LENT ||
        !sk_packet_is_centred(p))
        return false;
    copy_lines(core, l->kept, sk_packet_data(p), l->changed);
    if (__builtin_expect(core->invariant_crc, 0))
        roce_copies_begin(&l->copies, sk_packet_data(p) + l->changed);
    return true;
}

INLINE void write_lent_prefix(uint8_t *data, const struct lender *l, uint16_t port, uint16_t rid,
                              bool rid_first) {
    sk_egress_prefix(data, sk_egress_place(port, 0, 0, l->now_ns), l->times,
                     sk_egress_copy(0, rid, rid_first, l->queue), false, l->length);
}

// The packet stays the caller's and as it is. False when the port does not send at once: then
// nothing has happened.
static bool lend(struct sk_core *core, struct sk_packet *p, struct lender *l, uint16_t number,
                 uint16_t rid, bool rid_first) {
    const struct pipe *pipe = &core->pipes[sk_port_pipe(number) % SK_PIPES];
    if (number >= SK_PORTS || !(core->ways[number] & PORT_SENDS) || pipe->egress.first)
        return false;
    p->egress_port = number;
    const bool runs = !l->bypass && !pipe->desc->egress_idle;
    bool sends = true;
    if (runs) {
        write_lent_prefix(sk_packet_data(p), l, number, rid, rid_first);
        sends = run_egress_program(core, pipe, p, l->now_ns, true);
    }
    const enum sk_drop_reason r =
        sends ? hand_over_lent(core, p, &l->copies, false) : core->egress_drop;
    if (__builtin_expect(r != SK_DROP_COUNT, 0))
        core_refuse(core, p, number, r);
    if (runs) {
        p->head = l->head;
        p->len = l->len;
        copy_lines(core, sk_packet_data(p), l->kept, l->changed);
    }
    return true;
}

// ---- copies to one group and nowhere else ----

// They are lent, all but the last, which is the packet itself, when no one looks and the ports send
// what they are given. 'held' is the one that is to be made next, when it is clear whether another
// follows.
struct lending {
    struct lender lender;
    struct pre_walk walk;
    struct sk_pre_request req;
    struct sk_pre_copy copy;
    bool held;
    uint8_t qid, cos;
};

static bool begin_group(struct sk_core *core, const struct sk_packet *p, bool bypass,
                        uint64_t now_ns, struct lending *l) {
    if (!begin_lending(core, p, bypass, l->qid, l->cos, now_ns, &l->lender))
        return false;
    pre_begin(&l->walk, core->sw->pre, core->marks, &l->req);
    l->held = false;
    l->copy = (struct sk_pre_copy){0};
    return true;
}

// The end of a copy that was lent and whose egress wished 'w', when it is not just sent: why it is
// not.
static enum sk_drop_reason __attribute__((noinline))
end_copy(struct sk_core *core, struct sk_packet *p, struct lender *l, uint64_t w, uint64_t now_ns) {
    return end_egress(core, p, w, now_ns) ? hand_over_lent(core, p, &l->copies, true)
                                          : core->egress_drop;
}

// All copies of a group that lists them, the last one too, as long as each goes to a port that
// sends; 'runs': egress runs for all of them, and what it may change is LISTED at most. Nobody
// looks or records. How many there were; those that are left are the walk's.
INLINE uint64_t lend_listed(struct sk_core *core, struct sk_packet *p, struct lending *l,
                            uint64_t now_ns, const bool runs) {
    const struct flat_copy *next = l->walk.next, *const end = l->walk.end;
    const uint64_t *const down = core->sw->pre->down;
    const uint16_t excluded = l->req.level1_exclusion_id;
    uint8_t *const data = sk_packet_data(p);
    uint64_t copies = 0;
    p->global_tstamp = now_ns & SK_TSTAMP_MASK; // run_egress_program's, once for all
    if (__builtin_expect(core->observed, 0))
        p->observer = core->observer;
    core->pass_ns = now_ns;
    unsigned known =
        SK_PIPES; // the pipe that is the one below, in which nothing waits and egress is to run
    struct sk_pipe *state = NULL;
    sk_egress_fn egress = NULL;
    for (; next != end; next++) {
        const uint16_t number = next->port;
        if (next->has_xid && next->xid == excluded)
            continue;
        if (pre_has(down, number) || !(core->ways[number] & PORT_SENDS))
            break;
        if (sk_port_pipe(number) != known) {
            const struct pipe *const pipe = &core->pipes[sk_port_pipe(number)];
            if (pipe->egress.first || (runs && pipe->desc->egress_idle))
                break;
            known = sk_port_pipe(number);
            state = pipe->state;
            egress = pipe->desc->egress;
        }
        const bool first = !next->shared || pre_is_first(&l->walk, next->rid);
        uint64_t w = 0;
        p->egress_port = number;
        if (runs) {
            write_lent_prefix(data, &l->lender, number, next->rid, first);
            w = egress(state, p, &core->egress_out);
        }
        enum sk_drop_reason r;
        if (__builtin_expect(w & (SK_WISHES_IN_OUT | SK_WISH_DROPS), 0)) {
            r = end_copy(core, p, &l->lender, w, now_ns);
            known = SK_PIPES; // a mirrored copy may wait now
        } else
            r = hand_over_lent(core, p, &l->lender.copies, true);
        if (__builtin_expect(r != SK_DROP_COUNT, 0))
            core_refuse(core, p, number, r);
        if (runs) {
            p->head = l->lender.head;
            p->len = l->lender.len;
            if (__builtin_expect(l->lender.changed > LINE_BYTES, 0))
                copy_lines(core, data, l->lender.kept, l->lender.changed);
            else if (l->lender.changed > 0)
                core->copy_line(data, l->lender.kept); // of most programs one, without a loop
        }
        copies++;
    }
    l->walk.next = next;
    return copies;
}

// What is left of them, and the packet itself. What goes on in ingress at once, or null.
static struct sk_packet *lend_rest(struct sk_core *core, struct sk_packet *p, struct lending *l,
                                   const struct sk_ingress_out *out, uint64_t now_ns) {
    struct fan_out f = {.core = core, .packet = p, .out = out, .now_ns = now_ns, .at_once = true};
    struct sk_pre_copy c;
    while (pre_next(&l->walk, &c)) {
        const struct sk_pre_copy *const h = &l->copy;
        if (l->held) {
            core->stats.copies++;
            if (!lend(core, p, &l->lender, h->port, h->rid, h->rid_first)) {
                f.destination = (struct destination){h->port, h->rid, h->rid_first, l->cos};
                send_clone(&f);
            }
        }
        l->copy = c;
        l->held = true;
    }
    f.held = l->held;
    f.destination = (struct destination){l->copy.port, l->copy.rid, l->copy.rid_first, l->cos};
    return send_last(&f);
}

struct sk_packet *tm_multicast(struct sk_core *core, struct sk_packet *p, uint64_t w,
                               uint64_t now_ns) {
    struct sk_ingress_out *const out = &core->ingress_out;
    struct lending l;
    l.qid = sk_wish_qid(w);
    l.cos = sk_wish_cos(w);
    l.req = (struct sk_pre_request){.mgid = (uint16_t)(w >> SK_WISH_MCAST_A_AT),
                                    .level1_exclusion_id = (uint16_t)(w >> SK_WISH_EXCLUDE1_AT)};
    const bool bypass = w & SK_WISH_BYPASS, lends = begin_group(core, p, bypass, now_ns, &l);
    if (lends && l.walk.next != l.walk.end && !core->recorder && l.lender.changed <= LISTED) {
        const uint64_t copies = bypass ? lend_listed(core, p, &l, now_ns, false)
                                       : lend_listed(core, p, &l, now_ns, true);
        if (l.walk.next == l.walk.end && copies > 0) {
            core->stats.copies += copies - 1; // the last was the packet itself
            sk_pool_put(p);
            return NULL;
        }
        core->stats.copies += copies;
    }
    sk_ingress_wishes(w, out);
    p = lends ? lend_rest(core, p, &l, out, now_ns) : tm_admit(core, p, out, now_ns);
    sk_ingress_out_clear(out);
    return p;
}

static struct sk_packet *tm_resubmit(struct sk_core *core, struct sk_packet *p,
                                     const struct sk_ingress_out *out) {
    bool special = !core->tofino_2 && sk_port_local(p->ingress_port) >= SK_NO_RESUBMIT_FROM;
    if (p->resubmitted || special) {
        core_drop(core, p, p->ingress_port,
                  special ? SK_DROP_RESUBMIT_PORT : SK_DROP_RESUBMIT_TWICE);
        return NULL;
    }
    core_tell(core, p, SK_EV_RESUBMITTED, p->ingress_port, 0, NULL);
    p->resubmitted = true;
    p->resubmits++;
    memcpy(p->resubmit_data, out->resubmit_data, sizeof p->resubmit_data);
    core->stats.resubmitted++;
    return p;
}

static void tm_add_all(struct fan_out *f) {
    const struct sk_ingress_out *out = f->out;
    bool forward = !(out->drop_ctl & 1);
    f->why = "unicast";
    if (forward && out->ucast_valid)
        tm_add(f, (struct destination){out->ucast_port, 0, false, out->ingress_cos});
    if (forward && out->mcast_a_valid)
        tm_add_group(f, out->mcast_grp_a);
    if (forward && out->mcast_b_valid)
        tm_add_group(f, out->mcast_grp_b);
    f->why = "cpu";
    if (out->copy_to_cpu && !(out->drop_ctl & 2))
        tm_add(f,
               (struct destination){f->core->sw->opt.cpu_port, 0, true, out->icos_for_copy_to_cpu});
}

static struct sk_packet *replicate(struct fan_out *f) {
    if (f->core->observer) {
        f->telling = true;
        tm_add_all(f);
        f->telling = false;
    }
    tm_add_all(f);
    return send_last(f);
}

void tm_replicate(struct sk_core *core, struct sk_packet *p, const struct sk_ingress_out *out,
                  uint64_t now_ns) {
    struct fan_out f = {.core = core, .packet = p, .out = out, .now_ns = now_ns};
    replicate(&f); // into queues: nothing goes on at once
}

struct sk_packet *tm_admit(struct sk_core *core, struct sk_packet *p,
                           const struct sk_ingress_out *out, uint64_t now_ns) {
    tell_wishes(core, p, out);
    if (out->parser_drop) {
        core_drop(core, p, p->ingress_port, SK_DROP_PARSER_ERROR);
        return NULL;
    }
    if (out->resubmit)
        return tm_resubmit(core, p, out);
    if (out->drop_ctl & 1 && !out->copy_to_cpu) { // in an aggregation the end of most
        core_drop(core, p, p->ingress_port, sk_ingress_drop_out(out));
        return NULL;
    }
    struct fan_out f = {.core = core, .packet = p, .out = out, .now_ns = now_ns, .at_once = true};
    if (out->mcast_a_valid && !out->mcast_b_valid && !out->ucast_valid && !out->copy_to_cpu) {
        struct lending l = {.req = tm_request(core, out, out->mcast_grp_a),
                            .qid = out->qid,
                            .cos = out->ingress_cos};
        if (begin_group(core, p, out->bypass_egress, now_ns, &l))
            return lend_rest(core, p, &l, out, now_ns);
    }
    return replicate(&f);
}
