// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memif/memif_impl.h"

#define SECOND UINT64_C(1000000000)

// ---- the link ----

bool memif_link_up(struct memif *m, const struct memif_session *s) {
    struct memif_link *l = malloc(sizeof *l);
    if (!l)
        return false;
    memif_link_begin(l, s);
    m->link = l;
    atomic_store_explicit(&m->up, true, memory_order_release);
    return true;
}

void memif_link_down(struct memif *m) {
    atomic_store(&m->up, false);
    while (atomic_exchange_explicit(&m->held, true, memory_order_acquire))
        sched_yield(); // a burst ends
    free(m->link);
    m->link = NULL;
    atomic_store(&m->fault, MEMIF_NO_FAULT); // the next peer's are its own
    memif_release(m);
}

bool memif_link(const struct memif *m) {
    return atomic_load_explicit(&m->up, memory_order_relaxed) &&
           atomic_load_explicit(&m->fault, memory_order_relaxed) == MEMIF_NO_FAULT;
}

// ---- what a peer did ----

void memif_blame(struct memif *m, enum memif_fault fault, uint64_t a, uint64_t b) {
    if (atomic_load_explicit(&m->fault, memory_order_relaxed))
        return;
    m->a = a;
    m->b = b;
    atomic_store_explicit(&m->fault, (int)fault, memory_order_release);
    memif_sockets_wake();
}

void memif_fault_text(const struct memif *m, char *out, size_t size) {
    const unsigned long long a = m->a, b = m->b;
    switch (atomic_load_explicit(&m->fault, memory_order_acquire)) {
    case MEMIF_FAULT_POSITION:
        snprintf(out, size, "is %llu descriptors ahead in a ring of %llu", a, b);
        break;
    case MEMIF_FAULT_REGION:
        snprintf(out, size, "has a descriptor with region %llu, and passed %llu", a, b);
        break;
    case MEMIF_FAULT_PLACE:
        snprintf(out, size, "has a descriptor with %llu bytes at %llu, outside its region", b, a);
        break;
    case MEMIF_FAULT_LENGTH:
        snprintf(out, size, "has a descriptor with %llu bytes in a buffer of %llu", a, b);
        break;
    default:
        snprintf(out, size, "has a frame of %llu descriptors or more", a);
    }
}

void memif_say(struct memif *m, uint64_t now, const char *format, ...) {
    char line[MEMIF_LINE];
    if (!m->o.say)
        return;
    if (now < m->next_line) {
        m->unsaid++;
        return;
    }
    va_list ap;
    va_start(ap, format);
    int used = vsnprintf(line, sizeof line, format, ap);
    va_end(ap);
    used = used < (int)sizeof line ? used : (int)sizeof line - 1;
    if (m->unsaid)
        snprintf(line + used, sizeof line - (size_t)used, " (and %llu such lines before it)",
                 (unsigned long long)m->unsaid);
    m->unsaid = 0;
    m->next_line = now + SECOND;
    m->o.say(m->o.aux, line);
}

void memif_counts(const struct memif *m, struct memif_counts *out) {
    out->closed = atomic_load_explicit(&m->closed, memory_order_relaxed);
    out->rx_errors = atomic_load_explicit(&m->rx_errors, memory_order_relaxed);
    out->tx_errors = atomic_load_explicit(&m->tx_errors, memory_order_relaxed);
}

// ---- opening and closing ----

struct memif *memif_open(const struct memif_options *o, char *error, size_t error_size) {
    struct memif *m = calloc(1, sizeof *m);
    if (!m) {
        snprintf(error, error_size, "not enough memory");
        return NULL;
    }
    m->o = *o;
    memif_bell_open(&m->bell);
    if (memif_sockets_add(m, error, error_size))
        return m;
    memif_bell_close(&m->bell);
    free(m);
    return NULL;
}

void memif_close(struct memif *m) {
    if (!m)
        return;
    memif_sockets_remove(m);
    memif_bell_close(&m->bell);
    free(m);
}
