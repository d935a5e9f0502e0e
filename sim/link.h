// SPDX-License-Identifier: Apache-2.0
//
// link: one direction of a cable between two stations, with what can go wrong on it.
//
// A frame that is sent waits in the link's queue until those before it are on the wire, takes its
// bytes (with FCS, preamble and gap: 24 more) at the link's rate, and arrives 'delay_ns' after its
// last bit was sent. The queue is the sender's: a frame that does not fit is lost at once (tail
// drop).
//
// What goes wrong, each with a probability for each frame, in this order:
//
//     loss         the frame takes its time on the wire and does not arrive; also frames by number,
//                  counted from 1 on in the order in which they were sent
//     corruption   one bit is flipped. The next station's check of the frame (Ethernet FCS) finds
//                  it and drops the frame, which is counted there: 'corrupt'. With 'undetected' the
//                  frame is delivered with the flipped bit: aggregated packets have no UDP
//                  checksum, so nothing but FCS protects their values, and a run with this is about
//                  robustness, not sums
//     reordering   the frame is late by up to 'reorder_ns', and those after it overtake it
//     duplication  a copy arrives directly after the frame; no time on the wire
//
// A link that is down loses what is sent into it and what is on it when it goes down.
//
//     sent + duplicated = delivered + lost (by reason) + in flight          always
//
// Concurrency: belongs to one thread.
#ifndef SILKEN_SIM_LINK_H
#define SILKEN_SIM_LINK_H

#include "sim/events.h"
#include "sim/random.h"
#include "sim/trace.h"

#define SIM_MAX_FRAME 1600u
#define SIM_OVERHEAD  24u // bytes on the wire besides the frame: as the engine's queues count

struct sim_frame {
    struct sim_frame *next; // in the list of free ones
    uint32_t length, epoch; // of the link, when it was sent
    bool damaged, small;
    uint8_t bytes[];
};

// Memory of frames, taken and given back; all of it goes with the pool.
struct sim_frames {
    struct sim_frame *free[2];
    void **slabs;
    size_t n_slabs;
};
struct sim_frame *sim_frame_of(struct sim_frames *f, const uint8_t *bytes, uint32_t length);
void sim_frame_put(struct sim_frames *f, struct sim_frame *frame);
void sim_frames_free(struct sim_frames *f);

#define SIM_LOSSES(X)                                                                              \
    X(QUEUE, "queue_full")                                                                         \
    X(LOSS, "loss")                                                                                \
    X(CORRUPT, "corrupt")                                                                          \
    X(DOWN, "link_down")                                                                           \
    X(STATION, "station_down")
enum sim_loss {
#define SIM_LOSS_ENUM(name, text) SIM_LOST_##name,
    SIM_LOSSES(SIM_LOSS_ENUM)
#undef SIM_LOSS_ENUM
        SIM_LOSS_COUNT
};
const char *sim_loss_text(enum sim_loss reason);

struct sim_link_stats {
    uint64_t sent, sent_bytes, delivered, delivered_bytes, duplicated, in_flight;
    uint64_t lost[SIM_LOSS_COUNT];
    uint64_t reordered,
        damaged;          // of those delivered or lost: how many were late, had a bit flipped
    uint64_t most_queued; // bytes
    uint64_t busy_ns;
};

struct sim_link_faults {
    double loss, duplicate, reorder, corrupt;
    uint64_t reorder_ns;
    bool undetected;
    const uint32_t *lose; // numbers of frames to lose, ascending; the caller's
    size_t n_lose;
};

struct sim_link {
    // set before sim_link_init()
    char name[40];      // "h0>s0"
    uint32_t rate_mbps; // 0: infinite
    uint64_t delay_ns;
    uint32_t queue_bytes; // 0: no end
    struct sim_link_faults faults;
    // Takes the frame, which is borrowed; false: the station is not there.
    bool (*deliver)(void *station, uint32_t port, const uint8_t *bytes, uint32_t length);
    void *station;
    uint32_t port;
    // the link's own
    struct sim_events *events;
    struct sim_frames *frames;
    struct sim_trace *trace;
    struct sim_random random;
    uint64_t free_at; // when the last bit of what is queued is sent
    uint32_t epoch;   // how often it went down
    bool down;
    size_t next_lose;
    struct sim_link_stats stats;
};

void sim_link_init(struct sim_link *l, struct sim_events *e, struct sim_frames *f,
                   struct sim_trace *t, uint64_t seed);
// The frame is copied.
void sim_link_send(struct sim_link *l, const uint8_t *bytes, uint32_t length);
void sim_link_set_down(struct sim_link *l, bool down);
// How long so many bytes of a frame take; ns.
uint64_t sim_link_time(const struct sim_link *l, uint64_t bytes);
// Bytes that wait or are being sent.
uint64_t sim_link_backlog(const struct sim_link *l);
// The equation above.
bool sim_link_conserves(const struct sim_link *l);

#endif
