// SPDX-License-Identifier: Apache-2.0
#include "pipeline/observe/recorder_impl.h"

#include <assert.h>
#include <emmintrin.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pipeline/switch/switch_impl.h"

#define SMALLEST_RING (UINT64_C(64) << 10)

struct sk_recorder {
    int fd;
    struct record_memory *memory;
    size_t bytes;
    unsigned n_cores, n_rings;
    bool ports[SK_PORTS];
    struct sk_filter *filter;
    struct recorder_core cores[]; // n_rings: that of the notes is behind those of the cores
};

// ---- making and ending ----

// Taken now, and mapped now: a pipe finds every page there.
static bool take_memory(struct sk_recorder *r, char *error, size_t error_size) {
    r->fd = memfd_create("silken-record", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int rc = r->fd < 0 ? errno : posix_fallocate(r->fd, 0, (off_t)r->bytes);
    if (rc == 0 && fcntl(r->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
        rc = errno;
    if (rc == 0) {
        r->memory =
            mmap(NULL, r->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, r->fd, 0);
        if (r->memory == MAP_FAILED) {
            r->memory = NULL;
            rc = errno;
        }
    }
    if (rc)
        snprintf(error, error_size, "cannot get %zu MiB of memory to record into: %s",
                 r->bytes >> 20, strerror(rc));
    return rc == 0;
}

struct sk_recorder *sk_recorder_new(const struct sk_recorder_options *opt, char *error,
                                    size_t error_size) {
    uint64_t ring_bytes = SMALLEST_RING, wanted = opt->ring_bytes;
    wanted = wanted ? wanted : SK_RECORDER_RING;
    assert(opt->n_cores >= 1 && opt->n_cores <= SK_PIPES);
    if (wanted > SK_RECORDER_MAX_RING) {
        snprintf(error, error_size,
                 "a ring of %llu MiB to record into is too large; the largest is %llu",
                 (unsigned long long)wanted >> 20, (unsigned long long)SK_RECORDER_MAX_RING >> 20);
        sk_filter_free(opt->filter);
        return NULL;
    }
    while (ring_bytes < wanted)
        ring_bytes *= 2;
    const unsigned n_rings = opt->n_cores + opt->notes;
    struct sk_recorder *r = calloc(1, sizeof *r + n_rings * sizeof r->cores[0]);
    if (!r)
        abort();
    r->n_cores = opt->n_cores;
    r->n_rings = n_rings;
    r->filter = opt->filter;
    r->bytes = record_memory_bytes(n_rings, ring_bytes);
    if (!take_memory(r, error, error_size)) {
        sk_recorder_free(r);
        return NULL;
    }
    for (unsigned port = 0; port < SK_PORTS; port++)
        r->ports[port] = !opt->ports || opt->ports[port];
    r->memory->magic = RECORD_MAGIC;
    r->memory->ring_bytes = ring_bytes;
    r->memory->n_rings = n_rings;
    for (unsigned c = 0; c < n_rings; c++)
        r->cores[c] = (struct recorder_core){.ring = record_ring_of(r->memory, c, ring_bytes),
                                             .mask = ring_bytes - 1,
                                             .snaplen = opt->snaplen ? opt->snaplen : UINT32_MAX,
                                             .ports = r->ports,
                                             .filter = r->filter};
    return r;
}

void sk_recorder_free(struct sk_recorder *r) {
    if (!r)
        return;
    if (r->memory)
        munmap(r->memory, r->bytes);
    if (r->fd >= 0)
        close(r->fd);
    sk_filter_free(r->filter);
    free(r);
}

int sk_recorder_fd(const struct sk_recorder *r) {
    return r->fd;
}

struct recorder_core *recorder_core(struct sk_recorder *r, unsigned core) {
    return &r->cores[core];
}

struct record_memory *recorder_memory(struct sk_recorder *r) {
    return r->memory;
}

void sk_switch_record(struct sk_switch *sw, struct sk_recorder *r) {
    struct sk_recorder *before = sw->recording;
    assert(!r || r->n_cores == sw->n_cores);
    for (unsigned c = 0; c < sw->n_cores; c++) {
        struct sk_core *core = sw->cores[c];
        if (before)
            recorder_publish(core->recorder, core->now);
        core->recorder = r ? recorder_core(r, c) : NULL;
    }
    sw->recording = r;
    // Release: the last records are visible to who sees the end.
    if (before)
        atomic_store_explicit(&before->memory->ended, 1, memory_order_release);
}

// ---- putting ----

// Whole lines go past the caches: nobody on this core reads them again.
static void copy_aside(uint8_t *to, const uint8_t *from, uint32_t n) {
    for (; n >= RECORD_LINE; n -= RECORD_LINE, to += RECORD_LINE, from += RECORD_LINE)
        for (unsigned i = 0; i < RECORD_LINE; i += sizeof(__m128i))
            _mm_stream_si128((__m128i *)(to + i), _mm_loadu_si128((const __m128i *)(from + i)));
    memcpy(to, from, n);
}

static void recorder_lose(struct recorder_core *c, uint16_t port) {
    c->lost += c->lost < UINT32_MAX;
    atomic_store_explicit(&c->ring->lost[port], ++c->lost_of[port], memory_order_relaxed);
}

// Ignores an impossible read position: the reader's memory is not trusted.
static bool look_again(struct recorder_core *c, uint64_t need) {
    // Acquire: the reader has read what is overwritten now.
    uint64_t taken = atomic_load_explicit(&c->ring->taken, memory_order_acquire);
    if (c->put - taken <= c->mask + 1)
        c->taken_seen = taken;
    return c->put + need - c->taken_seen <= c->mask + 1;
}

// Room for a record with so many bytes at the current position, or null when the ring is full.
static struct record *reserve(struct recorder_core *c, uint32_t bytes) {
    uint64_t at = c->put & c->mask, to_end = c->mask + 1 - at;
    uint32_t total = (RECORD_LINE + bytes + RECORD_LINE - 1) & ~(RECORD_LINE - 1);
    uint64_t need = total <= to_end ? total : to_end + total;
    if (c->put + need - c->taken_seen > c->mask + 1 && !look_again(c, need))
        return NULL;
    struct record *r = (struct record *)(c->ring->data + at);
    if (total > to_end) {
        r->kind = RECORD_SKIP;
        r->total = (uint32_t)to_end;
        c->put += to_end;
        r = (struct record *)c->ring->data;
    }
    c->reserved = total;
    return r;
}

static struct record *recorder_head(struct recorder_core *c, enum sk_record_kind kind,
                                    uint16_t port, uint32_t length, uint64_t serial,
                                    uint64_t now_ns) {
    struct record *r = reserve(c, length);
    if (!r) {
        recorder_lose(c, port);
        return NULL;
    }
    *r = (struct record){.time_ns = now_ns,
                         .serial = serial,
                         .total = c->reserved,
                         .length = length,
                         .lost = c->lost,
                         .port = port,
                         .ingress_port = port,
                         .kind = (uint8_t)kind};
    return r;
}

static void commit(struct recorder_core *c) {
    c->put += c->reserved;
    c->lost = 0;
}

static bool recorder_wants(const struct recorder_core *c, uint16_t port, const uint8_t *frame,
                           uint32_t length, uint32_t wire_length) {
    return c->ports[port] &&
           (!c->filter || sk_filter_matches(c->filter, frame, length, wire_length));
}

void recorder_received(struct recorder_core *c, uint16_t port, const uint8_t *frame,
                       uint32_t length, uint32_t wire_length, uint64_t serial, uint64_t now_ns) {
    if (!recorder_wants(c, port, frame, length, wire_length))
        return;
    length = length < c->snaplen ? length : c->snaplen;
    struct record *r = recorder_head(c, SK_RECORD_RECEIVED, port, length, serial, now_ns);
    if (!r)
        return;
    r->wire_length = wire_length;
    copy_aside(r->bytes, frame, length);
    c->recent[serial % RECORD_RECENT].serial = serial;
    c->recent[serial % RECORD_RECENT].at = c->put;
    commit(c);
}

bool recorder_sending(struct recorder_core *c, const struct sk_packet *p, uint64_t now_ns) {
    const uint16_t port = p->egress_port;
    if (!recorder_wants(c, port, sk_packet_data(p), p->len, p->len))
        return false;
    uint32_t length = p->len < c->snaplen ? p->len : c->snaplen;
    struct record *r = recorder_head(c, SK_RECORD_SENT, port, length, p->serial, now_ns);
    if (!r)
        return false;
    r->wire_length = p->len;
    r->ingress_port = p->ingress_port;
    copy_aside(r->bytes, sk_packet_data(p), length);
    return true;
}

static void add_drop(struct record *r, uint16_t port, enum sk_drop_reason reason) {
    if (r->n_drops < SK_RECORD_DROPS)
        r->drops[r->n_drops++] = (struct record_drop){.port = port, .reason = (uint8_t)reason};
    else if (r->more_drops < UINT16_MAX)
        r->more_drops++;
}

void recorder_sent(struct recorder_core *c, bool taken) {
    struct record *r = (struct record *)(c->ring->data + (c->put & c->mask));
    if (!taken)
        add_drop(r, r->port, SK_DROP_TX_FULL);
    commit(c);
}

static void recorder_note(struct recorder_core *c, const struct sk_packet *p, uint16_t port,
                          enum sk_drop_reason reason, uint64_t now_ns) {
    port = port < SK_PORTS ? port : p->ingress_port;
    if (!recorder_wants(c, port % SK_PORTS, sk_packet_data(p), p->len, p->len))
        return;
    struct record *r = recorder_head(c, SK_RECORD_DROPPED, port % SK_PORTS, 0, p->serial, now_ns);
    if (!r)
        return;
    r->wire_length = p->len;
    r->ingress_port = p->ingress_port;
    add_drop(r, port, reason);
    commit(c);
}

void recorder_dropped(struct recorder_core *c, const struct sk_packet *p, uint16_t port,
                      enum sk_drop_reason reason, uint64_t now_ns) {
    const uint64_t i = p->serial % RECORD_RECENT;
    if (c->recent[i].serial == p->serial && c->recent[i].at >= c->published) {
        add_drop((struct record *)(c->ring->data + (c->recent[i].at & c->mask)), port, reason);
        return;
    }
    recorder_note(c, p, port, reason, now_ns);
}

void recorder_unsent(struct recorder_core *c, const struct sk_packet *p, uint16_t port,
                     uint64_t now_ns) {
    recorder_note(c, p, port, SK_DROP_TX_FULL, now_ns);
    recorder_publish(c, now_ns);
}

void recorder_publish(struct recorder_core *c, uint64_t now_ns) {
    if (c->published != c->put) {
        _mm_sfence(); // what went past the caches is there before the position
        c->published = c->put;
        atomic_store_explicit(&c->ring->published, c->put, memory_order_release);
    }
    atomic_store_explicit(&c->ring->horizon, now_ns, memory_order_release);
}

// ---- notes ----

void sk_record_note(struct sk_recorder *r, uint16_t port, const char *text, uint32_t length,
                    uint64_t now_ns) {
    struct recorder_core *c = &r->cores[r->n_cores];
    assert(r->n_rings > r->n_cores);
    struct record *record = recorder_head(c, SK_RECORD_NOTE, port, length, 0, now_ns);
    if (record) {
        memcpy(record->bytes, text, length);
        commit(c);
    }
    recorder_publish(c, now_ns);
}

void sk_record_quiet(struct sk_recorder *r, uint64_t now_ns) {
    recorder_publish(&r->cores[r->n_cores], now_ns);
}
