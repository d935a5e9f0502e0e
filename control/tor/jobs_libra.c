// SPDX-License-Identifier: Apache-2.0
//
// jobs_libra: jobs of Libra (p4/rack/with_libra.p4): their cells of 16 registers, the records by
// which a push is added once, and the tables of the adder.
//
// Cells hold sums for as long as the job lasts, so they are another matter than slots:
//
//     - What was admitted of a job that goes is still being added for some passes. Its cells and
//       records are "left" until all of that is done. A job that is given some of them earlier
//       waits: nobody of it is admitted, then its cells are cleared.
//     - Where registers are lost (another process, another program) the job is over: its workers
//       would pull sums that lack what they had pushed. It becomes one of the lost, with a
//       sentence, until somebody removes it.
#include <stdlib.h>

#include "control/sessions/clear.h"
#include "control/tables/attached.h"
#include "control/tables/control.h"
#include "control/tables/names.h"
#include "control/tor/jobs_impl.h"
#include "hosts/libra/adder.h"

#define LIBRA_SHARES 4u // equal ones, of all cells
#define REPETITIONS  "records.repetitions"

static struct sessions_switch jobs_libra_switch_of(const struct tor *t) {
    return (struct sessions_switch){t->host.sw, t->host.pause, t->host.resume, t->host.aux};
}

// ---- the program ----

static int jobs_libra_supported(struct tor *t, struct sk_error *err) {
    static const char *const tables[] = {JOBS_LIBRA_MEMBERS, JOBS_LIBRA_RECEIVES};
    const struct sessions_switch sw = jobs_libra_switch_of(t);
    struct sk_error ignored;
    struct sk_object o;
    bool all = sessions_cells(&sw) > 0 && sessions_records(&sw) > 0;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        all &= sk_find_object(t->host.sw, SK_TABLE, tables[i], &o, &ignored) == 0;
    return all ? 0
               : sk_fail(err, "protocol: the running program has no Libra; "
                              "p4/rack/with_libra.p4 has");
}

struct jobs_libra_filling {
    struct tor *t;
    struct sk_error *err;
};

static int jobs_libra_fill_table(void *aux, const char *table, const char *action,
                                 const uint32_t *values, size_t n) {
    const struct jobs_libra_filling *f = aux;
    const struct tor_host *host = &f->t->host;
    if (host->pause)
        host->pause(host->aux);
    const int rc = sk_control_table_fill(host->sw, table, action, values, n, -1, f->err);
    if (host->resume)
        host->resume(host->aux);
    return rc;
}

// Once in a program: the first job needs them.
static int jobs_libra_fill(struct tor *t, struct jobs *all, struct sk_error *err) {
    struct jobs_libra_filling f = {t, err};
    if (all->libra.filled)
        return 0;
    const int rc = libra_adder_fill(libra_adder(), jobs_libra_fill_table, &f);
    all->libra.filled = rc == 0;
    return rc;
}

// ---- what a job is given ----

int jobs_libra_ready(struct tor *t, struct jobs_job *job, bool again, struct sk_error *err) {
    if (jobs_libra_supported(t, err))
        return -1;
    if (again)
        return sk_fail(err, "its sums were in the switch, which has been restarted; remove the "
                            "job, and add it again when its hosts are restarted");
    if (job->configured && !t->section->state && !t->host.has_state)
        return sk_fail(err, "protocol: a job of Libra in the configuration needs \"state\": after "
                            "a restart the switch would not know that the job's sums are lost");
    if (job->count == 0)
        job->count = jobs_room(t, JOBS_LIBRA) / LIBRA_SHARES;
    return 0;
}

static bool jobs_libra_taken(const struct jobs *all, uint16_t record) {
    for (size_t i = 0; i < all->n; i++)
        for (size_t w = 0; all->list[i]->protocol == JOBS_LIBRA && w < all->list[i]->n_workers; w++)
            if (all->list[i]->workers[w].record == record)
                return true;
    return false;
}

static int jobs_libra_give_records(struct tor *t, const struct jobs *all, struct jobs_job *job,
                                   struct sk_error *err) {
    const struct sessions_switch sw = jobs_libra_switch_of(t);
    const uint32_t has = sessions_records(&sw),
                   most = has < SESSIONS_RECORDS_MOST ? has : SESSIONS_RECORDS_MOST;
    size_t n = 0;
    for (uint32_t r = 0; r < most && n < job->n_workers; r++)
        if (!jobs_libra_taken(all, (uint16_t)r))
            job->workers[n++].record = (uint16_t)r;
    return n == job->n_workers
               ? 0
               : sk_fail(err,
                         "the switch has records for %u workers and servers of Libra, of which "
                         "%zu are free, and the job has %zu",
                         most, n, job->n_workers);
}

int jobs_libra_give(struct tor *t, struct jobs *all, struct jobs_job *job, struct sk_error *err) {
    const uint32_t needs = (job->hot + SESSIONS_PLACES - 1) / SESSIONS_PLACES;
    if (needs > job->count)
        return sk_fail(err,
                       "cells: the layout has %u parameters, which are %u cells in each register; "
                       "the job has %u: give it more, or make a shorter layout",
                       job->hot, needs, job->count);
    const int rc = jobs_libra_give_records(t, all, job, err);
    return rc ? rc : jobs_libra_fill(t, all, err);
}

// ---- what a job leaves ----

static uint64_t jobs_libra_records_of(const struct jobs_job *job) {
    uint64_t bits = 0;
    for (size_t i = 0; i < job->n_workers; i++)
        bits |= UINT64_C(1) << job->workers[i].record;
    return bits;
}

void jobs_libra_leave(struct jobs *all, const struct jobs_job *job) {
    if (!job->waits) // else nobody was admitted
        sessions_left_add(&all->libra.left, job->first, job->count, jobs_libra_records_of(job));
}

// Entries are deleted when nothing waits to be written.
static void jobs_libra_look_at_left(struct tor *t, struct jobs *all) {
    const struct sessions_switch sw = jobs_libra_switch_of(t);
    sessions_left_look(&all->libra.left, &sw, t->now, !tor_wanted_waits(t->wanted));
}

static bool jobs_libra_is_free(const struct jobs *all, const struct jobs_job *job) {
    return sessions_left_none(&all->libra.left, job->first, job->count, jobs_libra_records_of(job));
}

static void jobs_libra_clear(struct tor *t, const struct jobs_job *job) {
    const struct sessions_switch sw = jobs_libra_switch_of(t);
    static const struct sk_counter_cell zero;
    struct sk_error ignored;
    sessions_clear_cells(&sw, job->first, job->count);
    for (size_t i = 0; i < job->n_workers; i++)
        sessions_clear_record(&sw, job->workers[i].record);
    if (t->host.pause)
        t->host.pause(t->host.aux);
    for (size_t i = 0; i < job->n_workers; i++)
        sk_control_counter_write(t->host.sw, REPETITIONS, job->workers[i].record, &zero, &ignored);
    if (t->host.resume)
        t->host.resume(t->host.aux);
}

void jobs_libra_begin(struct tor *t, struct jobs *all, struct jobs_job *job) {
    jobs_libra_look_at_left(t, all);
    job->waits = !jobs_libra_is_free(all, job);
    if (!job->waits)
        jobs_libra_clear(t, job);
}

void jobs_libra_run(struct tor *t, struct jobs *all) {
    if (t->now < all->libra.look_at)
        return;
    all->libra.look_at = t->now + SESSIONS_LOOK_NS;
    jobs_libra_look_at_left(t, all);
    for (size_t i = 0; i < all->n; i++) {
        struct jobs_job *job = all->list[i];
        if (!job->waits || !jobs_libra_is_free(all, job))
            continue;
        jobs_libra_clear(t, job);
        job->waits = false;
        if (job->placed)
            jobs_want(t, job);
    }
}

// ---- another program ----

int jobs_libra_replaced(struct tor *t, struct jobs *all, struct sk_error *err) {
    bool any = false;
    all->libra.filled = false;
    all->libra.left.n = 0; // the other one has finished all that was inside
    for (size_t i = 0; i < all->n; i++)
        any |= all->list[i]->protocol == JOBS_LIBRA;
    return any ? jobs_libra_fill(t, all, err) : 0;
}

// ---- what an operator sees ----

// Packets of the member that its pipe has looked at, by the counter of its entry.
static json_int_t jobs_libra_packets(struct tor *t, const struct jobs_job *job, size_t i) {
    char number[16], worker[16], address[TOR_TEXT], port[16];
    const struct sk_named_value keys[] = {
        {"job", number}, {"worker", worker}, {"src_addr", address}, {"ingress_port", port}};
    const struct sk_entry_spec e = {
        .table = JOBS_LIBRA_MEMBERS, .keys = keys, .n_keys = 4, .pipe = -1};
    struct sk_data data;
    struct sk_error ignored;
    snprintf(number, sizeof number, "%u", job->number);
    snprintf(worker, sizeof worker, "%zu", i);
    snprintf(port, sizeof port, "%u", JOBS_LIBRA_PORT);
    tor_address_text(&job->workers[i].address, address);
    if (sk_control_entry_read(t->host.sw, &e, &data, &ignored))
        return 0; // it is not there (yet)
    const char *packets = sk_data_find(&data, "$COUNTER_SPEC_PKTS");
    return packets ? (json_int_t)strtoll(packets, NULL, 0) : 0;
}

static json_int_t jobs_libra_repeated(struct tor *t, const struct jobs_host *member) {
    struct sk_counter_cell sum = {0};
    struct sk_error ignored;
    sk_control_counter_read(t->host.sw, REPETITIONS, member->record, &sum, &ignored);
    return (json_int_t)sum.packets;
}

json_t *tor_libra(struct tor *t) {
    const struct jobs *all = tor_jobs(t);
    struct sk_error ignored;
    if (jobs_libra_supported(t, &ignored))
        return NULL;
    json_t *jobs = json_array();
    for (size_t i = 0; i < all->n; i++) {
        const struct jobs_job *job = all->list[i];
        if (job->protocol != JOBS_LIBRA)
            continue;
        json_t *members = json_array(), *out;
        for (size_t k = 0; k < job->n_workers; k++)
            json_array_append_new(members, json_pack("{s:I, s:I}", "packets",
                                                     jobs_libra_packets(t, job, k), "repetitions",
                                                     jobs_libra_repeated(t, &job->workers[k])));
        out = json_pack("{s:s, s:i, s:i, s:o}", "name", job->name, "number", job->number, "epoch",
                        job->epoch, "members", members);
        if (job->hot)
            json_object_set_new(out, "hot", json_integer(job->hot));
        json_array_append_new(jobs, out);
    }
    return json_pack("{s:o}", "jobs", jobs);
}

void jobs_libra_json(struct tor *t, const struct jobs_job *job, json_t *out) {
    json_t *servers = json_object_get(out, "servers");
    json_object_set_new(out, "epoch", json_integer(job->epoch));
    if (job->hot)
        json_object_set_new(out, "hot", json_integer(job->hot));
    if (job->waits)
        json_object_set_new(out, "waits", json_string(SESSIONS_WAITS));
    for (size_t i = 0; i < job->n_workers; i++) {
        const bool server = i >= job->n_hosts;
        json_t *host = json_array_get(server ? servers : json_object_get(out, "workers"),
                                      server ? i - job->n_hosts : i);
        json_object_set_new(host, "packets", json_integer(jobs_libra_packets(t, job, i)));
        json_object_set_new(host, "repeated",
                            json_integer(jobs_libra_repeated(t, &job->workers[i])));
    }
}
