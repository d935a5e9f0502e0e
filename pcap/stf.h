// SPDX-License-Identifier: Apache-2.0
//
// stf: packet test scripts (simple test framework), the format of P4 compilers' tests.
//
// A script fills tables, sends packets and says which packets must come out. One statement a line;
// keywords in any case; '#' starts a comment; '\' at the end continues the line. Names are those of
// the P4 source or any suffix that is unique; they may be quoted.
//
//     add TABLE [PRIORITY] FIELD:VALUE ... ACTION(ARG:VALUE, ...) [= ID]
//     setdefault TABLE ACTION(ARG:VALUE, ...)
//     remove ID | remove all
//     packet PORT HEX...
//     expect PORT [HEX... [$]]      '*' is any nibble; with '$' the length must match, without it
//     more
//                                   bytes may follow; no bytes at all: any packet
//     no_packet                     the last packet must not have produced an output
//     wait                          (does nothing: a packet's outputs are there at once)
//     check_counter NAME(INDEX) [packets|bytes] OP NUMBER
//     register_write NAME INDEX [FIELD=]VALUE        in all pipes
//     register_read NAME INDEX [FIELD] OP VALUE [pipe N]     (pipe 0 when not given)
//     register_reset NAME
//     value_set NAME FIELD:VALUE ...
//     port_metadata PORT HEX        8 bytes; 16 on a Tofino 2
//     loopback PORT
//     mc_mgrp_create GROUP
//     mc_node_create RID PORT ...   nodes are numbered from 0
//     mc_node_update NODE PORT ...
//     mc_node_associate GROUP NODE [XID]             XID: its level-1 exclusion id
//     mc_prune XID PORT ...
//
// Of entries that match, the one with the larger PRIORITY wins (smaller with an option); a table
// without ternary and range keys takes no notice of it, as test generators write one for lpm tables
// too. Outputs are compared port by port, in order; one that nothing expects fails the script. All
// ports of a chip's front panel are up. Each script runs on a fresh switch, its clock advances 1 us
// a packet.
#ifndef SILKEN_PCAP_STF_H
#define SILKEN_PCAP_STF_H

#include <stdio.h>

#include "pipeline/switch.h"

struct stf_script;

// Parses 'text'. On errors, prints each as "name:line: sentence" to 'messages' and returns null.
struct stf_script *stf_parse(const char *name, const char *text, size_t length, FILE *messages);
void stf_free(struct stf_script *s); // null allowed

enum stf_result {
    STF_PASS,
    STF_FAIL,    // ran, and something differed
    STF_UNUSABLE // names something the program lacks, a value that does not fit, ...
};
struct stf_options {
    bool smaller_priority_wins;
    struct sk_observer *observer; // of all packets; null: nobody
};
// Runs the script; what differed goes to 'messages'.
enum stf_result stf_run(const struct stf_script *s, const struct sk_program *prog,
                        const struct stf_options *opt, FILE *messages);

#endif
