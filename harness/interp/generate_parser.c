// SPDX-License-Identifier: Apache-2.0
//
// generate_parser: random parsers and deparsers.
//
// The states form a row: state i takes one header (or the elements of a stack, in a loop) and goes
// on to a later one, so every header is extracted once at most and every parser ends.
#include "harness/interp/generate_impl.h"

static const char *state_after(struct gen *g, unsigned i, unsigned n) {
    if (CHANCE(g, 8))
        return CHANCE(g, 80) ? "accept" : "reject";
    unsigned next = i + 1 + (CHANCE(g, 25) ? 1 : 0);
    return next < n ? gen_text(g, "s%u", next) : "accept";
}

// A set of one select key.
static const char *key_set(struct gen *g, unsigned width) {
    const char *v = gen_const(g, GEN_BITS, width);
    switch (BELOW(g, 7)) {
    case 0:
        return gen_text(g, "%s &&& %s", v, gen_const(g, GEN_BITS, width));
    case 1: {
        if (width > 40)
            return v;
        unsigned long long low = random_bits(&g->r, width), most = (1ull << width) - 1;
        unsigned long long high = low + BELOW(g, 200);
        return gen_text(g, "%uw%llu..%uw%llu", width, low, width, high > most ? most : high);
    }
    case 2:
        return CHANCE(g, 50) ? "_" : v;
    default:
        return v;
    }
}

static void select(struct gen *g, unsigned i, unsigned n, const char *value_set,
                   unsigned set_width) {
    unsigned widths[3], n_keys = value_set ? 1 : 1 + BELOW(g, CHANCE(g, 30) ? 3 : 1);
    const char *keys = "";
    for (unsigned k = 0; k < n_keys; k++) {
        const struct gen_var *v = gen_any_var(g);
        const char *e = v->name;
        widths[k] = v->width;
        if (value_set || v->type != GEN_BITS || CHANCE(g, 25)) {
            widths[k] = value_set ? set_width : 1 + BELOW(g, 24);
            e = CHANCE(g, 60) ? gen_text(g, "pkt.lookahead<bit<%u>>()", widths[k])
                              : gen_expr(g, GEN_BITS, widths[k], 1);
        }
        keys = gen_text(g, "%s%s%s", keys, k ? ", " : "", e);
    }
    gen_open(g, "transition select(%s) {", keys);
    if (value_set)
        gen_line(g, "%s : %s;", value_set, state_after(g, i, n));
    for (unsigned c = 1 + BELOW(g, 5); c > 0; c--) {
        const char *sets = "";
        for (unsigned k = 0; k < n_keys; k++)
            sets = gen_text(g, "%s%s%s", sets, k ? ", " : "", key_set(g, widths[k]));
        gen_line(g, n_keys > 1 ? "(%s) : %s;" : "%s : %s;", sets, state_after(g, i, n));
    }
    if (CHANCE(g, 80))
        gen_line(g, "default : %s;", state_after(g, i, n));
    gen_close(g, "}");
}

// A header that is put together later, or never.
static void make_header(struct gen *g, unsigned i) {
    const unsigned n = (unsigned)g->headers.n;
    if (i + 1 >= n || !STIRS(g, 12))
        return;
    const struct gen_header *h = &g->headers.v[i + 1 + BELOW(g, n - i - 1)];
    if (!h->stack)
        gen_line(g, "%s.setValid();", h->name);
}

static void assignments(struct gen *g) {
    for (unsigned n = BELOW(g, 3); n > 0; n--) {
        const struct gen_var *v = gen_any_place(g);
        if (v && !v->wide)
            gen_line(g, "%s = %s;", v->name, gen_expr(g, v->type, v->width, 1 + BELOW(g, 2)));
    }
    if (CHANCE(g, 10)) {
        const struct gen_var *v = gen_place(g, GEN_BITS, 16);
        if (v)
            gen_line(g, "%s = pkt.lookahead<bit<16>>();", v->name);
    }
    if (STIRS(g, 8))
        gen_line(g, "pkt.advance(%u);", 8 * BELOW(g, 12));
}

static void checksums(struct gen *g, const struct gen_header *h) {
    if (g->checksummed != h)
        return;
    gen_line(g, "sum1.add(%s);", h->name);
    gen_line(g, "md.wrong = sum1.verify();");
    if (g->calm)
        return;
    gen_line(g, "sum2.subtract({%s});", g->checksum_field);
    for (unsigned i = 0; i < h->type->n && CHANCE(g, 50); i++)
        if (h->type->fields[i].type == GEN_BITS && h->type->fields[i].width % 16 == 0)
            gen_line(g, "sum2.subtract({%s.%s});", h->name, h->type->fields[i].name);
    gen_line(g, CHANCE(g, 60) ? "sum2.subtract_all_and_deposit(md.residual);"
                              : "md.residual = sum2.get();");
}

// What is behind the name in extract(name...): the size of a varbit field, which may be too large.
static const char *varbit_size(struct gen *g, const struct gen_header_type *t) {
    if (!t->varbit)
        return "";
    switch (BELOW(g, 3)) {
    case 0:
        return gen_text(g, ", 32w%u", 8 * BELOW(g, t->varbit + 1));
    case 1:
        return gen_text(g, ", (bit<32>)((bit<8>)pkt.lookahead<bit<%u>>() & 15) << 3",
                        4 + BELOW(g, 5));
    default: {
        const struct gen_var *v = gen_any_var(g);
        return v->type == GEN_BITS ? gen_text(g, ", ((bit<32>)%s & 15) << 3", v->name) : ", 32w0";
    }
    }
}

static void one_header(struct gen *g, const struct gen_header *h, unsigned i, unsigned n,
                       const char *value_set, unsigned set_width) {
    gen_open(g, "state s%u {", i);
    gen_line(g, "pkt.extract(%s%s);", h->name, varbit_size(g, h->type));
    gen_declare_fields(g, h->name, h->type, false);
    checksums(g, h);
    assignments(g);
    make_header(g, i);
    if (CHANCE(g, 75))
        select(g, i, n, value_set, set_width);
    else
        gen_line(g, "transition %s;", state_after(g, i, n));
    gen_close(g, "}");
}

// Elements of a stack as long as a bit of theirs says so.
static void stack_of_headers(struct gen *g, const struct gen_header *h, unsigned i, unsigned n) {
    const struct gen_field *f = &h->type->fields[BELOW(g, h->type->n)];
    if (f->width > GEN_MAX_WIDTH)
        f = &h->type->fields[0];
    const char *last = gen_text(g, "%s.last.%s", h->name, f->name);
    if (f->type == GEN_INT)
        last = gen_text(g, "(bit<%u>)%s", f->width, last);
    bool counted = !g->counted && CHANCE(g, 30);
    g->counted |= counted;
    gen_open(g, "state s%u {", i);
    if (counted)
        gen_line(g, "counter.decrement(1);");
    gen_line(g, "pkt.extract(%s.next%s);", h->name, varbit_size(g, h->type));
    assignments(g);
    if (counted) {
        gen_open(g, "transition select(counter.is_zero()) {");
        gen_line(g, "false : s%u;", i);
        gen_line(g, "true : %s;", state_after(g, i, n));
        gen_close(g, "}");
        gen_close(g, "}");
        return;
    }
    gen_open(g, "transition select((%s)[0:0]) {", last);
    gen_line(g, "1w1 : s%u;", i);
    gen_line(g, "default : %s;", state_after(g, i, n));
    gen_close(g, "}");
    gen_close(g, "}");
}

void gen_parser(struct gen *g) {
    const char *which = g->ingress ? "Ingress" : "Egress", *in = g->ingress ? "ig" : "eg";
    size_t vars = g->vars.n;
    unsigned n = (unsigned)g->headers.n;
    g->in_parser = true;
    gen_open(g,
             "parser %sParser(packet_in pkt, out %s_headers_t hdr, out %s_metadata_t md, out "
             "%s_intrinsic_metadata_t %s_intr_md) {",
             which, in, in, g->ingress ? "ingress" : "egress", in);
    const char *value_set = NULL;
    unsigned set_width = 0;
    if (CHANCE(g, 30)) {
        value_set = gen_name(g, "vs");
        set_width = 1 + BELOW(g, 32);
        gen_line(g, "value_set<bit<%u>>(%u) %s;", set_width, 1 + BELOW(g, 6), value_set);
    }
    if (g->checksummed) {
        gen_line(g, "Checksum() sum1;");
        gen_line(g, "Checksum() sum2;");
    }
    gen_line(g, "ParserCounter() counter;");
    gen_open(g, "state start {");
    gen_line(g, "pkt.extract(%s_intr_md);", in);
    gen_line(g, "counter.set(8w%u);", BELOW(g, 5));
    if (g->ingress)
        gen_line(g, "pkt.advance(PORT_METADATA_SIZE);");
    gen_line(g, "transition %s;", n ? "s0" : "accept");
    gen_close(g, "}");
    unsigned set_state = BELOW(g, n + 1);
    for (unsigned i = 0; i < n; i++) {
        const struct gen_header *h = &g->headers.v[i];
        if (h->stack)
            stack_of_headers(g, h, i, n);
        else
            one_header(g, h, i, n, i == set_state ? value_set : NULL, set_width);
    }
    gen_close(g, "}");
    g->in_parser = false;
    g->vars.n = vars;
}

static void checksum_update(struct gen *g) {
    const struct gen_header *h = g->checksummed;
    const char *fields = "";
    for (unsigned i = 0; i < h->type->n; i++) {
        const struct gen_field *f = &h->type->fields[i];
        const char *name = gen_text(g, "%s.%s", h->name, f->name);
        if (f->type == GEN_BITS && f->width % 8 == 0 &&
            (!CHANCE(g, 30) || !*fields)) // byte phases of all kinds
            fields = gen_text(g, "%s%s%s", fields, *fields ? ", " : "", name);
    }
    if (CHANCE(g, 50))
        fields = gen_text(g, "%s, md.residual", fields);
    gen_line(g, "%s = sum.update({%s}%s);", g->checksum_field, fields,
             CHANCE(g, 30) ? ", true" : "");
}

void gen_deparser(struct gen *g) {
    const char *which = g->ingress ? "Ingress" : "Egress", *in = g->ingress ? "ig" : "eg";
    bool resubmits = g->ingress && STIRS(g, 30), mirrors = STIRS(g, 30);
    bool digests = g->ingress && STIRS(g, 30);
    gen_open(g,
             "control %sDeparser(packet_out pkt, inout %s_headers_t hdr, in %s_metadata_t md, in "
             "%s_intrinsic_metadata_for_deparser_t dprsr) {",
             which, in, in, g->ingress ? "ingress" : "egress");
    if (g->checksummed)
        gen_line(g, "Checksum() sum;");
    if (resubmits)
        gen_line(g, "Resubmit() again;");
    if (mirrors)
        gen_line(g, "Mirror() copy;");
    if (digests)
        gen_line(g, "Digest<record_t>() learn;");
    gen_open(g, "apply {");
    if (mirrors) {
        gen_open(g, "if (dprsr.mirror_type == %u) {", 1 + BELOW(g, 3));
        if (CHANCE(g, 70))
            gen_line(g, "copy.emit<resubmit_h>(md.session, {md.again_a, md.again_b});");
        else
            gen_line(g, "copy.emit(md.session);");
        gen_close(g, "}");
    }
    if (digests) {
        gen_open(g, "if (dprsr.digest_type == %u) {", BELOW(g, 4));
        gen_line(g, "learn.pack({md.rec.x, md.rec.y});");
        gen_close(g, "}");
    }
    if (resubmits) {
        gen_open(g, "if (dprsr.resubmit_type == %u) {", 1 + BELOW(g, 3));
        if (CHANCE(g, 70))
            gen_line(g, "again.emit<resubmit_h>({md.again_a, md.again_b});");
        else
            gen_line(g, "again.emit();");
        gen_close(g, "}");
    }
    if (g->checksummed && STIRS(g, 100))
        checksum_update(g);
    if (CHANCE(g, g->calm ? 95 : 50)) {
        gen_line(g, "pkt.emit(hdr);");
    } else {
        for (size_t i = g->headers.n; i-- > 0;)
            if (CHANCE(g, 90))
                gen_line(g, "pkt.emit(%s);", g->headers.v[i].name);
    }
    gen_close(g, "}");
    gen_close(g, "}");
}
