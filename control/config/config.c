// SPDX-License-Identifier: Apache-2.0
#include "control/config/config_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "base/memory.h"
#include "control/tables/attached.h"
#include "control/tables/bf_entry.h"
#include "control/config/daemon.h"
#include "control/config/ports.h"
#include "control/config/record.h"
#include "control/config/rights.h"
#include "control/config/controllers.h"
#include "control/config/watch.h"
#include "hosts/core/halves.h"
#include "control/tables/hashes.h"
#include "control/tables/masks.h"
#include "base/json.h"
#include "control/tables/tm.h"
#include "control/tables/values.h"
#include "pipeline/tm/pre.h"

struct reader {
    struct sk_config *c;
    struct sk_json *doc;
    bool part;              // without a program
    unsigned pools;         // that were read, a bit each
    enum sk_bf_kind wanted; // of the entries: members, groups, or SK_BF_ENTRY: all others
};

// ---- small pieces ----

static struct sk_at *config_kept(const struct sk_at *at) {
    struct sk_at *copy = sk_json_keep(at->doc, sizeof *copy);
    *copy = *at;
    return copy;
}

static struct sk_config_item *new_item(struct reader *r, enum sk_item_kind kind,
                                       const struct sk_at *at) {
    struct sk_config_private *p = r->c->private;
    p->items = sk_grow(p->items, p->n, &p->room, sizeof *p->items);
    p->items[p->n] = (struct sk_config_item){.kind = kind, .at = *at, .entry.pipe = -1};
    return &p->items[p->n++];
}

// ---- the kinds of things ----

static void read_an_entry(struct reader *r, const struct sk_at *at) {
    enum sk_bf_kind first = sk_bf_kind(at);
    if ((first < SK_BF_ENTRY ? first : SK_BF_ENTRY) != r->wanted)
        return;
    struct sk_config_item *item = new_item(r, ENTRY, at);
    item->bf = sk_json_keep(at->doc, sizeof *item->bf);
    sk_bf_read(at, item->bf);
}

// {"profile": NAME, "id": NUMBER, "action": ..., "args": ...}: an entry of the profile's table.
static void read_profile_member(struct reader *r, const struct sk_at *at) {
    static const char *const keys[] = {"profile", "id", "action", "args", "pipe", NULL};
    sk_at_keys(at, keys);
    struct sk_at profile = sk_at_member(at, "profile"), id = sk_at_member(at, "id"),
                 action = sk_at_member(at, "action"), args = sk_at_member(at, "args");
    struct sk_entry_spec *e = &new_item(r, MEMBER, at)->entry;
    struct sk_named_value *key = sk_json_keep(at->doc, sizeof *key);
    *key = (struct sk_named_value){"$ACTION_MEMBER_ID", sk_at_text(&id)};
    e->table = sk_at_string(&profile, true);
    e->keys = key;
    e->n_keys = 1;
    e->action = sk_at_string(&action, true);
    e->args = sk_at_values(&args, &e->n_args);
    e->pipe = sk_at_pipe(at);
}

static void read_members_group(struct reader *r, const struct sk_at *at) {
    sk_at_group(at, SK_AT_ACTION, &new_item(r, MEMBERS_GROUP, at)->group);
}

// {"name": NAME, "fields": [FIELD, ...], "algorithm": {...}, "pipe": N}
static void read_hash(struct reader *r, const struct sk_at *at) {
    static const char *const keys[] = {"name", "fields", "algorithm", "pipe", NULL};
    sk_at_keys(at, keys);
    struct sk_config_item *item = new_item(r, HASH, at);
    struct sk_at name = sk_at_member(at, "name"), fields = sk_at_member(at, "fields"),
                 algorithm = sk_at_member(at, "algorithm");
    item->name = sk_at_string(&name, true);
    item->texts = sk_at_strings(&fields, &item->n_texts);
    item->words = sk_at_values(&algorithm, &item->n_words);
    item->entry.pipe = sk_at_pipe(at);
    if (fields.value && item->n_texts == 0)
        sk_at_fail(&fields, "it must have at least one field");
    if (algorithm.value && item->n_words == 0)
        sk_at_fail(&algorithm, "it is empty");
    if (!fields.value && !algorithm.value)
        sk_at_fail(at, "it needs \"fields\" or \"algorithm\"");
}

// {"table": TABLE, "masks": {KEY: MASK, ...}, "pipe": N}
static void read_mask(struct reader *r, const struct sk_at *at) {
    static const char *const keys[] = {"table", "masks", "pipe", NULL};
    sk_at_keys(at, keys);
    struct sk_config_item *item = new_item(r, KEY_MASK, at);
    struct sk_at table = sk_at_member(at, "table"), masks = sk_at_member(at, "masks");
    item->name = sk_at_string(&table, true);
    item->words = sk_at_values(&masks, &item->n_words);
    item->entry.pipe = sk_at_pipe(at);
    if (!masks.value)
        sk_at_fail(at, "it needs \"masks\"");
}

// The tables of p4/switchml/halves.p4, as if the file had them all.
struct config_halves {
    struct reader *r;
    const struct sk_at *at;
    // texts of what equal tables share, by the values that they were made of
    struct {
        const uint32_t *values;
        const char **digits;
    } shared[4];
};

static const char **config_digits(const struct sk_at *at, const uint32_t *values, size_t n,
                                  unsigned digits) {
    const char **kept = sk_json_keep(at->doc, sizeof *kept);
    char *text = sk_json_keep(at->doc, n * digits + 1);

    for (size_t i = 0; i < n; i++)
        snprintf(text + i * digits, digits + 1, "%0*x", (int)digits, values[i]);
    *kept = text;
    return kept;
}

static int config_fill_halves(void *aux, const char *table, const char *action,
                              const uint32_t *values, size_t n, unsigned digits) {
    struct config_halves *h = aux;
    unsigned i = 0;
    struct sk_config_item *item = new_item(h->r, FILLED, h->at);
    char *name = sk_json_keep(h->at->doc, strlen(table) + 1);

    item->name = strcpy(name, table);
    item->entry.action = action;
    while (i < 3 && h->shared[i].values && h->shared[i].values != values)
        i++;
    if (h->shared[i].values != values) {
        h->shared[i].digits = config_digits(h->at, values, n, digits);
        h->shared[i].values = values;
    }
    item->texts = h->shared[i].digits;
    item->entry.pipe = -1;
    return 0;
}

// {"table": TABLE, "action": ACTION, "values": DIGITS, "pipe": N}, or {"tables": "halves"}
static void read_filled(struct reader *r, const struct sk_at *at) {
    static const char *const keys[] = {"table", "action", "values", "pipe", NULL};
    static const char *const named[] = {"tables", NULL};
    struct sk_at tables = sk_at_member(at, "tables");
    if (tables.value) {
        struct config_halves halves = {.r = r, .at = at};
        const char *whose = sk_at_string(&tables, true);
        sk_at_keys(at, named);
        if (whose && strcmp(whose, "halves") != 0)
            sk_at_fail(&tables, "there are tables of \"halves\", not of '%.60s'", whose);
        else
            sk_halves_fill(config_fill_halves, &halves);
        return;
    }
    sk_at_keys(at, keys);
    struct sk_config_item *item = new_item(r, FILLED, at);
    struct sk_at table = sk_at_member(at, "table"), action = sk_at_member(at, "action"),
                 values = sk_at_member(at, "values");
    const char **digits = sk_json_keep(at->doc, sizeof *digits);
    item->name = sk_at_string(&table, true);
    item->entry.action = sk_at_string(&action, true);
    *digits = sk_at_string(&values, true);
    item->texts = digits;
    item->entry.pipe = sk_at_pipe(at);
}

static void read_default(struct reader *r, const struct sk_at *at) {
    sk_at_entry(at, SK_AT_ACTION, &new_item(r, DEFAULT, at)->entry);
}

static void read_register(struct reader *r, const struct sk_at *at) {
    static const char *const keys[] = {"name", "index", "value", "pipe", NULL};
    sk_at_keys(at, keys);
    struct sk_config_item *item = new_item(r, REGISTER, at);
    struct sk_at name = sk_at_member(at, "name"), index = sk_at_member(at, "index"),
                 value = sk_at_member(at, "value");
    item->name = sk_at_string(&name, true);
    item->index = sk_at_number(&index, true, INT64_MAX);
    item->entry.pipe = sk_at_pipe(at);
    if (json_is_object(value.value)) {
        item->words = sk_at_values(&value, &item->n_words);
        return;
    }
    item->words = sk_json_keep(at->doc, sizeof *item->words);
    item->words[0] = (struct sk_named_value){NULL, sk_at_text(&value)};
    item->n_words = 1;
}

// {"name", "index": 3 or "all", "spec": {...}, "pipe"}
static void config_read_meter(struct reader *r, const struct sk_at *at) {
    static const char *const keys[] = {"name", "index", "spec", "pipe", NULL};
    sk_at_keys(at, keys);
    struct sk_config_item *item = new_item(r, METER, at);
    struct sk_at name = sk_at_member(at, "name"), index = sk_at_member(at, "index"),
                 spec = sk_at_member(at, "spec");
    const char *text = json_string_value(index.value);
    item->name = sk_at_string(&name, true);
    item->index =
        text && strcmp(text, "all") == 0 ? SK_ALL_CELLS : sk_at_number(&index, true, INT64_MAX);
    item->entry.pipe = sk_at_pipe(at);
    item->words = sk_at_values(&spec, &item->n_words);
}

static void read_counter(struct reader *r, const struct sk_at *at) {
    static const char *const keys[] = {"name", "index", "packets", "bytes", NULL};
    sk_at_keys(at, keys);
    struct sk_config_item *item = new_item(r, COUNTER, at);
    struct sk_at name = sk_at_member(at, "name"), index = sk_at_member(at, "index"),
                 packets = sk_at_member(at, "packets"), bytes = sk_at_member(at, "bytes");
    item->name = sk_at_string(&name, true);
    item->index = sk_at_number(&index, true, INT64_MAX);
    item->count.packets = sk_at_number(&packets, false, INT64_MAX);
    item->count.bytes = sk_at_number(&bytes, false, INT64_MAX);
}

static void config_read_value_set(struct reader *r, const struct sk_at *at) {
    static const char *const keys[] = {"name", "key", NULL};
    sk_at_keys(at, keys);
    struct sk_config_item *item = new_item(r, VALUE_SET, at);
    struct sk_at name = sk_at_member(at, "name"), key = sk_at_member(at, "key");
    item->name = sk_at_string(&name, true);
    item->entry.keys = sk_at_values(&key, &item->entry.n_keys);
}

static void config_read_node(struct reader *r, const struct sk_at *at) {
    static const char *const keys[] = {"id", "rid", "ports", "lags", NULL};
    sk_at_keys(at, keys);
    struct sk_config_item *item = new_item(r, NODE, at);
    struct sk_at id = sk_at_member(at, "id"), rid = sk_at_member(at, "rid"),
                 ports = sk_at_member(at, "ports");
    item->index = sk_at_number(&id, true, UINT32_MAX);
    item->rid = (uint16_t)sk_at_number(&rid, false, UINT16_MAX);
    item->ports = sk_at_ports(&ports, &item->n_ports);
    struct sk_at lags = sk_at_member(at, "lags");
    item->lags = sk_at_lags(&lags, &item->n_lags);
}

static void config_read_group(struct reader *r, const struct sk_at *at) {
    static const char *const keys[] = {"id", "nodes", NULL};
    sk_at_keys(at, keys);
    struct sk_config_item *item = new_item(r, GROUP, at);
    struct sk_at id = sk_at_member(at, "id"), nodes = sk_at_member(at, "nodes");
    item->index = sk_at_number(&id, true, UINT16_MAX);
    item->members = sk_at_members(&nodes, &item->n_members);
}

static void read_prune(struct reader *r, const struct sk_at *at) {
    static const char *const keys[] = {"id", "ports", NULL};
    sk_at_keys(at, keys);
    struct sk_config_item *item = new_item(r, PRUNE, at);
    struct sk_at id = sk_at_member(at, "id"), ports = sk_at_member(at, "ports");
    item->index = sk_at_number(&id, true, SK_PRE_PRUNE_SETS - 1);
    item->ports = sk_at_ports(&ports, &item->n_ports);
}

static void read_tm(struct reader *r, const struct sk_at *at, enum sk_tm_kind kind) {
    struct sk_config_item *item = new_item(r, TM, at);
    item->tm = sk_json_keep(at->doc, sizeof *item->tm);
    sk_tm_read(at, kind, false, item->tm);
}

#define TM_READER(name, kind)                                                                      \
    static void name(struct reader *r, const struct sk_at *at) {                                   \
        read_tm(r, at, kind);                                                                      \
    }
TM_READER(read_mirror, SK_TM_MIRROR)
TM_READER(read_lag, SK_TM_LAG)
TM_READER(read_ecmp, SK_TM_ECMP)
TM_READER(read_backup, SK_TM_BACKUP)
TM_READER(read_any_pool, SK_TM_POOL)
TM_READER(read_any_queue, SK_TM_QUEUE)
TM_READER(read_buffer, SK_TM_BUFFER)
TM_READER(read_pktgen, SK_TM_PKTGEN)
#undef TM_READER

static const struct sk_tm_item *last_tm(const struct reader *r) {
    return r->c->private->items[r->c->private->n - 1].tm;
}

static void config_read_pool(struct reader *r, const struct sk_at *at) {
    read_any_pool(r, at);
    const unsigned bit = 1u << last_tm(r)->id;
    if (r->pools & bit)
        sk_at_fail(at, "pool %u is listed twice", last_tm(r)->id);
    r->pools |= bit;
}

static void config_read_queue(struct reader *r, const struct sk_at *at) {
    read_any_queue(r, at);
    sk_tm_names_pools(at, last_tm(r), r->pools);
}

// ---- the whole ----

static void config_read_list(struct reader *r, const struct sk_at *parent, const char *key,
                             void (*read)(struct reader *r, const struct sk_at *at)) {
    struct sk_at list = sk_at_member(parent, key);
    struct sk_at *list_kept = config_kept(&list);
    size_t n = sk_at_length(&list);
    for (size_t i = 0; i < n && !r->doc->failed; i++) {
        struct sk_at item = sk_at_item(list_kept, i);
        read(r, &item);
    }
}

// Of 1 to 'most'; 'otherwise' when it is not given.
static unsigned config_read_few(const struct sk_at *root, const char *key, unsigned most,
                                unsigned otherwise) {
    struct sk_at at = sk_at_member(root, key);
    return at.value ? (unsigned)sk_at_between(&at, true, 1, most) : otherwise;
}

static void read_lcores(struct reader *r, const struct sk_at *root) {
    struct sk_config *c = r->c;
    c->pipes = config_read_few(root, "pipes", SK_PIPES, SK_PIPES);
    c->lcores = config_read_few(root, "lcores", SK_PIPES, 1);
    struct sk_at lcores = sk_at_member(root, "lcores"), cpus = sk_at_member(root, "cpus"),
                 idle_sleep = sk_at_member(root, "idle_sleep");
    if (c->lcores > c->pipes)
        sk_at_fail(&lcores, "%u lcores are too many: each must run at least one of %u pipes",
                   c->lcores, c->pipes);
    c->idle_sleep_us =
        idle_sleep.value ? (uint32_t)sk_at_number(&idle_sleep, true, 1000000) : SK_IDLE_SLEEP_US;
    c->n_cpus = sk_at_length(&cpus);
    c->cpus = sk_json_keep(r->doc, (c->n_cpus + 1) * sizeof *c->cpus);
    for (size_t i = 0; i < c->n_cpus && !r->doc->failed; i++) {
        struct sk_at item = sk_at_item(&cpus, i);
        c->cpus[i] = (int)sk_at_number(&item, true, SK_MAX_CPU);
    }
    if (c->n_cpus > 1 && c->n_cpus != c->lcores)
        sk_at_fail(&cpus, "%zu processors for %u lcores: name one for all, or one for each",
                   c->n_cpus, c->lcores);
}

static void read_faults(struct reader *r, const struct sk_at *root) {
    static const char *const keys[] = {"loss", "seed", NULL};
    struct sk_at at = sk_at_member(root, "faults");
    sk_at_keys(&at, keys);
    struct sk_at loss = sk_at_member(&at, "loss"), seed = sk_at_member(&at, "seed");
    r->c->loss = sk_at_fraction(&loss);
    r->c->fault_seed = sk_at_number(&seed, false, INT64_MAX);
}

static void read_multicast(struct reader *r, const struct sk_at *root) {
    static const char *const keys[] = {"nodes", "lags",   "ecmps",      "groups",
                                       "prune", "backup", "global_rid", NULL};
    struct sk_at at = sk_at_member(root, "multicast");
    sk_at_keys(&at, keys);
    struct sk_at *at_kept = config_kept(&at);
    config_read_list(r, at_kept, "nodes", config_read_node); // before the groups that name them
    config_read_list(r, at_kept, "ecmps", read_ecmp);
    config_read_list(r, at_kept, "groups", config_read_group);
    config_read_list(r, at_kept, "prune", read_prune);
    config_read_list(r, at_kept, "lags", read_lag);
    config_read_list(r, at_kept, "backup", read_backup);
    struct sk_at rid = sk_at_member(at_kept, "global_rid");
    if (rid.value) {
        struct sk_config_item *item = new_item(r, TM, at_kept);
        item->tm = sk_json_keep(at.doc, sizeof *item->tm);
        *item->tm = (struct sk_tm_item){.kind = SK_TM_GLOBAL,
                                        .id = (uint32_t)sk_at_number(&rid, true, UINT16_MAX)};
    }
}

static void read_entries(struct reader *r, const struct sk_at *root, enum sk_bf_kind wanted) {
    r->wanted = wanted;
    config_read_list(r, root, "entries", read_an_entry);
}

// ---- sessions ----

static void read_excepted(const struct sk_at *at, const char *key, bool excepted[256]) {
    struct sk_at list = sk_at_member(at, key);
    for (size_t i = 0; i < sk_at_length(&list) && !list.doc->failed; i++) {
        struct sk_at number = sk_at_item(&list, i);
        excepted[sk_at_number(&number, true, 255)] = true;
    }
}

static void config_read_sessions(const struct sk_at *root, struct sk_config *c) {
    static const char *const keys[] = {"mac", "ip", "except", NULL};
    static const char *const protocols[] = {"switchml", "atp", NULL};
    struct sk_at at = sk_at_member(root, "sessions");
    if (!at.value)
        return;
    sk_at_keys(&at, keys);
    struct sk_config_sessions *s = sk_json_keep(root->doc, sizeof *s);
    struct sk_at mac = sk_at_member(&at, "mac"), address = sk_at_member(&at, "ip"),
                 except = sk_at_member(&at, "except");
    const char *mac_text = sk_at_string(&mac, true), *ip_text = sk_at_string(&address, true);
    if (at.doc->failed)
        return;
    if (!sk_mac_parse(mac_text, s->mac) || s->mac[0] & 1)
        sk_at_fail(&mac, "'%.60s' is not the MAC address of a station, like 02:00:00:00:00:fe",
                   mac_text);
    else if (!sk_ip_parse(ip_text, &s->ip) || s->ip >> 24 == 0 || s->ip >> 28 >= 0xe)
        sk_at_fail(&address, "'%.60s' is not the IPv4 address of a station, like 10.0.0.254",
                   ip_text);
    if (except.value) {
        sk_at_keys(&except, protocols);
        read_excepted(&except, "switchml", s->excepted[0]);
        read_excepted(&except, "atp", s->excepted[1]);
    }
    if (c->tor)
        sk_at_fail(&at, "a ToR's jobs have sessions of their own: \"tor\" and \"sessions\" exclude "
                        "each other");
    c->sessions = s;
}

static void config_read_libra(const struct sk_at *root, struct sk_config *c) {
    const struct sk_at at = sk_at_member(root, "libra");
    if (at.value && !json_is_object(at.value))
        sk_at_fail(&at, "it must be an object");
    else if (at.value && c->tor)
        sk_at_fail(&at, "\"tor\" and \"libra\" exclude each other: both have the CPU port");
    else if (at.value && sk_at_member(root, "sessions").value)
        sk_at_fail(&at, "\"sessions\" and \"libra\" exclude each other: both have the CPU port");
    c->libra = at.value ? config_kept(&at) : NULL;
}

static void config_read_root(struct reader *r, const struct sk_at *root) {
    static const char *const keys[] = {
        "program",   "include",   "define",   "switchml_jobs",  "ports",          "loopback",
        "cpu_port",  "multicast", "members",  "groups",         "entries",        "defaults",
        "registers", "meters",    "counters", "value_sets",     "control_socket", "faults",
        "mirror",    "queues",    "deflect",  "pktgen_buffers", "pktgen",         "hashes",
        "key_masks", "pipes",     "lcores",   "cpus",           "idle_sleep",     "record",
        "clock",     "tor",       "libra",    "metrics",        "daemon",         "alarms",
        "sampling",  "telemetry", "sessions", "requests",       "job_service",    "bfrt",
        "p4runtime", "filled",    "pools",    "page",           "programs",       NULL};
    struct sk_config *c = r->c;
    if (!json_is_object(root->value))
        sk_at_fail(root, "the file must be a JSON object");
    sk_at_keys(root, keys);
    struct sk_at program = sk_at_member(root, "program"), include = sk_at_member(root, "include"),
                 programs = sk_at_member(root, "programs"), define = sk_at_member(root, "define"),
                 loopback = sk_at_member(root, "loopback"),
                 cpu_port = sk_at_member(root, "cpu_port"),
                 control_socket = sk_at_member(root, "control_socket");
    if (!r->part && !program.value && !programs.value)
        sk_at_fail(&program, "it is missing, and so is \"programs\"");
    c->program = sk_at_string(&program, program.value != NULL);
    c->include = sk_at_strings(&include, &c->n_include);
    c->define = sk_at_strings(&define, &c->n_define);
    c->loopback = sk_at_ports(&loopback, &c->n_loopback);
    c->has_cpu_port = cpu_port.value != NULL;
    c->cpu_port = cpu_port.value ? sk_at_port(&cpu_port) : 0;
    c->control_socket = sk_at_string(&control_socket, false);
    struct sk_at clock = sk_at_member(root, "clock");
    c->has_clock = clock.value != NULL;
    c->clock = sk_at_number(&clock, false, INT64_MAX);
    struct sk_at tor = sk_at_member(root, "tor");
    if (tor.value && !json_is_object(tor.value))
        sk_at_fail(&tor, "it must be an object");
    if (tor.value && c->has_cpu_port && c->cpu_port != SK_CPU_PORT)
        sk_at_fail(&cpu_port, "with \"tor\" it is %u, for which p4/tor is written", SK_CPU_PORT);
    c->tor = tor.value ? config_kept(&tor) : NULL;
    config_read_libra(root, c);
    config_read_sessions(root, c);
    read_lcores(r, root);
    sk_config_read_ports(root, c);
    sk_config_read_record(root, c);
    sk_config_read_watch(root, c);
    sk_config_read_job_service(root, c);
    sk_config_read_switchml_jobs(root, c);
    sk_config_check_controllers(root);
    sk_config_read_daemon(root, c);
    sk_config_read_requests(root, c);
    read_faults(r, root);
    read_multicast(r, root);
    config_read_list(r, root, "members", read_profile_member); // before what names them
    read_entries(r, root, SK_BF_MEMBER);
    config_read_list(r, root, "groups", read_members_group);
    read_entries(r, root, SK_BF_GROUP);
    config_read_list(r, root, "mirror", read_mirror);
    config_read_list(r, root, "pools", config_read_pool); // before what names them
    config_read_list(r, root, "queues", config_read_queue);
    config_read_list(r, root, "pktgen_buffers", read_buffer);
    config_read_list(r, root, "pktgen", read_pktgen);
    struct sk_at deflect = sk_at_member(root, "deflect");
    if (deflect.value)
        read_tm(r, config_kept(&deflect), SK_TM_DEFLECT);
    config_read_list(r, root, "key_masks", read_mask); // before there are entries
    config_read_list(r, root, "filled", read_filled);
    read_entries(r, root, SK_BF_ENTRY);
    config_read_list(r, root, "defaults", read_default);
    config_read_list(r, root, "registers", read_register);
    config_read_list(r, root, "hashes", read_hash);
    config_read_list(r, root, "meters", config_read_meter);
    config_read_list(r, root, "counters", read_counter);
    config_read_list(r, root, "value_sets", config_read_value_set);
    if (programs.value)
        sk_config_read_programs(root, c);
}

json_t *sk_config_json(const struct sk_config *c) {
    return c->private->root;
}

void sk_config_free(struct sk_config *c) {
    if (!c)
        return;
    sk_json_release(&c->private->doc);
    json_decref(c->private->root);
    free(c->private->items);
    free(c->private);
    free(c);
}

static struct sk_config *config_parse(const char *name, const char *text, size_t length, bool part,
                                      struct sk_error *err) {
    json_t *root = sk_json_parse(name, text, length, err);
    if (!root)
        return NULL;
    struct sk_config *c = calloc(1, sizeof *c);
    if (!c || !(c->private = calloc(1, sizeof *c->private)))
        abort();
    struct sk_json *doc = &c->private->doc;
    c->private->root = root;
    *doc = (struct sk_json){.length = length, .err = err};
    char *name_kept = sk_json_keep(doc, strlen(name)), *text_kept = sk_json_keep(doc, length);
    doc->name = strcpy(name_kept, name);
    doc->text = memcpy(text_kept, text, length);
    struct sk_at *at = sk_json_keep(doc, sizeof *at);
    *at = (struct sk_at){.doc = doc, .value = root};
    config_read_root(&(struct reader){.c = c, .doc = doc, .part = part}, at);
    if (doc->failed) {
        sk_config_free(c);
        return NULL;
    }
    return c;
}

struct sk_config *sk_config_parse(const char *name, const char *text, size_t length,
                                  struct sk_error *err) {
    return config_parse(name, text, length, false, err);
}

struct sk_config *sk_config_parse_part(const char *name, const char *text, size_t length,
                                       struct sk_error *err) {
    return config_parse(name, text, length, true, err);
}

bool sk_config_has_pools(const struct sk_config *c) {
    for (size_t i = 0; i < c->private->n; i++)
        if (c->private->items[i].kind == TM && c->private->items[i].tm->kind == SK_TM_POOL)
            return true;
    return false;
}
