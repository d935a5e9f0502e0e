// SPDX-License-Identifier: Apache-2.0
//
// allreduce.h: sums over all workers of a job, added up by the switch.
//
// This is the header for applications. A job has n workers, which know each other only through the
// network. Each opens a communicator, and then they reduce tensors: every worker passes its own
// tensor, and gets the elementwise sum of all (SwitchML, NSDI 2021; appendix B describes this
// interface).
//
// PROTOCOLS. SwitchML needs a switch and nothing else. ATP (NSDI 2021) has parameter servers too
// (server.h, `silken server`), which add up what switches did not: so switches of several racks
// take part, and many jobs share their memory. The calls below mean the same with both; what only
// one of them has is said at its place. DLCP needs neither a program in a switch nor servers of its
// own: workers are servers too, or a ring, and switches only decide who waits and who is dropped
// (Wang et al., 2020). There is no exact sum: a bounded part of what is sent may be missing, so THE
// RESULTS MAY DIFFER BETWEEN WORKERS. A sum is that of the gradients that came, times the number of
// workers over theirs; where it does not come back, it is the worker's own gradient times the
// number of workers (appendix A of the paper). A job with bounds of 0 has exact sums, the same at
// all workers of a job with servers but for the order of additions. DLCP reduces floats (f32, and
// f16, bf16 and f64 as such); integers, and so the collective operations but reduce_scatter, end
// with SILKEN_ERR_INVALID. It has no sessions and one lane, whose thread always runs: others may
// wait for this host while it computes. silken_close() serves them for two seconds at most.
//
// BESIDE IT. server.h: a parameter server as a program of one's own; service.h: a worker's place in
// its job, from a switch's job service; error.h: the error codes. dlcp.h: single tensors by DLCP.
// keyvalue.h: the sums of sparse models, by key (Libra); ps.h: the names of PS-lite over that, for
// C++ (ps/ps.h includes it). station.h: hosts of a protocol of one's own in simulator and lab.
//
//      struct silken_config config;
//      struct silken_comm *comm;
//      char why[256];
//
//      silken_config_init(&config);
//      config.rank = 0, config.workers = 4;
//      config.worker_mac = "02:00:00:00:01:00", config.worker_ip = "10.0.0.1";
//      config.switch_mac = "02:00:00:00:00:fe", config.switch_ip = "10.0.0.254";
//      config.device = "net_memif0,role=client,id=0,socket=/tmp/w0.sock";
//      if (silken_open(&comm, &config, why, sizeof why) != 0)
//          say why;
//      silken_allreduce_f32(comm, gradient, gradient, length);
//      silken_close(comm);
//
// ORDER. All workers must reduce the same sequence of tensors: same order, lengths and types. The
// library cannot check that; a job that breaks the rule stalls, or sums the wrong things. Several
// threads may reduce on one communicator; bringing their calls into the same order on every worker
// is the application's task, for instance by having one thread submit.
//
// PROGRESS. By default nothing happens behind the application's back: the protocol runs inside
// silken_allreduce_*(), silken_wait() and silken_test(), in the calling thread; of several waiting
// threads one runs it for all. With `progress_thread` the communicator has a thread of its own, and
// submitted work goes on while the application computes.
//
// LANES. One processor is not enough for a fast network. A communicator with several lanes uses as
// many, each with a device, addresses and a thread of its own. Lanes share nothing, and no packet
// passes from one to another. Lane 0 is run as above, the others by their threads. All workers of a
// job have the same number of lanes. With SwitchML lane i takes the i-th part of every tensor and
// the i-th part of the pool's slots, and the switch sends the results of a lane's slots to that
// lane's ports (in switchml.p4: a multicast group for each lane, chosen by the port at which a
// packet came in). With ATP a tensor goes to one lane as a whole, the one that has been given the
// fewest bytes so far (section 4 of its paper; the first of several, so that all workers choose
// alike); servers have the same number of lanes, and each lane a group to which its parameters are
// sent. The papers let one network card steer packets to its queues by rules. Virtual devices know
// no such rules, so a lane is a device there; on a card that is a virtual function. The kernel's
// sockets know them: with one device "udp:" and `lanes` alone, each of up to 16 lanes has sockets
// of its own at the worker's one address, and a port of the switch, from `switch_port` on. The
// switch answers a slot's packets from the port that they were sent to, and by that the kernel
// gives an answer to the lane that has the slot; to the switch this is one worker, and it needs
// nothing for it. Such a job does not outlive a restart of its switch: its requests end with
// SILKEN_ERR_OVER.
//
// SERVERS. A job of ATP with several parameter servers cuts every tensor into as many parts of
// whole packets, one for each server. What a lane and a server say to each other is a flow; flows
// are numbered lane by lane.
//
// NUMBERS. Floats are sent as 32-bit fixed point numbers. SwitchML chooses a scale for each block
// of k elements from the largest magnitude h that any worker has there. The result is the same bits
// on all workers, and off the exact sum by at most h * n * N / 2^31 and a float's rounding, where N
// is the smallest power of two from n on.
// hosts/core/quantise.h has the details, and says what NaN, infinities and magnitudes from 2^126 do
// (the block becomes NaN). Integers wrap modulo 2^32. ATP's scale is 10^8: the result is off the
// exact sum by at most n / (2 * 10^8) and a float's rounding; packets with a sum that does not fit,
// from 21.47 on, are sent again as floats, and their sums are rounded once. Its integers saturate,
// and a job's tensors are all of one type.
//
// TYPES. silken_allreduce() converts what the wire lacks. f16 and bf16 are added up as f32, and the
// sum (or average) is rounded once, to the nearest of the type: its error is that of f32 above plus
// half a unit in the last place; what is too large becomes an infinity. f64 is rounded to f32
// before: its error is that of f32 plus 2^-24 of each term; terms beyond f32's range become
// infinities. i64 sums are exact: a sum that is not an int64_t ends the call with SILKEN_ERR_RANGE,
// at all workers alike, and 'out' is as it was; a tensor of them takes 12 bytes an element in the
// network, and a job has at most 512 workers. An average is the sum divided by the number of
// workers, rounded once more; integers have none.
//
// FAILURE. A job without progress for `stall_warning_ms` says so, and what it waits for, through
// `log`; without progress for `hard_limit_ms` all its requests end with SILKEN_ERR_STALLED, and the
// communicator can only be closed. No call blocks for ever, unless the limit is 0 (none).
//
// SESSIONS. A job may be started again at any time, in any order of its workers, its servers and
// its switches; whatever an earlier start has left in them, or a worker of it still sends, is in no
// sum. For that, all workers of a job start a *session* together: each joins when it is driven for
// the first time, and nobody sends a value before all have. SwitchML's workers join at the switch's
// control plane, ATP's at the job's first server, which has the switches clear what they have of
// the job. A session ends when a worker begins again: the others' requests end with
// SILKEN_ERR_OVER, and all have to be started again. A worker that cannot join (another process has
// its rank, or the job has another number of workers) gets SILKEN_ERR_REFUSED. A switch that
// forgets a session without a notice, since it was restarted and remembers no jobs, ends it too. In
// all cases 'log' is told why.
//
// RESPAWN. A worker of an ATP job that has failed can be replaced, in another rack too (appendix
// A.3). First all workers that have stayed are told the workers' racks (silken_reshape()), then the
// servers are (silken_server_reshape()), which then say how far each flow has got
// (silken_server_first()). The new worker opens its communicator with that in `atp.first`, and
// submits the job's tensors from the very first on, as all did: those that are complete end at
// once. Of a tensor that is complete in parts, only the rest is reduced; what was complete before
// is not written to `out`, and has to come from another worker.
//
// F16. A SwitchML job whose switch has p4/switchml/halves.p4 sends 16-bit floats: half the bytes.
// All its workers, at most 32, say so (f16). Tensors of f16 go as they are, and the sum is exact
// but for one rounding, as long as no block of k elements has a magnitude of 2 or above; else the
// block is scaled by a power of two, which loses what is smaller than 2^-25 of the scaled numbers.
// Other floats are scaled so that a block's largest is below 1, and rounded to f16: a worker's
// element errs by at most 2^-11 of itself, or 2^-25 of the power of two above the block's largest,
// whichever is more, and so does the sum. bf16 have so few digits that only the second happens to
// them. i32 and i64 are SILKEN_ERR_UNSUPPORTED. Collectives of bytes send each byte as an element.
//
// ROCEV2. A SwitchML job whose switch has p4/switchml/with_roce.p4 can go by RoCEv2, as network
// cards speak it: all its workers have a device "roce:DEVICE", where DEVICE sends and receives
// frames (afpacket:, net_memif..., or the name of an interface). A message of several packets is
// written by a queue pair into the job's slots; its floats have one exponent, so that a block of
// NUMBERS above is a message: 'pool_size' / (lanes * 'rdma.pairs') packets of k elements, 64 at
// most. The errors are the same. Lost packets cost the whole message. The job has no sessions, k is
// 64, 128 or 256, and the switch knows the queue pairs: from its configuration, or its job service.
//
// ENVIRONMENT. silken_open_env() opens a communicator of a SwitchML job by these variables. Empty
// ones are as those that are not set; a value that is not allowed is an error which names the
// variable. In texts %r stands for the rank and %% for %.
//
//      SILKEN_RANK, SILKEN_WORKERS   rank and number of workers; else those of torchrun (RANK,
//                                    WORLD_SIZE), Open MPI (OMPI_COMM_WORLD_RANK, _SIZE), PMI
//                                    (PMI_RANK, PMI_SIZE) or Slurm (SLURM_PROCID, SLURM_NTASKS)
//      SILKEN_CONTROLLER             a job service, which gives addresses, job and slots
//                                    (silken/service.h, with SILKEN_TOKEN or SILKEN_TOKEN_FILE, and
//                                    SILKEN_JOB_NAME); or:
//      SILKEN_SWITCH_IP              the switch's IP address
//      SILKEN_DEVICE                 how to reach it (udp:)
//      SILKEN_SWITCH_MAC, SILKEN_WORKER_IP, SILKEN_WORKER_MAC
//                                    addresses; udp: does not need them
//      SILKEN_SWITCH_PORT, SILKEN_WORKER_PORT
//                                    UDP ports (48864)
//      SILKEN_JOB                    number of the job (0)
//      SILKEN_POOL, SILKEN_K         slots of the job (128), elements in a packet (256)
//      SILKEN_CPU                    processor of DPDK's device, or of the thread (any)
//      SILKEN_LANES                  lanes, with a thread and sockets each, of a device udp: (1)
//      SILKEN_RTO_MIN_US, SILKEN_RTO_MAX_US, SILKEN_RTO_INITIAL_US
//                                    retransmission timeout (20000, 500000, 50000)
//      SILKEN_STALL_WARNING_MS, SILKEN_HARD_LIMIT_MS
//                                    time without progress until a warning and the end (2000,
//                                    30000)
//      SILKEN_PROGRESS_THREAD        1: a thread of its own runs the protocol (0)
//      SILKEN_SESSION                0: without sessions (1)
//      SILKEN_F16                    1: the switch adds 16-bit floats (0)
//      SILKEN_RDMA_PAIRS, SILKEN_RDMA_QUEUE_PAIR
//                                    of a device roce: queue pairs of a lane (8); the number of the
//                                    switch's first one for this worker (0)
//      SILKEN_SEGMENTS               0: a device udp: sends packets one by one (1)
//
// All functions may be called from any thread, except that silken_close() needs all others to be
// done with the communicator and its requests. Results are 0 or an error code
// (hosts/include/silken/error.h).
#ifndef SILKEN_ALLREDUCE_H
#define SILKEN_ALLREDUCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "silken/error.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default) // what libsilken exports

enum silken_protocol { SILKEN_SWITCHML, SILKEN_ATP, SILKEN_DLCP };
// Halves are IEEE 754's binary16, bfloat16 is the upper half of a float: both as uint16_t.
enum silken_type { SILKEN_F32, SILKEN_I32, SILKEN_F16, SILKEN_BF16, SILKEN_F64, SILKEN_I64 };
enum silken_op { SILKEN_SUM, SILKEN_AVERAGE };

struct silken_comm;
struct silken_lease;
struct silken_request;
struct sk_transport;

#define SILKEN_MAX_LANES 64
#define SILKEN_MAX_FLOWS 64

// What is a lane's own. The members mean what they mean in struct silken_config, but 'cpu' is the
// processor of the lane's thread (-1: any of the process).
struct silken_lane {
    const char *worker_mac, *worker_ip;
    uint16_t worker_port;
    const char *device;
    int cpu;
    struct sk_transport *transport;
};

// A station, as "02:00:00:00:01:00" and "10.0.0.1".
struct silken_address {
    const char *mac, *ip;
};

// How far a flow has got: so many fragments of the job are complete, and the next one has this
// number in the packets. The two are the same until a job gets another shape.
struct silken_first {
    uint64_t complete, number;
};

// What only SwitchML by RoCEv2 has (see ROCEV2 above). Queue pair q of lane l has the number
// queue_pair + 64 * l + q at the switch, and own + 64 * l + q here.
struct silken_rdma {
    uint32_t pairs;           // queue pairs of a lane, 1 to 64
    uint32_t queue_pair;      // the switch's first one for this worker: a multiple of 64
    uint32_t own;             // the worker's first one
    uint32_t psn, switch_psn; // numbers of the first packets to the switch and from it
    uint32_t rkey;            // of the worker's memory
};

// What only ATP has. Racks have any numbers; those of the same number are the same.
struct silken_atp {
    enum silken_type type;               // of all tensors of the job
    uint32_t servers;                    // parameter servers; with all lanes at most 64 flows
    const struct silken_address *server; // what lane l sends to server s: [l * servers + s]
    const struct silken_address *group;  // of whose members the worker is: by lane
    const uint32_t *server_rack;         // by server; NULL: all in rack 0
    const uint32_t *rack;                // by worker; NULL: all in rack 0
    bool no_switch;                      // no switch adds up: servers do it all
    uint32_t first_index, indices;       // aggregators in every switch, of all jobs
    uint32_t window, window_max;         // packets of a flow in flight at first, and at most
    const struct silken_first *first;    // see RESPAWN above: by flow; NULL: a new job
};

// What only DLCP has.
struct silken_dlcp_job {
    const struct silken_address *worker; // all workers, by rank
    uint32_t servers;                    // on the first workers' hosts; 0: on all
    bool ring;                           // no servers
    double bound, pull_bound; // shares that may be missing, on the way to servers and back, or in a
                              // ring's two rounds: from 0 to below 1
    uint32_t tensors;         // reduced in an iteration, each in its turn; 0: one
    bool backwards;           // the last layer's comes first, as from a backward pass
    bool paper_threshold;     // what is important is so by the paper's threshold (silken/dlcp.h)
    uint64_t cut_bytes;       // a tensor with more is cut over all servers
    uint32_t link_mbps;       // these as in silken/dlcp.h
    uint16_t first_port, ports;
    uint32_t period_us, burst_us;
};

struct silken_config {
    enum silken_protocol protocol;

    // The job. rank is 0..workers-1: the worker's place in it; workers is the fan-in n. ATP's job
    // is 1..127.
    uint32_t rank;
    uint32_t workers;
    uint8_t job;

    // See SESSIONS above. Without them, whoever starts the workers clears the job's state in
    // switches and servers before, and sees to it that nothing of an earlier start is left
    // running.
    bool no_session;

    // Bytes of this struct that the application knows, from silken_config_init(): later versions of
    // the library have more members, which take their defaults.
    uint16_t size;

    struct silken_atp atp;

    // SwitchML. The switch's pool: slots of the job, and elements of a slot (k: 32, 64, 128 or
    // 256). All workers have the same. pool_size * k elements are in flight; appendix C says how
    // many are useful.
    uint32_t pool_size;
    uint16_t k;

    // Who we are and who the switch is, as "02:00:00:00:01:00" and "10.0.0.1". With a device "udp:"
    // the kernel knows the MAC addresses, which may be NULL then, and 'worker_ip' too: it is the
    // one by which the system sends to the switch, unless the device says it ("udp:10.0.0.1"). The
    // switch's UDP port is 0xbee0..0xbeef. ATP's ports are fixed, and the switch's address is for
    // sessions alone: that of the worker's own rack.
    const char *worker_mac, *worker_ip, *switch_mac, *switch_ip;
    uint16_t worker_port, switch_port;

    // How to reach it: a device string as in hosts/transport/transport.h, opened with 'cpu' as
    // processor (-1: any). Or a transport that is open already, which the communicator then
    // owns.
    const char *device;
    int cpu;
    struct sk_transport *transport;

    // See LANES above. 0 or 1: one lane, with the worker's addresses and the device as given here.
    // Otherwise 'lane' has that many descriptions, and those of this struct are not looked at; or
    // it is NULL, and the lanes share the device, which is "udp:". The pool has at least as many
    // slots.
    uint32_t lanes;
    const struct silken_lane *lane;

    // Bounds of the retransmission timeout, and its first value, in microseconds. It adapts in
    // between, and doubles with each repetition of a packet.
    uint32_t rto_min_us, rto_max_us, rto_initial_us;

    // Time without progress until warning and until giving up, in milliseconds; 0 for never.
    uint32_t stall_warning_ms, hard_limit_ms;

    // See PROGRESS above.
    bool progress_thread;

    // Gets messages, some lines each, ending in '\n'. Called by a thread that runs the protocol, by
    // one at a time; must not call this library. NULL writes to stderr.
    void (*log)(void *log_context, const char *text);
    void *log_context;

    // The worker's place, of a job service (silken/service.h); NULL: it needs none. Taken over by
    // silken_open() on success, and given back by silken_close().
    struct silken_lease *lease;

    struct silken_dlcp_job dlcp;

    // SwitchML without sessions: whoever has made the switch ready has also given it the job's
    // audiences (see COLLECTIVES below). With sessions workers are told.
    bool audiences;

    // SwitchML: the job's switch adds 16-bit floats. See F16 above.
    bool f16;
    // A device "udp:" gives packets to the kernel one by one. Else it gives it those of a burst as
    // one frame, if it can (UDP segmentation offload, Linux 6.2 or later, on an interface with
    // checksums; silken_segments() says whether it does). The kernel, a card or a port of Silken
    // makes packets of it; a switch in software that reads frames from an interface of this machine
    // and does not know such frames needs this setting.
    bool no_segments;

    struct silken_rdma rdma; // of devices roce:
};

// Fills '*config' with the defaults: k 256, 128 slots, job 0, UDP ports 0xbee0, timeouts from 20 ms
// to 500 ms beginning with 50 ms (for processes that share processors; a network with a processor
// for each end wants less), a warning after 2 s, a limit of 30 s; SwitchML, and for ATP one server,
// floats, 65536 aggregators, windows of 200 to 1024 packets; DLCP, servers on all
// hosts, bounds of 10 % and 1 %, tensors cut from 4 MB on, 10 Gbps, one port (50000), reports every
// 200 us; RoCEv2, 8 queue pairs, the worker's from 0x100 on, rkey 0x53494c4b, numbers from 0 on.
// Rank, workers, addresses and device remain to be set.
void silken_config_init_sized(struct silken_config *config, size_t size);
// The function of the same name, for callers without this header's macros, knows the members of
// version 0.
void silken_config_init(struct silken_config *config);
#define silken_config_init(config) silken_config_init_sized((config), sizeof *(config))

// Opens a communicator. Returns 0, SILKEN_ERR_INVALID, SILKEN_ERR_NOMEM or what opening the
// transport gave; then a sentence is in 'why' (of 'why_cap' bytes, may be NULL with 0). Sends
// nothing yet. The strings are not needed afterwards. config->transport is taken over on success
// only.
int silken_open(struct silken_comm **comm, const struct silken_config *config, char *why,
                size_t why_cap);

// See ENVIRONMENT above: fills '*config' by it; what it does not say has its default. The strings
// lie in
// 'texts', of SILKEN_ENV_TEXTS bytes, until the communicator is open. Returns 0 or
// SILKEN_ERR_INVALID with a sentence in 'why' that names the variable. No other thread may change
// the environment meanwhile.
#define SILKEN_ENV_TEXTS 4096
int silken_config_env_sized(struct silken_config *config, size_t size, char *texts, char *why,
                            size_t why_cap);
#define silken_config_env(config, texts, why, why_cap)                                             \
    silken_config_env_sized((config), sizeof *(config), (texts), (why), (why_cap))

// Opens a communicator by the environment alone. Errors as those of both.
int silken_open_env(struct silken_comm **comm, char *why, size_t why_cap);

// Ends a communicator, with requests that have not been waited for. NULL is accepted.
void silken_close(struct silken_comm *comm);

// Reduces 'count' elements and returns when the result is in 'out'. 'in' and 'out' are the same or
// do not overlap. Any count is fine, also 0. Returns 0, SILKEN_ERR_INVALID, SILKEN_ERR_NOMEM,
// SILKEN_ERR_STALLED (gave up; 'out' holds a part), SILKEN_ERR_CLOSED (gave up before).
int silken_allreduce_f32(struct silken_comm *comm, const float *in, float *out, size_t count);
int silken_allreduce_i32(struct silken_comm *comm, const int32_t *in, int32_t *out, size_t count);

// Begins the same and returns at once, with a handle in '*request'. Until the request has ended,
// 'in' must not change and 'out' not be used. Every request must be ended by silken_wait() or
// silken_test(), or with the communicator. Errors as above.
int silken_submit_f32(struct silken_comm *comm, const float *in, float *out, size_t count,
                      struct silken_request **request);
int silken_submit_i32(struct silken_comm *comm, const int32_t *in, int32_t *out, size_t count,
                      struct silken_request **request);

// The same for all types and both operations; see TYPES above. 'in' and 'out' are the same or do
// not overlap, and aligned for the type. An ATP job takes the types that go as its own (i64 as i32,
// other floats as f32). Also SILKEN_ERR_RANGE, and SILKEN_ERR_UNSUPPORTED for the average of
// integers and i64 sums of more than 512 workers.
int silken_allreduce(struct silken_comm *comm, const void *in, void *out, size_t count,
                     enum silken_type type, enum silken_op op);
int silken_submit(struct silken_comm *comm, const void *in, void *out, size_t count,
                  enum silken_type type, enum silken_op op, struct silken_request **request);

// COLLECTIVES. Every worker calls them in the same order among its other calls, with the same
// sizes. Bytes are copied as they are. Where the switch has the job's audiences
// (p4/switchml/README.md; SwitchML with one lane and at most 32 workers) they are its own: a packet
// goes with its elements only from who has some and only to who wants them, and without from and to
// all others. So of a broadcast only the root sends data, and only the others receive it; of an
// all-gather each sends its part; and of a reduce_scatter each receives its part alone. Elsewhere,
// and for reduce_scatter of i64, whose error all workers are to see, each takes one all-reduce of
// the whole result. An ATP job of floats has the third alone: the others go as i32. Errors as
// above.
//
// broadcast       'data' of worker 'root' is everybody's: 'bytes'
// allgather       'out' has 'bytes' of each worker, by rank
// reduce_scatter  'in' has 'count' elements for each worker, by rank; 'out' has the sums of this
//                 worker's
// barrier         returns when all workers have called it
// in_switch       1: they are the switch's own; 0: all-reduces. Joins the job's session to know it,
//                 so all workers call it; or an error
int silken_broadcast(struct silken_comm *comm, void *data, size_t bytes, uint32_t root);
int silken_allgather(struct silken_comm *comm, const void *in, void *out, size_t bytes);
int silken_reduce_scatter(struct silken_comm *comm, const void *in, void *out, size_t count,
                          enum silken_type type, enum silken_op op);
int silken_barrier(struct silken_comm *comm);
int silken_collectives_in_switch(struct silken_comm *comm);

// The communicator's place in its job.
uint32_t silken_rank(const struct silken_comm *comm);
uint32_t silken_workers(const struct silken_comm *comm);

// Push and pull, as training frameworks with parameter servers call them: push begins a sum whose
// result the communicator keeps, pull waits for it and copies it to 'out', of as many elements.
// 'in' must not change in between. A push is ended by the pull of its type, or by silken_wait() or
// silken_test(), which forget the result. Errors as above; SILKEN_ERR_INVALID for the pull of the
// other type or of what was not pushed, and then the request still exists.
int silken_push_f32(struct silken_comm *comm, const float *in, size_t count,
                    struct silken_request **request);
int silken_push_i32(struct silken_comm *comm, const int32_t *in, size_t count,
                    struct silken_request **request);
int silken_pull_f32(struct silken_request *request, float *out);
int silken_pull_i32(struct silken_request *request, int32_t *out);

// Returns when the request has ended, with its result; the handle is gone then.
int silken_wait(struct silken_request *request);

// The same without waiting: SILKEN_ERR_AGAIN while the request runs (it still exists), else its
// result (the handle is gone).
int silken_test(struct silken_request *request);

// The workers are in other racks from now on (see RESPAWN above): rack[workers]. Returns 0,
// SILKEN_ERR_UNSUPPORTED (SwitchML), SILKEN_ERR_INVALID (too many in a rack) or SILKEN_ERR_NOMEM;
// then a sentence is in 'why', of 'why_cap' bytes.
int silken_reshape(struct silken_comm *comm, const uint32_t *rack, char *why, size_t why_cap);

#define SILKEN_IGNORED_KINDS 16

struct silken_stats {
    uint64_t tensors, elements; // reduced
    uint64_t busy_ns;      // time with work in flight, of the lane that had most of it: elements /
                           // busy_ns is the rate
    uint64_t packets_sent; // with retransmissions
    uint64_t retransmissions;
    uint64_t answers;                       // results accepted
    uint64_t ignored[SILKEN_IGNORED_KINDS]; // frames that were not; silken_ignored_name()
    uint64_t losses, timeouts;              // of ATP, as all in this group: reasons of
                                            // retransmissions
    uint64_t overflows;                     // packets sent again as floats
    uint64_t marks;                         // answers that tell of long queues (ECN)
    uint64_t rehashed;                      // aggregators exchanged for others after collisions
    uint64_t rtt_ns, rto_ns;      // smoothed time to an answer; timeout; of the slowest lane
    uint64_t tx_bytes, rx_bytes;  // of frames
    uint64_t tx_full, rx_dropped; // frames the transport had no room for
};

// The counters as of the last piece of progress.
void silken_stats(struct silken_comm *comm, struct silken_stats *stats);

// How many of the frames sent and received so far the kernel got, and gave, together with others
// as one. Both are 0 where something on the way does not do that.
void silken_segments(struct silken_comm *comm, uint64_t *sent, uint64_t *received);

// Name of a protocol's counter of ignored frames; NULL for one not in use.
const char *silken_ignored_name(enum silken_protocol protocol, unsigned kind);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
