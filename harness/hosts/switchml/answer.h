// SPDX-License-Identifier: Apache-2.0
//
// answer.h: a test-only encoder of the switch's answers, apart from the code under test.
//
// answer_make() turns a frame that a worker has sent into the answer of a switch whose other
// workers contribute nothing. The offsets and sums are written out here once more on purpose, so
// that a mistake in the wire structs does not hide itself. No state; any thread.
#ifndef SILKEN_HARNESS_HOSTS_SWITCHML_ANSWER_H
#define SILKEN_HARNESS_HOSTS_SWITCHML_ANSWER_H

#include <stddef.h>
#include <stdint.h>

// Turns the update 'frame' into the answer, in place: swaps addresses and ports, restores the
// IPv4 checksum.
void answer_make(uint8_t *frame);

// Restores the IPv4 header checksum after a change.
void answer_fix_checksum(uint8_t *frame);

// Gives the frame a correct UDP checksum instead of none.
void answer_set_udp_checksum(uint8_t *frame, size_t len);

// Fields of a frame, for changing and looking.
enum answer_offset {
    AT_ETHERTYPE = 12,
    AT_IP = 14,
    AT_IP_TOTAL = 16,
    AT_IP_FRAGMENT = 20,
    AT_IP_PROTOCOL = 23,
    AT_IP_SOURCE = 26,
    AT_IP_DESTINATION = 30,
    AT_UDP_SOURCE = 34,
    AT_UDP_DESTINATION = 36,
    AT_UDP_LENGTH = 38,
    AT_UDP_CHECKSUM = 40,
    AT_SIZE = 42,
    AT_JOB = 43,
    AT_TSI = 44,
    AT_POOL_INDEX = 48,
    AT_E0 = 50,
    AT_E1 = 51,
    AT_ELEMENTS = 52,
};

uint16_t answer_get16(const uint8_t *frame, size_t at);
void answer_set16(uint8_t *frame, size_t at, uint16_t value);

#endif
