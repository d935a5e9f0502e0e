// SPDX-License-Identifier: Apache-2.0
#include "hosts/roce/worker.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "hosts/core/rto.h"
#include "hosts/core/timers.h"
#include "hosts/roce/pair.h"
#include "silken/error.h"

struct pair {
    struct roce_inbox inbox;
    uint32_t psn;     // of the next packet to send
    uint32_t uses;    // messages so far, the one under way included
    size_t message;   // of the tensor: the one under way
    uint32_t packets; // of it; 0: none is under way
    uint32_t next;    // of them to send; `packets`: all are sent
    uint32_t repeats; // how often it was sent again
    uint64_t sent_at; // its first packet
};

struct roce_worker {
    struct roce_config config;
    struct pair *pairs;
    struct roce_memory memory;
    struct sk_timers timers; // by pair
    struct sk_rto rto;
    uint32_t turn; // the pair that writes next
    int32_t *values;
    size_t count, messages, undone; // of the tensor
    uint64_t progress;              // when the last message was answered
    bool failed;
    struct roce_stats stats;
};

// ---- making ------------------------------------------------------------------------------------

static const char *roce_config_fault(const struct roce_config *c) {
    if (c->pairs < 1 || c->pairs > ROCE_MAX_PAIRS)
        return "1 to 64 queue pairs";
    if (c->slots < 1 || c->slots > ROCE_MAX_SLOTS)
        return "1 to 64 packets a message";
    if (c->k != 64 && c->k != 128 && c->k != 256)
        return "64, 128 or 256 elements a packet";
    if (c->rto_min == 0 || c->rto_min > c->rto_max || c->limit == 0)
        return "timeouts above 0, and the least not above the most";
    return NULL;
}

static uint32_t message_bytes(const struct roce_config *c) {
    return c->slots * c->k * 4;
}

static int roce_worker_memory(struct roce_worker *w) {
    w->memory.length = (uint64_t)2 * w->config.pairs * message_bytes(&w->config);
    w->memory.rkey = w->config.rkey;
    w->memory.bytes = malloc(w->memory.length);
    w->pairs = calloc(w->config.pairs, sizeof *w->pairs);
    if (!w->memory.bytes || !w->pairs || sk_timers_init(&w->timers, w->config.pairs) < 0)
        return SILKEN_ERR_NOMEM;
    for (uint32_t i = 0; i < w->config.pairs; i++) {
        w->pairs[i].psn = w->config.psn & ROCE_PSN_MASK;
        w->pairs[i].inbox.expected = w->config.fabric_psn & ROCE_PSN_MASK;
    }
    return 0;
}

int roce_worker_new(struct roce_worker **out, const struct roce_config *config, const char **why) {
    const char *fault = roce_config_fault(config);

    if (fault) {
        if (why)
            *why = fault;
        return SILKEN_ERR_INVALID;
    }
    struct roce_worker *w = calloc(1, sizeof *w);
    if (!w)
        return SILKEN_ERR_NOMEM;
    w->config = *config;
    sk_rto_init(&w->rto, config->rto_first, config->rto_min, config->rto_max);
    if (roce_worker_memory(w) < 0) {
        roce_worker_free(w);
        return SILKEN_ERR_NOMEM;
    }
    *out = w;
    return 0;
}

void roce_worker_free(struct roce_worker *w) {
    if (!w)
        return;
    sk_timers_free(&w->timers);
    free(w->pairs);
    free(w->memory.bytes);
    free(w);
}

// ---- messages ----------------------------------------------------------------------------------

static size_t message_elements(const struct roce_worker *w) {
    return (size_t)w->config.slots * w->config.k;
}

// Gives the pair its next message of the tensor, if there is one.
static void begin_message(struct roce_worker *w, struct pair *p, size_t message) {
    p->packets = p->next = 0;
    if (message >= w->messages)
        return;
    p->message = message;
    p->packets = w->config.slots;
    p->repeats = 0;
    p->uses++;
}

int roce_worker_submit(struct roce_worker *w, int32_t *values, size_t count, uint64_t now) {
    if (w->failed)
        return SILKEN_ERR_STALLED;
    if (w->undone > 0)
        return SILKEN_ERR_AGAIN;
    w->values = values;
    w->count = count;
    w->messages = w->undone = count / message_elements(w) + (count % message_elements(w) != 0);
    w->progress = now;
    w->stats.tensors_done += count == 0;
    for (uint32_t i = 0; i < w->config.pairs; i++)
        begin_message(w, &w->pairs[i], i);
    return 0;
}

// ---- sending -----------------------------------------------------------------------------------

static enum roce_opcode opcode_of(const struct pair *p) {
    if (p->packets == 1)
        return ROCE_WRITE_ONLY_IMMEDIATE;
    if (p->next == 0)
        return ROCE_WRITE_FIRST;
    return p->next + 1 == p->packets ? ROCE_WRITE_LAST_IMMEDIATE : ROCE_WRITE_MIDDLE;
}

static uint64_t answer_address(const struct roce_worker *w, const struct pair *p) {
    const uint64_t index = (uint64_t)(p - w->pairs) * 2 + p->uses % 2;
    return index * message_bytes(&w->config);
}

// The elements of the pair's next packet, zeros after the tensor's end.
static void fill(const struct roce_worker *w, const struct pair *p, uint8_t *payload) {
    const size_t first = p->message * message_elements(w) + (size_t)p->next * w->config.k;

    for (uint32_t i = 0; i < w->config.k; i++)
        put32(payload + 4 * (size_t)i, first + i < w->count ? (uint32_t)w->values[first + i] : 0);
}

static size_t write_packet(struct roce_worker *w, uint32_t number, uint8_t *frame) {
    struct pair *p = &w->pairs[number];
    uint8_t payload[ROCE_MAX_PAYLOAD];
    struct roce_packet packet = {.opcode = opcode_of(p),
                                 .qpn = w->config.fabric_qpn + number,
                                 .psn = p->psn,
                                 .address = answer_address(w, p),
                                 .rkey = 2 * number * w->config.slots + p->uses % 2,
                                 .length = p->packets * w->config.k * 4,
                                 .payload = payload,
                                 .bytes = w->config.k * 4};

    fill(w, p, payload);
    put16(packet.immediate, (uint16_t)p->uses);
    p->psn = (p->psn + 1) & ROCE_PSN_MASK;
    p->next++;
    w->stats.packets_sent++;
    return roce_frame_write(frame, &w->config.worker, &w->config.fabric, &packet);
}

size_t roce_worker_write(struct roce_worker *w, uint8_t *frame, uint64_t now) {
    if (w->undone == 0 || w->failed)
        return 0;
    for (uint32_t i = 0; i < w->config.pairs; i++) {
        const uint32_t number = (w->turn + i) % w->config.pairs;
        struct pair *p = &w->pairs[number];
        if (p->next == p->packets)
            continue;
        if (p->next == 0) {
            p->sent_at = now;
            w->stats.messages_sent++;
        }
        const size_t length = write_packet(w, number, frame);
        // the time runs from the last packet, which the answer waits for
        if (p->next == p->packets)
            sk_timers_arm(&w->timers, number,
                          sk_time_add(now, sk_rto_backed_off(&w->rto, p->repeats)));
        w->turn = number + 1; // the pairs' packets in turn
        return length;
    }
    return 0;
}

// ---- receiving ---------------------------------------------------------------------------------

static void roce_take_sums(struct roce_worker *w, const struct pair *p) {
    const size_t first = p->message * message_elements(w);
    const uint8_t *sums = w->memory.bytes + p->inbox.address;

    for (size_t i = 0; i < (size_t)p->packets * w->config.k && first + i < w->count; i++)
        w->values[first + i] = (int32_t)get32(sums + 4 * i);
}

static enum roce_reason finish(struct roce_worker *w, struct pair *p,
                               const struct roce_packet *packet, uint64_t now) {
    if (p->packets == 0 || p->inbox.address != answer_address(w, p) ||
        p->inbox.length != p->packets * w->config.k * 4 || !roce_has_immediate(packet->opcode) ||
        get16(packet->immediate) != (uint16_t)p->uses)
        return ROCE_STALE;
    roce_take_sums(w, p);
    if (p->repeats == 0)
        sk_rto_measure(&w->rto, now - p->sent_at);
    sk_timers_cancel(&w->timers, (uint32_t)(p - w->pairs));
    w->progress = now;
    w->stats.messages_done++;
    w->undone--;
    w->stats.tensors_done += w->undone == 0;
    begin_message(w, p, p->message + w->config.pairs);
    return ROCE_ACCEPTED;
}

static enum roce_reason roce_worker_take(struct roce_worker *w, const uint8_t *frame, size_t len,
                                         uint64_t now) {
    struct roce_packet packet;
    bool whole;
    enum roce_reason r = roce_frame_read(frame, len, &w->config.worker, &w->config.fabric, &packet);

    if (r != ROCE_ACCEPTED)
        return r;
    const uint32_t number = (packet.qpn - w->config.qpn) & 0xffffff;
    if (number >= w->config.pairs)
        return ROCE_UNKNOWN_PAIR;
    struct pair *p = &w->pairs[number];
    r = roce_inbox_take(&p->inbox, &w->memory, &packet, &whole);
    return r == ROCE_ACCEPTED && whole ? finish(w, p, &packet, now) : r;
}

enum roce_reason roce_worker_read(struct roce_worker *w, const uint8_t *frame, size_t len,
                                  uint64_t now) {
    const enum roce_reason r = roce_worker_take(w, frame, len, now);

    w->stats.heard[r]++;
    return r;
}

// ---- time --------------------------------------------------------------------------------------

uint64_t roce_worker_deadline(struct roce_worker *w) {
    if (w->undone == 0 || w->failed)
        return SK_TIME_NEVER;
    return sk_time_earlier(sk_timers_next(&w->timers), sk_time_add(w->progress, w->config.limit));
}

bool roce_worker_expire(struct roce_worker *w, uint64_t now) {
    uint32_t number;

    if (w->undone > 0 && now >= sk_time_add(w->progress, w->config.limit))
        w->failed = true;
    while (!w->failed && sk_timers_expire(&w->timers, now, &number)) {
        struct pair *p = &w->pairs[number];
        p->next = 0;
        p->repeats++;
        w->stats.retransmissions++;
    }
    return !w->failed;
}

bool roce_worker_busy(const struct roce_worker *w) {
    return w->undone > 0;
}

struct roce_stats roce_worker_stats(const struct roce_worker *w) {
    return w->stats;
}
