// SPDX-License-Identifier: Apache-2.0
//
// stf: packet test scripts (simple test framework), the format of P4 compilers' tests.
//
// A script fills tables, sends packets and says which packets must come out. One statement a line;
// keywords in any case; '#' starts a comment; '\' at the end continues the line. Names are those of
// the P4 source or any suffix that is unique; they may be quoted.
//
//     add TABLE [PRIORITY] FIELD:VALUE ... ACTION(ARG:VALUE, ...) [pipe N] [= ID]
//     setdefault TABLE ACTION(ARG:VALUE, ...) [pipe N]    in all pipes when not given
//     remove ID | remove all        all: entries, then groups, then members
//     table_clear TABLE
//     member PROFILE ID ACTION(ARG:VALUE, ...)      of an action profile; changes one that is there
//     member_remove PROFILE ID
//     group SELECTOR ID MEMBER[:down] ... [max N]   of an action selector; changes one that is
//                                                   there
//     group_remove SELECTOR ID
//     get_member SELECTOR GROUP HASH OP MEMBER      which member a hash chooses
//     get_index SELECTOR GROUP MEMBER OP INDEX      where a SelectorAction reaches the member
//                                   add and setdefault take member(ID) or group(ID) for the action;
//                                   an action given where the table has a profile gets a member of
//                                   its own
//     refused STATEMENT             the statement must be refused; its sentence is not shown
//     packet PORT HEX...
//     expect PORT [HEX... [$]]      '*' is any nibble; with '$' the length must match, without it
//     more
//                                   bytes may follow; no bytes at all: any packet
//     no_packet                     the last packet (or 'advance_time') must not have produced an
//                                   output; there must have been one
//     wait                          until ports with a speed have sent all; outputs of others are
//                                   there at once
//     check_counter NAME(INDEX) [packets|bytes] OP NUMBER
//     hash_fields HASH FIELD[[HIGH:LOW]] ...        what it hashes, the first most significant
//     hash_algorithm HASH NAME:VALUE ...            names as in control/tables/hashes.h
//     hash_reset HASH                               as the program has it
//     hash_compute HASH FIELD:VALUE ... OP VALUE    what it gives for these values
//     key_mask TABLE FIELD:MASK ...                 which bits of its keys a table looks at
//     register_write NAME INDEX [FIELD=]VALUE        in all pipes
//     register_read NAME INDEX [FIELD] OP VALUE [pipe N]     (pipe 0 when not given)
//     register_reset NAME
//     register_write NAME KEY:VALUE ... [FIELD=]VALUE        a direct register, of one entry
//     register_read NAME KEY:VALUE ... [FIELD] OP VALUE [pipe N]
//     value_set NAME FIELD:VALUE ...                value_set_remove likewise
//     value_set_clear NAME
//     port_metadata PORT HEX        8 bytes; 16 on a Tofino 2
//     port_metadata PORT FIELD:VALUE ...            of the struct that the parser unpacks
//     loopback PORT
//     mc_mgrp_create GROUP
//     mc_node_create RID PORT ... [| LAG ...]        nodes are numbered from 0
//     mc_node_update NODE PORT ... [| LAG ...]
//     mc_node_associate GROUP NODE [XID]             XID: its level-1 exclusion id
//     mc_prune XID PORT ...
//     advance_time N [ns|us|ms|s]   set_time N [ns|us|ms|s]: of the switch's clock, never back
//     meter_write NAME(INDEX) FIELD:VALUE ...        names as in control/tables/attached.h
//     meter_set_rates NAME INDEX CIR:CBS PIR:PBS     bytes or packets a us : bytes or packets
//     meter_array_set_rates NAME CIR:CBS PIR:PBS     all cells
//     meter_get_rates NAME INDEX                     prints them
//     meter_reset NAME                               as if never set
//     check_meter NAME(INDEX) FIELD OP VALUE
//     counter_read NAME INDEX                        prints it
//     counter_write NAME INDEX PACKETS BYTES         counter_clear NAME
//     check_counter NAME [PRIORITY] FIELD:VALUE ... [packets|bytes] OP NUMBER    a direct counter
//     entry_write TABLE [PRIORITY] FIELD:VALUE ... $NAME:VALUE ...
//     check_entry TABLE [PRIORITY] FIELD:VALUE ... $NAME OP VALUE
//     expect_idle TABLE [PRIORITY] FIELD:VALUE ...   reported idle since it was last asked for
//     expect_active TABLE ...                        likewise: matched again
//     no_idle                                        no report is left
//     update_hit_state TABLE
//
// and of our own, where KEY=NUMBER may come in any order and be left out (0 then):
//
//     mc_lag LAG [left=N] [right=N] PORT ...         left, right: members on other switches
//     mc_ecmp ID NODE ...           a '-' is an empty slot
//     mc_ecmp_associate GROUP ID [XID]
//     mc_global_rid RID
//     mc_backup PORT BACKUP
//     port_down PORT | port_up PORT
//     port_speed PORT MBPS [red=N] [yellow=N] [green=N]   limits in cells of 80 bytes
//     deflect PORT [QID]            where packets of full queues go that ask for it
//     cpu_port PORT
//     mirror_session ID ingress|egress|both [port=N] [mcast_a=N] [mcast_b=N] [cpu=1] [qid=N]
//     [cos=N]
//         [color=N] [cpu_cos=N] [hash1=N] [hash2=N] [xid1=N] [xid2=N] [rid=N] [deflect=1] [max=N]
//     mirroring_add ID PORT | mirroring_add_mc ID GROUP | mirroring_delete ID
//     expect_digest NAME [FIELD:VALUE ...]           the next digest; one left over is an error
//     no_digest
//     hint TEXT                     in force until the next one; 'hint' alone ends it. A script
//                                   that fails ends with the one at its first difference
//     pktgen_buffer PIPE OFFSET HEX...
//     pktgen PIPE APP one_shot|periodic|port_down|recirculation length=N [offset=N] [timer=NS]
//         [pattern=N] [mask=N] [batches=N] [packets=N] [batch_gap=NS] [packet_gap=NS] [port=N]
//     pktgen_off PIPE APP
//
// Of entries that match, the one with the larger PRIORITY wins (smaller with an option); a table
// without ternary and range keys takes no notice of it, as test generators write one for lpm tables
// too. Outputs are compared port by port, in order; one that nothing expects fails the script. All
// ports of a chip's front panel are up. Each script runs on a fresh switch, its clock advances 1 us
// a packet. In an entry's arguments names that start with '$' are counts, meter specification and
// TTL.
//
// Files:
//
//     parse.c    lines and the list of statements; words.c: words; statements.c: most statements
//     run.c      runs a script
//     match.c    packets that come out against those expected
//     direct.c   statements about direct registers
//     hash.c     about hashes
//     help.c     hints, and what became of a packet that did not come out
//     mask.c     about key masks
//     meter.c    about time, meters, counters and ageing
//     profile.c  about members and groups
//     tm.c       about mirroring, digests, queues, replication, generators
#ifndef SILKEN_PCAP_STF_STF_H
#define SILKEN_PCAP_STF_STF_H

#include <stdio.h>

#include "pipeline/switch/switch.h"

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
    bool fields; // packets that differ are shown field by field, too (checked build)
};
// Runs the script; what differed goes to 'messages'.
enum stf_result stf_run(const struct stf_script *s, const struct sk_program *prog,
                        const struct stf_options *opt, FILE *messages);

#endif
