// SPDX-License-Identifier: Apache-2.0
#include "sim/exchange/collective.h"

// ---- halving and doubling ----

// Stage 0: workers without a place of their own give what they have. 1 to k: halves. k + 1 to 2k:
// doubles. 2k + 1: the others get the sum.
static uint32_t halving_rounds(uint32_t n) {
    uint32_t k = 0;
    while (UINT32_C(2) << k <= n)
        k++;
    return k;
}

static bool halving_is_guest(const struct collective *c, uint32_t rank) {
    const uint32_t more = c->n - (UINT32_C(1) << halving_rounds(c->n));
    return rank < 2 * more && rank % 2 == 0;
}

// Of a worker that is no guest: its place, and the worker at a place.
static uint32_t halving_place(const struct collective *c, uint32_t rank) {
    const uint32_t more = c->n - (UINT32_C(1) << halving_rounds(c->n));
    return rank < 2 * more ? rank / 2 : rank - more;
}

static uint32_t halving_rank(const struct collective *c, uint32_t place) {
    const uint32_t more = c->n - (UINT32_C(1) << halving_rounds(c->n));
    return place < more ? 2 * place + 1 : place + more;
}

static bool halving_has_guest(const struct collective *c, uint32_t rank) {
    return rank > 0 && !halving_is_guest(c, rank) && halving_is_guest(c, rank - 1);
}

static uint32_t halving_expects(const struct collective *c, uint32_t rank, uint32_t stage) {
    const uint32_t last = 2 * halving_rounds(c->n) + 1;
    if (halving_is_guest(c, rank))
        return stage == last;
    if (stage == 0)
        return halving_has_guest(c, rank);
    return stage < last;
}

static uint32_t halving_sends(const struct collective *c, uint32_t rank, uint32_t stage,
                              struct collective_send *out) {
    const uint32_t k = halving_rounds(c->n), p = UINT32_C(1) << k;
    if (halving_is_guest(c, rank) || stage == 0) {
        *out = (struct collective_send){.to = rank + 1, .stage = 0, .from = 0, .end = p};
        return halving_is_guest(c, rank) && stage == 0;
    }
    if (stage > 2 * k) {
        *out = (struct collective_send){.to = rank - 1, .stage = stage, .from = 0, .end = p};
        return stage == 2 * k + 1 && halving_has_guest(c, rank);
    }
    const bool halves = stage <= k;
    const uint32_t distance = halves ? p >> stage : UINT32_C(1) << (stage - k - 1);
    const uint32_t own = halving_place(c, rank), other = own ^ distance;
    const uint32_t from = (halves ? other : own) & ~(distance - 1);
    *out = (struct collective_send){
        .to = halving_rank(c, other), .stage = stage, .from = from, .end = from + distance};
    return 1;
}

// ---- trees ----

// Stage 0: from below. 1: from above.
static uint32_t tree_place(const struct collective *c, uint32_t rank) {
    return c->upside_down ? c->n - 1 - rank : rank;
}

static uint32_t tree_below(const struct collective *c, uint32_t place) {
    const uint32_t first = 2 * place + 1;
    return first >= c->n ? 0 : first + 1 >= c->n ? 1 : 2;
}

static uint32_t tree_expects(const struct collective *c, uint32_t rank, uint32_t stage) {
    const uint32_t place = tree_place(c, rank);
    return stage == 0 ? tree_below(c, place) : stage == 1 && place > 0;
}

static uint32_t tree_sends(const struct collective *c, uint32_t rank, uint32_t stage,
                           struct collective_send *out) {
    const uint32_t place = tree_place(c, rank);
    if (stage == 1 && place > 0) {
        *out = (struct collective_send){tree_place(c, (place - 1) / 2), 0, 0, 1};
        return 1;
    }
    const uint32_t n = stage == 2 ? tree_below(c, place) : 0;
    for (uint32_t i = 0; i < n; i++)
        out[i] = (struct collective_send){tree_place(c, 2 * place + 1 + i), 1, 0, 1};
    return n;
}

// ---- groups ----

// Stages 1 to g - 1: the ring in the group. Then 2 (m - 1): that over the groups. Then g - 1: the
// ring in the group again.
static uint32_t groups_sends(const struct collective *c, uint32_t rank, uint32_t stage,
                             struct collective_send *out) {
    const uint32_t g = c->group, m = c->n / g, between = 2 * (m - 1);
    const uint32_t member = rank % g, first = rank - member;
    const uint32_t next = first + (member + 1) % g;
    if (stage == 0 || stage >= 2 * g - 1 + between)
        return 0;
    if (stage < g || stage >= g + between) {
        const uint32_t step = stage < g ? stage - 1 : stage - g - between;
        const uint32_t part = (member + (stage < g ? 0 : 1) + g - step) % g;
        *out = (struct collective_send){next, stage, part * m, (part + 1) * m};
        return 1;
    }
    const uint32_t part = (member + 1) % g * m + (rank / g + 2 * m - (stage - g)) % m;
    *out = (struct collective_send){(rank + g) % c->n, stage, part, part + 1};
    return 1;
}

// ---- all ----

uint32_t collective_stages(const struct collective *c) {
    switch (c->kind) {
    case COLLECTIVE_HALVING:
        return 2 * halving_rounds(c->n) + 2;
    case COLLECTIVE_TREE:
        return 2;
    case COLLECTIVE_HIERARCHICAL:
        return 2 * c->group - 1 + 2 * (c->n / c->group - 1);
    }
    return 0;
}

uint32_t collective_parts(const struct collective *c) {
    return c->kind == COLLECTIVE_HALVING        ? UINT32_C(1) << halving_rounds(c->n)
           : c->kind == COLLECTIVE_HIERARCHICAL ? c->n
                                                : 1;
}

uint32_t collective_expects(const struct collective *c, uint32_t rank, uint32_t stage) {
    if (stage >= collective_stages(c))
        return 0;
    return c->kind == COLLECTIVE_HALVING ? halving_expects(c, rank, stage)
           : c->kind == COLLECTIVE_TREE  ? tree_expects(c, rank, stage)
                                         : stage > 0;
}

uint32_t collective_sends(const struct collective *c, uint32_t rank, uint32_t stage,
                          struct collective_send out[COLLECTIVE_MOST]) {
    return c->kind == COLLECTIVE_HALVING ? halving_sends(c, rank, stage, out)
           : c->kind == COLLECTIVE_TREE  ? tree_sends(c, rank, stage, out)
                                         : groups_sends(c, rank, stage, out);
}

bool collective_is_whole(const struct collective *c, uint32_t stage) {
    const uint32_t m = c->n / (c->group ? c->group : 1);
    return c->kind == COLLECTIVE_HALVING ? stage > halving_rounds(c->n)
           : c->kind == COLLECTIVE_TREE  ? stage == 1
                                         : stage >= c->group + m - 1;
}
