// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "harness/hosts/dlcp/scripts.h"
#include "harness/hosts/script_bytes.h"
#include "hosts/core/udp.h"

static const struct sk_endpoint self = {{2, 0, 0, 0, 0, 1}, DLCP_PORT, 0x0a000001};
static const struct sk_endpoint peer = {{2, 0, 0, 0, 0, 2}, DLCP_PORT, 0x0a000002};

static void script_seal(uint8_t *frame, size_t length) {
    if (length < SK_UDP_BYTES)
        return;
    frame[24] = frame[25] = frame[40] = frame[41] = 0; // no UDP checksum
    const uint16_t sum = sk_checksum(frame + 14, 20);
    frame[24] = (uint8_t)(sum >> 8);
    frame[25] = (uint8_t)sum;
}

static void script_write_again(struct dlcp_packet *p, const struct sk_endpoint *from,
                               const uint8_t *frame, size_t length) {
    uint8_t again[DLCP_FRAME_BYTES];
    float values[DLCP_ELEMENTS];
    if (p->kind == DLCP_DATA) {
        for (unsigned i = 0; i < p->count; i++) {
            const uint8_t *b = p->wire + 4 * (size_t)i;
            const uint32_t bits =
                (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
            memcpy(&values[i], &bits, sizeof bits);
        }
        p->values = values;
    }
    p->class = p->class < DLCP_CLASSES ? p->class : 0;
    if (dlcp_frame_write(again, from, &self, p) > length ||
        memcmp(again + DLCP_HEADERS, frame + DLCP_HEADERS, dlcp_packet_bytes(p) - DLCP_HEADERS) !=
            0)
        abort();
}

static void script_read(const uint8_t *frame, size_t length, struct script_reach *reach) {
    static struct dlcp_packet p;
    struct sk_endpoint from;
    uint8_t *exact = malloc(length ? length : 1);
    if (!exact)
        abort();
    if (length)
        memcpy(exact, frame, length);
    const enum dlcp_reason reason = dlcp_frame_read(exact, length, &self, &p, &from);
    reach->heard[reason]++;
    if (reason == DLCP_ACCEPTED)
        script_write_again(&p, &from, exact, length);
    free(exact);
}

void script_frame(const uint8_t *data, size_t size, struct script_reach *reach) {
    struct script in = {data, size, 0};
    static struct dlcp_packet p;
    uint8_t frame[DLCP_FRAME_BYTES];
    if (size <= sizeof frame)
        script_read(data, size, reach);
    while (in.at < in.len) {
        p = (struct dlcp_packet){.kind = (enum dlcp_kind)(script_byte(&in) % 16)};
        p.count = (uint16_t)(script_number(&in) % (p.kind == DLCP_DATA ? 364 : 182));
        size_t length = dlcp_frame_write(frame, &peer, &self, &p);
        for (unsigned n = script_byte(&in) % 4; n > 0; n--)
            frame[script_number(&in) % length] ^= script_byte(&in);
        if (script_byte(&in) % 4)
            script_seal(frame, length);
        if (script_byte(&in) % 4 == 0)
            length = script_number(&in) % (length + 1);
        script_read(frame, length, reach);
    }
}
