// SPDX-License-Identifier: Apache-2.0
//
// split_packet: packets that come around in two pieces, headers and what follows them.
//
// An aggregation takes its packets through several passes. Each takes some bytes from after the
// headers, or puts some there, and leaves the headers themselves nearly as they were: so before
// what is after them they would be moved in every pass. They are not. A packet that goes on inside
// the program (pipeline/hop.h) may be in two pieces,
//
//     start                     front                tail                end
//     | what the parser sees in | headers   |  ...   | what is behind    |
//     | front of a packet       |           |        |                   |
//
// of which the first stays where it is, and only 'tail' changes. The seam is after as many bytes
// of headers in all such packets ("seam bytes"), so where a header is remains a constant from one
// of the two pointers on. The packet is put together where it leaves the program, which most never
// do.
//
// The deparser emits the headers before the seam and then those after it, which the program
// removes. A header that the parser makes, of those, needs no home: it is put where it will be
// emitted.
//
// What the architecture says of such a packet (its port, the time) is not read from the bytes
// before it either: those fields are variables ("given").
#include "compiler/ir/effects.h"
#include "compiler/ir/walk.h"
#include "compiler/plan/parse_paths.h"
#include "compiler/plan/plan.h"

// ---- the seam ----

// From which emit on the program may remove all of them.
static size_t removed_from(const struct plan *plan, const ir_header_vec *emits) {
    struct ir_effects rest = ir_effects_none(plan->a, plan->g);
    ir_effects_add_rest(&rest);
    size_t first = emits->n;
    while (first > 0 && ir_effects_may_remove(&rest, emits->v[first - 1]))
        first--;
    return first;
}

// Returns how many bytes the first emits have, if the packet came this way and begins with these
// headers, one after the other. Returns 0 if it does not.
static unsigned front_bytes(const struct plan *plan, const struct plan_known *k,
                            const ir_header_vec *emits, size_t first) {
    unsigned at = plan_prefix_bytes(plan);
    for (size_t i = 0; i < first; i++) {
        const struct ir_header *h = emits->v[i];
        if (!k->valid[h->id])
            continue;
        if (k->place[h->id] != at + 1)
            return 0;
        at += h->bits / 8;
    }
    return at - plan_prefix_bytes(plan);
}

// As many as most ways have.
static unsigned usual_front(const struct plan *plan, const struct plan_paths *p,
                            const ir_header_vec *emits, size_t first) {
    unsigned best = 0, most = 0;
    for (size_t i = 0; i < p->ends.n; i++) {
        const unsigned bytes = front_bytes(plan, &p->ends.v[i], emits, first);
        unsigned count = 0;
        for (size_t k = 0; k < p->ends.n; k++)
            count += front_bytes(plan, &p->ends.v[k], emits, first) == bytes;
        if (bytes && count > most) {
            most = count;
            best = bytes;
        }
    }
    return best;
}

// ---- what is given ----

// Of the first eight bytes (tna-facts 2.1).
enum plan_given_kind plan_given(const struct ir_var *f) {
    if (f->bit_offset + f->width <= 7)
        return PLAN_GIVEN_ZERO;
    if (f->bit_offset == 7 && f->width == 9)
        return PLAN_GIVEN_PORT;
    return f->bit_offset == 16 && f->width == 48 ? PLAN_GIVEN_TIME : PLAN_NOT_GIVEN;
}

static const struct ir_header *given_header(const struct plan *plan) {
    const struct ir_block *b = plan->g->states.v[0]->body;
    size_t first = 0;
    while (b && first < b->stmts.n && b->stmts.v[first]->kind == IR_NOTE)
        first++;
    const struct ir_stmt *s = b && first < b->stmts.n ? b->stmts.v[first] : NULL;
    if (!s || s->kind != IR_EXTRACT || s->headers.n || s->header->bits != 64 ||
        plan->headers[s->header->id].emitted || plan_home_of(plan, s->header)->written)
        return NULL;
    for (size_t i = 0; i < s->header->fields.n; i++)
        if (plan_given(s->header->fields.v[i]) == PLAN_NOT_GIVEN)
            return NULL;
    return s->header;
}

static bool prefix_is_read(const struct plan *plan, const struct plan_paths *p,
                           const struct ir_header *given) {
    const unsigned prefix = plan_prefix_bytes(plan);
    bool read = false;
    for (size_t i = 0; i < p->nodes.n; i++) {
        const struct plan_node *n = p->nodes.v[i];
        const struct ir_state *st = plan->g->states.v[n->state];
        unsigned ahead = 0;
        for (size_t h = 0; h < plan->g->headers.n; h++)
            read |= plan->g->headers.v[h] != given && n->out.place[h] && n->out.place[h] <= prefix;
        ir_walk(st->body, NULL, plan_lookahead_bytes, &ahead);
        for (size_t k = 0; k < st->keys.n; k++)
            ir_walk_expr(st->keys.v[k], plan_lookahead_bytes, &ahead);
        read |= ahead && n->in.at < prefix;
    }
    return read;
}

struct plan_seam plan_choose_seam(const struct plan *plan, const struct plan_paths *p) {
    const ir_header_vec emits = plan_emits(plan);
    struct plan_seam seam = {.first = removed_from(plan, &emits)};
    // what is asked for as it was received, or counted when it leaves, is in one piece
    if (ir_block_has(plan->g->deparser, IR_RESUBMIT) ||
        ir_block_has(plan->g->deparser, IR_MIRROR) ||
        ir_block_has(plan->g->deparser, IR_COUNT_LEAVING) || seam.first == emits.n)
        return seam;
    seam.bytes = usual_front(plan, p, &emits, seam.first);
    seam.given = given_header(plan);
    seam.prefix_is_read = !seam.given || prefix_is_read(plan, p, seam.given);
    return seam;
}

// They are variables, which are loaded where the header is extracted.
void plan_split_packet(struct plan *plan) {
    const struct plan_seam *seam = plan_seam_of(plan);
    if (!seam || !seam->given)
        return;
    const struct ir_header *h = seam->given;
    plan->homes[h->id].on_wire = false;
    for (size_t i = 0; i < h->fields.n; i++)
        plan->vars[h->fields.v[i]->id].on_wire = false;
    plan_segments(plan);
}

// ---- headers that the parser makes ----

bool plan_made_behind_seam(const struct plan *plan, const struct plan_known *k, unsigned *before,
                           unsigned *bytes) {
    const struct plan_seam *seam = plan_seam_of(plan);
    const ir_header_vec emits = plan_emits(plan);
    bool placed = false;
    *bytes = 0;
    if (!k->is_split)
        return false;
    // in the packet's order they are before those that are there
    for (size_t i = seam->first; i < emits.n; i++) {
        const struct ir_header *h = emits.v[i];
        if (!k->valid[h->id])
            continue;
        if (k->place[h->id])
            placed = true;
        else if (placed || !plan_home_of(plan, h)->in_place)
            return false;
        else
            *bytes += h->bits / 8;
    }
    unsigned left = *bytes;
    for (size_t i = seam->first; i < emits.n && left; i++) {
        const struct ir_header *h = emits.v[i];
        if (!k->valid[h->id] || k->place[h->id])
            continue;
        before[h->id] = left;
        left -= h->bits / 8;
    }
    return *bytes > 0;
}
