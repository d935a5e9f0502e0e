// SPDX-License-Identifier: Apache-2.0
//
// rack: SwitchML in memory: a switch with workers at its ports 0 and up, and their packets.
//
// The packets are made once: of each worker, for each slot and pool version, as its host stack
// writes them. A round sends them all: version 0, then 1; of each version a burst of every worker
// over all slots, as a port hands them up, then the switch runs. The last worker's burst completes
// every slot, so each round has as many results as slots and versions, sent to every worker. The
// packets of a round are as many as a receive ring of 512 descriptors holds.
#ifndef SILKEN_BENCH_RACK_H
#define SILKEN_BENCH_RACK_H

#include <jansson.h>

#include "compiler/compile.h"
#include "pipeline/ports/ports.h"

#define RACK_WORKERS 8u
#define RACK_SLOTS   32u
#define RACK_PACKETS (RACK_WORKERS * RACK_SLOTS * 2u) // of a round

struct rack {
    unsigned k;           // elements in a packet
    bool f16;             // 16-bit floats
    bool roce;            // by RoCEv2: a worker's burst is a message
    bool cards;           // and the invariant CRC is left to the ports' cards
    unsigned frame_bytes; // of a middle packet, by RoCEv2
    struct sk_program *program;
    struct sk_switch *sw;
    uint8_t *frames; // RACK_PACKETS of them, 'stride' apart, in the order in which they are sent
    unsigned stride;
    uint8_t *buffers; // RACK_PACKETS, which a device would write to; the switch is lent them
    double took;      // rack_took
    uint64_t sent, sent_bytes;      // by the switch
    uint32_t psn;                   // by RoCEv2: of a round's first packets
    uint32_t answers[RACK_WORKERS]; // by RoCEv2: to each worker so far
    uint64_t wrong;                 // results that are not the sum; counted while 'verify'
    bool verify;
    struct sk_ports *ports; // of the rack on devices (rack_ports.c), or null
    // told of every frame that is sent; may be null
    void (*on_sent)(void *aux, const uint8_t *frame);
    void *on_sent_aux;
};

// A switch's configuration (control/config/config.h) for a job of so many workers and slots, worker
// w at port w with that device; 'program' is relative to the file it is written to. Addresses of
// worker w: 02:00:00:00:00:0w, 10.0.0.(w + 1); of the switch: 02:00:00:00:00:fe, 10.0.0.254; UDP
// port 0xbee0.
#define RACK_JOB 1
json_t *rack_configuration(const char *program, unsigned workers, unsigned slots,
                           const char *const *devices);

// Compiles the program, makes the switch and the packets, and checks that a first round gives the
// sums. Ends the process with a sentence when that fails. 'scalar': compiled without vectors, ours
// and the C compiler's.
struct rack *rack_new(unsigned k, bool scalar);
// The same of 16-bit floats, with p4/switchml/halves.p4.
struct rack *rack_new_f16(unsigned k);
// The same of 32-bit integers by RoCEv2, with p4/switchml/with_roce.p4: each worker has one queue
// pair, and the packets of a burst are one message. Their numbers go on, and their invariant CRCs
// are made anew, between rounds. 'cards': the switch does not look at those, nor makes them.
struct rack *rack_new_roce(unsigned k, bool cards);
void rack_free(struct rack *r);
// A frame that left the switch: counts it, and looks at it when 'verify' is set.
void rack_take(struct rack *r, uint16_t port, const uint8_t *frame, uint32_t length);

// A struct bench_side's work, and what it took; 'aux' is the rack; units are packets received. The
// frames of a round lie in buffers of their own, as a device leaves them in the buffers of its
// receive ring; that they are put there again between rounds, since a switch may change a frame
// where it lies, is not the switch's work.
uint64_t rack_work(void *aux, uint64_t times);
double rack_took(void *aux);
// The same where the processor copies each frame into a buffer, as software that hands frames over
// has to: a part of the work.
uint64_t rack_work_copied(void *aux, uint64_t times);

// Where a result's tsi is, big endian: slot * 2 + version, from 0 to RACK_SLOTS * 2 - 1.
#define RACK_TSI_AT 44u

uint8_t *rack_frame(const struct rack *r, unsigned version, unsigned worker, unsigned slot);

#endif
