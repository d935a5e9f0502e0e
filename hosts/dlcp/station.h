// SPDX-License-Identifier: Apache-2.0
//
// station.h: all flows of a host, as a state machine without input, output or clock: frames and the
// time come in; frames, the next deadline and flows that have ended come out.
//
// A station finds the flow of a frame, keeps what it knows of each other host, and shares its link:
// signals go at once, then data, no faster than the link: peers take turns, and to each the lowest
// class goes first, in it the oldest flow.
// START and STOP of a flow that nobody has asked for yet are kept, and heard when the flow is
// there; its data are discarded (DLCP, 3.2.1).
//
// A caller gives a flow back as soon as it has no more use for it. The station goes on until the
// other end knows what it has to know, and answers what comes late; it reads or writes nothing of
// the caller's then.
//
// Concurrency: a station belongs to one thread at a time.
#ifndef SILKEN_HOSTS_DLCP_STATION_H
#define SILKEN_HOSTS_DLCP_STATION_H

#include "hosts/core/endpoint.h"
#include "hosts/dlcp/receiver.h"
#include "hosts/dlcp/sender.h"

struct dlcp_station;
struct dlcp_flow;

struct dlcp_station_config {
    struct sk_endpoint self;
    uint16_t first_port, ports; // UDP source ports to turn: peer.h
    uint64_t link;              // bits a second
    uint64_t period, burst;     // ns: sender.h
    uint64_t rto_initial, rto_min, rto_max, hard_limit;
    uint32_t nonce;
};

struct dlcp_station_stats {
    struct dlcp_sender_stats sent;       // of all flows, also those that are over
    struct dlcp_receiver_stats received; // likewise; without the two numbers of sequence_end
    uint64_t expected, came;             // data packets of others: sent to us, and received
    uint64_t marked, segments;           // of what was sent: important ones, and all
    uint64_t left;                       // paths that were left
    uint64_t refused[DLCP_REASON_COUNT]; // frames, by whatever refused them
};

// Returns 0, SILKEN_ERR_INVALID ('*why' says what is wrong) or SILKEN_ERR_NOMEM.
int dlcp_station_new(struct dlcp_station **st, const struct dlcp_station_config *config,
                     const char **why);
void dlcp_station_free(struct dlcp_station *st); // with all flows; NULL is accepted

// Begins a flow to or from another host. Of '*c' the members that are the station's (peer, nonce,
// link, period, burst, hard_limit) are not looked at. Errors as those of dlcp_sender_new();
// SILKEN_ERR_INVALID also if there is such a flow already. 'why' may be NULL.
int dlcp_station_send(struct dlcp_station *st, const struct sk_endpoint *to,
                      const struct dlcp_sender_config *c, void *cookie, uint64_t now,
                      struct dlcp_flow **flow, const char **why);
int dlcp_station_recv(struct dlcp_station *st, const struct sk_endpoint *from,
                      const struct dlcp_receiver_config *c, void *cookie, uint64_t now,
                      struct dlcp_flow **flow, const char **why);

// A flow that has ended for its caller, each once; NULL: none. A sender: FINISH has come. A
// receiver: nothing changes any more. Either: it has failed.
struct dlcp_flow *dlcp_station_done(struct dlcp_station *st);
void *dlcp_flow_cookie(const struct dlcp_flow *f);
bool dlcp_flow_failed(const struct dlcp_flow *f);
// One of the two; NULL: it is of the other kind.
const struct dlcp_sender *dlcp_flow_sender(const struct dlcp_flow *f);
const struct dlcp_receiver *dlcp_flow_receiver(const struct dlcp_flow *f);
// Gives back a flow that has not been given back, and returns its cookie; NULL: there is none.
void *dlcp_station_take_any(struct dlcp_station *st);
// The caller needs it no more. One that has not ended fails: what it would send stays unsent.
void dlcp_station_give_back(struct dlcp_station *st, struct dlcp_flow *f);

// The next frame that is to be sent, of at most DLCP_FRAME_BYTES; 0: none, or 'cap' is less.
size_t dlcp_station_write(struct dlcp_station *st, uint8_t *frame, size_t cap, uint64_t now);
enum dlcp_reason dlcp_station_read(struct dlcp_station *st, const uint8_t *frame, size_t len,
                                   uint64_t now);
// When dlcp_station_write() is to be called next, if no frame comes.
uint64_t dlcp_station_deadline(const struct dlcp_station *st);
bool dlcp_station_busy(const struct dlcp_station *st); // there are flows, or answers to be sent
struct dlcp_station_stats dlcp_station_stats(const struct dlcp_station *st);

#endif
