// SPDX-License-Identifier: Apache-2.0
//
// switch: a whole soft Tofino: four pipes, a traffic manager, ports.
//
// The switch is driven from outside and does no I/O: packets are put in with sk_switch_rx, run to
// completion (through recirculations and resubmits) by sk_switch_run, and leave through the tx
// callback. The clock is an argument. This is what a port loop, a packet script, a simulator and a
// test all sit on.
//
//     struct sk_switch *sw = sk_switch_new(prog, &(struct sk_switch_options){
//         .tx = my_tx, .aux = me});
//     sk_switch_rx(sw, 5, frame, length, now);
//     sk_switch_run(sw, now);                 // my_tx(me, port, frame, length) for each output
//
// Not thread-safe: one thread at a time (control calls included).
#ifndef SILKEN_PIPELINE_SWITCH_H
#define SILKEN_PIPELINE_SWITCH_H

#include "pipeline/program.h"

// Why a packet did not leave. One list: enumerators, names and counters come from it.
#define SK_DROP_REASONS(X)                                                                         \
    X(PARSER_ERROR, "parser error")                                                                \
    X(INGRESS_DROP, "drop_ctl in ingress")                                                         \
    X(NO_DESTINATION, "no destination set in ingress")                                             \
    X(EGRESS_DROP, "drop_ctl in egress")                                                           \
    X(PORT_DOWN, "egress port not configured or down")                                             \
    X(MCAST_EMPTY, "multicast group without members")                                              \
    X(RESUBMIT_TWICE, "resubmitted a second time")                                                 \
    X(RECIRC_LIMIT, "too many recirculations")                                                     \
    X(TOO_LONG, "longer than a packet buffer")                                                     \
    X(TOO_SHORT, "shorter than an Ethernet header")                                                \
    X(NO_BUFFER, "no packet buffer free")                                                          \
    X(TX_FULL, "port did not take the packet")                                                     \
    X(FAULT, "injected loss")
enum sk_drop_reason {
#define SK_DROP_ENUM(name, text) SK_DROP_##name,
    SK_DROP_REASONS(SK_DROP_ENUM)
#undef SK_DROP_ENUM
        SK_DROP_COUNT
};
const char *sk_drop_text(enum sk_drop_reason r);

struct sk_switch_options {
    // Called for each packet that leaves; the frame is valid during the call only. Returns false
    // when the port could not take it (counted as TX_FULL).
    bool (*tx)(void *aux, uint16_t dev_port, const uint8_t *frame, uint32_t length);
    void *aux;
    uint32_t packet_bytes;      // longest frame; 0 = 9216
    uint32_t n_packets;         // buffers; 0 = 4096
    uint32_t max_recirculation; // passes after which a packet is dropped; 0 = 64
    uint64_t seed;              // of Random externs
    uint16_t cpu_port;          // where copy_to_cpu goes; 0 = 64
};
struct sk_switch;

struct sk_switch *sk_switch_new(const struct sk_program *prog, const struct sk_switch_options *opt,
                                char *error, size_t error_size);
void sk_switch_free(struct sk_switch *sw);

// Copies the frame in; false when it was dropped at once (counted by reason).
bool sk_switch_rx(struct sk_switch *sw, uint16_t dev_port, const uint8_t *frame, uint32_t length,
                  uint64_t now_ns);
// Processes everything inside to completion.
void sk_switch_run(struct sk_switch *sw, uint64_t now_ns);
// The latest time the switch was given: its clock for the control plane.
uint64_t sk_switch_now(const struct sk_switch *sw);

// ---- ports: a packet to a port that is not up is dropped (PORT_DOWN); recirculation ports
// (local 68 of each pipe, and any port set to loopback) need no configuration ----
void sk_switch_port_up(struct sk_switch *sw, uint16_t dev_port, bool up);
bool sk_switch_port_is_up(const struct sk_switch *sw, uint16_t dev_port);
void sk_switch_port_loopback(struct sk_switch *sw, uint16_t dev_port, bool loopback);
bool sk_switch_port_is_loopback(const struct sk_switch *sw, uint16_t dev_port);
// At most SK_RESUBMIT_BYTES bytes, those left out are zero; a Tofino shows the first 8.
void sk_switch_port_metadata(struct sk_switch *sw, uint16_t dev_port, const uint8_t *md,
                             size_t bytes);

// ---- replication engine (tna-facts 5.6) ----
// A node sends one copy per port with its rid. Ids are the caller's. 0 or a negative errno.
int sk_pre_node_set(struct sk_switch *sw, uint32_t node, uint16_t rid, const uint16_t *ports,
                    size_t n_ports);
int sk_pre_node_delete(struct sk_switch *sw, uint32_t node);
struct sk_pre_member {
    uint32_t node;
    bool l1_xid_valid;
    uint16_t l1_xid;
};
int sk_pre_group_set(struct sk_switch *sw, uint16_t mgid, const struct sk_pre_member *members,
                     size_t n_members);
int sk_pre_group_delete(struct sk_switch *sw, uint16_t mgid);
int sk_pre_prune_set(struct sk_switch *sw, uint16_t l2_xid, const uint16_t *ports, size_t n_ports);

struct sk_pre;
const struct sk_pre *sk_switch_pre(const struct sk_switch *sw); // for listings: pipeline/pre.h

// Loses packets at random, on their way in and on their way out, each with probability 'loss' (0 to
// 1; 0 stops it). The same seed loses the same ones.
void sk_switch_faults(struct sk_switch *sw, double loss, uint64_t seed);

// Tells 'o' about every packet from now on (pipeline/trace.h); null: nobody. The switch does not own
// it. Programs report only when they are checked builds.
void sk_switch_observe(struct sk_switch *sw, struct sk_observer *o);

// ---- what is inside ----
const struct sk_program_desc *sk_switch_program(const struct sk_switch *sw);
struct sk_pipe *sk_switch_pipe(struct sk_switch *sw, unsigned pipe);
const struct sk_pipeline_desc *sk_switch_pipeline(const struct sk_switch *sw, unsigned pipe);

struct sk_port_stats {
    uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes, drops[SK_DROP_COUNT];
};
// Received = sent + dropped by reason, where copies made by replication are counted in 'copies'.
struct sk_switch_stats {
    uint64_t rx_packets, tx_packets, copies, recirculated, resubmitted, drops[SK_DROP_COUNT];
};
void sk_switch_port_stats(const struct sk_switch *sw, uint16_t dev_port, struct sk_port_stats *out);
void sk_switch_stats(const struct sk_switch *sw, struct sk_switch_stats *out);
uint32_t sk_switch_buffers_free(const struct sk_switch *sw);
// Packets that a port took in the tx callback and could not send after all: counted as TX_FULL and
// no longer as sent.
void sk_switch_tx_lost(struct sk_switch *sw, uint16_t dev_port, uint64_t packets, uint64_t bytes);

#endif
