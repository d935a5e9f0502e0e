// SPDX-License-Identifier: Apache-2.0
#include "hosts/libra/cold.h"

#include <string.h>

#include "hosts/core/udp.h"
#include "libra_wire.h"

#define IPV4_AT   ETHERNET_H_BYTES
#define UDP_AT    (IPV4_AT + IPV4_H_BYTES)
#define LIBRA_AT  SK_UDP_BYTES
#define CONGESTED 3 // RFC 3168, 5

static void cold_put_number(uint8_t *to, uint64_t number, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (uint8_t)(number >> 8 * (bytes - 1 - i));
}

static uint64_t cold_number(const uint8_t *from, unsigned bytes) {
    uint64_t number = 0;
    for (unsigned i = 0; i < bytes; i++)
        number = number << 8 | from[i];
    return number;
}

static void cold_put_pairs(uint8_t *frame, const struct libra_cold_pair *pairs, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        uint8_t *at = frame + LIBRA_HEADERS + i * LIBRA_PAIR_BYTES;
        cold_put_number(at, pairs[i].key, 8);
        cold_put_number(at + 8, pairs[i].value, 4);
    }
}

static size_t cold_put(uint8_t *frame, const struct sk_endpoint *from, const struct sk_endpoint *to,
                       const struct libra_cold_request *r, enum libra_kind kind,
                       const struct libra_cold_pair *pairs, unsigned n) {
    uint8_t *h = frame + LIBRA_AT;
    sk_udp_init(frame, from, to, LIBRA_H_BYTES + n * LIBRA_PAIR_BYTES);
    memset(h, 0, LIBRA_H_BYTES);
    libra_h_set_kind(h, (uint8_t)kind);
    libra_h_set_again(h, r->header.again);
    libra_h_set_cold(h, 1);
    libra_h_set_job(h, r->job);
    libra_h_set_worker(h, r->worker);
    libra_h_set_sequence(h, r->header.sequence);
    libra_h_set_places(h, (uint16_t)n);
    libra_h_set_epoch(h, r->epoch);
    libra_h_set_clock(h, r->header.clock);
    cold_put_pairs(frame, pairs, n);
    sk_udp_seal(frame);
    return LIBRA_HEADERS + n * LIBRA_PAIR_BYTES;
}

size_t libra_cold_write(uint8_t *frame, const struct libra_flow *flow,
                        const struct libra_header *header, const struct libra_cold_pair *pairs,
                        unsigned n) {
    const struct libra_cold_request r = {
        .header = *header, .job = flow->job, .worker = flow->number, .epoch = flow->epoch};
    return cold_put(frame, &flow->worker, &flow->fabric, &r, header->kind, pairs, n);
}

size_t libra_cold_reply(uint8_t *frame, const struct sk_endpoint *self, enum libra_kind kind,
                        const struct libra_cold_request *request) {
    return cold_put(frame, self, &request->from, request, kind, request->pairs,
                    kind == LIBRA_ANSWER ? request->n : 0);
}

// Everything but who it is from, and of what job.
static enum libra_reason cold_take(const uint8_t *frame, size_t len, const struct sk_endpoint *self,
                                   struct libra_cold_request *r) {
    const uint8_t *h = frame + LIBRA_AT;
    switch (sk_udp_kind(frame, len, LIBRA_H_BYTES)) {
    case SK_UDP_FOREIGN:
        return LIBRA_FOREIGN;
    case SK_UDP_SHORT:
        return LIBRA_BAD_LENGTH;
    case SK_UDP_IS:
        break;
    }
    if (!sk_udp_is_to(frame, self))
        return LIBRA_NOT_FOR_US;
    r->n = libra_h_get_places(h);
    const size_t payload = LIBRA_H_BYTES + (size_t)r->n * LIBRA_PAIR_BYTES;
    if (r->n > LIBRA_COLD_PAIRS || len < SK_UDP_BYTES + payload ||
        !sk_udp_has_lengths(frame, payload))
        return LIBRA_BAD_LENGTH;
    if (!sk_udp_has_sums(frame))
        return LIBRA_BAD_CHECKSUM;
    if (!libra_h_get_cold(h))
        return LIBRA_WRONG_KIND;
    r->header = (struct libra_header){
        .kind = (enum libra_kind)libra_h_get_kind(h),
        .again = libra_h_get_again(h),
        .congested = ipv4_h_get_ecn(frame + IPV4_AT) == CONGESTED,
        .sequence = libra_h_get_sequence(h),
        .clock = libra_h_get_clock(h),
    };
    r->job = libra_h_get_job(h);
    r->worker = libra_h_get_worker(h);
    r->epoch = libra_h_get_epoch(h);
    for (unsigned i = 0; i < r->n; i++) {
        const uint8_t *at = frame + LIBRA_HEADERS + i * LIBRA_PAIR_BYTES;
        r->pairs[i] =
            (struct libra_cold_pair){cold_number(at, 8), (uint32_t)cold_number(at + 8, 4)};
    }
    return LIBRA_ACCEPTED;
}

enum libra_reason libra_cold_read(const uint8_t *frame, size_t len, const struct libra_flow *flow,
                                  struct libra_header *header, struct libra_cold_pair *pairs,
                                  unsigned *n) {
    struct libra_cold_request r;
    enum libra_reason reason = cold_take(frame, len, &flow->worker, &r);
    if (reason != LIBRA_ACCEPTED)
        return reason;
    if (!sk_udp_is_from(frame, &flow->fabric))
        return LIBRA_NOT_FROM_SWITCH;
    if (r.header.kind != LIBRA_ANSWER && (r.header.kind != LIBRA_ACK || r.n > 0))
        return LIBRA_WRONG_KIND;
    if (r.job != flow->job || r.worker != flow->number || r.epoch != flow->epoch)
        return LIBRA_WRONG_JOB;
    *header = r.header;
    *n = r.n;
    memcpy(pairs, r.pairs, r.n * sizeof *pairs);
    return LIBRA_ACCEPTED;
}

enum libra_reason libra_cold_read_request(const uint8_t *frame, size_t len,
                                          const struct sk_endpoint *self,
                                          struct libra_cold_request *request) {
    enum libra_reason reason = cold_take(frame, len, self, request);
    if (reason != LIBRA_ACCEPTED)
        return reason;
    memcpy(request->from.mac, frame + 6, sizeof request->from.mac);
    request->from.ip = ipv4_h_get_src_addr(frame + IPV4_AT);
    request->from.port = udp_h_get_src_port(frame + UDP_AT);
    switch (request->header.kind) {
    case LIBRA_PUSH:
    case LIBRA_PULL:
        return LIBRA_ACCEPTED;
    case LIBRA_BARRIER:
        return request->n == 0 ? LIBRA_ACCEPTED : LIBRA_BAD_LENGTH;
    default:
        return LIBRA_WRONG_KIND;
    }
}
