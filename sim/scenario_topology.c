// SPDX-License-Identifier: Apache-2.0
//
// The topology of a scenario: a kind and some numbers unfold into stations and cables.
//
//     rack         s0, and below it h0 ...
//     dumbbell     s0 with the hosts on the left, a trunk, s1 with those on the right
//     tree         s0 at the root, s1 ... below it by trunks; hosts below s1 first, the root's own
//                  last
//     leaf-spine   s0 ... with hosts, each with a trunk to every one of p0 ...
//     custom       as listed
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/base/share.h"
#include "pipeline/abi.h"
#include "sim/scenario_impl.h"

#define LONGEST_FRAME 1538 // with all that is around it on the wire

static const char *const kinds[] = {"rack",   "dumbbell", "tree", "leaf-spine",
                                    "levels", "custom",   NULL};
enum { RACK, DUMBBELL, TREE, LEAF_SPINE, LEVELS, CUSTOM };

// ---- programs ----

const char *scn_beside(const struct sk_at *at, const char *path) {
    const char *slash = strrchr(at->doc->name, '/');
    if (path[0] == '/' || !slash)
        return path;
    const size_t n = (size_t)(slash + 1 - at->doc->name);
    char *out = scn_keep(at, n + strlen(path) + 1, 1);
    memcpy(out, at->doc->name, n);
    strcpy(out + n, path);
    return out;
}

// A word is a program of ours, p4/WORD/WORD.p4, and "halves", "with_levels" and "virtual" are those
// of p4/switchml; anything with a dot or a slash is a path.
static const char *program_path(const struct sk_at *at, const char *word) {
    if (strpbrk(word, "./"))
        return scn_beside(at, word);
    char *folder = silken_share_path("p4");
    const bool build = strcmp(word, "halves") == 0 || strcmp(word, "with_levels") == 0 ||
                       strcmp(word, "virtual") == 0;
    const char *in = build ? "switchml" : word;
    const size_t n = strlen(folder) + strlen(in) + strlen(word) + 8;
    char *out = scn_keep(at, n, 1);
    snprintf(out, n, "%s/%s/%s.p4", folder, in, word);
    free(folder);
    if (access(out, R_OK) != 0)
        sk_at_fail(at, "there is no program '%s' (%s); name any other program by its path", word,
                   out);
    return out;
}

static uint32_t program_of(struct scenario *s, const struct sk_at *at, const char *key,
                           const char *otherwise) {
    const struct sk_at m = sk_at_member(at, key);
    const char *word = scn_word(at, key, otherwise);
    if (!word || !*word) {
        sk_at_fail(&m, "it is missing");
        return 0;
    }
    const char *path = program_path(&m, word);
    for (uint32_t i = 0; i < s->n_programs; i++)
        if (strcmp(s->programs[i], path) == 0)
            return i;
    const char **more = scn_keep(at, s->n_programs + 1, sizeof *more);
    if (s->n_programs)
        memcpy(more, s->programs, s->n_programs * sizeof *more);
    s->programs = more;
    s->programs[s->n_programs] = path;
    return (uint32_t)s->n_programs++;
}

// ---- stations and cables ----

static uint32_t add_station(struct scenario *s, const struct sk_at *at, const char *name) {
    for (size_t i = 0; i < s->n_stations; i++)
        if (strcmp(s->stations[i].name, name) == 0) {
            sk_at_fail(at, "there are two stations '%s'", name);
            return (uint32_t)i;
        }
    if (s->n_stations == s->max_stations) {
        sk_at_fail(at, "more than %zu hosts and switches", s->max_stations);
        return 0;
    }
    s->stations[s->n_stations].name = name;
    return (uint32_t)s->n_stations++;
}

static const char *scenario_topology_numbered(const struct sk_at *at, char letter, uint32_t i) {
    char *name = scn_keep(at, 12, 1);
    snprintf(name, 12, "%c%u", letter, i);
    return name;
}

struct maker {
    struct scenario *s;
    const struct sk_at *at;  // the topology
    struct scn_station like; // switches
    struct scn_line link, trunk;
    uint32_t n_hosts, n_switches, n_spines;
};

static uint32_t scenario_topology_make_switch(struct maker *m, char letter, uint32_t i) {
    const uint32_t id = add_station(m->s, m->at, scenario_topology_numbered(m->at, letter, i));
    const char *name = m->s->stations[id].name;
    m->s->stations[id] = m->like;
    m->s->stations[id].name = name;
    return id;
}

static void make_cable(struct maker *m, uint32_t a, uint32_t b, const struct scn_line *line) {
    m->s->cables[m->s->n_cables++] = (struct scn_cable){a, b, *line};
}

static void make_hosts(struct maker *m, uint32_t at_switch, uint32_t n) {
    for (uint32_t i = 0; i < n && !m->at->doc->failed; i++) {
        const uint32_t h =
            add_station(m->s, m->at, scenario_topology_numbered(m->at, 'h', m->n_hosts++));
        make_cable(m, h, at_switch, &m->link);
    }
}

static void scenario_topology_read_line(const struct sk_at *at, const struct scn_line *otherwise,
                                        struct scn_line *line) {
    *line = *otherwise;
    if (sk_at_member(at, "gbps").value)
        line->gbps = scn_range(at, "gbps", 0, 1000, 100);
    if (sk_at_member(at, "delay_us").value)
        line->delay_us = scn_range(at, "delay_us", 0, 1e6, 1);
    if (sk_at_member(at, "queue_bytes").value)
        line->queue_bytes = scn_range(at, "queue_bytes", 0, 1e9, 0);
    if (line->queue_bytes.high > 0 && line->queue_bytes.low < LONGEST_FRAME) {
        const struct sk_at m = sk_at_member(at, "queue_bytes");
        sk_at_fail(&m, "is %g; a queue has room for a frame, at least %d, or is 0 (no limit)",
                   line->queue_bytes.low, LONGEST_FRAME);
    }
    if (line->gbps.low > 0 && line->gbps.low < 0.001) {
        const struct sk_at m = sk_at_member(at, "gbps");
        sk_at_fail(&m, "is %g; a link's rate is 0 (no limit) or at least 0.001", line->gbps.low);
    }
    if (line->gbps.low != line->gbps.high && line->gbps.low == 0) {
        const struct sk_at m = sk_at_member(at, "gbps");
        sk_at_fail(&m, "starts with 0, which means a link without a rate");
    }
}

static void read_line_at(const struct sk_at *at, const char *key, const struct scn_line *otherwise,
                         struct scn_line *line) {
    static const char *const keys[] = {"gbps", "delay_us", "queue_bytes", NULL};
    const struct sk_at m = sk_at_member(at, key);
    sk_at_keys(&m, keys);
    scenario_topology_read_line(&m, otherwise, line);
}

// A port's speed is its link's; ports that recirculate have no link.
static void read_queues(const struct sk_at *config) {
    const struct sk_at queues = sk_at_member(config, "queues");
    for (size_t i = 0; i < sk_at_length(&queues); i++) {
        const struct sk_at item = sk_at_item(&queues, i);
        const struct sk_at speed = sk_at_member(&item, "speed"), port = sk_at_member(&item, "port");
        if (!json_is_object(item.value))
            sk_at_fail(&item, "must be an object");
        const uint64_t number = port.value ? sk_at_number(&port, true, 511) : 0;
        if (speed.value && !(port.value && sk_port_is_internal((unsigned)number, false)))
            sk_at_fail(&speed, "is that of the port's link, which the topology says");
    }
}

// Its CPU port.
static void read_cpu(const struct sk_at *m, struct scn_station *out) {
    static const char *const cpu_keys[] = {"service_us", "delay_us", "frames", NULL};
    const struct sk_at cpu = sk_at_member(m, "cpu");
    if (cpu.value && !json_is_object(cpu.value))
        sk_at_fail(&cpu, "must be an object");
    sk_at_keys(&cpu, cpu_keys);
    out->service_us = scn_range(&cpu, "service_us", 0, 1e6, 1);
    out->cpu_delay_us = scn_range(&cpu, "delay_us", 0, 1e6, 5);
    out->cpu_frames = scn_whole(&cpu, "frames", 1, 1000000, 1024);
}

// What the file has is then as if the scenario itself had it.
static void read_config_file(const struct sk_at *m, const struct sk_at *named) {
    json_error_t error;
    const char *path = scn_beside(named, json_string_value(named->value));
    json_t *config = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!config)
        sk_at_fail(named, "%s: %s, line %d", path, error.text, error.line);
    else
        json_object_set_new(m->value, "config", config);
}

static const char *kept_text(const struct sk_at *at, const json_t *value) {
    char *text = json_dumps(value, 0);
    if (!text)
        abort();
    char *kept = scn_keep(at, strlen(text) + 1, 1);
    strcpy(kept, text);
    free(text);
    return kept;
}

static void read_switch(const struct sk_at *m, struct scn_station *out) {
    static const char *const config_keys[] = {"multicast",  "entries",   "members",  "groups",
                                              "defaults",   "registers", "meters",   "counters",
                                              "value_sets", "loopback",  "cpu_port", "pools",
                                              "queues",     "tor",       NULL};
    out->is_switch = true;
    out->ecn_bytes = scn_range(m, "ecn_bytes", 0, 1e9, 0);
    out->pipes = scn_whole(m, "pipes", 1, 4, 1);
    read_cpu(m, out);
    const struct sk_at named = sk_at_member(m, "config");
    if (json_is_string(named.value))
        read_config_file(m, &named);
    const struct sk_at config = sk_at_member(m, "config");
    if (config.value && !json_is_object(config.value))
        sk_at_fail(&config, "must be an object, a part of a configuration, or a file with one");
    if (!json_is_object(config.value))
        return;
    // Ports, clock, sockets, recording: those are the network's and the simulator's to say.
    sk_at_keys(&config, config_keys);
    read_queues(&config);
    json_t *tor = json_object_get(config.value, "tor");
    if (tor && !json_is_object(tor))
        sk_at_fail(&config, "\"tor\" must be an object");
    else if (tor && json_object_get(config.value, "cpu_port"))
        sk_at_fail(&config,
                   "\"tor\" has the CPU port that p4/tor is written for; \"cpu_port\" cannot "
                   "be another");
    else if (tor)
        out->tor = kept_text(m, tor);
    json_object_del(config.value, "tor");
    out->config = kept_text(m, config.value);
}

static void make_rack(struct maker *m) {
    make_hosts(m, scenario_topology_make_switch(m, 's', 0), scn_whole(m->at, "hosts", 1, 400, 2));
}

static void make_dumbbell(struct maker *m) {
    const uint32_t left = scenario_topology_make_switch(m, 's', 0),
                   right = scenario_topology_make_switch(m, 's', 1);
    make_hosts(m, left, scn_whole(m->at, "left", 0, 200, 1));
    make_hosts(m, right, scn_whole(m->at, "right", 0, 200, 1));
    make_cable(m, left, right, &m->trunk);
}

static void make_tree(struct maker *m) {
    const struct sk_at leaves = sk_at_member(m->at, "leaves");
    const size_t n = sk_at_length(&leaves);
    const uint32_t root = scenario_topology_make_switch(m, 's', 0);
    if (n > 64) {
        sk_at_fail(&leaves, "more than 64 switches below the root");
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const struct sk_at item = sk_at_item(&leaves, i);
        const uint64_t hosts = sk_at_number(&item, true, 64);
        const uint32_t leaf = scenario_topology_make_switch(m, 's', (uint32_t)i + 1);
        make_cable(m, leaf, root, &m->trunk);
        make_hosts(m, leaf, (uint32_t)hosts);
    }
    make_hosts(m, root, scn_whole(m->at, "root_hosts", 0, 64, 1));
}

static void make_leaf_spine(struct maker *m) {
    const uint32_t leaves = scn_whole(m->at, "leaves", 1, 32, 2),
                   spines = scn_whole(m->at, "spines", 1, 16, 1),
                   hosts = scn_whole(m->at, "hosts", 1, 48, 2);
    uint32_t leaf[32];
    for (uint32_t i = 0; i < leaves; i++)
        make_hosts(m, leaf[i] = scenario_topology_make_switch(m, 's', i), hosts);
    m->like.program = program_of(m->s, m->at, "spine_program", "l2");
    for (uint32_t p = 0; p < spines; p++) {
        const uint32_t spine = scenario_topology_make_switch(m, 'p', p);
        for (uint32_t i = 0; i < leaves; i++)
            make_cable(m, leaf[i], spine, &m->trunk);
    }
}

// s0 has fan_out[0] switches below it, each of these fan_out[1], and so on; the last number is that
// of the hosts of each switch of the last level. Switches and hosts are numbered level by level.
static void make_levels(struct maker *m) {
    const struct sk_at list = sk_at_member(m->at, "fan_out");
    const size_t n = sk_at_length(&list);
    uint32_t first = scenario_topology_make_switch(m, 's', 0), above = 1, made = 1;
    if (n < 1 || n > 4)
        sk_at_fail(n ? &list : m->at, "needs \"fan_out\", a list of 1 to 4 numbers from 1 to 64");
    for (size_t level = 0; level < n && !m->at->doc->failed; level++) {
        const struct sk_at item = sk_at_item(&list, level);
        const uint32_t each = (uint32_t)sk_at_number(&item, true, 64),
                       next = (uint32_t)m->s->n_stations;
        if (!each)
            sk_at_fail(&item, "must be from 1 to 64");
        for (uint32_t i = 0; i < above && level + 1 == n; i++)
            make_hosts(m, first + i, each);
        for (uint32_t i = 0; i < above * each && level + 1 < n && !m->at->doc->failed; i++) {
            const uint32_t below = scenario_topology_make_switch(m, 's', made++);
            make_cable(m, below, first + i / each, &m->trunk);
        }
        first = next;
        above *= each;
    }
}

static void make_custom(struct maker *m) {
    static const char *const switch_keys[] = {"name",   "program", "ecn_bytes", "pipes",
                                              "config", "cpu",     NULL};
    static const char *const link_keys[] = {"between", "gbps", "delay_us", "queue_bytes", NULL};
    const struct sk_at switches = sk_at_member(m->at, "switches"),
                       hosts = sk_at_member(m->at, "hosts"), links = sk_at_member(m->at, "links");
    for (size_t i = 0; i < sk_at_length(&switches) && !m->at->doc->failed; i++) {
        const struct sk_at item = sk_at_item(&switches, i), name = sk_at_member(&item, "name");
        sk_at_keys(&item, switch_keys);
        const uint32_t id = add_station(m->s, &item, sk_at_string(&name, true));
        struct scn_station *st = &m->s->stations[id];
        read_switch(&item, st);
        st->program = sk_at_member(&item, "program").value
                          ? program_of(m->s, &item, "program", NULL)
                          : program_of(m->s, m->at, "program", NULL);
    }
    for (size_t i = 0; i < sk_at_length(&hosts) && !m->at->doc->failed; i++) {
        const struct sk_at item = sk_at_item(&hosts, i);
        add_station(m->s, &item, sk_at_string(&item, true));
    }
    for (size_t i = 0; i < sk_at_length(&links) && !m->at->doc->failed; i++) {
        const struct sk_at item = sk_at_item(&links, i), ends = sk_at_member(&item, "between"),
                           a = sk_at_item(&ends, 0), b = sk_at_item(&ends, 1);
        struct scn_line line;
        sk_at_keys(&item, link_keys);
        scenario_topology_read_line(&item, &m->link, &line);
        if (sk_at_length(&ends) != 2)
            sk_at_fail(&ends, "must be the names of two stations");
        else
            make_cable(m, scn_station_named(m->s, &a, true, true),
                       scn_station_named(m->s, &b, true, true), &line);
    }
}

static void read_overrides(struct scenario *s, const struct sk_at *at) {
    static const char *const keys[] = {"link", "gbps", "delay_us", "queue_bytes", NULL};
    const struct sk_at list = sk_at_member(at, "overrides");
    for (size_t i = 0; i < sk_at_length(&list) && !at->doc->failed; i++) {
        const struct sk_at item = sk_at_item(&list, i), name = sk_at_member(&item, "link");
        sk_at_keys(&item, keys);
        const uint32_t cable = scn_cable_named(s, &name);
        if (!at->doc->failed)
            scenario_topology_read_line(&item, &s->cables[cable].line, &s->cables[cable].line);
    }
}

// The ways through the network, if there are several.
static void scenario_topology_read_paths(struct scenario *s, const struct sk_at *at) {
    static const char *const words[] = {"one", "flow", "packet", NULL};
    const struct sk_at list = sk_at_member(at, "sprayed");
    s->paths = (enum scn_paths)scn_choice(at, "paths", words, SCN_ONE_PATH);
    s->reroute_ms = scn_number(at, "reroute_ms", 0, 1e6, 50);
    for (size_t i = 0; i < sk_at_length(&list) && !at->doc->failed; i++) {
        const struct sk_at item = sk_at_item(&list, i);
        s->sprayed |= UINT64_C(1) << sk_at_number(&item, true, 63);
    }
    if (list.value && s->paths != SCN_BY_FLOW)
        sk_at_fail(&list,
                   "is only for \"paths\": \"flow\": else all packets, or none, are sprayed");
    if (sk_at_member(at, "reroute_ms").value && s->paths == SCN_ONE_PATH)
        sk_at_fail(at, "has reroute_ms, but only one path for each destination");
}

// Hosts have one cable, to a switch; cables do not join a station with itself, nor two twice.
static void check_cables(const struct scenario *s, const struct sk_at *at) {
    uint32_t cables_of[SCN_MAX_LEVELLED_STATION] = {0};
    for (size_t i = 0; i < s->n_cables && !at->doc->failed; i++) {
        const struct scn_cable *c = &s->cables[i];
        const struct scn_station *a = &s->stations[c->a], *b = &s->stations[c->b];
        if (!a->is_switch && !b->is_switch)
            sk_at_fail(at, "the link %s-%s has no switch at either end", a->name, b->name);
        for (size_t j = 0; j < i; j++)
            if ((s->cables[j].a == c->a && s->cables[j].b == c->b) ||
                (s->cables[j].a == c->b && s->cables[j].b == c->a))
                sk_at_fail(at, "there are two links %s-%s", a->name, b->name);
        if (c->a == c->b)
            sk_at_fail(at, "a link leads from %s to itself", a->name);
        cables_of[c->a]++;
        cables_of[c->b]++;
    }
    for (size_t i = 0; i < s->n_stations && !at->doc->failed; i++) {
        const struct scn_station *st = &s->stations[i];
        if (!st->is_switch && cables_of[i] != 1)
            sk_at_fail(at, "host %s has %u links; a host has one", st->name, cables_of[i]);
        if (st->is_switch && cables_of[i] > 64 * st->pipes)
            sk_at_fail(at, "switch %s has %u links; a pipe has 64 ports", st->name, cables_of[i]);
    }
}

static uint32_t scenario_topology_end_of(const uint32_t *joined, uint32_t i) {
    while (joined[i] != i)
        i = joined[i];
    return i;
}

// A switch that floods sends a frame round a loop of its kind without end.
static void check_floods(const struct scenario *s, const struct sk_at *at) {
    char *l2 = silken_share_path("p4/l2/l2.p4");
    uint32_t joined[SCN_MAX_LEVELLED_STATION];
    for (uint32_t i = 0; i < s->n_stations; i++)
        joined[i] = i;
    for (size_t i = 0; i < s->n_cables && !at->doc->failed; i++) {
        const struct scn_cable *c = &s->cables[i];
        const struct scn_station *a = &s->stations[c->a], *b = &s->stations[c->b];
        if (!a->is_switch || !b->is_switch || strcmp(s->programs[a->program], l2) != 0 ||
            strcmp(s->programs[b->program], l2) != 0)
            continue;
        const uint32_t one = scenario_topology_end_of(joined, c->a),
                       other = scenario_topology_end_of(joined, c->b);
        if (one == other)
            sk_at_fail(at, "the link %s-%s closes a loop of switches that flood (l2)", a->name,
                       b->name);
        joined[one] = other;
    }
    free(l2);
}

// "10.1.0.2/24", or with 'length' null "10.1.0.2". Null after failing the document.
static const char *topology_read_ipv4(const struct sk_at *of, const char *key, bool length) {
    const struct sk_at at = sk_at_member(of, key);
    const char *text = json_string_value(at.value);
    unsigned part[4], bits = 0;
    char more = 0, *kept = scn_keep(of, 24, 1);
    int n = 0;
    if (text && text[strspn(text, "0123456789./")]) // scanf passes over white space
        text = NULL;
    if (text && length)
        n = sscanf(text, "%3u.%3u.%3u.%3u/%2u%c", &part[0], &part[1], &part[2], &part[3], &bits,
                   &more);
    else if (text)
        n = sscanf(text, "%3u.%3u.%3u.%3u%c", &part[0], &part[1], &part[2], &part[3], &more);
    bool good = n == (length ? 5 : 4) && (!length || (bits >= 1 && bits <= 32));
    for (int i = 0; i < 4 && good; i++)
        good = part[i] < (i ? 256u : 224u);
    if (good && part[0] > 0) {
        // from the numbers: nothing else that the text has gets any further
        const int used = snprintf(kept, 24, "%u.%u.%u.%u", part[0], part[1], part[2], part[3]);
        if (length)
            snprintf(kept + used, 24 - (size_t)used, "/%u", bits);
        return kept;
    }
    sk_at_fail(at.value ? &at : of, "%s must be an IPv4 address%s", key,
               length ? " with the length of its prefix" : "");
    return NULL;
}

// Of hosts' kernels, in a lab.
static void topology_read_addresses(struct scenario *s, const struct sk_at *topology) {
    static const char *const address_keys[] = {"host", "address", "gateway", NULL};
    const struct sk_at list = sk_at_member(topology, "addresses");
    for (size_t i = 0; i < sk_at_length(&list) && !list.doc->failed; i++) {
        const struct sk_at item = sk_at_item(&list, i), host = sk_at_member(&item, "host");
        sk_at_keys(&item, address_keys);
        const uint32_t station = scn_station_named(s, &host, true, false);
        if (list.doc->failed)
            return;
        if (s->stations[station].address)
            sk_at_fail(&host, "'%s' has an address already", s->stations[station].name);
        s->stations[station].address = topology_read_ipv4(&item, "address", true);
        if (sk_at_member(&item, "gateway").value)
            s->stations[station].gateway = topology_read_ipv4(&item, "gateway", false);
    }
}

void scn_read_topology(struct scenario *s, const struct sk_at *root) {
    static const char *const keys[CUSTOM + 1][20] = {
        {"kind", "program", "switch", "link", "overrides", "addresses", "paths", "sprayed",
         "reroute_ms", "hosts"},
        {"kind", "program", "switch", "link", "trunk", "overrides", "addresses", "paths", "sprayed",
         "reroute_ms", "left", "right"},
        {"kind", "program", "switch", "link", "trunk", "overrides", "addresses", "paths", "sprayed",
         "reroute_ms", "leaves", "root_hosts"},
        {"kind", "program", "switch", "link", "trunk", "overrides", "addresses", "paths", "sprayed",
         "reroute_ms", "leaves", "hosts", "spines", "spine_program"},
        {"kind", "program", "switch", "link", "trunk", "overrides", "addresses", "paths", "sprayed",
         "reroute_ms", "fan_out"},
        {"kind", "program", "link", "overrides", "addresses", "paths", "sprayed", "reroute_ms",
         "switches", "hosts", "links"},
    };
    static const char *const switch_keys[] = {"ecn_bytes", "pipes", "config", "cpu", NULL};
    static const struct scn_line usual = {.gbps = {100, 100, false},
                                          .delay_us = {1, 1, false},
                                          .queue_bytes = {262144, 262144, false}};
    const struct sk_at at = sk_at_member(root, "topology");
    if (!json_is_object(at.value)) {
        sk_at_fail(&at, at.value ? "must be an object" : "it is missing");
        return;
    }
    const unsigned kind = scn_choice(&at, "kind", kinds, RACK);
    sk_at_keys(&at, keys[kind]);
    struct maker m = {.s = s, .at = &at};
    const struct sk_at like = sk_at_member(&at, "switch");
    sk_at_keys(&like, switch_keys);
    read_switch(&like, &m.like);
    if (kind != CUSTOM)
        m.like.program = program_of(s, &at, "program", NULL);
    read_line_at(&at, "link", &usual, &m.link);
    read_line_at(&at, "trunk", &m.link, &m.trunk);
    s->max_stations = kind == LEVELS ? SCN_MAX_LEVELLED_STATION : SCN_MAX_STATION;
    s->stations = scn_keep(&at, s->max_stations, sizeof *s->stations);
    const struct sk_at links = sk_at_member(&at, "links");
    s->cables = scn_keep(&at, 2 * s->max_stations + (kind == CUSTOM ? sk_at_length(&links) : 0),
                         sizeof *s->cables);
    static void (*const make[])(struct maker *) = {make_rack,       make_dumbbell, make_tree,
                                                   make_leaf_spine, make_levels,   make_custom};
    if (!at.doc->failed)
        make[kind](&m);
    read_overrides(s, &at);
    topology_read_addresses(s, &at);
    scenario_topology_read_paths(s, &at);
    check_cables(s, &at);
    check_floods(s, &at);
}
