// SPDX-License-Identifier: Apache-2.0
#include "control/sessions/left.h"

#define LOST_NS UINT64_C(30000000000) // no push takes so long for its passes

void sessions_left_add(struct sessions_lefts *l, uint32_t first, uint32_t count, uint64_t records) {
    struct sessions_left left = {.first = first, .count = count, .records = records};
    if (l->n == SESSIONS_LEFTS) { // the last one stands for both
        const struct sessions_left *last = &l->list[--l->n];
        const uint32_t end = last->first + last->count;
        left.first = first < last->first ? first : last->first;
        left.count = (first + count > end ? first + count : end) - left.first;
        left.records |= last->records;
    }
    l->list[l->n++] = left;
}

static bool left_adds(const struct sessions_switch *sw, uint64_t records) {
    bool adds = false;
    for (uint32_t r = 0; records && !adds; r++, records >>= 1)
        adds = (records & 1) && sessions_adds(sw, r);
    return adds;
}

// From when its entries were gone on nothing of it begins. 'now' is when the turn began, which may
// be before that: only a later turn's is after it. What had begun then has a record once its first
// pass is over, which says when it is done; or it was lost inside.
static bool left_is(struct sessions_left *left, const struct sessions_switch *sw, uint64_t now) {
    if (left->looked == 0)
        left->looked = now + 1;
    else if (left->since == 0 && now >= left->looked)
        left->since = now + 1; // in virtual time something came at this very moment
    return left->since == 0 || sessions_under_way(sw, left->since) ||
           (now < left->since + LOST_NS && left_adds(sw, left->records));
}

void sessions_left_look(struct sessions_lefts *l, const struct sessions_switch *sw, uint64_t now,
                        bool gone) {
    size_t n = 0;
    if (l->n == 0 || !gone)
        return;
    if (sessions_passes(sw, now))
        for (size_t i = 0; i < l->n; i++)
            if (left_is(&l->list[i], sw, now))
                l->list[n++] = l->list[i];
    l->n = n;
}

bool sessions_left_none(const struct sessions_lefts *l, uint32_t first, uint32_t count,
                        uint64_t records) {
    for (size_t i = 0; i < l->n; i++) {
        const struct sessions_left *left = &l->list[i];
        if ((left->records & records) ||
            (left->first < first + count && first < left->first + left->count))
            return false;
    }
    return true;
}
