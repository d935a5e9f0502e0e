// SPDX-License-Identifier: Apache-2.0
#include "control/watch/watch.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "control/state/jobs.h"
#include "control/tables/names.h"

// Not in the middle of a character.
static void copy_name(char out[SK_WATCH_NAME], const char *name) {
    size_t n = name ? strlen(name) : 0;
    if (n >= SK_WATCH_NAME)
        for (n = SK_WATCH_NAME - 1; n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80;)
            n--;
    if (n > 0)
        memcpy(out, name, n);
    out[n] = 0;
}

static const struct sk_config_port *watch_configured(const struct sk_service *s, uint16_t port) {
    for (size_t i = 0; i < s->n_ports; i++)
        if (s->ports[i].port == port)
            return &s->ports[i];
    return NULL;
}

void sk_watch_name(const struct sk_service *s, uint16_t port, char out[SK_WATCH_NAME]) {
    const struct sk_config_port *c = watch_configured(s, port);
    copy_name(out, c ? c->name : NULL);
}

static void take_queues(const struct sk_switch *sw, struct sk_watch_port *p) {
    sk_switch_port_queue_get(sw, p->port, &p->queue);
    for (unsigned q = 0; p->queue.speed_mbps && q < SK_PORT_QUEUES; q++) {
        const uint32_t cells = sk_switch_port_depth(sw, p->port, q);
        p->cells += cells;
        if (cells > p->deepest_cells) {
            p->deepest_cells = cells;
            p->deepest = (uint16_t)q;
        }
    }
}

static void take_refused(struct sk_watch *w, const struct sk_switch *sw, uint16_t port) {
    struct sk_queue_counts n;
    for (unsigned q = 0; q < SK_PORT_QUEUES && sk_switch_queue_counts(sw, port, q, &n); q++)
        for (unsigned i = 0; i < SK_COLORS * SK_QUEUE_DROPS; i++) {
            const unsigned color = i / SK_QUEUE_DROPS, why = i % SK_QUEUE_DROPS;
            if (n.refused[color][why] == 0)
                continue;
            w->refused = sk_grow(w->refused, w->n_refused, &w->room_refused, sizeof *w->refused);
            w->refused[w->n_refused++] =
                (struct sk_watch_refused){.port = w->n_ports,
                                          .qid = (uint16_t)q,
                                          .color = (uint8_t)color,
                                          .reason = (enum sk_drop_reason)(SK_DROP_QUEUE_FULL + why),
                                          .packets = n.refused[color][why]};
        }
}

static void take_pools(struct sk_watch *w, const struct sk_switch *sw) {
    for (unsigned i = 0; i < SK_APP_POOLS; i++) {
        sk_switch_app_pool_get(sw, i, &w->pools[i]);
        w->pools_used[i] = sk_switch_app_pool_used(sw, i);
    }
}

// Ports that are configured, up, or have counted something.
static void take_ports(struct sk_watch *w, const struct sk_service *s) {
    static const struct sk_port_stats nothing;
    w->n_ports = w->n_refused = 0;
    for (uint16_t port = 0; port < SK_PORTS; port++) {
        const struct sk_config_port *c = watch_configured(s, port);
        struct sk_watch_port p = {.port = port};
        sk_switch_port_stats(s->sw, port, &p.stats);
        p.up = sk_switch_port_is_up(s->sw, port);
        if (!c && !p.up && memcmp(&p.stats, &nothing, sizeof nothing) == 0)
            continue;
        p.loopback = sk_switch_port_is_loopback(s->sw, port);
        copy_name(p.name, c ? c->name : NULL);
        take_queues(s->sw, &p);
        take_refused(w, s->sw, port);
        w->ports = sk_grow(w->ports, w->n_ports, &w->room_ports, sizeof *w->ports);
        w->ports[w->n_ports++] = p;
    }
}

static void take_tables(struct sk_watch *w, struct sk_switch *sw) {
    struct sk_object o;
    w->n_tables = 0;
    for (size_t i = 0; sk_object_at(sw, SK_TABLE, i, &o); i++) {
        const struct sk_table_desc *d = o.desc->tables[o.index];
        for (unsigned pipe = 0; pipe < SK_PIPES && !d->hidden; pipe++) {
            if (!sk_object_in_pipe(sw, &o, pipe))
                continue;
            w->tables = sk_grow(w->tables, w->n_tables, &w->room_tables, sizeof *w->tables);
            const struct sk_table *t = o.desc->table(sk_switch_pipe(sw, pipe), o.index);
            w->tables[w->n_tables++] =
                (struct sk_watch_table){.name = d->name,
                                        .pipe = (uint8_t)pipe,
                                        .entries = sk_table_count(t),
                                        .size = d->size,
                                        .fixed = d->const_entries || sk_table_is_filled(t)};
        }
    }
}

void sk_watch_take(struct sk_watch *w, const struct sk_service *s) {
    const uint64_t from = sk_clock_now();
    struct sk_pauses pauses = {
        .pause = s->pause, .resume = s->resume_same ? s->resume_same : s->resume, .aux = s->aux};
    sk_pauses_begin(&pauses);
    const struct sk_program_desc *d = sk_switch_program(s->sw);
    w->clock = s->now;
    w->program = d->path;
    w->cell_bytes = d->ingress_prefix == SK_INGRESS_PREFIX_2 ? 176 : 80;
    sk_switch_stats(s->sw, &w->stats);
    w->inside = sk_switch_inside(s->sw);
    w->remembered = sk_switch_remembered(s->sw);
    w->buffers_free = sk_switch_buffers_free(s->sw);
    take_ports(w, s);
    take_pools(w, s->sw);
    sk_pauses_end(&pauses);
    w->pause_ns = sk_clock_now() - from;
    for (size_t i = 0; i < w->n_ports; i++)
        w->ports[i].has_device =
            s->device && s->device(s->aux, w->ports[i].port, &w->ports[i].device);
    take_tables(w, s->sw);
    json_decref(w->jobs);
    json_decref(w->libra);
    w->libra = NULL;
    w->jobs = sk_jobs_brief(s->sw, s->now, &pauses);
}

void sk_watch_free(struct sk_watch *w) {
    free(w->ports);
    free(w->tables);
    json_decref(w->libra);
    free(w->refused);
    json_decref(w->jobs);
    *w = (struct sk_watch){0};
}
