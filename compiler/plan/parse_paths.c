// SPDX-License-Identifier: Apache-2.0
//
// parse_paths: what is known of a packet by the way it took through the parser.
//
// Once a parser's way is known, so is which headers are there, where they begin, and how long the
// packet is at least. The entry function is therefore printed with the states of the parser
// unfolded: a state that can be reached with different headers before it is printed once for each
// of these cases ("node"). Where ways end with the same headers in the same places they meet
// ("path"), and from there on the control and the deparser are printed for this path, with places
// and validities that are constants to the C compiler: headers need no pointers, a header that
// stays where it is needs no test, and homes are cleared where no header was put in their place.
//
// What such a way has no room for (a packet that is too short, no case of a select that matches, a
// state that extracts under a condition or as much as a variable says) starts over in the general
// function. That is allowed because a parser changes nothing but its own packet's variables and
// homes.
//
// A program with too many ways has only the general function; a large one is printed for the
// longest ways, one with many for those that go to an end (choose_paths.c).
//
// A packet that comes around may be in two pieces (split_packet.c). Its ways are found first. Where
// those of packets in one piece know the same, they lead there: such a packet has nothing between
// the two.
#include "compiler/plan/parse_paths.h"

#include "compiler/ir/effects.h"
#include "compiler/ir/walk.h"
#include "pipeline/abi.h"

#include <limits.h>

#define MAX_PLACES 64 // headers: bits of a word

// --------------------------------------------------------------------------------------------
// Finding them.

static struct plan_known plan_parse_paths_copy_known(const struct plan *plan,
                                                     const struct plan_known *k) {
    size_t n = plan->g->headers.n;
    struct plan_known c = {k->at, ARENA_ARRAY(plan->a, uint16_t, n + 1),
                           ARENA_ARRAY(plan->a, bool, n + 1), k->split};
    for (size_t i = 0; k->place && i < n; i++) {
        c.place[i] = k->place[i];
        c.valid[i] = k->valid[i];
    }
    return c;
}

static bool same_known(const struct plan *plan, const struct plan_known *a,
                       const struct plan_known *b) {
    for (size_t i = 0; i < plan->g->headers.n; i++)
        if (a->place[i] != b->place[i] || a->valid[i] != b->valid[i])
            return false;
    return a->at == b->at;
}

unsigned plan_seam_at(const struct plan *plan, const struct plan_seam *seam,
                      const struct plan_known *k) {
    return k->split ? plan_prefix_bytes(plan) + seam->bytes[k->split - 1] : 0;
}

static struct ir_block block_of(const struct ir_stmt **s) {
    return (struct ir_block){.stmts = {.v = (struct ir_stmt **)s, .n = 1}};
}

struct unclear {
    const struct plan *plan;
    bool found;
};

// Finds statements whose effect on places and validities is not known at compile time.
static void find_unclear(void *aux, const struct ir_stmt *s) {
    struct unclear *u = aux;
    const struct ir_var *results[IR_MAX_RESULTS];
    switch (s->kind) {
    case IR_EXTRACT:
    case IR_ADVANCE:
    case IR_SET_VALID:
    case IR_SET_INVALID:
    case IR_RAISE:
    case IR_CSUM_SUBTRACT: // a residual is completed when the parser is done
    case IR_CSUM_GET:
        u->found = true;
        break;
    default:
        for (const struct ir_var **v = results, **end = v + ir_results(s, results); v < end; v++)
            u->found |= plan_is_validity(u->plan, *v);
    }
}

// False: what is after the statement is not known.
static bool plan_parse_paths_follow(const struct plan *plan, struct plan_known *k,
                                    const struct ir_stmt *s) {
    switch (s->kind) {
    case IR_EXTRACT:
        if (s->headers.n)
            return false;
        k->place[s->header->id] =
            plan_home_of(plan, s->header)->in_place ? (uint16_t)(k->at + 1) : 0;
        k->valid[s->header->id] = true;
        k->at += s->header->bits / 8;
        break;
    case IR_ADVANCE:
        if (s->e->op != IR_CONST || !big_fits_u64(s->e->value) ||
            big_to_u64(s->e->value) > UINT16_MAX)
            return false;
        k->at += (unsigned)(big_to_u64(s->e->value) / 8);
        break;
    case IR_SET_VALID:
    case IR_SET_INVALID:
        k->valid[s->header->id] = s->kind == IR_SET_VALID;
        break;
    default: {
        struct unclear u = {.plan = plan};
        const struct ir_block b = block_of(&s);
        ir_walk(&b, find_unclear, NULL, &u);
        return !u.found;
    }
    }
    return k->at < UINT16_MAX;
}

// Nothing that is taken, or looked at, lies on both sides of a seam.
static bool crosses(const struct plan *plan, const struct plan_paths *p, const struct plan_known *k,
                    unsigned from, unsigned to) {
    const unsigned at = plan_seam_at(plan, &p->seam, k);
    return from < at && to > at;
}

// Bytes that a statement, or one in it, looks at without taking them.
static unsigned plan_parse_paths_look_ahead(const struct ir_stmt *s) {
    unsigned bytes = 0;
    const struct ir_block b = block_of(&s);
    ir_walk(&b, NULL, plan_lookahead_bytes, &bytes);
    return bytes;
}

// As many times as without a seam, or with one length before it, may there be of everything.
static size_t seams(const struct plan_paths *p) {
    return p->seam.n ? p->seam.n : 1;
}

// The headers before the seam end before or after it, or are of packets that have not come around
// yet: as in no packet that was split there.
static bool is_of_another_length(const struct plan *plan, const struct plan_paths *p,
                                 const struct plan_known *k) {
    return p->seam.n > 1 && k->split &&
           (plan_front_bytes(plan, &p->seam, k) != p->seam.bytes[k->split - 1] ||
            plan_front_header(plan, &p->seam, k) != p->seam.head);
}

static int find_path(const struct plan *plan, struct plan_paths *p, const struct plan_known *k) {
    for (size_t i = 0; i < p->ends.n; i++)
        if (same_known(plan, &p->ends.v[i], k) && p->ends.v[i].split == k->split)
            return PLAN_FIRST_END + (int)i;
    for (size_t i = 0; i < p->ends.n && p->seam.n > 1 && !k->split; i++)
        if (p->ends.v[i].split && same_known(plan, &p->ends.v[i], k))
            return PLAN_SPLIT_PACKET - (int)(p->ends.v[i].split - 1);
    if (k->at < plan_seam_at(plan, &p->seam, k) || is_of_another_length(plan, p, k))
        return -1;
    p->too_many |= p->ends.n == seams(p) * PLAN_MAX_ENDS;
    if (p->too_many)
        return -1;
    VEC_PUSH(plan->a, &p->ends, plan_parse_paths_copy_known(plan, k));
    return PLAN_FIRST_END + (int)p->ends.n - 1;
}

// Whether some of the node's ways lead to an end, and whether all of them do.
static void look_into(const struct plan_paths *p, struct plan_node *n, size_t ways) {
    n->used = false;
    n->whole = !n->gives_up;
    for (size_t i = 0; i < ways && !n->gives_up; i++) {
        const int next = n->next[i];
        n->used |= next >= 0;
        n->whole &= next >= PLAN_FIRST_END || (next >= 0 && p->nodes.v[next]->whole);
    }
}

static int plan_parse_paths_build(const struct plan *plan, struct plan_paths *p, int state,
                                  const struct plan_known *k) {
    if (state < 0)
        return find_path(plan, p, k);
    unsigned rounds = 0;
    for (size_t i = 0; i < p->nodes.n; i++) {
        const struct plan_node *n = p->nodes.v[i];
        if (n->state == state && same_known(plan, &n->in, k)) {
            if (n->in.split == k->split)
                return n->open || (k->split && !n->used) ? -1 : (int)i;
            if (n->whole && !k->split)
                return PLAN_SPLIT_PACKET - (int)(n->in.split - 1);
        }
        rounds += n->state == state && n->open;
    }
    if (rounds == PLAN_MAX_ROUNDS)
        return -1;
    p->too_many |= p->nodes.n == seams(p) * PLAN_MAX_NODES;
    if (p->too_many)
        return -1;
    int id = (int)p->nodes.n;
    const struct ir_state *st = plan->g->states.v[state];
    struct plan_node *n = ARENA_NEW(plan->a, struct plan_node);
    *n = (struct plan_node){.state = state,
                            .in = plan_parse_paths_copy_known(plan, k),
                            .out = plan_parse_paths_copy_known(plan, k),
                            .open = true};
    VEC_PUSH(plan->a, &p->nodes, n);
    unsigned ahead = 0;
    for (size_t i = 0; st->body && i < st->body->stmts.n && !n->gives_up; i++) {
        const unsigned from = n->out.at,
                       look = from + plan_parse_paths_look_ahead(st->body->stmts.v[i]);
        ahead = look > ahead ? look : ahead;
        n->gives_up = !plan_parse_paths_follow(plan, &n->out, st->body->stmts.v[i]) ||
                      crosses(plan, p, k, from, n->out.at) || crosses(plan, p, k, from, look);
    }
    for (size_t i = 0; i < st->keys.n; i++) {
        unsigned look = 0;
        ir_walk_expr(st->keys.v[i], plan_lookahead_bytes, &look);
        ahead = n->out.at + look > ahead ? n->out.at + look : ahead;
        n->gives_up |= crosses(plan, p, k, n->out.at, n->out.at + look);
    }
    n->next = ARENA_ARRAY(plan->a, int, st->cases.n + 1);
    n->need = UINT_MAX;
    for (size_t i = 0; i < st->cases.n + (st->keys.n == 0) && !n->gives_up; i++) {
        n->next[i] =
            plan_parse_paths_build(plan, p, st->keys.n ? st->cases.v[i].next : st->next, &n->out);
        unsigned need = n->next[i] < 0 || n->next[i] >= PLAN_FIRST_END
                            ? n->out.at
                            : p->nodes.v[n->next[i]]->need;
        n->need = need < n->need ? need : n->need;
    }
    if (n->need == UINT_MAX)
        n->need = n->in.at;
    n->need = ahead > n->need ? ahead : n->need;
    n->open = false;
    look_into(p, n, st->keys.n ? st->cases.n : 1);
    return n->used || !k->split ? id : -1;
}

static size_t ways_of(const struct plan *plan, const struct plan_node *n) {
    const struct ir_state *st = plan->g->states.v[n->state];
    return n->gives_up ? 0 : st->cases.n + (st->keys.n == 0);
}

// The bytes that those of a node's ways need that lead to an end that is printed; UINT_MAX: none of
// them does.
static unsigned need_of_ways(const struct plan *plan, const struct plan_node *n,
                             const unsigned *needs) {
    unsigned least = UINT_MAX;
    for (size_t i = 0; i < ways_of(plan, n); i++) {
        const int next = n->next[i];
        const bool to_node = next >= 0 && next < PLAN_FIRST_END;
        const unsigned need = to_node ? needs[next] : n->out.at;
        if (next != -1 && need < least)
            least = need;
    }
    return least == UINT_MAX || least > n->need ? least : n->need;
}

// On other ways any packet starts over in the general function, so one that is too short may do so
// some states sooner. A parser that looks at each of a packet's elements then asks once whether
// they are all there.
static void find_needs(const struct plan *plan, const struct plan_paths *p) {
    unsigned *needs = ARENA_ARRAY(plan->a, unsigned, p->nodes.n + 1);
    for (size_t i = 0; i < p->nodes.n; i++)
        needs[i] = UINT_MAX;
    for (bool again = true; again;) {
        again = false;
        for (size_t i = p->nodes.n; i-- > 0;) {
            const unsigned need = need_of_ways(plan, p->nodes.v[i], needs);
            again |= need != needs[i];
            needs[i] = need;
        }
    }
    for (size_t i = 0; i < p->nodes.n; i++)
        if (needs[i] != UINT_MAX)
            p->nodes.v[i]->need = needs[i];
}

// What is there when a node is reached: the least that nodes before it have asked for. Nodes come
// before those that they lead to only in part, so it is carried on until nothing changes.
static void find_sure(const struct plan *plan, struct plan_paths *p, unsigned prefix) {
    for (size_t i = 0; i < p->nodes.n; i++)
        p->nodes.v[i]->sure = (int)i == p->root ? prefix : UINT_MAX;
    for (size_t i = 0; i < p->seam.n; i++)
        if (p->root_split[i] >= 0)
            p->nodes.v[p->root_split[i]]->sure = prefix + p->seam.bytes[i];
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < p->nodes.n; i++) {
            const struct plan_node *n = p->nodes.v[i];
            unsigned there = n->need > n->sure ? n->need : n->sure;
            for (size_t k = 0; k < ways_of(plan, n); k++) {
                int next = n->next[k];
                if (next < 0 || next >= PLAN_FIRST_END || p->nodes.v[next]->sure <= there)
                    continue;
                p->nodes.v[next]->sure = there;
                again = true;
            }
        }
    }
}

// All of them. Null: there are too many, or none.
static struct plan_paths *all_paths(const struct plan *plan, struct plan_seam seam) {
    struct plan_paths *p = ARENA_NEW(plan->a, struct plan_paths);
    *p = (struct plan_paths){.seam = seam};
    struct plan_known nothing = plan_parse_paths_copy_known(plan, &(struct plan_known){0});
    for (size_t i = 0; i < seam.n; i++) {
        nothing.split = (unsigned)i + 1;
        p->root_split[i] = plan_parse_paths_build(plan, p, 0, &nothing);
    }
    nothing.split = 0;
    p->root = plan_parse_paths_build(plan, p, 0, &nothing);
    return p->root < 0 || p->too_many ? NULL : p;
}

// Those that are printed. Null: there are too many, or none.
static struct plan_paths *find_paths(const struct plan *plan, struct plan_seam seam) {
    struct plan_paths *p = all_paths(plan, seam);
    if (!p || !plan_choose_paths(plan, p))
        return NULL;
    bool any_split = false;
    for (size_t i = 0; i < p->ends.n; i++)
        any_split |= p->ends.v[i].split != 0;
    if (seam.n && !any_split)
        return NULL;
    find_needs(plan, p);
    find_sure(plan, p, plan_prefix_bytes(plan));
    return p;
}

static bool may_go_on(const struct plan *plan) {
    return plan->g->kind == IR_INGRESS && plan_prefix_bytes(plan) == SK_INGRESS_PREFIX &&
           plan->g->intrinsic[IRI_BYPASS_EGRESS] && plan->g->intrinsic[IRI_UCAST_EGRESS_PORT];
}

void plan_parse_paths(struct plan *plan) {
    const struct ir_gress *g = plan->g;
    if (plan->checked || g->states.n == 0 || g->headers.n > MAX_PLACES)
        return;
    for (size_t i = 0; i < g->headers.n; i++) {
        const struct plan_header *h = &plan->headers[i];
        if ((h->extracted || h->emitted) && !plan_home_of(plan, g->headers.v[i])->on_wire)
            return;
    }
    // Too many may be few enough when those of split packets share what is printed after them.
    const struct plan_seam none = {0};
    plan->paths = find_paths(plan, none);
    const struct plan_paths *of = all_paths(plan, none);
    if (!of || !may_go_on(plan))
        return;
    const struct plan_seam seam = plan_choose_seam(plan, of);
    struct plan_paths *with_split = seam.n ? find_paths(plan, seam) : NULL;
    if (with_split)
        plan->paths = with_split;
}

const struct plan_seam *plan_seam_of(const struct plan *plan) {
    return plan->paths && plan->paths->seam.n ? &plan->paths->seam : NULL;
}

bool plan_paths_go_on(const struct plan *plan) {
    return plan->paths && may_go_on(plan);
}

int plan_path_with(const struct plan *plan, const bool *headers) {
    int best = -1;
    for (size_t i = 0; i < plan->paths->ends.n; i++) {
        const struct plan_known *k = &plan->paths->ends.v[i];
        bool all = true;
        for (size_t h = 0; h < plan->g->headers.n; h++)
            all &= !headers[h] || k->place[h] > plan_prefix_bytes(plan);
        if (all && (best < 0 || k->at < plan->paths->ends.v[best].at))
            best = (int)i;
    }
    return best;
}
