// SPDX-License-Identifier: Apache-2.0
#include "hosts/libra/frame.h"

#include <string.h>

#include "hosts/core/udp.h"
#include "libra_wire.h"

#define IPV4_AT       ETHERNET_H_BYTES
#define LIBRA_AT      SK_UDP_BYTES
#define PAYLOAD_ACK   LIBRA_H_BYTES
#define PAYLOAD_PAIRS (LIBRA_H_BYTES + LIBRA_PLACES * PAIR_H_BYTES)
#define CONGESTED     3 // RFC 3168, 5

_Static_assert(LIBRA_AT + PAYLOAD_ACK == LIBRA_HEADERS &&
                   LIBRA_AT + PAYLOAD_PAIRS == LIBRA_FRAME_BYTES,
               "the P4 program's headers are not the ones this code was written for");

const char *libra_reason_name(enum libra_reason reason) {
    static const char *const names[LIBRA_REASON_COUNT] = {[LIBRA_ACCEPTED] = "accepted",
#define REASON_NAME(name, key, text) [LIBRA_##name] = key,
                                                          LIBRA_REASONS(REASON_NAME)
#undef REASON_NAME
    };
    return names[reason];
}

const char *libra_reason_text(enum libra_reason reason) {
    static const char *const texts[LIBRA_REASON_COUNT] = {[LIBRA_ACCEPTED] = "accepted",
#define REASON_TEXT(name, key, text) [LIBRA_##name] = text,
                                                          LIBRA_REASONS(REASON_TEXT)
#undef REASON_TEXT
    };
    return texts[reason];
}

// The bit of place p.
static uint16_t frame_place(unsigned p) {
    return (uint16_t)(1u << (LIBRA_PLACES - 1 - p));
}

void libra_frame_write(uint8_t *frame, const struct libra_flow *flow,
                       const struct libra_header *header, const struct libra_packet *packet) {
    uint8_t *h = frame + LIBRA_AT, *pair = frame + LIBRA_HEADERS;
    uint16_t places = 0;

    memset(frame, 0, LIBRA_FRAME_BYTES);
    sk_udp_init(frame, &flow->worker, &flow->fabric, PAYLOAD_PAIRS);
    libra_h_set_kind(h, (uint8_t)header->kind);
    libra_h_set_again(h, header->again);
    libra_h_set_job(h, flow->job);
    libra_h_set_worker(h, flow->number);
    libra_h_set_sequence(h, header->sequence);
    libra_h_set_epoch(h, flow->epoch);
    libra_h_set_clock(h, header->clock);
    for (unsigned p = 0; p < LIBRA_PLACES; p++, pair += PAIR_H_BYTES) {
        bool used = packet->used >> p & 1;
        places |= used ? frame_place(p) : 0;
        pair_h_set_index(pair, used ? packet->places[p].rank : p);
        pair_h_set_value(pair, used ? packet->places[p].value : 0);
    }
    libra_h_set_places(h, places);
}

static void frame_write_short(uint8_t *frame, const struct libra_flow *flow, enum libra_kind kind,
                              uint32_t sequence, uint32_t clock) {
    uint8_t *h = frame + LIBRA_AT;
    memset(frame, 0, LIBRA_HEADERS);
    sk_udp_init(frame, &flow->worker, &flow->fabric, PAYLOAD_ACK);
    libra_h_set_kind(h, (uint8_t)kind);
    libra_h_set_job(h, flow->job);
    libra_h_set_worker(h, flow->number);
    libra_h_set_sequence(h, sequence);
    libra_h_set_epoch(h, flow->epoch);
    libra_h_set_clock(h, clock);
}

void libra_frame_write_ack(uint8_t *frame, const struct libra_flow *flow, uint32_t sequence) {
    frame_write_short(frame, flow, LIBRA_ACK, sequence, 0);
}

void libra_frame_write_join(uint8_t *frame, const struct libra_flow *flow, uint32_t incarnation) {
    frame_write_short(frame, flow, LIBRA_JOIN, 0, incarnation);
}

static enum libra_reason frame_check_ends(const uint8_t *frame, size_t len,
                                          const struct libra_flow *flow) {
    switch (sk_udp_kind(frame, len, LIBRA_H_BYTES)) {
    case SK_UDP_FOREIGN:
        return LIBRA_FOREIGN;
    case SK_UDP_SHORT:
        return LIBRA_BAD_LENGTH;
    case SK_UDP_IS:
        break;
    }
    if (!sk_udp_is_to(frame, &flow->worker))
        return LIBRA_NOT_FOR_US;
    return sk_udp_is_from(frame, &flow->fabric) ? LIBRA_ACCEPTED : LIBRA_NOT_FROM_SWITCH;
}

static enum libra_reason frame_check_header(const uint8_t *frame, size_t len,
                                            const struct libra_flow *flow) {
    const uint8_t *h = frame + LIBRA_AT;
    unsigned kind = libra_h_get_kind(h);
    size_t payload = kind == LIBRA_ANSWER ? PAYLOAD_PAIRS : PAYLOAD_ACK;

    if (len < SK_UDP_BYTES + payload || !sk_udp_has_lengths(frame, payload))
        return LIBRA_BAD_LENGTH;
    if (!sk_udp_has_sums(frame))
        return LIBRA_BAD_CHECKSUM;
    if (libra_h_get_job(h) != flow->job || libra_h_get_worker(h) != flow->number ||
        libra_h_get_epoch(h) != flow->epoch)
        return LIBRA_WRONG_JOB;
    return LIBRA_ACCEPTED;
}

static bool frame_is_reply(unsigned kind) {
    return kind == LIBRA_ACK || kind == LIBRA_ANSWER || kind == LIBRA_LOST;
}

unsigned libra_frame_read_joined(const uint8_t *frame, size_t len, const struct libra_flow *flow,
                                 uint32_t *number, uint16_t *epoch) {
    const uint8_t *h = frame + LIBRA_AT;
    struct libra_flow as = *flow;
    if (frame_check_ends(frame, len, flow) != LIBRA_ACCEPTED)
        return 0;
    const unsigned kind = libra_h_get_kind(h);
    as.epoch = libra_h_get_epoch(h);
    if ((kind != LIBRA_JOINED && kind != LIBRA_REFUSED) ||
        frame_check_header(frame, len, &as) != LIBRA_ACCEPTED)
        return 0;
    *epoch = as.epoch;
    *number = libra_h_get_clock(h);
    return kind;
}

unsigned libra_frame_read_moved(const uint8_t *frame, size_t len, const struct libra_flow *flow,
                                uint16_t *epoch) {
    const uint8_t *h = frame + LIBRA_AT;
    struct libra_flow as = *flow;
    if (frame_check_ends(frame, len, flow) != LIBRA_ACCEPTED)
        return 0;
    const unsigned kind = libra_h_get_kind(h);
    as.epoch = libra_h_get_epoch(h);
    if ((kind != LIBRA_MOVED && kind != LIBRA_ENDED) ||
        frame_check_header(frame, len, &as) != LIBRA_ACCEPTED)
        return 0;
    *epoch = (uint16_t)libra_h_get_clock(h);
    return kind;
}

void libra_frame_write_moved(uint8_t *frame, const struct libra_flow *flow) {
    frame_write_short(frame, flow, LIBRA_MOVED, 0, 0);
}

static void frame_read_places(const uint8_t *frame, bool pairs, struct libra_packet *packet) {
    const uint8_t *pair = frame + LIBRA_HEADERS;
    uint16_t places = libra_h_get_places(frame + LIBRA_AT);

    *packet = (struct libra_packet){0};
    for (unsigned p = 0; p < LIBRA_PLACES; p++) {
        if (!(places & frame_place(p)))
            continue;
        packet->used |= (uint16_t)(1u << p);
        if (pairs)
            packet->places[p] = (struct libra_pair){pair_h_get_index(pair + p * PAIR_H_BYTES),
                                                    pair_h_get_value(pair + p * PAIR_H_BYTES)};
    }
}

enum libra_reason libra_frame_read(const uint8_t *frame, size_t len, const struct libra_flow *flow,
                                   struct libra_header *header, struct libra_packet *packet) {
    enum libra_reason reason = frame_check_ends(frame, len, flow);
    const uint8_t *h = frame + LIBRA_AT;

    if (reason == LIBRA_ACCEPTED && !frame_is_reply(libra_h_get_kind(h)))
        reason = LIBRA_WRONG_KIND;
    if (reason == LIBRA_ACCEPTED)
        reason = frame_check_header(frame, len, flow);
    if (reason != LIBRA_ACCEPTED)
        return reason;
    *header = (struct libra_header){
        .kind = (enum libra_kind)libra_h_get_kind(h),
        .again = libra_h_get_again(h),
        .congested = ipv4_h_get_ecn(frame + IPV4_AT) == CONGESTED,
        .sequence = libra_h_get_sequence(h),
        .clock = libra_h_get_clock(h),
    };
    frame_read_places(frame, header->kind == LIBRA_ANSWER, packet);
    return LIBRA_ACCEPTED;
}
