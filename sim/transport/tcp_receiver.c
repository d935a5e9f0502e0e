// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "sim/transport/tcp.h"

static void tcp_receiver_insert(struct tcp_receiver *r, size_t at) {
    if (r->n == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 8;
        r->beyond = realloc(r->beyond, r->capacity * sizeof *r->beyond);
        if (!r->beyond)
            abort();
    }
    memmove(r->beyond + at + 1, r->beyond + at, (r->n - at) * sizeof *r->beyond);
    r->n++;
}

static void tcp_receiver_remove(struct tcp_receiver *r, size_t at, size_t n) {
    memmove(r->beyond + at, r->beyond + at + n, (r->n - at - n) * sizeof *r->beyond);
    r->n -= n;
}

// What came beyond the first missing byte: one with all that it touches.
static void tcp_receiver_keep(struct tcp_receiver *r, uint64_t from, uint64_t to) {
    size_t i = 0, n = 0;
    while (i < r->n && r->beyond[i].to < from)
        i++;
    while (i + n < r->n && r->beyond[i + n].from <= to) {
        from = r->beyond[i + n].from < from ? r->beyond[i + n].from : from;
        to = r->beyond[i + n].to > to ? r->beyond[i + n].to : to;
        n++;
    }
    if (n)
        tcp_receiver_remove(r, i, n - 1);
    else
        tcp_receiver_insert(r, i);
    r->beyond[i] = (struct tcp_range){from, to};
}

bool tcp_receiver_take(struct tcp_receiver *r, uint64_t sequence, uint32_t length) {
    const uint64_t end = sequence + length;
    if (end <= r->next) {
        r->duplicates += length;
        return false;
    }
    if (sequence > r->next) {
        tcp_receiver_keep(r, sequence, end);
        return false;
    }
    r->next = end;
    while (r->n && r->beyond[0].from <= r->next) {
        r->next = r->beyond[0].to > r->next ? r->beyond[0].to : r->next;
        tcp_receiver_remove(r, 0, 1);
    }
    return true;
}

void tcp_receiver_free(struct tcp_receiver *r) {
    free(r->beyond);
    *r = (struct tcp_receiver){0};
}
