// SPDX-License-Identifier: Apache-2.0
//
// real: a run whose switches are processes, and whose time is real. Hosts, their jobs and all links
// are those of a run in virtual time, with the same values, rates, delays, faults, checks and
// result; what a link brings to a switch leaves by a function, and what switches send comes in by
// another one.
//
//     struct sim *s = sim_new(...);
//     json_t *config = note_switch(s, station, &err);     // for each switch: notes.h
//     (the switches are started)
//     real_run(s, &real);
//     json_t *result = sim_result(s);                      // its switches have counted nothing
//
// The simulated switches stay, without packets: what the control plane has written is known from
// them.
//
// A host is also a place for others: frames that none of its jobs wants are theirs, and theirs go
// into its link.
//
// Sums are checked as they come in; what is left behind in switches is not looked at.
//
// Concurrency: a run belongs to one thread.
#ifndef SILKEN_SIM_REAL_H
#define SILKEN_SIM_REAL_H

#include "control/tables/control.h"
#include "sim/sim.h"

// Links are numbered as in sim.h: of cable i 2 i from a to b, 2 i + 1 back.
struct sim_real {
    // Nanoseconds since the start, of the scenario's time.
    uint64_t (*now)(void *aux);
    // A frame has come to the end of a link: to a switch, or to what else is at a host. False: it
    // is not there, or takes no more.
    bool (*leave)(void *aux, uint32_t link, const uint8_t *frame, uint32_t length);
    // The next frame that is to go into a link, valid until the next call. False:
    // none has come.
    bool (*enter)(void *aux, uint32_t *link, const uint8_t **frame, uint32_t *length);
    // Waits for a frame, or until that time. False: the run is to end now.
    bool (*rest)(void *aux, uint64_t until);
    // A switch goes off; or on, with what note_switch() says of it now.
    void (*power)(void *aux, uint32_t station, bool on);
    // Sends a request (a reference is taken over) to the switch's control socket: its result, a new
    // reference, or null after filling 'err'.
    json_t *(*ask)(void *aux, uint32_t station, json_t *request, struct sk_error *err);
    // All jobs are over, or the limit is reached, which is a violation. Links go on.
    void (*over)(void *aux);
    void *aux;
};

// What such a run cannot do of this scenario; 0, or -1 after filling 'err'.
int real_refuses(const struct scenario *sc, struct sk_error *err);
// Runs until the caller ends it.
void real_run(struct sim *s, const struct sim_real *real);

// For who changes switches; they do nothing when the switches are in here, and the first returns
// false.
bool real_power(struct sim_station *st, bool on);
void real_entry(const struct sim_node *n, const struct sk_entry_spec *e, bool anew);

#endif
