// SPDX-License-Identifier: Apache-2.0
//
// own: jobs of a protocol of one's own: their hosts are a shared object (silken/station.h) that the
// scenario names, their program and its entries are the scenario's.
//
//     scn_read_own()     a job whose protocol is "own" (sim/scenario_impl.h)
//     own_make()         its stations, on their hosts; own_results() what they say of themselves
//
// A job is over when each of its stations is done or has failed. One that says it is wrong is a
// violation; one that fails is one, too, unless the scenario allows jobs to fail. A host that
// crashes closes its station, and one that comes back opens it again.
//
// Files:
//
//     scenario.c    reads such a job and loads its library
//     own.c         its stations
#ifndef SILKEN_SIM_OWN_OWN_H
#define SILKEN_SIM_OWN_OWN_H

#include "silken/station.h"
#include "sim/sim.h"

struct scn_own {
    const char *name, *path, *options; // options: JSON text
    void *library;                     // of dlopen()
    const struct silken_stations *stations;
    uint32_t *hosts;
    size_t n_hosts;
    struct sim_range start_ms;
};

void own_make(struct sim *s);
void own_host_down(struct sim *s, uint32_t station);
void own_host_up(struct sim *s, uint32_t station);
// The limit is reached.
void own_explain(struct sim *s);
// Adds to the list of jobs; whether one has failed.
bool own_results(const struct sim *s, json_t *jobs);
void own_free(struct sim *s);
// Of a scenario: closes the libraries.
void own_close(struct scenario *sc);

#endif
