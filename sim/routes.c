// SPDX-License-Identifier: Apache-2.0
//
// Ways through the network: to each station the shortest, along a tree of which it is the root.
// Where several are as short, a hash of station and destination chooses, so that destinations are
// spread over spines. The tree is what ATP needs: parameters go back over the switches that the
// gradients came by. Scenarios with "paths" use all of the shortest ways instead (paths.c), over
// cables that are not known to be down.
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "sim/sim.h"

uint32_t link_to(const struct sim *s, uint32_t link) {
    const struct scn_cable *c = &s->scenario->cables[link / 2];
    return link % 2 ? c->a : c->b;
}

uint32_t switch_of(const struct sim *s, uint32_t host) {
    return link_to(s, (uint32_t)(s->stations[host].host->out - s->links));
}

struct walk {
    uint32_t *distance, *queue;
    uint32_t *first,
        *links; // of station i: links[first[i]] to links[first[i + 1] - 1], that lead away from it
};

static void routes_walk_free(struct walk *w) {
    free(w->distance);
    free(w->queue);
    free(w->first);
    free(w->links);
}

static struct walk routes_walk_new(const struct sim *s) {
    const size_t n = s->scenario->n_stations, n_links = 2 * s->scenario->n_cables;
    struct walk w = {malloc((n + 1) * sizeof(uint32_t)), malloc((n + 1) * sizeof(uint32_t)),
                     calloc(n + 2, sizeof(uint32_t)), malloc((n_links + 1) * sizeof(uint32_t))};
    if (!w.distance || !w.queue || !w.first || !w.links)
        abort();
    for (uint32_t l = 0; l < n_links; l++)
        w.first[link_to(s, l ^ 1) + 2]++;
    for (size_t i = 2; i < n + 2; i++)
        w.first[i] += w.first[i - 1];
    for (uint32_t l = 0; l < n_links; l++)
        w.links[w.first[link_to(s, l ^ 1) + 1]++] = l;
    return w;
}

// How far everybody is from the destination; hosts do not forward.
static void sim_routes_measure(const struct sim *s, uint32_t to, struct walk *w) {
    const struct scenario *sc = s->scenario;
    size_t n = 0;
    for (size_t i = 0; i < sc->n_stations; i++)
        w->distance[i] = SCN_NONE;
    w->distance[to] = 0;
    w->queue[n++] = to;
    for (size_t at = 0; at < n; at++) {
        const uint32_t x = w->queue[at];
        if (x != to && !sc->stations[x].is_switch)
            continue;
        for (uint32_t l = w->first[x]; l < w->first[x + 1]; l++) {
            const uint32_t y = link_to(s, w->links[l]);
            if (w->distance[y] != SCN_NONE || (s->avoided && s->avoided[w->links[l] / 2]))
                continue;
            w->distance[y] = w->distance[x] + 1;
            w->queue[n++] = y;
        }
    }
}

static uint32_t sim_routes_choose(const struct sim *s, uint32_t from, uint32_t to,
                                  const struct walk *w) {
    const uint32_t *distance = w->distance;
    uint32_t best = SCN_NONE;
    uint64_t best_hash = 0;
    if (from == to || distance[from] == SCN_NONE)
        return SCN_NONE;
    for (uint32_t i = w->first[from]; i < w->first[from + 1]; i++) {
        const uint32_t l = w->links[i], next = link_to(s, l);
        if (distance[next] + 1 != distance[from])
            continue;
        const uint64_t hash = sim_mix((uint64_t)to << 32 | next);
        if (best == SCN_NONE || hash < best_hash) {
            best = l;
            best_hash = hash;
        }
    }
    return best;
}

int routes_make(struct sim *s, struct sk_error *err) {
    const size_t n = s->scenario->n_stations;
    struct walk w = routes_walk_new(s);
    int status = 0;
    s->next_link = malloc(n * n * sizeof *s->next_link);
    if (!s->next_link)
        abort();
    for (uint32_t to = 0; to < n; to++) {
        sim_routes_measure(s, to, &w);
        for (uint32_t from = 0; from < n; from++) {
            s->next_link[from * n + to] = sim_routes_choose(s, from, to, &w);
            if (status == 0 && from != to && w.distance[from] == SCN_NONE)
                status = sk_fail(err, "there is no path from %s to %s",
                                 s->scenario->stations[from].name, s->scenario->stations[to].name);
        }
    }
    routes_walk_free(&w);
    return status;
}

// ---- all shortest ways ----

void routes_measure_all(struct sim *s) {
    const size_t n = s->scenario->n_stations;
    struct walk w = routes_walk_new(s);
    s->distances = s->distances ? s->distances : malloc(n * n * sizeof *s->distances);
    if (!s->distances)
        abort();
    for (uint32_t to = 0; to < n; to++) {
        sim_routes_measure(s, to, &w);
        memcpy(s->distances + to * n, w.distance, n * sizeof *w.distance);
    }
    routes_walk_free(&w);
}

size_t routes_equal(const struct sim *s, uint32_t from, uint32_t to, uint32_t *links, size_t most) {
    const struct scenario *sc = s->scenario;
    const uint32_t *distance = s->distances + to * sc->n_stations;
    size_t n = 0;
    if (from == to || distance[from] == SCN_NONE)
        return 0;
    for (uint32_t l = 0; l < 2 * sc->n_cables && n < most; l++)
        if (link_to(s, l ^ 1) == from && !(s->avoided && s->avoided[l / 2]) &&
            distance[link_to(s, l)] + 1 == distance[from])
            links[n++] = l;
    return n;
}
