// SPDX-License-Identifier: Apache-2.0
//
// jobs_impl: what the files of jobs share.
//
//     jobs.c          which jobs there are, requests
//     jobs_read.c     a request into a job: who is where
//     jobs_locate.c   where an address is
//     jobs_racks.c    a job of ATP in several racks: who has which bits
//     jobs_levels.c   a job of SwitchML in several racks: what is above and below
//     jobs_libra.c    a job of Libra: its cells, and what it leaves
//     jobs_tables.c   what follows from it in the switch's tables (p4/rack/README.md)
//     jobs_state.c    what is remembered of jobs when the process ends
//     jobs_resume.c   SwitchML's jobs after that: the workers are brought to one place
//     jobs_sessions.c sessions of jobs: one that begins again gets nothing of what was before
//
// A job, in the configuration ("jobs") or as a request to add one:
//
//     {"name": "resnet", "protocol": "switchml" | "atp" | "libra",
//      "workers": ["web1:10.0.10.2", "web2:10.0.10.3"],    port or link, and address; in the order
//                                                          of their ranks
//      "server": "web3:10.0.10.4",     atp: who gets the sums and sends parameters; at one of the
//                                      workers' places, too
//      "racks": [0, 0, 1],             atp, in several racks: of the workers, by rank; every rack's
//                                      switch has the job,
//      "rack": 0, "server_rack": 1,    and says which it is; hosts elsewhere are at the port
//                                      towards their switch
//      "racks": [0, 0, 1, 1],          switchml, in several racks: of all workers of the job, by
//      "rack": 1,                      rank; "workers" are those of this switch's "rack", if it is
//                                      one of them
//      "above": "up:10.0.10.1",        the switch that gets the partial sums and sends all sums;
//                                      without: this is the top one
//      "below": ["down:10.0.10.2"],    switches that send partial sums to this one
//      "servers": ["web3:10.0.10.4"],  libra: those that push to the switch themselves; their
//                                      numbers follow the workers'
//      "epoch": 1,                     libra: of the job's layout; without: 0
//      "hot": 30000,                   libra: parameters of the layout; without: not known
//      "cells": 1024,                  libra: of each of 16 registers; without: a quarter of all
//      "slots": 512,                   switchml: of the pool; without: 512
//      "aggregators": 4096,            atp: the job's share; without: 1024
//      "number": 7,                    the job's in packets; without: the lowest that no job of the
//                                      protocol has
//      "numbers": "all",               switchml: its packets go by all numbers in turn, as the
//                                      published client's; with "lease" and without sessions, and
//                                      no job with one number beside it
//      "vlan": 10,                     of all of them; without: the untagged one of each link, or
//                                      that of the address
//      "address": "10.0.10.1",         switchml, libra: what workers send to; without: the
//                                      switch's own in their VLAN
//      "rate": 10000,                  Mbit/s that each of its hosts may send to be added up;
//                                      without: no limit
//      "udp_port": 48864,              switchml, libra: the workers' own; without: 48864, of Libra
//                                      41000 (hosts/keyvalue)
//      "resume": true,                 switchml: after a restart of the switch workers are asked
//                                      where they are
//      "lease": true,                  whoever added it says when it ends, and does not outlive
//                                      this process: not remembered when the process ends
//      "sessions": true,               its hosts join sessions (session/message.h); false: they
//                                      know nothing of them
//      "group": "239.192.0.7"}         atp: what parameters are sent to; without: 239.192.0.NUMBER
#ifndef SILKEN_CONTROL_TOR_JOBS_IMPL_H
#define SILKEN_CONTROL_TOR_JOBS_IMPL_H

#include "control/sessions/job.h"
#include "control/sessions/left.h"
#include "control/tor/tor_impl.h"

#define JOBS_WORKERS    32u // bits of a bitmap
#define JOBS_MOST       256u
#define JOBS_RIDS       1024u // p4/switchml's replication ids; 0 is the ToR's
#define JOBS_UDP_ATP    0xa790u
#define JOBS_UDP_LOW    0xbee0u // SwitchML's
#define JOBS_UDP_HIGH   0xbeefu
#define JOBS_ATP_NUMBER 127u
#define JOBS_ELEMENTS   64u     // in p4/rack's packets of SwitchML, at most
#define JOBS_EDGE       0x8000u // 'edge' in the two bytes of ATP's marks

#define JOBS_UDP_KV 41000u // of hosts/keyvalue, from which it sends to the switch

#define JOBS_LIBRA_PORT     453u // by which its pipe sees all workers
#define JOBS_LIBRA_MEMBERS  "membership.workers"
#define JOBS_LIBRA_RECEIVES "receives"

enum jobs_protocol { JOBS_SWITCHML = 1, JOBS_ATP = 2, JOBS_LIBRA = 3 }; // protocol_t of p4/rack

// A host of a job, and where it is.
struct jobs_host {
    struct tor_link *link; // of this section; null: it has none for it
    uint16_t ports[TOR_LAG_PORTS], n_ports;
    int lag;                 // its number in the replication engine; -1: a port alone
    struct in6_addr address; // IPv4
    struct in6_addr to;      // a worker of SwitchML or Libra: where it sends to
    uint16_t vid, tag;       // tag 0: untagged on its link
    uint16_t rid;            // of a worker of SwitchML
    uint16_t record;         // of a member of Libra: its number among those of the switch
    bool known;              // 'mac' is
    uint8_t mac[6];
    // a worker of ATP
    uint8_t rack;
    uint32_t bitmap0, bitmap1; // its bits; bitmap0 0: it is beside the racks' switches
    uint32_t others0;          // bits of bitmap0 that nobody in its rack has
    uint16_t marks;            // 'edge' and fan-ins of its gradients
};

struct jobs_job {
    char name[TOR_NAME];
    bool configured;  // by the section, not by a request
    bool leased;      // nothing of it is remembered
    bool all_numbers; // of its protocol; 'number' is 0
    bool
        placed; // ports, VLANs and addresses are those of the section; else nothing of it is in the
                // tables
    json_t *request;
    enum jobs_protocol protocol;
    uint16_t number;
    struct jobs_host workers[JOBS_WORKERS], server;
    size_t n_workers;
    // The first of 'workers' are workers of this switch; the others are SwitchML's switches below,
    // or Libra's servers.
    size_t n_hosts;
    bool levels;                  // over several switches
    uint16_t ranks[JOBS_WORKERS]; // of the hosts, in the whole job
    uint32_t total;               // workers of the whole job
    bool has_above;
    struct jobs_host above; // a switch, and its 'to' is this switch's own address towards it
    uint16_t above_group;   // multicast group of it alone
    uint32_t first, count;  // slots, aggregators or cells
    uint16_t mgid, udp_port;
    // Of SwitchML: multicast groups of worker i alone, and of all others; 0: nobody.
    uint16_t one[JOBS_WORKERS], rest[JOBS_WORKERS];
    struct tor *tor;
    bool has_sessions;
    uint16_t session; // that passes; 0: none
    struct sessions_job sessions;
    // Of Libra.
    uint16_t epoch;
    uint32_t hot; // 0: not known
    bool waits;   // nobody is admitted yet: what had its cells before is not out of the switch

    uint32_t rate; // Mbit/s of each host at each port; 0: no limit
    struct in6_addr
        address; // that SwitchML's or Libra's workers send to, if all have the same; else ::
    struct in6_addr group;     // of ATP
    uint8_t rack, server_rack; // this switch's, the server's (of ATP)
    struct jobs_resume
        *resume;        // of SwitchML: nobody is admitted yet (jobs_resume.c); null: they are
    uint32_t ecn_cells; // of ATP: from which depth of a queue on packets are marked; 0: never
};

// What a job was given before the process began, of jobs_state.c's file.
struct jobs_given {
    uint16_t number;
    uint32_t first;
    struct in6_addr group; // of ATP; else ::
    json_t *kept;          // all that the file has of it; borrowed
};

struct jobs {
    struct jobs_job *list[JOBS_MOST]; // in the order in which they came
    size_t n;
    json_t *lost; // an array: of the file, but they cannot be admitted (any more)
    struct {
        char *path;       // null: nothing is remembered
        char *written;    // what is in the file; null: not known
        bool refused;     // there is something in the way that is not ours
        bool made_folder; // we did
    } state;
    struct {
        struct sessions_lefts left; // by jobs that have gone
        uint64_t look_at;           // at what is left, ns
        bool filled;                // the adder's tables are
    } libra;
    uint64_t looked;       // for addresses, ns
    uint16_t last_session; // number of SwitchML's last one, of all jobs; 0: not known
    uint64_t
        quiet_until; // no session starts before: hosts of those that are not known have given up
                     // then
    uint64_t resume_at, resume_turn;
};

struct jobs *tor_jobs(struct tor *t);

// ---- jobs_locate.c ----
// The request "job.locate": {"address"}. Where the host is: {"link", "mac", "switch_ip",
// "switch_mac"}, of which the latter two are what it sends to; or {"waits": sentence}, ask again.
// Null with a sentence: it is in no VLAN.
json_t *jobs_locate(struct tor *t, const json_t *request, struct sk_error *err);

// ---- jobs_racks.c ----
// Of a job of ATP whose workers' racks are known.
void jobs_give_bits(struct jobs_job *job);

// ---- jobs_levels.c ----
#define JOBS_TOTAL 4096u // workers of a job over several switches
// Fills what the request says of levels, of a job of SwitchML whose hosts are counted.
int jobs_read_levels(json_t *request, struct jobs_job *job, struct sk_error *err);
// Whether the running program adds up for jobs over several switches.
bool jobs_has_levels(struct tor *t);
// The job's place of a worker of this rank; n_hosts: it is not one of this switch's.
size_t jobs_place_of(const struct jobs_job *job, unsigned rank);
unsigned jobs_rank_of(const struct jobs_job *job, size_t place);

// ---- jobs_libra.c ----
// Whether there can be such a job, and how many cells it has; else a sentence. 'again': it was
// there before the process began.
int jobs_libra_ready(struct tor *t, struct jobs_job *job, bool again, struct sk_error *err);
// Of a job that has its cells: records for its members, and the adder's tables. 0, or a negative
// code with a sentence.
int jobs_libra_give(struct tor *t, struct jobs *all, struct jobs_job *job, struct sk_error *err);
// The job has all that it is given: its registers are cleared, or it waits for them.
void jobs_libra_begin(struct tor *t, struct jobs *all, struct jobs_job *job);
// The job goes, and its entries do.
void jobs_libra_leave(struct jobs *all, const struct jobs_job *job);
void jobs_libra_run(struct tor *t, struct jobs *all);
// Another program runs, in which the registers of jobs that there still are have what they had. The
// same.
int jobs_libra_replaced(struct tor *t, struct jobs *all, struct sk_error *err);
// What the job's object has besides, with counters of its workers and servers.
void jobs_libra_json(struct tor *t, const struct jobs_job *job, json_t *out);

// ---- jobs_read.c ----
// Fills what the request says of the job itself: name, protocol, sizes, number (0: any). 0, or a
// negative code with a sentence.
int jobs_read(json_t *request, struct jobs_job *job, struct sk_error *err);
// Finds its hosts' places in the section. The same.
int jobs_place(struct tor *t, struct jobs_job *job, struct sk_error *err);

// ---- jobs_state.c ----
// The section is another one: where the file is. 'first': reads it, into all->lost.
void jobs_state_configure(struct tor *t, struct jobs *all, bool first);
// Writes the file, if anything has changed. Waits for the disk.
void jobs_state_save(struct tor *t, struct jobs *all);
void jobs_state_forget(struct jobs *all);
// What the file has of a job: a new object.
json_t *jobs_state_kept(const struct jobs_job *job);
// The file's text: a new array of {"request", "configured", "number", "first", "group"}, in which
// numbers are numbers; or null with a sentence. Nothing else is known of what is in it.
json_t *jobs_state_parse(const char *text, size_t length, struct sk_error *err);

// ---- jobs_resume.c ----
struct jobs_resume *jobs_resume_new(const struct jobs_job *job, uint64_t now);
void jobs_resume_free(struct jobs_resume *r); // null allowed
// The job is admitted, or goes: if it is one that waits, it no longer does, and its alarm is off.
void jobs_resume_end(struct tor *t, struct jobs_job *job);
void jobs_resume_run(struct tor *t, struct jobs *all);
void jobs_resume_frame(struct tor *t, const struct tor_frame *frame);
// What a job waits for that is not admitted yet: a sentence.
void jobs_resume_text(const struct jobs_job *job, char *out, size_t size);

// ---- jobs_sessions.c ----
// Of a job that has its number, slots and places. Nobody is in a session.
void jobs_sessions_init(struct tor *t, struct jobs_job *job);
void jobs_sessions_frame(struct tor *t, const struct tor_frame *frame);
void jobs_sessions_run(struct tor *t, struct jobs *all);
// What jobs had in registers is gone.
void jobs_sessions_lost(struct tor *t, struct jobs *all);
// What is remembered of SwitchML's: into the job's object in the file, and from there. False: it
// was in no session.
void jobs_sessions_keep(const struct jobs_job *job, json_t *out);
bool jobs_sessions_restore(struct jobs_job *job, const json_t *kept);

// ---- jobs_tables.c ----
// The port by which a host gets what is sent to it: the link's first that carries traffic.
uint16_t jobs_port_of(const struct jobs_host *host);
// Whether the running program can have jobs; else a sentence.
int jobs_supported(struct tor *t, struct sk_error *err);
// Slots, aggregators or cells that the program has.
uint32_t jobs_room(struct tor *t, enum jobs_protocol protocol);
// Empties the registers of what the job has been given; the switch is not paused for long at a
// time.
void jobs_clear(struct tor *t, const struct jobs_job *job);
// Counters of SwitchML's workers begin with the job.
void jobs_clear_counts(struct tor *t, const struct jobs_job *job);
// Wants all that follows from the job; only what does not need addresses that are not known yet.
void jobs_want(struct tor *t, const struct jobs_job *job);
void jobs_unwant(struct tor *t, const struct jobs_job *job);
// Writes what waits, now. 0, or a negative code with the first refusal.
int jobs_flush(struct tor *t, struct sk_error *err);

#endif
