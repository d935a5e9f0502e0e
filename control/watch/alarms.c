// SPDX-License-Identifier: Apache-2.0
#include "control/watch/alarms.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"

#define SECOND   UINT64_C(1000000000)
#define CALM_NS  (10 * SECOND) // of queues and links
#define FLAP_NS  (60 * SECOND)
#define FLAPS    32u // changes that are remembered of a port
#define BRIEF_NS (60 * SECOND)
#define MOST     1000u // alarms at a time: what others raise has no end

struct alarm {
    char *kind, *what, *text;
    uint64_t since, seen, until; // 'until': cleared then without being seen; 0: at the next look
    bool others;                 // cleared by whoever raised it, or at 'until'
};
struct job {
    char *name;
    json_int_t fingerprint;
    uint64_t since, seen;
};
struct port {
    uint64_t drops, drops_at; // of the look before; 0: there was none
    uint64_t flaps[FLAPS];
    unsigned n_flaps;
};

struct sk_alarms {
    struct sk_config_alarms limits;
    void (*tell)(void *aux, json_t *event);
    void *aux;
    struct alarm *list;
    size_t n, room;
    struct job *jobs;
    size_t n_jobs;
    struct port ports[SK_PORTS];
    json_t *raised; // kind: how often
};

struct sk_alarms *sk_alarms_new(const struct sk_config_alarms *options,
                                void (*tell)(void *aux, json_t *event), void *aux) {
    static const char *const kinds[] = {"stuck-job", "leaking-aggregator", "flapping-link",
                                        "queue-drops", "full-table"};
    struct sk_alarms *a = calloc(1, sizeof *a);
    if (!a)
        abort();
    a->limits = *options;
    a->tell = tell;
    a->aux = aux;
    a->raised = json_object();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        json_object_set_new(a->raised, kinds[i], json_integer(0));
    return a;
}

static void free_alarm(struct alarm *x) {
    free(x->kind);
    free(x->what);
    free(x->text);
}

void sk_alarms_free(struct sk_alarms *a) {
    if (!a)
        return;
    for (size_t i = 0; i < a->n; i++)
        free_alarm(&a->list[i]);
    for (size_t i = 0; i < a->n_jobs; i++)
        free(a->jobs[i].name);
    free(a->list);
    free(a->jobs);
    json_decref(a->raised);
    free(a);
}

void sk_alarms_set(struct sk_alarms *a, const struct sk_config_alarms *options) {
    a->limits = *options;
}

// ---- raising and clearing ----

static json_t *alarm_json(const struct alarm *x) {
    return json_pack("{s:s, s:s, s:s, s:I}", "alarm", x->kind, "what", x->what, "text", x->text,
                     "since", (json_int_t)x->since);
}

static void alarms_tell(struct sk_alarms *a, const struct alarm *x, bool on) {
    json_t *event = alarm_json(x);
    if (!event) // a name that is no UTF-8
        event = json_pack("{s:s}", "alarm", x->kind);
    json_object_set_new(event, "event", json_string("alarm"));
    json_object_set_new(event, "on", json_boolean(on));
    a->tell(a->aux, event);
}

static struct alarm *alarms_find(struct sk_alarms *a, const char *kind, const char *what) {
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->list[i].kind, kind) == 0 && strcmp(a->list[i].what, what) == 0)
            return &a->list[i];
    return NULL;
}

// Raised or still there; the sentence is the first one's.
static struct alarm *raise(struct sk_alarms *a, const char *kind, const char *what, uint64_t since,
                           uint64_t now, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
static struct alarm *raise(struct sk_alarms *a, const char *kind, const char *what, uint64_t since,
                           uint64_t now, const char *format, ...) {
    struct alarm *x = alarms_find(a, kind, what);
    va_list args;
    if (x) {
        x->seen = now;
        return x;
    }
    if (a->n == MOST)
        return NULL;
    a->list = sk_grow(a->list, a->n, &a->room, sizeof *a->list);
    x = &a->list[a->n++];
    *x = (struct alarm){
        .kind = sk_copy_text(kind), .what = sk_copy_text(what), .since = since, .seen = now};
    va_start(args, format);
    if (vasprintf(&x->text, format, args) < 0)
        abort();
    va_end(args);
    const json_int_t times = json_integer_value(json_object_get(a->raised, kind));
    json_object_set_new(a->raised, kind, json_integer(times + 1));
    alarms_tell(a, x, true);
    return x;
}

static void alarms_clear(struct sk_alarms *a, size_t i) {
    struct alarm gone = a->list[i];
    memmove(&a->list[i], &a->list[i + 1], (--a->n - i) * sizeof *a->list); // in order of their time
    alarms_tell(a, &gone, false);
    free_alarm(&gone);
}

// What was not seen any more at 'now'.
static void clear_old(struct sk_alarms *a, uint64_t now) {
    for (size_t i = a->n; i-- > 0;) {
        const struct alarm *x = &a->list[i];
        if (x->until ? now >= x->until : !x->others && x->seen < now)
            alarms_clear(a, i);
    }
}

// ---- jobs ----

static struct job *alarms_job_of(struct sk_alarms *a, const char *name, uint64_t now) {
    for (size_t i = 0; i < a->n_jobs; i++)
        if (strcmp(a->jobs[i].name, name) == 0)
            return &a->jobs[i];
    a->jobs = sk_resize(a->jobs, a->n_jobs + 1, sizeof *a->jobs);
    a->jobs[a->n_jobs] = (struct job){.name = sk_copy_text(name), .since = now};
    return &a->jobs[a->n_jobs++];
}

// " worker 1 (10.0.0.2), silent for 5.1 s; worker 2..."
static void list_missing(const json_t *job, char *out, size_t size) {
    size_t i, n = 0;
    json_t *w;
    out[0] = 0;
    json_array_foreach(json_object_get(job, "workers"), i, w) {
        if (sk_json_number(w, "missing") == 0 || n + 120 > size)
            continue;
        n += (size_t)snprintf(out + n, size - n, "%s worker %" PRId64 " (%.40s)", n ? ";" : "",
                              (int64_t)sk_json_number(w, "worker"), sk_json_text(w, "ip"));
        if (json_object_get(w, "idle_ms"))
            n += (size_t)snprintf(out + n, size - n, ", last packet %.1f s ago",
                                  (double)sk_json_number(w, "idle_ms") / 1000);
        else
            n += (size_t)snprintf(out + n, size - n, ", which never sent");
    }
    if (n == 0) // its part is missing because nobody is registered for it
        snprintf(out, size, " a worker that is not registered");
}

static void look_at_job(struct sk_alarms *a, const json_t *j, uint64_t now) {
    struct job *job = alarms_job_of(a, sk_json_text(j, "name"), now);
    const json_int_t fingerprint = sk_json_number(j, "fingerprint");
    const uint64_t limit = a->limits.job_stuck * SECOND;
    char who[600];
    job->seen = now;
    if (sk_json_number(j, "waits") == 0 || fingerprint != job->fingerprint) {
        job->fingerprint = fingerprint;
        job->since = now;
        return;
    }
    if (limit == 0 || now - job->since < limit)
        return;
    list_missing(j, who, sizeof who);
    raise(a, "stuck-job", job->name, job->since, now,
          "job %s: nothing changed for %" PRIu64 " s while %" PRId64 " slots wait for%s", job->name,
          (now - job->since) / SECOND, (int64_t)sk_json_number(j, "waits"), who);
}

static void look_at_jobs(struct sk_alarms *a, const json_t *jobs, uint64_t now) {
    size_t i;
    json_t *j;
    json_array_foreach((json_t *)jobs, i, j) {
        if (strcmp(sk_json_text(j, "kind"), "libra") != 0) // nobody waits for a part of it
            look_at_job(a, j, now);
    }
    for (i = a->n_jobs; i-- > 0;) {
        if (a->jobs[i].seen == now)
            continue;
        free(a->jobs[i].name);
        a->jobs[i] = a->jobs[--a->n_jobs];
    }
}

static void look_at_aggregators(struct sk_alarms *a, const json_t *jobs, uint64_t now) {
    size_t i;
    json_t *j;
    json_array_foreach((json_t *)jobs, i, j) {
        const uint64_t ms = (uint64_t)sk_json_number(j, "oldest_ms");
        if (a->limits.aggregator == 0 || ms < a->limits.aggregator * 1000u)
            continue;
        raise(a, "leaking-aggregator", sk_json_text(j, "name"), now - ms * 1000000u, now,
              "job %s of ATP holds %" PRId64 " aggregators; aggregator %" PRId64 " of pipe %" PRId64
              " has received nothing for %.1f s",
              sk_json_text(j, "name"), (int64_t)sk_json_number(j, "held"),
              (int64_t)sk_json_number(j, "index"), (int64_t)sk_json_number(j, "pipe"),
              (double)ms / 1000);
    }
}

// ---- ports and tables ----

// 'name' has at most SK_WATCH_NAME bytes: it is not cut.
static const char *port_text(char out[96], uint16_t port, const char *name) {
    snprintf(out, 96, "port %u%s%s", port, *name ? " " : "", name);
    return out;
}

static void look_at_port(struct sk_alarms *a, const struct sk_watch_port *p, uint64_t now) {
    struct port *own = &a->ports[p->port];
    const uint64_t drops = sk_queue_drops(p->stats.drops) + p->stats.drops[SK_DROP_TX_FULL];
    const uint64_t before = own->drops, at = own->drops_at;
    char what[96];
    own->drops = drops;
    own->drops_at = now;
    if (at == 0 || now <= at || drops < before || a->limits.queue_drops == 0)
        return;
    const double rate = (double)(drops - before) * 1e9 / (double)(now - at);
    port_text(what, p->port, p->name);
    if (rate <= (double)a->limits.queue_drops)
        return;
    struct alarm *x = raise(a, "queue-drops", what, at, now,
                            "%s drops %.0f packets a second: it is full", what, rate);
    if (x)
        x->until = now + CALM_NS;
}

static void look_at_tables(struct sk_alarms *a, const struct sk_watch *w) {
    for (size_t i = 0; i < w->n_tables; i++) {
        const struct sk_watch_table *t = &w->tables[i];
        if (a->limits.table_full == 0 || t->fixed || t->size == 0 ||
            t->entries * 100 < t->size * a->limits.table_full)
            continue;
        raise(a, "full-table", t->name, w->clock, w->clock,
              "table %s has %" PRIu64 " entries of %" PRIu64, t->name, t->entries, t->size);
    }
}

void sk_alarms_look(struct sk_alarms *a, const struct sk_watch *w, const json_t *aggregators) {
    look_at_jobs(a, w->jobs, w->clock);
    look_at_aggregators(a, aggregators, w->clock);
    for (size_t i = 0; i < w->n_ports; i++)
        look_at_port(a, &w->ports[i], w->clock);
    look_at_tables(a, w);
    clear_old(a, w->clock);
}

void sk_alarms_link(struct sk_alarms *a, uint16_t port, const char *name, bool up,
                    uint64_t now_ns) {
    struct port *p = &a->ports[port % SK_PORTS];
    const unsigned limit = a->limits.flaps < FLAPS ? a->limits.flaps : FLAPS;
    char what[96];
    p->flaps[p->n_flaps++ % FLAPS] = now_ns;
    port_text(what, port, name);
    struct alarm *x = alarms_find(a, "flapping-link", what);
    if (limit > 0 && p->n_flaps >= limit) {
        const uint64_t first = p->flaps[(p->n_flaps - limit) % FLAPS];
        if (now_ns - first <= FLAP_NS)
            x = raise(a, "flapping-link", what, first, now_ns,
                      "the link of %s changed %u times within %.1f s, and is now %s", what, limit,
                      (double)(now_ns - first) / 1e9, up ? "up" : "down");
    }
    if (x)
        x->until = now_ns + FLAP_NS;
}

// ---- of others ----

// "flapping link" of "web": the member that is no common one.
static const char *what_of(const json_t *event) {
    static const char *const keys[] = {"what", "link", "object", "port", "job"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (json_string_value(json_object_get(event, keys[i])))
            return sk_json_text(event, keys[i]);
    return "";
}

bool sk_alarms_take(struct sk_alarms *a, const json_t *event, uint64_t now_ns) {
    const json_t *on = json_object_get(event, "on");
    const char *what = what_of(event), *why = sk_json_text(event, "why"),
               *says = sk_json_text(event, "text");
    char kind[64];
    if (strcmp(sk_json_text(event, "event"), "alarm") != 0)
        return false;
    snprintf(kind, sizeof kind, "%s", sk_json_text(event, "alarm"));
    for (char *c = kind; *c; c++)
        *c = *c == ' ' ? '-' : *c;
    struct alarm *x = alarms_find(a, kind, what);
    if (json_is_false(on)) {
        if (x)
            alarms_clear(a, (size_t)(x - a->list));
        return true;
    }
    // whoever shows an alarm shows its kind beside the text
    x = *says
            ? raise(a, kind, what, now_ns, now_ns, "%s", says)
            : raise(a, kind, what, now_ns, now_ns, "%s%s%s", what, *what && *why ? ": " : "", why);
    if (x) {
        x->others = true;
        x->until = on ? 0 : now_ns + BRIEF_NS;
    }
    return true;
}

// ---- what there is ----

json_t *sk_alarms_json(const struct sk_alarms *a) {
    json_t *list = json_array();
    for (size_t i = 0; i < a->n; i++)
        json_array_append_new(list, alarm_json(&a->list[i]));
    return list;
}

json_t *sk_alarms_raised(const struct sk_alarms *a) {
    return json_deep_copy(a->raised);
}
