// SPDX-License-Identifier: Apache-2.0
//
// run_impl: a script being run, shared by run.c and the files that run some of its
// statements (tm.c). Nobody else includes it.
#ifndef SILKEN_PCAP_STF_RUN_IMPL_H
#define SILKEN_PCAP_STF_RUN_IMPL_H

#include "pcap/stf/stf_impl.h"

struct node {
    uint16_t rid;
    uint32_t group;
    bool in_group;
    struct sk_pre_member member;
};

// An ECMP group in a multicast group.
struct ecmp {
    uint32_t group;
    struct sk_pre_member member;
};

struct run {
    struct sk_observer observer; // follows packets for their fields, and tells opt->observer
    const struct stf_script *script;
    const struct stf_options *opt;
    struct sk_switch *sw;
    FILE *messages;
    const struct stf_statement *now; // being executed
    struct journeys *journeys;       // null: nobody wants the fields
    struct stf_outputs outputs;
    size_t outputs_before;   // the last packet
    bool something_happened; // a packet, or time: what no_packet can be about
    uint64_t clock_ns;
    unsigned differences;
    unsigned first_different;     // the least line with a difference
    struct sk_switch_stats stats; // when the last packet was sent
    unsigned sent_line;           // its line; 0: none was sent
    struct node *nodes;
    uint32_t n_nodes;
    bool *groups;         // created ones
    uint32_t own_members; // made for entries that give an action where a member is wanted
    struct stf_idle *idle;
    struct ecmp *ecmps;
    size_t n_ecmps;
    struct sk_digest_reader digests;
    bool digests_expected; // by some statement: then none may be left over
};

// The statement being executed cannot be; returns false.
bool unusable(struct run *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Something is not as the script says.
void differs(struct run *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool done(struct run *r, int rc, const struct sk_error *err);
bool pre_done(struct run *r, int rc);
bool find_node(struct run *r, uint64_t number);
bool set_group(struct run *r, uint32_t group); // again from r->nodes and r->ecmps
// Lets the clock go on until no port has a packet that waits to be sent.
void stf_settle(struct run *r);

bool run_tm(struct run *r, const struct stf_statement *s); // tm.c

#endif
