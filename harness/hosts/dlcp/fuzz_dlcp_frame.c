// SPDX-License-Identifier: Apache-2.0
//
// fuzz_dlcp_frame: any bytes as a frame of DLCP. Each step of the input changes a good frame: what is
// accepted, written again, has the same body. Nothing behind the frame's end is read (the sanitizers
// see to that).
#include <stdlib.h>
#include <string.h>

#include "harness/hosts/script_bytes.h"
#include "hosts/core/udp.h"
#include "hosts/dlcp/dlcp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct sk_endpoint self = {{2, 0, 0, 0, 0, 1}, DLCP_PORT, 0x0a000001};
static const struct sk_endpoint peer = {{2, 0, 0, 0, 0, 2}, DLCP_PORT, 0x0a000002};

static void fuzz_seal(uint8_t *frame, size_t length) {
    if (length < SK_UDP_BYTES)
        return;
    frame[24] = frame[25] = frame[40] = frame[41] = 0; // no UDP checksum
    const uint16_t sum = sk_checksum(frame + 14, 20);
    frame[24] = (uint8_t)(sum >> 8);
    frame[25] = (uint8_t)sum;
}

static void fuzz_read(const uint8_t *frame, size_t length) {
    static struct dlcp_packet p;
    struct sk_endpoint from;
    uint8_t again[DLCP_FRAME_BYTES], *exact = malloc(length ? length : 1);
    float values[DLCP_ELEMENTS];
    if (!exact)
        abort();
    memcpy(exact, frame, length);
    if (dlcp_frame_read(exact, length, &self, &p, &from) == DLCP_ACCEPTED) {
        if (p.kind == DLCP_DATA) {
            for (unsigned i = 0; i < p.count; i++) {
                const uint8_t *b = p.wire + 4 * (size_t)i;
                const uint32_t bits =
                    (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
                memcpy(&values[i], &bits, sizeof bits);
            }
            p.values = values;
        }
        const size_t bytes = dlcp_frame_write(again, &from, &self, &(struct dlcp_packet){0});
        p.class = p.class < DLCP_CLASSES ? p.class : 0;
        if (bytes != DLCP_HEADERS || dlcp_frame_write(again, &from, &self, &p) > length ||
            memcmp(again + DLCP_HEADERS, exact + DLCP_HEADERS,
                   dlcp_packet_bytes(&p) - DLCP_HEADERS) != 0)
            abort();
    }
    free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct script in = {data, size, 0};
    static struct dlcp_packet p;
    uint8_t frame[DLCP_FRAME_BYTES];
    if (size <= sizeof frame)
        fuzz_read(data, size);
    while (in.at < in.len) {
        p = (struct dlcp_packet){.kind = (enum dlcp_kind)(script_byte(&in) % 16)};
        p.count = (uint16_t)(script_number(&in) % (p.kind == DLCP_DATA ? 364 : 182));
        size_t length = dlcp_frame_write(frame, &peer, &self, &p);
        for (unsigned n = script_byte(&in) % 4; n > 0; n--)
            frame[script_number(&in) % length] ^= script_byte(&in);
        if (script_byte(&in) % 4)
            fuzz_seal(frame, length);
        if (script_byte(&in) % 4 == 0)
            length = script_number(&in) % (length + 1);
        fuzz_read(frame, length);
    }
    return 0;
}
