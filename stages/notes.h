// SPDX-License-Identifier: Apache-2.0
//
// notes: what a pass did to one packet, noted down by the program itself, so that the engine can do
// it again to packets that are like it in all that the pass looked at (pipeline/switch/flows.h).
//
// A program that takes notes has a pointer to them first in each pipe's state, null most of the
// time:
//
//     if (__builtin_expect(s->notes != NULL, 0))
//         sk_note_hit(s->notes, &entry->hits, &entry->last_hit);
//
// It notes which bits of the packet it has looked at, or might have written; what it has counted;
// and whether it did anything that would not be the same again (a meter, a random number, a copy).
// What it does not say is where the packet goes: its wishes do.
//
// Thread-safety: notes are of one packet.
#ifndef SILKEN_STAGES_NOTES_H
#define SILKEN_STAGES_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SK_NOTED 128u // of a packet's first ones: a pass that looks beyond them is not noted
#define SK_NOTES 48u  // that a packet can have

// Something that was counted at '*count', of which 'more' was the packet's share.
enum sk_noted {
    SK_NOTED_COUNT,
    SK_NOTED_HIT,   // and the time is after it
    SK_NOTED_BYTES, // 'more' than the packet has
};
struct sk_note {
    uint64_t *count;
    int32_t more;
    uint32_t kind;
};

struct sk_notes {
    const uint8_t *buffer, *frame; // where the packet's buffer and its first byte are
    uint32_t length;               // of the packet
    // Of what is in front: what is another value for each packet.
    struct {
        const uint8_t *from, *to;
    } moment[2];
    bool unfit; // it would not be the same again, or nobody knows
    uint8_t n;
    uint8_t place; // of the header that was extracted last, among those that leave
    // These bytes have a checksum that is right, whatever they are; 0: none.
    uint16_t summed_at, summed;
    uint8_t mask[SK_NOTED];
    struct sk_note notes[SK_NOTES];
};

#define SK_NOTE static __attribute__((noinline, cold, unused)) void

static inline void sk_note_put(struct sk_notes *n, struct sk_note note) {
    if (n->n == SK_NOTES)
        n->unfit = true;
    else
        n->notes[n->n++] = note;
}
// 'last', behind 'hits', is when; or null, if nobody knows.
SK_NOTE sk_note_hit(struct sk_notes *n, uint64_t *hits, const uint64_t *last) {
    n->unfit |= last && last != hits + 1;
    sk_note_put(n, (struct sk_note){hits, 1, last ? SK_NOTED_HIT : SK_NOTED_COUNT});
}
SK_NOTE sk_note_packet(struct sk_notes *n, uint64_t *packets) {
    sk_note_put(n, (struct sk_note){packets, 1, SK_NOTED_COUNT});
}
// Notes that a counter counted 'counted' bytes. Unfit if a shorter packet of the flow could count
// less than zero.
SK_NOTE sk_note_bytes(struct sk_notes *n, uint64_t *bytes, uint32_t counted) {
    const uint32_t least = n->length < SK_NOTED ? n->length : SK_NOTED;
    n->unfit |= counted == 0 || (int64_t)counted - n->length + least < 0;
    sk_note_put(n, (struct sk_note){bytes, (int32_t)(counted - n->length), SK_NOTED_BYTES});
}

// Whether these bytes are before the packet, where the engine, or ingress, put something.
static inline bool sk_note_in_front(const struct sk_notes *n, const uint8_t *at, size_t bytes) {
    return at >= n->buffer && at + bytes <= n->frame;
}
// Where in the packet they are; SK_NOTED: before it, or nobody knows what they are. What is behind
// the packet's end is not in it: the frame check sequence depends on all of the packet, and that
// there is nothing at all on its length.
static inline size_t sk_note_place(struct sk_notes *n, const uint8_t *at, size_t bytes) {
    const size_t end = n->length < SK_NOTED ? n->length : SK_NOTED;
    if (at >= n->frame && at + bytes <= n->frame + end)
        return (size_t)(at - n->frame);
    n->unfit |= !sk_note_in_front(n, at, bytes);
    return SK_NOTED;
}
// A byte that it looks at. Some of those in front are others for each packet: times, lengths.
static inline void sk_note_byte(struct sk_notes *n, size_t place, const uint8_t *at, uint8_t mask) {
    if (place < SK_NOTED)
        n->mask[place] |= mask;
    for (unsigned k = 0; k < 2; k++)
        n->unfit |= mask && at >= n->moment[k].from && at < n->moment[k].to;
}
// That it looks at these bytes, where 'mask' has ones.
SK_NOTE sk_note_saw(struct sk_notes *n, const uint8_t *at, const uint8_t *mask, size_t bytes) {
    const size_t from = sk_note_place(n, at, bytes);
    for (size_t i = 0; i < bytes; i++)
        sk_note_byte(n, from == SK_NOTED ? from : from + i, at + i, mask[i]);
}
// The same of 'width' bits, 'lo' bits behind 'at'.
SK_NOTE sk_note_saw_bits(struct sk_notes *n, const uint8_t *at, unsigned lo, unsigned width) {
    const size_t from = sk_note_place(n, at, (lo + width + 7) / 8);
    for (unsigned i = lo; i < lo + width; i++)
        sk_note_byte(n, from == SK_NOTED ? from : from + i / 8, at + i / 8,
                     (uint8_t)(0x80u >> i % 8));
}
// That these bytes are taken and do not come back: nothing that is in the packet may be.
SK_NOTE sk_note_took(struct sk_notes *n, const uint8_t *at, size_t bytes) {
    n->unfit |= bytes && !sk_note_in_front(n, at, bytes);
}
// That a header that was extracted leaves: it may only if it was in front.
SK_NOTE sk_note_removed(struct sk_notes *n, const uint8_t *at) {
    n->unfit |= !sk_note_in_front(n, at, 1);
}
// That a header was extracted that leaves as the so manyth: in another order they would be moved.
// One of what the engine put in front would become a part of the packet.
SK_NOTE sk_note_order(struct sk_notes *n, const uint8_t *at, uint8_t place) {
    n->unfit |= place <= n->place || at < n->frame;
    n->place = place;
}
// That the checksum over these bytes is right ('wrong': or not), and depends on nothing else.
SK_NOTE sk_note_summed(struct sk_notes *n, const uint8_t *at, size_t bytes) {
    const size_t from = sk_note_place(n, at, bytes);
    n->unfit |= n->summed || from == SK_NOTED || bytes > 60;
    n->summed_at = (uint16_t)from;
    n->summed = (uint16_t)bytes;
}
SK_NOTE sk_note_verified(struct sk_notes *n, bool wrong) {
    n->unfit |= wrong || !n->summed;
}
SK_NOTE sk_note_unfit(struct sk_notes *n) {
    n->unfit = true;
}

#endif
