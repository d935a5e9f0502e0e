// SPDX-License-Identifier: Apache-2.0
//
// replay: captures through a program, in the captures' own time.
//
// Packets of several captures go into the switch merged by their times (those of the same time in
// the order of the captures), and the time of a packet is the switch's clock: timestamps, meters,
// ageing, ports with a speed and packet generators follow it. So the same captures, entries and
// program give the same bytes, whatever the machine does. The clock starts with the first packet,
// never goes back, and goes on after the last one until no packet waits for a port; packet
// generators end with the last one, or with the last that a recorded switch sent.
//
// Memory holds a few packets of each capture, whatever its length.
//
// Files:
//
//     replay.c    the switch, and packets through it
//     input.c     captures merged into one stream of packets
//     map.c       the ports of their packets
//     tor.c       the control plane of a ToR; notes.c: what a recording says of it
//     pace.c      replays in real time
//     update.c    files that replace others at the end
//     out.c       captures of what ports send
//     files.c     refuses an output file that is also an input
//     compare.c   golden captures
//     align.c     pairs packets with golden ones (align.h); fields.c: the fields that differ
//     gaps.c      packets that a recorded run lacks
//     trace.c     paths through the program of packets that differ from golden ones
//     state.c     the final state of the switch
//     drops.c     lines about dropped packets
//     threads.c   the pipes on threads (threads.h); log.c: the events they report
//     progress.c  how far a replay is, on a terminal
#ifndef SILKEN_PCAP_REPLAY_REPLAY_H
#define SILKEN_PCAP_REPLAY_REPLAY_H

#include <signal.h>
#include <stdio.h>

#include "control/config/config.h"
#include "filter/filter.h"
#include "pcap/replay/progress.h"
#include "pipeline/trace.h"

#define REPLAY_MAPPED 0xffffu // as the port of a capture: --map says it of each packet
struct replay_file {
    uint16_t port;
    const char *path;
};
struct replay_files {
    struct replay_file *items;
    size_t n;
};

// Files of 'out' by their names, those of 'out_dir' pcap.
enum replay_form { REPLAY_BY_NAME, REPLAY_PCAP, REPLAY_PCAPNG };

struct replay_packet {
    uint16_t port;
    uint64_t time_ns;
    const uint8_t *bytes;
    uint32_t length;
    uint32_t
        wire_length; // as it was on the wire, if the capture says so; larger when it cut the packet
};

struct replay_options {
    const struct sk_program *program;
    // Applied in this order. Ports that they list are up, with those that captures are given for;
    // if they list none, all are.
    struct sk_config *configs[2];
    struct replay_files in, out; // a port has one 'out' at most
    const char *map;             // of captures REPLAY_MAPPED: map.h; null: by interfaces' names
    bool strict_map;             // what the map does not match is an error
    const volatile sig_atomic_t *stop; // or null: once it is not 0, captures are at their end
    double speed; // 0: as fast as it goes; 1: as the packets came; 2: twice as fast
    struct replay_progress *progress; // where it is shown; or null
    // What is written replaces what was there at the end, and not if something fails: golden
    // captures.
    bool update;
    bool golden; // 'out' and 'out_dir' are golden captures: nothing else goes into the folder
    // Files that were read already, which no output may be: of 'program' and 'configs'; or null.
    const char *program_path, *config_paths[2];
    const char *const *included; // that the program includes
    size_t n_included;
    const char *out_dir;   // or null: port-N.pcap of each port that sends, and drops.jsonl
    enum replay_form form; // of what is written
    const char *drops;     // or null: a line of JSON for each dropped packet
    // The checked build of 'program', asked for when drops are written: where in the program a
    // packet was dropped is known to that one only. Null, or what it returns is: their lines say no
    // place. What is returned stays its owner's.
    const struct sk_program *(*checked)(void *aux);
    void *checked_aux;
    // Golden captures that what these ports send must be equal to, or all ports: port-N.pcap (or
    // .pcapng) of a folder.
    // Fields with one of the names in 'ignore' (or a longer name that ends so) are not looked at;
    // that takes the checked build, and so do differences field by field.
    struct replay_files expect;
    const char *expect_dir; // or null
    bool expect_recorded;   // golden is what the captures REPLAY_MAPPED say that their ports sent
    const char *const *ignore;
    size_t n_ignore;
    size_t show;               // differences that are shown at most, of packets and of the state
    const char *dump_state[2]; // or null: where the state goes that is left; "-": standard output
    const char *expect_state;  // or null: what that is to be (control/state/state.h)
    uint64_t limit;            // packets in; 0: all
    uint64_t skip;             // packets that are read first and do not go in
    const struct sk_filter *filter; // or null; what does not match does not go in
    // Pipes run on so many threads, 0 as 1, at most SK_PIPES; what comes out does not depend on it
    // (pcap/replay/threads.h). A packet for a port of another pipe is there 'crossing_ns' later; 0:
    // at once, and then pipes that pass packets to each other run on one thread.
    unsigned threads;
    uint32_t crossing_ns;
    // A packet that goes in after those of the captures, not before its time; or null.
    const struct replay_packet *then;
    bool only_last;   // the observer is told only of the last packet ('limit', or 'then'), and of
                      // violations
    uint32_t buffers; // packets that can wait inside at a time; 0: as of the switch
    const char *command;          // for messages; null: "replay"
    struct sk_observer *observer; // told everything too; or null
};

struct replay_counts {
    uint64_t in, out, dropped;
    uint64_t cut;  // packets of which the capture has only the beginning; they go in as it has them
    uint64_t late; // packets older than the clock, taken at the clock's time
    uint64_t skipped; // packets that no port received (of mapped captures), or no filter matched
    struct replay_packet last; // that went in, or is about to; its bytes while it is on its way
    // It is one that a ToR's control plane sent: the one of the replay sends its own, so it was
    // counted and did not go in.
    bool last_left_out;
};

enum replay_result { REPLAY_GOOD, REPLAY_DIFFERS, REPLAY_UNUSABLE };

// Errors, and counts of what is odd with a capture, go to 'messages', a line each.
// The number, among all that go in, of the packet that is the 'nth' one that matches; 0: there are
// fewer, or with a sentence in 'err' (else it is empty) a capture cannot be read. Captures are read
// from their beginnings.
uint64_t replay_find(const struct replay_options *opt, const struct sk_filter *filter, uint64_t nth,
                     struct sk_error *err);

enum replay_result replay_run(const struct replay_options *opt, struct replay_counts *counts,
                              FILE *messages);

#endif
