// SPDX-License-Identifier: Apache-2.0
//
// large: frames that stand for several packets. One that a ring's frame has no room for the kernel
// also puts into its socket's queue (PACKET_COPY_THRESH), in the ring's order, where it is read
// whole. Those that are sent go by a socket without a ring, out of one piece of memory: the kernel
// takes longer over each of many pieces than a copy of all takes here.
#include <errno.h>
#include <string.h>

#include <linux/if_ether.h>
#include <linux/if_packet.h>

#include "af_packet/af_packet_impl.h"

static struct virtio_net_hdr said(const struct tpacket2_hdr *h) {
    struct virtio_net_hdr v;
    memcpy(&v, (const uint8_t *)h + h->tp_mac - sizeof v, sizeof v);
    return v;
}

// A segment's checksum is always left to a card, so the header of others is not looked at.
bool af_packet_is_large(const struct tpacket2_hdr *h, uint32_t status) {
    if (!(status & (TP_STATUS_COPY | TP_STATUS_CSUMNOTREADY)))
        return false;
    return status & TP_STATUS_COPY || said(h).gso_type != VIRTIO_NET_HDR_GSO_NONE;
}

// ---- receiving ----

struct taken {
    struct virtio_net_hdr v;
    uint32_t whole, there; // bytes of the frame, and of it in the room
    uint32_t tag;          // bytes of one that was put in
};

static void put_tag(uint8_t *room, struct taken *t, uint32_t status, uint16_t tci, uint16_t type) {
    memmove(room, room + AF_PACKET_TAG, AF_PACKET_ADDRESSES);
    t->tag = af_packet_put_tag(room + AF_PACKET_ADDRESSES, status, tci, type);
}

// Reads the whole frame from the socket's queue. It is at room + AF_PACKET_TAG; with its tag, at
// the room's beginning.
static bool read_copy(struct af_packet *a, unsigned queue, struct taken *t) {
    uint8_t *room = a->large[queue].room;
    union {
        struct cmsghdr align;
        uint8_t bytes[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
    } control;
    struct iovec parts[] = {{&t->v, sizeof t->v},
                            {room + AF_PACKET_TAG, AF_PACKET_LARGE_ROOM - AF_PACKET_TAG}};
    struct msghdr m = {.msg_iov = parts,
                       .msg_iovlen = 2,
                       .msg_control = &control,
                       .msg_controllen = sizeof control};
    const ssize_t n = a->read(a, queue, &m);
    if (n < (ssize_t)sizeof t->v)
        return false;
    t->whole = (uint32_t)n - (uint32_t)sizeof t->v;
    t->there = t->whole < parts[1].iov_len ? t->whole : (uint32_t)parts[1].iov_len;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
        struct tpacket_auxdata x;
        if (c->cmsg_level != SOL_PACKET || c->cmsg_type != PACKET_AUXDATA)
            continue;
        memcpy(&x, CMSG_DATA(c), sizeof x);
        if (x.tp_status & TP_STATUS_VLAN_VALID && t->there >= AF_PACKET_ADDRESSES)
            put_tag(room, t, x.tp_status, x.tp_vlan_tci, x.tp_vlan_tpid);
    }
    return true;
}

// Copies a frame that the ring has whole.
static bool copy_segment(struct af_packet_large *l, const struct tpacket2_hdr *h, uint32_t status,
                         struct taken *t) {
    if (h->tp_snaplen != h->tp_len || h->tp_len > AF_PACKET_LARGE_ROOM - AF_PACKET_TAG)
        return false;
    t->v = said(h);
    t->whole = t->there = h->tp_len;
    memcpy(l->room + AF_PACKET_TAG, (const uint8_t *)h + h->tp_mac, t->there);
    if (status & TP_STATUS_VLAN_VALID && t->there >= AF_PACKET_ADDRESSES)
        put_tag(l->room, t, status, h->tp_vlan_tci, h->tp_vlan_tpid);
    return true;
}

bool af_packet_take_large(struct af_packet *a, unsigned queue, const struct tpacket2_hdr *h,
                          uint32_t status) {
    struct af_packet_large *l = &a->large[queue];
    struct taken t = {0};
    if (!l->room ||
        !(status & TP_STATUS_COPY ? read_copy(a, queue, &t) : copy_segment(l, h, status, &t)))
        return false;
    const uint8_t *frame = l->room + AF_PACKET_TAG - t.tag;
    t.v.csum_start = (uint16_t)(t.v.csum_start + t.tag);
    l->next = 0;
    l->pieces = 1;
    l->whole = 0;
    if (t.there == t.whole && af_packet_segment_open(&l->segment, frame, t.there + t.tag, &t.v)) {
        l->pieces = l->segment.pieces;
        a->takers.now = af_packet_now();
        af_packet_taker(&a->takers, &l->segment);
    } else { // is not a packet, and must not be taken for one: longer than any
        l->segment.frame = frame;
        l->segment.length = t.there + t.tag;
        l->whole = t.whole > AF_PACKET_LARGE_ROOM ? t.whole : AF_PACKET_LARGE_ROOM;
    }
    return true;
}

void af_packet_next_piece(struct af_packet_large *l, struct af_packet_frame *f, uint32_t room) {
    const struct af_packet_segment *s = &l->segment;
    const unsigned i = l->next++;
    f->whole = l->whole ? l->whole : af_packet_segment_length(s, i);
    f->length = f->whole < room ? f->whole : room;
    if (l->whole) {
        f->length = f->length < s->length ? f->length : s->length;
        memcpy(f->data, s->frame, f->length);
    } else {
        af_packet_segment_piece(s, i, f->data, room);
    }
}

// ---- sending ----

static int send_large(struct af_packet *a, struct af_packet_joined *j, const uint8_t *payload) {
    struct iovec parts[] = {
        {&j->v, sizeof j->v}, {j->header, j->headers}, {(uint8_t *)payload, j->bytes}};
    const struct msghdr m = {.msg_iov = parts, .msg_iovlen = 3};
    return a->write(a, &m) < 0 ? errno : 0;
}

int af_packet_send_joined(struct af_packet *a, struct af_packet_joined *j) {
    return send_large(a, j, j->payload);
}

// ---- neither ----

bool af_packet_shows(struct af_packet *a, unsigned queue, struct af_packet_whole *w) {
    struct af_packet_large *l = &a->large[queue];
    if (l->next >= l->pieces)
        af_packet_ready(a, queue, 1);
    if (l->next > 0 || l->pieces == 0 || l->whole ||
        !af_packet_segment_whole(&l->segment, &l->joined))
        return false;
    af_packet_segment_show(&l->segment, w);
    return true;
}

bool af_packet_pass(struct af_packet *a, unsigned queue, struct af_packet *to) {
    struct af_packet_large *l = &a->large[queue];
    const struct af_packet_segment *s = &l->segment;
    if (!to->joins || send_large(to, &l->joined, s->frame + s->payload))
        return false;
    to->refused_since = 0;
    l->next = l->pieces;
    return true;
}
