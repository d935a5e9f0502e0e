// SPDX-License-Identifier: Apache-2.0
#include "hosts/roce/worker.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "hosts/core/quantise.h"
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
    bool exponents;   // it has zeros, and goes before the message for the exponent's sake
    int8_t lookahead; // exponent of the one after it
    int8_t scale;     // of the message, as the switch gave it
    uint64_t sent_at; // its first packet
};

struct roce_worker {
    struct roce_config config;
    struct pair *pairs;
    struct roce_memory memory;
    struct sk_timers timers; // by pair
    struct sk_rto rto;
    uint32_t turn; // the pair that writes next
    const struct sk_quantise *quantise;
    struct roce_tensor tensor;
    size_t messages, undone; // of the tensor
    uint64_t progress;       // when the last message was answered
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
    if (c->workers < 1 || c->workers > ROCE_MAX_WORKERS)
        return "1 to 255 workers";
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
    w->quantise = sk_quantise_best();
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

static bool is_scaled(const struct roce_worker *w) {
    return w->tensor.type == SILKEN_F32;
}

// Elements of the tensor from the first of a message, or of a part of it, on: 'most' at most.
static size_t roce_elements(const struct roce_worker *w, size_t first, size_t most) {
    const size_t left = first < w->tensor.count ? w->tensor.count - first : 0;

    return left < most ? left : most;
}

static int8_t roce_exponent(const struct roce_worker *w, size_t message) {
    const size_t first = message * message_elements(w);
    const float *in = w->tensor.in;

    return sk_block_exponent(
        w->quantise->max_abs_bits(in + first, roce_elements(w, first, message_elements(w))));
}

// Gives the pair a message of the tensor, if there is such a one.
static void begin_message(struct roce_worker *w, struct pair *p, size_t message, bool exponents) {
    const size_t after = exponents ? message : message + w->config.pairs;

    p->packets = p->next = 0;
    if (message >= w->messages)
        return;
    p->message = message;
    p->packets = w->config.slots;
    p->repeats = 0;
    p->exponents = exponents;
    p->lookahead = is_scaled(w) && after < w->messages ? roce_exponent(w, after) : SK_EXPONENT_ZERO;
    p->uses++;
}

int roce_worker_submit(struct roce_worker *w, const struct roce_tensor *tensor, uint64_t now) {
    const size_t elements = message_elements(w);

    if (w->failed)
        return SILKEN_ERR_STALLED;
    if (w->undone > 0)
        return SILKEN_ERR_AGAIN;
    if (tensor->type != SILKEN_F32 && tensor->type != SILKEN_I32)
        return SILKEN_ERR_INVALID;
    w->tensor = *tensor;
    w->messages = w->undone = tensor->count / elements + (tensor->count % elements != 0);
    w->progress = now;
    w->stats.tensors_done += tensor->count == 0;
    for (uint32_t i = 0; i < w->config.pairs; i++)
        begin_message(w, &w->pairs[i], i, is_scaled(w));
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
static void roce_fill(const struct roce_worker *w, const struct pair *p, uint8_t *payload) {
    const size_t first = p->message * message_elements(w) + (size_t)p->next * w->config.k;
    const double factor = is_scaled(w) ? sk_block_factor(p->scale, w->config.workers) : 1;
    const size_t n = p->exponents || factor == 0 ? 0 : roce_elements(w, first, w->config.k);

    if (n > 0 && is_scaled(w))
        w->quantise->f32_to_wire(payload, (const float *)w->tensor.in + first, n, factor);
    else if (n > 0)
        w->quantise->i32_to_wire(payload, (const int32_t *)w->tensor.in + first, n);
    memset(payload + 4 * n, 0, 4 * (w->config.k - n));
}

static size_t write_packet(struct roce_worker *w, uint32_t number, uint8_t *frame) {
    struct pair *p = &w->pairs[number];
    const uint32_t slot = w->config.base + number * w->config.slots;
    struct roce_packet packet = {.opcode = opcode_of(p),
                                 .qpn = w->config.fabric_qpn + number,
                                 .psn = p->psn,
                                 .address = answer_address(w, p),
                                 .rkey = 2 * slot + p->uses % 2,
                                 .length = p->packets * w->config.k * 4,
                                 .bytes = w->config.k * 4};
    size_t length;

    put16(packet.immediate, (uint16_t)p->uses);
    packet.immediate[2] = (uint8_t)p->lookahead;
    packet.immediate[3] = (uint8_t)SK_EXPONENT_ZERO;
    roce_fill(w, p,
              roce_frame_begin(frame, &w->config.worker, &w->config.fabric, &packet, &length));
    roce_seal(frame);
    p->psn = (p->psn + 1) & ROCE_PSN_MASK;
    p->next++;
    w->stats.packets_sent++;
    w->stats.packets_again += p->repeats > 0;
    return length;
}

uint32_t roce_worker_queued(const struct roce_worker *w) {
    uint32_t n = 0;

    for (uint32_t i = 0; w->undone > 0 && !w->failed && i < w->config.pairs; i++)
        n += w->pairs[i].packets - w->pairs[i].next;
    return n;
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
    const size_t n = roce_elements(w, first, message_elements(w));
    const uint8_t *sums = w->memory.bytes + p->inbox.address;

    if (is_scaled(w))
        w->quantise->wire_to_f32((float *)w->tensor.out + first, sums, n,
                                 sk_block_inverse(p->scale, w->config.workers));
    else
        w->quantise->wire_to_i32((int32_t *)w->tensor.out + first, sums, n);
}

static bool roce_is_awaited(const struct roce_worker *w, const struct pair *p,
                            const struct roce_packet *last) {
    return p->packets > 0 && p->inbox.address == answer_address(w, p) &&
           p->inbox.length == p->packets * w->config.k * 4 && roce_has_immediate(last->opcode) &&
           get16(last->immediate) == (uint16_t)p->uses;
}

// The answer to the pair's message is there, with 'last' as its last packet.
static enum roce_reason finish(struct roce_worker *w, struct pair *p,
                               const struct roce_packet *last, uint64_t now) {
    const int8_t exponent = (int8_t)last->immediate[2];

    if (!roce_is_awaited(w, p, last))
        return ROCE_STALE;
    if (is_scaled(w) && exponent < p->lookahead)
        return ROCE_BAD_EXPONENT;
    if (p->repeats == 0)
        sk_rto_measure(&w->rto, now - p->sent_at);
    sk_timers_cancel(&w->timers, (uint32_t)(p - w->pairs));
    w->progress = now;
    w->stats.messages_done++;
    if (!p->exponents) {
        roce_take_sums(w, p);
        w->undone--;
        w->stats.tensors_done += w->undone == 0;
    }
    p->scale = exponent;
    begin_message(w, p, p->exponents ? p->message : p->message + w->config.pairs, false);
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
    struct roce_stats stats = w->stats;

    stats.rtt = w->rto.rtt;
    stats.rto = w->rto.timeout;
    return stats;
}
