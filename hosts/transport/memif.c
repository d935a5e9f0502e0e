// SPDX-License-Identifier: Apache-2.0
//
// Shared memory with a switch process as a transport, by the driver of memif/: frames are copied
// into the switch's rings and out of them, so what lies in the buffers here nobody else changes.
//
// Nothing tells that a frame came, so wait() receives already, with yields and short sleeps in
// between, and recv() hands up what wait() has found. A client may be opened before its server is
// there, and looks for it until it comes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "hosts/transport/transport.h"
#include "memif/memif.h"

// Apart by more than a frame: places that are a multiple of 2048 bytes apart share few lines of a
// cache.
#define STRIDE (SK_MAX_FRAME + 192)

struct memif_transport {
    struct sk_transport base;
    struct memif *device;
    uint64_t refused;       // frames that the driver could not hand up, of which rx_dropped knows
    unsigned handed, count; // of rx: handed up by recv(), received
    uint8_t *tx[SK_BURST];  // those lent come first
    struct memif_frame rx[SK_BURST];
    _Alignas(64) uint8_t room[2 * SK_BURST][STRIDE];
};

static struct memif_transport *memif_transport_of(struct sk_transport *t) {
    return (struct memif_transport *)t;
}

static size_t memif_transport_lend(struct sk_transport *t, struct sk_frame *frames, size_t n) {
    struct memif_transport *m = memif_transport_of(t);

    for (size_t i = 0; i < n; i++)
        frames[i] = (struct sk_frame){m->tx[i], 0};
    return n;
}

static size_t memif_transport_post(struct sk_transport *t, const struct sk_frame *frames,
                                   size_t n) {
    struct memif_transport *m = memif_transport_of(t);
    struct memif_frame out[SK_BURST];
    uint8_t *gone[SK_BURST];
    size_t sent;

    for (size_t i = 0; i < n; i++)
        out[i] = (struct memif_frame){m->tx[i], frames[i].len};
    sent = memif_send(m->device, out, (unsigned)n);
    memcpy(gone, m->tx, sent * sizeof *gone);
    memmove(m->tx, m->tx + sent, (SK_BURST - sent) * sizeof *m->tx);
    memcpy(m->tx + SK_BURST - sent, gone, sent * sizeof *gone);
    return sent;
}

// What the driver refused since the last time.
static void memif_transport_count(struct memif_transport *m) {
    struct memif_counts counts;

    memif_counts(m->device, &counts);
    m->base.stats.rx_dropped += counts.rx_errors - m->refused;
    m->refused = counts.rx_errors;
}

// With all frames handed up, receives the next ones. Returns whether some wait.
static int memif_transport_waits(void *context) {
    struct memif_transport *m = context;

    if (m->handed == m->count) {
        m->handed = 0;
        m->count = memif_receive(m->device, 0, m->rx, SK_BURST, SK_MAX_FRAME);
        memif_transport_count(m);
    }
    return m->handed < m->count;
}

static size_t memif_transport_recv(struct sk_transport *t, struct sk_frame *frames, size_t n) {
    struct memif_transport *m = memif_transport_of(t);
    size_t got = 0;

    memif_transport_waits(m);
    for (; m->handed < m->count && got < n; m->handed++)
        frames[got++] = (struct sk_frame){m->rx[m->handed].data, m->rx[m->handed].length};
    return got;
}

static void memif_transport_wait(struct sk_transport *t, uint64_t timeout) {
    sk_clock_poll(memif_transport_waits, memif_transport_of(t), timeout);
}

static void memif_transport_close(struct sk_transport *t) {
    struct memif_transport *m = memif_transport_of(t);

    memif_close(m->device);
    free(m);
}

static const struct sk_transport_ops memif_transport_ops = {
    .name = "memif",
    .lend = memif_transport_lend,
    .post = memif_transport_post,
    .recv = memif_transport_recv,
    .wait = memif_transport_wait,
    .close = memif_transport_close,
};

int sk_transport_memif_open(struct sk_transport **t, const char *device, char *why,
                            size_t why_cap) {
    const size_t name = strcspn(device, ",");
    struct memif_options o;
    struct memif_transport *m;
    char wrong[200];

    if (!memif_options_parse(device + name, &o, wrong, sizeof wrong)) {
        snprintf(why, why_cap, "%s: %s", device, wrong);
        return SILKEN_ERR_TRANSPORT;
    }
    snprintf(o.name, sizeof o.name, "%.*s", (int)name, device);
    m = aligned_alloc(64, (sizeof *m + 63) / 64 * 64);
    if (!m) {
        snprintf(why, why_cap, "out of memory");
        return SILKEN_ERR_NOMEM;
    }
    memset(m, 0, sizeof *m);
    m->base.ops = &memif_transport_ops;
    for (unsigned i = 0; i < SK_BURST; i++) {
        m->tx[i] = m->room[i];
        m->rx[i].data = m->room[SK_BURST + i];
    }
    m->device = memif_open(&o, wrong, sizeof wrong);
    if (!m->device) {
        snprintf(why, why_cap, "%s: %s", device, wrong);
        free(m);
        return SILKEN_ERR_TRANSPORT;
    }
    *t = &m->base;
    return 0;
}
