// SPDX-License-Identifier: Apache-2.0
//
// sim: a network of switches, links and hosts in virtual time.
//
// One run is one scenario and one seed:
//
//     struct sim *s = sim_new(scenario, programs, seed, trace, &err);
//     sim_run(s);
//     if (s->violated) ...                    // s->violation is the sentence, sim_tell() the rest
//     json_t *result = sim_result(s);
//     sim_free(s);
//
// Its files, from the bottom up: events (time), link (cables and their faults), node (a switch
// that runs a compiled program), host (stations at the ends, and the lanes of jobs on them),
// job (tensors, and whether their sums are right), build (from a scenario to all these), routes,
// faults, check (the invariants), result.
//
// INVARIANTS. While it runs: time does not go back; the packets that links and switches received
// equal those that they sent, lost for a reason or still hold; every sum that a worker gets is the
// sum over all workers, each counted exactly once. At the end: every job has finished before the
// limit or, if the scenario allows jobs to fail, has failed with an error; and after a quiet time
// no aggregator in a switch is held for ever: one that still has an owner is released when another
// fragment's packet asks for it after its time-out.
//
// Concurrency: a run belongs to one thread. Memory exhaustion ends the process.
//
// Files:
//
//     sim.c              creates, runs, reports on and frees a run
//     events.c           virtual time
//     link.c             one direction of a cable
//     node.c             a switch of the network
//     host.c             a host and its network card
//     routes.c           paths through the network
//     levels.c           switches above switches, and what of a job each has
//     paths.c            sets of next hops in switches, and when a path is down
//     job.c              a training job, and whether its sums are right
//     lane.c             a worker of either protocol on its host
//     switchml.c, atp.c  workers and servers of the protocols
//     exchange/exchange.h    jobs whose tensors go from host to host by a transport
//     pace.c             the computing of their workers
//     background.c       traffic besides the jobs
//     models.c           models as training jobs see them
//     values.c           the values of tensors
//     process.c          members of jobs with sessions: processes that are killed and restarted
//     control.c          the switch's part in the sessions of jobs
//     cpu.c              a program at a switch's CPU port (cpu.h)
//     tor.c              the control plane of a ToR there
//     neighbour.c        ARP of hosts that have addresses of their own
//     own/               jobs whose hosts are a shared object (own/own.h)
//     libra/             jobs of Libra (libra/libra.h lists the files)
//     config.c           the configuration of a switch
//     faults.c           the faults of a run
//     check.c            invariants that are not about sums
//     result.c           the result of a run, as JSON
//     real.c             a run whose switches are elsewhere, in real time (real.h)
//     notes.c            the configuration of a switch, as `silken run` reads it
//     plot.c             a plot of the result
//     runs.c             many seeds in several processes
//     scenario.c         the scenario file (scenario_impl.h lists its readers)
//     trace.c            the last events
//     random.h           random numbers, all from one seed
#ifndef SILKEN_SIM_SIM_H
#define SILKEN_SIM_SIM_H

#include "pipeline/program.h"
#include "pipeline/switch/switch.h"
#include "sim/link.h"
#include "sim/scenario.h"

struct sim;
struct sim_job;
struct sim_control;
struct sim_cpu;
struct sim_libra;
struct sim_real;
struct sim_own;

// ---- a switch (node.c) ----
struct sim_port {
    struct sim_link *out;
    uint16_t dev_port;
};
#define SIM_ALARMS 100

struct sim_node {
    struct sim *sim;
    struct sk_program *program;
    struct sk_switch *sw; // null: it is restarting
    struct sim_port *ports;
    size_t n_ports;
    uint16_t port_of[SK_PORTS]; // index of ports, by device port
    uint32_t ecn_bytes;
    struct sim_timer timer;
    bool configured;
    bool off;               // real.h: its process does not run
    uint64_t configured_at; // by a control plane that is slow; 0: at the start
    uint32_t restarts;
    struct sim_control *control; // its part in jobs' sessions; null: none
    struct sim_paths *paths;     // sets of next hops that it has; null: none
    struct sim_timer control_timer;
    struct sim_cpu *cpu;           // the program at its CPU port (cpu.h); null: none
    json_t *alarms;                // a ToR's, in order, the first SIM_ALARMS; null: none
    uint64_t more_alarms;          // how many were not kept
    struct sk_switch_stats before; // what the switches before the last restart counted
};

// ---- a host (host.c) ----
// Something that runs on a host: a worker's or a server's end of a flow, a source of traffic.
struct sim_app;
struct sim_app_ops {
    // Whether the frame looks as if it were this one's.
    bool (*wants)(const struct sim_app *a, const uint8_t *frame, uint32_t length);
    void (*deliver)(struct sim_app *a, const uint8_t *frame, uint32_t length, uint64_t now);
    // Writes the next frame to send; 0: there is none.
    size_t (*next)(struct sim_app *a, uint8_t *buf, size_t cap, uint64_t now);
    uint64_t (*deadline)(struct sim_app *a);
    void (*expire)(struct sim_app *a, uint64_t now);
    void (*free)(struct sim_app *a);
};
struct sim_app {
    const struct sim_app_ops *ops;
    struct sim_host *host;
    struct sim_app *next; // of the host
    int64_t credit;       // bytes that it may still send in its turn
};
struct sim_host {
    struct sim *sim;
    struct sim_link *out;
    struct sim_app *apps; // in a circle is who sends: 'turn'
    struct sim_app *turn;
    struct sim_timer timer;
    struct sim_neighbour *neighbour; // neighbour.c; null: none
    bool down;
    uint64_t crashes, unclaimed; // frames that nobody wants
};

struct sim_station {
    const struct scn_station *as;
    uint32_t id;
    uint8_t mac[6];
    uint32_t ip;
    uint32_t address, mask, gateway; // of a host that has an address of its own; 0: it has none
    struct sim_node *node;           // one of the two
    struct sim_host *host;
};

struct sim {
    const struct scenario *scenario;
    uint64_t seed, limit_ns;
    struct sim_random draws; // what the scenario leaves to the seed
    struct sim_events events;
    struct sim_frames frames;
    struct sim_trace trace;
    struct sim_station *stations; // as the scenario's
    struct sim_link *links;       // of cable i: 2 i from a to b, 2 i + 1 back
    size_t n_links;
    uint32_t *next_link; // [station * n_stations + destination]: where to; SCN_NONE: nowhere
    uint32_t *distances; // paths.c: [destination * n_stations + station]; null: one path each
    bool *avoided;       // by cable: the control plane knows that it is down
    struct sim_job **jobs;
    struct sim_libra *libra; // jobs of Libra, and their controller (libra/libra.h)
    struct sim_own *own;     // jobs of protocols of one's own (own/own.h); null: none
    struct sim_app **background;
    size_t unfinished; // jobs
    uint64_t done_at;  // when the last job was over; 0: not yet
    bool ended;
    bool violated;
    char violation[512];
    bool has_key;
    struct sim_key key; // what it is about
    json_t *series;
    void *sample;                // result.c: how the series go on
    json_t *notes;               // real.h: what is written into switches; null: nobody asks
    const struct sim_real *real; // its switches are elsewhere; null: they are in here
    uint64_t abandoned;          // aggregators that had to be asked for again, at the end
    uint64_t stood_at, stands;   // events at one time
    uint64_t checked;            // events that had happened when the whole network was checked last
};

// 'programs': as scenario->programs, compiled. 'live' and 'trace' (entries; a power of two) as in
// trace.h. Null after filling 'err': the scenario cannot be built.
struct sim *sim_new(const struct scenario *sc, struct sk_program *const *programs, uint64_t seed,
                    size_t trace, FILE *live, struct sk_error *err);
// Whether it can be built and its switches take their configurations, as far as a seed tells. -1
// after filling 'err': a mistake in the scenario, which is nothing that a run found.
int sim_try(const struct scenario *sc, struct sk_program *const *programs, uint64_t seed,
            struct sk_error *err);
void sim_run(struct sim *s);
// Whether it goes on to the limit: because a job has no end, or because it has no jobs.
bool sim_is_endless(const struct sim *s);
// The limit is reached: a violation names the first job that is not done.
void sim_explain(struct sim *s);
// The violation, and the last events of what it is about.
void sim_tell(const struct sim *s, const char *path, FILE *out);
json_t *sim_result(const struct sim *s);
void sim_free(struct sim *s); // null allowed

// Something is not as it must be. The first one counts.
void sim_violate(struct sim *s, const struct sim_key *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// node.c
int node_make(struct sim *s, struct sim_station *st, struct sk_program *program,
              struct sk_error *err);
void node_free(struct sim_node *n);
// The queue of the port whose link this is: what the link says; 0: no rate, no end.
struct sk_port_queue node_queue(const struct sim_link *out);
bool node_deliver(void *station, uint32_t port, const uint8_t *bytes, uint32_t length);
// The control plane comes: all entries and groups. A scenario's mistake fills 'err'.
int node_configure(struct sim_station *st, struct sk_error *err);
// The switch loses all its state. It forwards again when it is configured.
void node_restart(struct sim_station *st);
void node_stats(const struct sim_node *n, struct sk_switch_stats *out); // of all its lives
bool node_conserves(const struct sim_node *n);
// A frame comes in by the CPU port.
bool node_give(struct sim_node *n, const uint8_t *frame, uint32_t length);
// Runs the switch up to now.
void node_run(struct sim_node *n);

// config.c: what the control plane writes
int config_write(struct sim_station *st, struct sk_error *err);

// The device port that leads to another station; SK_PORT_INVALID: none does.
uint16_t node_port_to(const struct sim_node *n, uint32_t station);

// control.c: what `silken run` has with "sessions" in its configuration
// (control/sessions/sessions.h) Of a switch that has just been configured; does nothing if no job
// has sessions, or its program has none.
int control_start(struct sim_station *st, struct sk_error *err);
bool control_has_sessions(struct sim_node *n); // its program knows them
void control_stop(struct sim_node *n);
void control_wake(void *node, void *unused); // its timer's action
// What the switch has sent by its CPU port.
void control_take(struct sim_control *c, const uint8_t *frame, uint32_t length);
// Hears what was taken. False: nothing was.
bool control_turn(struct sim_control *c);

// tor.c: the control plane of a ToR at the CPU port of a switch that was just configured; does
// nothing if the scenario gives it none
int sim_tor_start(struct sim_station *st, struct sk_error *err);
void sim_tor_stop(struct sim_node *n);
// A request to a ToR that was started (control/tor/tor.h), which is taken over: the result, a new
// reference, or null with a sentence.
json_t *sim_tor_ask(struct sim_node *n, const char *op, json_t *request, struct sk_error *err);

// neighbour.c
void neighbour_make(struct sim *s, struct sim_station *st); // if it has an address of its own
// Whether frames from one to the other go to the first one's gateway.
bool neighbour_is_routed(const struct sim_station *from, const struct sim_station *to);
void neighbour_ask(struct sim_station *st); // for its gateway's MAC address, until it is known
bool neighbour_gateway(const struct sim_station *st, uint8_t mac[6]); // false: not yet

// host.c
void host_make(struct sim *s, struct sim_station *st);
void host_add(struct sim_host *h, struct sim_app *a);
bool host_deliver(void *station, uint32_t port, const uint8_t *bytes, uint32_t length);
// Something has happened: sends what there is to send, sets the timer.
void host_serve(struct sim_host *h);
void host_crash(struct sim_host *h); // what runs on it is gone
void host_free(struct sim_host *h);

// routes.c
int routes_make(struct sim *s, struct sk_error *err);
static inline uint32_t route(const struct sim *s, uint32_t from, uint32_t to) {
    return s->next_link[from * s->scenario->n_stations + to];
}
uint32_t link_to(const struct sim *s, uint32_t link); // the station that it leads to
// The switch that a host hangs on.
uint32_t switch_of(const struct sim *s, uint32_t host);

// All links from which a shortest way leads on: how many there are. Before that, the distances over
// all cables that are not avoided.
void routes_measure_all(struct sim *s);
size_t routes_equal(const struct sim *s, uint32_t from, uint32_t to, uint32_t *links, size_t most);

// paths.c: sets of next hops, in scenarios with "paths"
// Writes them into a switch that is just configured, or whose sets have changed.
int paths_write(struct sim_station *st, struct sk_error *err);
void paths_forget(struct sim_node *n); // the switch has lost its tables
// A cable or switch is down or up: all switches will know it a little later.
void paths_changed(struct sim *s);

// background.c
struct sim_app *background_new(struct sim *s, uint32_t i);
json_t *background_result(const struct sim_app *a);
uint64_t background_received(const struct sim_app *a); // bytes

// faults.c
void faults_schedule(struct sim *s);

// check.c
void check_step(struct sim *s); // what is cheap, after each event; the whole network now and then
void check_end(struct sim *s);

#endif
