// SPDX-License-Identifier: Apache-2.0
//
// metrics: the text format of Prometheus, version 0.0.4: for each metric "# HELP", "# TYPE", then
// its samples, all of them together. Names end in the base unit, counters in _total.
#include "control/watch/watch.h"
#include "base/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SILKEN_VERSION
#define SILKEN_VERSION "unknown"
#endif

static void metrics_family(FILE *f, const char *name, const char *type, const char *help) {
    fprintf(f, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

// A label's value: backslash, quote and end of line have a backslash in front.
static void label(FILE *f, const char *name, const char *value) {
    fprintf(f, "%s=\"", name);
    for (const char *c = value; *c; c++) {
        if (*c == '\\' || *c == '"')
            putc('\\', f);
        if (*c == '\n')
            fputs("\\n", f);
        else
            putc(*c, f);
    }
    putc('"', f);
}

static void metrics_count(FILE *f, const char *name, const char *type, const char *help,
                          uint64_t v) {
    metrics_family(f, name, type, help);
    fprintf(f, "%s %" PRIu64 "\n", name, v);
}

// Seconds exactly, of nanoseconds.
static void seconds(FILE *f, uint64_t ns) {
    fprintf(f, "%" PRIu64 ".%09" PRIu64, ns / 1000000000u, ns % 1000000000u);
}

static void count_seconds(FILE *f, const char *name, const char *type, const char *help,
                          uint64_t ns) {
    metrics_family(f, name, type, help);
    fprintf(f, "%s ", name);
    seconds(f, ns);
    putc('\n', f);
}

// ---- ports ----

static void port_labels(FILE *f, const struct sk_watch_port *p) {
    fprintf(f, "port=\"%u\",", p->port);
    label(f, "name", p->name);
}

enum port_what { ALWAYS, DEVICE, SPEED };

static uint64_t rx_packets(const struct sk_watch *w, const struct sk_watch_port *p) {
    (void)w;
    return p->stats.rx_packets;
}
static uint64_t rx_bytes(const struct sk_watch *w, const struct sk_watch_port *p) {
    (void)w;
    return p->stats.rx_bytes;
}
static uint64_t tx_packets(const struct sk_watch *w, const struct sk_watch_port *p) {
    (void)w;
    return p->stats.tx_packets;
}
static uint64_t tx_bytes(const struct sk_watch *w, const struct sk_watch_port *p) {
    (void)w;
    return p->stats.tx_bytes;
}
static uint64_t up(const struct sk_watch *w, const struct sk_watch_port *p) {
    (void)w;
    return p->up;
}
static uint64_t metrics_link_up(const struct sk_watch *w, const struct sk_watch_port *p) {
    (void)w;
    return p->device.link;
}
static uint64_t speed(const struct sk_watch *w, const struct sk_watch_port *p) {
    (void)w;
    return (uint64_t)p->device.speed_mbps * 125000;
}
static uint64_t missed(const struct sk_watch *w, const struct sk_watch_port *p) {
    (void)w;
    return p->device.missed;
}
static uint64_t rx_errors(const struct sk_watch *w, const struct sk_watch_port *p) {
    (void)w;
    return p->device.rx_errors;
}
static uint64_t tx_errors(const struct sk_watch *w, const struct sk_watch_port *p) {
    (void)w;
    return p->device.tx_errors;
}
static uint64_t metrics_waiting(const struct sk_watch *w, const struct sk_watch_port *p) {
    (void)w;
    return p->device.waiting;
}
static uint64_t queued(const struct sk_watch *w, const struct sk_watch_port *p) {
    return (uint64_t)p->cells * w->cell_bytes;
}
static uint64_t deepest(const struct sk_watch *w, const struct sk_watch_port *p) {
    return (uint64_t)p->deepest_cells * w->cell_bytes;
}

static const struct {
    const char *name, *type, *help;
    enum port_what what;
    uint64_t (*value)(const struct sk_watch *w, const struct sk_watch_port *p);
} of_ports[] = {
    {"silken_port_up", "gauge", "1: the switch sends to the port.", ALWAYS, up},
    {"silken_port_receive_packets_total", "counter", "Packets that the port received.", ALWAYS,
     rx_packets},
    {"silken_port_receive_bytes_total", "counter", "Bytes that the port received, without FCS.",
     ALWAYS, rx_bytes},
    {"silken_port_transmit_packets_total", "counter", "Packets that the port sent.", ALWAYS,
     tx_packets},
    {"silken_port_transmit_bytes_total", "counter", "Bytes that the port sent, without FCS.",
     ALWAYS, tx_bytes},
    {"silken_port_link_up", "gauge", "1: the device has a link.", DEVICE, metrics_link_up},
    {"silken_port_speed_bytes", "gauge", "Bytes a second of the link; 0: not known.", DEVICE,
     speed},
    {"silken_port_device_receive_missed_total", "counter",
     "Packets that arrived when the device's queue was full or no buffer was free.", DEVICE,
     missed},
    {"silken_port_device_receive_errors_total", "counter", "Packets that the device refused.",
     DEVICE, rx_errors},
    {"silken_port_device_transmit_errors_total", "counter", "Packets that the device did not send.",
     DEVICE, tx_errors},
    {"silken_port_device_waiting_packets", "gauge", "Packets that wait for the device.", DEVICE,
     metrics_waiting},
    {"silken_queue_bytes", "gauge",
     "Bytes in cells that wait in the queues of a port with a speed.", SPEED, queued},
    {"silken_queue_deepest_bytes", "gauge", "Bytes in cells that wait in its longest queue.", SPEED,
     deepest},
};

static bool metrics_has(const struct sk_watch_port *p, enum port_what what) {
    return what == ALWAYS || (what == DEVICE && p->has_device) ||
           (what == SPEED && p->queue.speed_mbps > 0);
}

static void put_ports(FILE *f, const struct sk_watch *w) {
    for (size_t i = 0; i < sizeof of_ports / sizeof *of_ports; i++) {
        metrics_family(f, of_ports[i].name, of_ports[i].type, of_ports[i].help);
        for (size_t k = 0; k < w->n_ports; k++) {
            if (!metrics_has(&w->ports[k], of_ports[i].what))
                continue;
            fprintf(f, "%s{", of_ports[i].name);
            port_labels(f, &w->ports[k]);
            fprintf(f, "} %" PRIu64 "\n", of_ports[i].value(w, &w->ports[k]));
        }
    }
}

static void put_port_drops(FILE *f, const struct sk_watch *w) {
    static const char name[] = "silken_port_dropped_packets_total";
    metrics_family(
        f, name, "counter",
        "Packets dropped at the port, by reason; reasons that never occurred are left out.");
    for (size_t i = 0; i < w->n_ports; i++)
        for (int r = 0; r < SK_DROP_COUNT; r++) {
            if (w->ports[i].stats.drops[r] == 0)
                continue;
            fprintf(f, "%s{", name);
            port_labels(f, &w->ports[i]);
            putc(',', f);
            label(f, "reason", sk_drop_text((enum sk_drop_reason)r));
            fprintf(f, "} %" PRIu64 "\n", w->ports[i].stats.drops[r]);
        }
}

static void put_queue_drops(FILE *f, const struct sk_watch *w) {
    static const char name[] = "silken_queue_dropped_packets_total";
    metrics_family(f, name, "counter",
                   "Packets that a queue did not take, by colour and reason; what never occurred "
                   "is left out.");
    for (size_t i = 0; i < w->n_refused; i++) {
        const struct sk_watch_refused *r = &w->refused[i];
        fprintf(f, "%s{", name);
        port_labels(f, &w->ports[r->port]);
        fprintf(f, ",queue=\"%u\",colour=\"%s\",", r->qid, sk_color_text(r->color));
        label(f, "reason", sk_drop_text(r->reason));
        fprintf(f, "} %" PRIu64 "\n", r->packets);
    }
}

static void put_pools(FILE *f, const struct sk_watch *w) {
    metrics_family(f, "silken_pool_bytes", "gauge", "Bytes in cells of a buffer pool.");
    for (unsigned i = 0; i < SK_APP_POOLS; i++)
        if (w->pools[i].cells)
            fprintf(f, "silken_pool_bytes{pool=\"%u\"} %" PRIu64 "\n", i,
                    (uint64_t)w->pools[i].cells * w->cell_bytes);
    metrics_family(f, "silken_pool_used_bytes", "gauge",
                   "Bytes in cells of a buffer pool that packets use.");
    for (unsigned i = 0; i < SK_APP_POOLS; i++)
        if (w->pools[i].cells)
            fprintf(f, "silken_pool_used_bytes{pool=\"%u\"} %" PRIu64 "\n", i,
                    (uint64_t)w->pools_used[i] * w->cell_bytes);
}

// ---- the switch ----

static void metrics_put_switch(FILE *f, const struct sk_watch *w) {
    const struct sk_switch_stats *s = &w->stats;
    metrics_family(f, "silken_build_info", "gauge", "1; what runs.");
    fprintf(f, "silken_build_info{version=\"%s\",", SILKEN_VERSION);
    label(f, "program", w->program);
    fputs("} 1\n", f);
    metrics_count(f, "silken_receive_packets_total", "counter", "Packets received.", s->rx_packets);
    metrics_count(f, "silken_transmit_packets_total", "counter", "Packets sent.", s->tx_packets);
    metrics_count(f, "silken_copied_packets_total", "counter",
                  "Copies that replication and mirroring made.", s->copies);
    metrics_count(f, "silken_mirrored_packets_total", "counter", "Copies that mirroring made.",
                  s->mirrored);
    metrics_count(f, "silken_generated_packets_total", "counter",
                  "Packets of the packet generator.", s->generated);
    metrics_count(f, "silken_recirculated_packets_total", "counter", "Passes by recirculation.",
                  s->recirculated);
    metrics_count(f, "silken_resubmitted_packets_total", "counter", "Passes by resubmission.",
                  s->resubmitted);
    metrics_count(f, "silken_remembered_packets_total", "counter",
                  "Packets sent by a flow record, without running the program.", w->remembered);
    metrics_count(f, "silken_digests_total", "counter", "Digests for the control plane.",
                  s->digests);
    metrics_count(f, "silken_inside_packets", "gauge", "Packets that wait in the switch.",
                  w->inside);
    metrics_count(f, "silken_free_buffers", "gauge", "Packet buffers that are free.",
                  w->buffers_free);
    metrics_family(f, "silken_dropped_packets_total", "counter",
                   "Packets dropped, by reason; 'consumed in ingress' is not a loss.");
    for (int r = 0; r < SK_DROP_COUNT; r++) {
        fputs("silken_dropped_packets_total{", f);
        label(f, "reason", sk_drop_text((enum sk_drop_reason)r));
        fprintf(f, "} %" PRIu64 "\n", s->drops[r]);
    }
}

static void metrics_put_tables(FILE *f, const struct sk_watch *w) {
    static const struct {
        const char *name, *help;
    } kinds[] = {{"silken_table_entries", "Entries of a table in a pipe."},
                 {"silken_table_size_entries", "Size of the table in the program."}};
    for (size_t k = 0; k < 2; k++) {
        metrics_family(f, kinds[k].name, "gauge", kinds[k].help);
        for (size_t i = 0; i < w->n_tables; i++) {
            const struct sk_watch_table *t = &w->tables[i];
            fprintf(f, "%s{", kinds[k].name);
            label(f, "table", t->name);
            fprintf(f, ",pipe=\"%u\"} %" PRIu64 "\n", t->pipe, k ? t->size : t->entries);
        }
    }
}

// ---- jobs ----

static uint64_t metrics_number(const json_t *o, const char *key) {
    return (uint64_t)json_integer_value(json_object_get(o, key));
}

static void put_job(FILE *f, const struct sk_watch *w, const char *name, const char *help,
                    const char *key) {
    size_t i;
    json_t *j;
    metrics_family(f, name, "gauge", help);
    json_array_foreach(w->jobs, i, j) {
        if (!json_object_get(j, key))
            continue;
        fprintf(f, "%s{", name);
        label(f, "job", sk_json_text(j, "name"));
        putc(',', f);
        label(f, "kind", sk_json_text(j, "kind"));
        fprintf(f, "} %" PRIu64 "\n", metrics_number(j, key));
    }
}

static void put_worker(FILE *f, const struct sk_watch *w, const char *name, const char *type,
                       const char *help, const char *key, bool milliseconds) {
    size_t i, k;
    json_t *j, *worker;
    metrics_family(f, name, type, help);
    json_array_foreach(w->jobs, i, j) {
        json_array_foreach(json_object_get(j, "workers"), k, worker) {
            if (!json_object_get(worker, key))
                continue;
            fprintf(f, "%s{", name);
            label(f, "job", sk_json_text(j, "name"));
            putc(',', f);
            label(f, "kind", sk_json_text(j, "kind"));
            fprintf(f, ",worker=\"%" PRIu64 "\"} ", metrics_number(worker, "worker"));
            if (milliseconds)
                seconds(f, metrics_number(worker, key) * 1000000u);
            else
                fprintf(f, "%" PRIu64, metrics_number(worker, key));
            putc('\n', f);
        }
    }
}

static void put_jobs(FILE *f, const struct sk_watch *w) {
    put_job(f, w, "silken_job_workers", "Workers that the job has.", "size");
    put_job(f, w, "silken_job_waiting", "Slots or aggregators that wait for a worker.", "waits");
    put_job(f, w, "silken_job_wanted_parts", "Parts that the waiting slots and aggregators need.",
            "wanted");
    put_job(f, w, "silken_job_present_parts", "Parts that the waiting slots and aggregators have.",
            "there");
    put_job(f, w, "silken_job_aggregators", "Aggregators that the job holds (ATP).", "held");
    put_worker(f, w, "silken_job_worker_packets_total", "counter",
               "Packets of the job that came from the worker.", "packets", false);
    put_worker(f, w, "silken_job_worker_wrong_checksums_total", "counter",
               "Packets of the worker that were taken though their IPv4 checksum is wrong.",
               "wrong_checksums", false);
    put_worker(f, w, "silken_job_worker_missing_parts", "gauge",
               "Slots that wait for the worker's part.", "missing", false);
    put_worker(f, w, "silken_job_worker_idle_seconds", "gauge",
               "Time since the worker's last packet; absent if it has sent none.", "idle_ms", true);
}

// ---- Libra ----

// What Libra_s counts a ToR's jobs do not have, nor all of them 'hot'.
static void put_libra_job(FILE *f, const json_t *libra, const char *name, const char *type,
                          const char *help, const char *key) {
    size_t i;
    json_t *j;
    metrics_family(f, name, type, help);
    json_array_foreach(json_object_get(libra, "jobs"), i, j) {
        const json_t *stats = json_object_get(j, "stats");
        if (!json_object_get(stats, key) && !json_object_get(j, key))
            continue;
        fprintf(f, "%s{", name);
        label(f, "job", sk_json_text(j, "name"));
        fprintf(f, "} %" PRIu64 "\n", metrics_number(json_object_get(stats, key) ? stats : j, key));
    }
}

static void put_libra_members(FILE *f, const json_t *libra) {
    static const char name[] = "silken_libra_repetitions_total";
    size_t i, k;
    json_t *j, *member;
    metrics_family(f, name, "counter", "Pushes of the member that had been added before.");
    json_array_foreach(json_object_get(libra, "jobs"), i, j) {
        json_array_foreach(json_object_get(j, "members"), k, member) {
            fprintf(f, "%s{", name);
            label(f, "job", sk_json_text(j, "name"));
            fprintf(f, ",member=\"%zu\"} %" PRIu64 "\n", k, metrics_number(member, "repetitions"));
        }
    }
}

static void put_libra(FILE *f, const json_t *l) {
    static const struct {
        const char *name, *type, *help, *key;
    } of_jobs[] = {
        {"silken_libra_hot_parameters", "gauge", "Hot parameters of the job.", "hot"},
        {"silken_libra_epoch", "gauge", "Epoch of the job on this switch.", "epoch"},
        {"silken_libra_copies_total", "counter", "Answers of which the CPU got a copy.", "copies"},
        {"silken_libra_acks_total", "counter", "Copies that were acknowledged.", "acks"},
        {"silken_libra_repeated_total", "counter", "Answers that the CPU has sent again.",
         "repeated"},
        {"silken_libra_given_up_total", "counter", "Answers to pulls that no member acknowledged.",
         "given_up"},
        {"silken_libra_lost_total", "counter", "Collects whose answer is lost.", "lost"},
        {"silken_libra_rests_total", "counter", "Pushes whose tries were used up.", "rests"},
        {"silken_libra_rest_pairs_total", "counter", "Pairs of those pushes.", "rest_pairs"},
        {"silken_libra_rests_done_total", "counter", "Of those pushes, taken by their servers.",
         "rests_done"},
        {"silken_libra_joined_total", "counter", "Members that have begun.", "joined"},
        {"silken_libra_refused_total", "counter", "Members of another incarnation.", "refused"},
    };
    for (size_t i = 0; i < sizeof of_jobs / sizeof *of_jobs; i++)
        put_libra_job(f, l, of_jobs[i].name, of_jobs[i].type, of_jobs[i].help, of_jobs[i].key);
    put_libra_members(f, l);
    if (!json_object_get(l, "waiting"))
        return; // there is no Libra_s
    metrics_count(f, "silken_libra_waiting", "gauge", "Copies and pushes that wait for an ack.",
                  metrics_number(l, "waiting"));
    metrics_count(f, "silken_libra_frames_total", "counter", "Frames from the switch to Libra_s.",
                  metrics_number(l, "frames"));
    metrics_count(f, "silken_libra_bad_frames_total", "counter", "Of those not understood.",
                  metrics_number(l, "bad"));
    metrics_count(f, "silken_libra_frames_lost_total", "counter",
                  "Frames of Libra_s for which the CPU port had no room.",
                  metrics_number(l, "frames_lost"));
}

// ---- the control plane ----

// Of the job service.
static void print_service(FILE *f, const struct sk_watch_control *c) {
    metrics_count(f, "silken_service_jobs", "gauge",
                  "Jobs of the job service, including those that wait.", c->jobs);
    metrics_count(f, "silken_service_connections", "gauge",
                  "Connections of workers to the job service.", c->workers);
    metrics_count(f, "silken_service_jobs_admitted_total", "counter",
                  "Jobs that the service has admitted.", c->jobs_admitted);
    metrics_count(f, "silken_service_jobs_failed_total", "counter",
                  "Jobs that ended because a worker disconnected, or that never began.",
                  c->jobs_failed);
    metrics_count(f, "silken_service_refused_total", "counter",
                  "Connections to the job service that were refused.", c->workers_refused);
}

static void put_control(FILE *f, const struct sk_watch *w, const struct sk_watch_control *c) {
    count_seconds(f, "silken_start_time_seconds", "gauge", "Start time, since 1970.", c->started);
    count_seconds(f, "silken_scrape_pause_seconds", "gauge",
                  "Time that the pipes waited while these numbers were read.", w->pause_ns);
    metrics_count(f, "silken_pauses_total", "counter",
                  "Pauses of the pipes, for the control plane.", c->pauses);
    count_seconds(f, "silken_paused_seconds_total", "counter", "Total time of the pauses.",
                  c->paused_ns);
    count_seconds(f, "silken_longest_pause_seconds", "gauge", "The longest pause.",
                  c->longest_pause_ns);
    count_seconds(f, "silken_longest_pause_cpu_seconds", "gauge",
                  "The most processor time of the control thread while all pipes waited.",
                  c->longest_pause_cpu_ns);
    metrics_count(f, "silken_flow_resets_total", "counter",
                  "Changes after which no flow record of before is used.", sk_tables_generation());
    metrics_count(f, "silken_control_requests_total", "counter", "Requests at the control socket.",
                  c->requests);
    metrics_count(f, "silken_control_refused_requests_total", "counter",
                  "Failed requests at the control socket.", c->refused);
    metrics_count(f, "silken_control_clients", "gauge", "Clients of the control socket.",
                  c->clients);
    metrics_count(f, "silken_metrics_requests_total", "counter", "Requests for these numbers.",
                  c->scrapes);
    metrics_count(f, "silken_http_refused_total", "counter",
                  "Other HTTP requests, and aborted connections.", c->http_refused);
    if (c->serves_jobs)
        print_service(f, c);
    metrics_count(f, "silken_digests_lost_total", "counter",
                  "Digests lost because the control plane was too slow.", c->digests_lost);
}

static void put_alarms(FILE *f, const json_t *alarms, const json_t *raised) {
    const char *kind;
    json_t *v;
    size_t i;
    metrics_family(f, "silken_alarm", "gauge", "1: this alarm is raised.");
    json_array_foreach((json_t *)alarms, i, v) {
        fputs("silken_alarm{", f);
        label(f, "alarm", sk_json_text(v, "alarm"));
        putc(',', f);
        label(f, "what", sk_json_text(v, "what"));
        fputs("} 1\n", f);
    }
    metrics_family(f, "silken_alarms_raised_total", "counter", "How often alarms were raised.");
    json_object_foreach((json_t *)raised, kind, v) {
        fputs("silken_alarms_raised_total{", f);
        label(f, "alarm", kind);
        fprintf(f, "} %" PRIu64 "\n", (uint64_t)json_integer_value(v));
    }
}

char *sk_metrics_text(const struct sk_watch *w, const struct sk_watch_control *control,
                      const json_t *alarms, const json_t *raised, size_t *length) {
    char *out = NULL;
    FILE *f = open_memstream(&out, length);
    if (!f)
        abort();
    metrics_put_switch(f, w);
    put_ports(f, w);
    put_port_drops(f, w);
    put_queue_drops(f, w);
    put_pools(f, w);
    metrics_put_tables(f, w);
    put_jobs(f, w);
    if (w->libra)
        put_libra(f, w->libra);
    put_control(f, w, control);
    put_alarms(f, alarms, raised);
    if (fclose(f) || !out)
        abort();
    return out;
}
