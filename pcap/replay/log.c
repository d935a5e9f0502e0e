// SPDX-License-Identifier: Apache-2.0
#include "pcap/replay/log.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "pipeline/switch/core.h"

// A line, or with 'length' 0 a violation.
struct entry {
    uint64_t time_ns;
    size_t at, length; // in the pipe's text
    uint64_t serial;
    uint8_t passes, resubmits;
    struct sk_event event; // what it points to lives as long as the program
};

struct pipe_log {
    struct sk_observer observer; // first: its address is ours
    const struct sk_core *core;
    struct entry *list;
    size_t n, room, given;
    char *text;
    size_t text_length, text_room;
};

struct replay_log {
    struct pipe_log pipes[SK_PIPES];
    bool exact;
    bool waits; // some port has a speed
};

static struct entry *replay_log_add(struct pipe_log *p, uint64_t serial) {
    p->list = sk_grow(p->list, p->n, &p->room, sizeof *p->list);
    struct entry *e = &p->list[p->n++];
    e->time_ns = sk_core_now(p->core);
    e->serial = serial;
    e->length = 0;
    return e;
}

static void replay_log_on_event(struct sk_observer *o, const struct sk_packet *p,
                                const struct sk_event *e) {
    if (e->kind != SK_EV_VIOLATION)
        return;
    struct entry *entry = replay_log_add((struct pipe_log *)o, p->serial);
    entry->passes = p->passes;
    entry->resubmits = p->resubmits;
    entry->event = *e;
}

static bool has_speeds(const struct sk_switch *sw) {
    struct sk_port_queue q;
    for (uint16_t port = 0; port < SK_PORTS; port++) {
        sk_switch_port_queue_get(sw, port, &q);
        if (q.speed_mbps)
            return true;
    }
    return false;
}

struct replay_log *replay_log_new(const struct sk_switch *sw, bool exact) {
    struct replay_log *log = calloc(1, sizeof *log);
    if (!log)
        abort();
    log->exact = exact;
    log->waits = has_speeds(sw);
    for (unsigned i = 0; i < SK_PIPES; i++) {
        log->pipes[i].observer.event = replay_log_on_event;
        log->pipes[i].core = sk_switch_core((struct sk_switch *)sw, i);
    }
    return log;
}

void replay_log_free(struct replay_log *log) {
    for (unsigned i = 0; log && i < SK_PIPES; i++) {
        free(log->pipes[i].list);
        free(log->pipes[i].text);
    }
    free(log);
}

void replay_log_line(struct replay_log *log, unsigned pipe, uint64_t serial, const char *text,
                     size_t length) {
    struct pipe_log *p = &log->pipes[pipe];
    p->text = sk_grow_bytes(p->text, p->text_length, length, &p->text_room);
    struct entry *e = replay_log_add(p, serial);
    e->at = p->text_length;
    e->length = length;
    memcpy(p->text + e->at, text, length);
    p->text_length += length;
}

struct sk_observer *replay_log_observer(struct replay_log *log, unsigned pipe) {
    return &log->pipes[pipe].observer;
}

static void replay_log_give(const struct pipe_log *p, const struct entry *e, FILE *lines,
                            struct sk_observer *observer) {
    if (e->length) {
        fwrite(p->text + e->at, 1, e->length, lines);
        return;
    }
    const struct sk_packet packet = {
        .serial = e->serial, .passes = e->passes, .resubmits = e->resubmits};
    observer->event(observer, &packet, &e->event);
}

static bool replay_log_before(const struct replay_log *log, const struct entry *a,
                              const struct entry *b) {
    if (a->time_ns != b->time_ns || !log->exact)
        return a->time_ns < b->time_ns;
    return a->serial < b->serial;
}

// Of which pipe the next entry is, or null. 'known' becomes false when that is not known.
static struct pipe_log *first_of(struct replay_log *log, bool *known) {
    struct pipe_log *first = NULL;
    for (unsigned i = 0; i < SK_PIPES; i++) {
        struct pipe_log *p = &log->pipes[i];
        if (p->given == p->n)
            continue;
        const struct entry *own = &p->list[p->given];
        const struct entry *other = first ? &first->list[first->given] : NULL;
        if (other && log->exact && log->waits && other->time_ns == own->time_ns)
            *known = false;
        if (!other || replay_log_before(log, own, other))
            first = p;
    }
    return first;
}

bool replay_log_merge(struct replay_log *log, FILE *lines, struct sk_observer *observer) {
    struct pipe_log *p;
    bool known = true;
    while ((p = first_of(log, &known)) && known) {
        const struct entry *e = &p->list[p->given++];
        // it would be told a second time when something else is found to be wrong later
        if (log->exact && !e->length)
            known = false;
        else
            replay_log_give(p, e, lines, observer);
    }
    for (unsigned i = 0; i < SK_PIPES; i++)
        log->pipes[i].n = log->pipes[i].given = log->pipes[i].text_length = 0;
    return known;
}
