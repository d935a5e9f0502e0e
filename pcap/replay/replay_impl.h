// SPDX-License-Identifier: Apache-2.0
//
// replay_impl: what the files of a replay share. Nobody else includes it. replay.h lists the files.
#ifndef SILKEN_PCAP_REPLAY_REPLAY_IMPL_H
#define SILKEN_PCAP_REPLAY_REPLAY_IMPL_H

#include "control/journal/journal.h"
#include "pcap/capture/capture.h"
#include "pcap/packet/layout.h"
#include "pcap/replay/replay.h"
#include "pipeline/switch/core.h"

// ---- input.c
struct replay_inputs;
// Null with a sentence. The first packet of each capture is read.
struct replay_inputs *replay_inputs_open(const struct replay_options *opt, struct sk_error *err);
void replay_inputs_close(struct replay_inputs *s); // null allowed
// Takes 'n' packets that are not to be replayed. -1 with a sentence.
int replay_inputs_skip(struct replay_inputs *s, uint64_t n, struct sk_error *err);
// The next packet, at a time that never goes back, or null; stays until it is taken. -1 with a
// sentence: there was to be one behind it and it cannot be read; then nothing else is to be asked.
const struct replay_packet *replay_inputs_peek(struct replay_inputs *s);
// Takes it; nothing is read after it if there is to be no 'more'.
int replay_inputs_take(struct replay_inputs *s, bool more, struct sk_error *err);
// In place of these two, for as many packets as are known already, at most 'n': fills in 'out',
// with times that never go back. Their bytes and those in front can be overwritten as
// sk_core_rx_lent() does.
#define REPLAY_FEW 32
unsigned replay_inputs_few(struct replay_inputs *s, struct sk_lent_frame *out, unsigned n);
uint32_t replay_inputs_wire_length(const struct replay_inputs *s); // of the last one
// The latest time of what was read and left out because a recorded switch sent it, or noted its
// end: until then it ran. 0: there is none.
uint64_t replay_inputs_heard(const struct replay_inputs *s);
// Notes about a control plane that were left out so far.
uint64_t replay_inputs_control(const struct replay_inputs *s);
// Takes them; nothing is read after them if there is to be no 'more'.
int replay_inputs_take_few(struct replay_inputs *s, bool more, struct sk_error *err);
// Calls 'each' for every port that packets are known to come in by.
void replay_inputs_ports(const struct replay_inputs *s, void (*each)(void *aux, uint16_t port),
                         void *aux);
// Bytes of the files that were read, and that they have: 0 when that is not known.
void replay_inputs_position(const struct replay_inputs *s, uint64_t *done, uint64_t *size);
// Whether nothing was taken of a capture because no packet of it so far has a port.
bool replay_inputs_unmapped(const struct replay_inputs *s);
// A line for each thing that is odd with a capture. -1 with a sentence: a map was of no use.
int replay_inputs_report(const struct replay_inputs *s, struct replay_counts *counts,
                         FILE *messages, struct sk_error *err);

// ---- notes.c
struct replay_note {
    uint64_t at; // time, which never goes back: after the packets of then, before those of later
    struct journal_note note; // a run has one time
};
struct replay_notes;
// The notes about a control plane of a recorded run, read beside its packets. 0, and null when the
// recording does not begin with one; or -1 with a sentence.
int replay_notes_open(const struct replay_options *opt, struct replay_notes **out,
                      struct sk_error *err);
// The next one, valid until it is taken. Null: the recording has no more, or cannot be read, which
// replay_notes_failed() says.
const struct replay_note *replay_notes_peek(struct replay_notes *n);
void replay_notes_take(struct replay_notes *n);
bool replay_notes_failed(const struct replay_notes *n, struct sk_error *err);
uint64_t replay_notes_lost(const struct replay_notes *n); // that did not fit when they were made
void replay_notes_close(struct replay_notes *n);          // null allowed

// ---- tor.c: the control plane of a ToR ----
// With a recording's notes it does again what it did then, at the same places among the packets.
// Without, it runs in the captures' time: what a packet causes happens at that packet's time, and
// timers each millisecond, or after long silence each second.
struct replay_tor_host {
    struct sk_switch *sw;
    uint16_t cpu_port;
    const struct sk_config *config;
    // Packets up to this time go in, and the switch's clock is there.
    void (*advance)(void *aux, uint64_t until);
    void *aux;
    FILE *messages; // alarms; null: nobody wants them
};
struct replay_tor;
// Writes what the configuration says into the switch, whose clock is where it begins. Null with a
// sentence.
struct replay_tor *replay_tor_new(const struct replay_tor_host *host,
                                  const struct replay_options *opt, struct sk_error *err);
void replay_tor_free(struct replay_tor *t); // null allowed
// What the switch sent to the CPU port.
void replay_tor_frame(struct replay_tor *t, const uint8_t *frame, uint32_t length, uint64_t now);
// When it does something by itself: UINT64_MAX: never. And does it, when the switch's clock is
// there. -1 with a sentence.
uint64_t replay_tor_next(struct replay_tor *t);
int replay_tor_step(struct replay_tor *t, struct sk_error *err);
// What follows at once from packets that went in; of a recorded run: nothing.
void replay_tor_settle(struct replay_tor *t, uint64_t now);
// Whether a packet that the CPU port received has not been sent yet by what was done: then steps
// come first, whatever their times are. The packet's is when its pipe looked at the clock, before
// it looked at the port.
bool replay_tor_is_behind(struct replay_tor *t);
// Of a packet that the CPU port received: whether it goes in. The control plane of now may not have
// sent it; what it sent before goes in first.
bool replay_tor_takes(struct replay_tor *t, const struct replay_packet *p);
// Lines about what went otherwise than when it was recorded. 'notes': that the captures had;
// 'recorded': they are of a recorded run.
void replay_tor_report(const struct replay_tor *t, uint64_t notes, bool recorded, FILE *messages);

// ---- pace.c
struct replay_pace {
    bool started;
    uint64_t start, first; // the first packet: when it went in, and its time
};
// Waits a little, not longer than a tenth of a second, and says so; false: the packet's turn has
// come.
bool replay_pace_wait(struct replay_pace *p, double speed, uint64_t time_ns);

// ---- update.c
#define REPLAY_BESIDE ".new" // after the name of what is to be replaced
struct replay_update {
    struct new_file *files;
    size_t n;
    char *made; // a folder
};
// The name to write to, so that it takes the place of 'path' when this is committed. It stays until
// then. On any thread.
const char *replay_update_add(struct replay_update *u, const char *path);
// Is removed then, if nothing has taken its place.
void replay_update_remove(struct replay_update *u, const char *path);
// Makes the folder, if it is not there, now.
int replay_update_mkdir(struct replay_update *u, const char *path, struct sk_error *err);
// One of these ends it. -1 with a sentence: something stays as it was.
int replay_update_commit(struct replay_update *u, struct sk_error *err);
void replay_update_abandon(struct replay_update *u);

// ---- out.c
struct replay_out {
    struct capture_writer *writers[SK_PORTS];
    char *dir;                    // or null
    struct replay_update *update; // or null: files are replaced as they are opened
    enum capture_form form;       // in 'dir'
};
// The caller frees it.
char *replay_port_path(const char *dir, unsigned port, enum capture_form form);
// 0, or -1 with a sentence. 'dir' is made when it is not there; captures of ports in it are
// removed. 'update' is to be set before.
int replay_out_open(struct replay_out *o, const struct replay_options *opt, struct sk_error *err);
int replay_out_packet(struct replay_out *o, uint16_t port, uint64_t time_ns, const uint8_t *frame,
                      uint32_t length, struct sk_error *err);
// Closes all; -1 with the first sentence.
int replay_out_close(struct replay_out *o, struct sk_error *err);

// ---- files.c
// Before anything is opened: -1 with a sentence when one of the inputs, golden captures or the
// expected state would be overwritten, or two outputs are one file.
int replay_files_check(const struct replay_options *opt, struct sk_error *err);
// The captures of a recorded run in the order of their first packets' times, whatever that in which
// they are given; those that cannot be read stay where they are, to be told when it is their turn.
// The caller frees the items.
struct replay_files replay_files_by_time(const struct replay_options *opt);
// Whether outputs that were begun can be written again: false when one is a pipe or a device.
bool replay_files_can_be_anew(const struct replay_options *opt);

// ---- drops.c
struct replay_drops;
// Where lines go; the caller frees it. Null: nowhere.
char *replay_drops_path(const struct replay_options *opt);
// An observer that writes to 'path' and tells 'next' (or null); with 'log', one for each pipe,
// which add their lines and violations to that.
struct replay_log;
struct replay_drops *replay_drops_open(const char *path, const struct sk_switch *sw,
                                       struct replay_log *log, struct sk_observer *next,
                                       struct sk_error *err);
struct sk_observer *replay_drops_observer(struct replay_drops *d, unsigned pipe);
// Whether lines say no place that the checked build would know. While no pipe runs.
bool replay_drops_lack_places(const struct replay_drops *d); // of null: false
// Whether a file's lines can be written twice: it is none that is a pipe or a device.
bool replay_drops_can_be_anew(const char *path);
// All lines are written again, of 'sw', which runs the same packets in the checked build on this
// thread. -1 with a sentence. Then: whether as many are there; that they are the same but for
// places, else -1 with a sentence.
int replay_drops_again(struct replay_drops *d, const struct sk_switch *sw, struct replay_log *log,
                       struct sk_error *err);
bool replay_drops_done(const struct replay_drops *d); // of null, or not again: false
int replay_drops_same(const struct replay_drops *d, struct sk_error *err);
FILE *replay_drops_file(const struct replay_drops *d); // of null: null
bool replay_drops_failed(const struct replay_drops *d);
int replay_drops_close(struct replay_drops *d, struct sk_error *err); // null allowed

// ---- trace.c
// A packet that is to be traced: it went out as the 'number'-th (from 1) of a port.
struct replay_wanted {
    uint64_t serial, number;
    uint16_t port;
};
struct replay_trace;
// Whether the captures can be read a second time.
bool replay_trace_possible(const struct replay_options *opt);
struct replay_trace *replay_trace_new(const struct replay_wanted *wanted, size_t n);
struct sk_observer *replay_trace_observer(struct replay_trace *t);
bool replay_trace_done(const struct replay_trace *t); // all were sent; of null: false
// What was written about the i-th of them; "" of null.
const char *replay_trace_text(struct replay_trace *t, size_t i);
void replay_trace_free(struct replay_trace *t); // null allowed

// ---- state.c
struct replay_state {
    char *text; // of what is expected
    struct sk_expected_state *expected;
    size_t differences;
};
// Reads what is expected of the state. -1 with a sentence.
int replay_state_open(struct replay_state *s, const struct replay_options *opt,
                      struct sk_switch *sw, struct sk_error *err);
// When nothing is inside the switch: writes its state and compares it, unless the replay was
// 'stopped'. -1 with a sentence.
int replay_state_end(struct replay_state *s, const struct replay_options *opt, struct sk_switch *sw,
                     bool stopped, struct replay_update *update, FILE *messages,
                     struct sk_error *err);
void replay_state_close(struct replay_state *s);

// ---- fields.c
// A table of the fields of both; of either one alone (the other null, with no bytes) too. 'ignored'
// gets 'aux'.
void replay_show_fields(FILE *out, const struct layout *l, const uint8_t *sent, uint32_t n_sent,
                        const uint8_t *golden, uint32_t n_golden,
                        bool (*ignored)(void *aux, const struct layout *l, uint32_t h, uint32_t f),
                        void *aux);
// A line with the first of its bytes from 'from' on.
void replay_show_bytes(FILE *out, const char *what, const uint8_t *bytes, uint32_t length,
                       uint32_t from);

// ---- gaps.c
// Of all records of a recorded run, in the order of its files: what is missing.
struct replay_gaps;
struct replay_gaps *replay_gaps_new(const struct replay_options *opt);
void replay_gaps_see(struct replay_gaps *g, const struct capture *capture,
                     const struct capture_frame *f);
void replay_gaps_end_file(struct replay_gaps *g, const struct capture *capture);
// Says what is odd. -1 with a sentence: records are gone.
int replay_gaps_report(const struct replay_gaps *g, FILE *messages, struct sk_error *err);
void replay_gaps_free(struct replay_gaps *g); // null allowed

// ---- compare.c
struct replay_compare;
struct replay_compare *replay_compare_open(const struct replay_options *opt, FILE *messages,
                                           struct sk_error *err);
// What time it is for a port: a packet that is equal to a golden one of that time is that one.
void replay_compare_times(struct replay_compare *c, uint64_t (*time)(void *aux, uint16_t port),
                          void *aux);
// An observer that learns where fields are, and tells 'next'. Who asks for it makes the switch use
// it: packets are compared when it is told that they are sent.
struct sk_observer *replay_compare_observer(struct replay_compare *c, struct sk_observer *next);
// A packet that is sent. -1 with a sentence: a golden capture cannot be used.
int replay_compare_packet(struct replay_compare *c, uint16_t port, const uint8_t *frame,
                          uint32_t length, struct sk_error *err);
// No more are sent: what was not decided is (pcap/replay/align.h). -1 with a sentence: a golden
// capture cannot be used.
int replay_compare_settle(struct replay_compare *c, bool stopped, struct sk_error *err);
// The packets that will be shown and are worth a trace; their number is returned.
size_t replay_compare_wanted(const struct replay_compare *c, const struct replay_wanted **list);
// Shows the first packets that differ, each with its way ('t' may be null), what was not sent
// (unless the replay was 'stopped'), and how many packets differ.
int replay_compare_end(struct replay_compare *c, struct replay_trace *t, bool stopped,
                       struct sk_error *err);
uint64_t replay_compare_differences(const struct replay_compare *c); // of null: 0
void replay_compare_close(struct replay_compare *c);                 // null allowed

#endif
