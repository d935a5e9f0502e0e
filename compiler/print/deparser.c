// SPDX-License-Identifier: Apache-2.0
//
// deparser: the deparser's statements and the emission of headers.
//
// A Tofino's deparser computes checksums and headers from the same final field values, so the
// statements run first and the headers are written afterwards, in the order of the emits, directly
// before the payload. Headers that are on the wire where they belong stay there: the last ones,
// as a rule. From the last one that does not on, all are gathered first and then put in place,
// since the bytes of one may lie where another goes.
#include "compiler/ir/effects.h"
#include "compiler/plan/parse_paths.h"
#include "compiler/print/checked/checked.h"
#include "compiler/print/checked/trace.h"

#define MAX_PIECES 160u // of all headers, which are moved in registers

// --------------------------------------------------------------------------------------------
// Headers to bytes.

static const char *field_bits(const struct emit *e, const struct ir_var *f, unsigned shift) {
    return shift ? emit_text(e, "(uint64_t)%s << %u", emit_ref(e, f), shift)
                 : emit_text(e, "(uint64_t)%s", emit_ref(e, f));
}

static void store_segment(const struct emit *e, const struct ir_header *h, unsigned k) {
    const struct plan_segment *s = &e->plan->headers[h->id].segments.v[k];
    const struct ir_var *f = h->fields.v[s->first];
    unsigned at = s->bit_offset / 8, left = s->bits;
    if (s->raw) {
        emit_line(e, "memcpy(t + %u, v->raw_h%u_s%u, %u);", at, h->id, k, s->bits / 8);
    } else if (plan_is_wide(f->width) && s->bit_offset % 8 == 0 && f->width % 8 == 0) {
        emit_line(e, "memcpy(t + %u, %s, %u);", at, emit_ref(e, f), s->bits / 8);
    } else if (plan_is_wide(f->width)) {
        emit_line(e, "sk_wide_copy(t, %u, %s, %u, %u);", s->bit_offset, emit_ref(e, f),
                  8 * plan_bytes(f->width) - f->width, f->width);
    } else if (s->bits <= 64 && s->bit_offset % 8 == 0 && s->bits % 8 == 0) {
        const char *text = "";
        for (unsigned i = 0; i < s->count; i++) {
            const struct ir_var *g = h->fields.v[s->first + i];
            left -= g->width;
            text = emit_text(e, "%s%s%s", text, i ? " | " : "", field_bits(e, g, left));
        }
        emit_line(e, "sk_store_bytes(t + %u, %u, %s);", at, s->bits / 8, text);
    } else {
        emit_line(e, "%s(t, %u, %u, %s);", f->width <= 64 ? "sk_bits_put" : "sk_bits_put128",
                  s->bit_offset, f->width, emit_ref(e, f));
    }
}

// The emits from this one on are of headers on the wire, and may be in their place.
static size_t settled(const struct emit *e, const ir_header_vec *emits) {
    size_t i = emits->n;
    while (i > 0 && plan_home_of(e->plan, emits->v[i - 1])->on_wire)
        i--;
    return i;
}

// q: where the headers after this one begin. On a path it is known which ones are not in the
// packet.
static void stay(const struct emit *e, const struct ir_header *h, size_t i) {
    const char *away = e->plan->paths ? emit_text(e, "!(there >> %u & 1) || ", h->id) : "";
    emit_open(e, "if (%s) { // %s", emit_ref(e, h->valid), emit_comment(e, h->name));
    emit_open(e, "if (%sv->at_h%u != q - %u) {", away, h->id, h->bits / 8);
    emit_line(e, "upto = %zu;", i + 1);
    emit_line(e, "goto moved;");
    emit_close(e, "}");
    emit_line(e, "q -= %u;", h->bits / 8);
    emit_close(e, "}");
}

static void emit_deparser_write_header(const struct emit *e, const struct ir_header *h) {
    if (plan_home_of(e->plan, h)->on_wire)
        emit_line(e, "memcpy(t, v->at_h%u, %u);", h->id, h->bits / 8);
    else
        emit_line(e, "memset(t, 0, %u);", h->bits / 8); // bits are put beside others
    for (unsigned k = 0; k < e->plan->headers[h->id].segments.n; k++)
        store_segment(e, h, k);
}

static const char *still_to_go(const struct emit *e, size_t i, size_t fixed) {
    return i < fixed ? "" : emit_text(e, "%zu < upto && ", i);
}

// One that is only put together here: it comes from its home.
static bool emit_deparser_is_made(const struct emit *e, const struct ir_header *h) {
    return !e->plan->paths && !e->plan->headers[h->id].extracted;
}

// In the pieces in which its fields were stored: a load of several stores waits until they are in
// the cache.
static void copy_made(const struct emit *e, const struct ir_header *h) {
    for (unsigned at = 0, end = 0; at < h->bits / 8; at = end) {
        const unsigned bytes = emit_stored_bytes(h, at);
        end = at + bytes;
        emit_line(e, "sk_copy_piece(to + %u, v->at_h%u + %u, %u);", at, h->id, at, bytes);
    }
}

// Puts the headers that have not stayed before q, where those of them that are in the packet lie
// one after the other there, and are to: as when headers were removed or added. Those in the packet
// are moved first, all at once; others come from their homes. On a path it is known which are
// which.
static void move_block(const struct emit *e, const ir_header_vec *emits) {
    emit_line(e, "const uint8_t *c = NULL, *last = NULL; // what is moved");
    emit_line(e, "size_t moved = 0; // bytes");
    emit_line(e, "uint8_t *front = q, *to = q;");
    bool made = e->plan->paths;
    for (size_t i = emits->n; i-- > 0;) {
        const struct ir_header *h = emits->v[i];
        emit_open(e, "if (%zu < upto && %s) { // %s", i, emit_ref(e, h->valid),
                  emit_comment(e, h->name));
        if (emit_deparser_is_made(e, h)) {
            emit_line(e, "front -= %u;", h->bits / 8);
            emit_close(e, "}");
            made = true;
            continue;
        }
        if (e->plan->paths)
            emit_open(e, "if (there >> %u & 1) {", h->id);
        emit_line(e, "const uint8_t *const at_end = v->at_h%u + %u;", h->id, h->bits / 8);
        emit_line(e, "if (c && (c != at_end || front != to - (last - c)))");
        emit_line(e, "    goto gather;");
        emit_line(e, "if (!c)");
        emit_line(e, "    last = at_end, to = front;");
        emit_line(e, "c = v->at_h%u, moved += %u;", h->id, h->bits / 8);
        if (e->plan->paths)
            emit_close(e, "}");
        emit_line(e, "front -= %u;", h->bits / 8);
        emit_close(e, "}");
    }
    // where the packet's headers are known, SK_HEADROOM before it is room for all that can be
    // emitted
    emit_open(e, "if (%s(size_t)(q - front) > (size_t)(q - packet->buf)) {",
              e->plan->paths ? "there == ~UINT64_C(0) && " : "");
    emit_line(e, "abort(); // the engine guarantees SK_HEADROOM");
    emit_close(e, "}");
    emit_line(e, "if (c)");
    emit_line(e, "    sk_move_back(to, last, moved);");
    if (made)
        emit_line(e, "to = q;");
    for (size_t i = emits->n; made && i-- > 0;) {
        const struct ir_header *h = emits->v[i];
        emit_open(e, "if (%zu < upto && %s) {", i, emit_ref(e, h->valid));
        emit_line(e, "to -= %u;", h->bits / 8);
        if (emit_deparser_is_made(e, h)) {
            copy_made(e, h);
        } else if (e->plan->paths) {
            emit_line(e, "if (!(there >> %u & 1))", h->id);
            emit_line(e, "    memcpy(to, v->at_h%u, %u);", h->id, h->bits / 8);
        }
        emit_close(e, "}");
    }
    emit_line(e, "q = front;");
    emit_line(e, "goto done;");
    emit_line(e, "gather:;");
}

// Pieces of a header that a register holds, the largest first.
static unsigned piece_bytes(unsigned left) {
    return left >= 16 ? 16 : left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
}

static unsigned pieces_of(unsigned bytes) {
    unsigned n = 0;
    for (unsigned at = 0; at < bytes; at += piece_bytes(bytes - at))
        n++;
    return n;
}

// All that a header has before its fields are stored is in the packet or in its home: of the
// emits, those that are moved are so many pieces. 0: of one it is not so.
static unsigned permuted_pieces(const struct emit *e, const ir_header_vec *emits) {
    unsigned n = 0;
    for (size_t i = 0; i < emits->n; i++) {
        const struct ir_header *h = emits->v[i];
        if (!plan_home_of(e->plan, h)->on_wire || e->plan->headers[h->id].segments.n)
            return 0;
        n += pieces_of(h->bits / 8);
    }
    return n;
}

// Whether a packet's headers come in another order than they leave in, on some path.
static bool permutes(const struct emit *e, const ir_header_vec *emits) {
    for (size_t i = 0; i < e->plan->paths->ends.n; i++) {
        const struct plan_known *k = &e->plan->paths->ends.v[i];
        unsigned last = 0;
        for (size_t n = 0; n < emits->n; n++) {
            const unsigned place = k->place[emits->v[n]->id]; // 0: it is not in the packet
            if (place && place < last)
                return true;
            last = place ? place : last;
        }
    }
    return false;
}

// One piece of a header, into a variable or out of it.
static void permute_pieces(const struct emit *e, const struct ir_header *h, bool load) {
    for (unsigned at = 0, k = 0; at < h->bits / 8; k++) {
        const unsigned n = piece_bytes(h->bits / 8 - at);
        if (load)
            emit_line(e, "memcpy(&x%u_%u, v->at_h%u + %u, %u);", h->id, k, h->id, at, n);
        else
            emit_line(e, "memcpy(to_x + %u, &x%u_%u, %u);", at, h->id, k, n);
        at += n;
    }
}

static void permute_variables(const struct emit *e, const struct ir_header *h) {
    for (unsigned at = 0, k = 0; at < h->bits / 8; k++) {
        const unsigned n = piece_bytes(h->bits / 8 - at);
        emit_line(e, "%s%u%s x%u_%u;", n == 16 ? "sk_u" : "uint", 8 * n, n == 16 ? "" : "_t", h->id,
                  k);
        at += n;
    }
}

// Where headers leave in another order than they came: on a path it is known which ones move and
// where to, and those are read before the first of them is written, each in registers. By way of
// memory they would be waited for: loads of several stores. Those at the front that are in their
// place are not touched.
static void permute(const struct emit *e, const ir_header_vec *emits, size_t fixed) {
    const unsigned pieces = e->plan->paths ? permuted_pieces(e, emits) : 0;
    if (pieces == 0 || pieces > MAX_PIECES || !permutes(e, emits))
        return;
    emit_open(e, "if (there != ~UINT64_C(0)) {");
    emit_line(e, "size_t from = 0, bytes = 0;");
    for (size_t i = 0; i < emits->n; i++) {
        const struct ir_header *h = emits->v[i];
        emit_line(e, "if (%s%s)", still_to_go(e, i, fixed), emit_ref(e, h->valid));
        emit_line(e, "    bytes += %u;", h->bits / 8);
    }
    emit_open(e, "if (__builtin_constant_p(bytes)) {");
    emit_line(e, "uint8_t *to_x = q - bytes;");
    emit_line(e, "q = to_x;");
    for (size_t i = 0; i < emits->n; i++) {
        const struct ir_header *h = emits->v[i];
        emit_open(e, "if (%s) {", emit_ref(e, h->valid));
        emit_line(e, "if (!(there >> %u & 1) || v->at_h%u != to_x)", h->id, h->id);
        emit_line(e, "    goto permuted;");
        emit_line(e, "to_x += %u;", h->bits / 8);
        emit_close(e, "}");
        emit_line(e, "from = %zu;", i + 1);
    }
    emit_line(e, "permuted:;");
    for (size_t i = 0; i < emits->n; i++)
        permute_variables(e, emits->v[i]);
    for (int load = 1; load >= 0; load--)
        for (size_t i = 0; i < emits->n; i++) {
            const struct ir_header *h = emits->v[i];
            emit_open(e, "if (%zu >= from && %s%s) {", i, still_to_go(e, i, fixed),
                      emit_ref(e, h->valid));
            permute_pieces(e, h, load);
            if (!load)
                emit_line(e, "to_x += %u;", h->bits / 8);
            emit_close(e, "}");
        }
    emit_line(e, "goto done;");
    emit_close(e, "}");
    emit_close(e, "}");
}

// Writes all headers that have not stayed to a place of their own, then before q.
static void emit_deparser_gather(const struct emit *e, const ir_header_vec *emits, size_t fixed,
                                 unsigned most) {
    emit_line(e,
              "uint8_t room[SK_COPY_SLACK + %u], *const first = room + SK_COPY_SLACK, *t = first;",
              most);
    for (size_t i = 0; i < emits->n; i++) {
        const struct ir_header *h = emits->v[i];
        emit_open(e, "if (%s%s) { // %s", still_to_go(e, i, fixed), emit_ref(e, h->valid),
                  emit_comment(e, h->name));
        emit_deparser_write_header(e, h);
        emit_trace_emitted(e, h);
        emit_line(e, "t += %u;", h->bits / 8);
        emit_close(e, "}");
    }
    emit_line(e, "const size_t gathered = (size_t)(t - first);");
    emit_open(e, "if (gathered > (size_t)(q - packet->buf)) {");
    emit_checked_headroom(e);
    emit_line(e, "abort(); // the engine guarantees SK_HEADROOM");
    emit_close(e, "}");
    emit_line(e, "sk_copy_back(q, t, gathered);");
    emit_line(e, "q -= gathered;");
}

// What is held back of the headers, which are before the payload now.
static void put_held(const struct emit *e, const ir_header_vec *emits) {
    size_t n = emits->n;
    while (n > 0 && !emit_defers(e, emits->v[n - 1]))
        n--;
    if (n == 0)
        return;
    emit_line(e, "uint8_t *to_h = q;");
    for (size_t i = 0; i < n; i++) {
        emit_open(e, "if (%s) {", emit_ref(e, emits->v[i]->valid));
        emit_deferred_stores(e, emits->v[i]);
        emit_line(e, "to_h += %u;", emits->v[i]->bits / 8);
        emit_close(e, "}");
    }
}

static void emit_deparser_write_headers(const struct emit *e) {
    const ir_header_vec emits = plan_emits(e->plan);
    const unsigned most = ir_most_emitted(e->a, e->g);
    emit_line(e, " ");
    emit_line(e, "// Writes the headers in front of q; at most %u bytes.", most);
    emit_open(e,
              "%s void %s_emit(struct %s_phv *restrict v, struct sk_packet *packet, "
              "uint8_t *q%s) {",
              emit_inline(e), e->p, e->p, e->plan->paths ? ", uint64_t there" : "");
    emit_block(e, e->g->leaving);
    size_t fixed = settled(e, &emits);
    if (fixed < emits.n)
        emit_line(e, "size_t upto = %zu; // how many of the emits are not in place", fixed);
    for (size_t i = emits.n; i-- > fixed;)
        stay(e, emits.v[i], i);
    if (fixed < emits.n)
        emit_line(e, "moved:;");
    if (fixed == 0 && emits.n) {
        emit_line(e, "if (upto == 0)");
        emit_line(e, "    goto done;");
        move_block(e, &emits);
    }
    permute(e, &emits, fixed);
    if (emits.n)
        emit_deparser_gather(e, &emits, fixed, most);
    emit_line(e, "done:;");
    put_held(e, &emits);
    if (plan_paths_go_on(e->plan))
        emit_line(e, "v->front = q;");
    emit_line(e, "packet->head = (uint32_t)(q - packet->buf);");
    emit_line(e, "packet->len = (uint32_t)(v->end - q);");
    emit_close(e, "}");
}

void emit_deparser(const struct emit *e) {
    const struct emit of = emit_of_user(e, e->g->deparser);
    emit_line(e, " ");
    emit_open(
        e, "%s void %s_deparse(struct p%u_state *s, struct %s_phv *restrict v, struct %s *out) {",
        emit_inline(e), e->p, e->pipeline_index, e->p,
        e->g->kind == IR_INGRESS ? "sk_ingress_out" : "sk_egress_out");
    emit_locals(e, e->g->deparser);
    emit_block(&of, e->g->deparser);
    emit_close(e, "}");
    emit_deparser_write_headers(&of);
    emit_split_packet(e);
}

// --------------------------------------------------------------------------------------------
// The call.

// Headers that are there or not there together, as far as can be seen.
struct together {
    const struct ir_header *const *v;
    size_t n;
};

// Numbers blocks; to each header's sign it adds where the header is set valid or invalid.
struct signs {
    uint64_t *sign; // by header
    uint64_t blocks;
};

static void sign_block(struct signs *s, const struct ir_block *b) {
    const uint64_t number = ++s->blocks;
    for (size_t i = 0; b && i < b->stmts.n; i++) {
        const struct ir_stmt *t = b->stmts.v[i];
        if (t->kind == IR_SET_VALID || t->kind == IR_SET_INVALID)
            s->sign[t->header->id] = s->sign[t->header->id] * UINT64_C(0x9e3779b97f4a7c15) +
                                     2 * number + (t->kind == IR_SET_VALID);
        sign_block(s, t->then_b);
        sign_block(s, t->else_b);
        for (size_t k = 0; k < t->cases.n; k++)
            sign_block(s, t->cases.v[k].body);
    }
}

// Of many changed headers, those that the same blocks change are together.
static size_t deparser_find_together(const struct emit *e, const struct ir_header *const *changed,
                                     size_t n, struct together *found) {
    const struct ir_gress *g = e->g;
    struct signs s = {.sign = ARENA_ARRAY(e->a, uint64_t, g->headers.n + 1)};
    bool *done = ARENA_ARRAY(e->a, bool, g->headers.n + 1);
    size_t groups = 0;
    sign_block(&s, g->control);
    sign_block(&s, g->deparser);
    for (size_t i = 0; i < g->actions.n; i++)
        sign_block(&s, g->actions.v[i]->body);
    for (size_t i = 0; i < n; i++) {
        if (done[changed[i]->id])
            continue;
        if (groups == PLAN_MAX_CHANGED)
            return 0;
        const struct ir_header **v = ARENA_ARRAY(e->a, const struct ir_header *, n + 1);
        size_t in = 0;
        for (size_t k = i; k < n; k++)
            if (s.sign[changed[k]->id] == s.sign[changed[i]->id]) {
                done[changed[k]->id] = true;
                v[in++] = changed[k];
            }
        found[groups++] = (struct together){v, in};
    }
    return groups;
}

static void emit_call(const struct emit *e) {
    emit_line(e, "%s_emit%s(v, packet, q, there);", e->p, plan_seam_of(e->plan) ? "_split" : "");
}

static void in_each_case(const struct emit *e, const struct together *t, size_t n) {
    if (n == 0) {
        emit_call(e);
        return;
    }
    emit_open(e, "if (%s) {", emit_ref(e, t->v[0]->valid));
    for (size_t i = 1; i < t->n; i++)
        emit_line(e, "%s;", emit_set(e, t->v[i]->valid, "1"));
    in_each_case(e, t + 1, n - 1);
    emit_close(e, "} else {");
    e->to->indent++;
    for (size_t i = 1; i < t->n; i++)
        emit_line(e, "%s;", emit_set(e, t->v[i]->valid, "0"));
    in_each_case(e, t + 1, n - 1);
    emit_close(e, "}");
}

// Whether some that should be are not together after all.
static const char *are_mixed(const struct emit *e, const struct together *t, size_t n) {
    const char *text = "";
    for (size_t i = 0; i < n; i++)
        for (size_t k = 1; k < t[i].n; k++)
            text = emit_text(e, "%s%s%s != %s", text, *text ? " || " : "",
                             emit_ref(e, t[i].v[k]->valid), emit_ref(e, t[i].v[0]->valid));
    return text;
}

// On a path it is known which headers are there but for those that the control adds or removes.
// With one call for each case of these, what has to be moved, and how far, is known in each of
// them. Headers that come and go together are one case, of which the C compiler is told.
void emit_headers(const struct emit *e) {
    if (!e->plan->paths) {
        emit_line(e, "%s_emit(v, packet, q);", e->p);
        return;
    }
    const size_t most = e->g->headers.n;
    const struct ir_header **changed = ARENA_ARRAY(e->a, const struct ir_header *, most + 1);
    struct together cases[PLAN_MAX_CHANGED];
    size_t n = plan_changed_headers(e->plan, changed, most);
    for (size_t i = 0; n <= PLAN_MAX_CHANGED && i < n; i++)
        cases[i] = (struct together){&changed[i], 1};
    if (n > PLAN_MAX_CHANGED)
        n = deparser_find_together(e, changed, n, cases);
    const char *const mixed = are_mixed(e, cases, n);
    emit_open(e, "if (there == ~UINT64_C(0)) {");
    emit_line(e, "%s_emit(v, packet, q, there);", e->p);
    if (*mixed) {
        emit_close(e, "} else if (%s) {", mixed);
        e->to->indent++;
        emit_call(e);
    }
    emit_close(e, "} else {");
    e->to->indent++;
    in_each_case(e, cases, n);
    emit_close(e, "}");
}
