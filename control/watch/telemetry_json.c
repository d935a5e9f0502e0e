// SPDX-License-Identifier: Apache-2.0
#include "control/watch/telemetry.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SILKEN_VERSION
#define SILKEN_VERSION "unknown"
#endif

// ---- texts that DPDK takes ----

static json_t *telemetry_json_string(const char *text) {
    char out[TELEMETRY_STRING + 1];
    size_t n = strlen(text);
    const bool cut = n > TELEMETRY_STRING;
    n = cut ? TELEMETRY_STRING - 3 : n;
    for (size_t i = 0; i < n; i++)
        out[i] = text[i] >= ' ' && text[i] < 0x7f ? text[i] : '?';
    memcpy(out + n, "...", 4);
    out[cut ? TELEMETRY_STRING : n] = 0;
    return json_string(out);
}

static void telemetry_json_put(json_t *to, const char *name, json_t *value) {
    char out[TELEMETRY_STRING + 1];
    size_t n = 0;
    for (; name[n] && n < TELEMETRY_STRING; n++)
        out[n] = isalnum((unsigned char)name[n]) ? name[n] : '_';
    out[n] = 0;
    json_object_set_new(to, out, value);
}

static void telemetry_json_put_number(json_t *to, const char *name, uint64_t value) {
    telemetry_json_put(to, name, json_integer((json_int_t)value));
}

// At the end of a list: how many more there would be.
static void telemetry_json_add_text(json_t *list, const char *text, size_t *bytes, size_t *more) {
    json_t *item = telemetry_json_string(text);
    *bytes += 2 * json_string_length(item) + 3; // each character may need a backslash
    if (*more > 0 || *bytes > TELEMETRY_REPLY || json_array_size(list) >= TELEMETRY_LIST) {
        json_decref(item);
        ++*more;
        return;
    }
    json_array_append_new(list, item);
}
static json_t *telemetry_json_ended(json_t *list, size_t more) {
    char text[64];
    snprintf(text, sizeof text, "and %zu more", more);
    if (more > 0)
        json_array_append_new(list, json_string(text));
    return list;
}

// ---- the switch and its ports ----

static uint64_t all(const uint64_t drops[SK_DROP_COUNT]) {
    uint64_t n = 0;
    for (int i = 0; i < SK_DROP_COUNT; i++)
        n += drops[i];
    return n;
}

static json_t *info(const struct sk_watch *w) {
    json_t *o = json_object();
    telemetry_json_put(o, "version", telemetry_json_string(SILKEN_VERSION));
    telemetry_json_put(o, "program", telemetry_json_string(w->program));
    telemetry_json_put_number(o, "clock_ns", w->clock);
    telemetry_json_put_number(o, "rx_packets", w->stats.rx_packets);
    telemetry_json_put_number(o, "tx_packets", w->stats.tx_packets);
    telemetry_json_put_number(o, "copies", w->stats.copies);
    telemetry_json_put_number(o, "mirrored", w->stats.mirrored);
    telemetry_json_put_number(o, "generated", w->stats.generated);
    telemetry_json_put_number(o, "recirculated", w->stats.recirculated);
    telemetry_json_put_number(o, "resubmitted", w->stats.resubmitted);
    telemetry_json_put_number(o, "digests", w->stats.digests);
    telemetry_json_put_number(o, "remembered", w->remembered);
    telemetry_json_put_number(o, "dropped", all(w->stats.drops));
    telemetry_json_put_number(o, "inside", w->inside);
    telemetry_json_put_number(o, "free_buffers", w->buffers_free);
    return o;
}

_Static_assert(SK_PORTS <= 512, "more than DPDK's arrays can hold");

static json_t *telemetry_json_ports(const struct sk_watch *w) {
    json_t *list = json_array();
    for (size_t i = 0; i < w->n_ports; i++)
        json_array_append_new(list, json_integer(w->ports[i].port));
    return list;
}

static json_t *telemetry_json_drops(const uint64_t counts[SK_DROP_COUNT]) {
    json_t *o = json_object();
    for (int i = 0; i < SK_DROP_COUNT; i++)
        if (counts[i] > 0)
            telemetry_json_put_number(o, sk_drop_text((enum sk_drop_reason)i), counts[i]);
    return o;
}

static const struct sk_watch_port *telemetry_json_find_port(const struct sk_watch *w,
                                                            const char *which) {
    char *end = NULL;
    const unsigned long number = which ? strtoul(which, &end, 10) : 0;
    const bool is_number = which && isdigit((unsigned char)which[0]) && !*end;
    for (size_t i = 0; which && i < w->n_ports; i++) {
        const struct sk_watch_port *p = &w->ports[i];
        if (is_number ? p->port == number : p->name[0] && strcmp(p->name, which) == 0)
            return p;
    }
    return NULL;
}

static void put_device(json_t *o, const struct sk_port_device *d) {
    telemetry_json_put(o, "driver", telemetry_json_string(d->driver));
    telemetry_json_put_number(o, "link_up", d->link);
    telemetry_json_put_number(o, "speed_mbps", d->speed_mbps);
    telemetry_json_put_number(o, "mtu", d->mtu);
    telemetry_json_put_number(o, "rx_missed", d->missed);
    telemetry_json_put_number(o, "rx_errors", d->rx_errors);
    telemetry_json_put_number(o, "tx_errors", d->tx_errors);
    telemetry_json_put_number(o, "tx_waiting", d->waiting);
}

static json_t *telemetry_json_port(const struct sk_watch *w, const struct sk_watch_port *p) {
    json_t *o = json_object();
    telemetry_json_put_number(o, "port", p->port);
    telemetry_json_put(o, "name", telemetry_json_string(p->name));
    telemetry_json_put_number(o, "up", p->up);
    telemetry_json_put_number(o, "loopback", p->loopback);
    telemetry_json_put_number(o, "rx_packets", p->stats.rx_packets);
    telemetry_json_put_number(o, "rx_bytes", p->stats.rx_bytes);
    telemetry_json_put_number(o, "tx_packets", p->stats.tx_packets);
    telemetry_json_put_number(o, "tx_bytes", p->stats.tx_bytes);
    telemetry_json_put(o, "drops", telemetry_json_drops(p->stats.drops));
    if (p->has_device)
        put_device(o, &p->device);
    if (p->queue.speed_mbps > 0) {
        telemetry_json_put_number(o, "queue_bytes", (uint64_t)p->cells * w->cell_bytes);
        telemetry_json_put_number(o, "deepest_queue", p->deepest);
        telemetry_json_put_number(o, "deepest_queue_bytes",
                                  (uint64_t)p->deepest_cells * w->cell_bytes);
    }
    return o;
}

// ---- tables ----

// Those of a name are one after the other, one for each pipe.
static json_t *telemetry_json_tables(const struct sk_watch *w) {
    json_t *list = json_array();
    size_t bytes = 0, more = 0;
    for (size_t i = 0; i < w->n_tables; i++)
        if (i == 0 || strcmp(w->tables[i].name, w->tables[i - 1].name) != 0)
            telemetry_json_add_text(list, w->tables[i].name, &bytes, &more);
    return telemetry_json_ended(list, more);
}

static json_t *telemetry_json_table(const struct sk_watch *w, const char *name) {
    json_t *o = NULL, *pipes = json_array(), *entries = json_array();
    for (size_t i = 0; name && i < w->n_tables; i++) {
        const struct sk_watch_table *t = &w->tables[i];
        if (strcmp(t->name, name) != 0)
            continue;
        if (!o)
            o = json_object();
        telemetry_json_put_number(o, "size", t->size);
        json_array_append_new(pipes, json_integer(t->pipe));
        json_array_append_new(entries, json_integer((json_int_t)t->entries));
    }
    if (o) {
        telemetry_json_put(o, "pipes", json_incref(pipes));
        telemetry_json_put(o, "entries", json_incref(entries));
    }
    json_decref(pipes);
    json_decref(entries);
    return o;
}

// ---- jobs, alarms ----

static void job_name(const json_t *job, char out[TELEMETRY_STRING + 1]) {
    const char *kind = json_string_value(json_object_get(job, "kind")),
               *name = json_string_value(json_object_get(job, "name"));
    snprintf(out, TELEMETRY_STRING + 1, "%s/%s", kind ? kind : "", name ? name : "");
}

static json_t *telemetry_json_jobs(const struct sk_watch *w) {
    json_t *list = json_array(), *job;
    size_t i, bytes = 0, more = 0;
    char name[TELEMETRY_STRING + 1];
    json_array_foreach(w->jobs, i, job) {
        job_name(job, name);
        telemetry_json_add_text(list, name, &bytes, &more);
    }
    return telemetry_json_ended(list, more);
}

// Workers of Libra miss nothing; those of others repeat nothing that is counted.
static bool telemetry_json_has(const json_t *job, const char *of_worker) {
    const json_t *first = json_array_get(json_object_get(job, "workers"), 0);
    return strcmp(of_worker, "idle_ms") == 0 || !first || json_object_get(first, of_worker);
}

static json_t *telemetry_json_job(const json_t *j) {
    static const char *const of_job[] = {"size",  "slots", "waits",    "wanted",
                                         "there", "held",  "oldest_ms"};
    static const char *const of_worker[] = {"worker", "packets", "missing", "repeated", "idle_ms"};
    json_t *o = json_object(), *workers = json_object_get(j, "workers"), *worker;
    for (size_t k = 0; k < sizeof of_job / sizeof *of_job; k++) {
        const json_t *v = json_object_get(j, of_job[k]);
        if (json_is_integer(v))
            telemetry_json_put_number(o, of_job[k], (uint64_t)json_integer_value(v));
    }
    for (size_t k = 0; workers && k < sizeof of_worker / sizeof *of_worker; k++) {
        json_t *list = json_array();
        char name[32];
        size_t i;
        if (!telemetry_json_has(j, of_worker[k])) {
            json_decref(list);
            continue;
        }
        json_array_foreach(workers, i, worker) { // from whom nothing came: as long ago as can be
            const json_t *v = json_object_get(worker, of_worker[k]);
            json_array_append_new(list, json_integer(v ? json_integer_value(v) : INT64_MAX));
        }
        snprintf(name, sizeof name, "%s%s", k ? "worker_" : "", k ? of_worker[k] : "workers");
        telemetry_json_put(o, name, list);
    }
    return o;
}

static json_t *telemetry_json_find_job(const struct sk_watch *w, const char *which) {
    char name[TELEMETRY_STRING + 1];
    json_t *j;
    size_t i;
    json_array_foreach(w->jobs, i, j) {
        job_name(j, name);
        if (which && strcmp(name, which) == 0)
            return telemetry_json_job(j);
    }
    return NULL;
}

static json_t *alarms_of(const json_t *alarms) {
    json_t *list = json_array(), *alarm;
    size_t i, bytes = 0, more = 0;
    json_array_foreach((json_t *)alarms, i, alarm) {
        const char *text = json_string_value(json_object_get(alarm, "text"));
        telemetry_json_add_text(list, text ? text : "?", &bytes, &more);
    }
    return telemetry_json_ended(list, more);
}

json_t *telemetry_json(const struct sk_watch *w, const json_t *alarms, const char *command,
                       const char *parameter) {
    const char *what = strncmp(command, "/silken/", 8) == 0 ? command + 8 : "";
    const struct sk_watch_port *p = telemetry_json_find_port(w, parameter);
    if (strcmp(what, "info") == 0)
        return info(w);
    if (strcmp(what, "ports") == 0)
        return telemetry_json_ports(w);
    if (strcmp(what, "port") == 0)
        return p ? telemetry_json_port(w, p) : NULL;
    if (strcmp(what, "drops") == 0)
        return parameter ? (p ? telemetry_json_drops(p->stats.drops) : NULL)
                         : telemetry_json_drops(w->stats.drops);
    if (strcmp(what, "tables") == 0)
        return telemetry_json_tables(w);
    if (strcmp(what, "table") == 0)
        return telemetry_json_table(w, parameter);
    if (strcmp(what, "jobs") == 0)
        return telemetry_json_jobs(w);
    if (strcmp(what, "job") == 0)
        return telemetry_json_find_job(w, parameter);
    return strcmp(what, "alarms") == 0 ? alarms_of(alarms) : NULL;
}
