// SPDX-License-Identifier: Apache-2.0
#include "hosts/dlcp/frame.h"

#include <string.h>

#include "hosts/core/quantise.h"
#include "hosts/core/udp.h"
#include "dlcp_wire.h"

#define IPV4_AT   ETHERNET_H_BYTES
#define UDP_AT    (IPV4_AT + IPV4_H_BYTES)
#define DLCP_AT   SK_UDP_BYTES
#define ECT_0     2u // RFC 3168, 5
#define LOCAL_USE 3u // the last two bits of such a DSCP (RFC 2474, 6)

_Static_assert(DLCP_AT + DLCP_H_BYTES == DLCP_HEADERS && DLCP_FRAME_BYTES == 1514 &&
                   DLCP_HEADERS + DLCP_ENTRIES * 8 <= DLCP_FRAME_BYTES,
               "the P4 program's headers are not the ones this code was written for");

const char *dlcp_reason_name(enum dlcp_reason reason) {
    static const char *const names[DLCP_REASON_COUNT] = {[DLCP_ACCEPTED] = "accepted",
#define REASON_NAME(name, key, text) [DLCP_##name] = key,
                                                         DLCP_REASONS(REASON_NAME)
#undef REASON_NAME
    };
    return names[reason];
}

const char *dlcp_reason_text(enum dlcp_reason reason) {
    static const char *const texts[DLCP_REASON_COUNT] = {[DLCP_ACCEPTED] = "accepted",
#define REASON_TEXT(name, key, text) [DLCP_##name] = text,
                                                         DLCP_REASONS(REASON_TEXT)
#undef REASON_TEXT
    };
    return texts[reason];
}

// ---- sending ----

static void frame_put_32(uint8_t *at, uint32_t number) {
    for (int i = 3; i >= 0; i--, number >>= 8)
        at[i] = (uint8_t)number;
}

static uint32_t frame_get_32(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void frame_write_body(uint8_t *body, const struct dlcp_packet *p) {
    if (p->kind != DLCP_DATA)
        for (unsigned i = 0; i < p->count; i++, body += 8) {
            frame_put_32(body, p->entry[i].a);
            frame_put_32(body + 4, p->entry[i].b);
        }
    else if (p->values)
        sk_quantise_best()->i32_to_wire(body, (const int32_t *)p->values, p->count);
    else
        memset(body, 0, p->count * sizeof(float));
}

// What the class and the importance say to switches.
static void frame_mark(uint8_t *ipv4, const struct dlcp_packet *p) {
    ipv4_h_set_dscp(ipv4,
                    (uint8_t)(p->kind == DLCP_DATA ? 4u * p->class + LOCAL_USE : DLCP_DSCP_SIGNAL));
    ipv4_h_set_ecn(ipv4, p->important ? ECT_0 : 0);
    ipv4_h_set_checksum(ipv4, 0);
    ipv4_h_set_checksum(ipv4, sk_checksum(ipv4, IPV4_H_BYTES));
}

size_t dlcp_frame_write(uint8_t *frame, const struct sk_endpoint *self,
                        const struct sk_endpoint *peer, const struct dlcp_packet *p) {
    const size_t bytes = dlcp_packet_bytes(p);
    struct sk_endpoint from = *self, to = *peer;
    uint8_t *h = frame + DLCP_AT;

    from.port = p->port;
    to.port = DLCP_PORT;
    sk_udp_init(frame, &from, &to, bytes - SK_UDP_BYTES);
    frame_mark(frame + IPV4_AT, p);
    memset(h, 0, DLCP_H_BYTES);
    dlcp_h_set_kind(h, (uint8_t)p->kind);
    dlcp_h_set_pull(h, p->name.pull);
    dlcp_h_set_important(h, p->important);
    dlcp_h_set_again(h, p->again);
    dlcp_h_set_job(h, p->name.job);
    dlcp_h_set_tensor(h, p->name.tensor);
    dlcp_h_set_iteration(h, p->name.iteration);
    dlcp_h_set_offset(h, p->offset);
    dlcp_h_set_count(h, p->count);
    dlcp_h_set_contributions(h, p->contributions);
    dlcp_h_set_sequence(h, p->sequence);
    frame_write_body(frame + DLCP_HEADERS, p);
    sk_udp_seal(frame);
    return bytes;
}

// ---- receiving ----

static enum dlcp_reason frame_for_us(const uint8_t *frame, size_t len,
                                     const struct sk_endpoint *self) {
    struct sk_endpoint to = *self;
    to.port = DLCP_PORT;
    switch (sk_udp_kind(frame, len, DLCP_H_BYTES)) {
    case SK_UDP_FOREIGN:
        return DLCP_FOREIGN;
    case SK_UDP_SHORT:
        return DLCP_BAD_LENGTH;
    case SK_UDP_IS:
        break;
    }
    return sk_udp_is_to(frame, &to) ? DLCP_ACCEPTED : DLCP_NOT_FOR_US;
}

// The frame has the DLCP header. Ethernet may have padded it.
static enum dlcp_reason frame_is_whole(const uint8_t *frame, size_t len) {
    const uint8_t *h = frame + DLCP_AT;
    const unsigned kind = dlcp_h_get_kind(h);
    const size_t count = dlcp_h_get_count(h);
    const size_t payload = udp_h_get_length(frame + UDP_AT) - (size_t)UDP_H_BYTES;

    if (payload < DLCP_H_BYTES || payload > len - SK_UDP_BYTES ||
        !sk_udp_has_lengths(frame, payload))
        return DLCP_BAD_LENGTH;
    if (!sk_udp_has_sums(frame))
        return DLCP_BAD_CHECKSUM;
    if (kind < DLCP_DATA || kind > DLCP_ACK)
        return DLCP_UNKNOWN_KIND;
    if (kind == DLCP_DATA ? count < 1 || count > DLCP_ELEMENTS : count > DLCP_ENTRIES)
        return DLCP_BAD_COUNT;
    return payload == DLCP_H_BYTES + count * (kind == DLCP_DATA ? 4u : 8u) ? DLCP_ACCEPTED
                                                                           : DLCP_BAD_COUNT;
}

static void frame_read_entries(const uint8_t *body, struct dlcp_packet *p) {
    for (unsigned i = 0; i < p->count; i++, body += 8)
        p->entry[i] = (struct dlcp_entry){frame_get_32(body), frame_get_32(body + 4)};
}

enum dlcp_reason dlcp_frame_read(const uint8_t *frame, size_t len, const struct sk_endpoint *self,
                                 struct dlcp_packet *p, struct sk_endpoint *from) {
    enum dlcp_reason reason = frame_for_us(frame, len, self);
    const uint8_t *h = frame + DLCP_AT;

    if (reason == DLCP_ACCEPTED)
        reason = frame_is_whole(frame, len);
    if (reason != DLCP_ACCEPTED)
        return reason;
    p->name = (struct dlcp_name){.iteration = dlcp_h_get_iteration(h),
                                 .tensor = dlcp_h_get_tensor(h),
                                 .job = dlcp_h_get_job(h),
                                 .pull = dlcp_h_get_pull(h)};
    p->kind = (enum dlcp_kind)dlcp_h_get_kind(h);
    p->important = dlcp_h_get_important(h);
    p->again = dlcp_h_get_again(h);
    p->class = (uint8_t)(ipv4_h_get_dscp(frame + IPV4_AT) / 4u);
    p->port = udp_h_get_src_port(frame + UDP_AT);
    p->offset = dlcp_h_get_offset(h);
    p->count = dlcp_h_get_count(h);
    p->contributions = dlcp_h_get_contributions(h);
    p->sequence = dlcp_h_get_sequence(h);
    p->values = NULL;
    p->wire = p->kind == DLCP_DATA ? frame + DLCP_HEADERS : NULL;
    if (p->kind != DLCP_DATA)
        frame_read_entries(frame + DLCP_HEADERS, p);
    *from = (struct sk_endpoint){.port = p->port, .ip = ipv4_h_get_src_addr(frame + IPV4_AT)};
    memcpy(from->mac, frame + 6, sizeof from->mac);
    return DLCP_ACCEPTED;
}
