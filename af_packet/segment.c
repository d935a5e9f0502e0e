// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include <linux/if_ether.h>
#include <netinet/in.h>

#include "af_packet/af_packet_impl.h"
#include "base/bytes.h"

#define TAGS       2u
#define V4_LEAST   20u
#define V6_HEADER  40u
#define TCP_LEAST  20u
#define UDP_BYTES  8u
#define LONGEST_IP 65535u // of a frame that stands for several

// Where fields are, in their headers.
enum {
    V4_LENGTH = 2,
    V4_IDENTIFICATION = 4,
    V4_FRAGMENT = 6,
    V4_PROTOCOL = 9,
    V4_CHECKSUM = 10,
    V4_ADDRESSES = 12,
    V6_LENGTH = 4,
    V6_NEXT = 6,
    V6_ADDRESSES = 8,
    TCP_SEQUENCE = 4,
    TCP_OFFSET = 12,
    TCP_FLAGS = 13,
    TCP_CHECKSUM = 16,
    UDP_LENGTH = 4,
    UDP_CHECKSUM = 6
};
enum { FIN = 0x01, SYN = 0x02, RST = 0x04, PSH = 0x08, ACK = 0x10, URG = 0x20, CWR = 0x80 };

// ---- sums (RFC 1071) ----

static inline uint32_t segment_fold(uint64_t sum) {
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint32_t)sum;
}

// Of a raw sum in network order.
static uint32_t segment_turn(uint64_t sum) {
    const uint16_t raw = (uint16_t)segment_fold(sum);
    uint8_t bytes[2];
    memcpy(bytes, &raw, sizeof bytes);
    return get16(bytes);
}

static uint32_t segment_sum(const uint8_t *at, uint32_t n) {
    return segment_turn(af_packet_sum(at, n));
}

// Copies and sums up; 'to' may be null.
static uint32_t segment_copy(uint8_t *to, const uint8_t *from, uint32_t n) {
    return segment_turn(to ? af_packet_copy(to, from, n) : af_packet_sum(from, n));
}

// ---- a frame's headers ----

struct place {
    uint32_t network, transport, payload;
    bool v6, tcp;
};

static bool segment_find_network(struct place *p, const uint8_t *frame, uint32_t length) {
    uint32_t at = AF_PACKET_ADDRESSES;
    for (unsigned tags = 0; tags <= TAGS; tags++, at += AF_PACKET_TAG) {
        if (length < at + 2)
            return false;
        const uint32_t type = get16(frame + at);
        p->network = at + 2;
        p->v6 = type == ETH_P_IPV6;
        if (type == ETH_P_IP || type == ETH_P_IPV6)
            return true;
        if (type != ETH_P_8021Q && type != ETH_P_8021AD)
            return false;
    }
    return false;
}

static bool segment_find_transport(struct place *p, const uint8_t *frame, uint32_t length) {
    const uint8_t *ip = frame + p->network;
    const uint32_t there = length - p->network;
    uint32_t protocol;
    if (p->v6) {
        if (there < V6_HEADER || ip[0] >> 4 != 6)
            return false;
        p->transport = p->network + V6_HEADER;
        protocol = ip[V6_NEXT];
    } else {
        if (there < V4_LEAST || ip[0] >> 4 != 4 || (ip[0] & 15) < V4_LEAST / 4 ||
            get16(ip + V4_FRAGMENT) & 0x3fff)
            return false;
        p->transport = p->network + (ip[0] & 15) * 4u;
        protocol = ip[V4_PROTOCOL];
    }
    p->tcp = protocol == IPPROTO_TCP;
    return p->tcp || protocol == IPPROTO_UDP;
}

static bool find(struct place *p, const uint8_t *frame, uint32_t length) {
    if (!segment_find_network(p, frame, length) || !segment_find_transport(p, frame, length))
        return false;
    if (length < p->transport + (p->tcp ? TCP_LEAST : UDP_BYTES))
        return false;
    uint32_t header = UDP_BYTES;
    if (p->tcp) {
        header = (frame[p->transport + TCP_OFFSET] >> 4) * 4u;
        if (header < TCP_LEAST)
            return false;
    }
    p->payload = p->transport + header;
    return p->payload <= length && p->payload <= AF_PACKET_SEGMENT_HEADERS;
}

// The part of the pseudo header that does not depend on the length: addresses and protocol.
static uint32_t segment_pseudo(const struct place *p, const uint8_t *frame) {
    const uint8_t *ip = frame + p->network;
    const uint32_t addresses =
        p->v6 ? segment_sum(ip + V6_ADDRESSES, 32) : segment_sum(ip + V4_ADDRESSES, 8);
    return addresses + (p->tcp ? IPPROTO_TCP : IPPROTO_UDP);
}

// As virtio has it.
static uint8_t segment_type(const struct place *p) {
    return !p->tcp ? VIRTIO_NET_HDR_GSO_UDP_L4
           : p->v6 ? VIRTIO_NET_HDR_GSO_TCPV6
                   : VIRTIO_NET_HDR_GSO_TCPV4;
}

// ---- cutting ----

bool af_packet_segment_open(struct af_packet_segment *s, const uint8_t *frame, uint32_t length,
                            const struct virtio_net_hdr *v) {
    const unsigned type = v->gso_type & ~(unsigned)VIRTIO_NET_HDR_GSO_ECN;
    struct place p;
    if (!find(&p, frame, length) || v->gso_size == 0 || p.payload == length)
        return false;
    if (type != segment_type(&p) ||
        (v->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM && v->csum_start != p.transport))
        return false;
    const uint32_t bytes = length - p.payload, pieces = (bytes + v->gso_size - 1) / v->gso_size;
    if (pieces > AF_PACKET_SEGMENT_PIECES ||
        length > AF_PACKET_SEGMENT_BYTES + TAGS * AF_PACKET_TAG)
        return false;
    *s = (struct af_packet_segment){.frame = frame,
                                    .length = length,
                                    .network = p.network,
                                    .transport = p.transport,
                                    .payload = p.payload,
                                    .size = v->gso_size,
                                    .same = segment_pseudo(&p, frame),
                                    .pieces = pieces,
                                    .v6 = p.v6,
                                    .tcp = p.tcp};
    return true;
}

uint32_t af_packet_segment_length(const struct af_packet_segment *s, unsigned i) {
    const uint32_t from = s->payload + i * s->size, left = s->length - from;
    return s->payload + (left < s->size ? left : s->size);
}

// The network header of a packet of so many bytes behind its Ethernet header and tags.
static void write_network(const struct af_packet_segment *s, unsigned i, uint8_t *ip,
                          uint32_t bytes) {
    if (s->v6) {
        put16(ip + V6_LENGTH, bytes - V6_HEADER);
        return;
    }
    const uint32_t header = s->transport - s->network;
    put16(ip + V4_LENGTH, bytes);
    put16(ip + V4_IDENTIFICATION, get16(ip + V4_IDENTIFICATION) + i);
    put16(ip + V4_CHECKSUM, 0);
    put16(ip + V4_CHECKSUM, (uint16_t)~segment_sum(ip, header));
}

static uint32_t transport_checksum(const struct af_packet_segment *s) {
    return s->tcp ? TCP_CHECKSUM : UDP_CHECKSUM;
}

// The transport header of a packet, with the checksum 0.
static void write_transport(const struct af_packet_segment *s, unsigned i, uint8_t *at,
                            uint32_t bytes) {
    if (s->tcp) {
        put32(at + TCP_SEQUENCE, get32(at + TCP_SEQUENCE) + i * s->size);
        if (i + 1 < s->pieces)
            at[TCP_FLAGS] &= (uint8_t) ~(FIN | PSH);
        if (i > 0)
            at[TCP_FLAGS] &= (uint8_t)~CWR;
    } else {
        put16(at + UDP_LENGTH, bytes);
    }
    put16(at + transport_checksum(s), 0);
}

// All headers of packet 'i', with the transport's checksum 0.
static void write_headers(const struct af_packet_segment *s, unsigned i, uint8_t *to) {
    const uint32_t length = af_packet_segment_length(s, i);
    memcpy(to, s->frame, s->payload);
    write_network(s, i, to + s->network, length - s->network);
    write_transport(s, i, to + s->transport, length - s->transport);
}

// Of a transport header and a payload with this sum, in network order, 'bytes' together.
static void write_checksum(const struct af_packet_segment *s, uint8_t *at, uint32_t bytes,
                           uint32_t payload) {
    const uint32_t header = segment_sum(at, s->payload - s->transport);
    const uint32_t sum = ~segment_fold((uint64_t)s->same + bytes + header + payload) & 0xffff;
    put16(at + transport_checksum(s), sum || s->tcp ? sum : 0xffff); // 0 says: no checksum
}

void af_packet_segment_piece(const struct af_packet_segment *s, unsigned i, uint8_t *to,
                             uint32_t room) {
    const uint32_t length = af_packet_segment_length(s, i);
    if (length > room) { // too long for whoever asks: its beginning says what it was
        const uint32_t headers = s->payload < room ? s->payload : room;
        memcpy(to, s->frame, headers);
        memcpy(to + headers, s->frame + s->payload + i * s->size, room - headers);
        return;
    }
    const uint32_t payload =
        segment_copy(to + s->payload, s->frame + s->payload + i * s->size, length - s->payload);
    write_headers(s, i, to);
    write_checksum(s, to + s->transport, length - s->transport, payload);
}

// ---- who takes several datagrams as one ----

struct taker {
    uint8_t address[16];
    uint16_t port;
    bool v6;
};

static void taker_of(struct taker *k, const struct place *p, const uint8_t *frame, bool sender) {
    const uint32_t bytes = p->v6 ? 16 : 4, from = p->v6 ? V6_ADDRESSES : V4_ADDRESSES;
    memset(k, 0, sizeof *k);
    memcpy(k->address, frame + p->network + from + (sender ? 0 : bytes), bytes);
    k->port = get16(frame + p->transport + (sender ? 0 : 2));
    k->v6 = p->v6;
}

static unsigned taker_place(const struct taker *k) {
    uint32_t h = k->port * 0x9e3779b1u;
    for (unsigned i = 0; i < sizeof k->address; i += 4)
        h = (h ^ get32(k->address + i)) * 0x9e3779b1u;
    return (h >> 16) % AF_PACKET_TAKERS;
}

void af_packet_taker(struct af_packet_takers *t, const struct af_packet_segment *s) {
    const struct place p = {s->network, s->transport, s->payload, s->v6, s->tcp};
    struct taker k;
    if (s->tcp)
        return;
    taker_of(&k, &p, s->frame, true);
    const unsigned i = taker_place(&k);
    memcpy(t->list[i].address, k.address, sizeof k.address);
    t->list[i].port = k.port;
    t->list[i].v6 = k.v6;
    t->list[i].until = t->now + AF_PACKET_TAKES_NS;
    t->any = true;
}

static bool segment_is_taken(const struct af_packet_takers *t, const struct place *p,
                             const uint8_t *frame) {
    struct taker k;
    if (!t || !t->any)
        return false;
    taker_of(&k, p, frame, false);
    const unsigned i = taker_place(&k);
    return t->now < t->list[i].until && t->list[i].port == k.port && t->list[i].v6 == k.v6 &&
           memcmp(t->list[i].address, k.address, sizeof k.address) == 0;
}

// ---- joining ----

// One packet whose checksums are right and that may be part of a segment.
struct part {
    struct place at;
    uint32_t bytes; // of payload
    bool unsummed;  // a datagram without a checksum
};

static bool ip_is_whole(const struct place *p, const uint8_t *frame, uint32_t length) {
    const uint8_t *ip = frame + p->network;
    if (p->v6)
        return get16(ip + V6_LENGTH) == length - p->transport;
    return get16(ip + V4_LENGTH) == length - p->network &&
           segment_sum(ip, p->transport - p->network) == 0xffff;
}

// The payload is copied to 'to' unless that is null.
static bool sum_is_right(const struct part *t, const uint8_t *frame, uint32_t length, uint8_t *to) {
    const struct place *p = &t->at;
    if (t->unsummed) {
        if (to)
            memcpy(to, frame + p->payload, length - p->payload);
        return true;
    }
    const uint32_t header = segment_sum(frame + p->transport, p->payload - p->transport);
    return segment_fold((uint64_t)segment_pseudo(p, frame) + length - p->transport + header +
                        segment_copy(to, frame + p->payload, length - p->payload)) == 0xffff;
}

// Packets with others stay alone: what cutting does to these flags is more than to take them off.
static bool segment_flags_join(uint8_t flags) {
    return (flags & (SYN | RST | URG | CWR | ACK)) == ACK;
}

// A cheap look first: most packets are alone. 'takers': of datagrams, who takes them joined.
static bool read_part(struct part *t, const struct af_packet_frame *f,
                      const struct af_packet_takers *takers) {
    if (!find(&t->at, f->data, f->length) || t->at.payload == f->length)
        return false;
    const uint8_t *transport = f->data + t->at.transport;
    t->bytes = f->length - t->at.payload;
    t->unsummed = !t->at.tcp && get16(transport + UDP_CHECKSUM) == 0;
    if (t->at.tcp ? !segment_flags_join(transport[TCP_FLAGS])
                  : !segment_is_taken(takers, &t->at, f->data) ||
                        get16(transport + UDP_LENGTH) != f->length - t->at.transport)
        return false;
    return ip_is_whole(&t->at, f->data, f->length);
}

static bool segment_same(const uint8_t *a, const uint8_t *b, uint32_t from, uint32_t to) {
    return memcmp(a + from, b + from, to - from) == 0;
}

static bool network_follows(const struct place *p, const uint8_t *a, const uint8_t *b, unsigned i) {
    const uint8_t *x = a + p->network, *y = b + p->network;
    if (!segment_same(a, b, 0, p->network))
        return false;
    if (p->v6)
        return segment_same(x, y, 0, V6_LENGTH) && segment_same(x, y, V6_NEXT, V6_HEADER);
    return segment_same(x, y, 0, V4_LENGTH) && segment_same(x, y, V4_FRAGMENT, V4_CHECKSUM) &&
           segment_same(x, y, V4_ADDRESSES, p->transport - p->network) &&
           get16(y + V4_IDENTIFICATION) == ((get16(x + V4_IDENTIFICATION) + i) & 0xffff);
}

static bool stream_follows(const struct place *p, const uint8_t *x, const uint8_t *y,
                           uint32_t bytes) {
    const uint8_t last = (uint8_t)(FIN | PSH);
    return segment_same(x, y, 0, TCP_SEQUENCE) && segment_same(x, y, TCP_SEQUENCE + 4, TCP_FLAGS) &&
           (x[TCP_FLAGS] | last) == (y[TCP_FLAGS] | last) &&
           segment_same(x, y, TCP_FLAGS + 1, TCP_CHECKSUM) &&
           segment_same(x, y, TCP_CHECKSUM + 2, p->payload - p->transport) &&
           get32(y + TCP_SEQUENCE) == get32(x + TCP_SEQUENCE) + bytes;
}

// Packet 'i' of the segment that begins with 'a', whose packets have 'size' bytes.
static bool segment_follows(const struct part *p, const struct af_packet_frame *a,
                            const struct af_packet_frame *b, unsigned i, uint32_t size,
                            const struct af_packet_takers *takers) {
    struct part q;
    if (!read_part(&q, b, takers) || q.at.tcp != p->at.tcp || q.unsummed != p->unsummed ||
        q.at.network != p->at.network || q.at.transport != p->at.transport ||
        q.at.payload != p->at.payload || q.at.v6 != p->at.v6 || q.bytes > size ||
        !network_follows(&p->at, a->data, b->data, i))
        return false;
    const uint8_t *x = a->data + p->at.transport, *y = b->data + p->at.transport;
    return p->at.tcp ? stream_follows(&p->at, x, y, i * size) : segment_same(x, y, 0, UDP_LENGTH);
}

static bool segment_ends(const struct part *p, const struct af_packet_frame *f) {
    return p->at.tcp && f->data[p->at.transport + TCP_FLAGS] & (FIN | PSH);
}

// 'first': the first packet's headers.
static void segment_describe(struct af_packet_joined *j, const struct part *p, const uint8_t *first,
                             uint8_t flags_of_last, uint32_t bytes, uint32_t size) {
    const struct place *at = &p->at;
    const uint16_t sum = at->tcp ? TCP_CHECKSUM : UDP_CHECKSUM;
    uint8_t *ip = j->header + at->network, *transport = j->header + at->transport;
    const uint32_t behind = at->payload - at->transport + bytes;
    j->headers = at->payload;
    j->bytes = bytes;
    memcpy(j->header, first, j->headers);
    if (at->v6) {
        put16(ip + V6_LENGTH, behind);
    } else {
        put16(ip + V4_LENGTH, at->transport - at->network + behind);
        put16(ip + V4_CHECKSUM, 0);
        put16(ip + V4_CHECKSUM, (uint16_t)~segment_sum(ip, at->transport - at->network));
    }
    if (at->tcp)
        transport[TCP_FLAGS] = flags_of_last;
    else
        put16(transport + UDP_LENGTH, behind);
    put16(transport + sum, segment_fold((uint64_t)segment_pseudo(at, first) + behind));
    j->v = (struct virtio_net_hdr){.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
                                   .gso_type = segment_type(at),
                                   .hdr_len = (uint16_t)at->payload,
                                   .gso_size = (uint16_t)size,
                                   .csum_start = (uint16_t)at->transport,
                                   .csum_offset = sum};
}

unsigned af_packet_join(struct af_packet_joined *j, const struct af_packet_frame *frames,
                        unsigned n, const struct af_packet_takers *takers) {
    struct part p;
    if (n < 2 || !read_part(&p, &frames[0], takers) || segment_ends(&p, &frames[0]))
        return 1;
    const uint32_t size = p.bytes;
    uint32_t bytes = size;
    unsigned k = 1;
    while (k < n && k < AF_PACKET_SEGMENT_PIECES &&
           segment_follows(&p, &frames[0], &frames[k], k, size, takers)) {
        if (frames[k].length - p.at.network + bytes > LONGEST_IP ||
            !sum_is_right(&p, frames[k].data, frames[k].length,
                          j->payload ? j->payload + bytes : NULL))
            break;
        bytes += frames[k].length - p.at.payload;
        k++;
        if (frames[k - 1].length < frames[0].length || segment_ends(&p, &frames[k - 1]))
            break;
    }
    if (k < 2 || !sum_is_right(&p, frames[0].data, frames[0].length, j->payload))
        return 1;
    segment_describe(j, &p, frames[0].data,
                     p.at.tcp ? frames[k - 1].data[p.at.transport + TCP_FLAGS] : 0, bytes, size);
    return k;
}

// ---- neither ----

bool af_packet_segment_whole(const struct af_packet_segment *s, struct af_packet_joined *j) {
    const struct part p = {.at = {s->network, s->transport, s->payload, s->v6, s->tcp}};
    uint8_t first[AF_PACKET_SEGMENT_HEADERS];
    if (!s->tcp || s->pieces < 2 || s->length - s->network > LONGEST_IP ||
        !segment_flags_join(s->frame[s->transport + TCP_FLAGS]))
        return false;
    write_headers(s, 0, first);
    segment_describe(j, &p, first, s->frame[s->transport + TCP_FLAGS], s->length - s->payload,
                     s->size);
    return true;
}

// Its first bytes; zeros are behind its end.
static void show_packet(const struct af_packet_segment *s, unsigned i, uint8_t *to) {
    uint8_t bytes[AF_PACKET_SEGMENT_HEADERS + AF_PACKET_SHOWN] = {0};
    const uint32_t payload = af_packet_segment_length(s, i) - s->payload;
    write_headers(s, i, bytes);
    memcpy(bytes + s->payload, s->frame + s->payload + i * s->size,
           payload < AF_PACKET_SHOWN ? payload : AF_PACKET_SHOWN);
    memcpy(to, bytes, AF_PACKET_SHOWN);
}

void af_packet_segment_show(const struct af_packet_segment *s, struct af_packet_whole *w) {
    uint8_t differs[AF_PACKET_SEGMENT_HEADERS + AF_PACKET_SHOWN] = {0};
    w->packets = s->pieces;
    w->length = af_packet_segment_length(s, 0);
    w->last_length = af_packet_segment_length(s, s->pieces - 1);
    show_packet(s, 0, w->first);
    show_packet(s, s->pieces - 1, w->last);
    if (!s->v6) {
        memset(differs + s->network + V4_IDENTIFICATION, 0xff, 2);
        memset(differs + s->network + V4_CHECKSUM, 0xff, 2);
    }
    if (s->tcp)
        memset(differs + s->transport + TCP_SEQUENCE, 0xff, 4);
    memset(differs + s->transport + transport_checksum(s), 0xff, 2);
    memset(differs + s->payload, 0xff, AF_PACKET_SHOWN);
    memcpy(w->differs, differs, AF_PACKET_SHOWN);
}
