// SPDX-License-Identifier: Apache-2.0
//
// pair.h: a sender and a receiver of DLCP with a network between them in virtual time, for tests.
// All goes as frames, which the network loses, repeats, delays and damages by a seed.
#ifndef SILKEN_HARNESS_HOSTS_DLCP_PAIR_H
#define SILKEN_HARNESS_HOSTS_DLCP_PAIR_H

#include "harness/net/events.h"
#include "hosts/dlcp/dlcp.h"

#define PAIR_MS UINT64_C(1000000)
#define PAIR_S  UINT64_C(1000000000)

enum { PAIR_SENDER, PAIR_RECEIVER };

struct pair {
    struct sk_random random;
    struct net_link link;   // both ways
    double damage;          // probability that a byte of a frame is changed
    double lose_kind[9];    // further probability of loss, by kind
    unsigned lose_first[9]; // so many frames of a kind are lost, by kind
    uint64_t dead_port;     // frames from this UDP port are lost; 0: none
    uint64_t now;
    struct net_events events;

    struct sk_endpoint end[2];
    struct dlcp_peer peer[2];
    struct dlcp_sender_config to_send;
    struct dlcp_receiver_config to_receive;
    struct dlcp_sender *sender;
    struct dlcp_receiver *receiver; // either may be null: crashed
    float *values, *out;            // owned
    uint32_t *placed;               // owned: times, by segment
    uint16_t *contributions;        // owned: what came, by segment

    uint64_t frames, lost, damaged, delivered_damaged; // the last: accepted though damaged
    uint64_t least_rate;                               // that the sender had
    uint64_t refused[DLCP_REASON_COUNT];               // frames, at either end
};

// A tensor of so many random floats, and a good network: 10 us each way, 10 Gbps, bound 10 %. What
// is not to be so is changed before pair_begin().
void pair_init(struct pair *p, uint64_t seed, uint32_t elements, uint32_t segment);
// Finite values instead, from -1 to 1.
void pair_tame(struct pair *p);
void pair_begin(struct pair *p);
void pair_begin_sender(struct pair *p);
void pair_begin_receiver(struct pair *p);
void pair_end(struct pair *p);

// Until both have ended, or 'until'.
void pair_run(struct pair *p, uint64_t until);
bool pair_is_over(const struct pair *p);

// Asserts that what is there is what was sent, once each, and no more.
void pair_check(const struct pair *p);

#endif
