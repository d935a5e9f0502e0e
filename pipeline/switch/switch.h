// SPDX-License-Identifier: Apache-2.0
//
// switch: a whole soft Tofino: four pipes, a traffic manager, ports.
//
// The switch is driven from outside and does no I/O: packets are put in with sk_switch_rx, run to
// completion (through recirculations and resubmits) by sk_switch_run, and leave through the tx
// callback. The clock is an argument. A port loop, a packet script, a simulator and a
// test all use this interface.
//
//     struct sk_switch *sw = sk_switch_new(prog, &(struct sk_switch_options){
//         .tx = my_tx, .aux = me});
//     sk_switch_rx(sw, 5, frame, length, now);
//     sk_switch_run(sw, now);                 // my_tx(me, port, frame, length) for each output
//
// The four pipes run on one core, or on up to four, each on the thread of the core it was given to
// (options 'n_cores' and 'core_of'). The state of a core is a struct sk_core (core.h), which
// sk_switch_core() returns; a struct sk_switch is the state of the control plane: the program,
// settings, and the cores. A function on a packet's path takes a core, one of the control plane a
// switch.
//
// Thread-safety: functions that take a switch are for one thread, while no core runs (between two
// runs, with lcores.h's sk_lcores_pause), statistics included.
//
// Files of the engine: of this folder, and of its neighbours, which share switch_impl.h:
//
//     core.h                the state of one lcore, and its input of packets
//     switch.c              cores, pipes and ports, the run loop
//     line.c                copies of 64 bytes in few stores
//     pool.c                packet buffers
//     flows.c               flow records: replaying a pass for similar packets
//     digest.c              messages of programs to the control plane
//     replace.c             replacing the program of a running switch
//     pktgen.c              packet generators
//     path/receive.c        packets that enter a core: one, a burst, frames with a time; a packet's
//                           path continues downwards from here, each file calling only those below
//                           it
//     path/ingress.h        passes of ingress
//     path/egress.h         a pass of egress, after the traffic manager
//     path/send.h           the end of a pass: sent, dropped, or recirculating; send.c
//     path/run.c            runs packets that waited, and timed events
//     tm/tm.c               the traffic manager, between ingress and egress
//     tm/queue.c            queues of ports
//     tm/flow_control.c     a Tofino 2's messages that hold queues and let them go on
//     tm/mirror.c           mirror sessions, and the copies that they make
//     tm/pre.c              multicast: groups and nodes; pre_replicate.c: a packet's copies
//     tm/pre_walk.h         those copies, one after the other
//     tm/switch_pre.c       multicast for callers that only see the switch
//     cores/cores.c         a switch whose pipes run on several cores
//     cores/crossing.c      rings of packets from core to core
//     cores/lcores.c        the threads that run the cores, and their pauses
//     cores/isolated.c      isolated pipes, in the switch's clock
//     observe/tell.c        the engine's own events
//     observe/tracer.c      an observer that prints: tracer_text.c for people, tracer_json.c as
//                           JSON
//     observe/tracer_events.h  events and their values in pieces, for those who print them
//     observe/violations.c  an observer that collects the violations of a checked build
//     observe/recorder.c    frames copied aside into shared memory
//     observe/recorder_read.c  frames read from there
//     observe/trap.c        stops single packets before they are processed
#ifndef SILKEN_PIPELINE_SWITCH_SWITCH_H
#define SILKEN_PIPELINE_SWITCH_SWITCH_H

#include "pipeline/switch/pool.h"
#include "pipeline/program.h"

// Why a packet did not leave. One list: enumerators, names and counters come from it. A program
// that takes packets in (adds them into a sum, say) marks the action in which it does,
// @silken_consumes: dropped by drop_ctl then, they are CONSUMED, behind INGRESS_DROP here
// (sk_ingress_drop), and no loss. One that comes to a register a second time in a pass, where the
// compiler could not exclude that, is dropped there: TWICE.
#define SK_DROP_REASONS(X)                                                                         \
    X(PARSER_ERROR, "parser error")                                                                \
    X(INGRESS_DROP, "drop_ctl in ingress")                                                         \
    X(CONSUMED, "consumed in ingress")                                                             \
    X(TWICE, "register reached twice in ingress")                                                  \
    X(NO_DESTINATION, "no destination set in ingress")                                             \
    X(EGRESS_DROP, "drop_ctl in egress")                                                           \
    X(EGRESS_TWICE, "register reached twice in egress")                                            \
    X(PORT_DOWN, "port not configured or down")                                                    \
    X(MCAST_EMPTY, "multicast group without members")                                              \
    X(RESUBMIT_TWICE, "resubmitted a second time")                                                 \
    X(RESUBMIT_PORT, "resubmitted from a port that cannot")                                        \
    X(RECIRC_LIMIT, "too many recirculations or mirrors of mirrors")                               \
    X(TOO_LONG, "longer than a packet buffer or its port allows")                                  \
    X(TOO_SHORT, "shorter than an Ethernet header")                                                \
    X(ROCE_CRC, "invariant CRC of RoCEv2 wrong or not there")                                      \
    X(NO_BUFFER, "no packet buffer free")                                                          \
    X(TX_FULL, "port did not take the packet")                                                     \
    X(FAULT, "injected loss")                                                                      \
    X(MIRROR_OFF, "mirror session not enabled")                                                    \
    X(QUEUE_FULL, "egress queue full")                                                             \
    X(SHARE_FULL, "egress queue has its share of its buffer pool")                                 \
    X(PORT_FULL, "egress port full")                                                               \
    X(POOL_FULL, "buffer pool full")                                                               \
    X(CROSSING_FULL, "core of the egress port's pipe is too slow")                                 \
    X(STOPPED, "still in a queue when the switch stopped")
enum sk_drop_reason {
#define SK_DROP_ENUM(name, text) SK_DROP_##name,
    SK_DROP_REASONS(SK_DROP_ENUM)
#undef SK_DROP_ENUM
        SK_DROP_COUNT
};
_Static_assert(SK_DROP_CONSUMED == SK_DROP_INGRESS_DROP + 1 &&
                   SK_DROP_TWICE == SK_DROP_INGRESS_DROP + 2 &&
                   SK_DROP_EGRESS_TWICE == SK_DROP_EGRESS_DROP + 1,
               "these add");
_Static_assert(SK_WISH_TWICE == SK_WISH_CONSUMED << 1, "one number of two bits");
// Of a packet that drop_ctl drops in ingress, by what it wished; a test would be one more branch on
// most packets' way. 'consumed' and 'twice' are not both set.
static inline enum sk_drop_reason sk_ingress_drop(uint64_t w) {
    return (enum sk_drop_reason)(SK_DROP_INGRESS_DROP + (w / SK_WISH_CONSUMED & 3));
}
static inline enum sk_drop_reason sk_ingress_drop_out(const struct sk_ingress_out *out) {
    return (enum sk_drop_reason)(SK_DROP_INGRESS_DROP + out->consumed + 2 * out->twice);
}
// Of one that drop_ctl drops in egress.
static inline enum sk_drop_reason sk_egress_drop(bool twice) {
    return (enum sk_drop_reason)(SK_DROP_EGRESS_DROP + twice);
}
const char *sk_drop_text(enum sk_drop_reason r);
// Why a queue does not take a packet: the reasons from QUEUE_FULL to POOL_FULL.
#define SK_QUEUE_DROPS 4u
_Static_assert(SK_DROP_POOL_FULL == SK_DROP_QUEUE_FULL + SK_QUEUE_DROPS - 1, "they are neighbours");
// Of counts by reason those.
static inline uint64_t sk_queue_drops(const uint64_t drops[SK_DROP_COUNT]) {
    uint64_t n = 0;
    for (unsigned i = 0; i < SK_QUEUE_DROPS; i++)
        n += drops[SK_DROP_QUEUE_FULL + i];
    return n;
}

struct sk_switch_options {
    // Called for each packet that leaves; the frame is valid during the call only. Returns false
    // when the port could not take it (counted as TX_FULL).
    bool (*tx)(void *aux, uint16_t dev_port, const uint8_t *frame, uint32_t length);
    void *aux;
    uint32_t packet_bytes;      // longest frame; 0 = 9216
    uint32_t n_packets;         // buffers of each core; 0 = 4096
    uint32_t max_recirculation; // passes after which a packet is dropped; 0 = 64
    uint64_t seed;              // of Random externs
    // Of the hashes of its tables (sk_table_use_secret); 0: none. Where strangers send packets, a
    // number that they cannot know.
    uint64_t hash_secret;
    uint16_t cpu_port; // where copy_to_cpu goes; 0 = 64, on a Tofino 2 port 2
    // Every 9-bit number is a port, not only the 72 that a pipe of the chip has: for packet scripts
    // written by generators that draw port numbers at random.
    bool any_port;
    // Ports cut a host's large frames into their packets and join none (sk_core_is_single).
    bool single_packets;
    uint32_t n_cores;          // 0 = 1
    uint8_t core_of[SK_PIPES]; // which core runs the pipe; each core runs one at least
    // Not 0: the pipes are isolated, each on a core, and a packet for another pipe's port is there
    // so many ns later, whatever threads run them (core.h).
    uint32_t crossing_ns;
};
struct sk_switch;
struct sk_core;

struct sk_switch *sk_switch_new(const struct sk_program *prog, const struct sk_switch_options *opt,
                                char *error, size_t error_size);
void sk_switch_free(struct sk_switch *sw);
// The program of 'with', with what its pipes have in tables and registers, becomes that of 'sw',
// which else stays as it is, with its ports, multicast, mirror sessions and counts; 'with' has the
// old one then. What waits in queues is dropped (STOPPED), digests that were not read are gone.
// False with a sentence: nothing changed.
bool sk_switch_replace(struct sk_switch *sw, struct sk_switch *with, uint64_t now_ns, char *error,
                       size_t error_size);
// Exchanges what controllers set that belongs to no program: multicast, mirror sessions, metadata
// of ports, the CPU's port. In a pause.
void sk_switch_exchange_settings(struct sk_switch *sw, struct sk_switch *with);
// A 'tx' that takes every frame and forgets it.
bool sk_tx_nowhere(void *aux, uint16_t dev_port, const uint8_t *frame, uint32_t length);

// Of a switch on one core: sk_core_rx and sk_core_run of that.
bool sk_switch_rx(struct sk_switch *sw, uint16_t dev_port, const uint8_t *frame, uint32_t length,
                  uint64_t now_ns);
void sk_switch_run(struct sk_switch *sw, uint64_t now_ns);
// From here on packets live in buffers of somebody else's, who also sends them ('buffers' stays the
// caller's and must outlive its use; tx is not called any more); null: that has an end, and the
// switch keeps one buffer of its own. What is still inside is dropped (STOPPED). False when memory
// is short; then nothing has changed.
bool sk_switch_use_buffers(struct sk_switch *sw, const struct sk_buffers *buffers);
// ---- several cores ----
unsigned sk_switch_cores(const struct sk_switch *sw);
// It is the switch's.
struct sk_core *sk_switch_core(struct sk_switch *sw, unsigned core);
unsigned sk_switch_core_of(const struct sk_switch *sw, unsigned pipe);
// Runs all cores, on this thread, until no packet is between two of them.
void sk_switch_settle(struct sk_switch *sw, uint64_t now_ns);
// The end: settles, and drops what waits in queues (STOPPED). Nothing is inside then.
void sk_switch_stop(struct sk_switch *sw, uint64_t now_ns);

// The latest time the switch was given: its clock for the control plane.
uint64_t sk_switch_now(const struct sk_switch *sw);

// ---- ports: a packet to a port that is not up is dropped (PORT_DOWN); recirculation ports
// (sk_port_is_internal, and any port set to loopback) need no configuration ----
void sk_switch_port_up(struct sk_switch *sw, uint16_t dev_port, bool up);
bool sk_switch_port_is_up(const struct sk_switch *sw, uint16_t dev_port);
void sk_switch_port_loopback(struct sk_switch *sw, uint16_t dev_port, bool loopback);
bool sk_switch_port_is_loopback(const struct sk_switch *sw, uint16_t dev_port);
// The longest frame that the port sends, and the longest of those that begin with a tag of 802.1Q,
// at most packet_bytes: longer ones are dropped (TOO_LONG). 'tagged' is not less than 'bytes'.
void sk_switch_port_longest(struct sk_switch *sw, uint16_t dev_port, uint32_t bytes,
                            uint32_t tagged);
// At most SK_RESUBMIT_BYTES bytes, those left out are zero; a Tofino shows the first 8.
void sk_switch_port_metadata(struct sk_switch *sw, uint16_t dev_port, const uint8_t *md,
                             size_t bytes);
const uint8_t *sk_switch_port_metadata_of(const struct sk_switch *sw,
                                          uint16_t dev_port); // SK_RESUBMIT_BYTES

// ---- replication engine (tna-facts 5.6; pipeline/tm/pre.h says what these mean and return) ----
#define SK_PRE_LAGS       255u
#define SK_PRE_ECMP_SLOTS 32u
#define SK_PRE_NO_NODE    UINT32_MAX // an empty slot of an ECMP group
struct sk_pre_lag {
    const uint16_t *ports;
    size_t n_ports;
    uint16_t left, right; // members on other switches: on the side of the hash's upper, lower end
};
struct sk_pre_member {
    uint32_t node; // or, with 'ecmp', the ECMP group
    bool ecmp;
    bool l1_xid_valid;
    uint16_t l1_xid;
};
int sk_pre_node_set(struct sk_switch *sw, uint32_t node, uint16_t rid, const uint16_t *ports,
                    size_t n_ports); // without LAGs
int sk_pre_node_set_lags(struct sk_switch *sw, uint32_t node, uint16_t rid, const uint16_t *ports,
                         size_t n_ports, const uint8_t *lags, size_t n_lags);
int sk_pre_node_delete(struct sk_switch *sw, uint32_t node);
int sk_pre_ecmp_set(struct sk_switch *sw, uint32_t ecmp, const uint32_t *nodes, size_t n_nodes);
int sk_pre_ecmp_delete(struct sk_switch *sw, uint32_t ecmp);
int sk_pre_lag_set(struct sk_switch *sw, uint8_t lag, const struct sk_pre_lag *as);
int sk_pre_group_set(struct sk_switch *sw, uint16_t mgid, const struct sk_pre_member *members,
                     size_t n_members);
int sk_pre_group_delete(struct sk_switch *sw, uint16_t mgid);
int sk_pre_prune_set(struct sk_switch *sw, uint16_t l2_xid, const uint16_t *ports, size_t n_ports);
void sk_pre_global_rid(struct sk_switch *sw, uint16_t rid);
struct sk_pre_device {
    uint16_t global_rid;
    bool no_protection; // a port that is down is not replaced by its backup port
    bool no_failover;   // nor a member of a LAG that is down by another
};
void sk_pre_device_set(struct sk_switch *sw, const struct sk_pre_device *as);
// Where multicast copies go while 'port' is down; the port itself: nowhere else.
int sk_pre_backup_set(struct sk_switch *sw, uint16_t port, uint16_t backup);
// Whether multicast treats the port as up, when it is.
void sk_pre_port_forward(struct sk_switch *sw, uint16_t port, bool forward);
bool sk_pre_port_forwards(const struct sk_switch *sw, uint16_t port);

struct sk_pre;
const struct sk_pre *sk_switch_pre(const struct sk_switch *sw); // for listings: pipeline/tm/pre.h

// ---- mirror sessions (tna-facts 5.5) ----
#define SK_MIRROR_LAST 1014u // session ids are 1 to this
#define SK_MIRROR_IN   1u    // directions
#define SK_MIRROR_OUT  2u
struct sk_mirror_session {
    bool enabled;
    uint8_t direction; // SK_MIRROR_IN, SK_MIRROR_OUT or both
    bool ucast_valid, mcast_a_valid, mcast_b_valid, copy_to_cpu, deflect_on_drop;
    uint16_t ucast_port, mcast_grp_a, mcast_grp_b;
    uint8_t qid, cos, color, icos_for_copy_to_cpu;
    uint16_t level1_mcast_hash, level2_mcast_hash, level1_exclusion_id, level2_exclusion_id, rid;
    uint16_t max_pkt_len; // bytes of mirror header and packet; 0: all
    // Tofino 2: taken from what the deparser says (names of the driver). With epipe_cfg the port,
    // if the deparser gives one, and the queue; with mc_cfg the groups only if
    // mirror_multicast_ctrl is 1; hash_cfg replaces the second hash, or with hash_cfg_p the first.
    bool hash_cfg, hash_cfg_p, icos_cfg, dod_cfg, mc_cfg, epipe_cfg;
};
// -EINVAL: no such session or a field out of range.
int sk_mirror_set(struct sk_switch *sw, uint16_t session, const struct sk_mirror_session *as);
// Zeros when it was never set. Null: no such session.
const struct sk_mirror_session *sk_mirror_get(const struct sk_switch *sw, uint16_t session);

// ---- digests (tna-facts 4.11) ----
// Each pipe keeps its last SK_DIGEST_QUEUE digests. Any number of readers see them all, in the
// order in which they were made; one that is too slow loses the oldest ones and is told how many.
// Reading needs no pause: the thread of the control plane may read while cores run. Digests of
// pipes on different cores can then come in another order than that of their times, by as much as
// passes between two reads.
#define SK_DIGEST_QUEUE 4096u
struct sk_digest {
    const struct sk_digest_desc *desc;
    uint8_t pipe;
    uint64_t time_ns; // of the packet's ingress
    uint8_t data[SK_DIGEST_BYTES];
};
struct sk_digest_reader {
    uint64_t next[SK_PIPES], lost;
};
// Whether there is something to read, or was lost; also while cores run.
bool sk_digest_waits(const struct sk_switch *sw, const struct sk_digest_reader *r);
// Starts with what comes from now on.
void sk_digest_reader_init(const struct sk_switch *sw, struct sk_digest_reader *r);
// False when there is none; else fills 'out', whose description stays valid as long as the program.
// Also while cores run.
bool sk_digest_read(const struct sk_switch *sw, struct sk_digest_reader *r, struct sk_digest *out);
// Field 'i' of a digest: sk_words(width) words, least significant first.
void sk_digest_field(const struct sk_digest *d, uint32_t i, uint64_t *words);

// ---- queues (tna-facts 5.7; pipeline/tm/queue.c) ----
// A port with a speed sends one packet after another, as the clock goes on. Depths count the cells
// (80 bytes, of a Tofino 2 176) of one queue (qid) of the port. Of the queues that have something
// the highest priority goes first; queues of one priority share what is left by their weights, and
// each keeps its packets' order.
//
// Whether a packet is taken is found in this order, with the cells that were there before it:
//   its queue's limit for its colour: a depth from which on it is not taken      QUEUE_FULL
//   cells that are guaranteed to its queue: what they hold counts nowhere else
//   the rest counts for the port, which has a limit                              PORT_FULL
//   and in the queue's pool, which has limits for colours, too, and a size       POOL_FULL
//   of which the queue may have a share of what is free                          SHARE_FULL
// A port's limit, a pool's size and a share are never exceeded; a queue's and a pool's limits for
// colours are by less than a packet, as on the chip. 0 is no limit.
#define SK_PORT_QUEUES    128u // of a port; a Tofino has 32, a Tofino 2 128
#define SK_PRIORITIES     8u   // 7 is the highest
#define SK_WEIGHT_HIGHEST 1023u
#define SK_COLORS         3u // green, yellow (the chip's 1 and 2), red
static inline const char *sk_color_text(unsigned color) {
    return color == 0 ? "green" : color == 1 ? "yellow" : "red";
}

// A pool of cells that queues of any port share: an application pool of the chip's egress. Each has
// two bits of app_pool_congest_stat, the first pool the lowest.
#define SK_APP_POOLS 4u
struct sk_app_pool {
    uint32_t cells;                                // 0: the pool is not there, and takes nothing
    uint32_t limit_red, limit_yellow, limit_green; // 'cells' is the highest
};
// -EINVAL: no such pool, or limits that do not ascend. What its queues hold stays theirs.
int sk_switch_app_pool(struct sk_switch *sw, unsigned pool, const struct sk_app_pool *as);
void sk_switch_app_pool_get(const struct sk_switch *sw, unsigned pool, struct sk_app_pool *out);
// Cells in use; also while cores run.
uint32_t sk_switch_app_pool_used(const struct sk_switch *sw, unsigned pool);
// Whether some queue is to use the pool.
bool sk_switch_app_pool_has_queues(const struct sk_switch *sw, unsigned pool);

struct sk_queue_limits {
    uint32_t red, yellow, green;
};
// A queue's share is at most 2^(share - 7) of the cells that are free in its pool, the chip's
// dynamic factor: 1/64 (1), 1/32 ... 1 (7), 2 (8), 4 (9); 0: as many as there are. A queue with at
// most 'base' cells of the pool is not asked for its share.
#define SK_SHARE_HIGHEST 9u
struct sk_queue_buffer {
    uint32_t guaranteed; // cells
    bool pooled;
    uint8_t pool, share; // with 'pooled'
    uint32_t base;       // with a share: cells of the pool that it does not limit
};
struct sk_queue_schedule {
    uint8_t priority;
    bool xoff;                   // a Tofino 2's adv_flow_ctl holds the queue, and lets it go on
    uint8_t pg_queue;            // with xoff: which of its port group's queues a message calls it
    uint16_t weight;             // 0: SK_WEIGHT_HIGHEST
    bool own_limits, own_buffer; // these hold, in place of the port's
    struct sk_queue_limits limits;
    struct sk_queue_buffer buffer;
};
// What the driver calls a port's queue when it has divided the group's 128 among its 8 ports: of
// qid 0 to 15.
#define SK_PG_QUEUES_OF_PORT       16u
#define SK_PG_QUEUE(dev_port, qid) ((uint8_t)(((dev_port) % 8) * SK_PG_QUEUES_OF_PORT + (qid)))
struct sk_port_queue {
    uint32_t speed_mbps; // 0: takes packets as they come, whatever the clock
    uint32_t limit_red, limit_yellow, limit_green; // of each queue without own_limits
    struct sk_queue_buffer buffer;                 // of each queue without own_buffer
    uint32_t limit; // cells that all queues hold together beyond what is guaranteed to them
    struct sk_queue_schedule schedule[SK_PORT_QUEUES]; // by qid
};
// -EINVAL: limits that do not ascend, a priority, weight, pool or share that is too high. -EEXIST:
// another queue of the port group has the pg_queue. -ENOTSUP: pipes are isolated, and ports of
// two would share a pool. -ENOMEM. Packets that wait stay in their queues, whatever the new limits;
// a queue without xoff is not held.
int sk_switch_port_queue(struct sk_switch *sw, uint16_t dev_port, const struct sk_port_queue *q);
void sk_switch_port_queue_get(const struct sk_switch *sw, uint16_t dev_port,
                              struct sk_port_queue *out);
// The bytes of a cell.
uint32_t sk_switch_cell_bytes(const struct sk_switch *sw);
// Cells that wait in a queue of the port now; 0 for a queue that there is not.
uint32_t sk_switch_port_depth(const struct sk_switch *sw, uint16_t dev_port, unsigned qid);
// Packets that came to a queue since the switch began: taken + refused; taken = left
// + those that wait. A packet that was refused is dropped, or deflected if it asks for that.
// False: the port has no such queue, or never had a speed or flow control.
struct sk_queue_counts {
    uint64_t taken, left;
    uint64_t refused[SK_COLORS][SK_QUEUE_DROPS]; // by reason, from QUEUE_FULL on
};
bool sk_switch_queue_counts(const struct sk_switch *sw, uint16_t dev_port, unsigned qid,
                            struct sk_queue_counts *out);
// Whether adv_flow_ctl holds the queue now.
bool sk_switch_port_held(const struct sk_switch *sw, uint16_t dev_port, unsigned qid);
// The port and queue for packets with deflection whose queue is full; SK_PORT_INVALID: none, they
// are dropped.
void sk_switch_deflect_to(struct sk_switch *sw, uint16_t dev_port, uint8_t qid);
// An internal port becomes one like others, with something attached to it: for packet scripts.
void sk_switch_port_external(struct sk_switch *sw, uint16_t dev_port);
// Recirculates without being configured.
bool sk_switch_port_is_internal(const struct sk_switch *sw, uint16_t dev_port);
// The port that receives the packets of copy_to_cpu.
void sk_switch_cpu_port(struct sk_switch *sw, uint16_t dev_port);
uint16_t sk_switch_cpu_port_of(const struct sk_switch *sw);

// ---- packet generator (tna-facts 2.9, 5.8; pipeline/switch/pktgen.c) ----
#define SK_PKTGEN_APPS   16u // of a Tofino 2; a Tofino has the first 8
#define SK_PKTGEN_MASKS  2u  // of ports, for each pipe of a Tofino 2
#define SK_PKTGEN_BUFFER 16384u
enum sk_pktgen_trigger {
    SK_PKTGEN_ONE_SHOT,
    SK_PKTGEN_PERIODIC,
    SK_PKTGEN_PORT_DOWN,
    SK_PKTGEN_RECIRCULATION,
};
struct sk_pktgen_app {
    bool enabled;
    enum sk_pktgen_trigger trigger;
    uint64_t timer_ns;         // timers: from enabling to the first packet, and between periods
    uint32_t pattern, mask;    // recirculation: of the packet's first four bytes
    uint16_t length, offset;   // of the packet, in the buffer
    uint32_t batches, packets; // batches, packets in each: at least 1, at most 65536
    uint32_t batch_gap_ns, packet_gap_ns; // from the start of one to the start of the next
    // Local number of the port they come from: 68 to 71; on a Tofino 2 one below 8 that
    // recirculates.
    uint8_t source_port;
    uint8_t port_mask; // port down, of a Tofino 2: which of the masks says whose
};
#define SK_PKTGEN_USUAL 0xffu // as source_port: 68, on a Tofino 2 port 6
struct sk_pktgen_counts {
    uint64_t triggers, batches, packets;
};
// Setting an application that is enabled starts it again at 'now_ns'. -EINVAL: something out of
// range; -ENOTSUP: recirculation on a Tofino 2.
int sk_pktgen_set(struct sk_switch *sw, unsigned pipe, unsigned app, const struct sk_pktgen_app *as,
                  uint64_t now_ns);
void sk_pktgen_get(const struct sk_switch *sw, unsigned pipe, unsigned app,
                   struct sk_pktgen_app *as, struct sk_pktgen_counts *counts);
void sk_pktgen_put_counts(struct sk_switch *sw, unsigned pipe, unsigned app,
                          const struct sk_pktgen_counts *counts);
// Of a pipe's internal ports, by local number less 68 (on a Tofino 2: by local number): which
// generate packets and which look for patterns, one bit each.
struct sk_pktgen_ports {
    uint8_t generate, match;
};
// All do, and each port that goes down triggers, until this is called; from then on a port triggers
// once after each sk_pktgen_clear_down(), as on the chip. -EINVAL: no such pipe; -ENOMEM.
int sk_pktgen_gate(struct sk_switch *sw, unsigned pipe, struct sk_pktgen_ports ports);
// As the last call said; none before the first.
struct sk_pktgen_ports sk_pktgen_ports(const struct sk_switch *sw, unsigned pipe);
int sk_pktgen_clear_down(struct sk_switch *sw, uint16_t port);
bool sk_pktgen_is_clear(const struct sk_switch *sw, uint16_t port);
// How many applications a pipe of this switch has.
unsigned sk_pktgen_apps(const struct sk_switch *sw);
// The local ports of a pipe whose fall triggers the applications that name this mask, a bit each;
// all at first. -EINVAL: no such pipe or mask; -ENOMEM.
int sk_pktgen_set_mask(struct sk_switch *sw, unsigned pipe, unsigned mask, const uint64_t ports[2]);
void sk_pktgen_mask(const struct sk_switch *sw, unsigned pipe, unsigned mask, uint64_t ports[2]);
// What triggers a pipe's port-down applications when one of them is enabled: nothing, all ports
// that went down and still are, or those of them that have triggered nothing. -EINVAL: no such
// pipe; -ENOMEM.
enum sk_pktgen_replay { SK_PKTGEN_REPLAY_NONE, SK_PKTGEN_REPLAY_ALL, SK_PKTGEN_REPLAY_MISSED };
int sk_pktgen_set_replay(struct sk_switch *sw, unsigned pipe, enum sk_pktgen_replay replay);
enum sk_pktgen_replay sk_pktgen_replay(const struct sk_switch *sw, unsigned pipe);
// The buffer's SK_PKTGEN_BUFFER bytes; null: never written, all zero.
const uint8_t *sk_pktgen_bytes(const struct sk_switch *sw, unsigned pipe);
// From now on no packets are generated.
void sk_pktgen_end(struct sk_switch *sw);
// Whether there is a packet generator that was configured.
bool sk_pktgen_any(const struct sk_switch *sw);
// -EINVAL: outside of the buffer.
int sk_pktgen_buffer(struct sk_switch *sw, unsigned pipe, uint32_t offset, const uint8_t *bytes,
                     uint32_t length);

// Loses packets at random, on their way in and on their way out, each with probability 'loss' (0 to
// 1; 0 stops it). The same seed loses the same ones.
void sk_switch_faults(struct sk_switch *sw, double loss, uint64_t seed);

// ---- what is inside ----
const struct sk_program_desc *sk_switch_program(const struct sk_switch *sw);
struct sk_pipe *sk_switch_pipe(struct sk_switch *sw, unsigned pipe);
const struct sk_pipeline_desc *sk_switch_pipeline(const struct sk_switch *sw, unsigned pipe);
// Is its program one for a Tofino 2?
bool sk_switch_is_tofino_2(const struct sk_switch *sw);

struct sk_port_stats {
    uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes, drops[SK_DROP_COUNT];
};
// Received + copies + generated = sent + dropped by reason + waiting inside. 'copies' are made by
// replication and mirroring, 'mirrored' says how many of them were asked for by mirrors.
struct sk_switch_stats {
    uint64_t rx_packets, tx_packets, copies, recirculated, resubmitted, drops[SK_DROP_COUNT];
    uint64_t mirrored, generated, digests;
};
void sk_switch_port_stats(const struct sk_switch *sw, uint16_t dev_port, struct sk_port_stats *out);
void sk_switch_stats(const struct sk_switch *sw, struct sk_switch_stats *out);
// Packets that were sent as one like them before was, without running the program
// (pipeline/switch/flows.h).
uint64_t sk_switch_remembered(const struct sk_switch *sw);
// Of all cores.
uint32_t sk_switch_buffers_free(const struct sk_switch *sw);
// Buffers that are in use: packets that wait inside. Counted by the buffers, so that the equation
// above is a check.
uint32_t sk_switch_inside(const struct sk_switch *sw);
// Whether a packet that came before 'time' (ns, of which 48 bits count, as in mac_tstamp) waits
// inside for another pass through ingress. While nobody runs the switch. Who has written an entry
// that stops packets of some kind at their arrival asks again and again until there is none: then
// those that had passed are through, too.
bool sk_switch_passes_since(const struct sk_switch *sw, uint64_t time);
#endif
