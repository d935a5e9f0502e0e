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
// Packets of several kinds may have headers of several lengths. Then the function of split packets
// is told the length, and has the ways through the parser for each. Ends that agree in what is
// after the seam may share what is printed after them (choose_paths.c).
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

unsigned plan_front_bytes(const struct plan *plan, const struct plan_seam *seam,
                          const struct plan_known *k) {
    const ir_header_vec emits = plan_emits(plan);
    unsigned at = plan_prefix_bytes(plan);
    for (size_t i = 0; i < seam->first; i++) {
        const struct ir_header *h = emits.v[i];
        if (!k->valid[h->id])
            continue;
        if (k->place[h->id] != at + 1)
            return 0;
        at += h->bits / 8;
    }
    return at - plan_prefix_bytes(plan);
}

const struct ir_header *plan_front_header(const struct plan *plan, const struct plan_seam *seam,
                                          const struct plan_known *k) {
    const ir_header_vec emits = plan_emits(plan);
    for (size_t i = 0; i < seam->first; i++)
        if (k->valid[emits.v[i]->id])
            return emits.v[i];
    return NULL;
}

// How many ways have so many bytes.
static unsigned ways_with(const unsigned *front, size_t n, unsigned bytes) {
    unsigned count = 0;
    for (size_t i = 0; i < n; i++)
        count += front[i] == bytes;
    return count;
}

static bool is_length(const struct plan_seam *seam, unsigned bytes) {
    for (size_t i = 0; i < seam->n; i++)
        if (seam->bytes[i] == bytes)
            return true;
    return false;
}

// As many as most ways have, and then what others have that begin with the same header: packets of
// another kind, which come around as well.
static void seam_lengths(const struct plan *plan, const struct plan_paths *p,
                         struct plan_seam *seam) {
    unsigned *front = ARENA_ARRAY(plan->a, unsigned, p->ends.n + 1), most = 0;
    size_t usual = 0;
    for (size_t i = 0; i < p->ends.n; i++)
        front[i] = plan_front_bytes(plan, seam, &p->ends.v[i]);
    for (size_t i = 0; i < p->ends.n; i++)
        if (front[i] && ways_with(front, p->ends.n, front[i]) > most) {
            most = ways_with(front, p->ends.n, front[i]);
            usual = i;
        }
    if (!most)
        return;
    seam->bytes[seam->n++] = front[usual];
    seam->head = plan_front_header(plan, seam, &p->ends.v[usual]);
    for (size_t i = 0; i < p->ends.n && seam->n < PLAN_MAX_SEAMS; i++)
        if (front[i] && !is_length(seam, front[i]) && ways_with(front, p->ends.n, front[i]) > 1 &&
            plan_front_header(plan, seam, &p->ends.v[i]) == seam->head)
            seam->bytes[seam->n++] = front[i];
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
    seam_lengths(plan, p, &seam);
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
    if (!k->split)
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
