// SPDX-License-Identifier: Apache-2.0
//
// emit_entry: the functions that tie parser, control and deparser together (contract: pipeline/abi.h).
//
// There is one for any packet. Where ways through the parser are printed one by one (emit_paths.c),
// those come first, and that one takes what they leave.
#include "compiler/emit_checked.h"
#include "compiler/emit_trace.h"

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

unsigned emit_prefix_bytes(const struct emit *e) {
    return e->g->kind == IR_INGRESS ? e->program->ingress_prefix : e->program->egress_prefix;
}

void emit_entry_inputs(struct emit *e) {
    emit_line(e, "v->packet_bytes = packet->len + SK_FCS_BYTES;");
    emit_line(e, "v->now = packet->global_tstamp;");
    emit_checked_begin(e);
    const struct ir_var *ts = e->g->intrinsic[IRI_GLOBAL_TSTAMP];
    if (ts)
        emit_line(e, "%s = packet->global_tstamp & sk_mask(%u);", emit_ref(e, ts), ts->width);
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
        emit_line(e, "out->resubmit = out->resubmit && !(drop_ctl & 1);");
        if (mirrors)
            emit_line(e, "out->mirror.wanted = out->mirror.wanted && !(drop_ctl & 4);");
    }
    if (mirrors) {
        mirror_choice(e);
        emit_line(e, "// the copy is of the packet as received, which is about to change");
        tell_mirror(
            e, emit_text(e, "!out->resubmit%s%s", leaving ? " && !" : "", leaving ? leaving : ""));
    }
    emit_line(e, "// Nothing leaves: the packet's bytes are not needed (resubmit: as received).");
    bool copies = e->g->intrinsic[IRI_COPY_TO_CPU] != NULL;
    if (copies)
        emit_line(e, "const bool to_cpu = out->copy_to_cpu && !(drop_ctl & 2);");
    emit_line(e, "if (%s(drop_ctl & 1%s%s%s%s))",
              emit_block_has(e->g->deparser, IR_RESUBMIT) ? "out->resubmit || " : "",
              copies ? " && !to_cpu" : "", leaving ? " && !(out->mirror.wanted && " : "",
              leaving ? leaving : "", leaving ? ")" : "");
}

static void leave_egress(struct emit *e, bool mirrors, const char *leaving) {
    const char *copied = "";
    if (mirrors) {
        mirror_choice(e);
        copied = emit_text(e, " && !(out->mirror.wanted && !(drop_ctl & 4)%s%s)",
                           leaving ? " && " : "", leaving ? leaving : "");
    }
    if (leaving) {
        emit_open(e, "if (out->mirror.wanted && !%s) {", leaving);
        emit_line(e, "out->mirror.told = true;");
        tell_mirror(e, "!(drop_ctl & 4)");
        emit_close(e, "}");
    }
    emit_line(e, "if (drop_ctl & 1%s)", copied);
}

// The parser, of any packet.
static void pass(struct emit *e, bool ingress) {
    emit_line(e, " ");
    emit_open(e,
              "static inline void %s_pass(struct p%u_state *s, struct %s_phv *restrict v, "
              "struct sk_packet *packet, struct %s *out) {",
              e->p, e->pipeline_index, e->p, ingress ? "sk_ingress_out" : "sk_egress_out");
    emit_line(e, "uint8_t *const frame = sk_packet_data(packet), *const start = frame - %u;",
              emit_prefix_bytes(e));
    emit_line(e, "uint8_t tail[SK_COPY_SLACK + %u];", emit_tail_bytes(e));
    emit_line(e, "size_t consumed;");
    emit_entry_inputs(e);
    emit_line(e,
              "const uint32_t err = %s_parse(s, v, frame, start, frame + packet->len, "
              "tail + SK_COPY_SLACK, &consumed);",
              e->p);
    emit_trace_parsed(e);
    emit_line(e, "%s_rest(s, v, packet, out, err, start + consumed%s);", e->p,
              e->paths ? ", ~UINT64_C(0)" : "");
    emit_close(e, "}");
}

// What comes behind the parser, which left the payload at q.
static void rest(struct emit *e, bool ingress) {
    bool mirrors = emit_block_has(e->g->deparser, IR_MIRROR);
    const struct ir_var *select = mirrors ? e->g->intrinsic[IRI_MIRROR_IO_SELECT] : NULL;
    emit_line(e, " ");
    emit_open(e,
              "%s void %s_rest(struct p%u_state *s, struct %s_phv *restrict v, "
              "struct sk_packet *packet, struct %s *out, uint32_t err, uint8_t *q%s) {",
              emit_inline(e), e->p, e->pipeline_index, e->p,
              ingress ? "sk_ingress_out" : "sk_egress_out", e->paths ? ", uint64_t there" : "");
    emit_line(e, "out->parser_err = (uint16_t)err;");
    parser_error(e, ingress);
    emit_line(e, "%s_control(s, v);", e->p);
    if (ingress)
        ingress_outputs(e);
    else
        out_field(e, IRI_DROP_CTL, "drop_ctl");
    const struct ir_var *drop_ctl = e->g->intrinsic[IRI_DROP_CTL];
    emit_line(e, "const uint32_t drop_ctl = %s;", drop_ctl ? emit_ref(e, drop_ctl) : "0");
    emit_line(e, "%s_deparse(s, v, out);", e->p);
    const char *leaving = select ? emit_ref(e, select) : NULL;
    if (ingress)
        leave_ingress(e, mirrors, leaving);
    else
        leave_egress(e, mirrors, leaving);
    emit_line(e, "    return;");
    emit_headers(e);
    truncate(e);
    if (ingress && leaving)
        tell_mirror(e, leaving);
    emit_late_counts(e);
    emit_close(e, "}");
}

static void any(struct emit *e) {
    emit_line(e, "%s_pass(s, v, packet, out);", e->p);
    emit_home_end(e);
}

static void entry(struct emit *e, bool ingress) {
    const char *out = ingress ? "sk_ingress_out" : "sk_egress_out";
    void (*const ways[])(struct emit *) = {any, e->paths ? emit_path_entry : NULL};
    for (size_t i = 0; i < 2 && ways[i]; i++) {
        bool last = i == 1 || !ways[1];
        emit_line(e, " ");
        emit_open(e,
                  "static%s void p%u_%s(struct %s *%s, struct sk_packet *packet, struct %s *out) {",
                  last ? "" : " __attribute__((noinline))", e->pipeline_index,
                  last      ? ingress ? "ingress" : "egress"
                  : ingress ? "ingress_any"
                            : "egress_any",
                  last ? "sk_pipe" : emit_text(e, "p%u_state", e->pipeline_index),
                  last ? "pipe" : "s", out);
        if (last)
            emit_line(e, "struct p%u_state *const s = (struct p%u_state *)pipe;", e->pipeline_index,
                      e->pipeline_index);
        emit_line(e, "struct %s_phv phv = {0}, *const v = &phv;", e->p);
        if (ways[i] == any)
            emit_home_begin(e);
        ways[i](e);
        emit_close(e, "}");
    }
}

void emit_gress_entry(struct emit *e) {
    bool ingress = e->g->kind == IR_INGRESS;
    rest(e, ingress);
    pass(e, ingress);
    entry(e, ingress);
}
