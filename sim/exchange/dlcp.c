// SPDX-License-Identifier: Apache-2.0
//
// DLCP in an exchange: senders and receivers of hosts/dlcp.
//
// Values are zeros that nobody looks at, or floats of which each is a function of flow and element
// ("values": "floats"): then what comes is compared bit for bit. Which segments are important is
// drawn, as many as 'important' says: half of them by default, as the median of means has it.
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sim/exchange/exchange_impl.h"

#define FIRST_PORT 0xc000u

static struct sk_endpoint endpoint_of(const struct xstack *s) {
    struct sk_endpoint e = {.port = DLCP_PORT, .ip = s->at.ip};
    memcpy(e.mac, s->at.mac, 6);
    return e;
}

// ---- values ----

static uint64_t xdlcp_seed(const struct xpipe *p) {
    const struct dlcp_name *n = &p->name;
    return sim_mix(p->x->job->value_seed +
                   ((uint64_t)n->iteration << 32 | (uint32_t)n->tensor << 1 | n->pull)) ^
           (uint64_t)p->sender.stack->station << 32 ^ p->receiver.stack->station;
}

static uint32_t xdlcp_value(uint64_t seed, uint32_t element) {
    // from 2^-32 to 2^32, either sign, all bits of the fraction
    const uint64_t bits = sim_mix(seed + element * UINT64_C(0x9e3779b97f4a7c15));
    return (uint32_t)(bits & 0x807fffff) | (uint32_t)(95 + (bits >> 32) % 64) << 23;
}

static bool xdlcp_important(void *aux, const float *values, uint32_t count, uint32_t segment) {
    const struct xpipe *p = aux;
    (void)values;
    (void)count;
    return (double)(sim_mix(xdlcp_seed(p) + segment) >> 11) * 0x1p-53 < p->x->as->important;
}

static void make_values(struct xpipe *p) {
    const uint64_t seed = xdlcp_seed(p);
    p->values = malloc(p->elements * sizeof *p->values);
    if (!p->values)
        abort();
    for (uint32_t i = 0; i < p->elements; i++) {
        const uint32_t bits = xdlcp_value(seed, i);
        memcpy(&p->values[i], &bits, sizeof bits);
    }
}

static uint32_t wire_word(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

// Which of the elements from 'first' on is not what was sent; 'count': none.
static uint32_t xdlcp_changed(uint64_t seed, uint32_t first, const uint8_t *wire, uint32_t count) {
    uint32_t changed = 0, i = 0;
    for (uint32_t k = 0; k < count; k++)
        changed |= wire_word(wire + 4 * (size_t)k) ^ xdlcp_value(seed, first + k);
    if (!changed)
        return count;
    while (wire_word(wire + 4 * (size_t)i) == xdlcp_value(seed, first + i))
        i++;
    return i;
}

static void xdlcp_place(void *aux, uint32_t offset, const uint8_t *wire, uint32_t count,
                        uint16_t contributions) {
    struct xpipe *p = aux;
    struct sim_exchange *x = p->x;
    const uint32_t segment = offset / x->as->segment;
    (void)contributions;
    if (offset % x->as->segment || offset >= p->elements || count > p->elements - offset)
        sim_violate(x->sim, NULL, "job %s: elements %u to %u are placed in a tensor of %u",
                    x->job->as->name, offset, offset + count, p->elements);
    else if (p->seen[segment / 64] >> segment % 64 & 1)
        sim_violate(x->sim, NULL, "job %s: segment %u of tensor %u is placed twice",
                    x->job->as->name, segment, p->name.tensor);
    if (x->sim->violated)
        return;
    p->seen[segment / 64] |= UINT64_C(1) << segment % 64;
    p->there += count;
    const bool compared = x->job->as->work.floats && !x->sim->scenario->any_sums;
    const uint32_t i = compared ? xdlcp_changed(xdlcp_seed(p), offset, wire, count) : count;
    if (i < count) {
        sim_violate(x->sim, NULL,
                    "job %s: element %u of tensor %u is not what was sent, iteration %u",
                    x->job->as->name, offset + i, p->name.tensor, p->name.iteration);
        return;
    }
    x->job->verified += x->job->as->work.floats ? count : 0;
}

// ---- names ----

static uint32_t hash_of(uint32_t from, uint32_t to, const struct dlcp_name *n) {
    const uint64_t a = (uint64_t)from << 32 | to,
                   b = (uint64_t)n->iteration << 32 | (uint32_t)n->tensor << 1 | n->pull;
    return (uint32_t)(sim_mix(a ^ sim_mix(b)) % X_HASH);
}

static struct xpipe *xdlcp_find(const struct sim_exchange *x, uint32_t from_ip, uint32_t to_ip,
                                const struct dlcp_name *n) {
    struct xpipe *p = x->hash[hash_of(from_ip, to_ip, n)];
    while (p && (p->sender.stack->at.ip != from_ip || p->receiver.stack->at.ip != to_ip ||
                 !dlcp_name_is(p->name, *n)))
        p = p->hash_next;
    return p;
}

static struct dlcp_peer *peer_of(struct sim_exchange *x, const struct xstack *from,
                                 const struct xstack *to) {
    struct dlcp_peer **p = &x->peers[from->station * x->sim->scenario->n_stations + to->station];
    if (!*p) {
        *p = malloc(sizeof **p);
        if (!*p)
            abort();
        dlcp_peer_init(*p, FIRST_PORT, (uint16_t)x->as->ports, x->job->rto_initial, x->job->rto_min,
                       x->job->rto_max);
    }
    return *p;
}

// ---- beginning ----

static uint8_t class_of(const struct sim_exchange *x, const struct xflow *f) {
    return (uint8_t)(x->as->one_class ? 0
                                      : dlcp_class(x_urgency(x, f->layer), (uint32_t)x->n_layers));
}

static int make_sender(struct xpipe *p, const struct xflow *f, const char **why) {
    struct sim_exchange *x = p->x;
    const struct scn_exchange *as = x->as;
    const struct sim_link *out = x->sim->stations[f->from->station].host->out;
    const struct dlcp_sender_config c = {.name = p->name,
                                         .peer = peer_of(x, f->from, f->to),
                                         .nonce = 1,
                                         .values = p->values,
                                         .elements = p->elements,
                                         .segment = as->segment,
                                         .bound = p->name.pull ? as->pull_bound : as->bound,
                                         .class = class_of(x, f),
                                         .contributions =
                                             (uint16_t)(f->kind == X_PULL ? x->n_workers : 1),
                                         .prio = xdlcp_important,
                                         .prio_aux = p,
                                         .link = (uint64_t)out->rate_mbps * 1000000,
                                         .period = (uint64_t)(as->period_us * 1000),
                                         .burst = (uint64_t)(as->burst_us * 1000),
                                         .hard_limit = x->job->hard_limit};
    return dlcp_sender_new(&p->dlcp, &c, xnow(x), why);
}

static int make_receiver(struct xpipe *p, const struct xflow *f, const char **why) {
    struct sim_exchange *x = p->x;
    const struct dlcp_receiver_config c = {.name = p->name,
                                           .peer = peer_of(x, f->to, f->from),
                                           .nonce = 1,
                                           .elements = p->elements,
                                           .segment = x->as->segment,
                                           .bound = p->name.pull ? x->as->pull_bound : x->as->bound,
                                           .place = xdlcp_place,
                                           .place_aux = p,
                                           .period = (uint64_t)(x->as->period_us * 1000),
                                           .hard_limit = x->job->hard_limit};
    return dlcp_receiver_new(&p->dlcp_receiver, &c, xnow(x), why);
}

void xdlcp_give(struct xflow *f, uint64_t bytes) {
    struct sim_exchange *x = f->x;
    struct xpipe *p = xpipe_new(x, f->from, f->to);
    const uint32_t parts = x->as->form == SCN_RING ? x->n_workers : x->places[f->layer].parts;
    const char *why = "out of memory";
    p->pieces = sk_resize(p->pieces, 1, sizeof *p->pieces);
    p->pieces[0] = (struct xpiece){f, bytes, bytes};
    p->n_pieces = 1;
    p->end = bytes;
    p->name = (struct dlcp_name){
        .iteration = (uint32_t)f->iteration,
        .tensor = (uint16_t)(x->tensor_base[f->layer] +
                             (f->part % parts) * (uint64_t)x->pieces_of[f->layer] + f->pieces),
        .job = x->job->number,
        .pull = f->kind == X_PULL || (f->kind == X_RING && f->step + 1 >= x->n_workers)};
    p->sender.rank = (uint64_t)class_of(x, f) << 56 | x->begun++;
    p->elements = (uint32_t)(bytes / 4);
    p->there = 0;
    p->seen = calloc(dlcp_segments(p->elements, x->as->segment) / 64 + 1, sizeof *p->seen);
    if (!p->seen)
        abort();
    p->values = NULL;
    if (x->job->as->work.floats)
        make_values(p);
    struct xpipe **head = &x->hash[hash_of(f->from->at.ip, f->to->at.ip, &p->name)];
    p->hash_next = *head;
    *head = p;
    if (make_sender(p, f, &why) < 0 || (!f->to->down && make_receiver(p, f, &why) < 0)) {
        sim_violate(x->sim, NULL, "job %s: a flow of DLCP is refused: %s", x->job->as->name, why);
        return;
    }
    xend_ready(&p->sender);
    xend_ready(&p->receiver);
}

// ---- what has happened ----

static void note_sender(struct xpipe *p) {
    const struct dlcp_sender_stats n = dlcp_sender_stats(p->dlcp);
    struct xcounts *c = &p->x->counts;
    c->data += n.data;
    c->repeated += n.repeated;
    c->important += n.important;
    c->signals += n.signals;
    c->rounds += n.rounds;
    c->halved += n.halved;
    for (int i = 0; i < DLCP_REASON_COUNT; i++)
        c->refused[i] += n.refused[i];
    dlcp_sender_free(p->dlcp);
    p->dlcp = NULL;
    free(p->values);
    p->values = NULL;
}

static void note_receiver(struct xpipe *p) {
    const struct dlcp_receiver_stats n = dlcp_receiver_stats(p->dlcp_receiver);
    struct xcounts *c = &p->x->counts;
    c->came += n.data;
    c->needless += n.needless;
    c->missing += n.missing;
    c->reports += n.reports;
    c->elements += p->elements;
    c->lost += p->elements - p->there;
    for (int i = 0; i < DLCP_REASON_COUNT; i++)
        c->refused[i] += n.refused[i];
    dlcp_receiver_free(p->dlcp_receiver);
    p->dlcp_receiver = NULL;
}

static void xdlcp_unhash(struct xpipe *p) {
    struct xpipe **at =
        &p->x->hash[hash_of(p->sender.stack->at.ip, p->receiver.stack->at.ip, &p->name)];
    while (*at && *at != p)
        at = &(*at)->hash_next;
    if (*at)
        *at = p->hash_next;
}

void xdlcp_end(struct xpipe *p) {
    xdlcp_unhash(p);
    if (p->dlcp)
        note_sender(p);
    if (p->dlcp_receiver)
        note_receiver(p);
    free(p->seen);
    free(p->values);
    p->seen = NULL;
    p->values = NULL;
}

static void xdlcp_credit(struct xpipe *p) {
    if (p->credited)
        return;
    p->credited = true;
    x_credit_back(p->sender.stack, p->end);
}

// The sender's state has been changed, perhaps. True: it is over and gone.
static bool xdlcp_look_sender(struct xpipe *p, bool idle) {
    struct sim_exchange *x = p->x;
    const enum dlcp_sender_state state = dlcp_sender_state(p->dlcp);
    const uint64_t link =
        (uint64_t)x->sim->stations[p->sender.stack->station].host->out->rate_mbps * 1000000;
    if (dlcp_sender_rate(p->dlcp) < link / 100)
        sim_violate(x->sim, NULL, "job %s: a sender's rate is %llu bit/s, below its least",
                    x->job->as->name, (unsigned long long)dlcp_sender_rate(p->dlcp));
    if (state == DLCP_SENDER_SENDING || state == DLCP_SENDER_STOPPED)
        return false;
    if (state == DLCP_SENDER_FAILED) {
        note_sender(p);
        xdlcp_credit(p);
        x_failed(x, p->sender.stack, "a flow to it or from it has failed");
        return true;
    }
    const bool over = state == DLCP_SENDER_OVER && idle;
    if (over)
        note_sender(p);
    xdlcp_credit(p);
    return over;
}

static bool xdlcp_look_receiver(struct xpipe *p, bool idle) {
    struct sim_exchange *x = p->x;
    const enum dlcp_receiver_state state = dlcp_receiver_state(p->dlcp_receiver);
    const uint32_t bound = p->name.pull ? x->as->pull_bound : x->as->bound;
    struct xflow *f = p->pieces[0].flow;
    if (state == DLCP_RECEIVER_FAILED) {
        note_receiver(p);
        x_failed(x, p->receiver.stack, "a flow to it or from it has failed");
        return true;
    }
    if (state != DLCP_RECEIVER_ENOUGH && state != DLCP_RECEIVER_OVER)
        return false;
    if (!p->enough) {
        p->enough = true;
        if (p->there != dlcp_receiver_elements(p->dlcp_receiver) ||
            p->there < dlcp_needed(p->elements, bound))
            sim_violate(x->sim, NULL,
                        "job %s: tensor %u of %u elements is complete with %u, of which %u were "
                        "placed",
                        x->job->as->name, p->name.tensor, p->elements,
                        dlcp_receiver_elements(p->dlcp_receiver), p->there);
        p->pieces[0].flow = NULL;
        x_piece_arrived(f, p->end);
    }
    if (state == DLCP_RECEIVER_OVER && idle) {
        note_receiver(p);
        return true;
    }
    return false;
}

static void xdlcp_maybe_release(struct xpipe *p) {
    if (!p->dlcp && !p->dlcp_receiver)
        xpipe_release(p);
}

void xdlcp_forget(struct xend *e) {
    struct xpipe *p = e->pipe;
    if (e->receives && p->dlcp_receiver) {
        dlcp_receiver_free(p->dlcp_receiver);
        p->dlcp_receiver = NULL;
    } else if (!e->receives && p->dlcp) {
        dlcp_sender_free(p->dlcp);
        p->dlcp = NULL;
    }
    xdlcp_maybe_release(p);
}

// ---- frames ----

size_t xdlcp_next(struct xend *e, uint8_t *buf, size_t cap, uint64_t now) {
    struct xpipe *p = e->pipe;
    struct dlcp_packet packet;
    const struct sk_endpoint self = endpoint_of(e->stack),
                             other = endpoint_of(e->receives ? p->sender.stack : p->receiver.stack);
    if (cap < DLCP_FRAME_BYTES || (e->receives ? !p->dlcp_receiver : !p->dlcp))
        return 0;
    if (e->receives ? dlcp_receiver_next(p->dlcp_receiver, now, &packet)
                    : dlcp_sender_next(p->dlcp, now, &packet))
        return dlcp_frame_write(buf, &self, &other, &packet);
    if (e->receives ? xdlcp_look_receiver(p, true) : xdlcp_look_sender(p, true)) {
        xdlcp_maybe_release(p);
        return 0;
    }
    xend_wait(e, e->receives ? dlcp_receiver_deadline(p->dlcp_receiver)
                             : dlcp_sender_deadline(p->dlcp));
    return 0;
}

bool xdlcp_wants(const struct xstack *s, const uint8_t *frame, uint32_t length) {
    const struct sk_endpoint self = endpoint_of(s);
    struct dlcp_packet p;
    struct sk_endpoint from;
    return dlcp_frame_read(frame, length, &self, &p, &from) == DLCP_ACCEPTED &&
           p.name.job == s->x->job->number;
}

static void xdlcp_answer(struct xstack *s, const struct dlcp_packet *p,
                         const struct sk_endpoint *from, uint64_t now) {
    struct sim_exchange *x = s->x;
    const uint32_t station = from->ip - UINT32_C(0x0a000001);
    struct xstack *other = station < x->sim->scenario->n_stations ? x->stacks[station] : NULL;
    const struct sk_endpoint self = endpoint_of(s);
    struct dlcp_packet answer;
    uint8_t frame[DLCP_FRAME_BYTES];
    x->counts.refused[DLCP_UNKNOWN_FLOW]++;
    if (other && dlcp_answer_late(p, &answer, peer_of(x, s, other), now))
        xstack_ack(s, frame, dlcp_frame_write(frame, &self, from, &answer));
}

void xdlcp_deliver(struct xstack *s, const uint8_t *frame, uint32_t length, uint64_t now) {
    struct sim_exchange *x = s->x;
    const struct sk_endpoint self = endpoint_of(s);
    struct dlcp_packet packet;
    struct sk_endpoint from;
    const enum dlcp_reason reason = dlcp_frame_read(frame, length, &self, &packet, &from);
    if (reason != DLCP_ACCEPTED) {
        x->counts.refused[reason]++;
        return;
    }
    if (packet.name.job != x->job->number)
        return;
    struct xpipe *in = xdlcp_find(x, from.ip, s->at.ip, &packet.name),
                 *out = xdlcp_find(x, s->at.ip, from.ip, &packet.name);
    if (in && in->dlcp_receiver) {
        dlcp_receiver_hear(in->dlcp_receiver, &packet, now);
        xdlcp_look_receiver(in, false);
        xend_ready(&in->receiver);
    } else if (out && out->dlcp) {
        dlcp_sender_hear(out->dlcp, &packet, now);
        xdlcp_look_sender(out, false);
        xend_ready(&out->sender);
    } else {
        xdlcp_answer(s, &packet, &from, now);
    }
}

// Flows of those that have failed may still be going on over a bad network, but each will end: as
// long as it has not, it has a deadline within its hard limit.
void exchange_check_end(struct sim_exchange *x) {
    const uint64_t latest = sk_time_add(xnow(x), x->job->hard_limit);
    for (uint32_t i = 0; i < x->n_pipes && x_is_dlcp(x); i++) {
        const struct xpipe *p = x->pipes[i];
        const bool sends = p->used && p->dlcp && !p->sender.stack->down,
                   receives = p->used && p->dlcp_receiver && !p->receiver.stack->down;
        if ((sends && dlcp_sender_state(p->dlcp) < DLCP_SENDER_OVER &&
             dlcp_sender_deadline(p->dlcp) > latest) ||
            (receives && dlcp_receiver_state(p->dlcp_receiver) < DLCP_RECEIVER_OVER &&
             dlcp_receiver_deadline(p->dlcp_receiver) > latest))
            sim_violate(x->sim, NULL, "job %s: a flow of tensor %u, iteration %u will never end",
                        x->job->as->name, p->name.tensor, p->name.iteration);
    }
}
