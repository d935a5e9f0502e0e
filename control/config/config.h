// SPDX-License-Identifier: Apache-2.0
//
// config: the file that says what a switch is: program, ports, tables.
//
// JSON. All names are those of the P4 source or a unique suffix. Values of keys, arguments and
// registers are numbers, true, false, or strings in the forms of control.h.
//
//     {
//       "program": "switchml.p4",            relative to this file; the only key that must be there
//       "include": ["dir"], "define": ["N=1"],
//       "ports": [{"port": 0, "device": "net_memif0,role=server,socket=/run/x.sock",
//                  "name": "worker 0", "mtu": 1500,
//                  "metadata": {"vrf": 7},               or all bits: "0x0011..."
//                  "queues": 1, "promiscuous": true}],   queues to receive on
//         (device "inside": no device, but the control thread of this process: for the CPU port; a
//         configuration with "tor" or "sessions" has one at the CPU port if it does not name that
//         port)
//       "libra": {...},                       Libra_s: control/libra/libra.h
//       "tor": {...},                         the control plane of a ToR: control/tor/section.h
//       "sessions": {"mac": "02:00:00:00:00:fe", "ip": "10.0.0.254",      of jobs, without a ToR:
//                    "except": {"switchml": [2], "atp": []}},           control/sessions/sessions.h
//       "pipes": 4, "lcores": 1,              pipes with ports, and threads to run them on
//       "cpus": [2, 3],                       processors of the lcores
//       "idle_sleep": 50,                     us that an lcore sleeps when it is idle; 0: never
//       "loopback": [10],                     ports whose packets come back in
//       "cpu_port": 64,                       where copies to the CPU go (64; Tofino 2: 2)
//       "multicast": {
//         "nodes":  [{"id": 1, "rid": 7, "ports": [0, 1]}],
//         "groups": [{"id": 1, "nodes": [1, {"node": 2, "xid": 5}]}],   xid: level-1 exclusion id
//         "prune":  [{"id": 3, "ports": [0]}]},                         id: level-2 exclusion id
//       "entries": [{"table": "forward", "key": {"dst_addr": "00:11:22:33:44:55"}, "priority": 1,
//                    "action": "send", "args": {"port": 1}, "pipe": 0}],
//       "members": [{"profile": "hops", "id": 1, "action": "send", "args": {"port": 1}}],
//       "groups": [{"selector": "ecmp", "id": 1, "max_size": 8,
//                   "members": [1, {"member": 2, "up": false}]}],
//         (and entries with "member": 1 or "group": 1 in place of "action"; entries, and with them
//         registers, counters..., as BF Runtime writes them: bf_entry.h)
//       "defaults": [{"table": "forward", "action": "drop", "args": {}}],
//       "registers": [{"name": "cells", "index": 3, "value": 7, "pipe": 1},
//                     {"name": "pairs", "index": 0, "value": {"low": 1, "high": -1}}],
//       "meters": [{"name": "policer", "index": 3,       or "all"; names: attached.h
//                   "spec": {"cir_kbps": 8, "pir_kbps": 16, "cbs_kbits": 1, "pbs_kbits": 2}}],
//       "counters": [{"name": "drops", "index": 3, "packets": 7, "bytes": 448}],
//       "value_sets": [{"name": "types", "key": {"ether_type": "0x88**"}}],
//       "control_socket": "/run/silken.sock",
//       "record": {"file": "run.pcapng", "file_size": 100, "files": 10,   MB
//                  "ports": [0], "snaplen": 128, "ring": 64},
//       "metrics": {"listen": "127.0.0.1:9464",   Prometheus; for more than this machine
//                   "public": false},             "public": true
//       "page": {"listen": "127.0.0.1:9465",      for browsers; the same, and
//                "public": false,                 names by which it may be asked for, and whether
//                "names": [], "trace": true},     it shows packets (else: if not public)
//       "job_service": {"listen": "10.0.0.254:9466",   control/service/service.h
//                       "token_file": "token", "slots": 128,             slots of a job
//                       "wait": 300, "grace": 2, "silence": 10,          seconds
//                       "mac": "02:00:00:00:00:fe", "ip": "10.0.0.254"}, without "tor"
//       "switchml_jobs": {"listen": "10.0.0.254:50099",   control/published/published.h
//                            "mac": "02:00:00:00:00:fe", "ip": "10.0.0.254",   the switch's
//                            "slots": 512, "udp_port": 4000,           of a job, of all workers
//                            "wait": 300, "grace": 2, "silence": 60},  seconds
//       "telemetry": true,                        DPDK's, with /silken/... (watch/telemetry.h); a
//                                                 text: the file prefix, else "silken"
//       "sampling": {"one_in": 4096, "to": "127.0.0.1:6343", "counts": 20},   sFlow; also in "tor"
//       "alarms": {"job_stuck": 10, "aggregator": 10, "queue_drops": 1000,  watch/alarms.h; 0: none
//                  "table_full": 100, "flaps": 6},
//       "daemon": {"user": "silken",          rights after the start
//                  "capabilities": ["net_raw", "net_admin"],
//                  "socket_mode": "0660", "socket_group": "operators",
//                  "pid_file": "/run/silken/pid",
//                  "log": ["tor:dbg"], "log_socket": "/run/silken/log.sock"},
//       "requests": {"devices": ["tap"],      of the control socket: rights.h
//                    "folders": ["/run/silken"], "programs": ["/etc/silken/p4"],
//                    "compile_seconds": 600, "compile_memory": 4096},
//       "clock": 1763756000000000000,         of replays: when the switch was configured
//       "pools": [...], "queues": [...],      control/tables/tm.h
//       "faults": {"loss": 0.01, "seed": 1}   packets lost at the ports, in each direction
//     }
//
// An argument whose name starts with '$' ("$ENTRY_TTL") is one of attached.h; so are a meter's
// names. A value with a fraction is written as a string.
//
// "priority": 0 to 2^32 - 1, the smaller number wins. "pipe": only in that hardware pipe; without
// it in all.
//
// A file with an unknown key, a wrong type, a value out of range, a register's cell that is there
// twice or a name that the program does not have is refused whole; the error names the file, line,
// and the place in the JSON.
//
// Files:
//
//     config.c  reads the file into a list of items
//     ports.c   ports; record.c, watch.c, job_service.c: members of their own
//     apply.c   writes an item into a switch, changes it, takes it back
//     change.c  from one configuration to another
//     daemon.c  the member "daemon"; controllers.c: "bfrt", "p4runtime"
//     rights.c  the member "requests"; programs.c: "programs"
#ifndef SILKEN_CONTROL_CONFIG_CONFIG_H
#define SILKEN_CONTROL_CONFIG_CONFIG_H

#include <sys/socket.h>

#include "control/tables/control.h"

struct sk_at;

#define SK_IDLE_SLEEP_US 50u // when nothing is said
#define SK_MAX_CPU       1023u

struct sk_config_port {
    uint16_t port;
    const char *device, *name; // name may be null
    uint32_t mtu, queues;      // 0: not given
    bool not_promiscuous;
    bool has_metadata;
    const char *metadata;                         // all of it as one value, or null:
    const struct sk_named_value *metadata_fields; // n_metadata of them
    size_t n_metadata;
};
struct sk_config_record { // what is not given is 0
    const char *file;     // null: nothing is recorded
    uint64_t file_mib, ring_mib;
    unsigned files;
    uint32_t snaplen;
    uint16_t *ports; // n_ports of them; none: all
    size_t n_ports;
};
struct sk_config_alarms {           // 0: not raised (watch/alarms.h)
    uint64_t job_stuck, aggregator; // seconds
    uint64_t queue_drops;           // packets a second
    unsigned table_full;            // per cent
    unsigned flaps;                 // changes within a minute
};
struct sk_config_sampling {
    uint32_t one_in, counts; // packets; seconds between two reports of counts. 0: none
    const char *to;          // as written
    struct sockaddr_storage address;
};
struct sk_config_metrics {
    const char *listen; // as written; null: nothing listens
    struct sockaddr_storage address;
};
#define SK_CONFIG_PAGE_NAMES 16u
struct sk_config_page {
    const char *listen; // as written; null: nothing listens
    struct sockaddr_storage address;
    const char *names[SK_CONFIG_PAGE_NAMES + 1]; // ends with null
    bool trace;                                  // readers may have packets traced
};
struct sk_config_job_service {
    const char *listen; // as written; null: there is none
    struct sockaddr_storage address;
    const char *token_file;
    uint32_t slots;                // of a job whose workers do not say
    uint64_t wait, grace, silence; // seconds
    uint8_t mac[6];                // without a ToR: the switch's addresses
    uint32_t ip;                   // host order
};
// For the published client; without a ToR.
struct sk_config_switchml_jobs {
    const char *listen; // as written; null: there is none
    uint8_t mac[6];
    uint32_t ip; // host order
    uint32_t slots;
    uint16_t udp_port;
    uint64_t wait, grace, silence; // seconds
};
// Of a process that people leave running; what is not given is null or false.
struct sk_config_daemon {
    const char *user;        // whose rights it has when all is open
    bool net_raw, net_admin; // capabilities that stay: for ports that are added later
    unsigned socket_mode;    // of the control socket; 0600
    const char *socket_group, *pid_file, *log_socket;
    const char *const *log; // levels, n_log of them, as Open vSwitch's vlog/set takes them
    size_t n_log;
};
// What requests of the control socket may have: config/rights.h.
struct sk_config_requests {
    const char *const
        *devices; // n_devices kinds that ports may be added of; not given: SK_RIGHTS_DEVICES
    size_t n_devices;
    const char *const *folders; // n_folders that devices may have files and sockets in
    size_t n_folders;
    const char *const *programs; // n_programs folders that programs may be compiled from
    size_t n_programs;
    uint64_t compile_seconds,
        compile_memory; // of a compilation, by the clock and of a processor's; MiB
};
// Of programs without a ToR (control/sessions/sessions.h): the switch's address, and jobs without
// sessions.
struct sk_config_sessions {
    uint8_t mac[6];
    uint32_t ip;           // host order
    bool excepted[2][256]; // SwitchML's and ATP's, by number
};

// One of several programs on a switch.
struct sk_config_program {
    const char *program; // as written in the file
    const char *name;    // null: as its file
    uint8_t pipes;       // bits
};

struct sk_config {
    const char *program;                // as written in the file; null: there are several
    struct sk_config_program *programs; // n_programs, which have all pipes
    size_t n_programs;                  // 0: one
    const char *const *include, *const *define;
    size_t n_include, n_define;
    struct sk_config_port *ports;
    size_t n_ports;
    uint16_t *loopback;
    size_t n_loopback;
    bool has_cpu_port;
    uint16_t cpu_port;
    unsigned pipes, lcores; // given or not, at least 1
    int *cpus;              // n_cpus of them: none, one, or one of each lcore
    size_t n_cpus;
    uint32_t idle_sleep_us;
    const char *control_socket;                // null: none
    const struct sk_config_sessions *sessions; // null: none
    const struct sk_at *libra;                 // an object, to be read by control/libra; null: none
    const struct sk_at *tor; // (json.h) an object, to be read by control/tor; null: none
    struct sk_config_record record;
    struct sk_config_metrics metrics;
    struct sk_config_page page;
    struct sk_config_job_service job_service;
    struct sk_config_switchml_jobs switchml_jobs;
    const char *telemetry; // DPDK's file prefix; null: none
    struct sk_config_sampling sampling;
    struct sk_config_alarms alarms; // with defaults for what is not given
    struct sk_config_daemon daemon;
    struct sk_config_requests requests;
    bool has_clock;
    uint64_t clock;
    double loss;
    uint64_t fault_seed;
    struct sk_config_private *private; // what goes into tables, registers and groups
};

// 'name' is the file's name, for messages. Null after filling 'err'. Looks at everything that can
// be known without the program.
struct sk_config *sk_config_parse(const char *name, const char *text, size_t length,
                                  struct sk_error *err);
// The same of a file that may leave the program out, because it was said elsewhere ('program' is
// null).
struct sk_config *sk_config_parse_part(const char *name, const char *text, size_t length,
                                       struct sk_error *err);
void sk_config_free(struct sk_config *c); // null allowed

// Ports up, loopback, multicast, entries, defaults, registers, value sets, faults: into a fresh
// switch. On failure the switch is half configured and of no use.
int sk_config_apply(const struct sk_config *c, struct sk_switch *sw, struct sk_error *err);
// Whether queues may share buffer pools.
bool sk_config_has_pools(const struct sk_config *c);

#endif
