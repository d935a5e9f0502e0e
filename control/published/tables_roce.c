// SPDX-License-Identifier: Apache-2.0
//
// tables_roce: a worker by RoCEv2 in the tables of p4/switchml/with_roce.p4 (p4/switchml/README.md,
// RoCE). Its entries in the order in which they are written: where results go, queue pair by queue
// pair, and at last who may write: first packets of messages, and the others.
#include "control/published/tables_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/state/jobs.h"
#include "control/tables/control.h"
#include "control/tables/entry.h"
#include "control/tables/names.h"

#define WRITERS     "writes.writers"
#define QUEUE_PAIRS "results.queue_pairs"
#define PROGRESS    "writes.progress"
#define ANSWERS     "results.answers"
#define FIRST_CELL  0x8000u
#define ROCE_RIDS   256u // a replication id is below it
#define SESSIONS    1023u

#define NUMBER(text, n) (snprintf((text), sizeof(text), "%llu", (unsigned long long)(n)), (text))

// ---- what is reserved ----

static void tables_roce_drop(struct roce_reserved **at) {
    struct roce_reserved *r = *at;
    *at = r->next;
    free(r);
}

void tables_roce_forget(struct published_tables *t) {
    while (t->reserved)
        tables_roce_drop(&t->reserved);
}

static struct roce_reserved **tables_roce_find(struct published_tables *t, const char *name) {
    struct roce_reserved **at = &t->reserved;
    while (*at && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    return at;
}

// Replication ids that neither entries nor reservations have.
static int tables_roce_choose(struct published_tables *t, struct roce_reserved *r,
                              struct sk_error *err) {
    struct sk_jobs_taken taken;
    tables_pause(t, true);
    sk_jobs_taken(t->on.sw, sessions_slots(&t->on), &taken);
    tables_pause(t, false);
    free(taken.slots);
    for (const struct roce_reserved *o = t->reserved; o; o = o->next)
        for (uint32_t i = 0; i < o->workers; i++)
            taken.rids[o->rids[i]] = true;
    uint16_t rid = 1;
    for (uint32_t i = 0; i < r->workers; i++) {
        while (rid < ROCE_RIDS && taken.rids[rid])
            rid++;
        if (rid == ROCE_RIDS)
            return sk_fail(err, "jobs by RoCEv2 together have more than %u workers", ROCE_RIDS - 1);
        r->rids[i] = rid++;
    }
    return 0;
}

struct roce_reserved *tables_roce_reserve(struct published_tables *t, const char *name,
                                          uint32_t workers, struct sk_error *err) {
    const uint64_t now = t->now();
    for (struct roce_reserved **at = &t->reserved; *at;)
        if (now - (*at)->since >= RESERVED_NS ||
            (strcmp((*at)->name, name) == 0 && (*at)->workers != workers))
            tables_roce_drop(at);
        else
            at = &(*at)->next;
    struct roce_reserved *found = *tables_roce_find(t, name), *r;
    if (found)
        return found;
    r = calloc(1, sizeof *r);
    if (!r)
        abort();
    snprintf(r->name, sizeof r->name, "%s", name);
    r->since = now;
    r->workers = workers;
    r->session = 1 + t->sessions++ % SESSIONS;
    r->psn = (uint32_t)now & 0xffffff;
    if (tables_roce_choose(t, r, err)) {
        free(r);
        return NULL;
    }
    r->next = t->reserved;
    t->reserved = r;
    return r;
}

int tables_roce_take(struct published_tables *t, struct placed_job *job, struct sk_error *err) {
    struct roce_reserved **at = tables_roce_find(t, job->name), *r = *at;
    if (!r || r->workers != job->workers)
        return sk_fail(err, "its workers have waited for too long");
    job->session = r->session;
    job->psn = r->psn;
    for (uint32_t i = 0; i < job->workers; i++)
        job->list[i].rid = r->rids[i];
    tables_roce_drop(at);
    return 0;
}

// ---- entries ----

uint32_t tables_roce_pair(const struct placed_job *job, uint32_t rank) {
    return job->session << 14 | (uint32_t)job->list[rank].rid << 6;
}

static int tables_roce_put(struct published_tables *t, struct sk_entry_spec *e, bool add,
                           struct sk_error *err) {
    e->pipe = -1;
    if (add)
        return sk_control_entry_add(t->on.sw, e, err);
    e->action = NULL;
    e->n_args = 0;
    return sk_control_entry_delete(t->on.sw, e, err);
}

static int tables_roce_result(struct published_tables *t, const struct placed_worker *w,
                              uint32_t pair, bool add, struct sk_error *err) {
    char n[5][16];
    const struct sk_named_value keys[] = {{"md.rid", NUMBER(n[0], w->rid)},
                                          {"queue_pair", NUMBER(n[1], pair)}},
                                args[] = {{"qpn", NUMBER(n[2], w->roce.qpn[pair])},
                                          {"rkey_high", NUMBER(n[3], w->roce.rkey >> 16)},
                                          {"rkey", NUMBER(n[4], w->roce.rkey & 0xffff)}};
    struct sk_entry_spec e = {.table = QUEUE_PAIRS,
                              .keys = keys,
                              .n_keys = 2,
                              .action = "queue_pair",
                              .args = args,
                              .n_args = 3};
    return tables_roce_put(t, &e, add, err);
}

struct roce_writer_texts {
    char n[12][16];
    struct sk_named_value keys[5], args[7];
};

// Of first packets of messages, or of the others.
static struct sk_entry_spec tables_roce_writer_spec(const struct published_tables *t,
                                                    const struct placed_job *job,
                                                    const struct placed_worker *w, uint32_t rank,
                                                    bool begins, struct roce_writer_texts *x) {
    const uint32_t first = FIRST_CELL + 2 * job->first, last = 2 * (job->slots - 1);
    const struct sk_named_value keys[] = {
        {"hdr.ipv4.src_addr", NUMBER(x->n[0], w->ip)},
        {"hdr.ipv4.dst_addr", NUMBER(x->n[1], t->ip)},
        {"ig_intr_md.ingress_port", NUMBER(x->n[2], w->port)},
        {"queue_pairs", NUMBER(x->n[3], tables_roce_pair(job, rank) >> 6)},
        {"begins", NUMBER(x->n[4], begins)}};
    const struct sk_named_value args[] = {
        {"worker_bit", NUMBER(x->n[5], UINT32_C(1) << rank)},
        {"num_workers", NUMBER(x->n[6], job->workers)},
        {"group", NUMBER(x->n[7], job->mgid)},
        {"rid", NUMBER(x->n[8], w->rid)},
        {"port", x->n[2]},
        {begins ? "first" : "end", NUMBER(x->n[9], first + (begins ? 0 : last))},
        {"last", NUMBER(x->n[10], last + 1)}};
    memcpy(x->keys, keys, sizeof keys);
    memcpy(x->args, args, sizeof args);
    return (struct sk_entry_spec){.table = WRITERS,
                                  .keys = x->keys,
                                  .n_keys = 5,
                                  .action = begins ? "begin" : "go_on",
                                  .args = x->args,
                                  .n_args = begins ? 7 : 6,
                                  .pipe = -1};
}

static int tables_roce_writer(struct published_tables *t, const struct placed_job *job,
                              const struct placed_worker *w, uint32_t rank, bool begins, bool add,
                              struct sk_error *err) {
    struct roce_writer_texts x;
    struct sk_entry_spec e = tables_roce_writer_spec(t, job, w, rank, begins, &x);
    return tables_roce_put(t, &e, add, err);
}

// What a queue pair's next packets are, in both directions.
static int tables_roce_numbers(struct published_tables *t, const struct placed_job *job,
                               const struct placed_worker *w, uint32_t pair, struct sk_error *err) {
    const uint64_t index = (uint64_t)w->rid << 6 | pair;
    char next[16], psn[16];
    NUMBER(next, (uint64_t)w->roce.psn[pair] << 8);
    NUMBER(psn, (uint64_t)job->psn << 8 | 1);
    int rc = sk_control_register_write(t->on.sw, PROGRESS, index, "next", next, -1, err);
    rc = rc ? rc : sk_control_register_write(t->on.sw, PROGRESS, index, "cell", "0", -1, err);
    rc = rc ? rc : sk_control_register_write(t->on.sw, ANSWERS, index, "psn", psn, -1, err);
    return rc ? rc : sk_control_register_write(t->on.sw, ANSWERS, index, "expected", "0", -1, err);
}

int tables_roce_write(struct published_tables *t, const struct placed_job *job,
                      struct placed_worker *w, uint32_t rank, struct sk_error *err) {
    int rc = 0;
    for (uint32_t pair = 0; rc == 0 && pair < job->pairs; pair++) {
        rc = tables_roce_numbers(t, job, w, pair, err);
        rc = rc ? rc : tables_roce_result(t, w, pair, true, err);
        w->entries += rc == 0;
    }
    for (unsigned begins = 0; rc == 0 && begins < 2; begins++) {
        rc = tables_roce_writer(t, job, w, rank, !begins, true, err);
        w->entries += rc == 0;
    }
    return rc;
}

void tables_roce_unwrite(struct published_tables *t, const struct placed_job *job,
                         const struct placed_worker *w, uint32_t rank) {
    struct sk_error ignored;
    for (unsigned i = w->entries; i-- > 0;)
        if (i < job->pairs)
            tables_roce_result(t, w, i, false, &ignored);
        else
            tables_roce_writer(t, job, w, rank, i == job->pairs, false, &ignored);
}

uint64_t tables_roce_packets(struct published_tables *t, const struct placed_job *job) {
    uint64_t packets = 0;
    for (uint32_t rank = 0; rank < job->workers; rank++)
        for (unsigned begins = 0; begins < 2; begins++) {
            struct roce_writer_texts x;
            struct sk_entry_spec e =
                tables_roce_writer_spec(t, job, &job->list[rank], rank, begins, &x);
            struct sk_error ignored;
            struct sk_found found;
            e.action = NULL;
            e.n_args = 0;
            if (sk_control_entry_find(t->on.sw, &e, &found, &ignored))
                continue;
            for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
                packets += found.entry[pipe] ? found.entry[pipe]->packets : 0;
        }
    return packets;
}
