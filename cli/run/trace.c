// SPDX-License-Identifier: Apache-2.0
//
// trace: `silken ctl trace`: a filter is armed, and the way of the next packets that match is
// printed, while the fast build runs (control/watch/shadow.h says how, pipeline/observe/trap.h how
// packets are caught).
//
// One trace at a time. The checked build is compiled by a process of its own, since that may take
// seconds; all else is done on the control thread. Whoever started a trace reads it again and
// again; one that no one reads any more is ended.
#include "cli/run/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "brt/brt.h"
#include "cli/cli.h"
#include "control/tables/json_switch.h"
#include "control/watch/shadow.h"
#include "filter/filter.h"

#define MS           UINT64_C(1000000)
#define LEASE_NS     (2000 * MS)
#define FOREVER_NS   (UINT64_C(1) << 62)
#define MOST_PACKETS 1000u
#define LONGEST      600u // seconds
#define MOST_AT_ONCE 8u   // packets in one pause

enum trace_state { TRACE_COMPILING, TRACE_ARMED, TRACE_DONE, TRACE_FAILED };
static const char *const state_names[] = {"compiling", "armed", "done", "failed"};

struct run_trace {
    bool snapshot; // a controller's, which looks for it by itself
    enum trace_state state;
    uint64_t client;             // who started it
    struct run_builder *builder; // of the checked build; null: it was compiled
    struct run_source *source;   // of what it compiles
    struct sk_program *checked;  // null: not yet

    struct sk_shadow *shadow;
    struct sk_trap trap;
    pthread_mutex_t lock; // of 'shadow' while cores run
    bool ports[SK_PORTS];
    struct sk_shadow_field fields[SK_SHADOW_FIELDS];
    size_t n_fields;
    struct sk_filter *filter; // or null
    enum sk_trace_form form;
    uint64_t left, timeout_ns, until, read_until;
    _Atomic(uint64_t) seen; // packets of those ports that the filter lets by
    uint64_t shown, differing;
    json_t *packets; // texts that were not read yet
    char error[512];
};

// ---- on threads of lcores ----

static bool run_trace_match(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    struct run_trace *t = aux;
    if (t->left == 0 || (t->filter && !sk_filter_matches(t->filter, frame, length, length)))
        return false;
    atomic_fetch_add_explicit(&t->seen, 1, memory_order_relaxed);
    if (t->n_fields == 0)
        return true;
    pthread_mutex_lock(&t->lock);
    const bool matches = sk_shadow_matches(t->shadow, port, frame, length, t->fields, t->n_fields);
    pthread_mutex_unlock(&t->lock);
    return matches;
}

// ---- the end ----

// What is held goes on; the texts stay to be read.
static void disarm(struct run *r) {
    struct run_trace *t = r->trace;
    if (!t->shadow)
        return;
    run_pause(r);
    sk_switch_set_trap(r->sw, NULL, run_now());
    run_resume(r);
    sk_shadow_free(t->shadow);
    t->shadow = NULL;
}

static void trace_end_building(struct run_trace *t) {
    run_builder_free(t->builder);
    run_source_free(t->source);
    t->builder = NULL;
    t->source = NULL;
}

static void run_trace_finish(struct run *r, enum trace_state state, const char *error) {
    struct run_trace *t = r->trace;
    disarm(r);
    trace_end_building(t);
    t->state = state;
    snprintf(t->error, sizeof t->error, "%s", error ? error : "");
}

static void free_trace(struct run *r) {
    struct run_trace *t = r->trace;
    if (!t)
        return;
    disarm(r);
    trace_end_building(t);
    sk_program_free(t->checked);
    for (size_t i = 0; i < t->n_fields; i++) {
        free((char *)t->fields[i].name);
        free((char *)t->fields[i].value);
    }
    sk_filter_free(t->filter);
    json_decref(t->packets);
    pthread_mutex_destroy(&t->lock);
    free(t);
    r->trace = NULL;
}

void run_trace_disarm(struct run *r) {
    if (r->trace && r->trace->state == TRACE_ARMED)
        run_trace_finish(r, TRACE_FAILED,
                         "the trace was ended: a port or the program is being replaced");
}

void run_trace_left(struct run *r, uint64_t client) {
    if (r->trace && !r->trace->snapshot && r->trace->client == client)
        free_trace(r);
}

void run_trace_end(struct run *r) {
    free_trace(r);
}

// ---- the control thread's turn ----

static void arm(struct run *r, uint64_t now) {
    struct run_trace *t = r->trace;
    struct sk_error err;
    t->checked = run_builder_program(t->builder, &err);
    trace_end_building(t);
    if (!t->checked) {
        sk_error_prefix(&err, "the checked build of the program could not be made");
        run_trace_finish(r, TRACE_FAILED, err.text);
        return;
    }
    run_pause(r);
    t->shadow = sk_shadow_new(t->checked, r->sw, &err);
    t->trap = (struct sk_trap){.match = run_trace_match, .aux = t};
    memcpy(t->trap.ports, t->ports, sizeof t->trap.ports);
    if (t->shadow)
        sk_switch_set_trap(r->sw, &t->trap, now);
    run_resume(r);
    if (!t->shadow) {
        run_trace_finish(r, TRACE_FAILED, err.text);
        return;
    }
    t->state = TRACE_ARMED;
    t->until = now + t->timeout_ns;
}

static void run_trace_show(struct run *r, unsigned core) {
    struct run_trace *t = r->trace;
    char *text = NULL;
    size_t length = 0;
    FILE *f = open_memstream(&text, &length);
    if (!f)
        abort();
    t->differing += !sk_shadow_show(t->shadow, core, run_now(), f, t->form);
    if (fclose(f))
        abort();
    json_array_append_new(t->packets, json_stringn(text ? text : "", length));
    free(text);
    t->shown++;
    t->left--;
}

static void take_hits(struct run *r) {
    struct run_trace *t = r->trace;
    run_pause(r);
    for (unsigned i = 0; i < MOST_AT_ONCE && t->left > 0; i++) {
        const int core = sk_trap_hit(r->sw);
        if (core < 0)
            break;
        run_trace_show(r, (unsigned)core);
        sk_trap_run_rest(r->sw, (unsigned)core, run_now());
    }
    run_resume(r);
}

void run_trace_turn(struct run *r, uint64_t now) {
    struct run_trace *t = r->trace;
    if (!t)
        return;
    if (t->state == TRACE_COMPILING && run_builder_ended(t->builder))
        arm(r, now);
    if (t->state == TRACE_ARMED && sk_trap_hit(r->sw) >= 0)
        take_hits(r);
    if (t->state == TRACE_ARMED && (t->left == 0 || now >= t->until || now >= t->read_until))
        run_trace_finish(r, TRACE_DONE, NULL);
    if (now >= t->read_until)
        free_trace(r); // nobody wants it any more
}

// ---- requests ----

static void run_trace_read_ports(struct run *r, const struct sk_at *at, struct run_trace *t) {
    const struct sk_at list = sk_at_member(at, "ports");
    const size_t n = sk_at_length(&list);
    for (unsigned port = 0; !list.value && port < SK_PORTS; port++)
        t->ports[port] = true;
    for (size_t i = 0; i < n && !at->doc->failed; i++) {
        const struct sk_at item = sk_at_item(&list, i);
        const char *name = json_string_value(item.value);
        const struct sk_config_port *p = name ? run_port_named(r, name) : NULL;
        if (name && !p)
            sk_at_fail(&item, "there is no port '%s'", name);
        const uint16_t port = p ? p->port : at->doc->failed ? 0 : sk_at_port(&item);
        t->ports[port % SK_PORTS] = true;
    }
}

static void read_fields(const struct sk_switch *sw, const struct sk_at *at, struct run_trace *t) {
    const struct sk_at fields = sk_at_member(at, "fields");
    size_t n = 0;
    const struct sk_named_value *v = sk_at_values(&fields, &n);
    if (n > SK_SHADOW_FIELDS)
        sk_at_fail(&fields, "there are more than %u of them", SK_SHADOW_FIELDS);
    for (size_t i = 0; i < n && !at->doc->failed; i++)
        t->fields[t->n_fields++] =
            (struct sk_shadow_field){sk_copy_text(v[i].name), sk_copy_text(v[i].value), false};
    if (!at->doc->failed && sk_shadow_check(sw, t->fields, t->n_fields, at->doc->err))
        at->doc->failed = true;
}

static json_t *state_json(const struct run_trace *t) {
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:O}", "state", state_names[t->state], "error",
                     t->error, "seen", (json_int_t)atomic_load(&t->seen), "shown",
                     (json_int_t)t->shown, "differing", (json_int_t)t->differing, "packets",
                     t->packets);
}

// Begins with the checked build; -1 when that cannot be compiled now: the trace has failed.
static int run_trace_begin(struct run *r, struct run_trace *t, struct sk_error *err) {
    free_trace(r);
    t->packets = json_array();
    t->read_until = run_now() + LEASE_NS;
    r->trace = t;
    t->source = run_source_copy(r->source);
    t->builder = run_builder_start(r, t->source, true, err);
    if (t->builder)
        return 0;
    run_trace_finish(r, TRACE_FAILED, err->text);
    return -1;
}

json_t *run_trace_start(struct run *r, const struct sk_at *at) {
    static const char *const keys[] = {"op",    "ports",   "fields", "filter",
                                       "count", "timeout", "form",   NULL};
    static const char *const forms[] = {"text", "json"};
    sk_at_keys(at, keys);
    const struct sk_at count = sk_at_member(at, "count"), timeout = sk_at_member(at, "timeout"),
                       form = sk_at_member(at, "form"), filter = sk_at_member(at, "filter");
    const char *word = sk_at_string(&form, false);
    struct run_trace *t = calloc(1, sizeof *t);
    if (!t)
        abort();
    t->left = count.value ? sk_at_number(&count, true, MOST_PACKETS) : 1;
    t->timeout_ns = (timeout.value ? sk_at_number(&timeout, true, LONGEST) : 10) * 1000 * MS;
    if (word && strcmp(word, forms[0]) != 0 && strcmp(word, forms[1]) != 0)
        sk_at_fail(&form, "the forms are text and json");
    t->form = word && strcmp(word, forms[1]) == 0 ? SK_TRACE_JSON : SK_TRACE_TEXT;
    if (!at->doc->failed && (t->left == 0 || t->timeout_ns == 0))
        sk_at_fail(at, "\"count\" and \"timeout\" are at least 1");
    if (!at->doc->failed)
        run_trace_read_ports(r, at, t);
    if (!at->doc->failed)
        read_fields(r->sw, at, t);
    if (!at->doc->failed && filter.value)
        t->filter = sk_filter_of_json(&filter);
    if (!at->doc->failed && r->trace && r->trace->state <= TRACE_ARMED)
        sk_at_fail(at, r->trace->snapshot
                           ? "a controller's snapshot waits for a packet"
                           : "another trace is armed; it ends by itself when no client reads it");
    pthread_mutex_init(&t->lock, NULL);
    if (at->doc->failed) {
        struct run_trace *armed = r->trace;
        r->trace = t;
        free_trace(r);
        r->trace = armed;
        return NULL;
    }
    t->client = r->control.client;
    run_trace_begin(r, t, at->doc->err);
    return state_json(t);
}

json_t *run_trace_read(struct run *r, const struct sk_at *at) {
    static const char *const keys[] = {"op", NULL};
    sk_at_keys(at, keys);
    struct run_trace *t = r->trace && !r->trace->snapshot ? r->trace : NULL;
    if (!t)
        sk_at_fail(at, "there is no trace");
    if (at->doc->failed)
        return NULL;
    t->read_until = run_now() + LEASE_NS;
    json_t *out = state_json(t);
    json_decref(t->packets);
    t->packets = json_array();
    return out;
}

json_t *run_trace_stop(struct run *r, const struct sk_at *at) {
    static const char *const keys[] = {"op", NULL};
    sk_at_keys(at, keys);
    if (at->doc->failed)
        return NULL;
    if (r->trace && r->trace->state <= TRACE_ARMED && !r->trace->snapshot)
        run_trace_finish(r, TRACE_DONE, NULL);
    return json_object();
}

// ---- snapshots of controllers (brt/snapshot.h) ----

int run_snapshot_check(void *run, const struct brt_snapshot_field *fields, size_t n,
                       struct sk_error *err) {
    const struct run *r = run;
    struct sk_shadow_field list[SK_SHADOW_FIELDS];
    for (size_t i = 0; i < n && i < SK_SHADOW_FIELDS; i++)
        list[i] = (struct sk_shadow_field){fields[i].name, fields[i].value, true};
    return sk_shadow_check(r->sw, list, n < SK_SHADOW_FIELDS ? n : SK_SHADOW_FIELDS, err);
}

int run_snapshot_arm(void *run, uint8_t pipes, const struct brt_snapshot_field *fields, size_t n,
                     struct sk_error *err) {
    struct run *r = run;
    if (r->trace && r->trace->state <= TRACE_ARMED)
        return sk_fail(err, "another trace is armed");
    struct run_trace *t = calloc(1, sizeof *t);
    if (!t)
        abort();
    t->snapshot = true;
    t->left = 1;
    t->form = SK_TRACE_JSON;
    t->timeout_ns = FOREVER_NS;
    pthread_mutex_init(&t->lock, NULL);
    for (unsigned port = 0; port < SK_PORTS; port++)
        t->ports[port] = pipes >> sk_port_pipe(port) % SK_PIPES & 1;
    for (size_t i = 0; i < n && i < SK_SHADOW_FIELDS; i++)
        t->fields[t->n_fields++] = (struct sk_shadow_field){.name = sk_copy_text(fields[i].name),
                                                            .value = sk_copy_text(fields[i].value),
                                                            .ingress = true};
    const int rc = run_trace_begin(r, t, err);
    t->read_until = UINT64_MAX;
    return rc;
}

int run_snapshot_look(void *run, char **text) {
    const struct run *r = run;
    const struct run_trace *t = r->trace;
    if (!t || !t->snapshot || t->state == TRACE_FAILED)
        return -1;
    const char *packet = json_string_value(json_array_get(t->packets, 0));
    if (!packet)
        return t->state == TRACE_DONE ? -1 : 1;
    *text = sk_copy_text(packet);
    return 0;
}

void run_snapshot_drop(void *run) {
    struct run *r = run;
    if (r->trace && r->trace->snapshot)
        free_trace(r);
}
