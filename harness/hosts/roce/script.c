// SPDX-License-Identifier: Apache-2.0
#include "harness/hosts/roce/script.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "harness/hosts/script_bytes.h"
#include "hosts/core/udp.h"

#define PAIRS 2
#define SLOTS 3
#define K     64
#define BYTES (K * 4)
#define QPN   0x300
#define RKEY  0x77u

static const struct sk_endpoint script_self = {{2, 0, 0, 0, 0, 1}, ROCE_UDP_PORT, 0x0a000001};
static const struct sk_endpoint script_peer = {{2, 0, 0, 0, 1, 0}, ROCE_UDP_PORT, 0x0a0000fe};

// What the script knows of a queue pair's message: how many of its packets have come in order.
struct script_pair {
    uint32_t psn, packets, uses;
};

static void script_same_again(const uint8_t *frame, size_t length) {
    struct roce_packet p;
    uint8_t again[ROCE_MAX_FRAME];

    if (roce_frame_read(frame, length, &script_self, &script_peer, &p) != ROCE_ACCEPTED)
        return;
    if (p.payload < frame || p.payload + p.bytes + 4 > frame + length)
        abort();
    const size_t n = roce_frame_write(again, &script_peer, &script_self, &p);
    // BTH's first byte, and all from its numbers on; flags are not ours
    if (n > length || again[ROCE_BTH_AT] != frame[ROCE_BTH_AT] ||
        memcmp(again + ROCE_BTH_AT + 12, frame + ROCE_BTH_AT + 12, n - ROCE_BTH_AT - 16) != 0)
        abort();
}

static enum roce_reason script_hear(struct roce_worker *w, const uint8_t *frame, size_t length,
                                    struct roce_script_reach *reach) {
    uint8_t *exact = malloc(length ? length : 1);

    if (!exact)
        abort();
    if (length > 0)
        memcpy(exact, frame, length);
    script_same_again(exact, length);
    const enum roce_reason r = roce_worker_read(w, exact, length, 0);
    reach->heard[r]++;
    free(exact);
    return r;
}

// A packet as the switch could send it, or nearly so.
static struct roce_packet script_packet(struct script *in, struct script_pair pairs[PAIRS],
                                        const uint8_t *payload) {
    const uint32_t pair = script_byte(in) % (PAIRS + 1);
    struct script_pair *q = &pairs[pair % PAIRS];
    const uint32_t at = q->packets % SLOTS;
    struct roce_packet p = {
        .opcode = at == 0           ? ROCE_WRITE_FIRST
                  : at == SLOTS - 1 ? ROCE_WRITE_LAST_IMMEDIATE
                                    : ROCE_WRITE_MIDDLE,
        .qpn = QPN + pair,
        .psn = q->psn,
        .address = (uint64_t)(2 * (pair % PAIRS) + q->uses % 2) * SLOTS * BYTES,
        .rkey = RKEY,
        .length = SLOTS * BYTES,
        .payload = payload,
        .bytes = BYTES,
    };
    put16(p.immediate, (uint16_t)q->uses);
    p.immediate[2] = 4; // above that of the worker's elements, if they are floats
    switch (script_byte(in) % 32) {
    case 0:
        p.opcode = ROCE_WRITE_FIRST + script_byte(in) % 6;
        break;
    case 1:
        p.psn += script_byte(in) % 4 - 1u;
        break;
    case 2:
        p.address += script_number(in);
        break;
    case 3:
        p.rkey ^= script_byte(in);
        break;
    case 4:
        p.length += script_byte(in);
        break;
    case 5:
        p.bytes = 4 * (script_number(in) % 257);
        break;
    case 6:
        p.immediate[1] ^= script_byte(in);
        break;
    case 8:
        p.immediate[2] = script_byte(in);
        break;
    case 7:
        p.address = UINT64_MAX - script_byte(in);
        break;
    default:
        break;
    }
    return p;
}

static void script_count(struct script_pair *q, const struct roce_packet *p, enum roce_reason r,
                         uint64_t done, uint64_t done_before) {
    if (r == ROCE_ACCEPTED && roce_begins(p->opcode))
        q->packets = 0;
    if (r == ROCE_ACCEPTED || r == ROCE_STALE || r == ROCE_BAD_EXPONENT)
        q->packets++;
    else if (r == ROCE_OUT_OF_ORDER || r == ROCE_BAD_WRITE)
        q->packets = 0;
    if (r != ROCE_OLD)
        q->psn = (p->psn + 1) & ROCE_PSN_MASK;
    if (done > done_before) {
        if (q->packets != SLOTS && p->opcode != ROCE_WRITE_ONLY_IMMEDIATE)
            abort(); // counted without all its packets
        q->uses++;
    }
    if (roce_ends(p->opcode))
        q->packets = 0;
}

static void script_frames(struct script *in, struct roce_worker *w,
                          struct roce_script_reach *reach) {
    struct script_pair pairs[PAIRS] = {{0, 0, 1}, {0, 0, 1}};
    uint8_t frame[ROCE_MAX_FRAME], payload[ROCE_MAX_PAYLOAD] = {0};

    while (in->at < in->len) {
        const struct roce_packet p = script_packet(in, pairs, payload);
        size_t length = roce_frame_write(frame, &script_peer, &script_self, &p);
        const unsigned change = script_byte(in) % 16;
        if (change < 3)
            frame[script_number(in) % length] ^= script_byte(in);
        if (change == 1 && roce_is(frame, length))
            roce_seal(frame);
        if (change == 3)
            length = script_number(in) % (length + 1);
        const uint64_t before = roce_worker_stats(w).messages_done;
        const enum roce_reason r = script_hear(w, frame, length, reach);
        if (change > 3 && p.qpn < QPN + PAIRS)
            script_count(&pairs[p.qpn - QPN], &p, r, roce_worker_stats(w).messages_done, before);
        else if (change <= 3)
            break; // what the worker took it for is not known
    }
}

void roce_script(const uint8_t *data, size_t size, struct roce_script_reach *reach) {
    static float values[PAIRS * SLOTS * K * 8];
    const struct roce_tensor tensor = {.type = size % 2 ? SILKEN_F32 : SILKEN_I32,
                                       .in = values,
                                       .out = values,
                                       .count = sizeof values / sizeof *values};
    const struct roce_config config = {.worker = script_self,
                                       .fabric = script_peer,
                                       .pairs = PAIRS,
                                       .slots = SLOTS,
                                       .k = K,
                                       .workers = 2,
                                       .qpn = QPN,
                                       .rkey = RKEY,
                                       .rto_first = 1000,
                                       .rto_min = 1000,
                                       .rto_max = 1000,
                                       .limit = 1000000};
    struct script in = {data, size, 0};
    struct roce_worker *w;
    uint8_t frame[ROCE_MAX_FRAME];

    for (size_t i = 0; i < tensor.count; i++)
        values[i] = 1;
    if (roce_worker_new(&w, &config, NULL) < 0 || roce_worker_submit(w, &tensor, 0) < 0)
        abort();
    while (roce_worker_write(w, frame, 0) > 0)
        ;
    if (size <= sizeof frame)
        script_hear(w, data, size, reach);
    script_frames(&in, w, reach);
    reach->messages += roce_worker_stats(w).messages_done;
    roce_worker_free(w);
}
