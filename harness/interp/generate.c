// SPDX-License-Identifier: Apache-2.0
//
// generate: types, and the frame of a program. See generate.h.
#include "harness/interp/generate_impl.h"

#include <stdlib.h>
#include <string.h>

static void put(struct gen *g, const char *fmt, va_list ap) {
    fprintf(g->out, "%*s", 4 * g->indent, "");
    vfprintf(g->out, fmt, ap);
    fputc('\n', g->out);
}

void gen_line(struct gen *g, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    put(g, fmt, ap);
    va_end(ap);
}

void gen_open(struct gen *g, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    put(g, fmt, ap);
    va_end(ap);
    g->indent++;
}

void gen_close(struct gen *g, const char *fmt, ...) {
    va_list ap;
    g->indent--;
    va_start(ap, fmt);
    put(g, fmt, ap);
    va_end(ap);
}

const char *gen_text(struct gen *g, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    const char *s = arena_vprintf(g->a, fmt, ap);
    va_end(ap);
    return s;
}

const char *gen_name(struct gen *g, const char *stem) {
    return gen_text(g, "%s%u", stem, g->next++);
}

const char *gen_type_text(struct gen *g, enum gen_type type, unsigned width) {
    if (type == GEN_BOOL)
        return "bool";
    return gen_text(g, "%s<%u>", type == GEN_INT ? "int" : "bit", width);
}

unsigned gen_width(struct gen *g) {
    static const unsigned usual[] = {1,  4,  8,  9,  16,  24,  32,  48,
                                     63, 64, 65, 96, 127, 128, 129, 256};
    return CHANCE(g, 60) ? usual[BELOW(g, sizeof usual / sizeof *usual)]
                         : 1 + BELOW(g, CHANCE(g, 70) ? 40 : GEN_MAX_WIDTH);
}

unsigned gen_narrow_width(struct gen *g) {
    unsigned width = gen_width(g);
    return width > 128 ? 128 : width;
}

void gen_declare(struct gen *g, const char *name, enum gen_type type, unsigned width,
                 bool writable) {
    struct gen_var v = {name, type, width, writable, width > GEN_MAX_WIDTH};
    VEC_PUSH(g->a, &g->vars, v);
}

void gen_declare_fields(struct gen *g, const char *header, const struct gen_header_type *t,
                        bool writable) {
    for (unsigned i = 0; i < t->n; i++)
        gen_declare(g, gen_text(g, "%s.%s", header, t->fields[i].name), t->fields[i].type,
                    t->fields[i].width, writable);
}

// --------------------------------------------------------------------------------------------
// Header types.

static void add_field(struct gen_header_type *t, const char *name, enum gen_type type,
                      unsigned width) {
    t->fields[t->n++] = (struct gen_field){name, type, width};
    t->bits += width;
}

// A varbit field, where a byte begins.
static void varbit_field(struct gen *g, struct gen_header_type *t) {
    unsigned bits = 0;
    t->varbit = 1 + BELOW(g, 15);
    t->varbit_at = t->n;
    for (unsigned i = 0; i < t->n; bits += t->fields[i++].width)
        if (bits % 8 == 0 && CHANCE(g, 40))
            t->varbit_at = i;
}

static void print_varbit(struct gen *g, const struct gen_header_type *t, unsigned i) {
    if (t->varbit && t->varbit_at == i)
        gen_line(g, "varbit<%u> opts;", 8 * t->varbit);
}

// Bytes that it takes in a deparser, where a varbit is its pieces.
static unsigned room(const struct gen_header_type *t) {
    unsigned pieces = 0;
    while (pieces < t->varbit)
        pieces = 2 * pieces + 1;
    return t->bits / 8 + pieces;
}

static void header_type(struct gen *g) {
    static const char *const names[] = {"f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7"};
    struct gen_header_type *t = ARENA_NEW(g->a, struct gen_header_type);
    t->name = gen_name(g, "hdr");
    bool aligned = CHANCE(g, 40);
    // of a calm program the first 128 bytes of a packet are compared: headers are small
    for (unsigned n = 1 + BELOW(g, g->calm ? 4 : 6); n > 0; n--) {
        unsigned width = aligned ? 8u << BELOW(g, g->calm ? 3 : 4) : gen_width(g);
        if (g->calm && width > 64 && !CHANCE(g, 5))
            width = 1 + width % 64;
        enum gen_type type = width > 1 && CHANCE(g, 20) ? GEN_INT : GEN_BITS;
        add_field(t, names[t->n], type, width);
    }
    if (t->n && t->bits % 8 == 0 && STIRS(g, 25))
        add_field(t, "wide", GEN_BITS, 8 * (GEN_MAX_WIDTH / 8 + 1 + BELOW(g, 16)));
    if (t->bits % 8)
        add_field(t, "pad", GEN_BITS, 8 - t->bits % 8);
    if (!g->calm && CHANCE(g, 20))
        varbit_field(g, t);
    gen_open(g, "header %s {", t->name);
    for (unsigned i = 0; i < t->n; i++) {
        print_varbit(g, t, i);
        gen_line(g, "%s %s;", gen_type_text(g, t->fields[i].type, t->fields[i].width),
                 t->fields[i].name);
    }
    print_varbit(g, t, t->n);
    gen_close(g, "}");
    VEC_PUSH(g->a, &g->types, t);
}

#define MAX_MEMBERS 3u
struct union_type {
    const char *name;
    const struct gen_header_type *members[MAX_MEMBERS];
    unsigned n, bytes;
};

static struct union_type union_type(struct gen *g) {
    struct union_type u = {.name = gen_name(g, "union"), .n = 2 + BELOW(g, MAX_MEMBERS - 1)};
    gen_open(g, "header_union %s {", u.name);
    for (unsigned i = 0; i < u.n; i++) {
        u.members[i] = g->types.v[BELOW(g, g->types.n)];
        u.bytes += room(u.members[i]);
        gen_line(g, "%s m%u;", u.members[i]->name, i);
    }
    gen_close(g, "}");
    return u;
}

static void headers_struct(struct gen *g) {
    struct union_type u = {0};
    if (CHANCE(g, 20))
        u = union_type(g);
    const char *in = g->ingress ? "ig" : "eg";
    g->headers.n = 0;
    g->counted = false;
    g->checksummed = NULL;
    unsigned bytes = 0; // a deparser puts out 480 at most
    gen_open(g, "struct %s_headers_t {", in);
    for (unsigned n = 1 + BELOW(g, 5); n > 0; n--) {
        struct gen_header h = {.type = g->types.v[BELOW(g, g->types.n)]};
        const char *name = gen_name(g, "h");
        h.name = gen_text(g, "hdr.%s", name);
        h.stack = !g->calm && CHANCE(g, 20) ? 2 + BELOW(g, 3) : 0;
        unsigned more = room(h.type) * (h.stack ? h.stack : 1);
        if (bytes + more > 480)
            continue;
        bytes += more;
        if (h.stack)
            gen_line(g, "%s[%u] %s;", h.type->name, h.stack, name);
        else
            gen_line(g, "%s %s;", h.type->name, name);
        VEC_PUSH(g->a, &g->headers, h);
    }
    if (u.n && bytes + u.bytes <= 480) {
        gen_line(g, "%s either;", u.name);
        for (unsigned i = 0; i < u.n; i++) {
            struct gen_header h = {.name = gen_text(g, "hdr.either.m%u", i), .type = u.members[i]};
            VEC_PUSH(g->a, &g->headers, h);
        }
    }
    gen_close(g, "}");
    // A header with a 16-bit field on a byte boundary may carry a checksum.
    for (size_t i = 0; i < g->headers.n && !g->checksummed; i++) {
        const struct gen_header_type *t = g->headers.v[i].type;
        unsigned at = 0;
        for (unsigned k = 0; k < t->n; at += t->fields[k++].width) {
            bool fits = t->fields[k].type == GEN_BITS && t->fields[k].width == 16 && at % 8 == 0;
            if (!fits || g->headers.v[i].stack || t->varbit || g->checksummed)
                continue;
            g->checksummed = &g->headers.v[i];
            g->checksum_field = gen_text(g, "%s.%s", g->headers.v[i].name, t->fields[k].name);
        }
    }
}

static void metadata_struct(struct gen *g) {
    const char *in = g->ingress ? "ig" : "eg";
    gen_open(g, "struct %s_metadata_t {", in);
    g->vars.n = 0;
    for (unsigned n = 2 + BELOW(g, 6); n > 0; n--) {
        enum gen_type type = BELOW(g, 10) < 7 ? GEN_BITS : CHANCE(g, 60) ? GEN_INT : GEN_BOOL;
        unsigned width = type == GEN_BOOL ? 1 : gen_width(g);
        if (type == GEN_INT && width < 2)
            width = 2;
        const char *name = gen_name(g, "m");
        gen_line(g, "%s %s;", gen_type_text(g, type, width), name);
        gen_declare(g, gen_text(g, "md.%s", name), type, width, true);
    }
    gen_line(g, "record_t rec;");
    gen_line(g, "record_t other;");
    gen_line(g, "bit<16> residual;");
    gen_line(g, "bool wrong;");
    gen_line(g, "bit<24> again_a;");
    gen_line(g, "bit<40> again_b;");
    gen_line(g, "bit<10> session;");
    gen_close(g, "}");
    gen_declare(g, "md.session", GEN_BITS, 10, true);
    gen_declare(g, "md.rec.x", GEN_BITS, 16, true);
    gen_declare(g, "md.rec.y", GEN_INT, 12, true);
    gen_declare(g, "md.other.x", GEN_BITS, 16, true);
    gen_declare(g, "md.again_a", GEN_BITS, 24, true);
    gen_declare(g, "md.again_b", GEN_BITS, 40, true);
}

// --------------------------------------------------------------------------------------------
// Controls.

static void declare_headers(struct gen *g) {
    for (size_t i = 0; i < g->headers.n; i++) {
        const struct gen_header *h = &g->headers.v[i];
        if (!h->stack)
            gen_declare_fields(g, h->name, h->type, !g->calm || CHANCE(g, 4));
        for (unsigned k = 0; k < h->stack; k++)
            gen_declare_fields(g, gen_text(g, "%s[%u]", h->name, k), h->type, true);
    }
}

static void declare_ingress(struct gen *g) {
    static const struct {
        const char *name;
        unsigned width;
    } outputs[] = {
        {"ig_tm_md.ucast_egress_port", 9},
        {"ig_tm_md.mcast_grp_a", 16},
        {"ig_tm_md.mcast_grp_b", 16},
        {"ig_tm_md.qid", 5},
        {"ig_tm_md.ingress_cos", 3},
        {"ig_tm_md.packet_color", 2},
        {"ig_tm_md.copy_to_cpu", 1},
        {"ig_tm_md.bypass_egress", 1},
        {"ig_tm_md.level1_mcast_hash", 13},
        {"ig_tm_md.level2_mcast_hash", 13},
        {"ig_tm_md.level1_exclusion_id", 16},
        {"ig_tm_md.level2_exclusion_id", 9},
        {"ig_tm_md.rid", 16},
        {"ig_tm_md.deflect_on_drop", 1},
        {"ig_tm_md.icos_for_copy_to_cpu", 3},
        {"ig_dprsr_md.drop_ctl", 3},
        {"ig_dprsr_md.resubmit_type", 3},
        {"ig_dprsr_md.mirror_type", 3},
        {"ig_dprsr_md.digest_type", 3},
    };
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        if (STIRS(g, 30))
            gen_declare(g, outputs[i].name, GEN_BITS, outputs[i].width, true);
    gen_declare(g, "ig_intr_md.ingress_port", GEN_BITS, 9, false);
    if (!g->calm) {
        gen_declare(g, "ig_intr_md.ingress_mac_tstamp", GEN_BITS, 48, false);
        gen_declare(g, "ig_prsr_md.global_tstamp", GEN_BITS, 48, false);
    }
    if (CHANCE(g, 30))
        gen_declare(g, "ig_prsr_md.parser_err", GEN_BITS, 16, false);
}

static void declare_egress(struct gen *g) {
    if (STIRS(g, 30))
        gen_declare(g, "eg_dprsr_md.drop_ctl", GEN_BITS, 3, true);
    if (STIRS(g, 30))
        gen_declare(g, "eg_dprsr_md.mirror_type", GEN_BITS, 3, true);
    gen_declare(g, "eg_intr_md.egress_port", GEN_BITS, 9, false);
    gen_declare(g, "eg_intr_md.deq_qdepth", GEN_BITS, 19, false);
    if (CHANCE(g, 30))
        gen_declare(g, "eg_prsr_md.parser_err", GEN_BITS, 16, false);
}

static void forget_objects(struct gen *g) {
    g->tables.n = 0;
    g->uses.n = 0;
    g->calls.n = 0;
}

struct sub_control {
    const char *name;
    struct gen_var params[3];
    unsigned n;
};

// The packet goes around, past egress, where a condition holds; the last headers may be gone then.
static void go_around(struct gen *g) {
    gen_open(g, "if (%s) {", CHANCE(g, 50) ? "true" : gen_expr(g, GEN_BOOL, 1, 2));
    gen_line(g, "ig_tm_md.ucast_egress_port = %s;",
             CHANCE(g, 50) ? "68" : gen_expr(g, GEN_BITS, 9, 1));
    gen_line(g, "ig_tm_md.bypass_egress = 1;");
    if (CHANCE(g, 70))
        gen_line(g, "ig_dprsr_md.drop_ctl = 0;");
    for (size_t i = g->headers.n; i-- > 0 && CHANCE(g, 60);)
        if (!g->headers.v[i].stack)
            gen_line(g, "%s.%s();", g->headers.v[i].name,
                     CHANCE(g, 75) ? "setInvalid" : "setValid");
    gen_close(g, "}");
}

// A control with parameters of its own; its register's index says how often it may be applied.
static struct sub_control sub_control(struct gen *g) {
    struct sub_control c = {.name = gen_name(g, "Sub"), .n = 1 + BELOW(g, 3)};
    const char *params = gen_text(g, "inout %s_headers_t hdr", g->ingress ? "ig" : "eg");
    gen_var_vec outer = g->vars;
    for (unsigned i = 0; i < c.n; i++) {
        struct gen_var *p = &c.params[i];
        *p = (struct gen_var){gen_name(g, "a"), CHANCE(g, 80) ? GEN_BITS : GEN_INT,
                              CHANCE(g, 50) ? 8u << BELOW(g, 3) : gen_width(g), CHANCE(g, 60),
                              false};
        if (p->type == GEN_INT && p->width < 2)
            p->width = 2;
        params = gen_text(g, "%s, %s %s %s", params, p->writable ? "inout" : "in",
                          gen_type_text(g, p->type, p->width), p->name);
    }
    forget_objects(g);
    g->vars = (gen_var_vec){0};
    declare_headers(g);
    for (unsigned i = 0; i < c.n; i++)
        gen_declare(g, c.params[i].name, c.params[i].type, c.params[i].width, c.params[i].writable);
    gen_open(g, "control %s(%s) {", c.name, params);
    gen_control_objects(g);
    gen_open(g, "apply {");
    gen_stmts(g, 2 + BELOW(g, 6));
    gen_use_rest(g);
    gen_close(g, "}");
    gen_close(g, "}");
    forget_objects(g);
    g->vars = outer;
    return c;
}

static void instance(struct gen *g, const struct sub_control *c) {
    const char *name = gen_name(g, "sub"), *args = "hdr";
    for (unsigned i = 0; i < c->n; i++) {
        const struct gen_var *p = &c->params[i], *place = NULL;
        if (p->writable && !(place = gen_place(g, p->type, p->width)))
            return;
        args = gen_text(g, "%s, %s", args, place ? place->name : gen_expr(g, p->type, p->width, 1));
    }
    gen_line(g, "%s() %s;", c->name, name);
    VEC_PUSH(g->a, &g->uses, gen_text(g, "%s.apply(%s);", name, args));
}

static void main_control(struct gen *g, const struct sub_control *subs, unsigned n_subs) {
    size_t vars = g->vars.n;
    if (g->ingress)
        gen_open(g, "control Ingress(inout ig_headers_t hdr, inout ig_metadata_t md, in "
                    "ingress_intrinsic_metadata_t ig_intr_md, in "
                    "ingress_intrinsic_metadata_from_parser_t ig_prsr_md, inout "
                    "ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md, inout "
                    "ingress_intrinsic_metadata_for_tm_t ig_tm_md) {");
    else
        gen_open(g, "control Egress(inout eg_headers_t hdr, inout eg_metadata_t md, in "
                    "egress_intrinsic_metadata_t eg_intr_md, in "
                    "egress_intrinsic_metadata_from_parser_t eg_prsr_md, inout "
                    "egress_intrinsic_metadata_for_deparser_t eg_dprsr_md, inout "
                    "egress_intrinsic_metadata_for_output_port_t eg_oport_md) {");
    declare_headers(g);
    for (size_t i = 0; i < g->headers.n; i++) // elements by number
        if (g->headers.v[i].stack && CHANCE(g, 40))
            gen_declare_fields(g, gen_text(g, "%s[md.rec.x]", g->headers.v[i].name),
                               g->headers.v[i].type, true);
    if (g->ingress)
        declare_ingress(g);
    else
        declare_egress(g);
    gen_declare(g, "md.residual", GEN_BITS, 16, true);
    gen_declare(g, "md.wrong", GEN_BOOL, 1, true);
    g->may_exit = true;
    gen_control_objects(g);
    for (unsigned i = 0; i < n_subs; i++)
        for (unsigned k = 1 + BELOW(g, 2); k > 0; k--)
            instance(g, &subs[i]);
    gen_open(g, "apply {");
    if (g->ingress)
        gen_line(g, "ig_tm_md.ucast_egress_port = 1;");
    if (CHANCE(g, 20))
        gen_line(g, CHANCE(g, 50) ? "md.rec = md.other;" : "md.rec = {x = 5, y = 6};");
    gen_stmts(g, 4 + BELOW(g, 12));
    gen_use_rest(g);
    if (g->ingress && STIRS(g, 50))
        go_around(g);
    gen_close(g, "}");
    gen_close(g, "}");
    g->may_exit = false;
    g->vars.n = vars;
}

static void gress(struct gen *g, bool ingress) {
    struct sub_control subs[2];
    unsigned n_subs = CHANCE(g, 40) ? 1 + BELOW(g, 2) : 0;
    g->ingress = ingress;
    headers_struct(g);
    metadata_struct(g);
    gen_parser(g);
    for (unsigned i = 0; i < n_subs; i++)
        subs[i] = sub_control(g);
    forget_objects(g);
    main_control(g, subs, n_subs);
    gen_deparser(g);
}

static char *program(uint64_t seed, size_t *length, bool calm) {
    char *text = NULL;
    struct gen g = {.a = arena_new(), .r = {seed * UINT64_C(0x2545f4914f6cdd1d) + 1}, .calm = calm};
    g.out = open_memstream(&text, length);
    if (!g.out)
        abort();
    for (unsigned n = 1 + BELOW(&g, 4); n > 0; n--)
        header_type(&g);
    gen_open(&g, "struct record_t {");
    gen_line(&g, "bit<16> x;");
    gen_line(&g, "int<12> y;");
    gen_close(&g, "}");
    gen_open(&g, "struct pair_t {");
    gen_line(&g, "bit<32> lo;");
    gen_line(&g, "bit<32> hi;");
    gen_close(&g, "}");
    gen_open(&g, "header resubmit_h {");
    gen_line(&g, "bit<24> a;");
    gen_line(&g, "bit<40> b;");
    gen_close(&g, "}");
    gen_functions(&g);
    gress(&g, true);
    gress(&g, false);
    gen_line(&g, "Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), "
                 "Egress(), EgressDeparser()) pipe;");
    gen_line(&g, "Switch(pipe) main;");
    fclose(g.out);
    arena_free(g.a);
    return text;
}

char *generate_program(uint64_t seed, size_t *length) {
    return program(seed, length, false);
}

char *generate_calm_program(uint64_t seed, size_t *length) {
    return program(seed, length, true);
}
