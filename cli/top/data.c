// SPDX-License-Identifier: Apache-2.0
#include "cli/top/top.h"
#include "base/json.h"
#include "base/memory.h"
#include "pipeline/switch/switch.h"

#include <stdlib.h>
#include <string.h>

// ---- reading replies: what is missing is nothing ----

static uint64_t top_data_number(const json_t *object, const char *key) {
    const json_t *v = json_object_get(object, key);
    if (json_is_string(v)) // beyond what a JSON number of this library holds
        return strtoull(json_string_value(v), NULL, 0);
    const json_int_t n = json_integer_value(v);
    return n < 0 ? 0 : (uint64_t)n;
}

static void *top_data_make(size_t n, size_t size) {
    void *memory = calloc(n + 1, size);
    if (!memory)
        abort();
    return memory;
}

// Per second. A counter that went back was set again.
static double rate(const struct top_data *d, const json_t *before, const json_t *now,
                   const char *key) {
    const uint64_t a = top_data_number(before, key), b = top_data_number(now, key);
    return (double)(b >= a ? b - a : b) / d->seconds;
}

// The item of the list whose 'key' is like that of 'item'; null: there was none.
static const json_t *top_data_is_same(const json_t *list, const json_t *item, const char *key) {
    const json_t *wanted = json_object_get(item, key);
    size_t i;
    json_t *v;
    json_array_foreach((json_t *)list, i, v) {
        if (json_equal(json_object_get(v, key), (json_t *)wanted))
            return v;
    }
    return NULL;
}

// Taken in by the program, into a sum for instance: neither sent nor lost.
static bool is_consumed(const char *reason) {
    return strcmp(reason, sk_drop_text(SK_DROP_CONSUMED)) == 0;
}

// ---- ports ----

static void read_port_drops(const struct top_data *d, const json_t *before, const json_t *now,
                            struct top_port *p) {
    const char *reason;
    json_t *v;
    const json_t *old = json_object_get(before, "drops");
    p->reason = "";
    json_object_foreach(json_object_get(now, "drops"), reason, v) {
        const double r = rate(d, old, json_object_get(now, "drops"), reason);
        if (is_consumed(reason)) {
            p->consumed += r;
            continue;
        }
        p->drops += r;
        if (r > p->reason_rate) {
            p->reason_rate = r;
            p->reason = reason;
        }
    }
}

static void top_data_read_queues(const json_t *now, struct top_port *p) {
    size_t i;
    json_t *q;
    uint64_t most = 0;
    json_array_foreach(json_object_get(now, "queues"), i, q) {
        const uint64_t cells = top_data_number(q, "cells");
        p->cells += cells;
        if (cells > most) {
            most = cells;
            p->deepest = (unsigned)top_data_number(q, "queue");
        }
    }
}

static void top_data_read_port(const struct top_data *d, const json_t *before, const json_t *now,
                               struct top_port *p) {
    const bool up = json_object_get(now, "link") ? json_is_true(json_object_get(now, "link"))
                                                 : json_is_true(json_object_get(now, "up"));
    p->port = (unsigned)top_data_number(now, "port");
    p->name = sk_json_text(now, "name");
    p->device = sk_json_text(now, "device");
    p->link = json_is_true(json_object_get(now, "loopback")) ? "loop" : up ? "up" : "down";
    p->in_packets = rate(d, before, now, "rx_packets");
    p->in_bits = 8 * rate(d, before, now, "rx_bytes");
    p->out_packets = rate(d, before, now, "tx_packets");
    p->out_bits = 8 * rate(d, before, now, "tx_bytes");
    p->waiting = top_data_number(json_object_get(now, "device_state"), "waiting");
    read_port_drops(d, before, now, p);
    top_data_read_queues(now, p);
}

static void top_data_read_ports(struct top_data *d, const json_t *before, const json_t *now) {
    const json_t *list = json_object_get(now, "ports"), *old = json_object_get(before, "ports");
    d->ports = top_data_make(json_array_size(list), sizeof *d->ports);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *p = json_array_get(list, i);
        top_data_read_port(d, top_data_is_same(old, p, "port"), p, &d->ports[d->n_ports]);
        d->in_bits += d->ports[d->n_ports].in_bits;
        d->out_bits += d->ports[d->n_ports++].out_bits;
    }
}

// ---- drops ----

static void find_place(const struct top_data *d, const json_t *before, const json_t *now,
                       struct top_drop *drop) {
    size_t i;
    json_t *p;
    double most = -1;
    drop->name = "";
    json_array_foreach(json_object_get(now, "ports"), i, p) {
        const json_t *old = top_data_is_same(json_object_get(before, "ports"), p, "port");
        if (!json_object_get(json_object_get(p, "drops"), drop->reason))
            continue;
        const double r =
            rate(d, json_object_get(old, "drops"), json_object_get(p, "drops"), drop->reason);
        if (r > most) {
            most = r;
            drop->port = (unsigned)top_data_number(p, "port");
            drop->name = sk_json_text(p, "name");
        }
    }
}

static int by_rate(const void *a, const void *b) {
    const struct top_drop *x = a, *y = b;
    if (x->consumed != y->consumed) // after what is lost
        return x->consumed ? 1 : -1;
    return x->rate > y->rate   ? -1
           : x->rate < y->rate ? 1
                               : (x->total < y->total) - (x->total > y->total);
}

static void read_drops(struct top_data *d, const json_t *before, const json_t *now) {
    const json_t *old = json_object_get(json_object_get(before, "stats"), "drops");
    json_t *list = json_object_get(json_object_get(now, "stats"), "drops"), *v;
    const char *reason;
    d->drops = top_data_make(json_object_size(list), sizeof *d->drops);
    json_object_foreach(list, reason, v) {
        struct top_drop *drop = &d->drops[d->n_drops++];
        drop->reason = reason;
        drop->rate = rate(d, old, list, reason);
        drop->total = top_data_number(list, reason);
        drop->consumed = is_consumed(reason);
        *(drop->consumed ? &d->consumed : &d->dropped) += drop->rate;
        find_place(d, before, now, drop);
    }
    qsort(d->drops, d->n_drops, sizeof *d->drops, by_rate);
}

static int queue_by_rate(const void *a, const void *b) {
    const struct top_queue_drop *x = a, *y = b;
    return x->rate > y->rate   ? -1
           : x->rate < y->rate ? 1
                               : (x->total < y->total) - (x->total > y->total);
}

static void add_queue_drops(struct top_data *d, const json_t *port, const json_t *old,
                            const json_t *now) {
    const char *colour, *reason;
    json_t *reasons, *v;
    json_object_foreach(json_object_get(now, "drops"), colour, reasons) {
        json_t *before = json_object_get(json_object_get(old, "drops"), colour);
        json_object_foreach(reasons, reason, v) {
            d->queue_drops =
                sk_resize(d->queue_drops, d->n_queue_drops + 1, sizeof *d->queue_drops);
            d->queue_drops[d->n_queue_drops++] =
                (struct top_queue_drop){.reason = reason,
                                        .colour = colour,
                                        .name = sk_json_text(port, "name"),
                                        .port = (unsigned)top_data_number(port, "port"),
                                        .queue = (unsigned)top_data_number(now, "queue"),
                                        .rate = rate(d, before, reasons, reason),
                                        .total = top_data_number(reasons, reason)};
        }
    }
}

static void read_queue_drops(struct top_data *d, const json_t *before, const json_t *now) {
    size_t i, k;
    json_t *p, *q;
    json_array_foreach(json_object_get(now, "ports"), i, p) {
        const json_t *old = top_data_is_same(json_object_get(before, "ports"), p, "port");
        json_array_foreach(json_object_get(p, "queues"), k, q) {
            add_queue_drops(d, p, top_data_is_same(json_object_get(old, "queues"), q, "queue"), q);
        }
    }
    if (d->n_queue_drops)
        qsort(d->queue_drops, d->n_queue_drops, sizeof *d->queue_drops, queue_by_rate);
}

// ---- jobs ----

// The worker that most waiting slots wait for; of several the one that was silent longest.
static void find_straggler(const json_t *now, struct top_job *j) {
    size_t i;
    json_t *w;
    json_array_foreach(json_object_get(now, "workers"), i, w) {
        const uint64_t missing = top_data_number(w, "missing");
        const double silent =
            json_object_get(w, "idle_ms") ? (double)top_data_number(w, "idle_ms") / 1000 : -1;
        const bool longer = silent < 0 ? j->silent >= 0 : j->silent >= 0 && silent > j->silent;
        if (missing == 0 || missing < j->straggler_slots ||
            (missing == j->straggler_slots && !longer))
            continue;
        j->has_straggler = true;
        j->straggler = top_data_number(w, "worker");
        j->straggler_slots = missing;
        j->silent = silent;
        j->where = sk_json_text(w, "ip");
    }
}

static bool has_alarm(const json_t *alarms, const char *alarm, const char *what) {
    size_t i;
    json_t *a;
    json_array_foreach((json_t *)alarms, i, a) {
        if (strcmp(sk_json_text(a, "alarm"), alarm) == 0 &&
            strcmp(sk_json_text(a, "what"), what) == 0)
            return true;
    }
    return false;
}

static uint64_t packets_of(const json_t *job) {
    size_t i;
    json_t *w;
    uint64_t n = top_data_number(job, "packets");
    json_array_foreach(json_object_get(job, "workers"), i, w) {
        n += top_data_number(w, "packets");
    }
    return n;
}

static void top_data_read_job(const struct top_data *d, const json_t *before, const json_t *now,
                              struct top_job *j) {
    const uint64_t a = packets_of(before), b = packets_of(now);
    const uint64_t wanted = top_data_number(now, "wanted"), there = top_data_number(now, "there");
    j->name = sk_json_text(now, "name");
    j->kind = sk_json_text(now, "kind");
    j->workers = json_array_size(json_object_get(now, "workers"));
    j->size = top_data_number(now, "size");
    j->waiting = top_data_number(now, "waits") + top_data_number(now, "held");
    j->oldest =
        json_object_get(now, "oldest_ms") ? (double)top_data_number(now, "oldest_ms") / 1000 : -1;
    j->packets = (double)(b >= a ? b - a : b) / d->seconds;
    j->complete = wanted > 0 ? (double)there / (double)wanted : 1;
    j->where = "";
    find_straggler(now, j);
    const char *alarm = j->oldest >= 0 ? "leaking-aggregator" : "stuck-job";
    const bool alarms = strcmp(j->kind, "libra") != 0; // a job with its number may have one
    j->state = alarms && has_alarm(d->alarms, alarm, j->name) ? "stuck"
               : j->packets > 0                               ? "running"
               : j->waiting > 0                               ? "waiting"
                                                              : "idle";
}

// Jobs of SwitchML and ATP have numbers of their own.
static const json_t *same_job(const json_t *list, const json_t *job) {
    size_t i;
    json_t *v;
    json_array_foreach((json_t *)list, i, v) {
        if (strcmp(sk_json_text(v, "name"), sk_json_text(job, "name")) == 0 &&
            strcmp(sk_json_text(v, "kind"), sk_json_text(job, "kind")) == 0)
            return v;
    }
    return NULL;
}

static void top_data_read_jobs(struct top_data *d, const json_t *before, const json_t *now) {
    const json_t *list = json_object_get(now, "jobs"), *old = json_object_get(before, "jobs");
    d->jobs = top_data_make(json_array_size(list), sizeof *d->jobs);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *j = json_array_get(list, i);
        top_data_read_job(d, same_job(old, j), j, &d->jobs[d->n_jobs++]);
    }
}

// ---- all ----

bool top_data_read(struct top_data *d, const json_t *before, const json_t *now) {
    const json_t *old = json_object_get(before, "stats"), *stats = json_object_get(now, "stats");
    *d = (struct top_data){.program = sk_json_text(now, "program"),
                           .clock = top_data_number(now, "clock"),
                           .alarms = json_object_get(now, "alarms")};
    if (d->clock <= top_data_number(before, "clock"))
        return false;
    d->seconds = (double)(d->clock - top_data_number(before, "clock")) / 1e9;
    d->in_packets = rate(d, old, stats, "rx_packets");
    d->out_packets = rate(d, old, stats, "tx_packets");
    d->recirculated = rate(d, old, stats, "recirculated");
    d->copies = rate(d, old, stats, "copies");
    d->inside = top_data_number(stats, "inside");
    top_data_read_ports(d, before, now);
    read_drops(d, before, now);
    read_queue_drops(d, before, now);
    top_data_read_jobs(d, before, now);
    return true;
}

void top_data_free(struct top_data *d) {
    free(d->ports);
    free(d->drops);
    free(d->queue_drops);
    free(d->jobs);
}

// ---- for programs ----

static json_t *top_data_port_json(const struct top_port *p) {
    return json_pack("{s:i, s:s, s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:s, s:f, s:I, s:i}", "port",
                     (int)p->port, "name", p->name, "device", p->device, "link", p->link,
                     "rx_packets_per_second", p->in_packets, "rx_bits_per_second", p->in_bits,
                     "tx_packets_per_second", p->out_packets, "tx_bits_per_second", p->out_bits,
                     "drops_per_second", p->drops, "drop_reason", p->reason, "consumed_per_second",
                     p->consumed, "queue_cells", (json_int_t)p->cells, "deepest_queue",
                     (int)p->deepest);
}

static json_t *top_data_job_json(const struct top_job *j) {
    json_t *o = json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:f, s:f}", "job", j->name, "kind",
                          j->kind, "state", j->state, "workers", (json_int_t)j->workers, "size",
                          (json_int_t)j->size, "waiting", (json_int_t)j->waiting,
                          "packets_per_second", j->packets, "complete", j->complete);
    if (j->has_straggler)
        json_object_set_new(o, "straggler",
                            json_pack("{s:I, s:s, s:I}", "worker", (json_int_t)j->straggler, "ip",
                                      j->where, "slots", (json_int_t)j->straggler_slots));
    if (j->has_straggler && j->silent >= 0)
        json_object_set_new(json_object_get(o, "straggler"), "silent_seconds",
                            json_real(j->silent));
    return o;
}

static json_t *queue_drops_json(const struct top_data *d) {
    json_t *list = json_array();
    for (size_t i = 0; i < d->n_queue_drops; i++) {
        const struct top_queue_drop *q = &d->queue_drops[i];
        json_array_append_new(
            list, json_pack("{s:i, s:s, s:i, s:s, s:s, s:f, s:I}", "port", (int)q->port, "name",
                            q->name, "queue", (int)q->queue, "colour", q->colour, "reason",
                            q->reason, "per_second", q->rate, "total", (json_int_t)q->total));
    }
    return list;
}

json_t *top_data_json(const struct top_data *d) {
    json_t *ports = json_array(), *drops = json_array(), *jobs = json_array();
    for (size_t i = 0; i < d->n_ports; i++)
        json_array_append_new(ports, top_data_port_json(&d->ports[i]));
    for (size_t i = 0; i < d->n_drops; i++)
        json_array_append_new(drops, json_pack("{s:s, s:f, s:I, s:i, s:s}", "reason",
                                               d->drops[i].reason, "per_second", d->drops[i].rate,
                                               "total", (json_int_t)d->drops[i].total, "port",
                                               (int)d->drops[i].port, "name", d->drops[i].name));
    for (size_t i = 0; i < d->n_jobs; i++)
        json_array_append_new(jobs, top_data_job_json(&d->jobs[i]));
    json_t *out = json_pack(
        "{s:I, s:f, s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:o, s:o, s:o}", "clock",
        (json_int_t)d->clock, "seconds", d->seconds, "program", d->program, "rx_packets_per_second",
        d->in_packets, "rx_bits_per_second", d->in_bits, "tx_packets_per_second", d->out_packets,
        "tx_bits_per_second", d->out_bits, "drops_per_second", d->dropped, "consumed_per_second",
        d->consumed, "recirculated_per_second", d->recirculated, "inside", (json_int_t)d->inside,
        "ports", ports, "drops", drops, "jobs", jobs);
    json_object_set_new(out, "queue_drops", queue_drops_json(d));
    json_object_set(out, "alarms", (json_t *)d->alarms);
    return out;
}
