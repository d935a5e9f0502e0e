// SPDX-License-Identifier: Apache-2.0
//
// jobs: aggregation jobs beside the traffic: who may have packets added up, and where (p4/rack).
//
// A job gets slots or aggregators that are nobody else's, whose registers are empty before anybody
// is admitted. What is in the tables for one job names only its own hosts, slots and numbers;
// entries that jobs share (guarded addresses) are said again for the others when one goes.
//
// MAC addresses of hosts are the neighbours' (ARP); until they are known, what needs them is left
// out: results of SwitchML to that worker, ATP's sums to that server. Both protocols ask again.
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "control/tables/control.h"
#include "control/tables/names.h"
#include "control/tor/jobs_impl.h"
#include "control/tor/neighbours.h"
#include "util.h"

#define SECOND UINT64_C(1000000000)

struct jobs *tor_jobs(struct tor *t) {
    return t->states[TOR_MODULE_JOBS];
}

static void *tor_jobs_create(struct tor *t) {
    (void)t;
    struct jobs *all = xzalloc(sizeof *all);
    all->lost = json_array();
    return all;
}

static void tor_jobs_free(struct jobs_job *job) {
    json_decref(job->request);
    jobs_resume_free(job->resume);
    sessions_job_free(&job->sessions);
    free(job);
}

static void tor_jobs_destroy(struct tor *t, void *state) {
    (void)t;
    struct jobs *all = state;
    for (size_t i = 0; i < all->n; i++)
        tor_jobs_free(all->list[i]);
    json_decref(all->lost);
    jobs_state_forget(all);
    free(all);
}

static size_t tor_jobs_find(const struct jobs *all, const char *name) {
    size_t i = 0;
    while (i < all->n && strcmp(all->list[i]->name, name) != 0)
        i++;
    return i;
}

// ---- what a job is given ----

static const struct {
    const char *name, *units, *first;
} protocols[] = {[JOBS_SWITCHML] = {"switchml", "slots", "first_slot"},
                 [JOBS_ATP] = {"atp", "aggregators", "first_aggregator"},
                 [JOBS_LIBRA] = {"libra", "cells", "first_cell"}};

static bool number_is_free(const struct jobs *all, const struct jobs_job *job, unsigned number) {
    for (size_t i = 0; i < all->n; i++)
        if (all->list[i]->protocol == job->protocol && all->list[i]->number == number)
            return false;
    return true;
}

// Two jobs by all numbers are told apart by their workers' addresses.
static int jobs_no_shared_worker(const struct jobs_job *a, const struct jobs_job *b,
                                 struct sk_error *err) {
    char text[TOR_TEXT];
    for (size_t i = 0; i < a->n_workers; i++)
        for (size_t k = 0; k < b->n_workers; k++)
            if (memcmp(&a->workers[i].address, &b->workers[k].address, sizeof(struct in6_addr)) ==
                0)
                return sk_fail(err, "workers[%zu]: job '%s' has %s, by all numbers", i, b->name,
                               tor_address_text(&a->workers[i].address, text));
    return 0;
}

// A job by all numbers has those of every other job.
static int jobs_numbers_clash(const struct jobs *all, const struct jobs_job *job,
                              struct sk_error *err) {
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < all->n; i++) {
        const struct jobs_job *other = all->list[i];
        if (other->protocol != job->protocol)
            continue;
        if (other->all_numbers != job->all_numbers)
            rc = sk_fail(err, "job '%s' goes by %s, and this one by %s: one of them at a time",
                         other->name, other->all_numbers ? "all numbers" : "one number",
                         job->all_numbers ? "all numbers" : "one number");
        else if (job->all_numbers)
            rc = jobs_no_shared_worker(job, other, err);
    }
    return rc;
}

static int give_number(const struct jobs *all, struct jobs_job *job, struct sk_error *err) {
    const unsigned first = job->protocol == JOBS_ATP, last = job->protocol == JOBS_ATP ? 127 : 255;
    if (jobs_numbers_clash(all, job, err))
        return -1;
    if (job->all_numbers) {
        job->number = 0;
        return 0;
    }
    if (job->number != UINT16_MAX)
        return number_is_free(all, job, job->number)
                   ? 0
                   : sk_fail(err, "number: another job has %u", job->number);
    for (unsigned n = first; n <= last; n++)
        if (number_is_free(all, job, n)) {
            job->number = (uint16_t)n;
            return 0;
        }
    return sk_fail(err, "all %u numbers of the protocol are taken", last - first + 1);
}

// From 'first' on, if it is free there.
static int give_same_room(struct tor *t, const struct jobs *all, struct jobs_job *job,
                          uint32_t first, struct sk_error *err) {
    const char *what = protocols[job->protocol].units;
    if (first + job->count > jobs_room(t, job->protocol))
        return sk_fail(err, "it had %s %u to %u, but the program has %u", what, first,
                       first + job->count - 1, jobs_room(t, job->protocol));
    for (size_t i = 0; i < all->n; i++) {
        const struct jobs_job *o = all->list[i];
        if (o->protocol == job->protocol && first < o->first + o->count &&
            o->first < first + job->count)
            return sk_fail(err, "it had %s %u to %u, some of which job '%s' has now", what, first,
                           first + job->count - 1, o->name);
    }
    job->first = first;
    return 0;
}

// The first gap that is large enough.
static int give_room(struct tor *t, const struct jobs *all, struct jobs_job *job,
                     struct sk_error *err) {
    const uint32_t room = jobs_room(t, job->protocol);
    uint32_t first = 0, held = 0;
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < all->n; i++) {
            const struct jobs_job *o = all->list[i];
            if (o->protocol == job->protocol && first < o->first + o->count &&
                o->first < first + job->count) {
                first = o->first + o->count;
                again = true;
            }
        }
    }
    for (size_t i = 0; i < all->n; i++)
        held += all->list[i]->protocol == job->protocol ? all->list[i]->count : 0;
    if (first + job->count > room)
        return sk_fail(err, "there is no room for %u %s: of %u, other jobs have %u", job->count,
                       protocols[job->protocol].units, room, held);
    job->first = first;
    return 0;
}

static int give_rids(const struct jobs *all, struct jobs_job *job, struct sk_error *err) {
    bool taken[JOBS_RIDS] = {true};
    uint16_t rid = 1;
    for (size_t i = 0; i < all->n; i++)
        for (size_t w = 0; w < all->list[i]->n_workers; w++)
            taken[all->list[i]->workers[w].rid] = true;
    for (size_t i = 0; i < all->n; i++)
        taken[all->list[i]->above.rid] = true; // 0: there is none
    for (size_t w = 0; w < job->n_workers + job->has_above; w++) {
        while (rid < JOBS_RIDS && taken[rid])
            rid++;
        if (rid == JOBS_RIDS)
            return sk_fail(err, "all jobs together have more than %u workers", JOBS_RIDS - 1);
        (w < job->n_workers ? &job->workers[w] : &job->above)->rid = rid++;
    }
    return 0;
}

static uint32_t low_bits(const struct in6_addr *group) {
    const uint8_t *a = &group->s6_addr[12];
    return (uint32_t)(a[1] & 0x7f) << 16 | (uint32_t)a[2] << 8 | a[3];
}

// Groups differ in what their MAC addresses have of them.
static int give_group(const struct jobs *all, struct jobs_job *job, struct sk_error *err) {
    if (IN6_IS_ADDR_UNSPECIFIED(&job->group))
        job->group = tor_ipv4(0xefc00000u | job->number);
    for (size_t i = 0; i < all->n; i++)
        if (all->list[i]->protocol == JOBS_ATP &&
            low_bits(&all->list[i]->group) == low_bits(&job->group))
            return sk_fail(err, "group: job '%s' has the same, or one with the same MAC address",
                           all->list[i]->name);
    return 0;
}

// ---- MAC addresses ----

// Of a VLAN in which the switch has no address nobody can be asked: there the only one is meant
// that "macs" has at the host's link.
static bool is_fixed(const struct tor *t, const struct jobs_host *host, uint8_t mac[6]) {
    const struct tor_section *s = t->section;
    size_t found = 0;
    for (size_t i = 0; i < s->n_macs; i++)
        if (s->macs[i].vid == host->vid && s->macs[i].link == host->link->index && ++found)
            memcpy(mac, s->macs[i].mac.bytes, 6);
    return found == 1;
}

static bool look_up(struct tor *t, struct jobs_host *host) {
    uint8_t mac[6];
    if (!host->link ||
        (!tor_neighbour_find(t, host->vid, &host->address, mac) && !is_fixed(t, host, mac)) ||
        (host->known && memcmp(host->mac, mac, sizeof mac) == 0))
        return false;
    memcpy(host->mac, mac, sizeof mac);
    host->known = true;
    return true;
}

static void look_up_all(struct tor *t, struct jobs_job *job) {
    for (size_t i = 0; job->protocol != JOBS_ATP && i < job->n_workers; i++)
        look_up(t, &job->workers[i]);
    if (job->has_above)
        look_up(t, &job->above);
    if (job->protocol == JOBS_ATP)
        look_up(t, &job->server);
}

// ---- adding and removing ----

static void free_groups(struct tor *t, const struct jobs_job *job) {
    if (job->mgid)
        tor_mgid_free(t, job->mgid);
    if (job->above_group)
        tor_mgid_free(t, job->above_group);
    for (size_t i = 0; i < JOBS_WORKERS; i++) {
        if (job->one[i])
            tor_mgid_free(t, job->one[i]);
        if (job->rest[i])
            tor_mgid_free(t, job->rest[i]);
    }
}

static int give_groups(struct tor *t, struct jobs_job *job, struct sk_error *err) {
    const bool audiences =
        job->protocol == JOBS_SWITCHML && !job->all_numbers && !jobs_has_levels(t);
    if (job->protocol == JOBS_LIBRA) // whose packets have one receiver
        return 0;
    bool all = (job->mgid = tor_mgid_new(t)) != 0;
    if (job->has_above)
        all &= (job->above_group = tor_mgid_new(t)) != 0;
    for (size_t i = 0; i < job->n_workers && audiences; i++) {
        all &= (job->one[i] = tor_mgid_new(t)) != 0;
        all &= job->n_workers == 1 || (job->rest[i] = tor_mgid_new(t)) != 0;
    }
    return all ? 0 : sk_fail(err, "no multicast group is left");
}

static void remove_at(struct tor *t, struct jobs *all, size_t i) {
    struct jobs_job *job = all->list[i];
    memmove(&all->list[i], &all->list[i + 1], (--all->n - i) * sizeof *all->list);
    if (job->placed)
        jobs_unwant(t, job);
    if (job->protocol == JOBS_LIBRA)
        jobs_libra_leave(all, job);
    for (size_t k = 0; k < all->n; k++)
        if (all->list[k]->placed)
            jobs_want(t, all->list[k]); // what it shared with them
    free_groups(t, job);
    jobs_resume_end(t, job);
    tor_jobs_free(job);
}

// What only jobs of its protocol are given.
static int give_more(struct tor *t, struct jobs *all, struct jobs_job *job, struct sk_error *err) {
    return job->protocol == JOBS_ATP     ? give_group(all, job, err)
           : job->protocol == JOBS_LIBRA ? jobs_libra_give(t, all, job, err)
                                         : give_rids(all, job, err);
}

// 'given': what it had before the process began, and has again; or null.
static int tor_jobs_prepare(struct tor *t, struct jobs *all, struct jobs_job *job,
                            const struct jobs_given *given, struct sk_error *err) {
    int rc = jobs_read(job->request, job, err);
    if (rc == 0 && given) {
        if (job->protocol == JOBS_ATP && (given->number < 1 || given->number > JOBS_ATP_NUMBER))
            rc = sk_fail(err, "it had number %u, and jobs of ATP have 1 to %u", given->number,
                         JOBS_ATP_NUMBER);
        job->number = given->number;
        job->group = given->group;
    }
    if (rc == 0)
        rc = jobs_supported(t, err);
    if (rc == 0 && job->protocol == JOBS_LIBRA)
        rc = jobs_libra_ready(t, job, given != NULL, err);
    if (rc == 0 && job->levels && !jobs_has_levels(t))
        rc = sk_fail(err, "the running program adds up for the racks of one switch; "
                          "p4/rack/with_levels.p4 has jobs with others above and below");
    if (rc == 0 && tor_jobs_find(all, job->name) < all->n)
        rc = sk_fail(err, "name: there is a job '%s' already", job->name);
    if (rc == 0 && all->n == JOBS_MOST)
        rc = sk_fail(err, "there are %u jobs, the most that are supported", JOBS_MOST);
    if (rc == 0)
        rc = jobs_place(t, job, err);
    if (rc == 0)
        rc = give_number(all, job, err);
    if (rc == 0)
        rc = given ? give_same_room(t, all, job, given->first, err) : give_room(t, all, job, err);
    if (rc == 0)
        rc = give_more(t, all, job, err);
    if (rc == 0)
        rc = give_groups(t, job, err);
    return rc;
}

// It had slots before the process began: are its workers to be asked where they are?
static void tor_jobs_resume(struct tor *t, struct jobs_job *job, const struct jobs_given *given) {
    if (job->protocol != JOBS_SWITCHML || job->levels ||
        json_is_false(json_object_get(job->request, "resume")))
        return;
    if (job->has_sessions && !jobs_sessions_restore(job, given->kept))
        return; // nobody was in the middle of anything
    for (size_t i = 0; i < job->n_workers; i++)
        if (!tor_address_is_own(t, &job->workers[i].to, NULL)) {
            tor_event(t, "alarm", "{s:s, s:s, s:s}", "alarm", "job", "job", job->name, "why",
                      "its workers send to an address that is not the switch's, so the switch "
                      "cannot ask them how far they got; if they were running, restart them");
            return;
        }
    job->resume = jobs_resume_new(job, t->now);
}

// Null with a sentence and nothing changed.
static struct jobs_job *tor_jobs_add(struct tor *t, struct jobs *all, json_t *request,
                                     bool configured, const struct jobs_given *given,
                                     struct sk_error *err) {
    struct jobs_job *job = xzalloc(sizeof *job);
    job->request = json_deep_copy(request);
    job->configured = configured;
    if (tor_jobs_prepare(t, all, job, given, err)) {
        tor_jobs_free(job);
        return NULL;
    }
    look_up_all(t, job);
    if (job->protocol == JOBS_LIBRA)
        jobs_libra_begin(t, all, job);
    jobs_clear(t, job);
    jobs_clear_counts(t, job);
    jobs_sessions_init(t, job);
    if (given)
        tor_jobs_resume(t, job, given);
    job->placed = true;
    all->list[all->n++] = job;
    jobs_want(t, job);
    if (jobs_flush(t, err)) {
        struct sk_error ignored;
        remove_at(t, all, all->n - 1);
        jobs_flush(t, &ignored);
        return NULL;
    }
    return job;
}

// ---- the configuration ----

static bool tor_jobs_stays(const struct jobs_job *job, json_t *section) {
    size_t i;
    json_t *item;
    json_array_foreach(section, i, item) if (json_equal(item, job->request)) return true;
    return !job->configured;
}

static void place_again(struct tor *t, struct jobs_job *job) {
    struct sk_error err;
    if (job->placed)
        jobs_unwant(t, job);
    job->placed = jobs_place(t, job, &err) == 0;
    if (job->placed)
        return;
    for (size_t i = 0; i < job->n_workers; i++)
        job->workers[i].link = NULL; // they may be gone
    job->server.link = NULL;
    job->above.link = NULL;
    tor_event(t, "alarm", "{s:s, s:s, s:s}", "alarm", "job", "job", job->name, "why", err.text);
}

// ---- those of before the process began ----

static bool tor_jobs_is_in(json_t *section, const json_t *request) {
    size_t i;
    json_t *item;
    json_array_foreach(section, i, item) if (json_equal(item, request)) return true;
    return false;
}

// Of the configuration, and restore() has tried it.
static bool is_lost(const struct jobs *all, const json_t *request) {
    size_t i;
    json_t *kept;
    json_array_foreach(all->lost, i,
                       kept) if (json_is_true(json_object_get(kept, "configured")) &&
                                 json_equal(json_object_get(kept, "request"), request)) return true;
    return false;
}

static int read_given(json_t *kept, struct jobs_given *given, struct sk_error *err) {
    const char *group = json_string_value(json_object_get(kept, "group"));
    struct in_addr a;
    *given =
        (struct jobs_given){.number = (uint16_t)json_integer_value(json_object_get(kept, "number")),
                            .first = (uint32_t)json_integer_value(json_object_get(kept, "first")),
                            .kept = kept};
    if (!group)
        return 0;
    if (inet_pton(AF_INET, group, &a) != 1 || ntohl(a.s_addr) >> 28 != 0xe)
        return sk_fail(err, "'%.40s' is not a group", group);
    given->group = tor_ipv4(ntohl(a.s_addr));
    return 0;
}

// Those that cannot come back stay in the file, and are tried again with another configuration.
static void restore(struct tor *t, struct jobs *all) {
    for (size_t i = 0; i < json_array_size(all->lost);) {
        json_t *kept = json_array_get(all->lost, i), *request = json_object_get(kept, "request");
        const char *name = json_string_value(json_object_get(request, "name"));
        const bool configured = json_is_true(json_object_get(kept, "configured"));
        struct jobs_given given;
        struct sk_error err = {.text = ""};
        if ((configured && !tor_jobs_is_in(t->section->jobs, request)) || // it was taken out since
            (read_given(kept, &given, &err) == 0 &&
             tor_jobs_add(t, all, request, configured, &given, &err))) {
            json_array_remove(all->lost, i);
            continue;
        }
        json_object_set_new(kept, "why", json_string(err.text));
        tor_event(t, "alarm", "{s:s, s:s, s:s}", "alarm", "job", "job", name ? name : "", "why",
                  err.text);
        i++;
    }
}

static void tor_jobs_configure(struct tor *t, void *state, const struct tor_section *old) {
    struct jobs *all = state;
    size_t i;
    json_t *item;
    (void)old;
    for (i = all->n; i-- > 0;)
        if (!tor_jobs_stays(all->list[i], t->section->jobs))
            remove_at(t, all, i);
    for (i = 0; i < all->n; i++)
        place_again(t, all->list[i]);
    for (i = 0; i < all->n; i++)
        if (all->list[i]->placed)
            jobs_want(t, all->list[i]);
    jobs_state_configure(t, all, !old);
    restore(t, all);
    json_array_foreach(t->section->jobs, i, item) {
        struct sk_error err = {.text = ""};
        const char *name = json_string_value(json_object_get(item, "name"));
        const size_t at = name ? tor_jobs_find(all, name) : all->n;
        if (at < all->n && all->list[at]->configured && json_equal(item, all->list[at]->request))
            continue;
        if (!is_lost(all, item) && !tor_jobs_add(t, all, item, true, NULL, &err))
            tor_event(t, "alarm", "{s:s, s:s, s:s}", "alarm", "job", "job", name ? name : "", "why",
                      err.text);
    }
    jobs_state_save(t, all);
}

// Addresses come and change, and so does which link of a LAG is up.
static void tor_jobs_run(struct tor *t, void *state, uint64_t now_ns) {
    struct jobs *all = state;
    jobs_resume_run(t, all);
    jobs_sessions_run(t, all);
    jobs_libra_run(t, all);
    if (all->n == 0 || now_ns - all->looked < SECOND)
        return;
    all->looked = now_ns;
    for (size_t i = 0; i < all->n; i++)
        if (all->list[i]->placed) {
            look_up_all(t, all->list[i]);
            jobs_want(t, all->list[i]);
        }
}

// What the job had summed is gone: it is one of the lost.
static void tor_jobs_end(struct tor *t, struct jobs *all, size_t i, const char *why) {
    const struct jobs_job *job = all->list[i];
    json_t *kept = jobs_state_kept(job);
    tor_event(t, "alarm", "{s:s, s:s, s:s}", "alarm", "job", "job", job->name, "why", why);
    json_object_set_new(kept, "why", json_string(why));
    if (!job->leased)
        json_array_append(all->lost, kept);
    json_decref(kept);
    remove_at(t, all, i);
}

void tor_jobs_replaced(struct tor *t, bool kept) {
    struct jobs *all = tor_jobs(t);
    struct sk_error err = {.text =
                               "its sums were in the switch, whose program was replaced; remove "
                               "the job, and add it again when its hosts are restarted"};
    const size_t n = all->n;
    if (kept)
        kept = jobs_libra_replaced(t, all, &err) == 0;
    else
        jobs_sessions_lost(t, all);
    for (size_t i = all->n; !kept && i-- > 0;)
        if (all->list[i]->protocol == JOBS_LIBRA)
            tor_jobs_end(t, all, i, err.text);
    if (kept)
        return;
    all->libra.filled = false;
    all->libra.left.n = 0; // the registers are others
    if (all->n < n)
        jobs_state_save(t, all);
}

static void tor_jobs_frame(struct tor *t, void *state, const struct tor_frame *f) {
    (void)state;
    jobs_resume_frame(t, f);
    jobs_sessions_frame(t, f);
}

// ---- requests ----

static const char *why_not_known(const struct tor *t, const struct jobs_host *host) {
    return neighbours_possible(t, host->vid, &host->address)
               ? "no host has answered for its address"
               : "the switch cannot ask for its address: it has no address in that VLAN, and "
                 "\"macs\" has none at that link";
}

static json_t *host_json(const struct tor *t, const struct jobs_host *host, bool needs_mac) {
    char text[TOR_TEXT];
    json_t *ports = json_array(), *out;
    for (size_t i = 0; i < host->n_ports; i++)
        json_array_append_new(ports, json_integer(host->ports[i]));
    out = json_pack("{s:s, s:o, s:i, s:s}", "link", host->link ? host->link->name : "", "ports",
                    ports, "vlan", host->vid, "address", tor_address_text(&host->address, text));
    if (host->known)
        json_object_set_new(out, "mac", json_string(tor_mac_text(host->mac, text)));
    else if (needs_mac)
        json_object_set_new(out, "waits", json_string(why_not_known(t, host)));
    return out;
}

static json_t *hosts_json(const struct tor *t, const struct jobs_job *job, size_t from, size_t to) {
    json_t *out = json_array();
    for (size_t i = from; i < to; i++) {
        json_t *host = host_json(t, &job->workers[i], job->protocol != JOBS_ATP);
        if (job->levels && i < job->n_hosts)
            json_object_set_new(host, "rank", json_integer(job->ranks[i]));
        json_array_append_new(out, host);
    }
    return out;
}

// What is above and below this switch, of a job over several.
static void levels_json(const struct tor *t, const struct jobs_job *job, json_t *out) {
    json_object_set_new(out, "job_workers", json_integer(job->total));
    json_object_set_new(out, "below", hosts_json(t, job, job->n_hosts, job->n_workers));
    if (job->has_above)
        json_object_set_new(out, "above", host_json(t, &job->above, true));
}

static json_t *tor_jobs_json(struct tor *t, const struct jobs_job *job) {
    char text[TOR_TEXT];
    json_t *workers = hosts_json(t, job, 0, job->n_hosts);
    json_t *out = json_pack("{s:s, s:s, s:i, s:i, s:i, s:b, s:b, s:o}", "name", job->name,
                            "protocol", protocols[job->protocol].name, "number", job->number,
                            protocols[job->protocol].first, (int)job->first,
                            protocols[job->protocol].units, (int)job->count, "configured",
                            (int)job->configured, "admitted", (int)job->placed, "workers", workers);
    if (job->protocol == JOBS_SWITCHML)
        json_object_set_new(out, "elements", json_integer(JOBS_ELEMENTS));
    if (job->protocol == JOBS_LIBRA) {
        json_object_set_new(out, "servers", hosts_json(t, job, job->n_hosts, job->n_workers));
        jobs_libra_json(t, job, out);
    }
    if (job->levels)
        levels_json(t, job, out);
    if (job->leased)
        json_object_set_new(out, "lease", json_true());
    if (job->all_numbers)
        json_object_set_new(out, "numbers", json_string("all"));
    if (job->resume) {
        char waits[256];
        jobs_resume_text(job, waits, sizeof waits);
        json_object_set_new(out, "resuming", json_string(waits));
    }
    if (job->has_sessions) {
        char waits[256];
        sessions_job_text(&job->sessions, t->now, waits, sizeof waits);
        json_object_set_new(out, "session",
                            json_integer(sessions_job_runs(&job->sessions) ? job->session : 0));
        if (waits[0])
            json_object_set_new(out, "session_waits", json_string(waits));
    }
    if (job->protocol == JOBS_ATP) {
        json_object_set_new(out, "server", host_json(t, &job->server, true));
        json_object_set_new(out, "group", json_string(tor_address_text(&job->group, text)));
    }
    return out;
}

static json_t *tor_jobs_list(struct tor *t, const struct jobs *all) {
    size_t i;
    json_t *jobs = json_array();
    for (i = 0; i < all->n; i++)
        json_array_append_new(jobs, tor_jobs_json(t, all->list[i]));
    json_t *lost = json_array(), *kept;
    json_array_foreach(all->lost, i, kept) {
        const char *name =
            json_string_value(json_object_get(json_object_get(kept, "request"), "name"));
        json_array_append_new(lost, json_pack("{s:s, s:O}", "name", name ? name : "", "why",
                                              json_object_get(kept, "why")));
    }
    return json_pack("{s:o, s:o}", "jobs", jobs, "lost", lost);
}

static bool forget_lost(struct jobs *all, const char *name) {
    size_t i;
    json_t *kept;
    json_array_foreach(all->lost, i, kept) {
        const char *its =
            json_string_value(json_object_get(json_object_get(kept, "request"), "name"));
        if (its && strcmp(its, name) == 0)
            return json_array_remove(all->lost, i) == 0;
    }
    return false;
}

static json_t *show_named(struct tor *t, const struct jobs *all, const json_t *request,
                          struct sk_error *err) {
    const char *name = json_string_value(json_object_get(request, "name"));
    const size_t at = name ? tor_jobs_find(all, name) : all->n;
    size_t i;
    json_t *kept;
    if (at < all->n)
        return tor_jobs_json(t, all->list[at]);
    json_array_foreach(all->lost, i, kept) {
        const char *its = sk_json_text(json_object_get(kept, "request"), "name");
        if (name && strcmp(its, name) == 0) {
            sk_fail(err, "name: job '%.60s' is not admitted since the switch was started: %s", name,
                    sk_json_text(kept, "why"));
            return NULL;
        }
    }
    if (name)
        sk_fail(err, "name: there is no job '%.60s'", name);
    else
        sk_fail(err, "name: should be that of a job");
    return NULL;
}

static json_t *remove_named(struct tor *t, struct jobs *all, json_t *request,
                            struct sk_error *err) {
    const char *name = json_string_value(json_object_get(request, "name"));
    const size_t at = name ? tor_jobs_find(all, name) : all->n;
    if (name && at == all->n && forget_lost(all, name)) {
        jobs_state_save(t, all);
        return json_object();
    }
    if (!name || at == all->n) {
        if (name)
            sk_fail(err, "name: there is no job '%.60s'", name);
        else
            sk_fail(err, "name: should be that of a job");
        return NULL;
    }
    if (all->list[at]->configured) {
        sk_fail(err, "job '%s' comes from the configuration: remove it there, and reload", name);
        return NULL;
    }
    remove_at(t, all, at);
    struct sk_error ignored;
    jobs_flush(t, &ignored);
    jobs_state_save(t, all);
    return json_object();
}

static json_t *tor_jobs_request(struct tor *t, void *state, const char *op, json_t *members,
                                struct sk_error *err) {
    struct jobs *all = state;
    if (strcmp(op, "job.list") == 0)
        return tor_jobs_list(t, all);
    if (strcmp(op, "job.show") == 0)
        return show_named(t, all, members, err);
    if (strcmp(op, "job.locate") == 0)
        return jobs_locate(t, members, err);
    if (strcmp(op, "job.remove") == 0)
        return remove_named(t, all, members, err);
    if (strcmp(op, "job.add") != 0)
        return NULL;
    const struct jobs_job *job = tor_jobs_add(t, all, members, false, NULL, err);
    if (job)
        jobs_state_save(t, all);
    return job ? tor_jobs_json(t, job) : NULL;
}

const struct tor_module tor_jobs_module = {.name = "jobs",
                                           .create = tor_jobs_create,
                                           .destroy = tor_jobs_destroy,
                                           .configure = tor_jobs_configure,
                                           .run = tor_jobs_run,
                                           .frame = tor_jobs_frame,
                                           .request = tor_jobs_request};
