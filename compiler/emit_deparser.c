// SPDX-License-Identifier: Apache-2.0
//
// emit_deparser: the deparser's statements, the emission of headers, and the entry functions that
// tie parser, control and deparser together (contract: pipeline/abi.h).
//
// A Tofino's deparser computes checksums and headers from the same final field values, so the
// statements run first and the headers are written afterwards, in the order of the emits, directly
// in front of the payload. Headers that are on the wire where they belong stay there: the last ones,
// as a rule. From the last one that does not on, all are gathered first and then put in place, since
// the bytes of one may lie where another goes.
#include "compiler/emit_checked.h"
#include "compiler/emit_trace.h"

// --------------------------------------------------------------------------------------------
// Headers to bytes.

static const char *field_bits(struct emit *e, const struct ir_var *f, unsigned shift) {
    return shift ? emit_text(e, "(uint64_t)%s << %u", emit_ref(e, f), shift)
                 : emit_text(e, "(uint64_t)%s", emit_ref(e, f));
}

static void store_segment(struct emit *e, const struct ir_header *h, unsigned k) {
    const struct emit_segment *s = &e->headers[h->id].segments.v[k];
    const struct ir_var *f = h->fields.v[s->first];
    unsigned at = s->bit_offset / 8, left = s->bits;
    if (s->raw) {
        emit_line(e, "memcpy(t + %u, v->raw_h%u_s%u, %u);", at, h->id, k, s->bits / 8);
    } else if (emit_is_wide(f->width) && s->bit_offset % 8 == 0 && f->width % 8 == 0) {
        emit_line(e, "memcpy(t + %u, %s, %u);", at, emit_ref(e, f), s->bits / 8);
    } else if (emit_is_wide(f->width)) {
        emit_line(e, "sk_wide_copy(t, %u, %s, %u, %u);", s->bit_offset, emit_ref(e, f),
                  8 * emit_bytes(f->width) - f->width, f->width);
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

typedef VEC(const struct ir_header *) header_vec;

static bool has_emit(const struct ir_stmt *s) {
    bool found = emit_block_has(s->then_b, IR_EMIT) || emit_block_has(s->else_b, IR_EMIT);
    for (size_t i = 0; i < s->cases.n; i++)
        found |= emit_block_has(s->cases.v[i].body, IR_EMIT);
    return found;
}

static bool may_leave(const struct ir_stmt *s) {
    bool found = s->kind == IR_LEAVE || emit_block_has(s->then_b, IR_LEAVE) ||
                 emit_block_has(s->else_b, IR_LEAVE);
    for (size_t i = 0; i < s->cases.n; i++)
        found |= emit_block_has(s->cases.v[i].body, IR_LEAVE);
    return found;
}

// In program order; 'skipped': a statement before may have jumped behind this one.
static void collect_emits(struct emit *e, const struct ir_block *b, header_vec *out,
                          bool *skipped) {
    for (size_t i = 0; b && i < b->stmts.n; i++) {
        const struct ir_stmt *s = b->stmts.v[i];
        bool plain = s->kind == IR_EMIT || s->kind == IR_BLOCK;
        if ((s->kind == IR_EMIT && *skipped) || (!plain && has_emit(s)))
            diag_error(e->d, s->at,
                       "emit under a condition; a Tofino's deparser emits every header that is "
                       "valid, so set validity in the control");
        else if (s->kind == IR_EMIT)
            VEC_PUSH(e->a, out, s->header);
        else if (s->kind == IR_BLOCK)
            collect_emits(e, s->then_b, out, skipped);
        *skipped |= may_leave(s);
    }
}

// The emits from this one on are of headers on the wire, and may be in their place.
static size_t settled(struct emit *e, const header_vec *emits) {
    size_t i = emits->n;
    while (i > 0 && emit_home_of(e, emits->v[i - 1])->on_wire)
        i--;
    return i;
}

// q: where the headers behind this one begin.
static void stay(struct emit *e, const struct ir_header *h, size_t i) {
    emit_open(e, "if (%s) { // %s", emit_ref(e, h->valid), emit_comment(e, h->name));
    emit_open(e, "if (v->at_h%u != q - %u) {", h->id, h->bits / 8);
    emit_line(e, "upto = %zu;", i + 1);
    emit_line(e, "goto moved;");
    emit_close(e, "}");
    emit_line(e, "q -= %u;", h->bits / 8);
    emit_close(e, "}");
}

static void write_header(struct emit *e, const struct ir_header *h) {
    if (emit_home_of(e, h)->on_wire)
        emit_line(e, "memcpy(t, v->at_h%u, %u);", h->id, h->bits / 8);
    else
        emit_line(e, "memset(t, 0, %u);", h->bits / 8); // bits are put beside others
    for (unsigned k = 0; k < e->headers[h->id].segments.n; k++)
        store_segment(e, h, k);
}

static const char *still_to_go(struct emit *e, size_t i, size_t fixed) {
    return i < fixed ? "" : emit_text(e, "%zu < upto && ", i);
}

// When those that have not stayed lie one behind the other, as behind a header that was removed: all
// at once.
static void move_block(struct emit *e, const header_vec *emits) {
    emit_line(e, "const uint8_t *c = NULL, *last = NULL;");
    for (size_t i = emits->n; i-- > 0;) {
        const struct ir_header *h = emits->v[i];
        emit_open(e, "if (%s%s) { // %s", still_to_go(e, i, 0), emit_ref(e, h->valid),
                  emit_comment(e, h->name));
        emit_line(e, "const uint8_t *const at_end = v->at_h%u + %u;", h->id, h->bits / 8);
        emit_line(e, "last = last ? last : at_end;");
        emit_line(e, "if (c && c != at_end)");
        emit_line(e, "    goto apart;");
        emit_line(e, "c = v->at_h%u;", h->id);
        emit_close(e, "}");
    }
    emit_line(e, "const size_t block = (size_t)(last - c);");
    emit_open(e, "if (block > (size_t)(q - packet->buf)) {");
    emit_line(e, "abort(); // the engine guarantees SK_HEADROOM");
    emit_close(e, "}");
    emit_line(e, "sk_move_back(q, last, block);");
    emit_line(e, "q -= block;");
    emit_line(e, "goto done;");
    emit_line(e, "apart:;");
}

// Writes all headers that have not stayed to a place of their own, then in front of q.
static void gather(struct emit *e, const header_vec *emits, size_t fixed, unsigned most) {
    emit_line(e,
              "uint8_t room[SK_COPY_SLACK + %u], *const first = room + SK_COPY_SLACK, *t = first;",
              most);
    for (size_t i = 0; i < emits->n; i++) {
        const struct ir_header *h = emits->v[i];
        emit_open(e, "if (%s%s) { // %s", still_to_go(e, i, fixed), emit_ref(e, h->valid),
                  emit_comment(e, h->name));
        write_header(e, h);
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

static void write_headers(struct emit *e) {
    header_vec emits = {0};
    bool skipped = false;
    collect_emits(e, e->g->deparser, &emits, &skipped);
    unsigned most = emit_most_bytes(e, emits.v, emits.n);
    if (most > EMIT_MAX_EMITTED)
        diag_error(e->d, emits.n ? emits.v[0]->at : (struct loc){0},
                   "the %s deparser can emit %u bytes of headers; a Tofino emits at most %u",
                   e->g->kind == IR_INGRESS ? "ingress" : "egress", most, EMIT_MAX_EMITTED);
    emit_line(e, " ");
    emit_line(e, "// Writes the headers in front of byte 'at' of the buffer; at most %u bytes.",
              most);
    emit_open(
        e,
        "static inline void %s_emit(const struct %s_phv *restrict v, struct sk_packet *packet, "
        "uint32_t at) {",
        e->p, e->p);
    emit_checked_emits(e);
    size_t fixed = settled(e, &emits);
    emit_line(e, "uint8_t *q = packet->buf + at;");
    if (fixed < emits.n)
        emit_line(e, "size_t upto = %zu; // how many of the emits are not in place", fixed);
    for (size_t i = emits.n; i-- > fixed;)
        stay(e, emits.v[i], i);
    if (fixed < emits.n)
        emit_line(e, "moved:;");
    if (fixed == 0 && emits.n) {
        emit_open(e, "if (upto == 0)");
        emit_line(e, "goto done;");
        e->indent--;
        move_block(e, &emits);
    }
    if (emits.n)
        gather(e, &emits, fixed, most);
    emit_line(e, "done:;");
    emit_line(e, "const uint32_t head = (uint32_t)(q - packet->buf);");
    emit_line(e, "packet->len = packet->head + packet->len - head;");
    emit_line(e, "packet->head = head;");
    emit_close(e, "}");
}

void emit_deparser(struct emit *e) {
    e->user = e->g->deparser;
    emit_line(e, " ");
    emit_open(
        e,
        "static inline void %s_deparse(struct p%u_state *s, struct %s_phv *restrict v, struct %s "
        "*out) {",
        e->p, e->pipeline_index, e->p,
        e->g->kind == IR_INGRESS ? "sk_ingress_out" : "sk_egress_out");
    emit_locals(e, e->g->deparser);
    emit_trace_deparse(e);
    emit_block(e, e->g->deparser);
    emit_close(e, "}");
    write_headers(e);
}

// --------------------------------------------------------------------------------------------
// Entry functions.

static void out_field(struct emit *e, enum ir_intrinsic i, const char *field) {
    if (e->g->intrinsic[i])
        emit_line(e, "out->%s = %s;", field, emit_ref(e, e->g->intrinsic[i]));
}

static void out_flag(struct emit *e, enum ir_intrinsic i, const char *field) {
    if (e->g->intrinsic[i])
        emit_line(e, "out->%s = %s != 0;", field, emit_ref(e, e->g->intrinsic[i]));
}

static void out_validity(struct emit *e, enum ir_intrinsic i, const char *field) {
    const struct ir_var *v = e->g->intrinsic[i];
    if (v && v->valid)
        emit_line(e, "out->%s = %s != 0;", field, emit_ref(e, v->valid));
}

static void ingress_outputs(struct emit *e) {
    out_validity(e, IRI_UCAST_EGRESS_PORT, "ucast_valid");
    out_validity(e, IRI_MCAST_GRP_A, "mcast_a_valid");
    out_validity(e, IRI_MCAST_GRP_B, "mcast_b_valid");
    out_flag(e, IRI_BYPASS_EGRESS, "bypass_egress");
    out_flag(e, IRI_COPY_TO_CPU, "copy_to_cpu");
    out_field(e, IRI_DROP_CTL, "drop_ctl");
    out_field(e, IRI_QID, "qid");
    out_field(e, IRI_INGRESS_COS, "ingress_cos");
    out_field(e, IRI_ICOS_FOR_COPY_TO_CPU, "icos_for_copy_to_cpu");
    out_field(e, IRI_PACKET_COLOR, "color");
    out_field(e, IRI_DEFLECT_ON_DROP, "deflect_on_drop");
    emit_line(e, "out->ucast_port = SK_PORT_INVALID;");
    out_field(e, IRI_UCAST_EGRESS_PORT, "ucast_port");
    out_field(e, IRI_MCAST_GRP_A, "mcast_grp_a");
    out_field(e, IRI_MCAST_GRP_B, "mcast_grp_b");
    out_field(e, IRI_LEVEL1_MCAST_HASH, "level1_mcast_hash");
    out_field(e, IRI_LEVEL2_MCAST_HASH, "level2_mcast_hash");
    out_field(e, IRI_LEVEL1_EXCLUSION_ID, "level1_exclusion_id");
    out_field(e, IRI_LEVEL2_EXCLUSION_ID, "level2_exclusion_id");
    out_field(e, IRI_RID, "rid");
}

static void entry_head(struct emit *e, bool ingress) {
    emit_line(e, " ");
    emit_open(e,
              "static inline void %s_pass(struct p%u_state *s, struct %s_phv *restrict v, "
              "struct sk_packet *packet, struct %s *out) {",
              e->p, e->pipeline_index, e->p, ingress ? "sk_ingress_out" : "sk_egress_out");
    emit_line(e, "uint8_t *frame = sk_packet_data(packet);");
    emit_line(e, "uint8_t tail[SK_COPY_SLACK + %u];", emit_tail_bytes(e));
    emit_line(e, "size_t consumed;");
    emit_line(e, "v->packet_bytes = packet->len + SK_FCS_BYTES;");
    emit_line(e, "v->now = packet->global_tstamp;");
    emit_checked_begin(e);
    const struct ir_var *ts = e->g->intrinsic[IRI_GLOBAL_TSTAMP];
    if (ts)
        emit_line(e, "%s = packet->global_tstamp & sk_mask(%u);", emit_ref(e, ts), ts->width);
    emit_line(e,
              "const uint32_t err = %s_parse(s, v, frame, frame - %u, frame + packet->len, "
              "tail + SK_COPY_SLACK, "
              "&consumed);",
              e->p, ingress ? e->program->ingress_prefix : e->program->egress_prefix);
    emit_line(e, "out->parser_err = (uint16_t)err;");
    emit_trace_parsed(e);
}

// Which errors drop the packet before the control: tna-facts 5.2.
static void parser_error(struct emit *e, bool ingress) {
    if (ingress) {
        emit_open(e, "if (err%s) {",
                  e->g->parser_err_used ? " & SK_PARSER_NO_MATCH" : " != SK_PARSER_OK");
        emit_line(e, "out->parser_drop = true;");
        emit_line(e, "return;");
        emit_close(e, "}");
    }
    if (e->g->intrinsic[IRI_PARSER_ERR])
        emit_line(e, "%s = (uint16_t)err;", emit_ref(e, e->g->intrinsic[IRI_PARSER_ERR]));
}

// The mirror's fields that a Tofino 2's deparser hands to the session.
static void mirror_choice(struct emit *e) {
    static const struct {
        enum ir_intrinsic i;
        const char *field;
    } all[] = {{IRI_MIRROR_HASH, "hash"},
               {IRI_MIRROR_INGRESS_COS, "cos"},
               {IRI_MIRROR_DEFLECT_ON_DROP, "deflect"},
               {IRI_MIRROR_MULTICAST_CTRL, "multicast"},
               {IRI_MIRROR_EGRESS_PORT, "port"},
               {IRI_MIRROR_QID, "qid"}};
    emit_open(e, "if (out->mirror.wanted) {");
    emit_line(e, "out->mirror.choice = (struct sk_mirror_choice){0};");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        out_field(e, all[i].i, emit_text(e, "mirror.choice.%s", all[i].field));
    out_validity(e, IRI_MIRROR_EGRESS_PORT, "mirror.choice.port_valid");
    emit_close(e, "}");
}

static void truncate(struct emit *e) {
    const struct ir_var *length = e->g->intrinsic[IRI_MTU_TRUNC_LEN];
    if (!length || !length->valid)
        return;
    emit_line(e, "if (%s)", emit_ref(e, length->valid));
    emit_line(e, "    sk_packet_truncate(packet, %s);", emit_ref(e, length));
}

static void tell_mirror(struct emit *e, const char *when) {
    emit_line(e, "if (out->mirror.wanted && %s && out->on_mirror)", when);
    emit_line(e, "    out->on_mirror(out->aux, packet, &out->mirror);");
}

// From the deparser's statements to where the headers are written, or not at all.
static void leave_ingress(struct emit *e, bool mirrors, const char *leaving) {
    if (e->program->ingress_prefix > 16) { // a Tofino 2: tna-facts 5.3
        emit_line(e, "out->resubmit = out->resubmit && !(out->drop_ctl & 1);");
        if (mirrors)
            emit_line(e, "out->mirror.wanted = out->mirror.wanted && !(out->drop_ctl & 4);");
    }
    if (mirrors) {
        mirror_choice(e);
        emit_line(e, "// the copy is of the packet as received, which is about to change");
        tell_mirror(
            e, emit_text(e, "!out->resubmit%s%s", leaving ? " && !" : "", leaving ? leaving : ""));
    }
    emit_line(e, "// Nothing leaves: the packet's bytes are not needed (resubmit: as received).");
    emit_line(e, "const bool to_cpu = out->copy_to_cpu && !(out->drop_ctl & 2);");
    emit_line(e, "if (out->resubmit || (out->drop_ctl & 1 && !to_cpu%s%s%s))",
              leaving ? " && !(out->mirror.wanted && " : "", leaving ? leaving : "",
              leaving ? ")" : "");
}

static void leave_egress(struct emit *e, bool mirrors, const char *leaving) {
    const char *copied = "";
    if (mirrors) {
        mirror_choice(e);
        copied = emit_text(e, " && !(out->mirror.wanted && !(out->drop_ctl & 4)%s%s)",
                           leaving ? " && " : "", leaving ? leaving : "");
    }
    if (leaving) {
        emit_open(e, "if (out->mirror.wanted && !%s) {", leaving);
        emit_line(e, "out->mirror.told = true;");
        tell_mirror(e, "!(out->drop_ctl & 4)");
        emit_close(e, "}");
    }
    emit_line(e, "if (out->drop_ctl & 1%s)", copied);
}

static void entry(struct emit *e, bool ingress) {
    emit_line(e, " ");
    emit_open(
        e, "static void p%u_%s(struct sk_pipe *pipe, struct sk_packet *packet, struct %s *out) {",
        e->pipeline_index, ingress ? "ingress" : "egress",
        ingress ? "sk_ingress_out" : "sk_egress_out");
    emit_line(e, "struct p%u_state *s = (struct p%u_state *)pipe;", e->pipeline_index,
              e->pipeline_index);
    emit_line(e, "struct %s_phv phv = {0}, *v = &phv;", e->p);
    emit_home_begin(e);
    emit_line(e, "%s_pass(s, v, packet, out);", e->p);
    emit_home_end(e);
    emit_close(e, "}");
}

void emit_gress_entry(struct emit *e) {
    bool ingress = e->g->kind == IR_INGRESS;
    bool mirrors = emit_block_has(e->g->deparser, IR_MIRROR);
    const struct ir_var *select = mirrors ? e->g->intrinsic[IRI_MIRROR_IO_SELECT] : NULL;
    entry_head(e, ingress);
    parser_error(e, ingress);
    emit_line(e, "%s_control(s, v);", e->p);
    if (ingress)
        ingress_outputs(e);
    else
        out_field(e, IRI_DROP_CTL, "drop_ctl");
    emit_line(e, "%s_deparse(s, v, out);", e->p);
    const char *leaving = select ? emit_ref(e, select) : NULL;
    if (ingress)
        leave_ingress(e, mirrors, leaving);
    else
        leave_egress(e, mirrors, leaving);
    emit_line(e, "    return;");
    emit_line(e, "%s_emit(v, packet, packet->head - %u + (uint32_t)consumed);", e->p,
              ingress ? e->program->ingress_prefix : e->program->egress_prefix);
    truncate(e);
    if (ingress && leaving)
        tell_mirror(e, leaving);
    emit_late_counts(e);
    emit_close(e, "}");
    entry(e, ingress);
}
