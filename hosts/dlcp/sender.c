// SPDX-License-Identifier: Apache-2.0
#include "hosts/dlcp/sender.h"

#include <stdlib.h>
#include <string.h>

#include "hosts/dlcp/bits.h"
#include "hosts/dlcp/signal.h"
#include "silken/error.h"

#define FACTOR        2u   // sending and receiving rate (3.2.1)
#define GROWTH        20u  // a part of the link's rate
#define LEAST         100u // a part of the link's rate
#define ELEMENTS_MOST (UINT32_C(1) << 31)
#define SNAPSHOTS     8u

// A pass over some segments, in a circle.
struct sender_pass {
    uint64_t *set; // of segments that are still to come
    uint32_t left;
    uint32_t at; // the next one or before it
};

// What had been sent by each port before packet 'sequence'.
struct sender_snapshot {
    uint32_t sequence;
    uint32_t sent[DLCP_PATHS];
};

struct sender_ports {
    uint32_t sent[DLCP_PATHS];
    uint32_t judged_sent[DLCP_PATHS], judged_came[DLCP_PATHS];
    struct sender_snapshot snapshot[SNAPSHOTS]; // a ring
    unsigned first, n;
};

struct dlcp_sender {
    struct dlcp_sender_config config;
    enum dlcp_sender_state state;
    uint32_t segments, marked;
    uint64_t *important;            // owned: these and the sets of the passes
    struct sender_pass first, rest; // 'first' also has rounds of repetitions
    bool again;                     // in such a round
    uint32_t sequence;              // of the next data packet
    uint32_t number;                // of the next signal
    struct dlcp_signal start, stop, finished;
    struct dlcp_acks acks;
    uint32_t missing_number, rate_number; // the last ones heard
    bool missing_heard, rate_heard;
    uint64_t rate; // bits a second
    bool avoiding; // congestion
    uint64_t next_at;
    uint64_t period_at, period_bytes, last_bytes; // sent in this period and in the one before
    bool last_known;
    struct sender_ports *ports; // owned; null: one port
    struct sk_watch watch;
    struct dlcp_sender_stats stats;
};

// ---- made and freed ----

static const char *sender_refuse(const struct dlcp_sender_config *c) {
    if (c->elements < 1 || c->elements > ELEMENTS_MOST)
        return "elements is not from 1 to 2^31";
    if (c->segment < 1 || c->segment > DLCP_ELEMENTS)
        return "segment is not from 1 to 363";
    if (c->bound >= DLCP_ALL)
        return "the bound is not in [0, 1)";
    if (c->class >= DLCP_CLASSES)
        return "class is not from 0 to 6";
    if (c->link < LEAST || c->period == 0 || c->hard_limit == 0)
        return "link, period or hard_limit is 0";
    if (!c->peer || c->peer->ports < 1 || c->peer->ports > DLCP_PATHS)
        return "no peer, or its ports are not from 1 to 16";
    return NULL;
}

static bool sender_allocate(struct dlcp_sender *s) {
    const size_t words = dlcp_bits_words(s->segments);
    s->important = calloc(3 * words, sizeof *s->important);
    if (!s->important)
        return false;
    s->first.set = s->important + words;
    s->rest.set = s->important + 2 * words;
    if (s->config.peer->ports > 1)
        s->ports = calloc(1, sizeof *s->ports);
    return s->config.peer->ports == 1 || s->ports;
}

static bool sender_is_important(const struct dlcp_sender *s, uint32_t i, float threshold) {
    const struct dlcp_sender_config *c = &s->config;
    const uint32_t count = dlcp_segment_count(c->elements, c->segment, i);
    const float *values = c->values ? c->values + (size_t)i * c->segment : NULL;
    if (c->prio)
        return c->prio(c->prio_aux, values, count, i);
    return !values || dlcp_magnitude(values, count) >= threshold;
}

static void sender_mark(struct dlcp_sender *s) {
    const struct dlcp_sender_config *c = &s->config;
    const float threshold =
        c->values && !c->prio ? dlcp_threshold_of(c->threshold, c->values, c->elements, c->segment)
                              : 0;
    for (uint32_t i = 0; i < s->segments; i++)
        if (sender_is_important(s, i, threshold)) {
            dlcp_bits_add(s->important, i);
            s->marked++;
        }
}

// The member with which this iteration begins: 'step' members further each time.
static uint32_t sender_begin_at(const struct dlcp_sender *s, const struct sender_pass *pass,
                                uint32_t step) {
    if (pass->left == 0)
        return 0;
    const uint64_t rank = (uint64_t)s->config.name.iteration % pass->left * step % pass->left;
    return dlcp_bits_ranked(pass->set, s->segments, (uint32_t)rank);
}

// The next segment of a pass, which then is not in it any more; there must be one.
static uint32_t pass_take(struct sender_pass *pass, uint32_t segments) {
    uint32_t i = dlcp_bits_next(pass->set, segments, pass->at);
    if (i == segments)
        i = dlcp_bits_next(pass->set, segments, 0);
    dlcp_bits_remove(pass->set, i);
    pass->left--;
    pass->at = i + 1;
    return i;
}

// See ORDER in sender.h.
static void sender_order(struct dlcp_sender *s) {
    const struct dlcp_sender_config *c = &s->config;
    const uint32_t spare = c->elements - dlcp_needed(c->elements, c->bound);
    const uint32_t step = dlcp_segments(spare, c->segment);
    const uint32_t most = (s->segments + 1) / 2;

    for (uint32_t i = 0; i < s->segments; i++) {
        const bool first = s->first.left < most && dlcp_bits_has(s->important, i);
        struct sender_pass *pass = first ? &s->first : &s->rest;
        dlcp_bits_add(pass->set, i);
        pass->left++;
    }
    s->first.at = sender_begin_at(s, &s->first, step);
    s->rest.at = sender_begin_at(s, &s->rest, step);
}

int dlcp_sender_new(struct dlcp_sender **s, const struct dlcp_sender_config *config, uint64_t now,
                    const char **why) {
    const char *refused = sender_refuse(config);
    if (why)
        *why = refused;
    if (refused)
        return SILKEN_ERR_INVALID;
    struct dlcp_sender *new = calloc(1, sizeof *new);
    if (!new)
        return SILKEN_ERR_NOMEM;
    new->config = *config;
    new->segments = dlcp_segments(config->elements, config->segment);
    if (!sender_allocate(new)) {
        dlcp_sender_free(new);
        return SILKEN_ERR_NOMEM;
    }
    sender_mark(new);
    sender_order(new);
    new->number = config->nonce;
    new->rate = config->link;
    new->next_at = new->period_at = now;
    new->watch.warning = SK_TIME_NEVER;
    new->watch.limit = config->hard_limit;
    sk_watch_start(&new->watch, now);
    dlcp_signal_begin(&new->start, new->number++, now);
    *s = new;
    return 0;
}

void dlcp_sender_free(struct dlcp_sender *s) {
    if (!s)
        return;
    free(s->important);
    free(s->ports);
    free(s);
}

enum dlcp_sender_state dlcp_sender_state(const struct dlcp_sender *s) {
    return s->state;
}

uint64_t dlcp_sender_rate(const struct dlcp_sender *s) {
    return s->rate;
}

uint32_t dlcp_sender_segments(const struct dlcp_sender *s) {
    return s->segments;
}

uint32_t dlcp_sender_marked(const struct dlcp_sender *s) {
    return s->marked;
}

struct dlcp_name dlcp_sender_name(const struct dlcp_sender *s) {
    return s->config.name;
}

struct dlcp_sender_stats dlcp_sender_stats(const struct dlcp_sender *s) {
    return s->stats;
}

// ---- sending ----

static void sender_pass_time(struct dlcp_sender *s, uint64_t now) {
    const uint64_t period = s->config.period;
    if (now < s->period_at + period)
        return;
    const uint64_t periods = (now - s->period_at) / period;
    s->last_bytes = periods == 1 ? s->period_bytes : 0;
    s->last_known = true;
    s->period_bytes = 0;
    s->period_at += periods * period;
}

static void sender_signal(struct dlcp_sender *s, struct dlcp_signal *signal, enum dlcp_kind kind,
                          struct dlcp_packet *p, uint64_t now) {
    dlcp_packet_signal(p, s->config.name, kind, signal->number, s->config.peer, now);
    p->again = signal->tries > 0;
    dlcp_signal_sent(signal, s->config.peer, now);
    s->stats.signals++;
}

static void sender_start(struct dlcp_sender *s, struct dlcp_packet *p, uint64_t now) {
    const struct dlcp_sender_config *c = &s->config;
    sender_signal(s, &s->start, DLCP_START, p, now);
    p->count = DLCP_START_ENTRIES;
    p->entry[0] = (struct dlcp_entry){c->elements, c->bound};
    p->entry[1] = (struct dlcp_entry){c->segment, c->nonce};
    p->entry[2] = (struct dlcp_entry){c->peer->first_port, c->peer->ports};
}

static bool sender_next_signal(struct dlcp_sender *s, struct dlcp_packet *p, uint64_t now) {
    if (dlcp_acks_next(&s->acks, p, s->config.name, s->config.peer, now)) {
        s->stats.signals++;
        return true;
    }
    if (dlcp_signal_is_due(&s->finished, now))
        sender_signal(s, &s->finished, DLCP_FINISHED, p, now);
    else if (dlcp_signal_is_due(&s->start, now))
        sender_start(s, p, now);
    else if (dlcp_signal_is_due(&s->stop, now))
        sender_signal(s, &s->stop, DLCP_STOP, p, now);
    else
        return false;
    return true;
}

// The packet has left: when may the next one.
static void sender_pace(struct dlcp_sender *s, uint32_t bytes, uint64_t now) {
    const uint64_t earliest = now > s->config.burst ? now - s->config.burst : 0;
    const uint64_t takes = (uint64_t)bytes * 8 * UINT64_C(1000000000) / s->rate;
    s->next_at = (s->next_at > earliest ? s->next_at : earliest) + takes;
    s->period_bytes += bytes;
}

static void sender_count_port(struct dlcp_sender *s, uint16_t number) {
    if (s->ports)
        s->ports->sent[number]++;
}

static void sender_data(struct dlcp_sender *s, struct dlcp_packet *p, uint64_t now) {
    const struct dlcp_sender_config *c = &s->config;
    const uint32_t i = pass_take(s->first.left ? &s->first : &s->rest, s->segments);
    const uint16_t path = dlcp_peer_turn(c->peer, now);

    p->name = c->name;
    p->kind = DLCP_DATA;
    p->important = s->again || dlcp_bits_has(s->important, i);
    p->again = s->again;
    p->class = c->class;
    p->port = (uint16_t)(c->peer->first_port + path);
    p->offset = i * c->segment;
    p->count = (uint16_t)dlcp_segment_count(c->elements, c->segment, i);
    p->contributions = c->segment_contributions ? c->segment_contributions[i] : c->contributions;
    p->sequence = s->sequence++;
    p->values = c->values ? c->values + p->offset : NULL;
    p->wire = NULL;
    sender_count_port(s, path);
    sender_pace(s, dlcp_packet_bytes(p), now);
    s->stats.data++;
    s->stats.repeated += s->again;
    s->stats.important += !s->again && p->important;
}

static bool sender_next_data(struct dlcp_sender *s, struct dlcp_packet *p, uint64_t now) {
    if (s->state != DLCP_SENDER_SENDING || now < s->next_at)
        return false;
    sender_data(s, p, now);
    if (s->first.left == 0 && s->rest.left == 0) {
        s->state = DLCP_SENDER_STOPPED;
        dlcp_signal_begin(&s->stop, s->number++, now);
    }
    return true;
}

static bool sender_is_over(const struct dlcp_sender *s) {
    return s->state == DLCP_SENDER_OVER || s->state == DLCP_SENDER_FAILED;
}

bool dlcp_sender_next_signal(struct dlcp_sender *s, uint64_t now, struct dlcp_packet *p) {
    sender_pass_time(s, now);
    if (!sender_is_over(s) && sk_watch_is_over(&s->watch, now))
        s->state = s->state == DLCP_SENDER_ENOUGH ? DLCP_SENDER_OVER : DLCP_SENDER_FAILED;
    return s->state != DLCP_SENDER_FAILED && sender_next_signal(s, p, now);
}

bool dlcp_sender_next(struct dlcp_sender *s, uint64_t now, struct dlcp_packet *p) {
    return dlcp_sender_next_signal(s, now, p) || sender_next_data(s, p, now);
}

uint64_t dlcp_sender_data_at(const struct dlcp_sender *s) {
    return s->state == DLCP_SENDER_SENDING ? s->next_at : SK_TIME_NEVER;
}

uint64_t dlcp_sender_signal_at(const struct dlcp_sender *s) {
    uint64_t at;
    if (s->state == DLCP_SENDER_FAILED)
        return SK_TIME_NEVER;
    if (s->acks.n > 0)
        return 0;
    if (s->state == DLCP_SENDER_OVER)
        return SK_TIME_NEVER;
    at = sk_time_earlier(dlcp_signal_deadline(&s->start), dlcp_signal_deadline(&s->stop));
    at = sk_time_earlier(at, dlcp_signal_deadline(&s->finished));
    return sk_time_earlier(at, sk_watch_deadline(&s->watch));
}

uint64_t dlcp_sender_deadline(const struct dlcp_sender *s) {
    return sk_time_earlier(dlcp_sender_signal_at(s), dlcp_sender_data_at(s));
}

// ---- hearing ----

static enum dlcp_reason sender_hear_ack(struct dlcp_sender *s, uint32_t number, uint64_t now) {
    struct dlcp_peer *peer = s->config.peer;
    if (dlcp_signal_acked(&s->start, number, peer, now) ||
        dlcp_signal_acked(&s->stop, number, peer, now))
        return DLCP_ACCEPTED;
    if (!dlcp_signal_acked(&s->finished, number, peer, now))
        return DLCP_NOT_EXPECTED;
    s->state = DLCP_SENDER_OVER;
    return DLCP_ACCEPTED;
}

// Which paths lose: of what was sent before the newest snapshot that the receiver has got to.
static void sender_judge_ports(struct dlcp_sender *s, const struct dlcp_packet *p, uint64_t now) {
    struct sender_ports *ports = s->ports;
    uint32_t sent[DLCP_PATHS], came[DLCP_PATHS];
    const struct sender_snapshot *known = NULL;

    while (ports->n > 0 && ports->snapshot[ports->first].sequence <= p->entry[1].a) {
        known = &ports->snapshot[ports->first];
        ports->first = (ports->first + 1) % SNAPSHOTS;
        ports->n--;
    }
    if (known) {
        for (unsigned i = 0; i < DLCP_PATHS; i++) {
            const struct dlcp_entry *e = &p->entry[2 + i / 2];
            const uint32_t total = 2 + i / 2 < p->count ? (i % 2 ? e->b : e->a) : 0;
            sent[i] = known->sent[i] - ports->judged_sent[i];
            came[i] = total - ports->judged_came[i];
            ports->judged_sent[i] = known->sent[i];
            ports->judged_came[i] = total;
        }
        dlcp_peer_judge(s->config.peer, sent, came, now);
    }
    if (ports->n < SNAPSHOTS) {
        struct sender_snapshot *new = &ports->snapshot[(ports->first + ports->n++) % SNAPSHOTS];
        new->sequence = s->sequence;
        memcpy(new->sent, ports->sent, sizeof new->sent);
    }
}

static void sender_adapt(struct dlcp_sender *s, uint64_t came_bytes, uint64_t came_in) {
    const uint64_t link = s->config.link, least = link / LEAST;
    // bytes of a period each, compared without a division
    const bool congested =
        s->last_known && (double)s->last_bytes * (double)came_in >
                             (double)FACTOR * (double)came_bytes * (double)s->config.period;
    if (congested) {
        s->avoiding = true;
        s->stats.halved++;
        s->rate /= 2;
    } else if (s->avoiding) {
        s->rate += link / GROWTH;
    }
    s->rate = s->rate < least ? least : s->rate > link ? link : s->rate;
    s->stats.least += s->rate == least;
}

static enum dlcp_reason sender_hear_rate(struct dlcp_sender *s, const struct dlcp_packet *p,
                                         uint64_t now) {
    const unsigned ports = s->config.peer->ports;
    if (p->count < 2 || p->count != 2 + (ports > 1 ? (ports + 1) / 2 : 0) || p->entry[0].b == 0)
        return DLCP_BAD_ENTRIES;
    if (s->rate_heard && (int32_t)(p->sequence - s->rate_number) <= 0)
        return DLCP_NOT_EXPECTED;
    s->rate_number = p->sequence;
    s->rate_heard = true;
    dlcp_acks_add(&s->acks, p->sequence);
    if (s->state != DLCP_SENDER_SENDING)
        return DLCP_ACCEPTED;
    sender_adapt(s, p->entry[0].a, p->entry[0].b);
    if (s->ports)
        sender_judge_ports(s, p, now);
    return DLCP_ACCEPTED;
}

static bool sender_is_range(const struct dlcp_sender *s, struct dlcp_entry range, uint64_t after) {
    const struct dlcp_sender_config *c = &s->config;
    const uint64_t end = (uint64_t)range.a + range.b;
    return range.b > 0 && range.a >= after && end <= c->elements && range.a % c->segment == 0 &&
           (end % c->segment == 0 || end == c->elements);
}

// A round of repetitions begins, at the link's rate.
static void sender_begin_round(struct dlcp_sender *s, const struct dlcp_packet *p, uint64_t now) {
    const struct dlcp_sender_config *c = &s->config;
    for (unsigned e = 0; e < p->count; e++) {
        const uint32_t first = p->entry[e].a / c->segment;
        const uint32_t n = dlcp_segments(p->entry[e].b, c->segment);
        for (uint32_t i = first; i < first + n; i++)
            dlcp_bits_add(s->first.set, i);
        s->first.left += n;
    }
    s->first.at = 0;
    s->again = true;
    s->stop.on = false;
    s->state = DLCP_SENDER_SENDING;
    s->rate = c->link;
    s->avoiding = false;
    s->next_at = now;
    s->stats.rounds++;
}

static enum dlcp_reason sender_hear_missing(struct dlcp_sender *s, const struct dlcp_packet *p,
                                            uint64_t now) {
    uint64_t after = 0;
    if (p->count == 0)
        return DLCP_BAD_ENTRIES;
    for (unsigned e = 0; e < p->count; e++) {
        if (!sender_is_range(s, p->entry[e], after))
            return DLCP_BAD_RANGE;
        after = (uint64_t)p->entry[e].a + p->entry[e].b;
    }
    dlcp_acks_add(&s->acks, p->sequence);
    if (s->state != DLCP_SENDER_STOPPED ||
        (s->missing_heard && (int32_t)(p->sequence - s->missing_number) <= 0))
        return DLCP_NOT_EXPECTED;
    s->missing_number = p->sequence;
    s->missing_heard = true;
    sender_begin_round(s, p, now);
    return DLCP_ACCEPTED;
}

static enum dlcp_reason sender_hear_finish(struct dlcp_sender *s, const struct dlcp_packet *p,
                                           uint64_t now) {
    if (p->count != 0)
        return DLCP_BAD_ENTRIES;
    dlcp_acks_add(&s->acks, p->sequence);
    if (s->state == DLCP_SENDER_ENOUGH || s->state == DLCP_SENDER_OVER)
        return DLCP_NOT_EXPECTED;
    s->state = DLCP_SENDER_ENOUGH;
    s->start.on = s->stop.on = false;
    dlcp_signal_begin(&s->finished, s->number++, now);
    return DLCP_ACCEPTED;
}

static enum dlcp_reason sender_take(struct dlcp_sender *s, const struct dlcp_packet *p,
                                    uint64_t now) {
    if (!dlcp_name_is(p->name, s->config.name) || s->state == DLCP_SENDER_FAILED)
        return DLCP_UNKNOWN_FLOW;
    switch (p->kind) {
    case DLCP_ACK:
        return p->count ? DLCP_BAD_ENTRIES : sender_hear_ack(s, p->sequence, now);
    case DLCP_RATE:
        return sender_hear_rate(s, p, now);
    case DLCP_MISSING:
        return sender_hear_missing(s, p, now);
    case DLCP_FINISH:
        return sender_hear_finish(s, p, now);
    default:
        return DLCP_WRONG_WAY;
    }
}

enum dlcp_reason dlcp_sender_hear(struct dlcp_sender *s, const struct dlcp_packet *p,
                                  uint64_t now) {
    sender_pass_time(s, now);
    const enum dlcp_reason reason = sender_take(s, p, now);
    if (reason == DLCP_ACCEPTED)
        sk_watch_start(&s->watch, now);
    else
        s->stats.refused[reason]++;
    return reason;
}
