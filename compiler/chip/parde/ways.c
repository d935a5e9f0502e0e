// SPDX-License-Identifier: Apache-2.0
//
// ways: how deep a parser goes into a packet. Loops are those over header stacks: as often as the
// stack has elements.
#include "compiler/chip/parde/parde_impl.h"

#include <string.h>

#include "compiler/ir/walk.h"

int parde_next(const struct ir_state *s, size_t i) {
    if (i < s->cases.n)
        return s->cases.v[i].next;
    return i == s->cases.n && s->keys.n == 0 ? s->next : PARDE_END;
}

struct taking {
    struct parde_state *s;
};

static void parde_ways_take(void *ctx, struct ir_stmt *st) {
    struct parde_state *s = ((struct taking *)ctx)->s;
    if (st->kind == IR_EXTRACT) {
        if (st->header)
            s->bytes += st->header->bits / 8;
        else if (st->headers.n > 0)
            s->bytes += st->headers.v[0]->bits / 8;
        if (st->headers.n > s->visits)
            s->visits = (unsigned)st->headers.n;
    } else if (st->kind == IR_ADVANCE && st->e && st->e->op == IR_CONST) {
        s->bytes += big_to_u64(st->e->value) / 8;
    }
}

// ---- loops: strongly connected components, by two walks -----------------------------------------
struct walk {
    const struct ir_gress *ir;
    size_t *order, n; // states as they are left, of a walk forwards
    bool *seen;
};

struct frame {
    size_t state, edge;
};

static void forwards(struct walk *w, struct arena *a, size_t from) {
    struct frame *stack = ARENA_ARRAY(a, struct frame, w->ir->states.n + 1);
    size_t depth = 0;
    stack[depth++] = (struct frame){from, 0};
    w->seen[from] = true;
    while (depth > 0) {
        struct frame *f = &stack[depth - 1];
        int next = parde_next(w->ir->states.v[f->state], f->edge++);
        if (next == PARDE_END) {
            w->order[w->n++] = f->state;
            depth--;
        } else if (next >= 0 && (size_t)next < w->ir->states.n && !w->seen[next]) {
            w->seen[next] = true;
            stack[depth++] = (struct frame){(size_t)next, 0};
        }
    }
}

static void components(struct parde_parser *p, struct walk *w) {
    size_t n = p->ir->states.n;
    bool *into = ARENA_ARRAY(p->r->arena, bool, n *n + 1); // [to * n + from]
    for (size_t i = 0; i < n; i++)
        for (size_t e = 0; parde_next(p->ir->states.v[i], e) != PARDE_END; e++) {
            int next = parde_next(p->ir->states.v[i], e);
            if (next >= 0 && (size_t)next < n)
                into[(size_t)next * n + i] = true;
        }
    size_t *stack = ARENA_ARRAY(p->r->arena, size_t, n + 1);
    bool *done = ARENA_ARRAY(p->r->arena, bool, n + 1);
    unsigned number = 0;
    for (size_t k = w->n; k-- > 0;) { // last left first: order of the packet
        size_t depth = 0, size = 0;
        if (done[w->order[k]])
            continue;
        number++;
        stack[depth++] = w->order[k];
        done[w->order[k]] = true;
        while (depth > 0) {
            size_t s = stack[--depth];
            p->states[s].component = number;
            size++;
            for (size_t from = 0; from < n; from++)
                if (into[s * n + from] && w->seen[from] && !done[from]) {
                    done[from] = true;
                    stack[depth++] = from;
                }
        }
        bool loop = size > 1 || into[w->order[k] * n + w->order[k]];
        unsigned most = 1;
        for (size_t s = 0; loop && s < n; s++)
            if (p->states[s].component == number && p->states[s].visits > most)
                most = p->states[s].visits;
        for (size_t s = 0; s < n; s++)
            if (p->states[s].component == number) {
                p->states[s].in_loop = loop;
                p->states[s].visits = loop && p->states[s].visits <= 1 ? most
                                      : loop                           ? p->states[s].visits
                                                                       : 1;
            }
    }
}

void parde_ways(struct parde_parser *p) {
    size_t n = p->ir->states.n;
    if (n == 0 || n > PARDE_MAX_STATES)
        return;
    p->states = ARENA_ARRAY(p->r->arena, struct parde_state, n);
    for (size_t i = 0; i < n; i++) {
        struct taking t = {&p->states[i]};
        struct ir_visitor v = {.ctx = &t, .stmt = parde_ways_take, .shallow = true};
        ir_visit_block(&v, p->ir->states.v[i]->body);
        for (size_t e = 0; parde_next(p->ir->states.v[i], e) != PARDE_END; e++) {
            int next = parde_next(p->ir->states.v[i], e);
            if (next >= 0 && (size_t)next < n)
                p->states[next].ways_in++;
        }
    }
    struct walk w = {.ir = p->ir,
                     .order = ARENA_ARRAY(p->r->arena, size_t, n),
                     .seen = ARENA_ARRAY(p->r->arena, bool, n)};
    forwards(&w, p->r->arena, 0);
    components(p, &w);
}

// ---- depths -------------------------------------------------------------------------------------
uint64_t parde_longest(const struct parde_parser *p) {
    size_t n = p->states ? p->ir->states.n : 0;
    uint64_t deepest = 0;
    // Components are numbered in the order of the packet: one pass over them does.
    uint64_t *into = ARENA_ARRAY(p->r->arena, uint64_t, n + 2); // before a component
    uint64_t *own = ARENA_ARRAY(p->r->arena, uint64_t, n + 2);
    for (size_t i = 0; i < n; i++)
        own[p->states[i].component] += p->states[i].bytes * p->states[i].visits;
    for (unsigned c = 1; c <= n; c++)
        for (size_t i = 0; i < n; i++) {
            if (p->states[i].component != c)
                continue;
            uint64_t behind = into[c] + own[c];
            deepest = behind > deepest ? behind : deepest;
            for (size_t e = 0; parde_next(p->ir->states.v[i], e) != PARDE_END; e++) {
                int next = parde_next(p->ir->states.v[i], e);
                if (next < 0 || (size_t)next >= n || p->states[next].component == c)
                    continue;
                uint64_t *to = &into[p->states[next].component];
                *to = behind > *to ? behind : *to;
            }
        }
    return deepest;
}

static bool parde_ways_has_default(const struct ir_state *s) {
    for (size_t i = 0; i < s->cases.n; i++)
        if (s->cases.v[i].sets.n == 0)
            return true;
    return s->keys.n == 0;
}

uint64_t parde_shortest(const struct parde_parser *p) {
    size_t n = p->states ? p->ir->states.n : 0;
    uint64_t *depth = ARENA_ARRAY(p->r->arena, uint64_t, n + 1), best = UINT64_MAX;
    if (n == 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        depth[i] = UINT64_MAX;
    depth[0] = p->states[0].bytes;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < n; i++) {
            if (depth[i] == UINT64_MAX)
                continue;
            for (size_t e = 0; parde_next(p->ir->states.v[i], e) != PARDE_END; e++) {
                int next = parde_next(p->ir->states.v[i], e);
                if (next < 0 || (size_t)next >= n) {
                    best = depth[i] < best ? depth[i] : best;
                } else if (depth[i] + p->states[next].bytes < depth[next]) {
                    depth[next] = depth[i] + p->states[next].bytes;
                    changed = true;
                }
            }
            if (!parde_ways_has_default(p->ir->states.v[i]) && depth[i] < best)
                best = depth[i];
        }
    }
    return best == UINT64_MAX ? depth[0] : best;
}
