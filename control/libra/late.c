// SPDX-License-Identifier: Apache-2.0
//
// What a removed job has sent to the CPU port comes until some time after: answers' copies, members
// that begin, acks. Nothing in a frame tells it from the same of the next job with that number,
// epoch and members, so that one waits until there is nothing more of it on the way:
//
//     - until its packets have left their passes: nothing is inside, or those that were have gone
//       on LATE_PASSES times, each of which is a pass.
//     - then its last frames are in the CPU port's queue or ring, and a frame that is sent to the
//       switch's own address comes after them. It is sent until it is back.
#include <string.h>

#include "base/bytes.h"
#include "control/libra/libra_impl.h"
#include "libra_wire.h"

#define LATE_PASSES    64u     // the engine ends a packet after so many
#define LATE_ETHERTYPE 0x88b5u // IEEE 802: for local use
#define LATE_BYTES     60u     // Ethernet, then who sent it and its number

static void late_put(uint8_t *to, uint64_t number) {
    put32(to, (uint32_t)(number >> 32));
    put32(to + 4, (uint32_t)number);
}

static uint64_t late_get(const uint8_t *from) {
    return (uint64_t)get32(from) << 32 | get32(from + 4);
}

static void late_begin_mark(struct libra_s_late *its, uint64_t mark) {
    *its = (struct libra_s_late){.is = true, .mark = mark};
}

// 'now' is when the turn began: what is inside at the look may have come later, or gone on. So a
// pass is only counted from a later turn on, as is that the job's entries are deleted.
static void late_pass(struct libra_s *l, struct libra_s_late *its,
                      const struct sessions_switch *sw) {
    if (its->looked == 0) {
        its->looked = l->now + 1;
    } else if (its->since == 0) {
        its->since = l->now >= its->looked ? l->now + 1 : 0;
    } else if (!sessions_under_way(sw, its->since)) {
        its->passes++;
        its->since = 0;
        its->looked = l->now + 1;
    }
}

void libra_s_late_add(struct libra_s *l, unsigned number) {
    l->late[number] = (struct libra_s_late){.is = true};
}

bool libra_s_late_is(const struct libra_s *l, unsigned number) {
    return l->late[number].is;
}

bool libra_s_late_any(const struct libra_s *l) {
    bool any = false;
    for (unsigned i = 0; i < LIBRA_S_NUMBERS; i++)
        any |= l->late[i].is;
    return any;
}

static void late_send(struct libra_s *l, uint64_t mark) {
    uint8_t frame[LATE_BYTES] = {0};
    memcpy(frame, l->end.mac, sizeof l->end.mac);
    memcpy(frame + 6, l->end.mac, sizeof l->end.mac);
    ethernet_h_set_ether_type(frame, LATE_ETHERTYPE);
    late_put(frame + ETHERNET_H_BYTES, l->secret);
    late_put(frame + ETHERNET_H_BYTES + 8, mark);
    libra_s_send(l, frame, sizeof frame);
}

void libra_s_late_look(struct libra_s *l) {
    const struct sessions_switch sw = libra_s_switch(l);
    if (!libra_s_late_any(l))
        return;
    const uint64_t mark = l->marks + 1;
    const bool empty = !sessions_passes(&sw, l->now);
    bool waits = false;
    for (unsigned i = 0; i < LIBRA_S_NUMBERS; i++) {
        struct libra_s_late *its = &l->late[i];
        if (its->is && its->mark == 0 && !empty)
            late_pass(l, its, &sw);
        if (its->is && its->mark == 0 && (empty || its->passes >= LATE_PASSES))
            late_begin_mark(its, mark);
        waits |= its->mark > 0;
    }
    if (waits)
        late_send(l, ++l->marks);
}

bool libra_s_late_read(struct libra_s *l, const uint8_t *frame, uint32_t length) {
    if (length < LATE_BYTES || ethernet_h_get_ether_type(frame) != LATE_ETHERTYPE ||
        memcmp(frame, l->end.mac, sizeof l->end.mac) != 0 ||
        memcmp(frame + 6, l->end.mac, sizeof l->end.mac) != 0 ||
        late_get(frame + ETHERNET_H_BYTES) != l->secret)
        return false;
    const uint64_t mark = late_get(frame + ETHERNET_H_BYTES + 8);
    for (unsigned i = 0; mark <= l->marks && i < LIBRA_S_NUMBERS; i++)
        if (l->late[i].mark > 0 && l->late[i].mark <= mark)
            l->late[i] = (struct libra_s_late){0};
    return true;
}
