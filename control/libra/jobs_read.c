// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "control/libra/libra_impl.h"

// ---- the section ----

bool libra_s_section_read(struct libra_s *l, const struct sk_at *at) {
    static const char *const keys[] = {"mac", "address", "shares", "jobs", NULL};
    const struct sk_at mac = sk_at_member(at, "mac"), address = sk_at_member(at, "address"),
                       shares = sk_at_member(at, "shares");
    sk_at_keys(at, keys);
    const char *mac_text = sk_at_string(&mac, true), *ip_text = sk_at_string(&address, true);
    l->shares = shares.value ? (uint32_t)sk_at_between(&shares, true, 1, LIBRA_S_JOBS) : 4;
    if (at->doc->failed)
        return false;
    if (!sk_mac_parse(mac_text, l->end.mac) || l->end.mac[0] & 1)
        sk_at_fail(&mac, "'%.60s' is not the MAC address of a station, like 02:00:00:00:00:fe",
                   mac_text);
    else if (!sk_ip_parse(ip_text, &l->end.ip))
        sk_at_fail(&address, "'%.60s' is not an IPv4 address, like 10.0.0.254", ip_text);
    l->end.port = LIBRA_PORT;
    return !at->doc->failed;
}

// ---- a job ----

// "1:10.0.0.1" or "1:10.0.0.1/02:00:00:00:00:01"
static void jobs_read_member(const struct sk_at *at, struct libra_s_member *m) {
    const char *text = sk_at_string(at, true);
    char copy[64], *end;
    if (!text)
        return;
    snprintf(copy, sizeof copy, "%s", text);
    char *colon = strchr(copy, ':'), *slash = strchr(copy, '/');
    const unsigned long port = strtoul(copy, &end, 10);
    if (slash)
        *slash++ = '\0';
    m->has_mac = slash;
    m->port = (uint16_t)port;
    if (strlen(text) >= sizeof copy || !colon || end != colon || end == copy || port > 511 ||
        !sk_ip_parse(colon + 1, &m->end.ip) ||
        (slash && (!sk_mac_parse(slash, m->end.mac) || m->end.mac[0] & 1)))
        sk_at_fail(at,
                   "'%.60s' is not a port, an address and, if frames shall be forwarded to it, a "
                   "MAC address, like 1:10.0.0.1/02:00:00:00:00:01",
                   text);
    else if (m->server && !slash)
        sk_at_fail(at,
                   "a server needs its MAC address, too, like 1:10.0.0.1/02:00:00:00:00:01: what "
                   "is left of pushes is sent to it");
}

static void jobs_read_members(const struct sk_at *at, struct libra_s_job *j) {
    const struct sk_at workers = sk_at_member(at, "workers"), servers = sk_at_member(at, "servers");
    j->workers = (uint32_t)sk_at_length(&workers);
    j->servers = (uint32_t)sk_at_length(&servers);
    if (j->workers < 1 || j->workers > LIBRA_S_WINDOWS)
        sk_at_fail(workers.value ? &workers : at,
                   "\"workers\" should be a list of 1 to %u like "
                   "1:10.0.0.1",
                   LIBRA_S_WINDOWS);
    else if (j->servers < 1 || j->servers > LIBRA_S_SERVERS)
        sk_at_fail(servers.value ? &servers : at,
                   "\"servers\" should be a list of 1 to %u like "
                   "9:10.0.0.9/02:00:00:00:00:09",
                   LIBRA_S_SERVERS);
    if (at->doc->failed)
        return;
    j->members = calloc(j->workers + j->servers, sizeof *j->members);
    if (!j->members)
        sk_at_fail(at, "out of memory");
    for (uint32_t m = 0; j->members && m < j->workers + j->servers; m++) {
        const bool server = m >= j->workers;
        const struct sk_at item =
            server ? sk_at_item(&servers, m - j->workers) : sk_at_item(&workers, m);
        j->members[m].server = server;
        jobs_read_member(&item, &j->members[m]);
        if (!at->doc->failed && j->members[m].port >> 7 != j->members[0].port >> 7)
            sk_at_fail(&item,
                       "port %u is in another pipe than port %u: pipes have cells of their own, so "
                       "members of a job are at ports of one",
                       j->members[m].port, j->members[0].port);
    }
}

static void jobs_read_layout(const struct libra_s *l, const struct sk_at *at,
                             struct libra_s_job *j) {
    const char *said = sk_at_string(at, true);
    struct sk_error err;
    if (!said)
        return;
    char *path = l->host.beside && !l->host.layout ? l->host.beside(l->host.aux, said) : NULL;
    if (l->host.layout ? l->host.layout(l->host.aux, said, &j->layout, &err)
                       : libra_layout_read(&j->layout, path ? path : said, &err))
        sk_at_fail(at, "%s", err.text);
    else if (j->layout.registers != LIBRA_PLACES)
        sk_at_fail(at, "%s is for %u registers, and the switch has %u", said, j->layout.registers,
                   LIBRA_PLACES);
    free(path);
}

static void jobs_read_cells(const struct libra_s *l, const struct sk_at *at,
                            struct libra_s_job *j) {
    const struct sk_at cells = sk_at_member(at, "cells");
    const uint32_t needs = (uint32_t)((j->layout.n + LIBRA_PLACES - 1) / LIBRA_PLACES);
    j->cells = cells.value ? (uint32_t)sk_at_between(&cells, true, 1, LIBRA_S_CELLS)
                           : LIBRA_S_CELLS / l->shares;
    if (!at->doc->failed && needs > j->cells)
        sk_at_fail(
            cells.value ? &cells : at,
            "the layout has %zu parameters, which are %u cells in each register; the job has "
            "%u: give it more \"cells\", or make a shorter layout",
            j->layout.n, needs, j->cells);
}

static void jobs_read_all(const struct libra_s *l, const struct sk_at *at, struct libra_s_job *j) {
    static const char *const keys[] = {"op",    "name",       "protocol", "layout", "workers",
                                       "cells", "parameters", "servers",  NULL};
    const struct sk_at name = sk_at_member(at, "name"), protocol = sk_at_member(at, "protocol"),
                       layout = sk_at_member(at, "layout"),
                       parameters = sk_at_member(at, "parameters");
    sk_at_keys(at, keys);
    const char *text = sk_at_string(&name, true), *kind = sk_at_string(&protocol, false);
    if (at->doc->failed)
        return;
    if (!*text || strlen(text) >= sizeof j->name)
        sk_at_fail(&name, "a job's name has 1 to %u characters", LIBRA_S_NAME - 1);
    if (kind && strcmp(kind, "libra") != 0)
        sk_at_fail(&protocol, "the switch's program is p4/libra, whose jobs are of \"libra\"");
    snprintf(j->name, sizeof j->name, "%s", text);
    j->parameters = sk_at_number(&parameters, true, UINT64_MAX);
    if (!at->doc->failed && j->parameters == 0)
        sk_at_fail(&parameters, "a job has parameters");
    if (!at->doc->failed)
        jobs_read_layout(l, &layout, j);
    for (size_t i = 0; !at->doc->failed && i < j->layout.n; i++)
        if (j->layout.keys[i] >= j->parameters)
            sk_at_fail(&layout, "it has parameter %llu, and the job has %llu",
                       (unsigned long long)j->layout.keys[i], (unsigned long long)j->parameters);
    if (!at->doc->failed)
        jobs_read_members(at, j);
    if (!at->doc->failed)
        jobs_read_cells(l, at, j);
}

struct libra_s_job *libra_s_job_read(const struct libra_s *l, const struct sk_at *at) {
    struct libra_s_job *j = calloc(1, sizeof *j);
    if (!j) {
        sk_at_fail(at, "out of memory");
        return NULL;
    }
    jobs_read_all(l, at, j);
    if (!at->doc->failed)
        return j;
    libra_s_job_free(j);
    return NULL;
}
