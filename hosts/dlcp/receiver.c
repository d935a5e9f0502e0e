// SPDX-License-Identifier: Apache-2.0
#include "hosts/dlcp/receiver.h"

#include <stdlib.h>

#include "hosts/core/quantise.h"
#include "hosts/dlcp/bits.h"
#include "hosts/dlcp/signal.h"
#include "silken/error.h"

#define ELEMENTS_MOST (UINT32_C(1) << 31)
#define EMPTY_REPORTS 16u // in a row, after which the sender is taken for gone

struct dlcp_receiver {
    struct dlcp_receiver_config config;
    enum dlcp_receiver_state state;
    uint32_t segments, needed, there; // there: elements
    uint64_t *has;                    // owned: segments
    uint32_t number;                  // of the next signal
    struct dlcp_signal missing, finish, report;
    struct dlcp_acks acks;
    uint32_t start_nonce;
    uint32_t start_number, stop_number;
    bool started, stop_heard; // the numbers are known
    bool stopped;             // all has been sent, and nothing asked for since
    uint64_t quiet_since;     // the last data or STOP
    uint64_t period_at;       // SK_TIME_NEVER: no data yet, or no reports any more
    uint64_t period_bytes;
    uint32_t empty_reports;
    uint32_t sequence_end;
    uint16_t first_port, ports; // the sender's
    uint32_t by_port[DLCP_PATHS];
    struct sk_watch watch;
    struct dlcp_receiver_stats stats;
};

// ---- made and freed ----

static const char *receiver_refuse(const struct dlcp_receiver_config *c) {
    if (c->elements < 1 || c->elements > ELEMENTS_MOST)
        return "elements is not from 1 to 2^31";
    if (c->segment < 1 || c->segment > DLCP_ELEMENTS)
        return "segment is not from 1 to 363";
    if (c->bound >= DLCP_ALL)
        return "the bound is not in [0, 1)";
    if (c->period == 0 || c->hard_limit == 0)
        return "period or hard_limit is 0";
    if (!c->peer || c->peer->ports < 1 || c->peer->ports > DLCP_PATHS)
        return "no peer, or its ports are not from 1 to 16";
    return NULL;
}

int dlcp_receiver_new(struct dlcp_receiver **r, const struct dlcp_receiver_config *config,
                      uint64_t now, const char **why) {
    const char *refused = receiver_refuse(config);
    if (why)
        *why = refused;
    if (refused)
        return SILKEN_ERR_INVALID;
    struct dlcp_receiver *new = calloc(1, sizeof *new);
    if (!new)
        return SILKEN_ERR_NOMEM;
    new->config = *config;
    new->segments = dlcp_segments(config->elements, config->segment);
    new->needed = dlcp_needed(config->elements, config->bound);
    new->has = calloc(dlcp_bits_words(new->segments), sizeof *new->has);
    if (!new->has) {
        free(new);
        return SILKEN_ERR_NOMEM;
    }
    new->number = config->nonce;
    new->period_at = SK_TIME_NEVER;
    new->watch.warning = SK_TIME_NEVER;
    new->watch.limit = config->hard_limit;
    sk_watch_start(&new->watch, now);
    *r = new;
    return 0;
}

void dlcp_receiver_free(struct dlcp_receiver *r) {
    if (!r)
        return;
    free(r->has);
    free(r);
}

enum dlcp_receiver_state dlcp_receiver_state(const struct dlcp_receiver *r) {
    return r->state;
}

uint32_t dlcp_receiver_elements(const struct dlcp_receiver *r) {
    return r->there;
}

bool dlcp_receiver_has(const struct dlcp_receiver *r, uint32_t segment) {
    return segment < r->segments && dlcp_bits_has(r->has, segment);
}

struct dlcp_name dlcp_receiver_name(const struct dlcp_receiver *r) {
    return r->config.name;
}

struct dlcp_receiver_stats dlcp_receiver_stats(const struct dlcp_receiver *r) {
    return r->stats;
}

bool dlcp_receiver_is_complete(const struct dlcp_receiver *r) {
    return r->there == r->config.elements || r->state == DLCP_RECEIVER_OVER ||
           r->state == DLCP_RECEIVER_FAILED;
}

// ---- sending ----

static void receiver_signal(struct dlcp_receiver *r, struct dlcp_signal *signal,
                            enum dlcp_kind kind, struct dlcp_packet *p, uint64_t now) {
    dlcp_packet_signal(p, r->config.name, kind, signal->number, r->config.peer, now);
    p->again = signal->tries > 0;
    dlcp_signal_sent(signal, r->config.peer, now);
    r->stats.signals++;
}

// The first ranges without data, of all that is missing.
static void receiver_missing(struct dlcp_receiver *r, struct dlcp_packet *p, uint64_t now) {
    const struct dlcp_receiver_config *c = &r->config;
    receiver_signal(r, &r->missing, DLCP_MISSING, p, now);
    r->stats.missing++;
    uint32_t i = dlcp_bits_next_absent(r->has, r->segments, 0);
    while (i < r->segments && p->count < DLCP_ENTRIES) {
        const uint32_t end = dlcp_bits_next(r->has, r->segments, i);
        const uint32_t from = i * c->segment;
        const uint32_t to = end == r->segments ? c->elements : end * c->segment;
        p->entry[p->count++] = (struct dlcp_entry){from, to - from};
        i = dlcp_bits_next_absent(r->has, r->segments, end);
    }
}

static bool receiver_report_is_due(const struct dlcp_receiver *r, uint64_t now) {
    return r->state == DLCP_RECEIVER_RECEIVING && !r->stopped && r->period_at != SK_TIME_NEVER &&
           now >= r->period_at + r->config.period;
}

static void receiver_report(struct dlcp_receiver *r, struct dlcp_packet *p, uint64_t now) {
    const uint64_t span = now - r->period_at;
    const uint32_t bytes = r->period_bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)r->period_bytes;
    const unsigned ports = r->ports > 1 ? r->ports : 0;

    dlcp_signal_begin(&r->report, r->number++, now);
    receiver_signal(r, &r->report, DLCP_RATE, p, now);
    r->report.at = SK_TIME_NEVER; // never again
    r->stats.reports++;
    p->count = (uint16_t)(2 + (ports + 1) / 2);
    p->entry[0] = (struct dlcp_entry){bytes, span > UINT32_MAX ? UINT32_MAX : (uint32_t)span};
    p->entry[1] = (struct dlcp_entry){r->sequence_end, 0};
    for (unsigned i = 0; i < ports; i += 2)
        p->entry[2 + i / 2] =
            (struct dlcp_entry){r->by_port[i], i + 1 < ports ? r->by_port[i + 1] : 0};
    r->empty_reports = bytes ? 0 : r->empty_reports + 1;
    r->period_at = r->empty_reports < EMPTY_REPORTS ? now : SK_TIME_NEVER;
    r->period_bytes = 0;
}

static uint64_t receiver_missing_at(const struct dlcp_receiver *r) {
    if (r->state != DLCP_RECEIVER_RECEIVING || !r->stopped || r->missing.on)
        return SK_TIME_NEVER;
    return sk_time_add(r->quiet_since, dlcp_peer_rtt(r->config.peer));
}

bool dlcp_receiver_next(struct dlcp_receiver *r, uint64_t now, struct dlcp_packet *p) {
    const bool met = r->state == DLCP_RECEIVER_ENOUGH;
    if (r->state <= DLCP_RECEIVER_ENOUGH && sk_watch_is_over(&r->watch, now))
        r->state = met ? DLCP_RECEIVER_OVER : DLCP_RECEIVER_FAILED;
    if (r->state == DLCP_RECEIVER_FAILED)
        return false;
    if (dlcp_acks_next(&r->acks, p, r->config.name, r->config.peer, now)) {
        r->stats.signals++;
        return true;
    }
    if (r->state == DLCP_RECEIVER_OVER)
        return false;
    if (receiver_missing_at(r) <= now)
        dlcp_signal_begin(&r->missing, r->number++, now);
    if (dlcp_signal_is_due(&r->finish, now))
        receiver_signal(r, &r->finish, DLCP_FINISH, p, now);
    else if (dlcp_signal_is_due(&r->missing, now))
        receiver_missing(r, p, now);
    else if (receiver_report_is_due(r, now))
        receiver_report(r, p, now);
    else
        return false;
    return true;
}

uint64_t dlcp_receiver_deadline(const struct dlcp_receiver *r) {
    uint64_t at;
    if (r->state == DLCP_RECEIVER_FAILED)
        return SK_TIME_NEVER;
    if (r->acks.n > 0)
        return 0;
    if (r->state == DLCP_RECEIVER_OVER)
        return SK_TIME_NEVER;
    at = sk_time_earlier(dlcp_signal_deadline(&r->finish), dlcp_signal_deadline(&r->missing));
    at = sk_time_earlier(at, receiver_missing_at(r));
    if (r->state == DLCP_RECEIVER_RECEIVING && !r->stopped && r->period_at != SK_TIME_NEVER)
        at = sk_time_earlier(at, r->period_at + r->config.period);
    return sk_time_earlier(at, sk_watch_deadline(&r->watch));
}

// ---- hearing ----

// The bound is met.
static void receiver_check(struct dlcp_receiver *r, uint64_t now) {
    if (r->state != DLCP_RECEIVER_RECEIVING || r->there < r->needed)
        return;
    r->state = DLCP_RECEIVER_ENOUGH;
    r->missing.on = false;
    dlcp_signal_begin(&r->finish, r->number++, now);
}

static enum dlcp_reason receiver_hear_start(struct dlcp_receiver *r, const struct dlcp_packet *p) {
    const struct dlcp_receiver_config *c = &r->config;
    const struct dlcp_entry *e = p->entry;
    if (p->count != DLCP_START_ENTRIES || e[2].b < 1 || e[2].b > DLCP_PATHS || e[2].a > UINT16_MAX)
        return DLCP_BAD_ENTRIES;
    if (e[0].b >= DLCP_ALL)
        return DLCP_BAD_BOUND;
    if (e[0].a != c->elements || e[1].a != c->segment)
        return DLCP_OTHER_SIZE;
    if (r->started && e[1].b != r->start_nonce) {
        if (r->state != DLCP_RECEIVER_OVER)
            r->state = DLCP_RECEIVER_FAILED; // no telling whose data are there
        return DLCP_OTHER_START;
    }
    dlcp_acks_add(&r->acks, p->sequence);
    if (r->started)
        return DLCP_NOT_EXPECTED;
    r->started = true;
    r->start_nonce = e[1].b;
    r->first_port = (uint16_t)e[2].a;
    r->ports = (uint16_t)e[2].b;
    r->needed = dlcp_needed(c->elements, e[0].b < c->bound ? e[0].b : c->bound);
    r->state = DLCP_RECEIVER_RECEIVING;
    return DLCP_ACCEPTED;
}

static enum dlcp_reason receiver_check_data(const struct dlcp_receiver *r,
                                            const struct dlcp_packet *p) {
    const struct dlcp_receiver_config *c = &r->config;
    if (!r->started)
        return DLCP_NOT_STARTED;
    if (r->state == DLCP_RECEIVER_OVER)
        return DLCP_TOO_LATE;
    if ((uint64_t)p->offset + p->count > c->elements)
        return DLCP_OUTSIDE;
    if (p->offset % c->segment ||
        p->count != dlcp_segment_count(c->elements, c->segment, p->offset / c->segment))
        return DLCP_MISALIGNED;
    return p->contributions ? DLCP_ACCEPTED : DLCP_NO_CONTRIBUTIONS;
}

static void receiver_place(struct dlcp_receiver *r, const struct dlcp_packet *p) {
    const struct dlcp_receiver_config *c = &r->config;
    if (c->place)
        c->place(c->place_aux, p->offset, p->wire, p->count, p->contributions);
    else if (c->out && p->wire)
        sk_quantise_best()->wire_to_i32((int32_t *)c->out + p->offset, p->wire, p->count);
}

static void receiver_count(struct dlcp_receiver *r, const struct dlcp_packet *p, uint64_t now) {
    const uint16_t port = (uint16_t)(p->port - r->first_port);
    if (r->period_at == SK_TIME_NEVER) {
        r->period_at = now;
        r->period_bytes = 0;
        r->empty_reports = 0;
    }
    r->period_bytes += dlcp_packet_bytes(p);
    r->quiet_since = now;
    if ((int32_t)(p->sequence + 1 - r->sequence_end) > 0)
        r->sequence_end = p->sequence + 1;
    if (port < r->ports)
        r->by_port[port]++;
    r->stats.came++;
    r->stats.sequence_end = r->sequence_end;
}

static enum dlcp_reason receiver_hear_data(struct dlcp_receiver *r, const struct dlcp_packet *p,
                                           uint64_t now) {
    const enum dlcp_reason reason = receiver_check_data(r, p);
    if (reason != DLCP_ACCEPTED)
        return reason;
    const uint32_t i = p->offset / r->config.segment;
    receiver_count(r, p, now);
    if (dlcp_bits_has(r->has, i)) {
        r->stats.needless += p->again;
        return DLCP_DUPLICATE;
    }
    dlcp_bits_add(r->has, i);
    r->there += p->count;
    receiver_place(r, p);
    r->stats.data++;
    r->stats.bytes += dlcp_packet_bytes(p);
    receiver_check(r, now);
    return DLCP_ACCEPTED;
}

static enum dlcp_reason receiver_hear_stop(struct dlcp_receiver *r, const struct dlcp_packet *p,
                                           uint64_t now) {
    if (p->count != 0)
        return DLCP_BAD_ENTRIES;
    if (!r->started)
        return DLCP_NOT_STARTED;
    dlcp_acks_add(&r->acks, p->sequence);
    if (r->stop_heard && (int32_t)(p->sequence - r->stop_number) <= 0)
        return DLCP_NOT_EXPECTED;
    r->stop_heard = true;
    r->stop_number = p->sequence;
    r->stopped = true;
    r->missing.on = false; // this STOP is the end of that round
    r->quiet_since = now;
    return DLCP_ACCEPTED;
}

static enum dlcp_reason receiver_hear_finished(struct dlcp_receiver *r,
                                               const struct dlcp_packet *p) {
    if (p->count != 0)
        return DLCP_BAD_ENTRIES;
    if (r->state != DLCP_RECEIVER_ENOUGH && r->state != DLCP_RECEIVER_OVER)
        return DLCP_NOT_EXPECTED;
    dlcp_acks_add(&r->acks, p->sequence);
    r->finish.on = false;
    if (r->state == DLCP_RECEIVER_OVER)
        return DLCP_NOT_EXPECTED;
    r->state = DLCP_RECEIVER_OVER;
    return DLCP_ACCEPTED;
}

static enum dlcp_reason receiver_hear_ack(struct dlcp_receiver *r, const struct dlcp_packet *p,
                                          uint64_t now) {
    struct dlcp_peer *peer = r->config.peer;
    if (p->count != 0)
        return DLCP_BAD_ENTRIES;
    if (dlcp_signal_acked(&r->missing, p->sequence, peer, now)) {
        r->stopped = false; // until the round is over
        r->period_at = SK_TIME_NEVER;
        return DLCP_ACCEPTED;
    }
    return dlcp_signal_acked(&r->finish, p->sequence, peer, now) ||
                   dlcp_signal_acked(&r->report, p->sequence, peer, now)
               ? DLCP_ACCEPTED
               : DLCP_NOT_EXPECTED;
}

static enum dlcp_reason receiver_take(struct dlcp_receiver *r, const struct dlcp_packet *p,
                                      uint64_t now) {
    if (!dlcp_name_is(p->name, r->config.name) || r->state == DLCP_RECEIVER_FAILED)
        return DLCP_UNKNOWN_FLOW;
    switch (p->kind) {
    case DLCP_DATA:
        return receiver_hear_data(r, p, now);
    case DLCP_START:
        return receiver_hear_start(r, p);
    case DLCP_STOP:
        return receiver_hear_stop(r, p, now);
    case DLCP_FINISHED:
        return receiver_hear_finished(r, p);
    case DLCP_ACK:
        return receiver_hear_ack(r, p, now);
    default:
        return DLCP_WRONG_WAY;
    }
}

enum dlcp_reason dlcp_receiver_hear(struct dlcp_receiver *r, const struct dlcp_packet *p,
                                    uint64_t now) {
    const enum dlcp_reason reason = receiver_take(r, p, now);
    if (reason == DLCP_ACCEPTED)
        sk_watch_start(&r->watch, now);
    else
        r->stats.refused[reason]++;
    return reason;
}

bool dlcp_answer_late(const struct dlcp_packet *p, struct dlcp_packet *answer,
                      struct dlcp_peer *peer, uint64_t now) {
    if (p->kind != DLCP_FINISHED && p->kind != DLCP_FINISH)
        return false;
    dlcp_packet_signal(answer, p->name, DLCP_ACK, p->sequence, peer, now);
    return true;
}
