// SPDX-License-Identifier: Apache-2.0
//
// split_packet: packets that come around with their headers apart from what is behind them.
//
// An aggregation takes its packets through several passes. Each takes some bytes from behind the headers, or puts some
// there, and leaves the headers themselves nearly as they were: so in front of what is behind them they would be moved
// in every pass. They are not. A packet that goes on inside the program (pipeline/hop.h) may be in two pieces,
//
//     start                     front                tail                end
//     | what the parser sees in | headers   |  ...   | what is behind    |
//     | front of a packet       |           |        |                   |
//
// of which the first stays where it is, and only 'tail' changes. The seam is behind as many bytes of headers in all
// such packets ("seam bytes"), so where a header is remains a constant from one of the two pointers on. The packet is
// put together where it leaves the program, which most never do.
//
// Emits are of headers in front of the seam and of those behind it: the last ones, which the program removes. A header
// that the parser makes, of those, needs no home: it is put where it will be emitted.
//
// What the architecture says of such a packet (its port, the time) is not read from the bytes in front of it either:
// those fields are variables ("given").
#include "compiler/plan/parse_paths.h"
#include "compiler/print/emit_impl.h"

#include "pipeline/abi.h"

// ---- the seam ----

struct removals {
    const struct emit *e;
    bool *by_header;
};

static void find_removals(void *aux, const struct ir_stmt *s) {
    struct removals *r = aux;
    if (s->kind == IR_SET_INVALID)
        r->by_header[s->header->id] = true;
    for (size_t i = 0; (s->var || s->var2) && i < r->e->g->headers.n; i++) {
        const struct ir_var *valid = r->e->g->headers.v[i]->valid;
        r->by_header[i] |= s->var == valid || s->var2 == valid;
    }
}

// From which emit on the program may remove all of them.
static size_t removed_from(struct emit *e, const emit_header_vec *emits) {
    struct removals r = {e, ARENA_ARRAY(e->a, bool, e->g->headers.n + 1)};
    emit_walk(e->g->control, find_removals, NULL, &r);
    emit_walk(e->g->deparser, find_removals, NULL, &r);
    for (size_t i = 0; i < e->g->actions.n; i++)
        emit_walk(e->g->actions.v[i]->body, find_removals, NULL, &r);
    size_t first = emits->n;
    while (first > 0 && r.by_header[emits->v[first - 1]->id])
        first--;
    return first;
}

// How many bytes the first emits are of a packet that came this way and begins with them; 0: they are not in its front
// one behind the other.
static unsigned front_bytes(const struct emit *e, const struct known *k,
                            const emit_header_vec *emits, size_t first) {
    unsigned at = emit_prefix_bytes(e);
    for (size_t i = 0; i < first; i++) {
        const struct ir_header *h = emits->v[i];
        if (!k->valid[h->id])
            continue;
        if (k->place[h->id] != at + 1)
            return 0;
        at += h->bits / 8;
    }
    return at - emit_prefix_bytes(e);
}

// As many as most ways have.
static unsigned usual_front(const struct emit *e, const struct emit_paths *p,
                            const emit_header_vec *emits, size_t first) {
    unsigned best = 0, most = 0;
    for (size_t i = 0; i < p->ends.n; i++) {
        const unsigned bytes = front_bytes(e, &p->ends.v[i], emits, first);
        unsigned count = 0;
        for (size_t k = 0; k < p->ends.n; k++)
            count += front_bytes(e, &p->ends.v[k], emits, first) == bytes;
        if (bytes && count > most) {
            most = count;
            best = bytes;
        }
    }
    return best;
}

// ---- what is given ----

static bool is_port(const struct ir_var *f) {
    return f->bit_offset == 7 && f->width == 9;
}

// Of the first eight bytes (tna-facts 2.1), of a packet that came around: C text, or null.
static const char *given_value(const struct ir_var *f) {
    if (f->bit_offset + f->width <= 7)
        return "0";
    if (is_port(f))
        return "port";
    return f->bit_offset == 16 && f->width == 48 ? "(now & SK_TSTAMP_MASK)" : NULL;
}

static const struct ir_header *given_header(struct emit *e) {
    const struct ir_block *b = e->g->states.v[0]->body;
    const struct ir_stmt *s = b && b->stmts.n ? b->stmts.v[0] : NULL;
    if (!s || s->kind != IR_EXTRACT || s->headers.n || s->header->bits != 64 ||
        e->headers[s->header->id].emitted || emit_home_of(e, s->header)->written)
        return NULL;
    for (size_t i = 0; i < s->header->fields.n; i++)
        if (!given_value(s->header->fields.v[i]))
            return NULL;
    return s->header;
}

static bool prefix_is_read(const struct emit *e, const struct emit_paths *p,
                           const struct ir_header *given) {
    const unsigned prefix = emit_prefix_bytes(e);
    bool read = false;
    for (size_t i = 0; i < p->nodes.n; i++) {
        const struct emit_node *n = p->nodes.v[i];
        const struct ir_state *st = e->g->states.v[n->state];
        unsigned ahead = 0;
        for (size_t h = 0; h < e->g->headers.n; h++)
            read |= e->g->headers.v[h] != given && n->out.place[h] && n->out.place[h] <= prefix;
        emit_walk(st->body, NULL, emit_lookahead_bytes, &ahead);
        for (size_t k = 0; k < st->keys.n; k++)
            emit_walk_expr(st->keys.v[k], emit_lookahead_bytes, &ahead);
        read |= ahead && n->in.at < prefix;
    }
    return read;
}

struct emit_seam emit_choose_seam(struct emit *e, const struct emit_paths *p) {
    const emit_header_vec emits = emit_emits(e);
    struct emit_seam seam = {.first = removed_from(e, &emits)};
    // what is asked for as it was received, or counted when it leaves, is in one piece
    if (emit_block_has(e->g->deparser, IR_RESUBMIT) || emit_block_has(e->g->deparser, IR_MIRROR) ||
        emit_counts_late(e) || seam.first == emits.n)
        return seam;
    seam.bytes = usual_front(e, p, &emits, seam.first);
    seam.given = given_header(e);
    seam.prefix_is_read = !seam.given || prefix_is_read(e, p, seam.given);
    return seam;
}

// They are variables, which are loaded where the header is extracted.
void emit_plan_given(struct emit *e) {
    const struct emit_seam *seam = emit_seam_of(e);
    if (!seam || !seam->given)
        return;
    const struct ir_header *h = seam->given;
    emit_plan_of(e)->homes[h->id].on_wire = false;
    for (size_t i = 0; i < h->fields.n; i++) {
        struct emit_var *v = &e->vars[h->fields.v[i]->id];
        v->wire = NULL;
        v->ref = emit_text(e, "v->%s", v->name);
    }
    emit_segments(e);
}

bool emit_is_given(const struct emit *e, const struct ir_header *h) {
    const struct emit_seam *seam = emit_seam_of(e);
    return seam && seam->given == h && e->paths->here && e->paths->here->in.apart;
}

void emit_given(struct emit *e) {
    const struct ir_header *h = emit_seam_of(e)->given;
    for (size_t i = 0; i < h->fields.n; i++) {
        const struct ir_var *f = h->fields.v[i];
        if (!is_port(f)) // that is known of every packet
            emit_line(e, "if (hopped)");
        emit_line(e, "%s%s;", is_port(f) ? "" : "    ", emit_set(e, f, given_value(f)));
    }
}

// ---- headers that the parser makes ----

bool emit_made_behind_seam(struct emit *e, const struct known *k, unsigned *before,
                           unsigned *bytes) {
    const struct emit_seam *seam = emit_seam_of(e);
    const emit_header_vec emits = emit_emits(e);
    bool placed = false;
    *bytes = 0;
    if (!k->apart)
        return false;
    // in the packet's order they are in front of those that are there
    for (size_t i = seam->first; i < emits.n; i++) {
        const struct ir_header *h = emits.v[i];
        if (!k->valid[h->id])
            continue;
        if (k->place[h->id])
            placed = true;
        else if (placed || !emit_home_of(e, h)->in_place)
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

// ---- the deparser ----

void emit_apart_members(struct emit *e) {
    if (emit_seam_of(e))
        emit_line(e, "uint8_t *tail; // of a packet that leaves apart");
}

// One that is behind the seam stays where it is, or the packet is put together.
static void stays_behind(struct emit *e, const struct ir_header *h) {
    emit_open(e, "if (%s) { // %s", emit_ref(e, h->valid), emit_comment(e, h->name));
    emit_line(e, "if (!(there >> %u & 1) || v->at_h%u != tail - %u)", h->id, h->id, h->bits / 8);
    emit_line(e, "    goto together;");
    emit_line(e, "tail -= %u;", h->bits / 8);
    emit_close(e, "}");
}

// One that is in front of it, too; or it comes from its home to be the first.
static void stays_in_front(struct emit *e, const struct ir_header *h) {
    const unsigned bytes = h->bits / 8;
    emit_open(e, "if (%s) { // %s", emit_ref(e, h->valid), emit_comment(e, h->name));
    emit_open(e, "if (there >> %u & 1) {", h->id);
    emit_line(e, "if (made || (front && v->at_h%u + %u != front))", h->id, bytes);
    emit_line(e, "    goto together;");
    emit_line(e, "front = v->at_h%u;", h->id);
    emit_close(e, "} else {");
    e->indent++;
    emit_line(e, "if (!front)");
    emit_line(e, "    goto together;");
    emit_line(e, "made = true, front -= %u;", bytes);
    emit_close(e, "}");
    emit_line(e, "bytes += %u;", bytes);
    emit_close(e, "}");
}

// What the headers have that is not in the packet yet, from "to_h" on.
static void put(struct emit *e, const struct ir_header *h, bool homes) {
    emit_open(e, "if (%s) {", emit_ref(e, h->valid));
    if (homes) {
        const char *all = emit_holds_all(e, h);
        emit_line(e, "if (!(there >> %u & 1)%s%s%s)", h->id, *all ? " && !(" : "", all,
                  *all ? ")" : "");
        emit_line(e, "    memcpy(to_h, v->at_h%u, %u);", h->id, h->bits / 8);
    }
    emit_held_stores(e, h);
    emit_line(e, "to_h += %u;", h->bits / 8);
    emit_close(e, "}");
}

void emit_apart(struct emit *e) {
    const struct emit_seam *seam = emit_seam_of(e);
    if (!seam)
        return;
    const emit_header_vec emits = emit_emits(e);
    emit_line(e, " ");
    emit_line(e, "// The same for a packet that may go on with its headers apart.");
    emit_open(e,
              "SK_INLINE void %s_emit_apart(struct %s_phv *restrict v, struct sk_packet *packet, "
              "uint8_t *q, uint64_t there) {",
              e->p, e->p);
    emit_line(e, "uint8_t *tail = q, *front = NULL, *to_h;");
    emit_line(e, "unsigned bytes = 0;");
    emit_line(e, "bool made = false;");
    for (size_t i = emits.n; i-- > seam->first;)
        stays_behind(e, emits.v[i]);
    for (size_t i = seam->first; i-- > 0;)
        stays_in_front(e, emits.v[i]);
    emit_line(e, "if (bytes != %u)", seam->bytes);
    emit_line(e, "    goto together;");
    emit_line(e, "to_h = front;");
    for (size_t i = 0; i < seam->first; i++)
        put(e, emits.v[i], true);
    emit_line(e, "to_h = tail;");
    for (size_t i = seam->first; i < emits.n; i++)
        put(e, emits.v[i], false);
    emit_line(e, "v->front = front;");
    emit_line(e, "v->tail = tail;");
    emit_line(e, "return;");
    emit_line(e, "together:;");
    emit_line(e, "%s_emit(v, packet, q, there);", e->p);
    emit_close(e, "}");
}
