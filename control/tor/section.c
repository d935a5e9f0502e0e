// SPDX-License-Identifier: Apache-2.0
//
// section: the whole, VLANs, queues, rates.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/tor/section_impl.h"

bool reading_failed(const struct sk_at *at) {
    return at->doc->failed;
}

bool reading_good(const struct reading *r) {
    return !r->at->doc->failed;
}

void *reading_keep(struct reading *r, size_t size) {
    return sk_json_keep(r->memory, size);
}

// ---- the switch's own MAC address ----

// One that stays the same on this machine: locally administered, from the id that it got when it
// was installed.
static void own_mac(const struct sk_at *at, struct tor_mac *mac) {
    char id[64] = "";
    FILE *f = fopen("/etc/machine-id", "r");
    const bool known = f && fgets(id, sizeof id, f) && strlen(id) >= 32;
    if (f)
        fclose(f);
    if (!known)
        sk_at_fail(at,
                   "it is missing, and this machine has no id to derive it from (/etc/machine-id)");
    uint64_t hash = 0xcbf29ce484222325; // FNV-1a
    for (const char *c = id; *c && *c != '\n'; c++)
        hash = (hash ^ (uint8_t)*c) * 0x100000001b3;
    for (unsigned i = 0; i < 6; i++)
        mac->bytes[i] = (uint8_t)(hash >> 8 * i);
    mac->bytes[0] = (uint8_t)((mac->bytes[0] & 0xfc) | 2);
}

static void read_own_mac(struct reading *r) {
    struct sk_at mac = sk_at_member(r->at, "mac");
    if (mac.value)
        r->s->mac = read_mac(&mac);
    else
        own_mac(&mac, &r->s->mac);
}

// ---- VLANs ----

static void read_snooping(const struct sk_at *at, struct tor_vlan *v) {
    static const char *const keys[] = {"querier", "interval",        "idle",
                                       "unknown", "immediate_leave", NULL},
                             *const unknown[] = {"flood", "routers", NULL};
    struct sk_at snooping = sk_at_member(at, "snooping");
    const bool object = json_is_object(snooping.value);
    if (snooping.value && !object && !json_is_boolean(snooping.value))
        sk_at_fail(&snooping, "it must be true, false or an object");
    if (object)
        sk_at_keys(&snooping, keys);
    v->snooping = object || json_is_true(snooping.value);
    v->querier = read_flag(&snooping, "querier", false);
    v->query_interval = read_member_between(&snooping, "interval", 1, 18000, 125);
    v->group_idle = read_member_between(&snooping, "idle", 15, 3600, 300); // Open vSwitch's bounds
    v->immediate_leave = read_flag(&snooping, "immediate_leave", false);
    v->flood_unknown = read_word(&snooping, "unknown", unknown, 0) == 0;
}

static void read_vlan(struct reading *r, const struct sk_at *at, struct simap *names, size_t i) {
    static const char *const keys[] = {"vid",      "name",          "addresses", "mtu", "aging",
                                       "snooping", "static_groups", "announce",  NULL};
    struct tor_vlan *v = &r->s->vlans[i];
    struct sk_at vid = sk_at_member(at, "vid"), name = sk_at_member(at, "name");
    if (!json_is_object(at->value))
        sk_at_fail(at, "it must be an object");
    sk_at_keys(at, keys);
    const uint16_t number = read_vlan_number(&vid);
    if (r->vlans[number])
        sk_at_fail(&vid, "VLAN %u is given twice", number);
    if (!reading_good(r))
        return;
    r->vlans[number] = true;
    v->vid = number;
    if (name.value)
        read_name(at, "name", names, i, v->name);
    v->mtu = read_member_between(at, "mtu", 1280, 9198, 1500);
    v->aging = read_member_between(at, "aging", 0, 1000000, 300);
    v->announce = read_flag(at, "announce", true);
    read_snooping(at, v);
    read_addresses(r, at, v, i);
}

static void read_vlans(struct reading *r) {
    struct sk_at list = sk_at_member(r->at, "vlans");
    const size_t n = sk_at_length(&list);
    struct simap names = SIMAP_INITIALIZER(&names);
    r->s->vlans = reading_keep(r, n * sizeof *r->s->vlans);
    for (; r->s->n_vlans < n && reading_good(r); r->s->n_vlans++) {
        struct sk_at item = sk_at_item(&list, r->s->n_vlans);
        read_vlan(r, &item, &names, r->s->n_vlans);
    }
    simap_destroy(&names);
    if (reading_good(r))
        check_addresses(r);
}

static void read_all_groups(struct reading *r) {
    struct sk_at list = sk_at_member(r->at, "vlans");
    for (size_t i = 0; i < r->s->n_vlans && reading_good(r); i++) {
        struct sk_at item = sk_at_item(&list, i);
        read_groups(r, &item, &r->s->vlans[i]);
    }
}

static int by_vid(const void *a, const void *b) {
    return (int)((const struct tor_vlan *)a)->vid - (int)((const struct tor_vlan *)b)->vid;
}

const struct tor_vlan *tor_section_vlan(const struct tor_section *s, uint16_t vid) {
    const struct tor_vlan key = {.vid = vid};
    return s->n_vlans ? bsearch(&key, s->vlans, s->n_vlans, sizeof key, by_vid) : NULL;
}

// ---- queues and rates ----

static void section_read_queues(struct reading *r) {
    static const char *const keys[] = {"dscp", "queue", "colour", "ecn", "claim", NULL},
                             *const colours[] = {"green", "yellow", "red", NULL},
                             *const ecns[] = {"any", "none", "capable", NULL},
                             *const claims[] = {"nothing", "important", "signal", NULL};
    static const uint8_t colour_codes[] = {0, 1, 3}, ecn_values[] = {0xf, 1, 0xe};
    struct sk_at list = sk_at_member(r->at, "queues");
    const size_t n = sk_at_length(&list);
    uint8_t seen[64] = {0};
    r->s->queues = reading_keep(r, n * sizeof *r->s->queues);
    for (; r->s->n_queues < n && reading_good(r); r->s->n_queues++) {
        struct sk_at item = sk_at_item(&list, r->s->n_queues), dscp = sk_at_member(&item, "dscp"),
                     queue = sk_at_member(&item, "queue");
        struct tor_queue *q = &r->s->queues[r->s->n_queues];
        if (!json_is_object(item.value))
            sk_at_fail(&item, "it must be an object");
        sk_at_keys(&item, keys);
        q->dscp = (uint8_t)sk_at_number(&dscp, true, 63);
        q->queue = (uint8_t)sk_at_number(&queue, true, 31);
        q->colour = colour_codes[read_word(&item, "colour", colours, 0)];
        q->ecns = ecn_values[read_word(&item, "ecn", ecns, 0)];
        q->claim = (uint8_t)read_word(&item, "claim", claims, 0);
        if (seen[q->dscp] & q->ecns)
            sk_at_fail(&dscp, "DSCP %u is given twice", q->dscp);
        seen[q->dscp] |= q->ecns;
    }
}

static void read_sprayed(struct reading *r) {
    struct sk_at list = sk_at_member(r->at, "sprayed");
    for (size_t i = 0; i < sk_at_length(&list) && reading_good(r); i++) {
        struct sk_at item = sk_at_item(&list, i);
        const uint64_t bit = UINT64_C(1) << sk_at_number(&item, true, 63);
        if (r->s->sprayed & bit)
            sk_at_fail(&item, "it is given twice");
        r->s->sprayed |= bit;
    }
}

static void read_ecn(struct reading *r) {
    static const char *const keys[] = {"from_cells", NULL};
    struct sk_at ecn = sk_at_member(r->at, "ecn"), cells = sk_at_member(&ecn, "from_cells");
    sk_at_keys(&ecn, keys);
    if (ecn.value && !cells.value)
        sk_at_fail(&cells, "it is missing");
    r->s->ecn_cells = read_between(&cells, 1, 0x7ffff, 0);
}

static void section_read_jobs(struct reading *r) {
    struct sk_at jobs = sk_at_member(r->at, "jobs");
    const size_t n = sk_at_length(&jobs);
    for (size_t i = 0; i < n && reading_good(r); i++) {
        struct sk_at item = sk_at_item(&jobs, i);
        if (!json_is_object(item.value))
            sk_at_fail(&item, "it must be an object");
    }
    if (reading_good(r))
        r->s->jobs = json_incref(jobs.value);
}

// A path that a file beside it can still have a name for.
static void read_state(struct reading *r) {
    struct sk_at state = sk_at_member(r->at, "state");
    const char *path = sk_at_string(&state, false);
    const size_t n = path ? strlen(path) : 0;
    if (!path || !reading_good(r))
        return;
    if (n == 0 || path[n - 1] == '/' || n >= PATH_MAX - 256)
        sk_at_fail(&state, "it should be the name of a file");
    char *copy = reading_keep(r, n + 1);
    memcpy(copy, path, n);
    r->s->state = copy;
}

// ---- the whole ----

// Access lists and mirrors are named before they are read.
static void read_acl_names(struct reading *r) {
    static const char *const keys[] = {"name", "rules", NULL};
    struct sk_at list = sk_at_member(r->at, "acls");
    const size_t n = sk_at_length(&list);
    if (n > TOR_ACLS_MOST)
        sk_at_fail(&list, "%zu access lists; there can be at most %u", n, TOR_ACLS_MOST);
    r->s->acls = reading_keep(r, n * sizeof *r->s->acls);
    for (size_t i = 0; i < n && reading_good(r); i++) {
        struct sk_at item = sk_at_item(&list, i);
        if (!json_is_object(item.value))
            sk_at_fail(&item, "it must be an object");
        sk_at_keys(&item, keys);
        read_name(&item, "name", &r->acl_names, i, r->s->acls[i].name);
        r->s->n_acls = i + 1;
    }
}

static void read_mirror_names(struct reading *r) {
    static const char *const keys[] = {"name", "to", "length", "links", NULL};
    struct sk_at list = sk_at_member(r->at, "mirrors");
    const size_t n = sk_at_length(&list);
    if (n > TOR_MIRRORS_MOST)
        sk_at_fail(&list, "%zu mirrors; there can be at most %u", n, TOR_MIRRORS_MOST);
    r->s->mirrors = reading_keep(r, n * sizeof *r->s->mirrors);
    for (size_t i = 0; i < n && reading_good(r); i++) {
        struct sk_at item = sk_at_item(&list, i);
        if (!json_is_object(item.value))
            sk_at_fail(&item, "it must be an object");
        sk_at_keys(&item, keys);
        read_name(&item, "name", &r->mirror_names, i, r->s->mirrors[i].name);
        r->s->n_mirrors = i + 1;
    }
}

// "sampling" is read where it is when there is no ToR (control/config/watch.c).
static void read_whole(struct reading *r) {
    static const char *const keys[] = {
        "mac",    "vlans", "links", "macs",         "neighbours", "routes", "acls",    "mirrors",
        "queues", "ecn",   "jobs",  "control_rate", "sampling",   "state",  "sprayed", NULL};
    static void (*const steps[])(struct reading *) = {
        read_own_mac,      read_vlans,   read_acl_names,      read_mirror_names, read_links,
        read_all_groups,   read_mirrors, check_links,         read_macs,         read_neighbours,
        read_routes,       read_acls,    section_read_queues, read_sprayed,      read_ecn,
        section_read_jobs, read_state};
    if (!json_is_object(r->at->value))
        sk_at_fail(r->at, "it must be an object");
    sk_at_keys(r->at, keys);
    r->s->control_rate = read_member_between(r->at, "control_rate", 1, 1000000, 1000);
    for (size_t i = 0; i < sizeof steps / sizeof *steps && reading_good(r); i++)
        steps[i](r);
    if (r->s->n_vlans)
        qsort(r->s->vlans, r->s->n_vlans, sizeof *r->s->vlans, by_vid);
}

struct tor_section *tor_section_read(const struct sk_at *section, const struct tor_host *host,
                                     struct sk_error *err) {
    struct sk_json *memory = calloc(1, sizeof *memory);
    struct tor_section *s = calloc(1, sizeof *s);
    if (!memory || !s)
        abort();
    s->memory = memory;
    struct reading r = {.s = s, .host = host, .memory = memory, .at = section};
    simap_init(&r.link_names);
    simap_init(&r.acl_names);
    simap_init(&r.mirror_names);
    simap_init(&r.own);
    section->doc->err = err;
    section->doc->failed = false;
    read_whole(&r);
    simap_destroy(&r.link_names);
    simap_destroy(&r.acl_names);
    simap_destroy(&r.mirror_names);
    simap_destroy(&r.own);
    free(r.connected);
    if (reading_good(&r))
        return s;
    tor_section_free(s);
    return NULL;
}

void tor_section_free(struct tor_section *s) {
    if (!s)
        return;
    json_decref(s->jobs);
    sk_json_release(s->memory);
    free(s->memory);
    free(s);
}
