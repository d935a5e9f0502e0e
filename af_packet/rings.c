// SPDX-License-Identifier: Apache-2.0
//
// rings: bursts. A frame's status says whose it is; who changes it to the other's does so last.
#include <errno.h>
#include <string.h>
#include <time.h>

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>

#include "af_packet/af_packet_impl.h"

#define DATAGRAMS_TRIED 8u // joined frames, with ENOBUFS for each and none sent in between
#define PATIENCE_NS     UINT64_C(10000000)
// Of a frame that is sent: what the kernel copies, since what is behind an interface without a card
// copies it anyway, a page at a time. Longer ones it reads out of the ring.
#define COPIED      2048u
#define SEND_BEFORE (TPACKET2_HDRLEN - sizeof(struct sockaddr_ll))

_Static_assert(SEND_BEFORE + sizeof(struct virtio_net_hdr) + ETH_HLEN <= AF_PACKET_MARGIN,
               "a frame that can be received can be sent");

static inline struct tpacket2_hdr *af_packet_at(const struct af_packet_ring *r, uint32_t i) {
    return (struct tpacket2_hdr *)(void *)(r->at + (size_t)i * r->frame);
}

static inline uint32_t af_packet_status(const struct tpacket2_hdr *h) {
    return __atomic_load_n(&h->tp_status, __ATOMIC_ACQUIRE);
}

static inline void af_packet_give(struct tpacket2_hdr *h, uint32_t status) {
    __atomic_store_n(&h->tp_status, status, __ATOMIC_RELEASE);
}

static inline uint32_t af_packet_after(const struct af_packet_ring *r, uint32_t i) {
    return i + 1 == r->frames ? 0 : i + 1;
}

// ---- receiving ----

static inline bool af_packet_is_wanted(const struct af_packet *a, const struct tpacket2_hdr *h) {
    const struct sockaddr_ll *from = (const void *)((const uint8_t *)h + TPACKET_ALIGN(sizeof *h));
    return from->sll_pkttype != PACKET_OUTGOING &&
           (a->all || from->sll_pkttype != PACKET_OTHERHOST);
}

uint32_t af_packet_put_tag(uint8_t *to, uint32_t status, uint16_t tci, uint16_t type) {
    type = status & TP_STATUS_VLAN_TPID_VALID ? type : ETH_P_8021Q;
    to[0] = (uint8_t)(type >> 8);
    to[1] = (uint8_t)type;
    to[2] = (uint8_t)(tci >> 8);
    to[3] = (uint8_t)tci;
    return AF_PACKET_TAG;
}

static inline void af_packet_copy_out(struct af_packet_frame *f, const struct tpacket2_hdr *h,
                                      uint32_t status, uint32_t room) {
    const uint8_t *from = (const uint8_t *)h + h->tp_mac;
    uint32_t there = h->tp_snaplen, tag = 0;
    f->whole = h->tp_len;
    if (__builtin_expect(status & TP_STATUS_VLAN_VALID && there >= AF_PACKET_ADDRESSES, 0)) {
        memcpy(f->data, from, AF_PACKET_ADDRESSES);
        tag = af_packet_put_tag(f->data + AF_PACKET_ADDRESSES, status, h->tp_vlan_tci,
                                h->tp_vlan_tpid);
        f->whole += tag;
        there = there + tag <= room ? there : room - tag;
        memcpy(f->data + AF_PACKET_ADDRESSES + tag, from + AF_PACKET_ADDRESSES,
               there - AF_PACKET_ADDRESSES);
    } else {
        there = there <= room ? there : room;
        memcpy(f->data, from, there);
    }
    f->length = there + tag;
    if (status & TP_STATUS_CSUMNOTREADY && f->length == f->whole) {
        struct virtio_net_hdr v;
        memcpy(&v, from - sizeof v, sizeof v);
        if (v.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM)
            af_packet_checksum(f->data, f->length, v.csum_start + tag, v.csum_offset);
    }
}

static inline struct tpacket2_hdr *af_packet_pop(struct af_packet_ring *r) {
    struct tpacket2_hdr *h = af_packet_at(r, r->next);
    r->next = af_packet_after(r, r->next);
    return h;
}

// The next frame is large: how many packets it is. It leaves the ring; 0: it is not for us.
static unsigned af_packet_begin_large(struct af_packet *a, unsigned queue, uint32_t status) {
    struct tpacket2_hdr *h = af_packet_at(&a->rx[queue], a->rx[queue].next);
    if (!af_packet_take_large(a, queue, h, status)) {
        // what the ring has of it is received, and its length says that this is not all
        h->tp_status = status & ~(uint32_t)(TP_STATUS_COPY | TP_STATUS_CSUMNOTREADY);
        return 1;
    }
    if (!af_packet_is_wanted(a, h))
        a->large[queue].pieces = 0;
    af_packet_give(af_packet_pop(&a->rx[queue]), TP_STATUS_KERNEL);
    return a->large[queue].pieces;
}

unsigned af_packet_ready(struct af_packet *a, unsigned queue, unsigned most) {
    const struct af_packet_large *l = &a->large[queue];
    if (l->next < l->pieces)
        return l->pieces - l->next < most ? l->pieces - l->next : most;
    const struct af_packet_ring *r = &a->rx[queue];
    uint32_t i = r->next;
    unsigned n = 0;
    for (; n < most; n++, i = af_packet_after(r, i)) {
        const struct tpacket2_hdr *h = af_packet_at(r, i);
        const uint32_t status = af_packet_status(h);
        if (!(status & TP_STATUS_USER))
            break;
        if (__builtin_expect(af_packet_is_large(h, status), 0)) {
            // packets of one large frame are a burst of their own
            const unsigned pieces = n == 0 ? af_packet_begin_large(a, queue, status) : 0;
            return n > 0 ? n : pieces < most ? pieces : most;
        }
    }
    return n;
}

bool af_packet_is_partway(const struct af_packet *a, unsigned queue) {
    return a->large[queue].next > 0 && a->large[queue].next < a->large[queue].pieces;
}

unsigned af_packet_receive(struct af_packet *a, unsigned queue, struct af_packet_frame *frames,
                           unsigned n, uint32_t room) {
    struct af_packet_ring *r = &a->rx[queue];
    struct af_packet_large *l = &a->large[queue];
    unsigned got = 0;
    if (l->next < l->pieces) {
        for (; got < n && l->next < l->pieces; got++)
            af_packet_next_piece(l, &frames[got], room);
        return got;
    }
    for (unsigned i = 0; i < n; i++) {
        struct tpacket2_hdr *h = af_packet_pop(r);
        __builtin_prefetch((const uint8_t *)af_packet_at(r, r->next) + AF_PACKET_BEFORE);
        if (af_packet_is_wanted(a, h))
            af_packet_copy_out(&frames[got++], h, af_packet_status(h), room);
        af_packet_give(h, TP_STATUS_KERNEL);
    }
    return got;
}

void af_packet_pass_over(struct af_packet *a, unsigned queue) {
    struct af_packet_ring *r = &a->rx[queue];
    for (uint32_t i = 0; i < r->frames; i++) {
        if (!af_packet_ready(a, queue, 1))
            break;
        if (a->large[queue].pieces)
            a->large[queue].pieces = a->large[queue].next = 0;
        else
            af_packet_give(af_packet_pop(r), TP_STATUS_KERNEL);
    }
}

// ---- sending ----

static inline void af_packet_copy_in(const struct af_packet *a, struct tpacket2_hdr *h,
                                     const struct af_packet_frame *f) {
    uint8_t *at = (uint8_t *)h + SEND_BEFORE;
    const bool copied = a->copies && f->length <= COPIED;
    const struct virtio_net_hdr v = {.hdr_len = (uint16_t)(copied ? f->length : 0)};
    memcpy(at, &v, sizeof v);
    memcpy(at + sizeof v, f->data, f->length);
    h->tp_len = (uint32_t)sizeof v + f->length;
    af_packet_give(h, TP_STATUS_SEND_REQUEST);
}

uint64_t af_packet_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static unsigned af_packet_refuse(struct af_packet *a) {
    atomic_fetch_add_explicit(&a->refused, 1, memory_order_relaxed);
    a->refused_since = 0;
    return 1;
}

// The kernel took none, and the first is 'h'; 'error' says why. Returns 1 when that frame is to be
// given up: an interface that has no room now may have some later, but one behind a veth's other
// end that takes only shorter ones never goes, and nothing else would.
static unsigned af_packet_stuck(struct af_packet *a, uint32_t status, int error) {
    if (status & TP_STATUS_WRONG_FORMAT)
        return af_packet_refuse(a);
    if (error == EAGAIN || error == EINTR || error == ENETDOWN || error == ENXIO)
        return 0;
    const uint64_t now = af_packet_now();
    if (a->refused_since == 0)
        a->refused_since = now;
    return now - a->refused_since > PATIENCE_NS ? af_packet_refuse(a) : 0;
}

// Of 'n' frames from 'first' on, which the kernel has looked at in their order: how many it took.
// The others are ours again.
static unsigned af_packet_take_back(struct af_packet *a, uint32_t first, unsigned n, int error) {
    struct af_packet_ring *r = &a->tx;
    const uint32_t ours = TP_STATUS_SEND_REQUEST | TP_STATUS_WRONG_FORMAT;
    unsigned taken = 0;
    uint32_t status = 0;
    r->next = first;
    for (; taken < n && !((status = af_packet_status(af_packet_at(r, r->next))) & ours); taken++)
        r->next = af_packet_after(r, r->next);
    uint32_t i = r->next;
    for (unsigned left = taken; left < n; left++, i = af_packet_after(r, i))
        af_packet_give(af_packet_at(r, i), TP_STATUS_AVAILABLE);
    if (taken > 0)
        a->refused_since = 0;
    return taken > 0 ? taken : af_packet_stuck(a, status, error);
}

// One by one, in the ring.
static unsigned af_packet_send_ring(struct af_packet *a, const struct af_packet_frame *frames,
                                    unsigned n) {
    struct af_packet_ring *r = &a->tx;
    const uint32_t first = r->next,
                   room = r->frame - (uint32_t)(SEND_BEFORE + sizeof(struct virtio_net_hdr)),
                   busy = TP_STATUS_SEND_REQUEST | TP_STATUS_SENDING;
    unsigned given = 0;
    if (n > 0 && frames[0].length > room)
        return af_packet_refuse(a);
    for (; given < n && given < r->frames && frames[given].length <= room; given++) {
        struct tpacket2_hdr *h = af_packet_at(r, r->next);
        if (af_packet_status(h) & busy)
            break;
        af_packet_copy_in(a, h, &frames[given]);
        r->next = af_packet_after(r, r->next);
    }
    if (given == 0)
        return 0;
    const int error = a->kick(a) < 0 ? errno : 0;
    const uint32_t last = (r->next == 0 ? r->frames : r->next) - 1;
    if (__builtin_expect(!(af_packet_status(af_packet_at(r, last)) &
                           (TP_STATUS_SEND_REQUEST | TP_STATUS_WRONG_FORMAT)),
                         1)) {
        a->refused_since = 0;
        return given;
    }
    return af_packet_take_back(a, first, given, error);
}

// The first 'n' as one. As af_packet_send().
static unsigned af_packet_send_one(struct af_packet *a, struct af_packet_joined *j,
                                   const struct af_packet_frame *frames, unsigned n) {
    const int error = af_packet_send_joined(a, j);
    const bool datagrams = j->v.gso_type == VIRTIO_NET_HDR_GSO_UDP_L4;
    if (error == 0) {
        a->refused_since = 0;
        a->datagrams_failed = datagrams ? 0 : a->datagrams_failed;
        return n;
    }
    // Linux before 6.2 does not know these; an interface may not cut them although it cuts TCP's.
    if (datagrams && (error == ENOBUFS || error == EINVAL || error == EOPNOTSUPP)) {
        a->no_datagrams = error != ENOBUFS || ++a->datagrams_failed == DATAGRAMS_TRIED;
        return af_packet_send_ring(a, frames, n);
    }
    // The kernel does not know such frames; or, which looks like a want of memory, the interface
    // does not cut them any more.
    if (error == ENOBUFS || error == EINVAL || error == EOPNOTSUPP) {
        a->joins = error == ENOBUFS && a->cuts(a);
        return af_packet_send_ring(a, frames, n);
    }
    return af_packet_stuck(a, 0, error);
}

unsigned af_packet_send(struct af_packet *a, const struct af_packet_frame *frames, unsigned n) {
    const struct af_packet_takers *takers = a->takers.any && !a->no_datagrams ? &a->takers : NULL;
    unsigned done = 0;
    if (takers)
        a->takers.now = af_packet_now();
    while (done < n) {
        struct af_packet_joined j = {.payload = a->joining};
        unsigned single = 0, together = 1;
        for (; done + single < n; single++) {
            together = a->joins && !a->single
                           ? af_packet_join(&j, frames + done + single, n - done - single, takers)
                           : 1;
            if (together > 1)
                break;
        }
        if (single > 0) {
            const unsigned sent = af_packet_send_ring(a, frames + done, single);
            done += sent;
            if (sent < single)
                return done;
        }
        if (together > 1) {
            const unsigned sent = af_packet_send_one(a, &j, frames + done, together);
            done += sent;
            if (sent < together)
                return done;
        }
    }
    return done;
}

void af_packet_set_single(struct af_packet *a, bool single) {
    a->single = single;
}

uint64_t af_packet_refused(const struct af_packet *a) {
    return atomic_load_explicit(&a->refused, memory_order_relaxed);
}
