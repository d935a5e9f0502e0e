// SPDX-License-Identifier: Apache-2.0
//
// fuzz_packet_text: any bytes as what somebody pastes for a packet. What is read are whole bytes,
// not too many; read again as plain digits they are the same; what is refused is refused with a
// sentence.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pcap/packet/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void again(const uint8_t *bytes, uint32_t n) {
    struct sk_error err = {""};
    uint32_t m = 0;
    char *digits = malloc(2 * (size_t)n + 1);
    if (!digits)
        abort();
    for (uint32_t i = 0; i < n; i++)
        snprintf(digits + 2 * (size_t)i, 3, "%02x", bytes[i]);
    uint8_t *same = packet_text_read("again", digits, 2 * (size_t)n, &m, &err);
    // one long word of digits is never taken for an offset
    if (!same || m != n || memcmp(same, bytes, n) != 0)
        abort();
    free(same);
    free(digits);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct sk_error err = {""};
    uint32_t n = 0;
    char *text = malloc(size + 1);
    if (!text)
        abort();
    memcpy(text, data, size);
    text[size] = '\0'; // packet_text_is() looks for blanks at the beginning
    packet_text_is(text, size);
    uint8_t *bytes = packet_text_read("fuzz", text, size, &n, &err);
    if (bytes ? n == 0 || n > PACKET_LONGEST : !err.text[0])
        abort();
    if (bytes)
        again(bytes, n);
    free(bytes);
    free(text);
    return 0;
}
