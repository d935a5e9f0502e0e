// SPDX-License-Identifier: Apache-2.0
//
// igmp: messages of IGMP version 1 (RFC 1112), 2 (RFC 2236) and 3 (RFC 3376), read and written.
#include <string.h>

#include "control/tor/snoop_impl.h"
#include "control/tor/tor_impl.h"

enum {
    QUERY = 0x11,
    REPORT_1 = 0x12,
    REPORT_2 = 0x16,
    LEAVE = 0x17,
    REPORT_3 = 0x22,
};
// Bytes of a message of versions 1 and 2, and before the records of version 3.
#define MESSAGE             8u
#define QUERY_3             12u
#define RECORD              8u
#define ROUTER_ALERT_HEADER 24u

static struct in6_addr igmp_address(const uint8_t *b) {
    return tor_ipv4((uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3]);
}
static bool igmp_is_group(const uint8_t *b) {
    return b[0] >> 4 == 14;
}

static enum snoop_verdict igmp_read_query(const uint8_t *b, uint32_t length,
                                          struct snoop_message *m) {
    static const uint8_t none[4];
    m->query = true;
    if (memcmp(b + 4, none, 4) != 0) {
        if (!igmp_is_group(b + 4))
            return SNOOP_BAD;
        m->group = igmp_address(b + 4);
    }
    // RFC 3376 7.1: the version is told by the length.
    if (length == MESSAGE) {
        m->version = b[1] == 0 ? 1 : 2;
        m->response_ms = b[1] == 0 ? 10000 : b[1] * 100u;
        return SNOOP_GOOD;
    }
    if (length < QUERY_3 || QUERY_3 + 4u * get16(b + 10) > length)
        return SNOOP_BAD;
    m->version = 3;
    m->response_ms = snoop_number(b[1], 4) * 100;
    m->suppress = b[8] & 8;
    m->robustness = b[8] & 7;
    m->interval = snoop_number(b[9], 4);
    m->sources = get16(b + 10) > 0;
    return SNOOP_GOOD;
}

static enum snoop_verdict igmp_read_records(const uint8_t *b, uint32_t length,
                                            struct snoop_message *m) {
    uint32_t at = MESSAGE;
    m->version = 3;
    for (uint32_t n = get16(b + 6); n > 0; n--) {
        if (at + RECORD > length)
            return SNOOP_BAD;
        const uint8_t kind = b[at], *group = b + at + 4;
        const uint32_t n_sources = get16(b + at + 2);
        at += RECORD + 4 * n_sources + 4u * b[at + 1];
        if (at > length)
            return SNOOP_BAD;
        // 4.2.12: kinds that do not exist yet are passed over
        if (kind >= 1 && kind <= 6 && igmp_is_group(group) && m->n_records < SNOOP_RECORDS)
            m->records[m->n_records++] = (struct snoop_record){
                .group = igmp_address(group), .leave = snoop_record_leaves(kind, n_sources)};
    }
    return SNOOP_GOOD;
}

static enum snoop_verdict igmp_read_message(const uint8_t *b, uint32_t length,
                                            struct snoop_message *m) {
    switch (b[0]) {
    case QUERY:
        return igmp_read_query(b, length, m);
    case REPORT_3:
        return igmp_read_records(b, length, m);
    case REPORT_1:
    case REPORT_2:
    case LEAVE:
        if (!igmp_is_group(b + 4))
            return SNOOP_BAD;
        m->version = b[0] == REPORT_1 ? 1 : 2;
        m->n_records = 1;
        m->records[0] = (struct snoop_record){.group = igmp_address(b + 4), .leave = b[0] == LEAVE};
        return SNOOP_GOOD;
    default:
        return SNOOP_OTHER;
    }
}

enum snoop_verdict snoop_igmp_read(const uint8_t *packet, uint32_t length,
                                   struct snoop_message *m) {
    if (length < 20 || packet[0] >> 4 != 4 || packet[9] != IPPROTO_IGMP)
        return SNOOP_BAD;
    const uint32_t header = (packet[0] & 15) * 4u, total = get16(packet + 2);
    // After the packet there may be padding.
    if (header < 20 || total < header + MESSAGE || total > length ||
        internet_checksum(0, packet, header) != 0)
        return SNOOP_BAD;
    const uint8_t *b = packet + header;
    if ((get16(packet + 6) & 0x3fff) != 0) // a fragment
        return SNOOP_BAD;
    if (internet_checksum(0, b, total - header) != 0)
        return SNOOP_BAD;
    m->query = m->mld = m->sources = m->suppress = false;
    m->from = igmp_address(packet + 12);
    m->group = in6addr_any;
    m->interval = m->robustness = m->n_records = 0;
    const enum snoop_verdict v = igmp_is_group(packet + 12) ? SNOOP_BAD
                                 : !igmp_is_group(packet + 16)
                                     ? SNOOP_OTHER
                                     : igmp_read_message(b, total - header, m);
    // What all versions send has one hop; more of them can have come from far away.
    return v == SNOOP_GOOD && packet[8] != 1 ? SNOOP_BAD : v;
}

// RFC 3376 4, 4.1: precedence 6, one hop, router alert.
uint32_t snoop_igmp_query(const struct snoop_query *q, uint8_t out[SNOOP_QUERY_BYTES]) {
    static const uint8_t all_hosts[4] = {224, 0, 0, 1};
    static const uint8_t ip[ROUTER_ALERT_HEADER] = {
        0x46, 0xc0, 0, ROUTER_ALERT_HEADER + QUERY_3, 0, 0, 0, 0, 1, IPPROTO_IGMP, [20] = 0x94,
        4,    0,    0};
    const bool general = IN6_IS_ADDR_UNSPECIFIED(&q->group);
    uint8_t *p = out + 14, *b = p + ROUTER_ALERT_HEADER;
    memset(out, 0, SNOOP_QUERY_BYTES);
    memcpy(p, ip, sizeof ip);
    memcpy(p + 12, &q->from.s6_addr[12], 4);
    memcpy(p + 16, general ? all_hosts : &q->group.s6_addr[12], 4);
    put16(p + 10, internet_checksum(0, p, ROUTER_ALERT_HEADER));
    b[0] = QUERY;
    b[1] = (uint8_t)snoop_code(q->response_ms / 100, 4);
    memcpy(b + 4, &q->group.s6_addr[12], 4);
    b[8] = (uint8_t)q->robustness;
    b[9] = (uint8_t)snoop_code(q->interval, 4);
    put16(b + 2, internet_checksum(0, b, QUERY_3));
    const struct in6_addr to =
        tor_ipv4((uint32_t)p[16] << 24 | (uint32_t)p[17] << 16 | (uint32_t)p[18] << 8 | p[19]);
    snoop_mac(&to, out);
    memcpy(out + 6, q->mac, 6);
    put16(out + 12, 0x0800);
    return 60; // the shortest frame there is
}
