// SPDX-License-Identifier: Apache-2.0
#include "control/published/tables_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "control/state/jobs.h"
#include "control/tables/entry.h"
#include "control/tables/names.h"
#include "pipeline/tm/pre.h"

#define WORKERS    "admission.workers"
#define NUMBERS    256u  // of jobs, all of which a worker has
#define FIRST_MGID 1000u // groups and nodes from here on; an operator's have small numbers mostly
#define FIRST_NODE 10000u
#define ELEMENTS   256u

void tables_pause(const struct published_tables *t, bool on) {
    void (*fn)(void *) = on ? t->on.pause : t->on.resume;
    if (fn)
        fn(t->on.aux);
}

// ---- the program ----

// pipe.Ingress.admission.workers: receivers are in its Egress, macs in its Ingress.
static int tables_find(struct published_tables *t, struct sk_error *err) {
    struct sk_object o;
    struct sk_error why = {.text = ""};
    int rc = sk_find_object(t->on.sw, SK_TABLE, WORKERS, &o, &why);
    if (rc == 0) {
        snprintf(t->workers, sizeof t->workers, "%s", sk_object_name(&o));
        const char *ingress = strstr(t->workers, "Ingress." WORKERS);
        const int n = ingress ? (int)(ingress - t->workers) : 0;
        snprintf(t->receivers, sizeof t->receivers, "%.*sEgress.receivers", n, t->workers);
        snprintf(t->macs, sizeof t->macs, "%.*sIngress.forward.macs", n, t->workers);
        rc = sk_find_object(t->on.sw, SK_TABLE, t->receivers, &o, &why);
    }
    if (rc == 0)
        rc = sk_find_object(t->on.sw, SK_TABLE, t->macs, &o, &why);
    if (rc == 0 && sessions_slots(&t->on) == 0)
        rc = sk_fail(&why, "it has no slots");
    if (rc == 0 && sessions_are_halves(&t->on))
        rc = sk_fail(&why, "it adds 16-bit floats, and the client sends integers");
    return rc == 0 ? 0 : sk_fail(err, "\"switchml_jobs\" is for p4/switchml: %.300s", why.text);
}

struct published_tables *published_tables_new(const struct sessions_switch *on,
                                              const uint8_t mac[6], uint32_t ip,
                                              uint64_t (*now)(void), struct sk_error *err) {
    struct published_tables *t = calloc(1, sizeof *t);
    if (!t)
        abort();
    t->on = *on;
    memcpy(t->mac, mac, sizeof t->mac);
    t->ip = ip;
    t->now = now;
    if (tables_find(t, err) == 0)
        return t;
    free(t);
    return NULL;
}

static void tables_forget(struct published_tables *t) {
    while (t->jobs) {
        struct placed_job *next = t->jobs->next;
        free(t->jobs);
        t->jobs = next;
    }
}

void published_tables_free(struct published_tables *t) {
    if (t) {
        tables_forget(t);
        tables_roce_forget(t);
    }
    free(t);
}

int published_tables_replaced(struct published_tables *t, const struct sessions_switch *on,
                              struct sk_error *err) {
    t->on = *on;
    return tables_find(t, err);
}

// ---- places ----

int published_tables_locate(void *tables, const struct admission_request *r,
                            struct admission_place *place, struct sk_error *err) {
    struct published_tables *t = tables;
    char mac[SK_MAC_TEXT];
    struct sk_error ignored;
    struct sk_found found;
    sk_mac_text(r->mac, mac);
    const struct sk_named_value key = {"dst_addr", mac};
    const struct sk_entry_spec spec = {.table = t->macs, .keys = &key, .n_keys = 1, .pipe = -1};
    if (r->roce.pairs > 0 && !sessions_are_roce(&t->on))
        return sk_fail(err, "the switch's program has no RoCEv2 (p4/switchml/with_roce.p4 has)");
    if (!r->has_mac)
        return sk_fail(err, "it must say its MAC address: the switch finds stations by that");
    if (t->removed && sessions_under_way(&t->on, t->removed)) {
        sk_fail(err, "packets of a job that is over are under way in the switch");
        return 0;
    }
    t->removed = 0;
    const int to_port = sk_control_entry_find(t->on.sw, &spec, &found, &ignored)
                            ? -1
                            : sk_find_action(found.desc, "to_port", &ignored);
    if (to_port < 0 || found.entry[0]->action != (uint32_t)to_port)
        return sk_fail(err,
                       "the switch does not know at which port %s is: its table forward.macs needs "
                       "an entry for it with the action to_port",
                       mac);
    *place = (struct admission_place){.switch_ip = t->ip};
    if (r->roce.pairs > 0) {
        const struct roce_reserved *mine = tables_roce_reserve(t, r->job, r->workers, err);
        if (!mine)
            return -1;
        place->queue_pair = mine->session << 14 | (uint32_t)mine->rids[r->rank] << 6;
        place->psn = mine->psn;
    }
    snprintf(place->link, sizeof place->link, "%u", (unsigned)found.entry[0]->data[0]);
    memcpy(place->mac, r->mac, sizeof place->mac);
    memcpy(place->switch_mac, t->mac, sizeof place->switch_mac);
    return 1;
}

// ---- entries ----

struct texts {
    char number[16], ip[16], port[16], bit[16], workers[16], group[16], rid[16], base[16], last[16],
        udp_port[16], mac[SK_MAC_TEXT];
};

static void tables_texts(const struct placed_job *job, uint32_t rank, struct texts *x) {
    const struct placed_worker *w = &job->list[rank];
    snprintf(x->ip, sizeof x->ip, "%u.%u.%u.%u", w->ip >> 24, w->ip >> 16 & 255, w->ip >> 8 & 255,
             w->ip & 255);
    snprintf(x->port, sizeof x->port, "%u", w->port);
    snprintf(x->bit, sizeof x->bit, "%u", UINT32_C(1) << rank);
    snprintf(x->workers, sizeof x->workers, "%u", job->workers);
    snprintf(x->group, sizeof x->group, "%u", job->mgid);
    snprintf(x->rid, sizeof x->rid, "%u", w->rid);
    snprintf(x->base, sizeof x->base, "%u", job->first);
    snprintf(x->last, sizeof x->last, "%u", job->slots - 1);
    snprintf(x->udp_port, sizeof x->udp_port, "%u", job->udp_port);
    sk_mac_text(w->mac, x->mac);
}

// Adds or deletes the entry for one job number.
static int tables_worker(struct published_tables *t, const struct placed_job *job, uint32_t rank,
                         unsigned number, bool add, struct sk_error *err) {
    struct texts x;
    tables_texts(job, rank, &x);
    snprintf(x.number, sizeof x.number, "%u", number);
    const struct sk_named_value keys[] = {
        {"job_number", x.number}, {"src_addr", x.ip}, {"ingress_port", x.port}};
    const struct sk_named_value args[] = {
        {"worker_bit", x.bit}, {"num_workers", x.workers}, {"group", x.group},   {"rid", x.rid},
        {"port", x.port},      {"pool_base", x.base},      {"pool_last", x.last}};
    const struct sk_entry_spec e = {.table = t->workers,
                                    .keys = keys,
                                    .n_keys = 3,
                                    .action = add ? "admit" : NULL,
                                    .args = args,
                                    .n_args = add ? sizeof args / sizeof *args : 0,
                                    .pipe = -1};
    return add ? sk_control_entry_add(t->on.sw, &e, err)
               : sk_control_entry_delete(t->on.sw, &e, err);
}

static int tables_receiver(struct published_tables *t, const struct placed_job *job, uint32_t rank,
                           bool add, struct sk_error *err) {
    struct texts x;
    tables_texts(job, rank, &x);
    const struct sk_named_value keys[] = {{"rid", x.rid}},
                                args[] = {{"mac", x.mac}, {"ip", x.ip}, {"udp_port", x.udp_port}};
    const struct sk_entry_spec e = {.table = t->receivers,
                                    .keys = keys,
                                    .n_keys = 1,
                                    .action = add ? "address" : NULL,
                                    .args = args,
                                    .n_args = add ? 3 : 0,
                                    .pipe = -1};
    return add ? sk_control_entry_add(t->on.sw, &e, err)
               : sk_control_entry_delete(t->on.sw, &e, err);
}

static int tables_group(struct published_tables *t, struct placed_job *job, struct sk_error *err) {
    struct sk_pre_member members[ADMISSION_WORKERS];
    const struct sk_pre *pre = sk_switch_pre(t->on.sw);
    struct sk_pre_node_view node;
    size_t n;
    uint32_t id = FIRST_NODE, mgid = FIRST_MGID;
    for (uint32_t i = 0; i < job->workers; i++) {
        struct placed_worker *w = &job->list[i];
        while (id <= UINT16_MAX && pre_node_view(pre, id, &node))
            id++;
        if (id > UINT16_MAX || sk_pre_node_set(t->on.sw, id, w->rid, &w->port, 1))
            return sk_fail(err, "the switch has no multicast node left");
        w->node = (uint16_t)id;
        w->has_node = true;
        members[i] = (struct sk_pre_member){.node = id};
    }
    while (mgid <= UINT16_MAX && pre_group_view(pre, (uint16_t)mgid, NULL, &n))
        mgid++;
    if (mgid > UINT16_MAX || sk_pre_group_set(t->on.sw, (uint16_t)mgid, members, job->workers))
        return sk_fail(err, "the switch has no multicast group left");
    job->mgid = (uint16_t)mgid;
    return 0;
}

// Counters by replication id begin with the job. Each is in a control of its own.
static void tables_clear_counters(const struct published_tables *t, uint16_t rid) {
    static const char *const names[] = {"admission.wrong_checksums", "repetitions", "steps.resent"};
    static const struct sk_counter_cell zero;
    struct sk_error ignored;
    char name[TABLES_NAME_BYTES + 32];
    const int n = (int)(strlen(t->workers) - strlen(WORKERS));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(name, sizeof name, "%.*s%s", n, t->workers, names[i]);
        sk_control_counter_write(t->on.sw, name, rid, &zero, &ignored);
    }
}

// Results' addresses first, and who may send at last.
static int tables_write(struct published_tables *t, struct placed_job *job, struct sk_error *err) {
    int rc = tables_group(t, job, err);
    for (uint32_t i = 0; rc == 0 && i < job->workers; i++) {
        tables_clear_counters(t, job->list[i].rid);
        rc = tables_receiver(t, job, i, true, err);
        job->list[i].receiver = rc == 0;
    }
    for (uint32_t i = 0; rc == 0 && i < job->workers; i++)
        for (unsigned n = 0; rc == 0 && job->pairs == 0 && n < NUMBERS; n++) {
            rc = tables_worker(t, job, i, n, true, err);
            job->list[i].entries += rc == 0;
        }
    for (uint32_t i = 0; rc == 0 && job->pairs > 0 && i < job->workers; i++)
        rc = tables_roce_write(t, job, &job->list[i], i, err);
    return rc;
}

// What was written of it; an entry that is gone already is none.
static void tables_unwrite(struct published_tables *t, struct placed_job *job) {
    struct sk_error ignored;
    for (uint32_t i = 0; i < job->workers; i++)
        for (unsigned n = 0; job->pairs == 0 && n < job->list[i].entries; n++)
            tables_worker(t, job, i, n, false, &ignored);
    for (uint32_t i = 0; job->pairs > 0 && i < job->workers; i++)
        tables_roce_unwrite(t, job, &job->list[i], i);
    for (uint32_t i = 0; i < job->workers; i++)
        if (job->list[i].receiver)
            tables_receiver(t, job, i, false, &ignored);
    if (job->mgid)
        sk_pre_group_delete(t->on.sw, job->mgid);
    for (uint32_t i = 0; i < job->workers; i++)
        if (job->list[i].has_node)
            sk_pre_node_delete(t->on.sw, job->list[i].node);
}

// ---- what a job is given ----

static int tables_give(struct published_tables *t, struct placed_job *job, struct sk_error *err) {
    const uint32_t slots = sessions_slots(&t->on);
    struct sk_jobs_taken taken;
    sk_jobs_taken(t->on.sw, slots, &taken);
    uint32_t run = 0, at = 0;
    for (; at < slots && run < job->slots; at++)
        run = taken.slots[at] ? 0 : run + 1;
    uint16_t rid = 1;
    int rc = run == job->slots ? 0
                               : sk_fail(err, "there is no room for %u slots side by side, of %u",
                                         job->slots, slots);
    job->first = at - run;
    if (rc == 0 && job->pairs > 0)
        rc = tables_roce_take(t, job, err);
    for (const struct roce_reserved *o = t->reserved; o; o = o->next)
        for (uint32_t i = 0; i < o->workers; i++)
            taken.rids[o->rids[i]] = true;
    for (uint32_t i = 0; rc == 0 && job->pairs == 0 && i < job->workers; i++) {
        while (rid < SK_JOB_RIDS && taken.rids[rid])
            rid++;
        if (rid == SK_JOB_RIDS)
            rc = sk_fail(err, "all jobs together have more than %u workers", SK_JOB_RIDS - 1);
        job->list[i].rid = rid++;
    }
    free(taken.slots);
    return rc;
}

int published_tables_add(void *tables, struct admission_job *job, struct sk_error *err) {
    struct published_tables *t = tables;
    struct placed_job *p = calloc(1, sizeof *p);
    if (!p)
        abort();
    memcpy(p->name, job->name, sizeof p->name);
    p->workers = job->workers;
    p->slots = job->slots;
    p->udp_port = job->port;
    p->pairs = job->members[0].request.roce.pairs;
    for (uint32_t i = 0; i < job->workers; i++) {
        p->list[i] =
            (struct placed_worker){.ip = job->members[i].request.ip,
                                   .port = (uint16_t)strtoul(job->members[i].place.link, NULL, 10)};
        p->list[i].roce = job->members[i].request.roce;
        memcpy(p->list[i].mac, job->members[i].place.mac, sizeof p->list[i].mac);
    }
    tables_pause(t, true);
    int rc = tables_give(t, p, err);
    tables_pause(t, false);
    if (rc == 0) { // which takes pauses of its own
        sessions_clear_slots(&t->on, p->first, p->slots);
        tables_pause(t, true);
        rc = tables_write(t, p, err);
        if (rc)
            tables_unwrite(t, p);
        tables_pause(t, false);
    }
    if (rc) {
        free(p);
        return rc;
    }
    p->next = t->jobs;
    t->jobs = p;
    job->number = 0;
    job->elements = p->pairs > 0 ? ELEMENTS : 0;
    return 0;
}

static struct placed_job **tables_job(struct published_tables *t, const char *name) {
    struct placed_job **at = &t->jobs;
    while (*at && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    return at;
}

void published_tables_remove(void *tables, const char *name) {
    struct published_tables *t = tables;
    struct placed_job **at = tables_job(t, name), *job = *at;
    if (!job)
        return;
    tables_pause(t, true);
    tables_unwrite(t, job);
    tables_pause(t, false);
    t->removed = t->now();
    *at = job->next;
    free(job);
}

uint64_t published_tables_packets(void *tables, const char *name) {
    struct published_tables *t = tables;
    const struct placed_job *job = *tables_job(t, name);
    if (!job)
        return 0;
    tables_pause(t, true);
    const uint64_t packets =
        job->pairs > 0 ? tables_roce_packets(t, job) : sk_jobs_packets(t->on.sw, job->first);
    tables_pause(t, false);
    return packets;
}
