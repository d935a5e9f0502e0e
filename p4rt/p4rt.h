// SPDX-License-Identifier: Apache-2.0
//
// p4rt: the P4Runtime service of a running switch (P4Runtime specification 1.4), by gRPC.
//
//     struct p4rt *p = p4rt_new(b, 1, &host);        // 'b' has the program's tables (brt/brt.h)
//     p4rt_run_program(p, p4info, &err);             // after brt_run_program(), each time
//     p4rt_listen(p, &(struct brt_listen_options){.address = "127.0.0.1:9559"}, &err);
//     poll() until p4rt_fd(p) is readable or p4rt_due(p) has come; then p4rt_poll(p, now);
//
// A client opens a stream and sends an election id; of those with one role, the client with the
// highest id that was ever seen is primary, and only it writes. Everybody reads. Ids are those of
// the P4Info that the compiler wrote. Entries are written to all pipes, by the functions that BF
// Runtime's service writes with (brt/change.h): both see the same tables.
//
// Nothing that a client sends becomes a path or is run.
//
// Thread-safety: the control thread. Packets wait while entries are written or what packets change
// is read, in slices (control/tables/pauses.h).
//
// Files:
//
//     p4runtime.proto   the messages; p4info.proto: a program's description
//     server.c          the service on a socket (rpc/rpc.h)
//     service.c         its calls: bytes in, bytes out (service.h)
//     clients.c         streams, roles and who is primary
//     program.c         GetForwardingPipelineConfig and its like
//     info.c            the program's objects by their ids
//     prototext.c       protobuf's text format
//     bytestring.c      values between the wire and words
//     translate.c       values whose type is translated: clients' numbers of ports
//     entry.c           entries of tables, as messages and back
//     cells.c           counters, meters and registers
//     groups.c          members and groups of action profiles
//     sets.c            sets of actions in entries, which become members and groups
//     watch.c           ports that members and actions of sets watch
//     replicas.c        multicast groups and clone sessions
//     metadata.c        what clients keep beside entries
//     update.c          writes
//     clear.c           everything as at the program's start
//     answer.c          reads
//     tell.c            sends digests, idle entries and packets to clients
#ifndef SILKEN_P4RT_P4RT_H
#define SILKEN_P4RT_P4RT_H

#include "brt/brt.h"

// What the process does for it. 'aux' goes to each.
struct p4rt_host {
    // The switch receives a copy of the frame at its CPU port. False: it has no CPU port, or no
    // room. Null: packets from clients are refused.
    bool (*packet_out)(void *aux, const uint8_t *frame, uint32_t length);
    void *aux;
    // What clients call ports, each once, at most SK_PORTS; none: they call them as the chip does.
    // Copied.
    const struct p4rt_port_id {
        uint32_t id; // as "id" of "p4runtime" in a configuration
        uint16_t port;
    } * ports;
    size_t n_ports;
};

struct p4rt;

// 'b' is used and must outlive it. 'device' is the id by which clients name the switch, not 0.
struct p4rt *p4rt_new(struct brt *b, uint64_t device, const struct p4rt_host *host);
// The program of 'b' has this P4Info, in protobuf's text format. -1 with a sentence: calls are
// refused until there is a program again.
int p4rt_run_program(struct p4rt *p, const char *p4info, struct sk_error *err);
// What the switch has to tell.
bool p4rt_wants_digests(const struct p4rt *p);
void p4rt_digests(struct p4rt *p, const struct sk_digest *digests, size_t n);
bool p4rt_wants_idle(const struct p4rt *p);
void p4rt_idle(struct p4rt *p, const struct sk_idle_event *event);
// A frame that the program sent to the CPU port.
void p4rt_packet(struct p4rt *p, const uint8_t *frame, uint32_t length);
uint64_t p4rt_lost(const struct p4rt *p); // messages that a client did not take in time
void p4rt_free(struct p4rt *p);           // null allowed; ends all calls

// A P4Info in protobuf's text format, as the compiler writes it, in the binary one: '*n' bytes,
// which the caller frees; null with a sentence. Any thread.
uint8_t *p4rt_info_binary(const char *p4info, size_t *n, struct sk_error *err);

// ---- on a socket, as of struct brt ----
int p4rt_listen(struct p4rt *p, const struct brt_listen_options *options, struct sk_error *err);
int p4rt_fd(const struct p4rt *p);
uint64_t p4rt_due(const struct p4rt *p);
void p4rt_poll(struct p4rt *p, uint64_t now_ns);
uint16_t p4rt_port(const struct p4rt *p);

#endif
