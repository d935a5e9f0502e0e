// SPDX-License-Identifier: Apache-2.0
//
// The switches of a SwitchML job over several levels (p4/switchml/with_levels.p4): those on the
// ways from its workers to the top one. Each sums what is below it, in the order of the workers.
#include <stdlib.h>

#include "base/error.h"
#include "sim/job.h"

const struct sim_level *levels_at(const struct sim_job *job, uint32_t station) {
    for (size_t i = 0; job->levels && i < job->levels->n; i++)
        if (job->levels->level[i].station == station)
            return &job->levels->level[i];
    return NULL;
}

// Puts what is below the switch into its part, once. False: there is no room.
static bool levels_put(struct sim_level *l, uint32_t below) {
    for (uint32_t i = 0; i < l->n_below; i++)
        if (l->below[i] == below)
            return true;
    if (l->n_below == LEVELS_BELOW)
        return false;
    l->below[l->n_below++] = below;
    return true;
}

struct sim_levels *levels_of(const struct sim_job *job, struct sk_error *err) {
    const struct sim *s = job->sim;
    const size_t n = s->scenario->n_stations;
    struct sim_levels *all = calloc(1, sizeof *all + n * sizeof *all->level);
    struct sim_level **by_station = calloc(n, sizeof(struct sim_level *)); // of station
    if (!all || !by_station)
        abort();
    for (uint32_t w = 0; w < job->n_workers; w++) {
        uint32_t x = job->workers[w].station;
        while (x != job->at) {
            const uint32_t up = link_to(s, route(s, x, job->at));
            struct sim_level *l = by_station[up];
            if (!l) {
                l = by_station[up] = &all->level[all->n++];
                l->station = up;
                l->above = up == job->at ? SCN_NONE : link_to(s, route(s, up, job->at));
            }
            if (!levels_put(l, x)) {
                sk_fail(err, "job %s: switch %s has more than %u workers and switches below it",
                        job->as->name, s->stations[up].as->name, LEVELS_BELOW);
                free(all);
                free(by_station);
                return NULL;
            }
            x = up;
        }
    }
    free(by_station);
    return all;
}
