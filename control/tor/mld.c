// SPDX-License-Identifier: Apache-2.0
//
// mld: messages of MLD version 1 (RFC 2710) and 2 (RFC 3810), read and written; and what does not
// depend on the family.
#include <string.h>

#include "control/tor/snoop_impl.h"
#include "control/tor/tor_impl.h"

enum {
    QUERY = 130,
    REPORT_1 = 131,
    DONE = 132,
    REPORT_2 = 143,
};
#define HEADER    40u
#define MESSAGE_1 24u // bytes of a message of version 1
#define QUERY_2   28u
#define RECORDS   8u // bytes before the records of version 2
#define RECORD    20u

static struct in6_addr mld_address(const uint8_t *b) {
    struct in6_addr a;
    memcpy(&a, b, sizeof a);
    return a;
}

static enum snoop_verdict mld_read_query(const uint8_t *b, uint32_t length,
                                         struct snoop_message *m) {
    if (length < MESSAGE_1)
        return SNOOP_BAD;
    m->query = true;
    m->group = mld_address(b + 8);
    if (!IN6_IS_ADDR_UNSPECIFIED(&m->group) && !IN6_IS_ADDR_MULTICAST(&m->group))
        return SNOOP_BAD;
    // RFC 3810 8.1: the version is told by the length.
    if (length == MESSAGE_1) {
        m->version = 1;
        m->response_ms = get16(b + 4);
        return SNOOP_GOOD;
    }
    if (length < QUERY_2 || QUERY_2 + 16u * get16(b + 26) > length)
        return SNOOP_BAD;
    m->version = 2;
    m->response_ms = snoop_number(get16(b + 4), 12);
    m->suppress = b[24] & 8;
    m->robustness = b[24] & 7;
    m->interval = snoop_number(b[25], 4);
    m->sources = get16(b + 26) > 0;
    return SNOOP_GOOD;
}

static enum snoop_verdict mld_read_records(const uint8_t *b, uint32_t length,
                                           struct snoop_message *m) {
    uint32_t at = RECORDS;
    m->version = 2;
    for (uint32_t n = get16(b + 6); n > 0; n--) {
        if (at + RECORD > length)
            return SNOOP_BAD;
        const uint8_t kind = b[at], *group = b + at + 4;
        const uint32_t n_sources = get16(b + at + 2);
        at += RECORD + 16 * n_sources + 4u * b[at + 1];
        if (at > length)
            return SNOOP_BAD;
        if (kind >= 1 && kind <= 6 && group[0] == 0xff && m->n_records < SNOOP_RECORDS)
            m->records[m->n_records++] = (struct snoop_record){
                .group = mld_address(group), .leave = snoop_record_leaves(kind, n_sources)};
    }
    return SNOOP_GOOD;
}

static enum snoop_verdict mld_read_message(const uint8_t *b, uint32_t length,
                                           struct snoop_message *m) {
    switch (b[0]) {
    case QUERY:
        return mld_read_query(b, length, m);
    case REPORT_2:
        return mld_read_records(b, length, m);
    case REPORT_1:
    case DONE:
        if (length < MESSAGE_1 || b[8] != 0xff)
            return SNOOP_BAD;
        m->version = 1;
        m->n_records = 1;
        m->records[0] = (struct snoop_record){.group = mld_address(b + 8), .leave = b[0] == DONE};
        return SNOOP_GOOD;
    default:
        return SNOOP_OTHER;
    }
}

// Is there a router alert among the options? Options that reach beyond the header are none. RFC
// 8200 4.2, RFC 2711.
static bool has_router_alert(const uint8_t *options, uint32_t length) {
    for (uint32_t at = 0; at < length;) {
        if (options[at] == 0) { // one byte of padding
            at++;
            continue;
        }
        if (at + 2 > length || at + 2 + options[at + 1] > length)
            return false;
        if (options[at] == 5 && options[at + 1] == 2)
            return true;
        at += 2u + options[at + 1];
    }
    return false;
}

// The sum of the pseudo header. RFC 8200 8.1.
static uint32_t pseudo_sum(const uint8_t *packet, uint32_t length) {
    uint32_t sum = length + IPPROTO_ICMPV6;
    for (int i = 8; i < 40; i += 2)
        sum += get16(packet + i);
    return sum;
}

enum snoop_verdict snoop_mld_read(const uint8_t *packet, uint32_t length, struct snoop_message *m) {
    if (length < HEADER + 8 || packet[0] >> 4 != 6 || packet[6] != IPPROTO_HOPOPTS)
        return SNOOP_BAD;
    const uint32_t end = HEADER + get16(packet + 4);
    const uint32_t options = 8u * (packet[HEADER + 1] + 1u), at = HEADER + options;
    if (end > length || at + 8 > end || packet[HEADER] != IPPROTO_ICMPV6)
        return SNOOP_BAD;
    const uint8_t *b = packet + at;
    if (internet_checksum(pseudo_sum(packet, end - at), b, end - at) != 0)
        return SNOOP_BAD;
    m->mld = true;
    m->query = m->sources = m->suppress = false;
    m->from = mld_address(packet + 8);
    m->group = in6addr_any;
    m->interval = m->robustness = m->n_records = 0;
    if (packet[24] != 0xff)
        return SNOOP_OTHER;
    const enum snoop_verdict v = mld_read_message(b, end - at, m);
    if (v != SNOOP_GOOD)
        return v;
    // RFC 2710 3, RFC 3810 5: from an address of the link, one hop, a router alert. Hosts that have
    // no address yet report from the unspecified one (RFC 3590 4).
    if (packet[7] != 1 || !has_router_alert(packet + HEADER + 2, options - 2))
        return SNOOP_BAD;
    if (!IN6_IS_ADDR_LINKLOCAL(&m->from) && (m->query || !IN6_IS_ADDR_UNSPECIFIED(&m->from)))
        return SNOOP_BAD;
    return SNOOP_GOOD;
}

uint32_t snoop_mld_query(const struct snoop_query *q, uint8_t out[SNOOP_QUERY_BYTES]) {
    static const uint8_t router_alert[8] = {IPPROTO_ICMPV6, 0, 5, 2, 0, 0, 1, 0};
    static const struct in6_addr all_nodes = {.s6_addr = {0xff, 2, [15] = 1}};
    const struct in6_addr to = IN6_IS_ADDR_UNSPECIFIED(&q->group) ? all_nodes : q->group;
    uint8_t *p = out + 14, *b = p + HEADER + sizeof router_alert;
    memset(out, 0, SNOOP_QUERY_BYTES);
    p[0] = 0x60;
    put16(p + 4, sizeof router_alert + QUERY_2);
    p[6] = IPPROTO_HOPOPTS;
    p[7] = 1;
    memcpy(p + 8, &q->from, 16);
    memcpy(p + 24, &to, 16);
    memcpy(p + HEADER, router_alert, sizeof router_alert);
    b[0] = QUERY;
    put16(b + 4, (uint16_t)snoop_code(q->response_ms, 12));
    memcpy(b + 8, &q->group, 16);
    b[24] = (uint8_t)q->robustness;
    b[25] = (uint8_t)snoop_code(q->interval, 4);
    put16(b + 2, internet_checksum(pseudo_sum(p, QUERY_2), b, QUERY_2));
    snoop_mac(&to, out);
    memcpy(out + 6, q->mac, 6);
    put16(out + 12, 0x86dd);
    return 14 + HEADER + sizeof router_alert + QUERY_2;
}

// ---- of both families ----

void snoop_mac(const struct in6_addr *group, uint8_t mac[6]) {
    const uint8_t *a = group->s6_addr;
    if (tor_is_ipv4(group)) {
        const uint8_t of_ipv4[6] = {0x01, 0x00, 0x5e, a[13] & 0x7f, a[14], a[15]};
        memcpy(mac, of_ipv4, 6);
    } else {
        const uint8_t of_ipv6[6] = {0x33, 0x33, a[12], a[13], a[14], a[15]};
        memcpy(mac, of_ipv6, 6);
    }
}

enum snoop_verdict snoop_read(const uint8_t *frame, uint32_t length, struct snoop_message *m) {
    if (length < 14)
        return SNOOP_BAD;
    switch (get16(frame + 12)) {
    case 0x0800:
        return snoop_igmp_read(frame + 14, length - 14, m);
    case 0x86dd:
        return snoop_mld_read(frame + 14, length - 14, m);
    default:
        return SNOOP_OTHER;
    }
}

uint32_t snoop_query_frame(const struct snoop_query *q, uint8_t out[SNOOP_QUERY_BYTES]) {
    return tor_is_ipv4(&q->from) ? snoop_igmp_query(q, out) : snoop_mld_query(q, out);
}
