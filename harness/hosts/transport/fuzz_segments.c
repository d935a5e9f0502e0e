// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target: what says how a received message is cut into datagrams, and which frames are
// sent as one (hosts/transport/segments.h). The first byte says which. Received: flags, a length,
// control messages of any form; the datagrams are the message, each once and in its order. Frames:
// bytes before each say its length and which of a few headers it has; those that are one have the
// same addresses and length, but for the last.
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "hosts/core/udp.h"
#include "hosts/transport/segments.h"

#define FRAMES 80u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_require(bool good) {
    if (!good)
        abort();
}

static void fuzz_received(const uint8_t *data, size_t size) {
    struct msghdr m = {.msg_flags = 0};
    struct sk_segments s;
    uint32_t at, bytes, next = 0, length;
    bool first = true;

    if (size < 4)
        return;
    m.msg_flags = (data[0] & 1 ? MSG_TRUNC : 0) | (data[0] & 2 ? MSG_CTRUNC : 0);
    length = get16(data + 1) + (data[0] & 4 ? 1u : 0);
    m.msg_controllen = size - 3;
    m.msg_control = malloc(m.msg_controllen);
    fuzz_require(m.msg_control);
    memcpy(m.msg_control, data + 3, m.msg_controllen);
    if (sk_segments_received(&s, &m, length)) {
        const uint32_t each = s.size;
        while (sk_segments_next(&s, &at, &bytes)) {
            fuzz_require(at == next && (bytes > 0 || (first && length == 0)));
            fuzz_require(bytes == each || at + bytes == length);
            next += bytes;
            first = false;
        }
        fuzz_require(next == length && !first);
    } else {
        fuzz_require(data[0] & 3);
    }
    free(m.msg_control);
}

static void fuzz_fit(const uint8_t *data, size_t size) {
    struct sk_frame frames[FRAMES];
    size_t n = 0;

    for (; n < FRAMES && size >= 3; data += 3, size -= 3, n++) {
        const uint32_t length = get16(data) % (SK_MAX_FRAME + 1);
        frames[n] = (struct sk_frame){calloc(1, SK_MAX_FRAME), length};
        fuzz_require(frames[n].data);
        frames[n].data[SK_UDP_BYTES - 12] = data[2] & 1;
        frames[n].data[SK_UDP_BYTES - 5] = data[2] >> 1 & 1;
        put16(frames[n].data + SK_UDP_BYTES - 4,
              data[2] & 4 ? get16(data) : (uint16_t)(length - SK_UDP_BYTES + 8));
    }
    for (size_t at = 0, k; at < n; at += k) {
        const size_t each = sk_segments_payload(&frames[at]);
        size_t all = each;
        k = sk_segments_fit(frames + at, n - at);
        fuzz_require(k >= 1 && k <= n - at && k <= SK_SEGMENTS_MOST);
        for (size_t i = 1; i < k; i++) {
            const size_t bytes = sk_segments_payload(&frames[at + i]);
            fuzz_require(bytes > 0 && bytes <= each && (bytes == each || i + 1 == k));
            fuzz_require(memcmp(frames[at].data + SK_UDP_BYTES - 12,
                                frames[at + i].data + SK_UDP_BYTES - 12, 8) == 0);
            all += bytes;
        }
        fuzz_require(k == 1 || all <= SK_SEGMENTS_BYTES);
    }
    for (size_t i = 0; i < n; i++)
        free(frames[i].data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1)
        return 0;
    if (data[0] & 1)
        fuzz_received(data + 1, size - 1);
    else
        fuzz_fit(data + 1, size - 1);
    return 0;
}
