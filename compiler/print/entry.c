// SPDX-License-Identifier: Apache-2.0
//
// entry: the functions that tie parser, control and deparser together (contract: pipeline/abi.h).
//
// There is one for any packet. Where ways through the parser are printed one by one
// (compiler/plan/parse_paths.c), those come first, and that one takes what they leave.
#include "compiler/print/checked/checked.h"
#include "compiler/print/checked/trace.h"

static void out_field(const struct emit *e, enum ir_intrinsic i, const char *field) {
    if (e->g->intrinsic[i])
        emit_line(e, "out->%s = %s;", field, emit_ref(e, e->g->intrinsic[i]));
}

static void out_validity(const struct emit *e, enum ir_intrinsic i, const char *field) {
    const struct ir_var *v = e->g->intrinsic[i];
    if (v && v->valid)
        emit_line(e, "out->%s = %s != 0;", field, emit_ref(e, v->valid));
}

// Field of 'out' that an intrinsic field or its validity is, and its place in the word of wishes;
// -1: it has none, and where it is not 0 all wishes are in 'out'.
struct wish {
    enum ir_intrinsic i;
    bool validity;
    const char *field;
    int at;
};
static const struct wish ingress_wishes[] = {
    {IRI_UCAST_EGRESS_PORT, true, "ucast_valid", 9},
    {IRI_MCAST_GRP_A, true, "mcast_a_valid", 14},
    {IRI_MCAST_GRP_B, true, "mcast_b_valid", -1},
    {IRI_BYPASS_EGRESS, false, "bypass_egress", 13},
    {IRI_COPY_TO_CPU, false, "copy_to_cpu", -1},
    {IRI_DROP_CTL, false, "drop_ctl", 10},
    {IRI_CONSUMED, false, "consumed", 30},
    {IRI_TWICE, false, "twice", 31},
    {IRI_QID, false, "qid", 16},
    {IRI_INGRESS_COS, false, "ingress_cos", 23},
    {IRI_ICOS_FOR_COPY_TO_CPU, false, "icos_for_copy_to_cpu", -1},
    {IRI_PACKET_COLOR, false, "color", 26},
    {IRI_DEFLECT_ON_DROP, false, "deflect_on_drop", 28},
    {IRI_UCAST_EGRESS_PORT, false, "ucast_port", 0},
    {IRI_MCAST_GRP_A, false, "mcast_grp_a", 32},
    {IRI_MCAST_GRP_B, false, "mcast_grp_b", -1},
    {IRI_LEVEL1_MCAST_HASH, false, "level1_mcast_hash", -1},
    {IRI_LEVEL2_MCAST_HASH, false, "level2_mcast_hash", -1},
    {IRI_LEVEL1_EXCLUSION_ID, false, "level1_exclusion_id", 48},
    {IRI_LEVEL2_EXCLUSION_ID, false, "level2_exclusion_id", -1},
    {IRI_RID, false, "rid", -1},
    {IRI_ADV_FLOW_CTL, false, "adv_flow_ctl", -1},
};
static const struct wish egress_wishes[] = {
    {IRI_DROP_CTL, false, "drop_ctl", 10},
    {IRI_TWICE, false, "twice", 31},
    {IRI_ADV_FLOW_CTL, false, "adv_flow_ctl", -1},
};

// Its value as C text; null: the program does not have it.
static const char *wish_value(const struct emit *e, const struct wish *w) {
    const struct ir_var *v = e->g->intrinsic[w->i];
    if (!v || (w->validity && !v->valid))
        return NULL;
    if (w->i == IRI_ADV_FLOW_CTL) // a message that is not valid is not sent
        return emit_text(e, "(%s ? %s : 0)", emit_ref(e, v->valid), emit_ref(e, v));
    const char *value = emit_ref(e, w->validity ? v->valid : v);
    return w->validity ? emit_text(e, "(%s != 0)", value) : value;
}

// It says to whom a group's copies go, and is 0 where no group is wished, whatever the program put
// there: what a program computes for every packet, as the chip's programs do, is then a matter of
// those that are copied.
static bool is_for_copies(const struct wish *w) {
    return w->i == IRI_LEVEL1_MCAST_HASH || w->i == IRI_LEVEL2_MCAST_HASH ||
           w->i == IRI_LEVEL2_EXCLUSION_ID || w->i == IRI_RID;
}

// Whether a group of copies is wished, as C text; null: the program cannot.
static const char *group_wished(const struct emit *e) {
    const char *all = NULL;
    for (size_t i = 0; i < sizeof ingress_wishes / sizeof *ingress_wishes; i++) {
        const struct wish *w = &ingress_wishes[i];
        const bool group = w->validity && (w->i == IRI_MCAST_GRP_A || w->i == IRI_MCAST_GRP_B);
        const char *wished = group ? wish_value(e, w) : NULL;
        if (wished)
            all = all ? emit_text(e, "(%s || %s)", all, wished) : wished;
    }
    return all;
}

// The values from which all are in 'out', as C text.
static const char *beyond_the_word(const struct emit *e, const struct wish *all, size_t n,
                                   const char *group) {
    const char *more = "v->asks || err != SK_PARSER_OK", *copies = NULL;
    for (size_t i = 0; i < n; i++) {
        const char *value = all[i].at < 0 ? wish_value(e, &all[i]) : NULL;
        if (value && is_for_copies(&all[i]))
            copies = copies ? emit_text(e, "%s || %s", copies, value) : value;
        else if (value)
            more = emit_text(e, "%s || %s", more, value);
    }
    return copies && group ? emit_text(e, "%s || (%s && (%s))", more, group, copies) : more;
}

// What the gress returns, or puts into 'out' where it does not fit.
static void emit_entry_wishes(const struct emit *e, bool ingress) {
    const struct wish *all = ingress ? ingress_wishes : egress_wishes;
    const size_t n = ingress ? sizeof ingress_wishes / sizeof *ingress_wishes
                             : sizeof egress_wishes / sizeof *egress_wishes;
    const char *group = ingress ? group_wished(e) : NULL;
    emit_line(e, " ");
    emit_open(e,
              "SK_INLINE uint64_t %s_wishes(const struct %s_phv *restrict v, struct %s *out, "
              "uint32_t err) {",
              e->p, e->p, ingress ? "sk_ingress_out" : "sk_egress_out");
    const bool port = ingress && !e->g->intrinsic[IRI_UCAST_EGRESS_PORT];
    emit_open(e, "if (__builtin_expect(%s, 0)) {", beyond_the_word(e, all, n, group));
    emit_line(e, "out->parser_err = (uint16_t)err;");
    for (size_t i = 0; i < n; i++) {
        const char *value = wish_value(e, &all[i]);
        if (value && is_for_copies(&all[i]))
            emit_line(e, "out->%s = %s ? %s : 0;", all[i].field, group ? group : "0", value);
        else if (value)
            emit_line(e, "out->%s = %s;", all[i].field, value);
    }
    if (port)
        emit_line(e, "out->ucast_port = SK_PORT_INVALID;");
    const bool resubmits = ir_block_has(e->g->deparser, IR_RESUBMIT);
    if (resubmits)
        emit_line(e, "out->resubmit = v->resubmits;");
    emit_line(e, "return SK_WISHES_IN_OUT;");
    emit_close(e, "}");
    emit_line(e, "uint64_t wishes = %s;", port ? "SK_PORT_INVALID" : "0");
    for (size_t i = 0; i < n; i++)
        if (all[i].at >= 0 && wish_value(e, &all[i]))
            emit_line(e, "wishes |= (uint64_t)%s << %d; // %s", wish_value(e, &all[i]), all[i].at,
                      all[i].field);
    if (resubmits)
        emit_line(e, "wishes |= v->resubmits ? SK_WISH_RESUBMIT : 0;");
    emit_line(e, "return wishes;");
    emit_close(e, "}");
}

void emit_entry_inputs(const struct emit *e, const char *length, const char *now,
                       const char *ahead) {
    emit_line(e, "v->packet_bytes = %s + SK_FCS_BYTES;", length);
    emit_line(e, "v->end = end;");
    emit_line(e, "v->now = %s;", now);
    if (e->g->value_sets.n) // the intrinsic metadata have the port first
        emit_line(e, "v->parser = (uint8_t)(sk_port_local(%s) >> %u);",
                  e->g->kind == IR_INGRESS ? "((start[0] & 1u) << 8 | start[1])"
                                           : "packet->egress_port",
                  ir_target(e->program) == CHIP_TOFINO2 ? 3u : 2u);
    if (e->plan->prefetch.table && e->g->kind == IR_INGRESS)
        emit_line(e, "v->ahead = %s;", ahead);
    emit_checked_begin(e);
    const struct ir_var *ts = e->g->intrinsic[IRI_GLOBAL_TSTAMP];
    if (ts)
        emit_line(e, "%s = v->now & sk_mask(%u);", emit_ref(e, ts), ts->width);
}

// Which errors drop the packet before the control: tna-facts 5.2.
static void parser_error(const struct emit *e, bool ingress) {
    if (ingress) {
        emit_open(e, "if (err%s) {",
                  e->g->parser_err_used ? " & SK_PARSER_NO_MATCH" : " != SK_PARSER_OK");
        emit_line(e, "out->parser_err = (uint16_t)err;");
        emit_line(e, "out->parser_drop = true;");
        emit_line(e, "return SK_WISHES_IN_OUT;");
        emit_close(e, "}");
    }
    if (e->g->intrinsic[IRI_PARSER_ERR])
        emit_line(e, "%s = (uint16_t)err;", emit_ref(e, e->g->intrinsic[IRI_PARSER_ERR]));
}

// The mirror's fields that a Tofino 2's deparser hands to the session.
static void mirror_choice(const struct emit *e) {
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

static void truncate(const struct emit *e) {
    const struct ir_var *length = e->g->intrinsic[IRI_MTU_TRUNC_LEN];
    if (!length || !length->valid)
        return;
    emit_line(e, "if (%s)", emit_ref(e, length->valid));
    emit_line(e, "    sk_packet_truncate(packet, %s);", emit_ref(e, length));
}

static void tell_mirror(const struct emit *e, const char *when) {
    emit_line(e, "if (out->mirror.wanted && %s && out->on_mirror)", when);
    emit_line(e, "    out->on_mirror(out->aux, packet, &out->mirror);");
}

// From the deparser's statements to where the headers are written, or not at all.
static void leave_ingress(const struct emit *e, bool mirrors, const char *leaving) {
    const bool resubmits = ir_block_has(e->g->deparser, IR_RESUBMIT);
    if (ir_target(e->program) == CHIP_TOFINO2) { // a Tofino 2: tna-facts 5.3
        if (resubmits)
            emit_line(e, "v->resubmits = v->resubmits && !(drop_ctl & 1);");
        if (mirrors)
            emit_line(e, "out->mirror.wanted = out->mirror.wanted && !(drop_ctl & 4);");
    }
    if (mirrors) {
        mirror_choice(e);
        emit_line(e, "// the copy is of the packet as received, which is about to change");
        tell_mirror(e, emit_text(e, "%s%s%s", resubmits ? "!v->resubmits" : "true",
                                 leaving ? " && !" : "", leaving ? leaving : ""));
    }
    emit_line(e, "// Nothing leaves: the packet's bytes are not needed (resubmit: as received).");
    bool copies = e->g->intrinsic[IRI_COPY_TO_CPU] != NULL;
    if (copies)
        emit_line(e, "const bool to_cpu = %s && !(drop_ctl & 2);",
                  emit_ref(e, e->g->intrinsic[IRI_COPY_TO_CPU]));
    emit_line(e, "if (%s(drop_ctl & 1%s%s%s%s))", resubmits ? "v->resubmits || " : "",
              copies ? " && !to_cpu" : "", leaving ? " && !(out->mirror.wanted && " : "",
              leaving ? leaving : "", leaving ? ")" : "");
}

static void leave_egress(const struct emit *e, bool mirrors, const char *leaving) {
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
static void pass(const struct emit *e, bool ingress) {
    emit_line(e, " ");
    emit_open(e,
              "static inline uint64_t %s_pass(struct p%u_state *s, struct %s_phv *restrict v, "
              "struct sk_packet *packet, struct %s *out) {",
              e->p, e->pipeline_index, e->p, ingress ? "sk_ingress_out" : "sk_egress_out");
    emit_line(e, "uint8_t *const frame = sk_packet_data(packet), *const start = frame - %u;",
              plan_prefix_bytes(e->plan));
    emit_line(e, "uint8_t tail[SK_COPY_SLACK + %u + SK_COPY_SLACK];", plan_tail_bytes(e->plan));
    emit_line(e, "size_t consumed;");
    emit_line(e, "const uint8_t *const end = frame + packet->len;");
    emit_entry_inputs(e, "packet->len", "packet->global_tstamp", "out->ahead");
    emit_line(e,
              "const uint32_t err = %s_parse(s, v, frame, start, end, "
              "tail + SK_COPY_SLACK, &consumed);",
              e->p);
    emit_trace_parsed(e);
    emit_line(e, "return %s_rest(s, v, packet, out, err, start + consumed%s);", e->p,
              e->plan->paths ? ", ~UINT64_C(0)" : "");
    emit_close(e, "}");
}

static const char *out_type(const struct emit *e) {
    return e->g->kind == IR_INGRESS ? "sk_ingress_out" : "sk_egress_out";
}

// Null: the packet that is mirrored is the one that was received.
static const struct ir_var *mirror_select(const struct emit *e) {
    return ir_block_has(e->g->deparser, IR_MIRROR) ? e->g->intrinsic[IRI_MIRROR_IO_SELECT] : NULL;
}

// Prints the function that runs after the control: the deparser's statements, or for a packet that
// does not leave, what it still asks for (a resubmit, a digest).
void emit_ends(const struct emit *e) {
    const bool ingress = e->g->kind == IR_INGRESS;
    const bool mirrors = ir_block_has(e->g->deparser, IR_MIRROR);
    const struct ir_var *select = mirror_select(e);
    emit_entry_wishes(e, ingress);
    emit_line(e, " ");
    emit_line(e, "// The wishes of a packet of which nothing leaves, or SK_LEAVES.");
    emit_open(e,
              "%s uint64_t %s_ends(struct p%u_state *s, struct %s_phv *restrict v, "
              "struct sk_packet *packet, struct %s *out, uint32_t err) {",
              emit_inline(e), e->p, e->pipeline_index, e->p, out_type(e));
    const struct ir_var *drop_ctl = e->g->intrinsic[IRI_DROP_CTL];
    emit_line(e, "const uint32_t drop_ctl = %s;", drop_ctl ? emit_ref(e, drop_ctl) : "0");
    emit_line(e, "%s_deparse(s, v, out);", e->p);
    const char *leaving = select ? emit_ref(e, select) : NULL;
    if (ingress)
        leave_ingress(e, mirrors, leaving);
    else
        leave_egress(e, mirrors, leaving);
    emit_open(e, "{");
    emit_call_sunk_loops(e, false);
    emit_line(e, "return %s_wishes(v, out, err);", e->p);
    emit_close(e, "}");
    emit_line(e, "return SK_LEAVES;");
    emit_close(e, "}");
}

// Everything after the parser; q is the payload.
void emit_entry_rest(const struct emit *e) {
    const bool ingress = e->g->kind == IR_INGRESS;
    emit_line(e, " ");
    emit_open(e,
              "%s uint64_t %s_rest(struct p%u_state *s, struct %s_phv *restrict v, "
              "struct sk_packet *packet, struct %s *out, uint32_t err, uint8_t *q%s) {",
              emit_inline(e), e->p, e->pipeline_index, e->p, out_type(e),
              e->plan->paths ? ", uint64_t there" : "");
    parser_error(e, ingress);
    emit_line(e, "const uint64_t ended = %s_control(s, v, packet, out, err);", e->p);
    emit_line(e, "if (ended != SK_LEAVES)");
    emit_line(e, "    return ended;");
    emit_call_sunk_loops(e, true);
    emit_headers(e);
    truncate(e);
    const struct ir_var *select = mirror_select(e);
    if (ingress && select)
        tell_mirror(e, emit_ref(e, select));
    emit_late_counts(e);
    emit_line(e, "return %s_wishes(v, out, err);", e->p);
    emit_close(e, "}");
}

static void emit_entry_any_pass(const struct emit *e) {
    emit_line(e, "struct %s_phv phv = {0}, *const v = &phv;", e->p);
    emit_home_begin(e);
    emit_line(e, "const uint64_t wishes = %s_pass(s, v, packet, out);", e->p);
    emit_home_end(e);
    emit_line(e, "return wishes;");
}

// The one for any packet: where ways through the parser are printed, another comes before it.
static void entry_head(const struct emit *e, bool any, const char *end) {
    emit_line(e, "%suint64_t p%u_%s%s(%s, struct sk_packet *packet, struct %s *out)%s",
              any ? "__attribute__((noinline)) " : "", e->pipeline_index,
              e->g->kind == IR_INGRESS ? "ingress" : "egress", any ? "_any" : "",
              any ? emit_text(e, "struct p%u_state *s", e->pipeline_index) : "struct sk_pipe *pipe",
              out_type(e), end);
}

// They are called from other parts of the text (unit.c).
void emit_entry_prototypes(const struct emit *e) {
    entry_head(e, false, ";");
    if (e->plan->paths)
        entry_head(e, true, ";");
}

void emit_entry_any(const struct emit *e) {
    pass(e, e->g->kind == IR_INGRESS);
    emit_line(e, " ");
    entry_head(e, e->plan->paths, " {");
    e->to->indent++;
    if (!e->plan->paths)
        emit_line(e, "struct p%u_state *const s = (struct p%u_state *)pipe;", e->pipeline_index,
                  e->pipeline_index);
    emit_entry_any_pass(e);
    emit_close(e, "}");
}

void emit_entry_paths(const struct emit *e) {
    if (!e->plan->paths)
        return;
    emit_path_split_packet(e);
    emit_line(e, " ");
    entry_head(e, false, " {");
    e->to->indent++;
    emit_path_entry(e);
    emit_close(e, "}");
}
