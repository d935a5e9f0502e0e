// SPDX-License-Identifier: Apache-2.0
//
// sides: two switches with one program that are to do the same: one that takes frames one by one,
// and one whose packets are in buffers that are not its own, as a port's are, and come in together.
//
//     struct side *one = side_start(prog, false), *burst = side_start(prog, true);
//     ... sk_switch_rx and sk_switch_run ...    ... side_get, sk_core_rx_burst ...
//     sides_check_same(one, burst);
//     side_end(one), side_end(burst);
//
// All ports of each pipe but every eighth are up, 258 loops back, 7 takes frames of 200 bytes at
// most, of 204 with a tag; there are two groups. What is shown of ingress (TOY_SHOW_INGRESS) begins
// like a frame with a tag when it came in by 1, 9, 140 or 260.
#ifndef SILKEN_HARNESS_PIPELINE_SIDES_H
#define SILKEN_HARNESS_PIPELINE_SIDES_H

#include "pipeline/switch/pool.h"
#include "pipeline/switch/switch.h"

#define SIDE_BURST   32u
#define SIDE_BUFFERS 256u
#define SIDE_ROOM    (2 * SK_HEADROOM + 1024u + SK_POOL_SLACK)

struct side {
    struct sk_switch *sw;
    struct {
        uint8_t *bytes; // length and bytes of all that it was given
        size_t n, cap;
    } port[SK_PORTS];
    // of the side that has the ports' buffers
    struct sk_buffers buffers;
    struct sk_packet packets[SIDE_BUFFERS], *free;
    uint8_t *memory;
    unsigned refuses; // each so many-th packet that 'send' is asked for is not taken; 0: none
    unsigned asked;
};

struct side *side_start(const struct sk_program *prog, bool lends);
// The same with pipes on so many cores, by turns. The caller runs them all, on one thread.
struct side *side_start_on(const struct sk_program *prog, bool lends, unsigned cores);
void side_end(struct side *s);
struct sk_packet *
side_get(struct side *s); // a buffer; its packet is the caller's until it is received
void side_drain(struct side *s, uint16_t port); // takes what waits to be sent
// The port was given this in another way.
void side_sent(struct side *s, uint16_t port, const uint8_t *frame, uint32_t length);
// Fails the test unless all that was sent and counted is the same.
void sides_check_same(struct side *one, struct side *burst);
uint32_t side_draw(uint64_t *state); // a random number of 31 bits

#endif
