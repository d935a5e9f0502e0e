// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "control/tor/jobs_impl.h"
#include "control/tor/links_impl.h"

// ---- members of the request ----

static int wrong(struct sk_error *err, const char *member, const char *should) {
    return sk_fail(err, "%s: should be %s", member, should);
}

// A number from 'low' to 'high'; 'without' when it is not there.
static int number_of(json_t *request, const char *member, uint32_t low, uint32_t high,
                     uint32_t without, uint32_t *out, struct sk_error *err) {
    const json_t *v = json_object_get(request, member);
    *out = without;
    if (!v)
        return 0;
    if (!json_is_integer(v) || json_integer_value(v) < low || json_integer_value(v) > high)
        return sk_fail(err, "%s: should be a number from %u to %u", member, low, high);
    *out = (uint32_t)json_integer_value(v);
    return 0;
}

static bool jobs_read_is_ipv4(const char *text, struct in6_addr *address) {
    struct in_addr a;
    if (inet_pton(AF_INET, text, &a) != 1)
        return false;
    *address = tor_ipv4(ntohl(a.s_addr));
    return true;
}

static int address_of(json_t *request, const char *member, struct in6_addr *out,
                      struct sk_error *err) {
    const json_t *v = json_object_get(request, member);
    *out = in6addr_any;
    if (v && (!json_is_string(v) || !jobs_read_is_ipv4(json_string_value(v), out)))
        return wrong(err, member, "an IPv4 address");
    return 0;
}

// Members that are other protocols'.
static int has_none(json_t *request, const char *const *members, size_t n, const char *protocol,
                    struct sk_error *err) {
    for (size_t i = 0; i < n; i++)
        if (json_object_get(request, members[i]))
            return sk_fail(err, "%s: a job of %s has none", members[i], protocol);
    return 0;
}

#define HAS_NONE(request, protocol, err, ...)                                                      \
    has_none(request, (const char *const[]){__VA_ARGS__},                                          \
             sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *), protocol, err)

static bool jobs_read_is_known(const char *key) {
    static const char *const keys[] = {
        "op",       "name",   "protocol", "workers",  "server", "servers",     "slots",
        "vlan",     "number", "address",  "udp_port", "group",  "aggregators", "rate",
        "resume",   "racks",  "rack",     "epoch",    "hot",    "server_rack", "cells",
        "sessions", "lease",  "numbers",  "above",    "below",  "layout",      "parameters"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

static int jobs_read_name(json_t *request, struct jobs_job *job, struct sk_error *err) {
    const char *key;
    json_t *value;
    json_object_foreach(request, key, value) if (!jobs_read_is_known(key)) return sk_fail(
        err, "%.60s: a job has no such member", key);
    const char *name = json_string_value(json_object_get(request, "name"));
    if (!name || !*name || strlen(name) >= sizeof job->name ||
        strlen(name) != json_string_length(json_object_get(request, "name")))
        return wrong(err, "name", "text of 1 to 63 characters");
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7f)
            return wrong(err, "name", "text without blanks");
    strcpy(job->name, name);
    return 0;
}

static int jobs_read_numbers(json_t *request, struct jobs_job *job, struct sk_error *err) {
    const json_t *numbers = json_object_get(request, "numbers");
    const char *text = json_string_value(numbers);
    job->all_numbers = numbers != NULL;
    if (!numbers)
        return 0;
    if (!text || strcmp(text, "all") != 0)
        return wrong(err, "numbers", "\"all\"");
    if (json_object_get(request, "number"))
        return sk_fail(err, "numbers: \"number\" says which one, \"numbers\" that it is all");
    if (job->has_sessions || !job->leased)
        return sk_fail(err,
                       "numbers: a job by all numbers needs \"sessions\": false and \"lease\": "
                       "true");
    return 0;
}

static int jobs_read_switchml(json_t *request, struct jobs_job *job, struct sk_error *err) {
    const json_t *resume = json_object_get(request, "resume");
    uint32_t port, number;
    int rc = resume && !json_is_boolean(resume) ? wrong(err, "resume", "true or false") : 0;
    if (rc == 0)
        rc = number_of(request, "slots", 1, 32768, 512, &job->count, err);
    if (rc == 0)
        rc = number_of(request, "udp_port", 1, 65535, JOBS_UDP_LOW, &port, err);
    if (rc == 0)
        rc = number_of(request, "number", 0, 255, UINT16_MAX, &number, err);
    if (rc == 0)
        rc = jobs_read_numbers(request, job, err);
    if (rc == 0)
        rc = address_of(request, "address", &job->address, err);
    if (rc == 0)
        rc = HAS_NONE(request, "SwitchML", err, "server", "aggregators", "group", "server_rack",
                      "servers", "epoch", "hot", "cells", "layout", "parameters");
    if (rc == 0) {
        job->udp_port = (uint16_t)port;
        job->number = (uint16_t)number;
        rc = jobs_read_levels(request, job, err);
    }
    return rc;
}

// Without "racks" all are in one, this switch's.
static int read_racks(json_t *request, struct jobs_job *job, struct sk_error *err) {
    const json_t *racks = json_object_get(request, "racks");
    uint32_t here, servers;
    int rc = number_of(request, "rack", 0, 255, UINT16_MAX, &here, err);
    if (rc == 0)
        rc = number_of(request, "server_rack", 0, 255, UINT16_MAX, &servers, err);
    if (rc)
        return rc;
    if (!racks && here == UINT16_MAX && servers == UINT16_MAX) {
        jobs_give_bits(job);
        return 0;
    }
    if (!json_is_array(racks) || json_array_size(racks) != job->n_workers)
        return wrong(err, "racks", "a list of numbers, one for each entry of \"workers\"");
    if (here == UINT16_MAX || servers == UINT16_MAX)
        return wrong(err, here == UINT16_MAX ? "rack" : "server_rack",
                     "given with \"racks\", a number from 0 to 255");
    bool used = here == servers;
    for (size_t i = 0; i < job->n_workers; i++) {
        const json_t *rack = json_array_get(racks, i);
        const json_int_t n = json_integer_value(rack);
        if (!json_is_integer(rack) || n < 0 || n > 255)
            return wrong(err, "racks", "numbers from 0 to 255");
        job->workers[i].rack = (uint8_t)n;
        used |= (uint32_t)n == here;
    }
    if (!used)
        return sk_fail(
            err, "rack: no host of the job is in rack %u: the job does not use this switch", here);
    job->rack = (uint8_t)here;
    job->server_rack = (uint8_t)servers;
    jobs_give_bits(job);
    return 0;
}

static int jobs_read_atp(json_t *request, struct jobs_job *job, struct sk_error *err) {
    uint32_t number;
    int rc = number_of(request, "aggregators", 1, 32768, 1024, &job->count, err);
    if (rc == 0)
        rc = number_of(request, "number", 1, JOBS_ATP_NUMBER, UINT16_MAX, &number, err);
    if (rc == 0)
        rc = address_of(request, "group", &job->group, err);
    if (rc == 0 && job->group.s6_addr[12] != 0 && job->group.s6_addr[12] >> 4 != 0xe)
        rc = wrong(err, "group", "a multicast address (224.0.0.0 to 239.255.255.255)");
    if (rc == 0 && !json_is_string(json_object_get(request, "server")))
        rc = wrong(err, "server", "text like port:address");
    if (rc == 0)
        rc = HAS_NONE(request, "ATP", err, "slots", "resume", "numbers", "address", "udp_port",
                      "above", "below", "servers", "epoch", "hot", "cells", "layout", "parameters");
    if (rc == 0)
        rc = read_racks(request, job, err);
    if (rc == 0)
        job->number = (uint16_t)number;
    return rc;
}

// Workers and then servers are its members, with one address each.
static int jobs_read_servers(json_t *request, struct jobs_job *job, struct sk_error *err) {
    const json_t *servers = json_object_get(request, "servers");
    const size_t n = json_array_size(servers);
    if (servers && (!json_is_array(servers) || n < 1 || n > JOBS_WORKERS))
        return wrong(err, "servers", "a list of 1 to 32 like port:address");
    if (job->n_hosts + n > JOBS_WORKERS)
        return sk_fail(err, "servers: the job has more than %u workers and servers", JOBS_WORKERS);
    job->n_workers = job->n_hosts + n;
    return 0;
}

static int jobs_read_libra(json_t *request, struct jobs_job *job, struct sk_error *err) {
    uint32_t port, number, epoch;
    int rc = number_of(request, "cells", 1, 65536, 0, &job->count, err);
    if (rc == 0)
        rc = number_of(request, "udp_port", 1, 65535, JOBS_UDP_KV, &port, err);
    if (rc == 0)
        rc = number_of(request, "number", 0, 255, UINT16_MAX, &number, err);
    if (rc == 0)
        rc = number_of(request, "epoch", 0, 65535, 0, &epoch, err);
    if (rc == 0)
        rc = number_of(request, "hot", 1, UINT32_MAX / 2, 0, &job->hot, err);
    if (rc == 0)
        rc = address_of(request, "address", &job->address, err);
    if (rc == 0 && json_object_get(request, "layout"))
        rc = sk_fail(err, "layout: the configuration has what the file says of it: \"number\", "
                          "\"epoch\" and \"hot\"");
    if (rc == 0 && json_object_get(request, "parameters"))
        rc = sk_fail(err, "parameters: only a switch with \"libra\" in its configuration has to "
                          "know which server has which");
    if (rc == 0 && job->has_sessions && json_object_get(request, "sessions"))
        rc = sk_fail(err, "sessions: a job of Libra has none; one that is restarted is removed and "
                          "added again");
    if (rc == 0)
        rc = HAS_NONE(request, "Libra", err, "server", "slots", "aggregators", "group", "resume",
                      "numbers", "racks", "rack", "server_rack", "above", "below");
    if (rc == 0)
        rc = jobs_read_servers(request, job, err);
    if (rc)
        return rc;
    job->has_sessions = false;
    job->udp_port = (uint16_t)port;
    job->number = (uint16_t)number;
    job->epoch = (uint16_t)epoch;
    return 0;
}

int jobs_read(json_t *request, struct jobs_job *job, struct sk_error *err) {
    const json_t *workers = json_object_get(request, "workers");
    const char *protocol = json_string_value(json_object_get(request, "protocol"));
    int rc = jobs_read_name(request, job, err);
    if (rc)
        return rc;
    // a switch may have only others below it
    const bool none = !workers && json_object_get(request, "below");
    if (!none && (!json_is_array(workers) || json_array_size(workers) < 1 ||
                  json_array_size(workers) > JOBS_WORKERS))
        return wrong(err, "workers", "a list of 1 to 32 like port:address");
    job->n_hosts = job->n_workers = json_array_size(workers);
    const json_t *sessions = json_object_get(request, "sessions");
    if (sessions && !json_is_boolean(sessions))
        return wrong(err, "sessions", "true or false");
    job->has_sessions = !json_is_false(sessions);
    const json_t *lease = json_object_get(request, "lease");
    if (lease && !json_is_boolean(lease))
        return wrong(err, "lease", "true or false");
    job->leased = json_is_true(lease);
    rc = number_of(request, "rate", 1, 400000, 0, &job->rate, err);
    if (rc)
        return rc;
    if (protocol && strcmp(protocol, "switchml") == 0) {
        job->protocol = JOBS_SWITCHML;
        return jobs_read_switchml(request, job, err);
    }
    if (protocol && strcmp(protocol, "atp") == 0) {
        job->protocol = JOBS_ATP;
        return jobs_read_atp(request, job, err);
    }
    if (protocol && strcmp(protocol, "libra") == 0) {
        job->protocol = JOBS_LIBRA;
        return jobs_read_libra(request, job, err);
    }
    return wrong(err, "protocol", "switchml, atp or libra");
}

// ---- places ----

// The number of its LAG in the replication engine; -1: it is a port alone.
static int lag_of(const struct tor_link *link) {
    const struct own_link *own = CONTAINER_OF(link, struct own_link, link);
    return own->lag == LINKS_NO_LAG ? -1 : own->lag;
}

// A link by its name, or by the name or number of one of its ports.
static struct tor_link *link_named(struct tor *t, const char *name) {
    struct tor_link *link = tor_link_by_name(t, name);
    char *end;
    const unsigned long number = strtoul(name, &end, 10);
    for (size_t i = 0; !link && i < t->host.n_ports; i++) {
        const struct sk_config_port *p = &t->host.ports[i];
        if ((p->name && strcmp(p->name, name) == 0) || (*name && *end == '\0' && p->port == number))
            link = tor_link_by_port(t, p->port);
    }
    return link;
}

static bool jobs_read_covers(const struct tor_vlan *v, const struct in6_addr *address) {
    for (size_t i = 0; i < v->n_addresses; i++) {
        const struct tor_prefix *p = &v->addresses[i];
        uint32_t a, b;
        memcpy(&a, &address->s6_addr[12], sizeof a);
        memcpy(&b, &p->address.s6_addr[12], sizeof b);
        if (tor_is_ipv4(&p->address) && p->length >= 96 &&
            (p->length == 96 || (ntohl(a) ^ ntohl(b)) >> (128 - p->length) == 0))
            return true;
    }
    return false;
}

// The VLAN that the request says, the link's untagged one, or one it carries whose addresses are
// the host's.
static uint16_t vlan_of(const struct tor *t, const struct tor_link *link, uint32_t said,
                        const struct in6_addr *address) {
    if (said)
        return (uint16_t)said;
    for (size_t i = 0; i < t->section->n_vlans; i++) {
        const struct tor_vlan *v = &t->section->vlans[i];
        if (tor_link_carries(link, v->vid) && jobs_read_covers(v, address))
            return v->vid;
    }
    if (link->section->untagged)
        return link->section->untagged;
    return link->section->n_vids == 1 ? link->section->vids[0] : 0;
}

// "port:address"
static int place_host(struct tor *t, const char *what, const char *text, uint32_t vlan,
                      struct jobs_host *host, struct sk_error *err) {
    const char *colon = text ? strrchr(text, ':') : NULL;
    char name[TOR_NAME];
    if (!colon || colon == text || (size_t)(colon - text) >= sizeof name)
        return sk_fail(err, "%s: should be a port and an address like web1:10.0.10.2", what);
    memcpy(name, text, (size_t)(colon - text));
    name[colon - text] = '\0';
    struct tor_link *link = link_named(t, name);
    struct in6_addr address;
    if (!link)
        return sk_fail(err, "%s: there is no link or port '%s'", what, name);
    if (!jobs_read_is_ipv4(colon + 1, &address))
        return sk_fail(err, "%s: '%.40s' is not an IPv4 address", what, colon + 1);
    const uint16_t vid = vlan_of(t, link, vlan, &address);
    if (vid == 0)
        return sk_fail(err, "%s: link '%s' carries several VLANs; name one with \"vlan\"", what,
                       name);
    if (!tor_section_vlan(t->section, vid) || !tor_link_carries(link, vid))
        return sk_fail(err, "%s: link '%s' does not carry VLAN %u", what, name, vid);
    if (host->known && memcmp(&host->address, &address, sizeof address) != 0)
        host->known = false;
    host->link = link;
    host->lag = lag_of(link);
    host->n_ports = (uint16_t)link->section->n_ports;
    memcpy(host->ports, link->section->ports, sizeof host->ports);
    host->address = address;
    host->vid = vid;
    host->tag = link->section->untagged == vid ? 0 : vid;
    return 0;
}

static const char *jobs_read_others(const struct jobs_job *job) {
    return job->protocol == JOBS_LIBRA ? "servers" : "below";
}

// As the request has it: "workers[1]", "below[0]".
static void jobs_read_name_of(const struct jobs_job *job, size_t i, char out[32]) {
    const bool host = i < job->n_hosts;
    snprintf(out, 32, "%s[%zu]", host ? "workers" : jobs_read_others(job),
             host ? i : i - job->n_hosts);
}

static int place_workers(struct tor *t, struct jobs_job *job, uint32_t vlan, struct sk_error *err) {
    const json_t *workers = json_object_get(job->request, "workers"),
                 *others = json_object_get(job->request, jobs_read_others(job));
    for (size_t i = 0; i < job->n_workers; i++) {
        char what[32], other[32];
        const json_t *text = i < job->n_hosts ? json_array_get(workers, i)
                                              : json_array_get(others, i - job->n_hosts);
        jobs_read_name_of(job, i, what);
        int rc = place_host(t, what, json_string_value(text), vlan, &job->workers[i], err);
        if (rc)
            return rc;
        for (size_t k = 0; k < i; k++)
            if (memcmp(&job->workers[k].address, &job->workers[i].address,
                       sizeof job->workers[k].address) == 0) {
                jobs_read_name_of(job, k, other);
                return sk_fail(err, "%s: %s has the same address", what, other);
            }
        if (job->protocol == JOBS_ATP && job->workers[i].vid != job->workers[0].vid)
            return sk_fail(
                err, "%s: it is in VLAN %u, workers[0] in VLAN %u: parameters are sent to one VLAN",
                what, job->workers[i].vid, job->workers[0].vid);
    }
    return 0;
}

// Hosts talk to the switch about sessions, at an address of its own.
static int hears_all(struct tor *t, const struct jobs_job *job, struct sk_error *err) {
    static const char advice[] =
        "sessions of the job cannot be coordinated; \"sessions\": false turns them off; a job that "
        "restarts must then be removed and added again first";
    for (size_t i = 0; job->has_sessions && i < job->n_workers; i++) {
        const struct jobs_host *w = &job->workers[i];
        struct in6_addr own;
        if (job->protocol == JOBS_SWITCHML && !tor_address_is_own(t, &w->to, NULL))
            return sk_fail(err, "address: it is not one of the switch's, so %s", advice);
        if (job->protocol == JOBS_ATP && w->rack == job->rack &&
            !tor_address_for(t, w->vid, &w->address, &own))
            return sk_fail(
                err,
                "the switch has no IPv4 address in VLAN %u that workers[%zu] could send to, "
                "so %s",
                w->vid, i, advice);
    }
    return 0;
}

// The switch above, and which address this one has for it.
static int place_above(struct tor *t, struct jobs_job *job, uint32_t vlan, struct sk_error *err) {
    struct jobs_host *above = &job->above;
    char other[32];
    int rc = place_host(t, "above", json_string_value(json_object_get(job->request, "above")), vlan,
                        above, err);
    for (size_t i = 0; rc == 0 && i < job->n_workers; i++)
        if (memcmp(&job->workers[i].address, &above->address, sizeof above->address) == 0) {
            jobs_read_name_of(job, i, other);
            rc = sk_fail(err, "above: %s has the same address", other);
        }
    if (rc == 0 && !tor_address_for(t, above->vid, &above->address, &above->to))
        rc = sk_fail(err,
                     "above: this switch has no IPv4 address in VLAN %u that the other one could "
                     "send to",
                     above->vid);
    return rc;
}

int jobs_place(struct tor *t, struct jobs_job *job, struct sk_error *err) {
    uint32_t vlan;
    job->ecn_cells = t->section->ecn_cells;
    int rc = number_of(job->request, "vlan", 1, 4094, 0, &vlan, err);
    if (rc == 0)
        rc = place_workers(t, job, vlan, err);
    if (rc == 0 && job->protocol == JOBS_ATP)
        rc = place_host(t, "server", json_string_value(json_object_get(job->request, "server")),
                        vlan, &job->server, err);
    if (rc == 0 && job->has_above)
        rc = place_above(t, job, vlan, err);
    for (size_t i = 0; rc == 0 && job->protocol != JOBS_ATP && i < job->n_workers; i++) {
        struct jobs_host *w = &job->workers[i];
        char name[32];
        jobs_read_name_of(job, i, name);
        w->to = job->address;
        if (IN6_IS_ADDR_UNSPECIFIED(&w->to) && !tor_address_for(t, w->vid, &w->address, &w->to))
            rc = sk_fail(err,
                         "the switch has no IPv4 address in VLAN %u that %s could send "
                         "to: give it one, or the job an \"address\"",
                         w->vid, name);
    }
    return rc ? rc : hears_all(t, job, err);
}
