// SPDX-License-Identifier: Apache-2.0
#include "hosts/atp/frame.h"

#include <emmintrin.h>
#include <string.h>

#include "atp_wire.h"
#include "hosts/core/udp.h"

#define ATP_AT        SK_UDP_BYTES
#define PAYLOAD_BYTES (ATP_FRAME_BYTES - SK_UDP_BYTES)
#define SEQUENCE_MASK ((1u << ATP_SEQUENCE_BITS) - 1)

_Static_assert(ATP_AT + ATP_H_BYTES == ATP_HEADER_BYTES &&
                   ATP_HEADER_BYTES + 2 * VALUES_H_BYTES == ATP_FRAME_BYTES,
               "the P4 program's headers are not the ones this code was written for");

// ---- names -----------------------------------------------------------------------------------

const char *atp_reason_name(enum atp_reason reason) {
    static const char *const names[ATP_REASON_COUNT] = {[ATP_ACCEPTED] = "accepted",
#define REASON_NAME(name, key, text) [ATP_##name] = key,
                                                        ATP_REASONS(REASON_NAME)
#undef REASON_NAME
    };
    return names[reason];
}

const char *atp_reason_text(enum atp_reason reason) {
    static const char *const texts[ATP_REASON_COUNT] = {[ATP_ACCEPTED] = "accepted",
#define REASON_TEXT(name, key, text) [ATP_##name] = text,
                                                        ATP_REASONS(REASON_TEXT)
#undef REASON_TEXT
    };
    return texts[reason];
}

// ---- flows and their numbers -----------------------------------------------------------------

const char *atp_flow_fault(const struct atp_flow *flow) {
    if (flow->job < 1 || flow->job > ATP_MAX_JOB)
        return "the job's number must be 1..127";
    if (flow->flow_bits > ATP_MAX_FLOW_BITS || flow->flow >> flow->flow_bits != 0)
        return "a job has at most 64 flows, numbered below 2^flow_bits";
    if (flow->server.port != ATP_UDP_PORT || flow->group.port != ATP_UDP_PORT)
        return "switches know ATP by the UDP port 0xa790 of server and group";
    return NULL;
}

static unsigned number_bits(const struct atp_flow *flow) {
    return ATP_SEQUENCE_BITS - flow->flow_bits;
}

uint32_t atp_sequence(const struct atp_flow *flow, uint64_t number) {
    uint32_t mask = (1u << number_bits(flow)) - 1;

    return (uint32_t)flow->flow << number_bits(flow) | ((uint32_t)number & mask);
}

uint64_t atp_unwrap(const struct atp_flow *flow, uint32_t sequence, uint64_t near) {
    uint64_t half = UINT64_C(1) << (number_bits(flow) - 1);
    uint64_t distance = (sequence - near) & (2 * half - 1);

    return distance < half ? near + distance : near + distance - 2 * half;
}

bool atp_is_of(const struct atp_flow *flow, const struct atp_packet *packet) {
    return packet->job == flow->job && packet->sequence >> number_bits(flow) == flow->flow &&
           (flow->session == 0 || packet->session == flow->session);
}

// ---- sending ---------------------------------------------------------------------------------

void atp_frame_init(uint8_t *frame, const struct atp_flow *flow, bool to_server) {
    struct sk_endpoint from = to_server ? flow->worker : flow->server;
    uint8_t *atp = frame + ATP_AT;

    for (int i = 0; i < ATP_H_BYTES; i++)
        atp[i] = 0;
    if (flow->session)
        from.port = flow->session;
    sk_udp_init(frame, &from, to_server ? &flow->server : &flow->group, PAYLOAD_BYTES);
    atp_h_set_is_ack(atp, !to_server);
    atp_h_set_fragment(atp, (uint32_t)flow->job << ATP_SEQUENCE_BITS);
}

void atp_frame_set(uint8_t *frame, const struct atp_packet *packet) {
    uint8_t *atp = frame + ATP_AT;

    atp_h_set_bitmap0(atp, packet->bitmap0);
    atp_h_set_bitmap1(atp, packet->bitmap1);
    atp_h_set_edge(atp, packet->edge);
    atp_h_set_resend(atp, packet->resend);
    atp_h_set_collision(atp, packet->collision);
    atp_h_set_fan_in0(atp, (uint8_t)(packet->fan_in0 - 1));
    atp_h_set_ecn(atp, packet->ecn);
    atp_h_set_overflow(atp, packet->overflow);
    atp_h_set_is_ack(atp, packet->is_ack);
    atp_h_set_fan_in1(atp, (uint8_t)(packet->fan_in1 - 1));
    atp_h_set_index(atp, packet->index);
    atp_h_set_fragment(atp, (uint32_t)packet->job << ATP_SEQUENCE_BITS |
                                (packet->sequence & SEQUENCE_MASK));
}

void atp_frame_mark(uint8_t *frame, const struct atp_flow *flow, const struct atp_mark *mark) {
    uint8_t *atp = frame + ATP_AT;

    atp_h_set_resend(atp, mark->resend);
    atp_h_set_overflow(atp, mark->overflow);
    atp_h_set_index(atp, mark->index);
    atp_h_set_fragment(atp, (uint32_t)flow->job << ATP_SEQUENCE_BITS | mark->sequence);
}

// ---- receiving -------------------------------------------------------------------------------

#define SOURCE_PORT_AT 34

static void read_packet(const uint8_t *frame, struct atp_packet *packet) {
    const uint8_t *atp = frame + ATP_AT;
    uint32_t fragment = atp_h_get_fragment(atp);

    *packet = (struct atp_packet){
        .bitmap0 = atp_h_get_bitmap0(atp),
        .bitmap1 = atp_h_get_bitmap1(atp),
        .edge = atp_h_get_edge(atp),
        .resend = atp_h_get_resend(atp),
        .collision = atp_h_get_collision(atp),
        .ecn = atp_h_get_ecn(atp),
        .overflow = atp_h_get_overflow(atp),
        .is_ack = atp_h_get_is_ack(atp),
        .fan_in0 = (uint8_t)(atp_h_get_fan_in0(atp) + 1),
        .fan_in1 = (uint8_t)(atp_h_get_fan_in1(atp) + 1),
        .index = atp_h_get_index(atp),
        .job = (uint8_t)(fragment >> ATP_SEQUENCE_BITS),
        .session = (uint16_t)(frame[SOURCE_PORT_AT] << 8 | frame[SOURCE_PORT_AT + 1]),
        .sequence = fragment & SEQUENCE_MASK,
        .values = frame + ATP_HEADER_BYTES,
    };
}

enum atp_reason atp_frame_check(const struct sk_endpoint *to, const uint8_t *frame, size_t len,
                                struct atp_packet *packet) {
    switch (sk_udp_kind(frame, len, 0)) {
    case SK_UDP_FOREIGN:
        return ATP_FOREIGN;
    case SK_UDP_SHORT:
        return ATP_BAD_LENGTH;
    case SK_UDP_IS:
        break;
    }
    if (!sk_udp_is_to(frame, to))
        return ATP_NOT_FOR_US;
    if (len < ATP_FRAME_BYTES || !sk_udp_has_lengths(frame, PAYLOAD_BYTES))
        return ATP_BAD_LENGTH;
    if (!sk_udp_has_sums(frame))
        return ATP_BAD_CHECKSUM;
    read_packet(frame, packet);
    return ATP_ACCEPTED;
}

#define LAST_OF_SOURCE  29
#define UDP_CHECKSUM_AT 40

// What differs in sixteen bytes.
static __m128i atp_frame_difference_at(const uint8_t *a, const uint8_t *b, size_t at) {
    return _mm_xor_si128(_mm_loadu_si128((const __m128i *)(const void *)(a + at)),
                         _mm_loadu_si128((const __m128i *)(const void *)(b + at)));
}

static bool same_headers(const uint8_t *a, const uint8_t *b) {
    __m128i difference = _mm_or_si128(
        _mm_or_si128(atp_frame_difference_at(a, b, 0), atp_frame_difference_at(a, b, 16)),
        atp_frame_difference_at(a, b, SK_UDP_BYTES - 16));

    return _mm_movemask_epi8(_mm_cmpeq_epi8(difference, _mm_setzero_si128())) == 0xffff;
}

enum atp_reason atp_frame_check_known(const struct sk_endpoint *to, struct atp_known *known,
                                      const uint8_t *frame, size_t len, struct atp_packet *packet) {
    enum atp_reason reason;
    unsigned sender;

    if (len < ATP_FRAME_BYTES)
        return atp_frame_check(to, frame, len, packet);
    sender = frame[LAST_OF_SOURCE] % ATP_KNOWN_SENDERS;
    if (known->has[sender] && same_headers(frame, known->headers[sender])) {
        read_packet(frame, packet);
        return ATP_ACCEPTED;
    }
    reason = atp_frame_check(to, frame, len, packet);
    if (reason == ATP_ACCEPTED && frame[UDP_CHECKSUM_AT] == 0 && frame[UDP_CHECKSUM_AT + 1] == 0) {
        memcpy(known->headers[sender], frame, SK_UDP_BYTES);
        known->has[sender] = true;
    }
    return reason;
}

// ---- what the words of a parameter packet stand for ------------------------------------------

#define EXPONENT_BIAS 64

uint32_t atp_scale_pack(const struct atp_scale *scale) {
    return ATP_NEW | (uint32_t)(scale->exponent + EXPONENT_BIAS) << ATP_SEQUENCE_BITS |
           (scale->after & SEQUENCE_MASK);
}

bool atp_scale_unpack(uint32_t word, struct atp_scale *scale) {
    if (!(word & ATP_NEW))
        return false;
    scale->exponent = (int8_t)((int)((word & ~ATP_NEW) >> ATP_SEQUENCE_BITS) - EXPONENT_BIAS);
    scale->after = word & SEQUENCE_MASK;
    return true;
}

// ---- aggregators -----------------------------------------------------------------------------

// The finisher of MurmurHash3: every bit of the input changes half of those of the output.
static uint32_t atp_frame_mix(uint32_t h) {
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    return h ^ h >> 16;
}

static uint32_t atp_frame_scaled(uint32_t h, uint32_t count) {
    return (uint32_t)((uint64_t)h * count >> 32);
}

uint32_t atp_hash(uint8_t job, uint32_t sequence, uint32_t count, bool linear) {
    uint32_t s = sequence & SEQUENCE_MASK;

    return linear ? s % count
                  : atp_frame_scaled(atp_frame_mix((uint32_t)job << ATP_SEQUENCE_BITS | s), count);
}

uint32_t atp_rehash(uint32_t position, uint32_t count, uint32_t fragment) {
    uint32_t other =
        atp_frame_scaled(atp_frame_mix(atp_frame_mix(position + 0x9e3779b9u) ^ fragment), count);

    return other != position ? other : (position + 1) % count;
}
