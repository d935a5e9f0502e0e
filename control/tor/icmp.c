// SPDX-License-Identifier: Apache-2.0
//
// icmp: the switch answers for itself (echo, ports that no one listens at) and tells senders what
// became of their packets, within limits: of every kind so many a second in all, and so many to
// each source.
#include "control/tor/icmp.h"

#include <stdlib.h>
#include <string.h>

#include "util.h"

enum {
    ICMP4_ECHO_REPLY = 0,
    ICMP4_UNREACHABLE = 3,
    ICMP4_ECHO = 8,
    ICMP4_EXCEEDED = 11,
    ICMP4_PARAMETER = 12
};
enum {
    ICMP6_UNREACHABLE = 1,
    ICMP6_TOO_BIG = 2,
    ICMP6_EXCEEDED = 3,
    ICMP6_PARAMETER = 4,
    ICMP6_ECHO = 128,
    ICMP6_ECHO_REPLY = 129,
    ICMP6_REDIRECT = 137
};
enum { HOPS = 64, ICMP_HEADER = 8, TCP_HEADER = 20, UDP_HEADER = 8 };
enum { IPV4_ERROR_MOST = 576, IPV6_ERROR_MOST = 1280 }; // bytes: RFC 1812 4.3.2.3, RFC 4443 2.4 (c)
enum { TOS_CONTROL = 0xc0 };                            // RFC 1812 4.3.2.5
enum { TCP_FIN = 1, TCP_SYN = 2, TCP_RST = 4, TCP_ACK = 16 };

static const struct {
    const char *name;
    uint8_t type4, code4, type6, code6;
    uint32_t rate, burst;               // a second, in all
    uint32_t source_rate, source_burst; // to each source
} kinds[ICMP_KINDS] = {
    [ICMP_ECHO] = {"echo", 0, 0, 0, 0, 1000, 1000, 500, 500},
    [ICMP_TTL] = {"time_exceeded", ICMP4_EXCEEDED, 0, ICMP6_EXCEEDED, 0, 200, 100, 20, 30},
    [ICMP_NO_ROUTE] = {"no_route", ICMP4_UNREACHABLE, 0, ICMP6_UNREACHABLE, 0, 100, 50, 10, 10},
    [ICMP_NO_HOST] = {"host_unreachable", ICMP4_UNREACHABLE, 1, ICMP6_UNREACHABLE, 3, 100, 50, 10,
                      10},
    [ICMP_NO_PORT] = {"port_unreachable", ICMP4_UNREACHABLE, 3, ICMP6_UNREACHABLE, 4, 100, 50, 10,
                      10},
    [ICMP_NO_PROTOCOL] = {"protocol_unreachable", ICMP4_UNREACHABLE, 2, ICMP6_PARAMETER, 1, 100, 50,
                          10, 10},
    [ICMP_TOO_LONG] = {"too_long", ICMP4_UNREACHABLE, 4, ICMP6_TOO_BIG, 0, 200, 100, 20, 20},
    [ICMP_BAD_OPTION] = {"bad_option", ICMP4_PARAMETER, 0, ICMP6_PARAMETER, 0, 100, 50, 10, 10},
    [ICMP_RESET] = {"tcp_reset", 0, 0, 0, 0, 200, 100, 20, 20},
    [ICMP_ASKED] = {"neighbour_asked", 0, 0, 0, 0, 500, 500, 50, 100},
};

// A bucket is the time when its next token would be due if tokens were not saved up; saved are
// 'burst'.
static bool has_token(const uint64_t *bucket, uint64_t now, uint32_t rate, uint32_t burst) {
    return *bucket <= now + (uint64_t)(burst - 1) * (1000000000u / rate);
}

static void take_token(uint64_t *bucket, uint64_t now, uint32_t rate) {
    *bucket = (*bucket > now ? *bucket : now) + 1000000000u / rate;
}

bool icmp_may(struct tor *t, enum icmp_what what, const struct in6_addr *to) {
    struct icmp *s = icmp_of(t);
    uint64_t *all = &s->next[what], *its = &s->next_of[what][ip_hash(to, s->basis) % SOURCES];
    if (!has_token(all, t->now, kinds[what].rate, kinds[what].burst) ||
        !has_token(its, t->now, kinds[what].source_rate, kinds[what].source_burst)) {
        s->limited[what]++;
        return false;
    }
    take_token(all, t->now, kinds[what].rate);
    take_token(its, t->now, kinds[what].source_rate);
    return true;
}

static uint16_t next_id(struct icmp *s) {
    s->id++;
    return s->id ? s->id : ++s->id;
}

// The packet's own way back; a link-local address says nothing about where it is.
static void send_back(struct tor *t, uint16_t vid, const struct in6_addr *to, const uint8_t *packet,
                      uint32_t length) {
    if (ip_is_link_local(to))
        tor_neighbour_send(t, vid, to, 0, packet, length);
    else
        tor_send_ip(t, packet, length);
}

// ---- whom to tell ----
static bool is_error(const struct ip_packet *p) {
    uint8_t type = p->upper < p->length ? p->bytes[p->upper] : 0;
    if (p->v6 && p->protocol == PROTOCOL_ICMPV6)
        return p->upper >= p->length || type < 128 || type == ICMP6_REDIRECT;
    if (!p->v6 && p->protocol == PROTOCOL_ICMP)
        return p->upper >= p->length || (type >= 3 && type <= 5) || type == ICMP4_EXCEEDED ||
               type == ICMP4_PARAMETER;
    return false;
}

// RFC 1812 4.3.2.7, RFC 4443 2.4 (e). Frames to groups do not come this far.
static bool may_be_told(const struct tor *t, const struct ip_packet *p) {
    return !p->later && !is_error(p) && ip_is_unicast(&p->src) && !tor_address_is_end(t, &p->src) &&
           !tor_address_is_own(t, &p->src, NULL) && ip_is_unicast(&p->dst) &&
           !tor_address_is_end(t, &p->dst);
}

// From the VLAN where the packet came in; else from that of the way back; else from any that has
// one.
static bool speaker(struct tor *t, uint16_t vid, const struct in6_addr *to, struct in6_addr *own) {
    struct in6_addr hop;
    uint16_t back;
    if (tor_address_for(t, vid, to, own) ||
        (tor_route_find(t, to, &back, &hop) && tor_address_for(t, back, to, own)))
        return true;
    for (size_t i = 0; i < t->section->n_vlans; i++)
        if (tor_address_for(t, t->section->vlans[i].vid, to, own))
            return true;
    return false;
}

void icmp_error(struct tor *t, uint16_t vid, enum icmp_what what, const struct ip_packet *about,
                uint32_t value) {
    struct in6_addr own;
    if (!may_be_told(t, about) || !speaker(t, vid, &about->src, &own) ||
        !icmp_may(t, what, &about->src))
        return;
    uint8_t out[IPV6_ERROR_MOST];
    const bool v6 = about->v6;
    const uint32_t header = v6 ? IPV6_BYTES : IPV4_BYTES;
    const uint32_t room = (v6 ? IPV6_ERROR_MOST : IPV4_ERROR_MOST) - header - ICMP_HEADER;
    const uint32_t size = ICMP_HEADER + (about->length < room ? about->length : room);
    uint8_t *m = out + header;
    ip_header(out, &own, &about->src, v6 ? PROTOCOL_ICMPV6 : PROTOCOL_ICMP, HOPS, TOS_CONTROL,
              next_id(icmp_of(t)), size);
    m[0] = v6 ? kinds[what].type6 : kinds[what].type4;
    m[1] = v6 ? kinds[what].code6 : kinds[what].code4;
    put16(m + 2, 0);
    // RFC 1191 4: the MTU is in the lower half; RFC 792: a pointer in the first byte
    put32(m + 4, !v6 && what == ICMP_BAD_OPTION    ? value << 24
                 : !v6 && what == ICMP_NO_PROTOCOL ? 0
                                                   : value);
    memcpy(m + ICMP_HEADER, about->bytes, size - ICMP_HEADER);
    put16(m + 2,
          ip_upper_checksum(&own, &about->src, v6 ? PROTOCOL_ICMPV6 : PROTOCOL_ICMP, m, size));
    icmp_of(t)->sent[what]++;
    send_back(t, vid, &about->src, out, header + size);
}

void tor_icmp_no_neighbour(struct tor *t, uint16_t from_vid, const uint8_t *packet,
                           uint32_t length) {
    struct ip_packet p;
    if (from_vid && ip_read(&p, packet, length))
        icmp_error(t, from_vid, ICMP_NO_HOST, &p, 0);
}

// ---- packets for the switch ----
static void echo(struct tor *t, uint16_t vid, const struct ip_packet *p) {
    uint8_t out[IPV6_BYTES + IP_MOST];
    uint32_t size = p->length - p->upper;
    if (size > IP_MOST - IPV6_BYTES || !ip_is_unicast(&p->src) || tor_address_is_end(t, &p->src) ||
        !icmp_may(t, ICMP_ECHO, &p->src))
        return;
    uint8_t tos = p->v6 ? (uint8_t)(get16(p->bytes) >> 4) : p->bytes[1];
    uint8_t *m = out + ip_header(out, &p->dst, &p->src, p->v6 ? PROTOCOL_ICMPV6 : PROTOCOL_ICMP,
                                 HOPS, tos, next_id(icmp_of(t)), size);
    memcpy(m, p->bytes + p->upper, size);
    m[0] = p->v6 ? ICMP6_ECHO_REPLY : ICMP4_ECHO_REPLY;
    put16(m + 2, 0);
    put16(m + 2,
          ip_upper_checksum(&p->dst, &p->src, p->v6 ? PROTOCOL_ICMPV6 : PROTOCOL_ICMP, m, size));
    icmp_of(t)->sent[ICMP_ECHO]++;
    send_back(t, vid, &p->src, out, (uint32_t)(m - out) + size);
}

// RFC 9293 3.10.7.1: no one listens.
static void icmp_reset(struct tor *t, uint16_t vid, const struct ip_packet *p) {
    const uint8_t *in = p->bytes + p->upper;
    uint32_t length = p->length - p->upper, header = (in[12] >> 4) * 4u;
    uint8_t out[IPV6_BYTES + TCP_HEADER], flags = in[13];
    if (header < TCP_HEADER || header > length || flags & TCP_RST || !ip_is_unicast(&p->src) ||
        tor_address_is_end(t, &p->src) || !icmp_may(t, ICMP_RESET, &p->src))
        return;
    uint8_t *m = out + ip_header(out, &p->dst, &p->src, PROTOCOL_TCP, HOPS, 0, 0, TCP_HEADER);
    memset(m, 0, TCP_HEADER);
    memcpy(m, in + 2, 2);
    memcpy(m + 2, in, 2);
    m[12] = TCP_HEADER / 4 << 4;
    m[13] = TCP_RST;
    if (flags & TCP_ACK) {
        memcpy(m + 4, in + 8, 4);
    } else {
        m[13] |= TCP_ACK;
        put32(m + 8, get32(in + 4) + length - header + !!(flags & TCP_SYN) + !!(flags & TCP_FIN));
    }
    put16(m + 16, ip_upper_checksum(&p->dst, &p->src, PROTOCOL_TCP, m, TCP_HEADER));
    icmp_of(t)->sent[ICMP_RESET]++;
    send_back(t, vid, &p->src, out, (uint32_t)(m - out) + TCP_HEADER);
}

static bool checks(const struct ip_packet *p, uint32_t least) {
    uint32_t length = p->length - p->upper;
    return length >= least &&
           ip_upper_checksum(&p->src, &p->dst, p->protocol, p->bytes + p->upper, length) == 0;
}

static bool udp_checks(const struct ip_packet *p) {
    uint32_t length = p->length - p->upper;
    const uint8_t *u = p->bytes + p->upper;
    if (length < UDP_HEADER || get16(u + 4) < UDP_HEADER || get16(u + 4) > length)
        return false;
    return (!p->v6 && get16(u + 6) == 0) ||
           ip_upper_checksum(&p->src, &p->dst, PROTOCOL_UDP, u, get16(u + 4)) == 0;
}

void icmp_local(struct tor *t, uint16_t vid, const struct ip_packet *p) {
    // There is no reassembly here: memory that strangers fill, for pings longer than an MTU.
    if (p->fragment) {
        icmp_of(t)->fragments++;
        return;
    }
    switch (p->protocol) {
    case PROTOCOL_ICMP:
    case PROTOCOL_ICMPV6:
        if (p->v6 == (p->protocol == PROTOCOL_ICMPV6) && checks(p, ICMP_HEADER) &&
            p->bytes[p->upper] == (p->v6 ? ICMP6_ECHO : ICMP4_ECHO) && p->bytes[p->upper + 1] == 0)
            echo(t, vid, p);
        break;
    case PROTOCOL_TCP:
        if (checks(p, TCP_HEADER))
            icmp_reset(t, vid, p);
        break;
    case PROTOCOL_UDP:
        if (udp_checks(p) && !tor_jobs_hear(t, p))
            icmp_error(t, vid, ICMP_NO_PORT, p, 0);
        break;
    case PROTOCOL_NONE:
        break;
    default:
        icmp_error(t, vid, ICMP_NO_PROTOCOL, p, p->next_at);
    }
}

// ---- the module ----
static void icmp_frame(struct tor *t, void *state, const struct tor_frame *f) {
    struct ip_packet p;
    const uint16_t type = get16(f->bytes + 12);
    (void)state;
    if (!f->link || (type != ETHER_IPV4 && type != ETHER_IPV6))
        return;
    switch (f->reason) {
    case TOR_REASON_LOCAL:
    case TOR_REASON_GLEAN:
    case TOR_REASON_TTL:
    case TOR_REASON_NO_ROUTE:
    case TOR_REASON_OPTIONS:
        if (memcmp(f->bytes, t->section->mac.bytes, 6) != 0)
            return;
        break;
    case TOR_REASON_TOO_LONG:
        break;
    default:
        return;
    }
    if (!ip_read(&p, f->bytes + ETH_BYTES, f->length - ETH_BYTES) || p.v6 != (type == ETHER_IPV6))
        return;
    if (f->reason == TOR_REASON_TOO_LONG)
        forward_too_long(t, f, &p);
    else if (tor_address_is_own(t, &p.dst, NULL))
        icmp_local(t, f->vid, &p);
    else
        forward_packet(t, f->vid, &p);
}

static void *icmp_create(struct tor *t) {
    struct icmp *s = xzalloc(sizeof *s);
    (void)t;
    // Who shares a bucket with whom is not for others to know.
    s->basis = (uint32_t)((uintptr_t)s >> 4) * 2654435761u;
    return s;
}

static void icmp_destroy(struct tor *t, void *state) {
    (void)t;
    free(state);
}

static json_t *icmp_request(struct tor *t, void *state, const char *op, json_t *r,
                            struct sk_error *err) {
    const struct icmp *s = state;
    (void)t, (void)r, (void)err;
    if (strcmp(op, "tor.icmp") != 0)
        return NULL;
    json_t *sent = json_object(), *limited = json_object();
    for (int i = 0; i < ICMP_KINDS; i++) {
        if (i != ICMP_ASKED)
            json_object_set_new(sent, kinds[i].name, json_integer((json_int_t)s->sent[i]));
        json_object_set_new(limited, kinds[i].name, json_integer((json_int_t)s->limited[i]));
    }
    return json_pack("{s:o, s:o, s:I, s:I, s:I}", "sent", sent, "limited", limited, "forwarded",
                     (json_int_t)s->forwarded, "dropped", (json_int_t)s->dropped, "fragments",
                     (json_int_t)s->fragments);
}

const struct tor_module tor_icmp_module = {.name = "icmp",
                                           .create = icmp_create,
                                           .destroy = icmp_destroy,
                                           .frame = icmp_frame,
                                           .request = icmp_request};
