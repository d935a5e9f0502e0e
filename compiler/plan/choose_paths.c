// SPDX-License-Identifier: Apache-2.0
//
// choose_paths: which of the ways through the parser are printed, and which of them share what is
// printed after them, the control and the deparser ("body").
//
// Ends of split packets share it if there are too many ends, and if they agree in all that is after
// the seam: what a pass takes from the packet, or puts there. Which headers are before it, and
// where, is known of each of them and not of their body, so that these headers' places and
// validities are variables there, as in the function for any packet.
#include "compiler/plan/parse_paths.h"

// ---- shared bodies ----

static bool is_after(const struct plan *plan, const struct plan_paths *p,
                     const struct plan_known *k, size_t header) {
    return k->place[header] > plan_seam_at(plan, &p->seam, k);
}

// In all that is after their seams. Headers that are emitted there are valid or not.
static bool choose_agree(const struct plan *plan, const struct plan_paths *p,
                         const struct plan_known *a, const struct plan_known *b) {
    const ir_header_vec emits = plan_emits(plan);
    const unsigned at_a = plan_seam_at(plan, &p->seam, a), at_b = plan_seam_at(plan, &p->seam, b);
    if (!a->split || !b->split || a->at - at_a != b->at - at_b)
        return false;
    for (size_t h = 0; h < plan->g->headers.n; h++)
        if (is_after(plan, p, a, h) != is_after(plan, p, b, h) ||
            (is_after(plan, p, a, h) && a->place[h] - at_a != b->place[h] - at_b))
            return false;
    for (size_t i = p->seam.first; i < emits.n; i++)
        if (a->valid[emits.v[i]->id] != b->valid[emits.v[i]->id])
            return false;
    return true;
}

// Of packets of several kinds.
static void share_bodies(const struct plan *plan, struct plan_paths *p) {
    for (size_t i = 0; i < p->ends.n && p->seam.n > 1; i++)
        for (size_t k = 0; k < i && p->body[i] == i; k++)
            if (p->body[k] == k && choose_agree(plan, p, &p->ends.v[k], &p->ends.v[i]))
                p->body[i] = k;
}

static size_t bodies(const struct plan_paths *p) {
    size_t n = 0;
    for (size_t i = 0; i < p->ends.n; i++)
        n += p->body[i] == i;
    return n;
}

bool plan_end_shares(const struct plan_paths *p, size_t i) {
    for (size_t k = 0; k < p->ends.n; k++)
        if (k != i && p->body[k] == p->body[i])
            return true;
    return false;
}

// ---- which are printed: of those that share a body, all or none; the first one decides ----

// The 'n' paths that take most of a packet: what has many headers is what a program is about.
static void choose_longest(const struct plan_paths *p, size_t n, bool *chosen) {
    for (size_t i = 0; i < p->ends.n; i++) {
        size_t longer = 0;
        for (size_t k = 0; k < p->ends.n; k++)
            longer += p->body[k] == k && (p->ends.v[k].at > p->ends.v[i].at ||
                                          (p->ends.v[k].at == p->ends.v[i].at && k < i));
        chosen[i] = p->body[i] == i && longer < n;
    }
}

// Whether the headers of path i are those with which a longer one begins.
static bool begins_longer(const struct plan *plan, const struct plan_paths *p, size_t i) {
    const struct plan_known *of = &p->ends.v[i];
    for (size_t k = 0; k < p->ends.n; k++) {
        const struct plan_known *longer = &p->ends.v[k];
        bool begins = longer->at > of->at && longer->split == of->split;
        for (size_t h = 0; h < plan->g->headers.n && begins; h++)
            begins = !of->valid[h] || (longer->valid[h] && longer->place[h] == of->place[h]);
        if (begins)
            return true;
    }
    return false;
}

// Of many paths those that go to an end: where a parser looks at each of a packet's elements, the
// others are of packets that it found fault with. Then of the others the shortest, as far as there
// is room: they are of packets that the program does not handle. False: there are more than
// 'n' of the first, and it is not known which are the usual ones; or the gress takes notes, so that
// most packets are replayed and the others are of any kind.
static bool choose_whole(const struct plan *plan, const struct plan_paths *p, size_t n,
                         bool *chosen) {
    size_t left = n;
    if (plan->g->decides)
        return false;
    for (size_t i = 0; i < p->ends.n; i++) {
        chosen[i] = p->body[i] == i && !begins_longer(plan, p, i);
        if (chosen[i] && left-- == 0)
            return false;
    }
    for (; left; left--) {
        size_t best = p->ends.n;
        for (size_t i = 0; i < p->ends.n; i++)
            if (!chosen[i] && p->body[i] == i &&
                (best == p->ends.n || p->ends.v[i].at < p->ends.v[best].at))
                best = i;
        if (best < p->ends.n)
            chosen[best] = true;
    }
    return true;
}

static void keep_chosen(const struct plan *plan, struct plan_paths *p, const bool *chosen) {
    int *kept = ARENA_ARRAY(plan->a, int, p->ends.n + 1);
    size_t left = 0;
    for (size_t i = 0; i < p->ends.n; i++)
        kept[i] = chosen[p->body[i]] ? PLAN_FIRST_END + (int)left++ : -1;
    for (size_t i = 0; i < p->nodes.n; i++) {
        const struct plan_node *node = p->nodes.v[i];
        const struct ir_state *st = plan->g->states.v[node->state];
        for (size_t k = 0; k < st->cases.n + (st->keys.n == 0) && !node->gives_up; k++)
            if (node->next[k] >= PLAN_FIRST_END)
                node->next[k] = kept[node->next[k] - PLAN_FIRST_END];
    }
    for (size_t i = 0; i < p->ends.n; i++)
        if (kept[i] >= 0) {
            p->ends.v[kept[i] - PLAN_FIRST_END] = p->ends.v[i];
            p->body[kept[i] - PLAN_FIRST_END] = (size_t)(kept[p->body[i]] - PLAN_FIRST_END);
        }
    p->ends.n = left;
}

// One more than the ways whose control is printed, with the copies in it and the ends of those. The
// scalar build is there to be compared with: it is planned alike, though its loops are so many
// statements.
static size_t most_paths(const struct plan *plan) {
    const unsigned ends = plan->n_continuations * plan_weigh_end(plan);
    const size_t n = PLAN_MAX_WEIGHT / (plan_weigh(plan, plan->g->control) + 1),
                 copied = PLAN_MAX_COPIED_WEIGHT / (plan_weigh(plan, plan->control) + ends + 1);
    return copied < n && plan->vectorise ? copied : n;
}

// By end whose body is its own: what is left of the control on the paths that share it, as far as
// is known there.
static unsigned *weigh_bodies(const struct plan *plan, const struct plan_paths *p) {
    const struct plan_fact **facts = plan_end_facts(plan, p);
    const unsigned ends = plan->n_continuations * plan_weigh_end(plan);
    unsigned *weights = ARENA_ARRAY(plan->a, unsigned, p->ends.n + 1);
    for (size_t i = 0; i < p->ends.n; i++)
        weights[i] = p->body[i] == i ? plan_weigh_known(plan, plan->control, facts[i]) + ends : 0;
    return weights;
}

// The end that is to have a body of its own next: what is least to print, and of the same the
// packets with the shortest headers, since a message of several packets has most of its headers in
// one of them. p->ends.n: none is left.
static size_t next_alone(const struct plan *plan, const struct plan_paths *p,
                         const unsigned *alone) {
    size_t best = p->ends.n;
    for (size_t i = 0; i < p->ends.n; i++) {
        const bool shares = p->body[i] != i;
        if (shares &&
            (best == p->ends.n || alone[i] < alone[best] ||
             (alone[i] == alone[best] && plan_seam_at(plan, &p->seam, &p->ends.v[i]) <
                                             plan_seam_at(plan, &p->seam, &p->ends.v[best]))))
            best = i;
    }
    return best;
}

// Of packets of several kinds: all ends, if their bodies are little enough; and as many of them as
// there is room for have one of their own, where more is known.
static bool choose_all(const struct plan *plan, struct plan_paths *p, bool *chosen) {
    struct plan_paths own = *p;
    unsigned all = 0;
    if (p->seam.n < 2 || bodies(p) > PLAN_MAX_PATHS)
        return false;
    own.body = ARENA_ARRAY(plan->a, size_t, p->ends.n + 1);
    for (size_t i = 0; i < p->ends.n; i++)
        own.body[i] = i;
    const unsigned *alone = weigh_bodies(plan, &own), *shared = weigh_bodies(plan, p);
    for (size_t i = 0; i < p->ends.n; i++) {
        all += shared[i];
        chosen[i] = true;
    }
    if (all > PLAN_MAX_COPIED_WEIGHT)
        return false;
    for (size_t i = next_alone(plan, p, alone);
         i < p->ends.n && all + alone[i] <= PLAN_MAX_COPIED_WEIGHT;
         i = next_alone(plan, p, alone)) {
        all += alone[i];
        p->body[i] = i;
    }
    return true;
}

bool plan_choose_paths(const struct plan *plan, struct plan_paths *p) {
    const size_t most = most_paths(plan), n = most ? most - 1 : 0;
    const size_t printed = n < PLAN_MAX_PATHS ? n : PLAN_MAX_PATHS;
    bool *chosen = ARENA_ARRAY(plan->a, bool, p->ends.n + 1);
    p->body = ARENA_ARRAY(plan->a, size_t, p->ends.n + 1);
    for (size_t i = 0; i < p->ends.n; i++)
        p->body[i] = i;
    if (p->ends.n > printed)
        share_bodies(plan, p);
    if (p->ends.n <= printed || !choose_all(plan, p, chosen)) {
        if (bodies(p) <= PLAN_MAX_PATHS)
            choose_longest(p, n, chosen);
        else if (!choose_whole(plan, p, printed, chosen))
            return false;
    }
    keep_chosen(plan, p, chosen);
    return p->ends.n > 0;
}
