// SPDX-License-Identifier: Apache-2.0
//
// switchml.h: the formats of SwitchML's packets that hosts and the control plane of a switch share.
//
//      ethernet_h 14 | ipv4_h 20 | udp_h 8 | switchml_h 8 | exponents_h 2 | k elements of 4 bytes
//
// The layout of the headers is that of the P4 program (the generated switchml_wire.h);
// hosts/switchml/frame.h describes the fields for a worker.
//
// COLLECTIVES. Of msg_type 12 to 15 (SWML_COLLECTIVE and the two flags) is a packet of a collective
// operation (p4/switchml/README.md). Its e1 says who gets the elements of the result, all others
// get it without: the packet ends after the exponents. One that has no elements to add ends there,
// too, and counts as zeros.
//
//      audience 0..31    worker 0..31 alone
//      audience 32..63   all but worker 0..31
//      audience 64       nobody
//
// RESTARTS. A restarted switch and its workers exchange their progress by messages of this form
// (hosts/switchml/worker.h, control/tor/jobs_resume.c). The switch's port is SWML_RESTART_PORT in
// all of them, so neither side confuses them with others, and a worker sends them to that port
// only:
//
//      msg_type  from    pool_index   tsi          elements
//      2 WHERE   switch  first slot   0            none: the packet ends after the exponents
//      3 HERE    worker  first slot   pool size    how often the slots from there on were used, k
//                                                  of them
//      4 AGAIN   switch  slot         of a chunk   none
//      5 KEPT    worker, then switch to those who need it: the answer to that chunk, as it was
#ifndef SILKEN_WIRE_SWITCHML_H
#define SILKEN_WIRE_SWITCHML_H

#include <stdint.h>

#define SWML_OWN_BYTES 10 // switchml_h and exponents_h, which follow UDP's header
#define SWML_MAX_K     256

// Slots are 14 bits wide, as in the published pipeline.
#define SWML_MAX_SLOTS 16384

// The switch's UDP port in what is said about restarts.
#define SWML_RESTART_PORT 0xbedf

enum swml_message {
    SWML_NO_MESSAGE,
    SWML_DATA,
    SWML_WHERE,
    SWML_HERE,
    SWML_AGAIN,
    SWML_KEPT,
    SWML_COLLECTIVE = 12 // to 15, with the flags
};

#define SWML_EMPTY 2u // of a message: it has no elements
#define SWML_BRIEF 1u // who has sent it wants none back

#define SWML_COLLECTIVE_WORKERS 32u // a job with more has no audiences
#define SWML_ALL_BUT            32u // audience: and the worker's number
#define SWML_NOBODY             64u

// A chunk's number (switchml_h.tsi): its job's session, and how often its slot was used before.
static inline uint32_t swml_chunk_number(uint8_t session, uint32_t uses) {
    return (uint32_t)session << 24 | (uses & 0xffffff);
}

#endif
