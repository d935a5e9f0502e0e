// SPDX-License-Identifier: Apache-2.0
//
// lab: `silken lab`, the network of a scenario (docs/simulation.md) as processes of this machine:
// each switch is a `silken run`, each host a network namespace, and the simulator's links, with
// their rates, delays and faults, and its hosts' jobs run in real time between them.
//
//     lab up FILE        lab_begin(): a process that is the lab (begin.c); waits until it is up
//     lab exec h0 CMD    finds the lab by its place (place.h) and enters the host's namespace
//
// The lab is the first process of a PID namespace, and nothing else holds its network namespaces:
// however it ends, the kernel ends all its processes and takes interfaces and namespaces away.
// Without root the same in a user namespace.
//
// CABLES. tc's netem could delay and lose frames, too. It is not in every kernel, loses no frames
// by number and has other random numbers; so that a lab and a simulation of one seed can be
// compared, both have the same links. Each end of a cable is a veth pair whose far end the carrier
// holds.
//
// TIME. A scenario's second takes 'slower' seconds: rates are divided by it, delays and time-outs
// multiplied. A network of 100 Gbps so needs a hundredth of the packets a second.
//
// Files:
//
//     lab.c       the subcommand: options
//     place.c     where a running lab is found, and what it says of itself (place.h)
//     begin.c     the process that is the lab, from its birth to its end
//     net.c       namespaces, veth pairs, addresses
//     switches.c  configurations and processes of the switches
//     carrier.c   the process that carries frames from end to end of cables, and runs the jobs
//     enter.c     commands on a running lab: exec, pcap
//     report.c    commands that tell how it is: status, wait, and the result of a run
#ifndef SILKEN_CLI_LAB_LAB_H
#define SILKEN_CLI_LAB_LAB_H

#include <jansson.h>
#include <signal.h>
#include <sys/types.h>

#include "base/error.h"
#include "cli/spaces.h"
#include "sim/sim.h"

#define LAB_INTERFACE 16 // bytes of an interface's name

struct lab_options {
    const char *file, *name;
    uint64_t seed;
    bool has_seed;
    bool jobs;         // the scenario's jobs run
    double slower;     // 0: as lab_slower() says
    const char *json;  // of a run: where the result goes, or null
    unsigned within_s; // of waiting; 0: without an end
};

struct lab_capture {
    const char *filter, *out; // or null
    uint64_t count;           // packets; 0: until it is ended
};

struct lab {
    const struct lab_options *o;
    const char *folder; // the lab's place
    struct scenario *sc;
    struct sk_program **programs;
    struct sim *sim;
    double slower;
    struct spaces spaces; // by station
    pid_t *switches;      // by station; 0: it does not run
    pid_t carrier;
    int ordered; // what the carrier asks for: switches off and on; -1: nothing
};

// ---- net.c
// The interface by which a station is at a cable.
void lab_interface(const struct scenario *sc, uint32_t cable, uint32_t station,
                   char name[LAB_INTERFACE]);
// The address of a host's kernel: its station's is left to the jobs.
void lab_kernel_address(const struct sim_station *st, char text[20]);
// The interface that a link ends at, in the carrier's namespace.
void lab_far_end(uint32_t link, char name[LAB_INTERFACE]);
unsigned lab_carrier_space(const struct lab *l);
int lab_net_make(struct lab *l, struct sk_error *err);

// ---- switches.c
// How much slower than a scenario's time a machine should let it go: so that the fastest link has 1
// Gbps.
double lab_slower(const struct sim *s);
// Writes its configuration as it is now.
int lab_switch_configure(struct lab *l, uint32_t station, struct sk_error *err);
int lab_switch_start(struct lab *l, uint32_t station, struct sk_error *err);
// Its configuration, and its process; waits until it forwards.
int lab_switches_make(struct lab *l, struct sk_error *err);
void lab_switch_stop(struct lab *l, uint32_t station);
void lab_path(const struct lab *l, const char *station, const char *suffix, char out[256]);

// ---- carrier.c
// Starts the process. 0, or -1 after filling 'err'.
int lab_carrier_start(struct lab *l, struct sk_error *err);

// ---- begin.c
// Makes the lab and returns when it is up: the exit status.
int lab_begin(const struct lab_options *o);

// ---- enter.c
int lab_exec(const char *name, int argc, char **argv);
int lab_pcap(const char *name, const char *link, const struct lab_capture *capture);

// ---- lab.c
extern volatile sig_atomic_t lab_interrupted; // `lab run` is to end

// ---- lab.c
extern volatile sig_atomic_t lab_interrupted; // `lab run` is to end

// ---- report.c
// 'json': where to, or null for text.
int lab_status(const char *name, const char *json);
int lab_wait(const struct lab_options *o);

#endif
