// SPDX-License-Identifier: Apache-2.0
//
// generate_lanes: programs that repeat one operation over many registers, as in-network aggregation
// does, in the ways in which people write that; most of them become loops (compiler/plan/lanes.h).
// Some are spoiled: a lane reads what another writes, has another constant, another order, another
// action. Whether there is a loop or not, the results are the same.
//
// What a lane does is made once as text in which '@' stands for what differs from lane to lane:
// @F and @G (its fields), @T (a variable of its own), @K (a constant), @N (its number).
#include "harness/interp/generate_impl.h"

#include <stdlib.h>
#include <string.h>

#define MOST_LANES   64u
#define MOST_ACTIONS 3u   // of a register
#define MOST_BYTES   200u // of a header

enum form {
    ROW,       // one execution after the other
    IN_ACTION, // the same in an action, called or applied
    TABLES,    // a keyless table each
    KEYED,     // a table with fixed entries each
    INSTANCES, // one control N times, a keyed table in it
    BARE,      // one control N times, no table
    N_FORMS,
};
struct lanes {
    struct gen *g;
    unsigned n, width, field; // bits of a cell's word and of a field
    enum gen_type type;
    bool pair;
    enum form form;
    unsigned n_actions;
    const char *body[MOST_ACTIONS];  // of a register action, lines
    const char *place[MOST_ACTIONS]; // of its result, or null
    const char *after[MOST_ACTIONS]; // statement behind it, or ""
    const char *before;
    const char *index, *guard; // condition around each lane, or null
    unsigned size;
    bool apart;         // a control's result is a parameter of its own
    const char *result; // it, where @F is written; null: the field
    bool constants;     // @K differs
    bool temporaries;
    const char *f[MOST_LANES], *g_[MOST_LANES];
    unsigned odd; // the lane that is spoiled, or n
    unsigned oddity;
};

static const char *type_text(const struct lanes *l) {
    return gen_type_text(l->g, l->type, l->width);
}

static const char *field_text(const struct lanes *l) {
    return gen_type_text(l->g, l->type, l->field);
}

// ---- what a lane does ----

static const char *operand(struct lanes *l) {
    struct gen *g = l->g;
    const char *cast = l->field == l->width ? "" : gen_text(g, "(%s)", type_text(l));
    switch (BELOW(g, 9)) {
    case 0:
        return gen_text(g, "%s@G", cast);
    case 1:
        return "md.c";
    case 2:
        return gen_text(g, "(%s)@K", type_text(l));
    case 3:
        return l->temporaries ? "@T" : gen_text(g, "%s@F", cast);
    case 4:
        return l->pair ? (CHANCE(g, 50) ? "value.lo" : "value.hi") : "value";
    default:
        return gen_text(g, "%s@F", cast);
    }
}

static const char *condition(struct lanes *l, const char *value) {
    struct gen *g = l->g;
    static const char *const orders[] = {"<", "<=", ">", ">=", "==", "!="};
    switch (BELOW(g, 6)) {
    case 0:
        return gen_text(g, "hdr.m.sel == %u", BELOW(g, 3));
    case 1:
        return "md.flag";
    case 2:
        return "hdr.b.isValid()";
    default:
        return gen_text(g, "%s %s %s", value, orders[BELOW(g, 6)], operand(l));
    }
}

static const char *operation(struct lanes *l, const char *value) {
    struct gen *g = l->g;
    static const char *const ops[] = {"+", "+", "+", "-", "|+|", "|+|", "|-|", "&", "|", "^"};
    switch (BELOW(g, 8)) {
    case 0:
        return gen_text(g, "%s(%s, %s)", CHANCE(g, 50) ? "min" : "max", value, operand(l));
    case 1:
        return operand(l);
    case 2:
        return gen_text(g, "(%s ? %s : %s)", condition(l, value), operand(l), operand(l));
    default:
        return gen_text(g, "%s %s %s", value, ops[BELOW(g, 10)], operand(l));
    }
}

static const char *action_body(struct lanes *l) {
    struct gen *g = l->g;
    const char *text = "rv = 0;";
    unsigned n = 1 + BELOW(g, 3);
    for (unsigned i = 0; i < n; i++) {
        const char *v = !l->pair ? "value" : CHANCE(g, 50) ? "value.lo" : "value.hi";
        const char *to = CHANCE(g, 25) ? "rv" : v;
        if (CHANCE(g, 35)) {
            text =
                gen_text(g, "%s if (%s) { %s = %s; }", text, condition(l, v), to, operation(l, v));
            if (CHANCE(g, 50))
                text = gen_text(g, "%s else { %s = %s; }", text, CHANCE(g, 50) ? "rv" : v,
                                operation(l, v));
        } else {
            text = gen_text(g, "%s %s = %s;", text, to, operation(l, v));
        }
        if (CHANCE(g, 40) || i + 1 == n)
            text = gen_text(g, "%s rv = %s;", text, v);
    }
    return text;
}

static void what_lanes_do(struct lanes *l) {
    struct gen *g = l->g;
    l->n_actions = l->form == ROW || l->form == IN_ACTION ? 1 : 1 + BELOW(g, MOST_ACTIONS);
    for (unsigned i = 0; i < l->n_actions; i++) {
        l->body[i] = action_body(l);
        l->place[i] = CHANCE(g, 70) ? "@F" : CHANCE(g, 50) ? "@G" : NULL;
        l->after[i] = "";
        if (l->temporaries && CHANCE(g, 60)) {
            l->place[i] = "@T";
            l->after[i] =
                gen_text(g, "%s = (%s)(@T %s %s);", CHANCE(g, 70) ? "@F" : "@G", field_text(l),
                         CHANCE(g, 50) ? "+" : "^", gen_text(g, "(%s)@K", type_text(l)));
        } else if (CHANCE(g, 15)) {
            l->after[i] = "@G = @F;";
        } else if (CHANCE(g, 25)) { // of all lanes together
            static const char *const ops[] = {"|", "&", "^", "+", "-"};
            const char *with = gen_text(g, "md.all = md.all %s @F;", ops[BELOW(g, 5)]);
            l->after[i] = CHANCE(g, 60) ? with : "if (@F == @G) { md.all = 1; }";
        }
    }
    l->before = l->temporaries && CHANCE(g, 60)
                    ? gen_text(g, "@T = (%s)%s;", type_text(l), CHANCE(g, 50) ? "@F" : "@G")
                    : "";
    l->guard = CHANCE(g, 25) ? (CHANCE(g, 50) ? "hdr.m.sel != 3" : "hdr.b.isValid()") : NULL;
}

// ---- from text to a lane's ----

static const char *of_lane(const struct lanes *l, const char *text, unsigned k) {
    struct gen *g = l->g;
    char *out = NULL;
    size_t length;
    FILE *f = open_memstream(&out, &length);
    bool odd = k == l->odd;
    for (const char *c = text; *c; c++) {
        if (*c != '@') {
            fputc(*c, f);
            continue;
        }
        switch (*++c) {
        case 'F':
            fputs(l->f[odd && l->oddity == 0 ? (k + 1) % l->n : k], f);
            break;
        case 'G':
            fputs(odd && l->oddity == 1 ? l->f[(k + l->n - 1) % l->n] : l->g_[k], f);
            break;
        case 'T':
            fprintf(f, "md.t%u", odd && l->oddity == 2 ? (k + 1) % l->n : k);
            break;
        case 'K':
            fprintf(f, "%u", (l->constants ? 3 * k + 1 : 5) + (odd && l->oddity == 3));
            break;
        default:
            fprintf(f, "%u", k);
        }
    }
    fclose(f);
    const char *copy = gen_text(g, "%s", out);
    free(out);
    return copy;
}

// ---- where the fields are ----

static void header_fields(struct lanes *l, const char *name, const char *const *fields, unsigned n,
                          unsigned gap) {
    gen_open(l->g, "header %s {", name);
    for (unsigned i = 0; i < n; i++) {
        gen_line(l->g, "%s %s;", field_text(l), fields[i]);
        if (gap)
            gen_line(l->g, "bit<%u> gap%u;", gap, i);
    }
    gen_close(l->g, "}");
}

// Declares headers a_t and b_t and the fields' names.
static void place_fields(struct lanes *l) {
    struct gen *g = l->g;
    unsigned bytes = l->field / 8, layout = BELOW(g, 6), gap = layout == 1 ? 8u << BELOW(g, 3) : 0;
    unsigned most = MOST_BYTES / (bytes + gap / 8), n = 4 + BELOW(g, CHANCE(g, 60) ? 13 : 61);
    l->n = n > most ? most : n;
    if (layout == 2 && l->n > most / 2) // two arrays in one header
        l->n = most / 2;
    const char *fields[2 * MOST_LANES];
    unsigned in_a = layout == 2 ? 2 * l->n : layout == 3 ? (l->n + 1) / 2 : l->n;
    for (unsigned i = 0; i < 2 * l->n; i++)
        fields[i] = gen_text(g, "f%u", i);
    header_fields(l, "a_t", fields, in_a, gap);
    header_fields(l, "b_t", fields, l->n, CHANCE(g, 20) && !gap && l->field <= 32 ? 8 : 0);
    unsigned turn = CHANCE(g, 15) ? 1 + BELOW(g, l->n) : 0;
    for (unsigned i = 0; i < l->n; i++) {
        unsigned k = layout == 4 ? l->n - 1 - i : (i + turn) % l->n;
        l->f[i] = gen_text(g, "hdr.a.f%u", k);
        l->g_[i] = gen_text(g, "hdr.b.f%u", i);
        if (layout == 2) {
            l->f[i] = gen_text(g, "hdr.a.f%u", 2 * k);
            l->g_[i] = gen_text(g, "hdr.a.f%u", 2 * k + 1);
        }
        if (layout == 3 && k >= in_a) { // the end of the array is in the other header
            l->f[i] = gen_text(g, "hdr.b.f%u", k - in_a);
            l->g_[i] = gen_text(g, "hdr.b.f%u", l->n - 1 - (k - in_a));
        }
        if (layout == 5 && CHANCE(g, 3))
            l->g_[i] = "md.shared";
    }
}

// ---- objects ----

static void register_of(const struct lanes *l, const char *suffix, unsigned k) {
    struct gen *g = l->g;
    const char *cell = l->pair ? "pair_t" : type_text(l), *t = type_text(l);
    gen_line(g, "Register<%s, bit<8>>(%u) r%s;", cell, l->size, suffix);
    for (unsigned i = 0; i < l->n_actions; i++) {
        gen_open(g, "RegisterAction<%s, bit<8>, %s>(r%s) ra%s_%u = {", cell, t, suffix, suffix, i);
        gen_open(g, "void apply(inout %s value, out %s rv) {", cell, t);
        gen_line(g, "%s", of_lane(l, l->body[k == l->odd && l->oddity == 4 ? 0 : i], k));
        gen_close(g, "}");
        gen_close(g, "};");
    }
}

static const char *statement(const struct lanes *l, const char *suffix, unsigned k, unsigned i) {
    struct gen *g = l->g;
    const char *call = gen_text(g, "ra%s_%u.execute(%s)", suffix, i, l->index);
    const char *to = l->place[i] ? of_lane(l, l->place[i], k) : NULL;
    if (to && l->result && l->place[i][1] == 'F')
        to = l->result;
    bool temporary = l->place[i] && l->place[i][1] == 'T';
    const char *cast = temporary || l->field == l->width ? "" : gen_text(g, "(%s)", field_text(l));
    call = to ? gen_text(g, "%s = %s%s;", to, cast, call) : gen_text(g, "%s;", call);
    return gen_text(g, "%s %s %s", of_lane(l, l->before, k), call, of_lane(l, l->after[i], k));
}

static void actions_of(const struct lanes *l, const char *suffix, unsigned k) {
    for (unsigned i = 0; i < l->n_actions; i++)
        gen_line(l->g, "action do%s_%u() { %s }", suffix, i, statement(l, suffix, k, i));
}

static void table_of(const struct lanes *l, const char *suffix, bool keyed) {
    struct gen *g = l->g;
    gen_open(g, "table t%s {", suffix);
    if (keyed)
        gen_line(g, "key = { hdr.m.sel : exact; }");
    gen_open(g, "actions = {");
    for (unsigned i = 0; i < l->n_actions; i++)
        gen_line(g, "do%s_%u;", suffix, i);
    gen_line(g, "NoAction;");
    gen_close(g, "}");
    if (keyed) {
        gen_open(g, "const entries = {");
        for (unsigned i = 0; i < l->n_actions; i++)
            gen_line(g, "%u : do%s_%u();", i, suffix, i);
        gen_close(g, "}");
        gen_line(g, "const default_action = NoAction;");
        gen_line(g, "size = 8;");
    } else {
        gen_line(g, "const default_action = do%s_0();", suffix);
    }
    gen_close(g, "}");
}

static void use(const struct lanes *l, const char *statement) {
    if (l->guard)
        gen_line(l->g, "if (%s) { %s }", l->guard, statement);
    else
        gen_line(l->g, "%s", statement);
}

static const char *lane_name(const struct lanes *l, unsigned k) {
    return gen_text(l->g, "%u", k);
}

// The control of one lane: its fields are parameters.
static void lane_control(struct lanes *l) {
    struct gen *g = l->g;
    struct lanes one = *l;
    one.f[0] = "f";
    one.g_[0] = "g";
    one.n = 1;
    one.odd = 1;
    one.constants = false;
    l->apart = CHANCE(g, 40);
    if (l->apart) {
        one.result = "f_out";
        gen_open(g,
                 "control Lane(in %s f, inout %s g, out %s f_out, in headers_t hdr, inout "
                 "metadata_t md) {",
                 field_text(l), field_text(l), field_text(l));
    } else {
        gen_open(g, "control Lane(inout %s f, inout %s g, in headers_t hdr, inout metadata_t md) {",
                 field_text(l), field_text(l));
    }
    register_of(&one, "", 0);
    if (l->form == INSTANCES) {
        actions_of(&one, "", 0);
        table_of(&one, "", CHANCE(g, 80));
    }
    gen_open(g, "apply {");
    if (l->form == INSTANCES)
        use(&one, "t.apply();");
    else
        use(&one, statement(&one, "", 0, 0));
    gen_close(g, "}");
    gen_close(g, "}");
}

static void declare_lanes(struct lanes *l) {
    struct gen *g = l->g;
    const char *all = "";
    for (unsigned k = 0; k < l->n; k++) {
        const char *s = lane_name(l, k);
        if (l->form == INSTANCES || l->form == BARE) {
            gen_line(g, "Lane() lane%s;", s);
            continue;
        }
        register_of(l, s, k);
        if (l->form == TABLES || l->form == KEYED) {
            actions_of(l, s, k);
            table_of(l, s, l->form == KEYED);
        } else {
            all = gen_text(g, "%s\n        %s", all, statement(l, s, k, 0));
        }
    }
    if (l->form == IN_ACTION) {
        gen_line(g, "action all() {%s }", all);
        gen_line(g, "table whole { actions = { all; } const default_action = all(); }");
    }
}

static void apply_lane(const struct lanes *l, unsigned k) {
    struct gen *g = l->g;
    const char *s = lane_name(l, k);
    switch (l->form) {
    case ROW:
        use(l, statement(l, s, k, 0));
        break;
    case TABLES:
    case KEYED:
        use(l, gen_text(g, "t%s.apply();", s));
        break;
    default:
        gen_line(g, "lane%s.apply(%s, %s, %s%shdr, md);", s, l->f[k], l->g_[k],
                 l->apart ? l->f[k] : "", l->apart ? ", " : "");
    }
}

static void apply_lanes(struct lanes *l) {
    struct gen *g = l->g;
    if (l->form == IN_ACTION) {
        gen_line(g, CHANCE(g, 50) ? "all();" : "whole.apply();");
        return;
    }
    bool in_two = CHANCE(g, 15) && l->form != INSTANCES && l->form != BARE;
    if (in_two) // another order in another branch
        gen_open(g, "if (hdr.m.c == 1) {");
    for (unsigned k = 0; k < l->n; k++) {
        apply_lane(l, k);
        if (k == l->odd && l->oddity == 5)
            gen_line(g, "md.flag = !md.flag;");
    }
    if (!in_two)
        return;
    gen_close(g, "}");
    gen_open(g, "else {");
    bool back = CHANCE(g, 50);
    if (l->temporaries && CHANCE(g, 50)) // what a register action reads, written outside of it
        gen_line(g, "md.t1 = 5;");
    for (unsigned k = 0; k < l->n && l->form == ROW; k++)
        apply_lane(l, back ? l->n - 1 - k : k);
    gen_close(g, "}");
}

// ---- the frame ----

static void headers_come_and_go(struct gen *g) {
    static const char *const lines[] = {
        "hdr.b.setInvalid();",
        "hdr.b.setValid();",
        "hdr.a.setValid();",
        "hdr.x.setValid(); hdr.x.f = hdr.m.x;",
        "hdr.m.setInvalid();",
        "hdr.x = hdr.y;",
        "hdr.y.f = hdr.x.f; hdr.y.setInvalid();",
        "hdr.y.setInvalid(); hdr.y.setValid();",
        "hdr.st.push_front(1); hdr.st[0].setValid(); hdr.st[0].f = 7;",
        "hdr.st.pop_front(1);",
        "hdr.st[1] = hdr.st[0];",
        "hdr.x.setInvalid(); hdr.a.f0 = hdr.a.f1;",
    };
    for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++)
        if (CHANCE(g, 15))
            gen_line(g, "if (hdr.m.x[%u:%u] == 1) { %s }", i, i, lines[i]);
}

static void parser(struct gen *g, bool ingress) {
    gen_open(g,
             "parser %sParser(packet_in pkt, out headers_t hdr, out metadata_t md, out "
             "%s_intrinsic_metadata_t im) {",
             ingress ? "Ingress" : "Egress", ingress ? "ingress" : "egress");
    gen_open(g, "state start {");
    gen_line(g, "pkt.extract(im);");
    if (ingress)
        gen_line(g, "pkt.advance(PORT_METADATA_SIZE);");
    gen_line(g, "pkt.extract(hdr.m);");
    if (CHANCE(g, 20))
        gen_line(g, "md.shared = pkt.lookahead<field_t>();");
    const bool made = CHANCE(g, 30); // the parser makes a header
    gen_open(g, "transition select(hdr.m.kind) {");
    if (made)
        gen_line(g, "0..49 : made;");
    gen_line(g, "0..99 : with_a;");
    gen_line(g, "100..199 : with_b;");
    gen_line(g, "200..220 : with_x;");
    gen_line(g, "default : accept;");
    gen_close(g, "}");
    gen_close(g, "}");
    if (made)
        gen_line(g, "state made { hdr.%s.setValid(); %s transition accept; }",
                 CHANCE(g, 50) ? "a" : "y", CHANCE(g, 50) ? "pkt.extract(hdr.b);" : "");
    bool writes = CHANCE(g, 15);
    gen_open(g, "state with_b {");
    gen_line(g, "pkt.extract(hdr.b);");
    if (writes)
        gen_line(g, "hdr.b.f1 = hdr.b.f0;");
    gen_line(g, "transition with_a;");
    gen_close(g, "}");
    gen_open(g, "state with_a {");
    gen_line(g, "pkt.extract(hdr.a);");
    if (writes && CHANCE(g, 50))
        gen_line(g, "hdr.a.f2 = hdr.a.f3;");
    gen_line(g, "transition select(hdr.m.kind[0:0]) {");
    gen_line(g, "    0 : with_x;");
    gen_line(g, "    default : accept;");
    gen_line(g, "}");
    gen_close(g, "}");
    gen_open(g, "state with_x {");
    gen_line(g, "pkt.extract(hdr.x);");
    gen_line(g, "pkt.extract(hdr.y);");
    gen_line(g, "pkt.extract(hdr.st.next);");
    gen_line(g, "transition accept;");
    gen_close(g, "}");
    gen_close(g, "}");
}

static void control(struct gen *g, bool ingress, struct lanes *l) {
    gen_open(
        g,
        "control %s(inout headers_t hdr, inout metadata_t md, in %s_intrinsic_metadata_t im, in "
        "%s_intrinsic_metadata_from_parser_t pm, inout "
        "%s_intrinsic_metadata_for_deparser_t dm, inout %s om) {",
        ingress ? "Ingress" : "Egress", ingress ? "ingress" : "egress",
        ingress ? "ingress" : "egress", ingress ? "ingress" : "egress",
        ingress ? "ingress_intrinsic_metadata_for_tm_t"
                : "egress_intrinsic_metadata_for_output_port_t");
    if (l)
        declare_lanes(l);
    gen_open(g, "apply {");
    if (ingress)
        gen_line(g, "om.ucast_egress_port = 1;");
    gen_line(g, "md.session = 5;");
    headers_come_and_go(g);
    if (l) {
        gen_line(g, "md.c = (%s)(bit<%u>)hdr.m.c;", type_text(l), l->width);
        gen_line(g, "md.flag = hdr.m.x[15:15] == 1;");
        apply_lanes(l);
        if (l->temporaries && CHANCE(g, 30))
            gen_line(g, "hdr.m.c = (bit<8>)(bit<%u>)md.t%u;", l->width, BELOW(g, l->n));
        gen_line(g, "if (md.all == 0) { hdr.m.sel = 77; } else if (md.all == 1) { hdr.m.c = 9; }");
        headers_come_and_go(g);
    }
    if (ingress && CHANCE(g, 50)) { // around, past egress: a part of an aggregation
        static const char *const lines[] = {"hdr.y.setInvalid();", "hdr.x.setInvalid();",
                                            "hdr.a.setInvalid();", "hdr.m.c = hdr.m.c + 1;",
                                            "hdr.m.sel = 3;"};
        gen_open(g, "if (hdr.m.x[19:19] == %u) {", BELOW(g, 2));
        gen_line(g, "om.ucast_egress_port = %s;", CHANCE(g, 50) ? "68" : "1w1 ++ hdr.m.idx");
        gen_line(g, "om.bypass_egress = 1;");
        for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++)
            if (CHANCE(g, 40))
                gen_line(g, "%s", lines[i]);
        gen_close(g, "}");
    }
    if (CHANCE(g, 30))
        gen_line(g, "if (hdr.m.x[16:16] == 1) { dm.mirror_type = 1; }");
    if (CHANCE(g, 30))
        gen_line(g, "if (hdr.m.x[17:17] == 1) { dm.drop_ctl = 1; }");
    if (ingress && CHANCE(g, 30))
        gen_line(g, "if (im.resubmit_flag == 0 && hdr.m.x[18:18] == 1) { dm.resubmit_type = 1; }");
    gen_close(g, "}");
    gen_close(g, "}");
}

static void deparser(struct gen *g, bool ingress) {
    gen_open(g,
             "control %sDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md, in "
             "%s_intrinsic_metadata_for_deparser_t dm) {",
             ingress ? "Ingress" : "Egress", ingress ? "ingress" : "egress");
    bool mirrors = CHANCE(g, 40), resubmits = ingress && CHANCE(g, 40);
    if (mirrors)
        gen_line(g, "Mirror() copy;");
    if (resubmits)
        gen_line(g, "Resubmit() again;");
    gen_open(g, "apply {");
    if (mirrors)
        gen_line(g, "if (dm.mirror_type == 1) { copy.emit<y_t>(md.session, {hdr.m.x}); }");
    if (resubmits)
        gen_line(g, "if (dm.resubmit_type == 1) { again.emit(); }");
    if (CHANCE(g, 60)) {
        gen_line(g, "pkt.emit(hdr);");
    } else {
        static const char *const names[] = {"m", "b", "a", "x", "y", "st"};
        unsigned turn = BELOW(g, 6);
        for (unsigned i = 0; i < 6; i++)
            if (CHANCE(g, 90))
                gen_line(g, "pkt.emit(hdr.%s);", names[(i + turn) % 6]);
    }
    gen_close(g, "}");
    gen_close(g, "}");
}

static void types(struct lanes *l) {
    struct gen *g = l->g;
    gen_line(g, "typedef %s field_t;", field_text(l));
    gen_open(g, "struct pair_t {");
    gen_line(g, "%s lo;", type_text(l));
    gen_line(g, "%s hi;", type_text(l));
    gen_close(g, "}");
    gen_line(g, "header m_t { bit<8> kind; bit<8> sel; bit<8> idx; bit<8> c; bit<32> x; }");
    gen_line(g, "header y_t { bit<32> f; }");
    place_fields(l);
    gen_line(g, "struct headers_t { m_t m; b_t b; a_t a; y_t x; y_t y; y_t[2] st; }");
    gen_open(g, "struct metadata_t {");
    gen_line(g, "%s c;", type_text(l));
    gen_line(g, "%s shared;", field_text(l));
    gen_line(g, "%s all;", field_text(l));
    gen_line(g, "bool flag;");
    gen_line(g, "bit<10> session;");
    for (unsigned k = 0; k < l->n; k++)
        gen_line(g, "%s t%u;", type_text(l), k);
    gen_close(g, "}");
}

char *generate_lanes_program(uint64_t seed, size_t *length) {
    static const unsigned widths[] = {8, 16, 32, 32, 32};
    static const char *const indices[] = {"hdr.m.idx", "hdr.m.idx & 3", "hdr.m.idx & 7", "2"};
    char *text = NULL;
    struct gen g = {.a = arena_new(), .r = {seed * UINT64_C(0x9e3779b97f4a7c15) + 7}};
    g.out = open_memstream(&text, length);
    if (!g.out)
        abort();
    struct lanes l = {.g = &g, .form = BELOW(&g, N_FORMS), .width = widths[BELOW(&g, 5)]};
    l.pair = CHANCE(&g, 25);
    l.type = CHANCE(&g, 35) ? GEN_INT : GEN_BITS;
    l.field = CHANCE(&g, 70) ? l.width : 8u << BELOW(&g, 4);
    l.size = CHANCE(&g, 30) ? 256 : 4 + BELOW(&g, 40);
    l.index = indices[BELOW(&g, 4)];
    l.temporaries = CHANCE(&g, 35) && l.form != INSTANCES && l.form != BARE;
    l.constants = CHANCE(&g, 20);
    types(&l);
    l.odd = CHANCE(&g, 25) ? BELOW(&g, l.n) : l.n;
    l.oddity = BELOW(&g, 6);
    what_lanes_do(&l);
    bool in_egress = CHANCE(&g, 25);
    if (l.form == INSTANCES || l.form == BARE)
        lane_control(&l);
    for (unsigned k = 0; k < 2; k++) {
        parser(&g, k == 0);
        control(&g, k == 0, in_egress == (k == 1) ? &l : NULL);
        deparser(&g, k == 0);
    }
    gen_line(&g, "Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), "
                 "Egress(), EgressDeparser()) pipe;");
    gen_line(&g, "Switch(pipe) main;");
    fclose(g.out);
    arena_free(g.a);
    return text;
}
