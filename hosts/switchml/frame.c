// SPDX-License-Identifier: Apache-2.0
#include "hosts/switchml/frame.h"

#include <emmintrin.h>
#include <string.h>

#include "hosts/core/udp.h"
#include "switchml_wire.h"

#define SWITCHML_AT  SK_UDP_BYTES
#define EXPONENTS_AT (SWITCHML_AT + SWITCHML_H_BYTES)
#define UDP_AT       (ETHERNET_H_BYTES + IPV4_H_BYTES)

#define VERSION_BIT 0x8000

_Static_assert(EXPONENTS_AT + EXPONENTS_H_BYTES == SWML_HEADER_BYTES,
               "the P4 program's headers are not the ones this code was written for");

// ---- names -----------------------------------------------------------------------------------

const char *swml_reason_name(enum swml_reason reason) {
    static const char *const names[SWML_REASON_COUNT] = {[SWML_ACCEPTED] = "accepted",
#define REASON_NAME(name, key, text) [SWML_##name] = key,
                                                         SWML_REASONS(REASON_NAME)
#undef REASON_NAME
    };
    return names[reason];
}

const char *swml_reason_text(enum swml_reason reason) {
    static const char *const texts[SWML_REASON_COUNT] = {[SWML_ACCEPTED] = "accepted",
#define REASON_TEXT(name, key, text) [SWML_##name] = text,
                                                         SWML_REASONS(REASON_TEXT)
#undef REASON_TEXT
    };
    return texts[reason];
}

// ---- sizes -----------------------------------------------------------------------------------

int swml_size_code(unsigned k) {
    switch (k) {
    case 32:
        return 0;
    case 64:
        return 1;
    case 128:
        return 2;
    case 256:
        return 3;
    default:
        return -1;
    }
}

static size_t payload_bytes(const struct swml_flow *flow) {
    return swml_frame_bytes(flow) - SK_UDP_BYTES;
}

// ---- sending ---------------------------------------------------------------------------------

static void swml_frame_init_with(uint8_t *frame, const struct swml_flow *flow, size_t payload) {
    memset(frame, 0, SWML_HEADER_BYTES);
    sk_udp_init(frame, &flow->worker, &flow->fabric, payload);
    switchml_h_set_msg_type(frame + SWITCHML_AT, SWML_DATA);
    switchml_h_set_size(frame + SWITCHML_AT, (uint8_t)swml_size_code(flow->k));
    switchml_h_set_job_number(frame + SWITCHML_AT, flow->job);
}

void swml_frame_init(uint8_t *frame, const struct swml_flow *flow) {
    swml_frame_init_with(frame, flow, payload_bytes(flow));
}

void swml_frame_init_empty(uint8_t *frame, const struct swml_flow *flow) {
    swml_frame_init_with(frame, flow, SWML_OWN_BYTES);
}

static struct sk_endpoint restart_end(const struct swml_flow *flow) {
    struct sk_endpoint end = flow->fabric;

    end.port = SWML_RESTART_PORT;
    return end;
}

void swml_reply_init(uint8_t *frame, const struct swml_flow *flow) {
    const struct swml_flow reply = {flow->worker, restart_end(flow), flow->job, flow->k,
                                    flow->halves};

    swml_frame_init(frame, &reply);
}

void swml_frame_set_chunk(uint8_t *frame, const struct swml_chunk *chunk) {
    uint16_t version = chunk->version ? VERSION_BIT : 0;

    if (chunk->message)
        switchml_h_set_msg_type(frame + SWITCHML_AT, chunk->message);
    switchml_h_set_tsi(frame + SWITCHML_AT, chunk->tsi);
    switchml_h_set_pool_index(frame + SWITCHML_AT, (uint16_t)(chunk->slot | version));
    exponents_h_set_e0(frame + EXPONENTS_AT, (uint8_t)chunk->e0);
    exponents_h_set_e1(frame + EXPONENTS_AT,
                       chunk->message >= SWML_COLLECTIVE ? chunk->audience : (uint8_t)chunk->e0);
}

// ---- receiving -------------------------------------------------------------------------------

static enum swml_reason check_is_udp(const uint8_t *frame, size_t len) {
    switch (sk_udp_kind(frame, len, SWITCHML_H_BYTES + EXPONENTS_H_BYTES)) {
    case SK_UDP_FOREIGN:
        return SWML_FOREIGN;
    case SK_UDP_SHORT:
        return SWML_BAD_LENGTH;
    case SK_UDP_IS:
        break;
    }
    return SWML_ACCEPTED;
}

// Says what kind of message it is, by the port that it comes from.
static enum swml_reason swml_frame_check_addresses(const struct swml_flow *flow,
                                                   const uint8_t *frame,
                                                   enum swml_message *message) {
    const struct sk_endpoint restart = restart_end(flow);

    *message = SWML_DATA;
    if (!sk_udp_is_to(frame, &flow->worker))
        return SWML_NOT_FOR_US;
    if (sk_udp_is_from(frame, &flow->fabric))
        return SWML_ACCEPTED;
    if (flow->halves)
        return SWML_NOT_FROM_SWITCH;
    *message = (enum swml_message)switchml_h_get_msg_type(frame + SWITCHML_AT);
    if (*message == SWML_DATA)
        *message = SWML_NO_MESSAGE;
    return sk_udp_is_from(frame, &restart) ? SWML_ACCEPTED : SWML_NOT_FROM_SWITCH;
}

static bool is_question(enum swml_message message) {
    return message == SWML_WHERE || message == SWML_AGAIN;
}

static enum swml_reason swml_frame_check_switchml(const struct swml_flow *flow,
                                                  const uint8_t *frame, enum swml_message message) {
    const uint8_t *header = frame + SWITCHML_AT;

    if (message != SWML_DATA && message != SWML_KEPT && !is_question(message))
        return SWML_BAD_MESSAGE;
    if (switchml_h_get_job_number(header) != flow->job)
        return SWML_WRONG_JOB;
    if (!is_question(message) && switchml_h_get_size(header) != swml_size_code(flow->k))
        return SWML_WRONG_SIZE;
    return SWML_ACCEPTED;
}

// With the length known: does every header agree to it, is all of it there.
static enum swml_reason check_lengths(const struct swml_flow *flow, const uint8_t *frame,
                                      size_t len, enum swml_message message) {
    size_t payload =
        is_question(message) ? SWML_QUESTION_BYTES - SK_UDP_BYTES : payload_bytes(flow);

    if (!sk_udp_has_lengths(frame, payload) || len < SK_UDP_BYTES + payload)
        return SWML_BAD_LENGTH;
    return SWML_ACCEPTED;
}

// Whether it is an answer of a collective operation without elements.
static bool is_brief(const struct swml_flow *flow, const uint8_t *frame,
                     enum swml_message message) {
    return message == SWML_DATA && !flow->halves &&
           switchml_h_get_msg_type(frame + SWITCHML_AT) >= SWML_COLLECTIVE &&
           sk_udp_has_lengths(frame, SWML_OWN_BYTES);
}

static enum swml_reason check_sums(const uint8_t *frame) {
    return sk_udp_has_sums(frame) ? SWML_ACCEPTED : SWML_BAD_CHECKSUM;
}

static void read_chunk(const uint8_t *frame, enum swml_message message, bool brief,
                       struct swml_chunk *chunk) {
    uint16_t index = switchml_h_get_pool_index(frame + SWITCHML_AT);

    chunk->slot = (uint16_t)(index & ~VERSION_BIT);
    chunk->version = (index & VERSION_BIT) != 0;
    chunk->tsi = switchml_h_get_tsi(frame + SWITCHML_AT);
    chunk->e0 = (int8_t)exponents_h_get_e0(frame + EXPONENTS_AT);
    chunk->message = message;
    chunk->brief = brief;
}

enum swml_reason swml_frame_check(const struct swml_flow *flow, const uint8_t *frame, size_t len,
                                  struct swml_chunk *chunk) {
    enum swml_reason reason = check_is_udp(frame, len);
    enum swml_message message = SWML_DATA;
    bool brief;

    if (reason == SWML_ACCEPTED)
        reason = swml_frame_check_addresses(flow, frame, &message);
    if (reason == SWML_ACCEPTED)
        reason = swml_frame_check_switchml(flow, frame, message);
    brief = reason == SWML_ACCEPTED && is_brief(flow, frame, message);
    if (reason == SWML_ACCEPTED && !brief)
        reason = check_lengths(flow, frame, len, message);
    if (reason == SWML_ACCEPTED)
        reason = check_sums(frame);
    if (reason == SWML_ACCEPTED)
        read_chunk(frame, message, brief, chunk);
    return reason;
}

// ---- receiving, with a memory ----------------------------------------------------------------

_Static_assert(SWML_KNOWN_BYTES == SWITCHML_AT + 2, "message type, size and job are the last");

void swml_known_init(struct swml_known *known, const struct swml_flow *flow) {
    const struct swml_flow back = {flow->fabric, flow->worker, flow->job, flow->k, flow->halves};
    uint8_t frame[SWML_HEADER_BYTES];

    swml_frame_init(frame, &back);
    memcpy(known->bytes, frame, sizeof known->bytes);
}

// What differs in sixteen bytes.
static __m128i swml_frame_difference_at(const uint8_t *a, const uint8_t *b, size_t at) {
    return _mm_xor_si128(_mm_loadu_si128((const __m128i *)(const void *)(a + at)),
                         _mm_loadu_si128((const __m128i *)(const void *)(b + at)));
}

// All of the frame's first bytes at once; the last sixteen reach back into those before.
static bool swml_frame_begins_with(const uint8_t *frame, const struct swml_known *known) {
    __m128i difference =
        _mm_or_si128(_mm_or_si128(swml_frame_difference_at(frame, known->bytes, 0),
                                  swml_frame_difference_at(frame, known->bytes, 16)),
                     swml_frame_difference_at(frame, known->bytes, SWML_KNOWN_BYTES - 16));

    return _mm_movemask_epi8(_mm_cmpeq_epi8(difference, _mm_setzero_si128())) == 0xffff;
}

enum swml_reason swml_frame_check_known(const struct swml_flow *flow, struct swml_known *known,
                                        const uint8_t *frame, size_t len,
                                        struct swml_chunk *chunk) {
    enum swml_reason reason;

    if (len >= swml_frame_bytes(flow) && swml_frame_begins_with(frame, known)) {
        read_chunk(frame, SWML_DATA, false, chunk);
        return SWML_ACCEPTED;
    }
    reason = swml_frame_check(flow, frame, len, chunk);
    if (reason == SWML_ACCEPTED && chunk->message == SWML_DATA && !chunk->brief &&
        udp_h_get_checksum(frame + UDP_AT) == 0)
        memcpy(known->bytes, frame, sizeof known->bytes);
    return reason;
}
