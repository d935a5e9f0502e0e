// SPDX-License-Identifier: Apache-2.0
//
// scenario: what a scenario file says, checked and with its topology unfolded.
//
// The format is described in docs/simulation.md. Where the file may give a range ([low, high], or
// {"log": [low, high]}), a number is drawn for each seed (sim_draw, build.c): so one file stands
// for thousands of different networks.
//
// A file with an unknown key, a wrong type, a value out of range, a name that nothing has or a
// thing that cannot be is refused whole; the error names file, line and place.
//
// Stations (hosts and switches) are numbered in one list; cables, jobs and faults name them by
// number.
#ifndef SILKEN_SIM_SCENARIO_H
#define SILKEN_SIM_SCENARIO_H

#include "base/json.h"
#include "sim/exchange/scenario.h"
#include "sim/random.h"
#include "sim/trace.h"

struct scn_own;

#define SCN_NONE        UINT32_MAX
#define SCN_MAX_STATION 512u
#define SCN_MAX_WORKERS 256u
// Of networks of kind "levels", and of jobs of SwitchML with "levels".
#define SCN_MAX_LEVELLED_STATION 8192u
#define SCN_MAX_LEVELLED         4096u
#define SCN_MAX_FLOWS            16u
#define SCN_MAX_LAYERS           512u

struct sim_range {
    double low, high;
    bool log; // of all orders of magnitude alike
};
double sim_draw(struct sim_random *r, const struct sim_range *range);

struct scn_line { // of a cable; both directions alike
    struct sim_range gbps, delay_us, queue_bytes;
};
struct scn_station {
    const char *name;
    bool is_switch;
    const char *address, *gateway; // of a host, of its kernel in a lab: "10.1.0.2/24"; or null
    // of a switch
    uint32_t program;                          // in scenario.programs
    struct sim_range ecn_bytes;                // queue above which packets are marked; 0: never
    uint32_t pipes;                            // over which its ports are spread
    struct sim_range service_us, cpu_delay_us; // of its CPU port: for each frame, and one way
    uint32_t cpu_frames;                       // that wait there at most
    const char *config; // JSON text of a part of a configuration (control/config/config.h), or null
    const char *tor;    // of its member "tor", or null
};
// Of several shortest ways to a station: always the same one, or one of all, chosen for each flow
// or each packet.
enum scn_paths { SCN_ONE_PATH, SCN_BY_FLOW, SCN_BY_PACKET };
struct scn_cable {
    uint32_t a, b;
    struct scn_line line;
};

// One tensor of a training iteration, in the order in which gradients come out (last layer first).
struct scn_layer {
    double bytes;
    double share; // of the compute time of the backward pass
};
enum scn_work_kind { SCN_CONSTANT, SCN_TRAINING };
struct scn_work {
    enum scn_work_kind kind;
    struct sim_range count;   // tensors of each worker, or iterations; 0: until the limit
    struct sim_range bytes;   // constant: of a tensor
    uint32_t outstanding;     // constant: tensors in flight
    struct scn_layer *layers; // training
    size_t n_layers;
    double compute_ns; // training: of an iteration, of whose 'whole' parts 'forward' are the
                       // forward pass and 'backward' the backward one; usually 1 and 2 of 3
    double forward, backward, whole;
    double jitter; // training: compute times vary by so much (0 to 1)
    bool by_layer; // a layer's forward pass waits for its own parameters only
    bool floats;
    bool collectives;                   // SwitchML: not all tensors are for all (values.c)
    double magnitude;                   // of floats: they are between -this and this
    struct sim_range start_ms, stop_ms; // stop 0: never
};

struct scn_job {
    const char *name;
    enum sim_protocol protocol;
    uint32_t *workers; // stations, or null:
    size_t n_workers;
    struct sim_range worker_count; // so many of the hosts that are not servers, the first ones
    struct scn_work work;
    bool sessions; // its members join sessions, and may begin again
    struct sim_range rto_initial_us, rto_min_us, rto_max_us, hard_limit_ms; // limit 0: none
    // SwitchML
    uint32_t at; // the switch; SCN_NONE: the first worker's
    uint32_t k;
    bool f16;    // its switch adds 16-bit floats
    bool levels; // summed at each switch on the way to 'at'
    struct sim_range slots;
    // ATP
    uint32_t *servers;
    size_t n_servers;
    uint32_t flows; // each to one of the servers, in turn
    struct sim_range window, window_max, first_index, indices;
    double repeat_us; // least time between two answers about a fragment
    bool linear, fixed_window, rehash, dynamic_scale;
    struct scn_exchange *exchange; // its hosts add up by themselves; else null
};

struct scn_background {
    const char *name;
    uint32_t from, to;
    struct sim_range gbps; // 0: as fast as the sender's link takes it
    uint32_t frame_bytes;
    uint8_t tos; // DSCP and ECN bits
    struct sim_range start_ms, stop_ms;
};

enum scn_fault_kind {
    SCN_LOSS,
    SCN_DUPLICATE,
    SCN_REORDER,
    SCN_CORRUPT,
    SCN_LINK_DOWN,
    SCN_SWITCH_RESTART,
    SCN_HOST_CRASH,
    SCN_SLOW_CONTROL,
    SCN_WORKER_RESTART,
    SCN_SERVER_RESTART,
    SCN_SLOW_CPU,
    SCN_MIGRATE,
};
enum scn_way { SCN_BOTH, SCN_TO_SWITCH, SCN_TO_HOST };
struct scn_fault {
    enum scn_fault_kind kind;
    double chance;                // that a seed has it
    struct sim_range rate, by_us; // of frames; reordering: by so much at most
    uint32_t *packets;            // loss: these
    size_t n_packets;
    bool undetected;
    // where: cables (all when there are none named), or stations
    uint32_t *cables;
    size_t n_cables;
    enum scn_way way; // of cables between a host and a switch
    uint32_t *stations;
    size_t n_stations;
    bool one;                       // in one of them, drawn
    struct sim_range at_us, for_us; // 'for' 0: for ever; of a restart: at once
    struct sim_range times;         // so often
    struct sim_range late_us;       // what a process was about to send comes so much later
    struct sim_range delay_us;      // until the control plane has configured
    struct sim_range service_us;    // of each frame at the CPU port
};

struct scenario {
    struct sk_json doc;
    json_t *root;
    const char *name, *about;
    uint64_t seed;
    double limit_ms, sample_us, quiet_ms;
    bool may_fail; // jobs may end with an error instead of sums
    bool any_sums; // they may be wrong, too: of damage that nobody can find
    bool check_aggregators;
    enum scn_paths paths;
    uint64_t sprayed;      // by DSCP, a bit each: by packet even when others are by flow
    double reroute_ms;     // until switches avoid what is down
    const char **programs; // paths
    size_t n_programs;
    struct scn_station *stations;
    size_t n_stations, max_stations;
    struct scn_cable *cables;
    size_t n_cables;
    struct scn_job *jobs;
    size_t n_jobs;
    struct scn_libra *libra; // jobs of Libra (libra/scenario.h)
    size_t n_libra;
    struct scn_controller *controller; // null: none
    struct scn_own *own;               // jobs of protocols of one's own (own/own.h)
    size_t n_own;
    struct scn_background *background;
    size_t n_background;
    struct scn_fault *faults;
    size_t n_faults;
};

// 'path': for messages, and programs' paths are relative to it. Null after filling 'err'.
struct scenario *sim_scenario_parse(const char *path, const char *text, size_t length,
                                    struct sk_error *err);
struct scenario *sim_scenario_read(const char *path, struct sk_error *err);
void sim_scenario_free(struct scenario *s); // null allowed

#endif
