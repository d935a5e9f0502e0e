// SPDX-License-Identifier: Apache-2.0
#include "hosts/transport/segments.h"

#include <netinet/in.h>
#include <string.h>

#include "base/bytes.h"
#include "hosts/core/udp.h"

// Of a frame: the receiver's address, and both ports.
#define TO_AT     (SK_UDP_BYTES - 12)
#define TO_BYTES  8
#define LENGTH_AT (SK_UDP_BYTES - 4)

// ---- sending ---------------------------------------------------------------------------------

size_t sk_segments_payload(const struct sk_frame *frame) {
    size_t udp;

    if (frame->len < SK_UDP_BYTES)
        return 0;
    udp = get16(frame->data + LENGTH_AT);
    return udp >= 8 && SK_UDP_BYTES + udp - 8 <= frame->len ? udp - 8 : frame->len - SK_UDP_BYTES;
}

size_t sk_segments_fit(const struct sk_frame *frames, size_t n) {
    const size_t size = sk_segments_payload(&frames[0]);
    size_t bytes = size, i = 1;

    for (size_t last = size; i < n && i < SK_SEGMENTS_MOST && last == size; i++) {
        last = sk_segments_payload(&frames[i]);
        bytes += last;
        if (last == 0 || last > size || bytes > SK_SEGMENTS_BYTES ||
            memcmp(frames[i].data + TO_AT, frames[0].data + TO_AT, TO_BYTES) != 0)
            break;
    }
    return i;
}

void sk_segments_put(struct msghdr *m, union sk_segments_control *control, uint16_t size) {
    memset(control, 0, sizeof *control);
    m->msg_control = control->room;
    m->msg_controllen = CMSG_LEN(sizeof size);
    control->header.cmsg_level = IPPROTO_UDP;
    control->header.cmsg_type = SK_UDP_SEGMENT;
    control->header.cmsg_len = CMSG_LEN(sizeof size);
    memcpy(CMSG_DATA(&control->header), &size, sizeof size);
}

// ---- receiving -------------------------------------------------------------------------------

// Bytes of a datagram, as the kernel says; 0: it is one.
static uint32_t segments_said(const struct msghdr *m) {
    const char *end = (const char *)m->msg_control + m->msg_controllen;
    int size = 0;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR((struct msghdr *)m, c))
        if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == SK_UDP_GRO &&
            c->cmsg_len >= CMSG_LEN(sizeof size) &&
            end - (const char *)CMSG_DATA(c) >= (ptrdiff_t)sizeof size)
            memcpy(&size, CMSG_DATA(c), sizeof size);
    return size > 0 ? (uint32_t)size : 0;
}

bool sk_segments_received(struct sk_segments *s, const struct msghdr *m, uint32_t length) {
    const uint32_t said = segments_said(m);

    *s = (struct sk_segments){
        .length = length, .size = said && said < length ? said : length, .more = true};
    return !(m->msg_flags & (MSG_TRUNC | MSG_CTRUNC));
}

bool sk_segments_next(struct sk_segments *s, uint32_t *at, uint32_t *bytes) {
    const uint32_t left = s->length - s->at;

    if (!s->more)
        return false;
    *at = s->at;
    *bytes = left < s->size ? left : s->size;
    s->at += *bytes;
    s->more = s->at < s->length;
    return true;
}
