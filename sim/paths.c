// SPDX-License-Identifier: Apache-2.0
//
// Sets of next hops in switches: of several shortest ways to a station all are used. The control
// plane writes each set that there is once, into the slots among which a flow's hash or a random
// number chooses, and for each host its port or which set leads to it: tables `addresses` (to_port,
// by_slot), `paths` (to_port) and `sprayed` (spray) of p4/dlcp.
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
#include "sim/notes.h"
#include "sim/real.h"
#include "sim/sim.h"

#define MOST  64u // members of a set
#define SLOTS 64u // of a set, in the program

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

struct paths_number {
    const char *name;
    uint64_t value;
};

// Keys and arguments end with one without a name.
static int paths_entry(struct sim_node *n, const char *table, const struct paths_number *keys,
                       const char *action, const struct paths_number *args, bool anew,
                       struct sk_error *err) {
    char text[4][24];
    struct sk_named_value key[2], arg[2];
    struct sk_entry_spec e = {
        .table = table, .keys = key, .action = action, .args = arg, .pipe = -1};
    for (; e.n_keys < 2 && keys[e.n_keys].name; e.n_keys++)
        key[e.n_keys] = (struct sk_named_value){keys[e.n_keys].name,
                                                paths_number(text[e.n_keys], keys[e.n_keys].value)};
    for (; e.n_args < 2 && args[e.n_args].name; e.n_args++)
        arg[e.n_args] = (struct sk_named_value){
            args[e.n_args].name, paths_number(text[2 + e.n_args], args[e.n_args].value)};
    const int status =
        anew ? sk_control_entry_add(n->sw, &e, err) : sk_control_entry_modify(n->sw, &e, err);
    if (status == 0 && anew)
        note_entry(n->sim, &e);
    if (status == 0)
        real_entry(n, &e, anew);
    return status;
}

// ---- sets ----

static int paths_start(struct sim_station *st, struct sk_error *err) {
    struct sim_node *n = st->node;
    const struct scenario *sc = n->sim->scenario;
    struct sim_paths *p = n->paths = calloc(1, sizeof *p);
    if (!p || !(p->of = malloc(sc->n_stations * sizeof *p->of)))
        abort();
    memset(p->of, 0xff, sc->n_stations * sizeof *p->of);
    for (unsigned dscp = 0; dscp < 64; dscp++) {
        const struct paths_number keys[] = {{"dscp", dscp}, {NULL, 0}}, none[] = {{NULL, 0}};
        if ((sc->paths == SCN_BY_PACKET || sc->sprayed >> dscp & 1) &&
            paths_entry(n, "sprayed", keys, "spray", none, true, err) < 0)
            return -1;
    }
    return 0;
}

static int paths_new_set(struct sim_node *n, const struct paths_set *set, struct sk_error *err) {
    struct sim_paths *p = n->paths;
    p->sets = sk_resize(p->sets, p->n_sets + 1, sizeof *p->sets);
    p->sets[p->n_sets++] = *set;
    for (unsigned slot = 0; slot < SLOTS && set->n > 1; slot++) {
        const struct paths_number keys[] = {{"hops", p->n_sets}, {"slot", slot}, {NULL, 0}},
                                  args[] = {{"port", n->ports[set->ports[slot % set->n]].dev_port},
                                            {NULL, 0}};
        if (paths_entry(n, "paths", keys, "to_port", args, true, err) < 0)
            return -1;
    }
    return 0;
}

// Where packets for the station's address go: the set's only port, or its slots.
static int paths_address(struct sim_node *n, uint32_t to, uint32_t which, bool anew,
                         struct sk_error *err) {
    const struct paths_set *set = &n->paths->sets[which];
    const bool one = set->n == 1;
    const struct paths_number keys[] = {{"hdr.ipv4.dst_addr", n->sim->stations[to].ip}, {NULL, 0}},
                              args[] = {{one ? "port" : "hops",
                                         one ? n->ports[set->ports[0]].dev_port : which + 1u},
                                        {NULL, 0}};
    return paths_entry(n, "addresses", keys, one ? "to_port" : "by_slot", args, anew, err);
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
        if (*of != which && paths_address(n, to, which, *of == SCN_NONE, err) < 0)
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
