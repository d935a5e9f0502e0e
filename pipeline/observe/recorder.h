// SPDX-License-Identifier: Apache-2.0
//
// recorder: copies the packets that the ports of a switch receive and send, while the switch runs.
//
// Each core of the switch copies frames, with time, port and outcome, into a ring of its own: one
// thread writes, one reads, without locks or waiting. The rings lie in one piece of shared
// memory (a memfd that cannot change its size), so that the reader may be another process:
//
//     pipe's thread  --copies-->  core's ring  --sk_record_next-->  reader: a file, a socket...
//
// When a ring is full, records are lost and counted, by port and in the next record that is not;
// the packets themselves are not touched. A frame is copied past the caches with whole lines, so
// that the working set of a pipe stays in the caches. A recorded packet takes the same path as any
// other; without a recording, a packet costs one comparison where it enters and one where it ends.
//
// A reader that changes the memory can spoil its own recording and nothing else. The switch bases
// no address or length on what it reads back: an impossible position of the reader is ignored, the
// count of drops is checked, and the port of a record is only copied within it.
//
//     struct sk_recorder *r = sk_recorder_new(&opt, error, sizeof error);   any thread
//     sk_switch_record(sw, r);                             while no core runs
//     ... sk_record_next(reader, &record) ...              in some other thread or process
//     sk_switch_record(sw, NULL);                          while no core runs; the reader sees the
//                                                          end
//     sk_recorder_free(r);
#ifndef SILKEN_PIPELINE_OBSERVE_RECORDER_H
#define SILKEN_PIPELINE_OBSERVE_RECORDER_H

#include "filter/filter.h"
#include "pipeline/switch/switch.h"

#define SK_RECORDER_RING     (UINT64_C(64) << 20) // bytes of a core, when nothing is said
#define SK_RECORDER_MAX_RING (UINT64_C(4) << 30)

struct sk_recorder;
struct sk_recorder_options {
    unsigned n_cores;    // of the switch
    uint64_t ring_bytes; // of each core; 0: SK_RECORDER_RING; rounded up to a power of two
    uint32_t snaplen;    // bytes of a frame that are kept; 0: all
    const bool *ports;   // SK_PORTS of them: which; null: all
    // Which frames, each as it is received or sent; of a packet that is dropped, as it is then.
    // Null: all. It becomes the recorder's own.
    struct sk_filter *filter;
    bool notes; // sk_record_note() will be called: a ring more
};
// Takes all memory at once, which takes a moment: not on a pipe's thread. Null with a sentence; the
// filter is freed then.
struct sk_recorder *sk_recorder_new(const struct sk_recorder_options *opt, char *error,
                                    size_t error_size);
void sk_recorder_free(struct sk_recorder *r);    // null allowed; no switch uses it
int sk_recorder_fd(const struct sk_recorder *r); // of the memory; the recorder's
// From here on the switch records into 'r'; null: no more. 'r' is one that no switch had before,
// with as many cores. While no core runs.
void sk_switch_record(struct sk_switch *sw, struct sk_recorder *r);

// What is no packet: 'length' bytes of text, which say what happened beside the packets at this
// time, as of 'port'. Not before a time that was told already. One thread, which calls
// sk_record_quiet() when nothing has happened, so that readers do not wait for it.
void sk_record_note(struct sk_recorder *r, uint16_t port, const char *text, uint32_t length,
                    uint64_t now_ns);
void sk_record_quiet(struct sk_recorder *r, uint64_t now_ns);

// ---- reading ----
enum sk_record_kind {
    SK_RECORD_RECEIVED,
    SK_RECORD_SENT, // given to the port
    // A packet, or copy of one, that ended later than its record could tell. SK_DROP_TX_FULL: it
    // was recorded as sent, waited for the port's device, and did not go.
    SK_RECORD_DROPPED,
    SK_RECORD_NOTE, // of sk_record_note(): 'bytes' are text
};
#define SK_RECORD_DROPS 6u
struct sk_record {
    enum sk_record_kind kind;
    uint64_t time_ns; // the switch's clock
    // Of the received packet, which what is sent or dropped goes back to: from 1, in the upper byte
    // the core that received it.
    uint64_t serial;
    uint16_t port;         // that received or sent it, or where it was dropped
    uint16_t ingress_port; // that it came from last: of a recirculated one, that port
    const uint8_t *bytes;  // valid until the next call
    uint32_t length, wire_length;
    uint32_t lost; // records of the core that did not fit before this one
    // Where and why it, or copies of it, went nowhere. One that is sent: the port did not take it.
    unsigned n_drops, more_drops; // more_drops: those that are not listed
    struct sk_record_drop {
        uint16_t port; // SK_PORTS: none
        uint8_t reason;
    } drops[SK_RECORD_DROPS];
};

struct sk_record_reader;
// The memory of a recorder, by its descriptor, which stays the caller's, or in the same process.
// Null with a sentence. One reader for a recorder.
struct sk_record_reader *sk_record_reader_open(int fd, char *error, size_t error_size);
struct sk_record_reader *sk_record_reader_of(struct sk_recorder *r);
void sk_record_reader_close(struct sk_record_reader *r); // null allowed
// The next record of all cores, by time; false: there is none yet, or sk_record_ended().
bool sk_record_next(struct sk_record_reader *r, struct sk_record *out);
// No more will come, and all have been read, or the memory makes no sense.
bool sk_record_ended(const struct sk_record_reader *r);
// The switch is gone without an end: what is there is all.
void sk_record_abandoned(struct sk_record_reader *r);
// Records that did not fit, of the port; of all with SK_PORTS.
uint64_t sk_record_lost(const struct sk_record_reader *r, uint16_t port);

#endif
