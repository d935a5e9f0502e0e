// SPDX-License-Identifier: Apache-2.0
#include "pcap/replay/align.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(ALIGN_WINDOW == 64, "a packet's equals are bits of a word");

struct align {
    struct align_owner owner;
    void *sent[ALIGN_WINDOW], *golden[ALIGN_WINDOW];
    uint64_t equals[ALIGN_WINDOW]; // of a sent one: which of 'golden'
    unsigned n_sent, n_golden;
    bool ended; // no more golden ones
};

struct align *align_new(const struct align_owner *owner) {
    struct align *a = calloc(1, sizeof *a);
    if (!a)
        abort();
    a->owner = *owner;
    return a;
}

bool align_is_empty(const struct align *a) {
    return a->n_sent == 0 && a->n_golden == 0;
}

static int read_ahead(struct align *a, unsigned n) {
    while (a->n_golden < n && !a->ended) {
        int rc = a->owner.next(a->owner.aux, &a->golden[a->n_golden]);
        if (rc < 0)
            return -1;
        a->ended = rc == 0;
        a->n_golden += rc > 0;
    }
    return 0;
}

static bool replay_align_equal(const struct align *a, unsigned sent, unsigned golden) {
    return a->equals[sent] >> golden & 1u;
}

static void hold_against_all(struct align *a, unsigned sent) {
    a->equals[sent] = 0;
    for (unsigned i = 0; i < a->n_golden; i++)
        a->equals[sent] |= (uint64_t)a->owner.equal(a->owner.aux, a->sent[sent], a->golden[i]) << i;
}

static void replay_align_forget(struct align *a, unsigned sent, unsigned golden) {
    a->n_sent -= sent;
    a->n_golden -= golden;
    memmove(a->sent, a->sent + sent, a->n_sent * sizeof *a->sent);
    memmove(a->golden, a->golden + golden, a->n_golden * sizeof *a->golden);
    for (unsigned i = 0; i < a->n_sent; i++)
        a->equals[i] = golden < ALIGN_WINDOW ? a->equals[i + sent] >> golden : 0;
}

// What is before these is decided: they fit.
static void replay_align_settle(struct align *a, unsigned sent, unsigned golden) {
    const struct align_owner *o = &a->owner;
    for (unsigned i = 0; i < sent || i < golden; i++)
        if (i < sent && i < golden)
            o->changed(o->aux, a->sent[i], a->golden[i]);
        else if (i < sent)
            o->extra(o->aux, a->sent[i]);
        else
            o->missing(o->aux, a->golden[i], sent < a->n_sent ? a->sent[sent] : NULL);
    replay_align_forget(a, sent, golden);
}

static void take_same(struct align *a) {
    a->owner.same(a->owner.aux, a->sent[0], a->golden[0]);
    replay_align_forget(a, 1, 1);
}

static bool none_is_golden(const struct align *a, unsigned n) {
    uint64_t any = 0;
    for (unsigned i = 0; i < n; i++)
        any |= a->equals[i];
    return !any;
}

// Whether the last one that was sent shows how the two fit.
static bool replay_align_fits(struct align *a) {
    const unsigned last = a->n_sent - 1;
    if (last < a->n_golden && replay_align_equal(a, last, last)) {
        replay_align_settle(a, last, last);
        return true;
    }
    bool later = false;
    for (unsigned golden = 0; !later && golden < a->n_golden; golden++) {
        const int order = a->owner.time(a->owner.aux, a->sent[last], a->golden[golden]);
        later = order > 0;
        if (order == 0 && replay_align_equal(a, last, golden) &&
            (golden >= last || none_is_golden(a, last))) {
            replay_align_settle(a, last, golden);
            return true;
        }
    }
    for (unsigned golden = 1; last > 0 && golden < a->n_golden; golden++)
        if (replay_align_equal(a, last, golden) && replay_align_equal(a, last - 1, golden - 1)) {
            replay_align_settle(a, last - 1, golden - 1);
            return true;
        }
    return false;
}

int align_sent(struct align *a, void *sent) {
    const unsigned last = a->n_sent++;
    a->sent[last] = sent;
    if (read_ahead(a, last == 0 ? 1 : ALIGN_WINDOW))
        return -1;
    if (last == 0 && a->n_golden && a->owner.equal(a->owner.aux, sent, a->golden[0])) {
        take_same(a);
        return 0;
    }
    if (read_ahead(a, ALIGN_WINDOW))
        return -1;
    hold_against_all(a, last);
    if (replay_align_fits(a))
        while (a->n_sent > 0)
            take_same(a);
    else if (a->n_golden == 0)
        replay_align_settle(a, 1, 0);
    else if (a->n_sent == ALIGN_WINDOW)
        replay_align_settle(a, 1, 1);
    return 0;
}

// The pair that fits with the fewest before it.
static bool find_any(const struct align *a, unsigned *sent, unsigned *golden) {
    for (unsigned both = 0; both < a->n_sent + a->n_golden; both++)
        for (*sent = 0; *sent < a->n_sent && *sent <= both; ++*sent) {
            *golden = both - *sent;
            if (*golden < a->n_golden && replay_align_equal(a, *sent, *golden))
                return true;
        }
    return false;
}

int align_end(struct align *a, bool stopped) {
    unsigned sent, golden;
    for (;;) {
        if (a->n_sent > 0 && read_ahead(a, ALIGN_WINDOW))
            return -1;
        for (unsigned i = 0; i < a->n_sent; i++)
            hold_against_all(a, i);
        if (!find_any(a, &sent, &golden))
            break;
        replay_align_settle(a, sent, golden);
        take_same(a);
    }
    const unsigned pairs = a->n_sent < a->n_golden ? a->n_sent : a->n_golden;
    replay_align_settle(a, a->n_sent, stopped ? pairs : a->n_golden);
    return 0;
}

void align_free(struct align *a) {
    for (unsigned i = 0; a && (i < a->n_sent || i < a->n_golden); i++)
        a->owner.same(a->owner.aux, i < a->n_sent ? a->sent[i] : NULL,
                      i < a->n_golden ? a->golden[i] : NULL);
    free(a);
}
