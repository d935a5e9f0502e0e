// SPDX-License-Identifier: Apache-2.0
//
// tor: the control plane of the program p4/tor (and p4/rack): what makes it a switch.
//
// Learns addresses, floods VLANs, answers for the switch's own addresses, resolves neighbours,
// routes, snoops group memberships, keeps links together (LACP), writes access lists, admits jobs.
// It stands on the control API by name (control/tables/control.h) and on Open vSwitch's library,
// and sees packets through the CPU port, with eight bytes in front (p4/tor/README.md).
//
//     tor = tor_new(&host, config->tor, &err)     the member "tor" of the configuration (config.h)
//     while (...) {
//         tor_frame(tor, frame, length, now)      what the switch sent to the CPU port
//         tor_digest(tor, &digest)
//         tor_link(tor, port, up)                 when a link changes
//         tor_run(tor, now)                       every millisecond or so: timers, writes to the
//                                                 switch
//     }
//     tor_reload(tor, &host, config->tor, &err)     changes only what differs; on failure nothing
//
// Thread-safety: all calls on one thread, the control thread. Nothing here waits, but for the pipes
// when tables are written: some dozens of writes between 'pause' and 'resume'.
//
// Time is what the calls say, for Open vSwitch's library too (time.c), and chance and the speed of
// the machine come in by 'recall' and 'learn' of the host: the same calls have the same effects.
//
// Files: modules, each with the files whose names begin with its name (jobs_impl.h and its like
// list them):
//
//     tor.c         the whole: modules in turn, frames to and from the switch
//     wanted.c      what should be in the tables
//     program.c     whether a program has the tables of a ToR
//     section.c     the configuration
//     links.c       ports, LAGs, VLANs, flooding, storm control, mirrors
//     lag.c         LACP, and which members of LAGs carry traffic
//     limits.c      what one link may use of what all share
//     fdb.c         who is where: learning, ageing, moves
//     neighbours.c  ARP and IPv6 neighbour discovery
//     routes.c      connected routes, static routes, next hops
//     icmp.c        echo, and what is sent back about packets that cannot be routed
//     snoop.c       IGMP and MLD: groups, queriers (snoop_state.h: who wants which group)
//     policy.c      access lists, queues, marks
//     jobs.c        aggregation jobs
//     log.c         Open vSwitch's logging
//     ip.c          IPv4 and IPv6 packets, checked and built
//     addresses.c   the switch's own addresses
//     text.c        addresses as text, checksums
//     time.c        the time that Open vSwitch's library sees
#ifndef SILKEN_CONTROL_TOR_TOR_H
#define SILKEN_CONTROL_TOR_TOR_H

#include <jansson.h>
#include <sys/types.h>

#include "control/config/config.h"
#include "base/error.h"
#include "base/json.h"
#include "pipeline/switch/switch.h"

struct tor;

// What else than its arguments decides what a control plane does. A recorded run notes them, and a
// replay of it has them from there.
enum tor_fact {
    TOR_FACT_WRITES, // made in the pause that has begun
    TOR_FACT_TOOK,   // ns by the system's clock that writing took
    TOR_FACT_RANDOM, // a number that nobody can guess
};

// What it stands on. 'sw' runs a program with the tables of p4/tor.
struct tor_host {
    struct sk_switch *sw;
    // Ports of the switch by name, for the section: n_ports of them, as the configuration has them.
    const struct sk_config_port *ports;
    size_t n_ports;
    // Around what touches the switch, while other threads run it; may be null.
    void (*pause)(void *aux);
    void (*resume)(void *aux);
    // Gives a frame, with the header for the switch in front, to the CPU port. False: there is no
    // room.
    bool (*send)(void *aux, const uint8_t *frame, uint32_t length);
    bool (*link)(void *aux, uint16_t port); // is the port's link up?
    // Where a file is that the section names, malloc'ed. Null: it is as it is said.
    char *(*beside)(void *aux, const char *path);
    // The section names a file of jobs ("state") that is left out, as it is only tried.
    bool has_state;
    // Something happened that an operator or a listener of the socket wants to know: a reference is
    // taken over. {"event": "link", ...}, {"event": "alarm", ...}. May be null.
    void (*event)(void *aux, json_t *event);
    // A fact as it was in a recorded run: true, and 'value'; false: it is to be found out. May be
    // null.
    bool (*recall)(void *aux, enum tor_fact fact, uint64_t *value);
    // A fact that was found out. May be null.
    void (*learn)(void *aux, enum tor_fact fact, uint64_t value);
    void *aux;
    // How long tor_run() waits at least after it has written until it writes again, longer where
    // that took long by the system's clock: packets can cause so many writes that pauses would
    // follow each other. 0: not.
    uint64_t pause_interval_ns;
    // Writes in one pause, at most; 0: 16. On processors that are shared a pause costs what the
    // system takes to schedule the pipes, so few long ones are better than many short ones.
    unsigned writes_in_a_pause;
    // Of the hashes of addresses, which packets choose; 0 where a run must repeat.
    uint32_t hash_secret;
};

// Whether the switch's program has the tables that a ToR needs: 0, or negative with a sentence.
int tor_program_check(const struct sk_switch *sw, struct sk_error *err);

// Null with a sentence that has the place in the section ("tor.vlans[2].vid: ...").
struct tor *tor_new(const struct tor_host *host, const struct sk_at *section, struct sk_error *err);
void tor_free(struct tor *t); // null allowed; leaves the switch's tables as they are

// 0, or a negative code with a sentence and nothing changed. 'host' may have other ports than
// before.
int tor_reload(struct tor *t, const struct tor_host *host, const struct sk_at *section,
               struct sk_error *err);
// The process will have only the rights of that user: the folder of the section's "state", if
// tor_new() made it, is given away; and, once that is so: whether the file can be written. 0, or a
// negative code with a sentence.
int tor_state_give(struct tor *t, uid_t user, gid_t group, struct sk_error *err);
int tor_state_check(struct tor *t, struct sk_error *err);
// Ports were added or removed, or other functions are to be called from now on.
void tor_host_changed(struct tor *t, const struct tor_host *host);
// The program was replaced: everything is written again, into host->sw. 'kept': all that was in
// registers is there.
void tor_switch_replaced(struct tor *t, const struct tor_host *host, bool kept);

// 'frame' begins with the header from the switch. Frames are not trusted.
void tor_frame(struct tor *t, const uint8_t *frame, uint32_t length, uint64_t now_ns);
void tor_digest(struct tor *t, const struct sk_digest *digest, uint64_t now_ns);
void tor_link(struct tor *t, uint16_t port, bool up, uint64_t now_ns);
// Timers, and writes that wait. A 'now_ns' that is less than that of a call before is taken for
// that.
void tor_run(struct tor *t, uint64_t now_ns);

// A request whose "op" begins with "tor." or "job.": the result, a new reference, or null with a
// sentence.
json_t *tor_request(struct tor *t, const char *op, json_t *request, uint64_t now_ns,
                    struct sk_error *err);
// The jobs of Libra, {"jobs": [{"name", "number", "epoch", "hot": if it is known, "members":
// [{"packets", "repetitions"}]}]}, a new reference; null: the program has none.
json_t *tor_libra(struct tor *t);

#endif
