// SPDX-License-Identifier: Apache-2.0
//
// Sets of next hops in switches: of several shortest ways to a station all are used. The control
// plane writes each set that there is once, as a group of a selector, and for each host which set
// leads to it: tables `addresses` (via), `sets` (to_port) and `sprayed` (spray), profile `members`
// and selector `ecmp`.
//
// What is down is avoided a little later (reroute_ms), by all switches at the same time, as if a
// routing protocol had told them: a spine that has lost its link to one leaf is still good for the
// others.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "control/tables/control.h"
#include "sim/sim.h"

#define MOST 64u // members of a set

struct paths_set {
    uint16_t ports[MOST]; // indices of the node's ports, ascending
    uint16_t n;
};
struct sim_paths {
    struct paths_set *sets;
    size_t n_sets;
    uint32_t *of; // by station: its set; SCN_NONE: it has none yet
};

static const char *paths_number(char out[24], uint64_t value) {
    snprintf(out, 24, "%" PRIu64, value);
    return out;
}

static int paths_add(struct sk_switch *sw, const char *table, const char *key, uint64_t value,
                     const char *action, const char *arg, uint64_t arg_value, bool anew,
                     struct sk_error *err) {
    char text[2][24];
    const struct sk_named_value keys = {key, paths_number(text[0], value)},
                                args = {arg, paths_number(text[1], arg_value)};
    const struct sk_entry_spec e = {.table = table,
                                    .keys = &keys,
                                    .n_keys = 1,
                                    .action = action,
                                    .args = &args,
                                    .n_args = arg ? 1 : 0,
                                    .pipe = -1};
    return anew ? sk_control_entry_add(sw, &e, err) : sk_control_entry_modify(sw, &e, err);
}

// ---- sets ----

static int paths_start(struct sim_station *st, struct sk_error *err) {
    struct sim_node *n = st->node;
    const struct scenario *sc = n->sim->scenario;
    struct sim_paths *p = n->paths = calloc(1, sizeof *p);
    if (!p || !(p->of = malloc(sc->n_stations * sizeof *p->of)))
        abort();
    memset(p->of, 0xff, sc->n_stations * sizeof *p->of);
    for (size_t i = 0; i < n->n_ports; i++)
        if (paths_add(n->sw, "members", "$ACTION_MEMBER_ID", i + 1, "to_port", "port",
                      n->ports[i].dev_port, true, err) < 0)
            return -1;
    for (unsigned dscp = 0; dscp < 64; dscp++)
        if ((sc->paths == SCN_BY_PACKET || sc->sprayed >> dscp & 1) &&
            paths_add(n->sw, "sprayed", "dscp", dscp, "spray", NULL, 0, true, err) < 0)
            return -1;
    return 0;
}

static int paths_new_set(struct sim_node *n, const struct paths_set *set, struct sk_error *err) {
    struct sim_paths *p = n->paths;
    struct sk_group_member members[MOST];
    char id[24];
    p->sets = sk_resize(p->sets, p->n_sets + 1, sizeof *p->sets);
    p->sets[p->n_sets++] = *set;
    for (uint16_t i = 0; i < set->n; i++)
        members[i] = (struct sk_group_member){set->ports[i] + 1u, true};
    const struct sk_group_spec g = {.selector = "ecmp",
                                    .id = (uint32_t)p->n_sets,
                                    .max_size = 0,
                                    .members = members,
                                    .n = set->n,
                                    .pipe = -1};
    if (sk_control_group_add(n->sw, &g, err) < 0)
        return -1;
    paths_number(id, p->n_sets);
    const struct sk_named_value key = {"md.hops", id};
    const struct sk_entry_spec e = {
        .table = "sets", .keys = &key, .n_keys = 1, .group = id, .pipe = -1};
    return sk_control_entry_add(n->sw, &e, err);
}

static void paths_find(const struct sim_node *n, uint32_t from, uint32_t to,
                       struct paths_set *out) {
    uint32_t links[MOST];
    const size_t many = routes_equal(n->sim, from, to, links, MOST);
    out->n = 0;
    for (size_t i = 0; i < n->n_ports; i++)
        for (size_t k = 0; k < many; k++)
            if (n->ports[i].out == &n->sim->links[links[k]])
                out->ports[out->n++] = (uint16_t)i;
}

static int paths_set_of(struct sim_node *n, const struct paths_set *set, uint32_t *out,
                        struct sk_error *err) {
    const struct sim_paths *p = n->paths;
    for (*out = 0; *out < p->n_sets; ++*out)
        if (p->sets[*out].n == set->n &&
            memcmp(p->sets[*out].ports, set->ports, set->n * sizeof *set->ports) == 0)
            return 0;
    return paths_new_set(n, set, err);
}

int paths_write(struct sim_station *st, struct sk_error *err) {
    struct sim_node *n = st->node;
    struct sim *s = n->sim;
    if (!s->distances)
        routes_measure_all(s);
    if (!n->paths && paths_start(st, err) < 0)
        return -1;
    for (uint32_t to = 0; to < s->scenario->n_stations; to++) {
        struct paths_set set = {.n = 0};
        uint32_t which, *of = &n->paths->of[to];
        if (s->scenario->stations[to].is_switch)
            continue;
        paths_find(n, st->id, to, &set);
        if (!set.n) // nothing leads there: the old ones are as good as any
            continue;
        if (paths_set_of(n, &set, &which, err) < 0)
            return -1;
        if (*of != which && paths_add(n->sw, "addresses", "hdr.ipv4.dst_addr", s->stations[to].ip,
                                      "via", "hops", which + 1, *of == SCN_NONE, err) < 0)
            return -1;
        *of = which;
    }
    return 0;
}

void paths_forget(struct sim_node *n) {
    if (!n->paths)
        return;
    free(n->paths->sets);
    free(n->paths->of);
    free(n->paths);
    n->paths = NULL;
}

// ---- what is down ----

static bool paths_is_off(const struct sim *s, uint32_t station) {
    const struct sim_node *n = s->stations[station].node;
    return n && (!n->sw || !n->configured);
}

static void paths_look(void *who, void *what) {
    struct sim *s = who;
    const struct scenario *sc = s->scenario;
    bool changed = false;
    (void)what;
    if (!s->avoided && !(s->avoided = calloc(sc->n_cables + 1, sizeof *s->avoided)))
        abort();
    for (uint32_t c = 0; c < sc->n_cables; c++) {
        const bool down = s->links[2 * (size_t)c].down || paths_is_off(s, sc->cables[c].a) ||
                          paths_is_off(s, sc->cables[c].b);
        changed |= down != s->avoided[c];
        s->avoided[c] = down;
    }
    if (!changed)
        return;
    sim_trace_add(&s->trace, s->events.now, "routing", "changes", NULL, 0);
    routes_measure_all(s);
    for (uint32_t i = 0; i < sc->n_stations; i++) {
        struct sk_error err;
        if (s->stations[i].node && !paths_is_off(s, i) && paths_write(&s->stations[i], &err) < 0)
            sim_violate(s, NULL, "switch %s: %s", sc->stations[i].name, err.text);
    }
}

void paths_changed(struct sim *s) {
    if (s->scenario->paths != SCN_ONE_PATH)
        sim_at(&s->events, s->events.now + (uint64_t)(s->scenario->reroute_ms * 1e6), paths_look, s,
               NULL);
}
