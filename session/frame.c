// SPDX-License-Identifier: Apache-2.0
#include "session/frame.h"

#include <string.h>

#include "base/bytes.h"

#define LEAST_FRAME 60u // of Ethernet, without its checksum
#define IPV4_AT     14u
#define UDP_AT      34u
#define UDP_BYTES   8u
#define IPV4_BYTES  20u

// Over addresses, protocol and length besides (RFC 768).
static uint16_t frame_udp_checksum(const uint8_t *frame, size_t udp_length) {
    uint32_t sum = 17 + (uint32_t)udp_length;
    for (size_t i = 12; i < IPV4_BYTES; i += 2)
        sum += get16(frame + IPV4_AT + i);
    return internet_checksum(sum, frame + UDP_AT, udp_length);
}

static uint16_t frame_port(const struct session_end *end) {
    return end->port ? end->port : SESSION_PORT;
}

size_t session_frame_write(uint8_t *out, const struct session_end *from,
                           const struct session_end *to, const struct session_message *m) {
    const size_t payload = session_write(out + SESSION_ADDRESS_BYTES, m);
    size_t length = SESSION_ADDRESS_BYTES + payload;
    uint8_t *ip = out + IPV4_AT, *udp = out + UDP_AT;
    memset(out, 0, SESSION_ADDRESS_BYTES);
    memcpy(out, to->mac, 6);
    memcpy(out + 6, from->mac, 6);
    put16(out + 12, 0x0800);
    ip[0] = 0x45;
    put16(ip + 2, (uint16_t)(IPV4_BYTES + UDP_BYTES + payload));
    put16(ip + 6, 0x4000); // not to be fragmented
    ip[8] = 64;
    ip[9] = 17;
    put32(ip + 12, from->ip);
    put32(ip + 16, to->ip);
    put16(ip + 10, internet_checksum(0, ip, IPV4_BYTES));
    put16(udp, frame_port(from));
    put16(udp + 2, frame_port(to));
    put16(udp + 4, (uint16_t)(UDP_BYTES + payload));
    const uint16_t sum = frame_udp_checksum(out, UDP_BYTES + payload);
    put16(udp + 6, sum ? sum : 0xffff);
    for (; length < LEAST_FRAME; length++)
        out[length] = 0;
    return length;
}

bool session_frame_read(const uint8_t *frame, size_t length, const struct session_end *to,
                        struct session_end *from, struct session_message *m) {
    const uint8_t *ip = frame + IPV4_AT, *udp = frame + UDP_AT;
    if (length < SESSION_ADDRESS_BYTES + SESSION_HEADER_BYTES || memcmp(frame, to->mac, 6) != 0 ||
        get16(frame + 12) != 0x0800 || ip[0] != 0x45 || get16(ip + 6) & 0x3fff || ip[9] != 17 ||
        get32(ip + 16) != to->ip || internet_checksum(0, ip, IPV4_BYTES) != 0)
        return false;
    const size_t udp_length = get16(udp + 4);
    if (get16(udp) == 0 || get16(udp + 2) != frame_port(to) || udp_length < UDP_BYTES ||
        udp_length > length - UDP_AT || get16(ip + 2) != IPV4_BYTES + udp_length ||
        (get16(udp + 6) && frame_udp_checksum(frame, udp_length) != 0))
        return false;
    memcpy(from->mac, frame + 6, 6);
    from->ip = get32(ip + 12);
    from->port = get16(udp);
    return session_read(m, frame + SESSION_ADDRESS_BYTES, udp_length - UDP_BYTES);
}

bool session_frame_to(const uint8_t *frame, size_t length, struct session_end *to) {
    if (length < SESSION_ADDRESS_BYTES)
        return false;
    memcpy(to->mac, frame, sizeof to->mac);
    to->ip = get32(frame + IPV4_AT + 16);
    to->port = get16(frame + UDP_AT + 2);
    return true;
}
