// SPDX-License-Identifier: Apache-2.0
#include "harness/hosts/switchml/answer.h"

uint16_t answer_get16(const uint8_t *frame, size_t at) {
    return (uint16_t)(frame[at] << 8 | frame[at + 1]);
}

void answer_set16(uint8_t *frame, size_t at, uint16_t value) {
    frame[at] = (uint8_t)(value >> 8);
    frame[at + 1] = (uint8_t)value;
}

static void swap(uint8_t *a, uint8_t *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint8_t keep = a[i];
        a[i] = b[i];
        b[i] = keep;
    }
}

static uint32_t sum_of(const uint8_t *frame, size_t from, size_t len) {
    uint32_t sum = 0;

    for (size_t i = 0; i < len; i++)
        sum += i % 2 ? frame[from + i] : (uint32_t)frame[from + i] << 8;
    return sum;
}

static uint16_t complement(uint32_t sum) {
    while (sum > 0xffff)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

void answer_fix_checksum(uint8_t *frame) {
    answer_set16(frame, 24, 0);
    answer_set16(frame, 24, complement(sum_of(frame, AT_IP, 20)));
}

void answer_set_udp_checksum(uint8_t *frame, size_t len) {
    uint32_t sum = sum_of(frame, AT_IP_SOURCE, 8) + 17 + answer_get16(frame, AT_UDP_LENGTH);

    answer_set16(frame, AT_UDP_CHECKSUM, 0);
    sum += sum_of(frame, AT_UDP_SOURCE, len - AT_UDP_SOURCE);
    answer_set16(frame, AT_UDP_CHECKSUM, complement(sum));
}

void answer_make(uint8_t *frame) {
    swap(frame, frame + 6, 6);
    swap(frame + AT_IP_SOURCE, frame + AT_IP_DESTINATION, 4);
    swap(frame + AT_UDP_SOURCE, frame + AT_UDP_DESTINATION, 2);
    answer_fix_checksum(frame);
}
