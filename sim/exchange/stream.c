// SPDX-License-Identifier: Apache-2.0
//
// TCP and pFabric in an exchange.
//
// A flow's number on the wire is its pipe's: slot, generation and job, so that what arrives late
// for one that has ended is not taken for another's.
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sim/exchange/exchange_impl.h"

#define SLOT_BITS       18u
#define GENERATION_BITS 8u

static bool is_pfabric(const struct sim_exchange *x) {
    return x->as->transport == SCN_PFABRIC;
}

static uint32_t stream_number(const struct xpipe *p) {
    return (uint32_t)(p->x->job->number - 1) << (SLOT_BITS + GENERATION_BITS) |
           (p->generation & ((1u << GENERATION_BITS) - 1)) << SLOT_BITS | p->slot;
}

static struct xpipe *stream_pipe(const struct sim_exchange *x, uint32_t number) {
    const uint32_t slot = number & ((1u << SLOT_BITS) - 1);
    struct xpipe *p = slot < x->n_pipes ? x->pipes[slot] : NULL;
    return p && p->used && stream_number(p) == number ? p : NULL;
}

// ---- beginning ----

static struct xpipe *stream_open(struct sim_exchange *x, struct xstack *from, struct xstack *to,
                                 uint64_t bytes) {
    const struct scn_exchange *as = x->as;
    struct xpipe *p = xpipe_new(x, from, to);
    if (p->slot >> SLOT_BITS)
        sim_violate(x->sim, NULL, "job %s: more than %u flows at a time", x->job->as->name,
                    1u << SLOT_BITS);
    if (is_pfabric(x)) {
        const struct pfabric_config c = {.mss = as->mss,
                                         .window = as->initial_window,
                                         .rto_min = x->job->rto_min,
                                         .rto_max = x->job->rto_max,
                                         .probe_after = 5};
        pfabric_sender_init(&p->pfabric, &c, bytes);
        pfabric_receiver_init(&p->pfabric_receiver, as->mss, bytes);
        return p;
    }
    const bool marks = as->transport == SCN_DCTCP || as->transport == SCN_PIAS;
    const struct tcp_config c = {.control = marks                        ? TCP_DCTCP
                                            : as->transport == SCN_CUBIC ? TCP_CUBIC
                                                                         : TCP_NEWRENO,
                                 .mss = as->mss,
                                 .initial_window = as->initial_window,
                                 .duplicates = as->duplicates,
                                 .rto_initial = x->job->rto_initial,
                                 .rto_min = x->job->rto_min,
                                 .rto_max = x->job->rto_max,
                                 .cubic_c = as->cubic_c};
    tcp_sender_init(&p->tcp, &c);
    p->tcp_receiver = (struct tcp_receiver){0};
    return p;
}

static struct xpipe *stream_for(const struct xflow *f, uint64_t bytes) {
    struct sim_exchange *x = f->x;
    if (!x->as->kept)
        return stream_open(x, f->from, f->to, bytes);
    struct xpipe **kept =
        &x->connections[f->from->station * x->sim->scenario->n_stations + f->to->station];
    if (!*kept)
        *kept = stream_open(x, f->from, f->to, bytes);
    return *kept;
}

void xstream_give(struct xflow *f, uint64_t bytes) {
    struct sim_exchange *x = f->x;
    struct xpipe *p = stream_for(f, bytes);
    if (p->returned > 64 && p->returned * 2 > p->n_pieces) { // forget what is long over
        p->n_pieces -= p->returned;
        memmove(p->pieces, p->pieces + p->returned, p->n_pieces * sizeof *p->pieces);
        p->arrived -= p->returned;
        p->returned = 0;
    }
    if (p->n_pieces == p->piece_capacity) {
        p->piece_capacity = p->piece_capacity ? 2 * p->piece_capacity : 1;
        p->pieces = sk_resize(p->pieces, p->piece_capacity, sizeof *p->pieces);
    }
    p->end += bytes;
    p->pieces[p->n_pieces++] = (struct xpiece){f, bytes, p->end};
    if (!is_pfabric(x))
        tcp_sender_add(&p->tcp, bytes, xnow(x));
    xend_ready(&p->sender);
}

// ---- sending ----

// DSCP and ECN bits of a segment of which so many bytes were sent before, or are left.
static uint8_t stream_tos(const struct xpipe *p, uint64_t bytes) {
    const struct scn_exchange *as = p->x->as;
    const uint8_t ect = as->transport == SCN_DCTCP || as->transport == SCN_PIAS ? 2 : 0;
    const bool levels = as->transport == SCN_PIAS || is_pfabric(p->x);
    const uint32_t dscp = as->dscp + (levels ? tr_level(&as->levels, bytes) : 0);
    return (uint8_t)(dscp << 2 | ect);
}

size_t xstream_next(struct xend *e, uint8_t *buf, size_t cap, uint64_t now) {
    struct xpipe *p = e->pipe;
    struct tr_segment s;
    const bool is = is_pfabric(p->x) ? pfabric_sender_next(&p->pfabric, now, &s)
                                     : tcp_sender_next(&p->tcp, now, &s);
    xend_wait(e, is_pfabric(p->x) ? pfabric_sender_deadline(&p->pfabric)
                                  : tcp_sender_deadline(&p->tcp));
    if (!is)
        return 0;
    const struct tr_frame f = {
        .flow = stream_number(p),
        .sequence = s.sequence,
        .length = s.length,
        .time = now,
        .tos = stream_tos(p, is_pfabric(p->x) ? pfabric_sender_left(&p->pfabric) : s.sequence)};
    return tr_frame_write(buf, cap, &p->sender.stack->at, &p->receiver.stack->at, &f);
}

void xstream_expire(struct xend *e, uint64_t now) {
    if (is_pfabric(e->stack->x))
        pfabric_sender_expire(&e->pipe->pfabric, now);
    else
        tcp_sender_expire(&e->pipe->tcp, now);
    xend_wait(e, is_pfabric(e->stack->x) ? pfabric_sender_deadline(&e->pipe->pfabric)
                                         : tcp_sender_deadline(&e->pipe->tcp));
}

// ---- receiving ----

bool xstream_wants(const struct sim_exchange *x, const uint8_t *frame, uint32_t length) {
    struct tr_frame f;
    return tr_frame_read(frame, length, xnow(x), &f) &&
           f.flow >> (SLOT_BITS + GENERATION_BITS) == x->job->number - 1u;
}

static void stream_arrived(struct xpipe *p, uint64_t there) {
    while (p->arrived < p->n_pieces && p->pieces[p->arrived].end <= there) {
        const struct xpiece *piece = &p->pieces[p->arrived++];
        x_piece_arrived(piece->flow, piece->bytes);
    }
}

static void stream_data(struct xstack *s, struct xpipe *p, const struct tr_frame *f, uint64_t now) {
    struct sim_exchange *x = s->x;
    struct tr_frame ack = {.flow = f->flow,
                           .ack = true,
                           .sequence = f->sequence,
                           .marked = f->marked,
                           .time = f->time,
                           .tos = (uint8_t)(x->as->ack_dscp << 2)};
    uint8_t frame[TR_HEADER_BYTES];
    (void)now;
    if (is_pfabric(x)) {
        if (!pfabric_receiver_take(&p->pfabric_receiver, f->sequence))
            return;
    } else {
        struct tcp_receiver *r = &p->tcp_receiver;
        tcp_receiver_take(r, tr_complete(r->next, (uint32_t)f->sequence), f->length);
        ack.sequence = r->next;
    }
    tr_frame_write(frame, sizeof frame, &s->at, &p->sender.stack->at, &ack);
    xstack_ack(s, frame, sizeof frame);
    // this may begin new flows, and so move the list of pieces
    stream_arrived(p, is_pfabric(x) ? pfabric_receiver_done(&p->pfabric_receiver) ? p->end : 0
                                    : p->tcp_receiver.next);
}

static void stream_ack(struct xpipe *p, const struct tr_frame *f, uint64_t now) {
    struct sim_exchange *x = p->x;
    struct xstack *s = p->sender.stack;
    uint64_t acked;
    if (is_pfabric(x)) {
        pfabric_sender_ack(&p->pfabric, f->sequence, now);
        acked = pfabric_sender_done(&p->pfabric) ? p->end : 0;
    } else {
        tcp_sender_ack(&p->tcp, tr_complete(p->tcp.acked, (uint32_t)f->sequence), f->marked,
                       f->time, now);
        acked = p->tcp.acked;
    }
    uint64_t back = 0;
    while (p->returned < p->n_pieces && p->pieces[p->returned].end <= acked)
        back += p->pieces[p->returned++].bytes;
    if (!x->as->kept && acked == p->end)
        xpipe_release(p);
    else
        xend_ready(&p->sender);
    if (back)
        x_credit_back(s, back);
}

void xstream_deliver(struct xstack *s, const uint8_t *frame, uint32_t length, uint64_t now) {
    struct tr_frame f;
    if (!tr_frame_read(frame, length, now, &f))
        return;
    struct xpipe *p = stream_pipe(s->x, f.flow);
    if (p && f.ack && p->sender.stack == s)
        stream_ack(p, &f, now);
    else if (p && !f.ack && p->receiver.stack == s)
        stream_data(s, p, &f, now);
}

// ---- the end ----

void xstream_end(struct xpipe *p) {
    struct xcounts *n = &p->x->counts;
    if (is_pfabric(p->x)) {
        n->segments += p->pfabric.stats.segments;
        n->again += p->pfabric.stats.again;
        n->timeouts += p->pfabric.stats.timeouts;
        pfabric_sender_free(&p->pfabric);
        pfabric_receiver_free(&p->pfabric_receiver);
        return;
    }
    n->segments += p->tcp.stats.segments;
    n->again += p->tcp.stats.again;
    n->timeouts += p->tcp.stats.timeouts;
    n->recoveries += p->tcp.stats.recoveries;
    n->marks += p->tcp.stats.marks;
    tcp_receiver_free(&p->tcp_receiver);
}
