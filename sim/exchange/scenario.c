// SPDX-License-Identifier: Apache-2.0
#include "sim/exchange/scenario.h"

#include <stdio.h>
#include <string.h>

#include "hosts/dlcp/packet.h"
#include "sim/scenario_impl.h"
#include "sim/transport/frame.h"

#define MAX_US 3.6e9
#define MOST   256u // workers, and servers

const char *const scn_transport_names[] = {"newreno", "cubic", "dctcp", "pias",
                                           "pfabric", "dlcp",  NULL};

static const char *const all_keys[] = {
    "name",          "protocol",   "form",        "workers",    "servers",
    "work",          "cut_bytes",  "begin_with",  "order",      "partition_bytes",
    "credit_bytes",  "list_flows", "rto_us",      "rto_min_us", "rto_max_us",
    "hard_limit_ms", "group",      "chunk_bytes", NULL};
static const char *const stream_keys[] = {"dscp",           "ack_dscp",   "connections", "mss",
                                          "initial_window", "cubic_c",    "first_bytes", "factor",
                                          "levels",         "duplicates", NULL};
static const char *const dlcp_keys[] = {"bound",    "pull_bound", "segment", "ports", "period_us",
                                        "burst_us", "important",  "classes", NULL};

bool scn_is_exchange(const struct sk_at *at) {
    const struct sk_at m = sk_at_member(at, "protocol");
    const char *word = json_is_string(m.value) ? json_string_value(m.value) : "";
    for (size_t i = 0; scn_transport_names[i]; i++)
        if (strcmp(word, scn_transport_names[i]) == 0)
            return true;
    return false;
}

static bool is_in(const char *const *list, const char *word) {
    for (; *list; list++)
        if (strcmp(*list, word) == 0)
            return true;
    return false;
}

static void check_keys(const struct sk_at *at, bool dlcp) {
    const char *key;
    json_t *value;
    json_object_foreach(at->value, key, value) {
        const struct sk_at m = sk_at_member(at, key);
        if (is_in(dlcp ? stream_keys : dlcp_keys, key))
            sk_at_fail(&m, "is of %s only", dlcp ? "other transports" : "\"dlcp\"");
        else if (!is_in(all_keys, key) && !is_in(dlcp ? dlcp_keys : stream_keys, key))
            sk_at_fail(&m, "is not known");
    }
}

// ---- who ----

static uint32_t *first_hosts(const struct scenario *s, const struct sk_at *at, size_t n) {
    uint32_t *out = scn_keep(at, n, sizeof *out);
    size_t k = 0;
    for (uint32_t i = 0; i < s->n_stations && k < n; i++)
        if (!s->stations[i].is_switch)
            out[k++] = i;
    return out;
}

static void read_members(const struct scenario *s, const struct sk_at *at, struct scn_exchange *x) {
    const struct sk_at workers = sk_at_member(at, "workers"), servers = sk_at_member(at, "servers");
    size_t hosts = 0;
    for (size_t i = 0; i < s->n_stations; i++)
        hosts += !s->stations[i].is_switch;
    const uint32_t most = (uint32_t)(hosts < MOST ? hosts : MOST);
    if (json_is_array(workers.value)) {
        x->workers = scn_stations(s, &workers, true, false, &x->n_workers);
    } else {
        x->n_workers = scn_whole(at, "workers", 1, most, most);
        x->workers = first_hosts(s, at, x->n_workers);
    }
    const int least = x->form == SCN_SERVERS ? 1 : 2;
    if (x->n_workers > MOST || x->n_workers < (size_t)least)
        sk_at_fail(&workers, "are %zu; there can be %d to %u", x->n_workers, least, MOST);
    if (x->form != SCN_SERVERS) {
        if (servers.value)
            sk_at_fail(&servers, "are of the form \"servers\" only");
        return;
    }
    if (json_is_array(servers.value)) {
        x->servers = scn_stations(s, &servers, true, false, &x->n_servers);
    } else { // on workers' hosts, spread evenly
        const uint32_t n = (uint32_t)x->n_workers;
        x->n_servers = scn_whole(at, "servers", 1, n ? n : 1, n > 4 ? n / 4 : 1);
        x->servers = scn_keep(at, x->n_servers, sizeof *x->servers);
        for (uint32_t i = 0; i < x->n_servers && n; i++)
            x->servers[i] = x->workers[(uint64_t)i * n / x->n_servers];
    }
    if (x->n_servers > MOST || !x->n_servers)
        sk_at_fail(&servers, "are %zu; there can be 1 to %u", x->n_servers, MOST);
}

// ---- how ----

static void read_levels(const struct sk_at *at, struct scn_exchange *x) {
    const bool pfabric = x->transport == SCN_PFABRIC;
    const struct sk_at levels = sk_at_member(at, "levels");
    x->levels.n = scn_whole(at, "levels", 1, 32, pfabric ? 32 : 8);
    x->levels.first = scn_number(at, "first_bytes", 1, 1e9, pfabric ? 1448 : 14480);
    x->levels.factor = scn_number(at, "factor", 1.01, 1000, pfabric ? 1.35 : 3);
    const bool used = pfabric || x->transport == SCN_PIAS;
    if (levels.value && !used)
        sk_at_fail(&levels, "is of pias and pfabric only");
    if (used && x->dscp + x->levels.n > 64)
        sk_at_fail(at, "its levels need DSCPs %u to %u, but the last is 63", x->dscp,
                   x->dscp + x->levels.n - 1);
}

static void read_stream(const struct sk_at *at, struct scn_exchange *x) {
    static const char *const connections[] = {"flow", "pair", NULL};
    const struct sk_at kept = sk_at_member(at, "connections");
    const bool levels = x->transport == SCN_PIAS || x->transport == SCN_PFABRIC;
    x->dscp = (uint8_t)scn_whole(at, "dscp", 0, 63, levels ? 32 : 0);
    x->ack_dscp = (uint8_t)scn_whole(at, "ack_dscp", 0, 63, x->dscp);
    x->kept = scn_choice(at, "connections", connections, !levels && scn_is_collective(x)) == 1;
    if (x->kept && levels)
        sk_at_fail(&kept, "of pias and pfabric are of a flow: its size says the priority");
    x->mss = scn_whole(at, "mss", 64, TR_MTU_PAYLOAD, TR_MTU_PAYLOAD);
    x->initial_window = scn_whole(at, "initial_window", 1, 65536, 10);
    x->duplicates = scn_whole(at, "duplicates", 1, 1000, 3);
    x->cubic_c = scn_number(at, "cubic_c", 1e-9, 1e12, 0.4);
    read_levels(at, x);
}

static void read_dlcp(const struct sk_at *at, struct scn_exchange *x) {
    static const char *const classes[] = {"layers", "one", NULL};
    const double bound = scn_number(at, "bound", 0, 0.999999, 0.1);
    x->bound = (uint32_t)(bound * DLCP_ALL + 0.5);
    x->pull_bound =
        (uint32_t)(scn_number(at, "pull_bound", 0, 0.999999, bound / 10) * DLCP_ALL + 0.5);
    x->segment = scn_whole(at, "segment", 1, DLCP_ELEMENTS, DLCP_ELEMENTS);
    x->ports = scn_whole(at, "ports", 1, DLCP_PATHS, 1);
    x->period_us = scn_number(at, "period_us", 1, MAX_US, 200);
    x->burst_us = scn_number(at, "burst_us", 0, MAX_US, 10);
    x->important = scn_number(at, "important", 0, 1, 0.5);
    x->one_class = scn_choice(at, "classes", classes, 0) == 1;
}

static void exchange_read_form(const struct sk_at *at, struct scn_exchange *x) {
    static const char *const forms[] = {"servers",   "ring",         "halving", "tree",
                                        "two trees", "hierarchical", NULL};
    const struct sk_at form = sk_at_member(at, "form"), chunk = sk_at_member(at, "chunk_bytes");
    x->form = (enum scn_form)scn_choice(at, "form", forms, SCN_SERVERS);
    if (x->transport == SCN_DLCP && scn_is_collective(x))
        sk_at_fail(&form, "must be servers or ring: DLCP has no others");
    x->chunk_bytes = scn_whole(at, "chunk_bytes", 4, 1000000000, 524288) / 4 * 4;
    if (chunk.value && x->form != SCN_TREE && x->form != SCN_TWO_TREES)
        sk_at_fail(&chunk, "is of trees only");
}

static void exchange_read_groups(const struct sk_at *at, struct scn_exchange *x) {
    const struct sk_at group = sk_at_member(at, "group");
    if (group.value && x->form != SCN_HIERARCHICAL)
        sk_at_fail(&group, "is of the form \"hierarchical\" only");
    if (x->form != SCN_HIERARCHICAL)
        return;
    const uint32_t n = (uint32_t)x->n_workers;
    x->group = scn_whole(at, "group", 1, MOST, 1);
    if (!group.value)
        sk_at_fail(at, "needs \"group\": how many workers that follow each other are one");
    else if (x->group && n % x->group)
        sk_at_fail(&group, "must divide the %u workers", n);
}

void scn_read_exchange(struct scenario *s, const struct sk_at *at, struct scn_job *job) {
    static const char *const begin[] = {"different servers", "the same server", NULL};
    static const char *const orders[] = {"fifo", "layers", NULL};
    struct scn_exchange *x = job->exchange = scn_keep(at, 1, sizeof *x);
    const struct sk_at work = sk_at_member(at, "work");
    x->transport = (enum scn_transport)scn_choice(at, "protocol", scn_transport_names, 0);
    check_keys(at, x->transport == SCN_DLCP);
    exchange_read_form(at, x);
    read_members(s, at, x);
    exchange_read_groups(at, x);
    x->cut_bytes = scn_number(at, "cut_bytes", 0, 1e12, 4e6);
    x->in_step = scn_choice(at, "begin_with", begin, 0) == 1;
    x->by_layer = scn_choice(at, "order", orders, 0) == 1;
    x->partition_bytes = scn_whole(at, "partition_bytes", 0, 1000000000, 0) / 4 * 4;
    x->credit_bytes = scn_whole(at, "credit_bytes", 0, 1000000000, 0);
    x->list_flows = scn_flag(at, "list_flows", false);
    if (x->transport == SCN_DLCP)
        read_dlcp(at, x);
    else
        read_stream(at, x);
    job->protocol = SIM_OTHER;
    job->at = SCN_NONE;
    scn_read_work(&work, &job->work);
    if (job->work.kind != SCN_TRAINING)
        sk_at_fail(&work, "must be training: what a transport carries is a model's tensors");
    if (job->work.floats && x->transport != SCN_DLCP)
        sk_at_fail(&work, "has values, which only DLCP's packets carry here");
    // as if a handshake had measured the round trip
    job->rto_min_us =
        scn_range(at, "rto_min_us", 1, MAX_US, x->transport == SCN_DLCP ? 200 : 10000);
    job->rto_initial_us = job->rto_min_us;
    if (sk_at_member(at, "rto_us").value)
        job->rto_initial_us = scn_range(at, "rto_us", 1, MAX_US, 1);
    job->rto_max_us = scn_range(at, "rto_max_us", 1, MAX_US, 1e6);
    if (job->rto_min_us.high > job->rto_max_us.low)
        sk_at_fail(at, "has an rto_min_us that can be more than rto_max_us");
    job->hard_limit_ms =
        scn_range(at, "hard_limit_ms", 0, 3.6e6, x->transport == SCN_DLCP ? 10000 : 0);
}
