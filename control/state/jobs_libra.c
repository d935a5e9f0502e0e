// SPDX-License-Identifier: Apache-2.0
//
// Jobs of Libra: entries of a table of workers whose action gives the job's cells and the member's
// records, as p4/libra has it: "admission.workers", or "membership.workers" where p4/rack has
// SwitchML's beside it.
#include <stdlib.h>

#include "base/memory.h"
#include "control/state/jobs.h"
#include "control/tables/names.h"

#define WINDOW      512u // records of a member
#define COLLECTS    1u   // of its rights
#define STAMPS      ((UINT64_C(1) << 48) - 1)
#define DROPS       ".drops"
#define REPETITIONS "repetitions"

static const char *const libra_tables[] = {"membership.workers", "admission.workers"};
static const char *const libra_reasons[] = {
    NULL,
    "parser error",
    "wrong IPv4 checksum",
    "bad length",
    "unknown worker",
    "another epoch",
    "bad kind",
    "bad sequence number",
    "an index of another register",
    "an index outside the job's cells",
    "older than the records go back",
    "repeated while it was added",
};

struct libra_member {
    uint64_t number, port, address, record, rights, packets, last_hit;
};

struct libra_job {
    uint64_t number, epoch, first_cell, last_cell; // last: counted from the first
    struct libra_member *members;
    size_t n;
};

struct libra_view {
    struct sk_switch *sw;
    struct sk_object table;
    const struct sk_table_desc *desc;
    struct libra_job *jobs;
    size_t n;
    struct sk_pauses *pauses;
    uint64_t now;
};

// ---- entries ----

// False: there is no such field.
static bool libra_word(const struct sk_field_desc *fields, uint32_t n, const uint64_t *words,
                       const char *name, uint64_t *out) {
    struct sk_error ignored;
    const int index = sk_find_field("field", fields, n, name, &ignored);
    for (int i = 0; i < index; i++)
        words += sk_words(fields[i].width);
    *out = index < 0 ? 0 : *words;
    return index >= 0;
}

static bool libra_argument(const struct libra_view *v, const struct sk_entry *e, const char *name,
                           uint64_t *out) {
    const struct sk_action_desc *a = v->desc->actions[e->action];
    return libra_word(a->params, a->n_params, e->data, name, out);
}

static uint64_t libra_key(const struct libra_view *v, const struct sk_entry *e, const char *name) {
    uint64_t value;
    libra_word(v->desc->keys, v->desc->n_keys, e->value, name, &value);
    return value;
}

static bool libra_has_records(const struct sk_table_desc *desc) {
    struct sk_error ignored;
    for (uint32_t i = 0; i < desc->n_actions; i++)
        if (sk_find_field("field", desc->actions[i]->params, desc->actions[i]->n_params,
                          "record_base", &ignored) >= 0)
            return true;
    return false;
}

static bool libra_find_table(struct libra_view *v) {
    for (size_t i = 0; i < sizeof libra_tables / sizeof *libra_tables; i++) {
        if (!sk_has_object(v->sw, SK_TABLE, libra_tables[i], &v->table))
            continue;
        v->desc = v->table.desc->tables[v->table.index];
        if (libra_has_records(v->desc))
            return true;
    }
    return false;
}

static struct libra_job *libra_job_of(struct libra_view *v, uint64_t number) {
    for (size_t i = 0; i < v->n; i++)
        if (v->jobs[i].number == number)
            return &v->jobs[i];
    v->jobs = sk_resize(v->jobs, v->n + 1, sizeof *v->jobs);
    v->jobs[v->n] = (struct libra_job){.number = number};
    return &v->jobs[v->n++];
}

static struct libra_member *libra_member_of(struct libra_job *j, uint64_t number) {
    for (size_t i = 0; i < j->n; i++)
        if (j->members[i].number == number)
            return &j->members[i];
    j->members = sk_resize(j->members, j->n + 1, sizeof *j->members);
    j->members[j->n] = (struct libra_member){.number = number};
    return &j->members[j->n++];
}

static bool libra_read_entry(void *aux, const struct sk_entry *e) {
    struct libra_view *v = aux;
    uint64_t record;
    if (!libra_argument(v, e, "record_base", &record))
        return true;
    struct libra_job *j = libra_job_of(v, libra_key(v, e, "job"));
    struct libra_member *m = libra_member_of(j, libra_key(v, e, "worker"));
    libra_argument(v, e, "epoch", &j->epoch);
    libra_argument(v, e, "cell_base", &j->first_cell);
    libra_argument(v, e, "cell_last", &j->last_cell);
    libra_argument(v, e, "rights", &m->rights);
    m->record = record / WINDOW;
    m->address = libra_key(v, e, "src_addr");
    m->port = libra_key(v, e, "ingress_port");
    sk_pauses_breathe(v->pauses);
    m->packets += e->packets;
    if (sk_entry_last_hit(e) > m->last_hit)
        m->last_hit = sk_entry_last_hit(e);
    return true;
}

static int libra_compare_members(const void *a, const void *b) {
    const struct libra_member *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static int libra_compare_jobs(const void *a, const void *b) {
    const struct libra_job *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static void libra_read(struct libra_view *v) {
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
        if (sk_object_in_pipe(v->sw, &v->table, pipe))
            sk_table_each(v->table.desc->table(sk_switch_pipe(v->sw, pipe), v->table.index),
                          libra_read_entry, v);
    const uint64_t latest = sk_switch_now(v->sw); // of a packet that is counted here
    v->now = (v->now > latest ? v->now : latest) & STAMPS;
    for (size_t i = 0; i < v->n; i++)
        qsort(v->jobs[i].members, v->jobs[i].n, sizeof *v->jobs[i].members, libra_compare_members);
    if (v->n > 0)
        qsort(v->jobs, v->n, sizeof *v->jobs, libra_compare_jobs);
}

// ---- counters ----

// Of the same pipeline as the table: "libra." of "libra.Libra.ingress.membership.workers".
static bool libra_is_beside(const struct libra_view *v, const char *name) {
    const char *table = sk_object_name(&v->table), *dot = strchr(table, '.');
    return dot && strncmp(name, table, (size_t)(dot - table) + 1) == 0;
}

static bool libra_ends_with(const char *name, const char *end) {
    const size_t n = strlen(name), m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

// Sum of the counters of this name, in both gresses and all pipes.
static uint64_t libra_count(const struct libra_view *v, const char *end, uint64_t index) {
    struct sk_object o;
    uint64_t sum = 0;
    for (size_t i = 0; sk_object_at(v->sw, SK_COUNTER, i, &o); i++) {
        struct sk_counter_cell cell;
        struct sk_error ignored;
        const char *name = sk_object_name(&o);
        if (libra_is_beside(v, name) && libra_ends_with(name, end) &&
            sk_control_counter_read(v->sw, name, index, &cell, &ignored) == 0)
            sum += cell.packets;
    }
    return sum;
}

static json_t *libra_drops(const struct libra_view *v) {
    json_t *list = json_array();
    for (size_t i = 1; i < sizeof libra_reasons / sizeof *libra_reasons; i++) {
        const uint64_t packets = libra_count(v, DROPS, i);
        if (packets > 0)
            json_array_append_new(list, json_pack("{s:s, s:I}", "reason", libra_reasons[i],
                                                  "packets", (json_int_t)packets));
    }
    return list;
}

// ---- the answer ----

// Where a ToR has the table, all come by one port, and where they are is not known here.
static json_t *libra_member_json(const struct libra_view *v, const struct libra_member *m) {
    char ip[16];
    snprintf(ip, sizeof ip, "%u.%u.%u.%u", (unsigned)(m->address >> 24 & 255),
             (unsigned)(m->address >> 16 & 255), (unsigned)(m->address >> 8 & 255),
             (unsigned)(m->address & 255));
    json_t *out = json_pack("{s:I, s:s, s:I, s:I}", "worker", (json_int_t)m->number, "ip", ip,
                            "packets", (json_int_t)m->packets, "repeated",
                            (json_int_t)libra_count(v, REPETITIONS, m->record));
    if (sk_name_matches(sk_object_name(&v->table), libra_tables[1]))
        json_object_set_new(out, "port", json_integer((json_int_t)m->port));
    if (m->rights & COLLECTS)
        json_object_set_new(out, "server", json_true());
    if (m->last_hit)
        json_object_set_new(
            out, "idle_ms",
            json_integer((json_int_t)(((v->now - m->last_hit) & STAMPS) / 1000000)));
    return out;
}

static json_t *libra_job_json(const struct libra_view *v, const struct libra_job *j) {
    char name[24];
    json_t *members = json_array();
    snprintf(name, sizeof name, "%llu", (unsigned long long)j->number);
    for (size_t i = 0; i < j->n; i++)
        json_array_append_new(members, libra_member_json(v, &j->members[i]));
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:o}", "name", name, "kind", "libra", "size",
                     (json_int_t)j->n, "epoch", (json_int_t)j->epoch, "first_cell",
                     (json_int_t)j->first_cell, "cells", (json_int_t)j->last_cell + 1, "workers",
                     members);
}

json_t *sk_jobs_libra(struct sk_switch *sw, int64_t job, uint64_t now, struct sk_pauses *pauses,
                      json_t **drops) {
    struct libra_view v = {.sw = sw, .pauses = pauses, .now = now};
    if (!libra_find_table(&v))
        return NULL;
    json_t *jobs = json_array();
    sk_pauses_begin(pauses);
    libra_read(&v);
    for (size_t i = 0; i < v.n; i++)
        if (job < 0 || v.jobs[i].number == (uint64_t)job)
            json_array_append_new(jobs, libra_job_json(&v, &v.jobs[i]));
    if (drops)
        *drops = libra_drops(&v);
    sk_pauses_end(pauses);
    for (size_t i = 0; i < v.n; i++)
        free(v.jobs[i].members);
    free(v.jobs);
    return jobs;
}
