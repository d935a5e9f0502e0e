// SPDX-License-Identifier: Apache-2.0
//
// path_entry: the entry function of a gress whose ways through the parser are known
// (compiler/plan/parse_paths.c).
//
// There are two where a packet may come around in two pieces
// (compiler/plan/split_packet.c): one for packets in one piece, which begin at 'frame', and one for
// those, of which what the parser sees begins at 'start' and what is after the headers at 'tail'.
// Both kinds end at 'end'. Of the latter 'port' is where they came from, which the packet itself is
// told when it leaves, and 'left' how often they may come around. If the headers before what is at
// 'tail' have several lengths, 'seam' is that of this packet.
#include "compiler/plan/parse_paths.h"
#include "compiler/print/emit_impl.h"

#include <limits.h>
#include <string.h>

#include "pipeline/abi.h"

// ---- places ----

static bool has_hops(const struct emit *e) {
    return plan_paths_go_on(e->plan);
}

// Where its seam is, counted from the first byte that the parser sees; 0: it has none.
static unsigned emit_path_seam_at(const struct emit *e, const struct plan_known *k) {
    return plan_seam_at(e->plan, &e->plan->paths->seam, k);
}

static bool has_seams(const struct emit *e) {
    const struct plan_seam *seam = plan_seam_of(e->plan);
    return seam && seam->n > 1;
}

// The bytes of headers before the seam, as C text: of the packet of this pass, or of one that
// leaves it ("v->").
static const char *seam_bytes(const struct emit *e, const char *of) {
    return has_seams(e) ? emit_text(e, "%sseam", of)
                        : emit_text(e, "%u", plan_seam_of(e->plan)->bytes[0]);
}

const char *emit_path_place(const struct emit *e, const struct plan_known *k, unsigned at) {
    const unsigned seam_at = emit_path_seam_at(e, k);
    if (!k->split || at < seam_at)
        return emit_text(e, "start + %u", at);
    return at == seam_at ? "tail" : emit_text(e, "tail + %u", at - seam_at);
}

// The name of the pipe's state on path i, from which places of homes are made.
static const char *state_of_path(const struct emit *e, size_t i) {
    return emit_text(e, "s_%zu", i);
}

static void emit_path_header_places(const struct emit *e, const struct plan_known *k,
                                    const char *state) {
    for (size_t h = 0; h < e->g->headers.n; h++) {
        const struct ir_header *header = e->g->headers.v[h];
        if (plan_home_is_placed(e->plan, header) && k->place[h])
            emit_line(e, "v->at_h%zu = %s; // %s", h, emit_path_place(e, k, k->place[h] - 1u),
                      emit_comment(e, header->name));
        else if (plan_home_is_placed(e->plan, header))
            emit_line(e, "v->at_h%zu = %s->%c_home.h%zu;", h, state, e->p[2], h);
    }
}

// ---- nodes ----

const char *emit_path_jump(const struct emit *e, const struct ir_select_case *c) {
    const struct plan_node *n = e->node;
    const struct ir_state *st = e->g->states.v[n->state];
    const int next = n->next[c ? (size_t)(c - st->cases.v) : 0];
    if (next < 0)
        return next <= PLAN_SPLIT_PACKET ? emit_text(e, "goto split_%d;", PLAN_SPLIT_PACKET - next)
                                         : "goto other;";
    return next < PLAN_FIRST_END ? emit_text(e, "goto node_%d;", next)
                                 : emit_text(e, "goto path_%d;", next - PLAN_FIRST_END);
}

// That so many bytes are there. Before the seam they are, if the packet came with one.
static void emit_path_need(const struct emit *e, const struct plan_node *n) {
    if (n->need <= n->sure)
        return;
    if (n->in.split)
        emit_line(e, "if (__builtin_expect(end - tail < (ptrdiff_t)%d, 0))",
                  (int)n->need - (int)emit_path_seam_at(e, &n->in));
    else
        emit_line(e, "if (__builtin_expect((size_t)(end - start) < %u, 0))", n->need);
    emit_line(e, "    goto other;");
}

// Bytes that a statement of a node takes: parse_paths.c gives up where that is not known.
static unsigned path_taken(const struct ir_stmt *s) {
    if (s->kind == IR_EXTRACT)
        return s->header->bits / 8;
    return s->kind == IR_ADVANCE ? (unsigned)(big_to_u64(s->e->value) / 8) : 0;
}

// The state's code. What is after the headers of a packet that is split begins at 'tail'.
static void path_state(const struct emit *e, const struct ir_state *st) {
    unsigned at = e->node->in.at;
    for (size_t i = 0; st->body && i < st->body->stmts.n; i++) {
        const unsigned bytes = path_taken(st->body->stmts.v[i]);
        emit_stmt(e, st->body->stmts.v[i]);
        at += bytes;
        if (bytes && e->node->in.split && at == emit_path_seam_at(e, &e->node->in))
            emit_line(e, "p = tail;");
    }
    emit_transition(e, st);
}

static void emit_path_node(const struct emit *e, size_t i) {
    const struct plan_node *n = e->plan->paths->nodes.v[i];
    const struct ir_state *st = e->g->states.v[n->state];
    if (n->sure == UINT_MAX) // nothing leads here
        return;
    emit_line(e, " ");
    emit_line(e, "node_%zu:; // %s, %u bytes after the start", i, emit_comment(e, st->name),
              n->in.at);
    if (n->gives_up) {
        emit_line(e, "goto other;");
        return;
    }
    emit_path_need(e, n);
    emit_path_header_places(e, &n->in, "s");
    emit_line(e, "p = %s;", emit_path_place(e, &n->in, n->in.at));
    struct emit in = emit_of_user(e, &e->g->states);
    in.in_parser = in.enough = true;
    in.node = n;
    in.at = st->at;
    path_state(&in, st);
}

// ---- paths ----

// The headers that the parser makes, before what is after the seam: there is room for them, and
// they are all zeros.
static void make_behind_seam(const struct emit *e, const struct plan_known *k) {
    unsigned *before = ARENA_ARRAY(e->a, unsigned, e->g->headers.n + 1), bytes;
    if (!plan_seam_of(e->plan) || !plan_made_behind_seam(e->plan, k, before, &bytes))
        return;
    const unsigned prefix = plan_prefix_bytes(e->plan), seam_at = emit_path_seam_at(e, k);
    emit_line(e, "if (__builtin_expect(tail - start < %u, 0))", seam_at + bytes);
    emit_line(e, "    start = sk_make_room(start + %u, tail, %u, %u) - %u;", prefix,
              seam_at - prefix, bytes, prefix);
    emit_line(e, "memset(tail - %u, 0, %u);", bytes, bytes);
}

static void made_places(const struct emit *e, const struct plan_known *k) {
    unsigned *before = ARENA_ARRAY(e->a, unsigned, e->g->headers.n + 1), bytes;
    if (!plan_seam_of(e->plan) || !plan_made_behind_seam(e->plan, k, before, &bytes))
        return;
    for (size_t h = 0; h < e->g->headers.n; h++)
        if (before[h] && plan_home_is_placed(e->plan, e->g->headers.v[h]))
            emit_line(e, "v->at_h%zu = tail - %u; // %s", h, before[h],
                      emit_comment(e, e->g->headers.v[h]->name));
}

// What is known of the headers on a path, or on all those that share a body.
struct path_known {
    uint64_t there; // they are in the packet
    uint64_t maybe; // that is known on each of these paths, and not the same
};

static void clear_homes(const struct emit *e, const char *state, size_t path,
                        struct path_known known) {
    for (size_t h = 0; h < e->g->headers.n; h++) {
        const struct ir_header *header = e->g->headers.v[h];
        const struct plan_home *home = plan_home_of(e->plan, header);
        if (!plan_home_is_placed(e->plan, header) || !home->written || known.there >> h & 1)
            continue;
        const bool maybe = known.maybe >> h & 1;
        const char *away = maybe ? emit_text(e, "!(there_%zu >> %zu & 1)", path, h) : "";
        if (home->in_place || maybe)
            emit_line(e, "if (%s%s%s)", away, home->in_place && maybe ? " && " : "",
                      home->in_place ? emit_text(e, "v->wrote_h%zu", h) : "");
        emit_line(e, "%s%s;", home->in_place || maybe ? "    " : "",
                  emit_home_clear(e, state, header));
    }
}

// What a pass begins with, but for the packet's places.
static void emit_path_begin_pass(const struct emit *e, const char *length, const char *ahead) {
    emit_entry_inputs(e, length, "now", ahead);
    for (size_t i = 0; i < e->g->checksums.n; i++)
        emit_line(e, "csum%zu = 0;", i);
}

// The packet is told how often it came around, and what its last pass began with.
static void emit_hop_end(const struct emit *e) {
    emit_line(e, "sk_hop_end(packet, out, left, port, now, (uint32_t)(end - tail + %s));",
              seam_bytes(e, ""));
}

// A packet that leaves the pass of path i in two pieces goes on in the function of such packets.
static void hop_split(const struct emit *e, size_t i) {
    const struct plan_seam *seam = plan_seam_of(e->plan);
    const unsigned prefix = plan_prefix_bytes(e->plan);
    const char *left = e->is_split ? "left" : "sk_hops_left(packet, out)";
    emit_open(e, "if (v->tail) {");
    emit_line(e,
              "const struct sk_hop *const next = sk_hop_to(out, wishes_%zu, p%u_ingress, %s, "
              "%ssk_has_room(packet, v->front));",
              i, e->pipeline_index, left,
              e->is_split ? emit_text(e, "v->front == start + %u || ", prefix) : "");
    emit_open(e, "if (next) {");
    if (seam->prefix_is_read)
        emit_line(e, "sk_hop_prefix(v->front, next, SK_WISH_PORT(wishes_%zu), now);", i);
    if (e->is_split) {
        emit_line(e, "port = SK_WISH_PORT(wishes_%zu), left--, hopped = true;", i);
        emit_line(e, "start = v->front - %u, tail = v->tail;", prefix);
        if (has_seams(e))
            emit_line(e, "seam = v->seam;");
        emit_line(e, "s = (struct p%u_state *)next->pipe;", e->pipeline_index);
        emit_line(e, "goto again;");
    } else {
        emit_line(e,
                  "return p%u_ingress_split((struct p%u_state *)next->pipe, packet, out, "
                  "v->front - %u, v->tail, SK_SPLIT_WAY(%s - 1, SK_WISH_PORT(wishes_%zu), %s));",
                  e->pipeline_index, e->pipeline_index, prefix, left, i, seam_bytes(e, "v->"));
    }
    emit_close(e, "}");
    emit_line(e, "sk_put_together(packet, v->front, v->tail, %s, end);", seam_bytes(e, "v->"));
    if (e->is_split)
        emit_hop_end(e);
    emit_line(e, "return wishes_%zu;", i);
    emit_close(e, "}");
}

// After the pass of path i: the packet goes on here, or the engine goes on with it.
static void emit_path_hop(const struct emit *e, size_t i) {
    if (plan_seam_of(e->plan))
        hop_split(e, i);
    if (e->is_split)
        emit_hop_end(e);
    emit_open(e,
              "if (v->front && sk_hop_on(packet, out, wishes_%zu, p%u_ingress, v->front, now, "
              "&pipe)) {",
              i, e->pipeline_index);
    if (e->is_split) {
        if (e->plan->prefetch.table)
            emit_line(e, "out->ahead = NULL;");
        emit_line(e, "return p%u_ingress(pipe, packet, out);", e->pipeline_index);
    } else {
        emit_line(e, "frame = v->front;");
        if (e->plan->prefetch.table)
            emit_line(e, "ahead = NULL; // that was of the first pass");
        emit_line(e, "goto again;");
    }
    emit_close(e, "}");
    emit_line(e, "return wishes_%zu;", i);
}

// The headers on the paths of the body of path i.
static struct path_known path_known_of(const struct emit *e, size_t i, uint64_t made) {
    const struct plan_paths *p = e->plan->paths;
    struct path_known known = {.there = UINT64_MAX};
    uint64_t any = 0;
    for (size_t k = 0; k < p->ends.n; k++) {
        uint64_t there = made;
        for (size_t h = 0; h < e->g->headers.n; h++)
            there |= (uint64_t)(p->ends.v[k].place[h] != 0) << h;
        if (p->body[k] != i)
            continue;
        known.there &= there;
        any |= there;
    }
    known.maybe = any & ~known.there;
    return known;
}

static const char *path_place_text(const struct emit *e, const struct plan_known *k, size_t h) {
    return k->place[h] ? emit_path_place(e, k, k->place[h] - 1u) : "";
}

// Whether the header is in different places on the paths of the body of path i, or valid on some.
static bool path_differs(const struct emit *e, size_t i, size_t h, bool validity) {
    const struct plan_paths *p = e->plan->paths;
    for (size_t k = 0; k < p->ends.n; k++) {
        const struct plan_known *a = &p->ends.v[i], *b = &p->ends.v[k];
        if (p->body[k] != i)
            continue;
        if (validity && a->valid[h] != b->valid[h])
            return true;
        if (!validity && strcmp(path_place_text(e, a, h), path_place_text(e, b, h)) != 0)
            return true;
    }
    return false;
}

// Where header h is on path i, and whether it is valid.
static void path_header(const struct emit *e, size_t i, size_t h, const char *state,
                        bool validity) {
    const struct plan_known *k = &e->plan->paths->ends.v[i];
    const struct ir_header *header = e->g->headers.v[h];
    if (validity && emit_var_of(e, header->valid)->shared)
        emit_line(e, "%s = %d;", emit_ref(e, header->valid), k->valid[h]);
    if (validity || !plan_home_is_placed(e->plan, header))
        return;
    if (k->place[h])
        emit_line(e, "v->at_h%zu = %s; // %s", h, path_place_text(e, k, h),
                  emit_comment(e, header->name));
    else
        emit_line(e, "v->at_h%zu = %s->%c_home.h%zu;", h, state, e->p[2], h);
}

// The end of a path that shares what comes after it: what is not the same on all of these.
static void to_body(const struct emit *e, size_t i) {
    const struct plan_paths *p = e->plan->paths;
    const struct plan_known *k = &p->ends.v[i];
    const size_t body = p->body[i];
    uint64_t there = 0;
    emit_line(e, " ");
    emit_line(e, "path_%zu:;", i);
    make_behind_seam(e, k);
    for (size_t h = 0; h < e->g->headers.n; h++) {
        there |= (uint64_t)(k->place[h] != 0) << h;
        if (path_differs(e, body, h, false))
            path_header(e, i, h, "s", false);
        if (path_differs(e, body, h, true))
            path_header(e, i, h, "s", true);
    }
    emit_line(e, "there = UINT64_C(0x%llx);", (unsigned long long)there);
    emit_line(e, "goto body_%zu;", body);
}

// The headers that the parser makes, before what is after the seam.
static uint64_t made_headers(const struct emit *e, const struct plan_known *k) {
    unsigned *before = ARENA_ARRAY(e->a, unsigned, e->g->headers.n + 1), bytes;
    uint64_t made = 0;
    if (!plan_seam_of(e->plan) || !plan_made_behind_seam(e->plan, k, before, &bytes))
        return 0;
    for (size_t h = 0; h < e->g->headers.n; h++)
        made |= (uint64_t)(before[h] != 0) << h;
    return made;
}

// At the end of path i: the cells of later passes are asked for, if it is the pass that made what
// they are found by.
static void fetch_cells_ahead(const struct emit *e, size_t i) {
    const struct plan_known *k = &e->plan->paths->ends.v[i];
    for (size_t c = 0; c < e->plan->cells_ahead.n; c++) {
        const struct plan_cell_ahead *cell = &e->plan->cells_ahead.v[c];
        bool *headers = ARENA_ARRAY(e->a, bool, e->g->headers.n + 1);
        const char *made = "";
        if (!cell->at_end[i])
            continue;
        plan_headers_of(cell->index, headers);
        for (size_t h = 0; h < e->g->headers.n; h++)
            if (headers[h] && !k->valid[h])
                made = emit_text(e, "%s%s%s", made, *made ? " && " : "",
                                 emit_ref(e, e->g->headers.v[h]->valid));
        emit_line(e, "if (%s)", made);
        emit_line(e, "    __builtin_prefetch(&%s, 1);",
                  emit_cell(e, cell->reg, emit_expr(e, cell->index), "0"));
    }
}

// The control and all after it, of the paths whose body is that of path i.
static void emit_path_body(const struct emit *e, size_t i) {
    const struct plan_known *k = &e->plan->paths->ends.v[i];
    const bool shared = plan_end_shares(e->plan->paths, i);
    const struct path_known known = path_known_of(e, i, made_headers(e, k));
    emit_line(e, " ");
    if (shared) {
        emit_line(e, "body_%zu:;", i);
    } else {
        emit_line(e, "path_%zu:;", i);
        make_behind_seam(e, k);
    }
    // Other paths have these places too, of which C compilers make something to be worked out once
    // for all of them, and kept from there on where no register is left, on those that need none.
    const char *state = state_of_path(e, i);
    emit_line(e, "struct p%u_state *%s = s;", e->pipeline_index, state);
    emit_line(e, "__asm__(\"# path %zu\" : \"+r\"(%s));", i, state);
    for (size_t h = 0; h < e->g->headers.n; h++)
        if (!path_differs(e, i, h, false))
            path_header(e, i, h, state, false);
    made_places(e, k);
    for (size_t h = 0; h < e->g->headers.n; h++)
        if (!path_differs(e, i, h, true))
            path_header(e, i, h, state, true);
    if (known.maybe)
        emit_line(e, "const uint64_t there_%zu = UINT64_C(0x%llx) | (there & UINT64_C(0x%llx));", i,
                  (unsigned long long)known.there, (unsigned long long)known.maybe);
    const char *there = known.maybe
                            ? emit_text(e, "there_%zu", i)
                            : emit_text(e, "UINT64_C(0x%llx)", (unsigned long long)known.there);
    emit_line(e, "const uint64_t wishes_%zu = %s_rest(s, v, packet, out, SK_PARSER_OK, %s, %s);", i,
              e->p, emit_path_place(e, k, k->at), there);
    fetch_cells_ahead(e, i);
    clear_homes(e, state, i, known);
    if (has_hops(e))
        emit_path_hop(e, i);
    else
        emit_line(e, "return wishes_%zu;", i);
}

// Path i, and with the first one of those that share a body the others and the body.
static void emit_path_one(const struct emit *e, size_t i) {
    const struct plan_paths *p = e->plan->paths;
    if (p->body[i] != i)
        return;
    for (size_t k = i; k < p->ends.n && plan_end_shares(p, i); k++)
        if (p->body[k] == i)
            to_body(e, k);
    emit_path_body(e, i);
}

// ---- the functions ----

// What is left to the function for any packet.
static void others(const struct emit *e) {
    emit_line(e, " ");
    emit_line(e, "other:;");
    for (size_t h = 0; h < e->g->headers.n; h++) { // what was copied to its home, or written there
        const struct ir_header *header = e->g->headers.v[h];
        if (plan_home_is_placed(e->plan, header) && !plan_home_of(e->plan, header)->in_place)
            emit_line(e, "%s;", emit_home_clear(e, "s", header));
    }
    if (e->is_split) {
        emit_line(e, "sk_put_together(packet, start + %u, tail, %s, end);",
                  plan_prefix_bytes(e->plan), seam_bytes(e, ""));
        emit_open(e, "if (hopped) {");
        emit_line(e, "sk_hop_prefix(sk_packet_data(packet), &out->hops[port], port, now);");
        if (e->plan->prefetch.table)
            emit_line(e, "out->ahead = NULL;");
        emit_close(e, "}");
        emit_hop_end(e);
    } else if (e->plan->prefetch.table && has_hops(e)) {
        emit_line(e, "out->ahead = ahead;");
    }
    emit_line(e, "return p%u_%s_any(s, packet, out);", e->pipeline_index,
              e->g->kind == IR_INGRESS ? "ingress" : "egress");
}

// The ways of split packets begin at a node for each length of their headers.
static void begin_split(const struct emit *e) {
    const struct plan_paths *p = e->plan->paths;
    if (!has_seams(e)) {
        emit_line(e, "goto node_%d;", p->root_split[0]);
        return;
    }
    emit_open(e, "switch (seam) {");
    for (size_t i = 0; i < p->seam.n; i++)
        if (p->root_split[i] >= 0)
            emit_line(e, "case %u: goto node_%d;", p->seam.bytes[i], p->root_split[i]);
    emit_line(e, "default: goto other;");
    emit_close(e, "}");
}

static void ways(const struct emit *e) {
    const struct plan_paths *p = e->plan->paths;
    if (e->is_split)
        begin_split(e);
    else
        emit_line(e, "goto node_%d;", p->root);
    for (size_t i = 0; i < p->nodes.n; i++)
        if ((p->nodes.v[i]->in.split != 0) == e->is_split)
            emit_path_node(e, i);
    for (size_t i = 0; i < p->ends.n; i++)
        if ((p->ends.v[i].split != 0) == e->is_split)
            emit_path_one(e, i);
    others(e);
}

static void checksums(const struct emit *e) {
    for (size_t i = 0; i < e->g->checksums.n; i++)
        emit_line(e, "uint64_t csum%zu; // %s", i, emit_comment(e, e->g->checksums.v[i]->name));
}

// The entry function for split packets.
void emit_path_split_packet(const struct emit *e) {
    const struct plan_seam *seam = plan_seam_of(e->plan);
    if (!seam)
        return;
    struct emit of = *e;
    of.is_split = true;
    emit_line(e, " ");
    emit_line(e, "// A split packet: its headers, and what follows them elsewhere.");
    emit_open(
        e,
        "static __attribute__((noinline)) uint64_t p%u_ingress_split(struct p%u_state *s, "
        "struct sk_packet *packet, struct sk_ingress_out *out, uint8_t *start, uint8_t *tail, "
        "uint64_t way) {",
        e->pipeline_index, e->pipeline_index);
    emit_line(e, "const uint8_t *const end = sk_packet_data(packet) + packet->len;");
    emit_line(e, "const uint64_t now = packet->global_tstamp;");
    checksums(e);
    emit_line(e, "struct sk_pipe *pipe;");
    emit_line(e, "unsigned left = SK_SPLIT_LEFT(way);");
    emit_line(e, "uint16_t port = SK_SPLIT_PORT(way);");
    if (has_seams(e)) {
        emit_line(e, "uint32_t seam = SK_SPLIT_SEAM(way);");
        emit_line(e, "uint64_t there; // headers that are in the packet");
    }
    emit_line(e, "bool hopped = left < sk_hops_left(packet, out);");
    emit_line(e, "again:;");
    emit_line(e, "struct %s_phv phv = {0}, *const v = &phv;", e->p);
    emit_line(e, "uint8_t *p;");
    emit_path_begin_pass(e, emit_text(e, "(uint32_t)(end - tail + %s)", seam_bytes(e, "")), "NULL");
    ways(&of);
    emit_close(e, "}");
}

void emit_path_entry(const struct emit *e) {
    const struct plan_seam *seam = plan_seam_of(e->plan);
    const unsigned prefix = plan_prefix_bytes(e->plan);
    emit_line(e, "uint8_t *frame = sk_packet_data(packet);");
    emit_line(e, "const uint8_t *const end = frame + packet->len;");
    emit_line(e, "const uint64_t now = packet->global_tstamp;");
    if (e->plan->prefetch.table && e->g->kind == IR_INGRESS)
        emit_line(e, "struct sk_entry *ahead = out->ahead;");
    checksums(e);
    if (has_hops(e))
        emit_line(e, "again:;");
    emit_line(e, "struct p%u_state *const s = (struct p%u_state *)pipe;", e->pipeline_index,
              e->pipeline_index);
    emit_line(e, "struct %s_phv phv = {0}, *const v = &phv;", e->p);
    emit_line(e, "uint8_t *const start = frame - %u, *p;", prefix);
    emit_path_begin_pass(e, "(uint32_t)(end - frame)", "ahead");
    ways(e);
    for (size_t i = 0; seam && i < seam->n; i++) {
        emit_line(e, " ");
        emit_line(e, "split_%zu:; // with nothing between the two pieces", i);
        emit_line(e, "if (__builtin_expect((size_t)(end - start) < %u, 0))",
                  prefix + seam->bytes[i]);
        emit_line(e, "    goto other;");
        emit_line(e,
                  "return p%u_ingress_split(s, packet, out, start, start + %u, "
                  "SK_SPLIT_WAY(sk_hops_left(packet, out), sk_load16(start) & 0x1ff, %u));",
                  e->pipeline_index, prefix + seam->bytes[i], seam->bytes[i]);
    }
}

// ---- what others ask ----

unsigned emit_path_places(const struct emit *e, int path, const bool *headers) {
    const struct plan_known *k = &e->plan->paths->ends.v[path];
    unsigned need = 0;
    for (size_t h = 0; h < e->g->headers.n; h++) {
        const unsigned end = k->place[h] - 1u + e->g->headers.v[h]->bits / 8;
        if (!headers[h])
            continue;
        emit_line(e, "v->at_h%zu = start + %u; // %s", h, k->place[h] - 1u,
                  emit_comment(e, e->g->headers.v[h]->name));
        need = end > need ? end : need;
    }
    return need;
}

bool emit_on_path(const struct emit *e) {
    return e->plan->paths && e->node;
}
