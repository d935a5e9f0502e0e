// SPDX-License-Identifier: Apache-2.0
#include "hosts/roce/pair.h"

#include <string.h>

static bool is_within(const struct roce_memory *m, const struct roce_packet *p) {
    return p->rkey == m->rkey && p->length <= m->length && p->address <= m->length - p->length;
}

// A message's packets have no more than it is long, the last one exactly what is left, and each
// other some of it.
static bool fits(const struct roce_packet *p, uint32_t left) {
    return roce_ends(p->opcode) ? p->bytes == left : p->bytes > 0 && p->bytes < left;
}

// A message may begin at any later number, since what is in between was lost. Others have to be the
// next.
static enum roce_reason in_turn(struct roce_inbox *in, const struct roce_packet *p) {
    if (roce_psn_before(p->psn, in->expected))
        return ROCE_OLD;
    if (roce_begins(p->opcode))
        return ROCE_ACCEPTED;
    if (p->psn == in->expected && in->writing)
        return ROCE_ACCEPTED;
    in->writing = false;
    in->expected = (p->psn + 1) & ROCE_PSN_MASK;
    return ROCE_OUT_OF_ORDER;
}

enum roce_reason roce_inbox_take(struct roce_inbox *in, const struct roce_memory *memory,
                                 const struct roce_packet *p, bool *whole) {
    const enum roce_reason turn = in_turn(in, p);

    *whole = false;
    if (turn != ROCE_ACCEPTED)
        return turn;
    in->expected = (p->psn + 1) & ROCE_PSN_MASK;
    in->writing = false; // until this packet is known to fit
    if (roce_begins(p->opcode)) {
        if (!is_within(memory, p))
            return ROCE_BAD_WRITE;
        in->address = p->address;
        in->length = p->length;
        in->written = 0;
    }
    if (!fits(p, in->length - in->written))
        return ROCE_BAD_WRITE;
    if (p->bytes > 0)
        memcpy(memory->bytes + in->address + in->written, p->payload, p->bytes);
    in->written += p->bytes;
    *whole = roce_ends(p->opcode);
    in->writing = !*whole;
    return ROCE_ACCEPTED;
}
