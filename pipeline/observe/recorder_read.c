// SPDX-License-Identifier: Apache-2.0
#include "pipeline/observe/recorder_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

struct ring_reader {
    struct record_ring *ring;
    uint64_t at, published, horizon;
    uint32_t total;  // bytes of the first record: what was checked, whatever lies in memory later
    uint32_t taking; // of the record that was given out last
};

struct sk_record_reader {
    struct record_memory *memory;
    size_t bytes; // of its own mapping; 0: it is the recorder's
    uint64_t mask;
    unsigned n;
    bool ending;    // no more is put
    bool senseless; // the memory is
    struct ring_reader rings[RECORD_RINGS];
};

static struct sk_record_reader *recorder_read_make(struct record_memory *m, uint64_t ring_bytes,
                                                   unsigned n) {
    struct sk_record_reader *r = calloc(1, sizeof *r);
    if (!r)
        abort();
    r->memory = m;
    r->mask = ring_bytes - 1;
    r->n = n;
    for (unsigned i = 0; i < n; i++)
        r->rings[i].ring = record_ring_of(m, i, ring_bytes);
    return r;
}

struct sk_record_reader *sk_record_reader_of(struct sk_recorder *recorder) {
    struct record_memory *m = recorder_memory(recorder);
    return recorder_read_make(m, m->ring_bytes, m->n_rings);
}

struct sk_record_reader *sk_record_reader_open(int fd, char *error, size_t error_size) {
    struct stat st;
    struct record_memory *m = MAP_FAILED;
    if (fstat(fd, &st) == 0 && st.st_size >= (off_t)RECORD_PAGE)
        m = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (m == MAP_FAILED) {
        snprintf(error, error_size, "cannot map the memory that the switch records into: %s",
                 strerror(errno));
        return NULL;
    }
    const uint64_t bytes = m->ring_bytes;
    const unsigned n = m->n_rings;
    if (m->magic != RECORD_MAGIC || n < 1 || n > RECORD_RINGS || bytes > SK_RECORDER_MAX_RING ||
        bytes < RECORD_LINE || bytes & (bytes - 1) ||
        record_memory_bytes(n, bytes) != (size_t)st.st_size) {
        munmap(m, (size_t)st.st_size);
        snprintf(error, error_size, "the memory that the switch records into is invalid");
        return NULL;
    }
    struct sk_record_reader *r = recorder_read_make(m, bytes, n);
    r->bytes = (size_t)st.st_size;
    return r;
}

void sk_record_reader_close(struct sk_record_reader *r) {
    if (r && r->bytes)
        munmap(r->memory, r->bytes);
    free(r);
}

// The first record that is not taken, or null. What lies in memory is checked: it is not ours
// alone.
static const struct record *recorder_read_first(struct sk_record_reader *r,
                                                struct ring_reader *ring) {
    for (;;) {
        if (ring->at == ring->published) {
            // The time first: what came before it is then seen in the position.
            ring->horizon = atomic_load_explicit(&ring->ring->horizon, memory_order_acquire);
            ring->published = atomic_load_explicit(&ring->ring->published, memory_order_acquire);
            if (ring->at == ring->published)
                return NULL;
        }
        const uint64_t at = ring->at & r->mask, room = r->mask + 1 - at;
        const struct record *record = (const struct record *)(ring->ring->data + at);
        const uint64_t total = record->total;
        if (total < RECORD_LINE || total % RECORD_LINE || total > room ||
            total > ring->published - ring->at || ring->published - ring->at > r->mask + 1) {
            r->senseless = true;
            return NULL;
        }
        ring->total = (uint32_t)total;
        if (record->kind != RECORD_SKIP)
            return record;
        ring->at += total;
    }
}

static void recorder_read_give_back(struct ring_reader *ring) {
    if (ring->taking == 0)
        return;
    ring->at += ring->taking;
    ring->taking = 0;
    // Release: it was read before it is written again.
    atomic_store_explicit(&ring->ring->taken, ring->at, memory_order_release);
}

static bool recorder_read_fill(struct sk_record_reader *r, const struct record *from,
                               uint32_t total, struct sk_record *out) {
    *out = (struct sk_record){.kind = (enum sk_record_kind)from->kind,
                              .time_ns = from->time_ns,
                              .serial = from->serial,
                              .port = from->port,
                              .ingress_port = from->ingress_port,
                              .bytes = from->bytes,
                              .length = from->length,
                              .wire_length = from->wire_length,
                              .lost = from->lost,
                              .n_drops = from->n_drops,
                              .more_drops = from->more_drops};
    if (out->kind > SK_RECORD_NOTE || out->port >= SK_PORTS || out->n_drops > SK_RECORD_DROPS ||
        out->length > total - RECORD_LINE) {
        r->senseless = true;
        return false;
    }
    for (unsigned i = 0; i < out->n_drops; i++) {
        out->drops[i] = (struct sk_record_drop){from->drops[i].port, from->drops[i].reason};
        r->senseless |= out->drops[i].reason >= SK_DROP_COUNT;
    }
    return !r->senseless;
}

bool sk_record_next(struct sk_record_reader *r, struct sk_record *out) {
    struct ring_reader *best = NULL;
    const struct record *record = NULL;
    uint64_t waited_for = UINT64_MAX; // the earliest time at which an empty ring may go on
    // Acquire: who sees the end sees all records.
    const bool ending =
        r->ending || atomic_load_explicit(&r->memory->ended, memory_order_acquire) != 0;
    for (unsigned i = 0; i < r->n; i++)
        recorder_read_give_back(&r->rings[i]);
    for (unsigned i = 0; i < r->n && !r->senseless; i++) {
        struct ring_reader *ring = &r->rings[i];
        const struct record *head = recorder_read_first(r, ring);
        if (!head)
            waited_for = ring->horizon < waited_for ? ring->horizon : waited_for;
        else if (!record || head->time_ns < record->time_ns) {
            best = ring;
            record = head;
        }
    }
    r->ending = ending;
    if (r->senseless || !record || (!ending && record->time_ns >= waited_for))
        return false;
    best->taking = best->total;
    return recorder_read_fill(r, record, best->total, out);
}

bool sk_record_ended(const struct sk_record_reader *r) {
    bool all = r->ending;
    for (unsigned i = 0; all && i < r->n; i++)
        all = r->rings[i].taking == 0 && r->rings[i].at == r->rings[i].published;
    return all || r->senseless;
}

void sk_record_abandoned(struct sk_record_reader *r) {
    r->ending = true;
}

uint64_t sk_record_lost(const struct sk_record_reader *r, uint16_t port) {
    uint64_t n = 0;
    for (unsigned i = 0; i < r->n; i++)
        for (uint16_t p = port < SK_PORTS ? port : 0; p < SK_PORTS; p++) {
            n += atomic_load_explicit(&r->rings[i].ring->lost[p], memory_order_relaxed);
            if (port < SK_PORTS)
                break;
        }
    return n;
}
