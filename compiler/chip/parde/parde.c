// SPDX-License-Identifier: Apache-2.0
//
// parde: what parser and deparser take of the chip. See parde.h. What the chip's compiler refuses
// is a violation; what it only warns of, or finds out when it writes the configuration, is said
// where it is.
#include "compiler/chip/parde/parde_impl.h"

#include "compiler/ir/emitted.h"
#include "compiler/chip/report_add.h"

#include <string.h>

#include "compiler/chip/phv/fields.h"
#include "compiler/ir/build.h"
#include "compiler/ir/walk.h"

// ---- checksum units -----------------------------------------------------------------------------
struct updates {
    unsigned n, most;
    struct loc over; // the one that is too many
};

static void update_stmt(void *ctx, struct ir_stmt *st) {
    struct updates *u = ctx;
    if (st->kind == IR_CSUM_UPDATE && ++u->n == u->most + 1)
        u->over = st->at;
}

static const char *gress_name(const struct ir_gress *ir) {
    return ir->kind == IR_INGRESS ? "ingress" : "egress";
}

static void over_units(struct chip_report *r, const struct ir_gress *ir, const char *what,
                       unsigned used, unsigned limit, struct loc at, const char *suggestion) {
    if (used <= limit)
        return;
    struct chip_violation *v =
        chip_violate(r, arena_printf(r->arena, "%s-checksums", what), at,
                     arena_printf(r->arena, "the %s %s needs %u checksum units; it has %u",
                                  gress_name(ir), what, used, limit),
                     suggestion);
    v->limit = limit;
    v->used = used;
}

// A header stack's elements that the parser fills one after another are one number to it, a bit for
// each.
#define STACK_ELEMENTS 32u

static void stack_stmt(void *ctx, struct ir_stmt *st) {
    struct chip_report *r = ctx;
    if (st->kind != IR_EXTRACT || st->headers.n <= STACK_ELEMENTS)
        return;
    struct chip_violation *v = chip_violate(
        r, "header-stack", st->at,
        arena_printf(r->arena,
                     "a header stack of %zu elements is extracted one by one; it may have %u",
                     st->headers.n, STACK_ELEMENTS),
        "make the stack shorter, or split it into two");
    v->limit = STACK_ELEMENTS;
    v->used = st->headers.n;
}

// An egress parser of a Tofino 1 that is shorter than this is lengthened, which takes its counter.
#define MIN_DEPTH 65u

// A counter is a signed byte that only the parser writes.
static void counter_stmt(void *ctx, struct ir_stmt *st) {
    const struct ir_stmt **first = ctx;
    if (!*first && st->kind == IR_ASSIGN && st->var->is_signed && st->var->width == 8 &&
        !st->var->header && st->at.line > 0)
        *first = st;
}

static void parde_counter(struct chip_report *r, const struct ir_gress *ir, unsigned depth) {
    const struct ir_stmt *st = NULL;
    struct ir_visitor v = {.ctx = (void *)&st, .stmt = counter_stmt, .shallow = true};
    for (size_t i = 0; i < ir->states.n; i++)
        ir_visit_block(&v, ir->states.v[i]->body);
    if (ir->kind != IR_EGRESS || r->target != CHIP_TOFINO1 || depth >= MIN_DEPTH || !st)
        return;
    struct chip_violation *out = chip_violate(
        r, "parser-counter", st->at,
        arena_printf(r->arena,
                     "the egress parser counts with %s, and its shortest path takes %u bytes: the "
                     "chip's compiler needs the counter to extend it to %u",
                     st->var->name, depth, MIN_DEPTH),
        "extract that many bytes on every path, or distinguish the cases without a counter");
    out->limit = MIN_DEPTH;
    out->used = depth;
}

// ---- port metadata ------------------------------------------------------------------------------
static void parde_port_metadata(struct chip_report *r, const struct ir_gress *ir) {
    const unsigned limit = r->limits->port_metadata_bytes;
    if (ir->port_bytes > limit)
        chip_exceed(chip_violate(r, "port-metadata", ir->port_at,
                                 arena_printf(r->arena,
                                              "port metadata takes %u bytes, since each member of "
                                              "the struct begins with a new byte; a port has %u",
                                              ir->port_bytes, limit),
                                 "join several short members into one, and read them as slices"),
                    ir->port_bytes, limit);
}

// ---- parser -------------------------------------------------------------------------------------
static void parser(struct chip_report *r, struct chip_pipe *pipe, unsigned g,
                   const struct phv *phv) {
    const struct ir_gress *ir = &pipe->ir->gress[g];
    struct chip_parser *out = &pipe->parser[g];
    struct parde_parser p = {.r = r, .ir = ir};
    parde_ways(&p);
    uint64_t longest = parde_longest(&p), shortest = parde_shortest(&p);
    out->max_depth = longest < UINT32_MAX ? (unsigned)longest : UINT32_MAX;
    out->min_depth = shortest < UINT32_MAX ? (unsigned)shortest : UINT32_MAX;
    uint64_t limit = r->limits->parser_depth[g];
    if (longest > limit) {
        struct chip_violation *v = chip_violate(
            r, "parser-depth", ir->states.v[0]->at,
            arena_printf(
                r->arena,
                "the longest path through the %s parser takes %llu bytes of a packet; at most %llu",
                gress_name(ir), (unsigned long long)longest, (unsigned long long)limit),
            "leave headers that the program does not use in the packet's payload");
        v->limit = limit;
        v->used = longest;
    }
    parde_selects(&p);
    parde_writes(&p, &phv->gress[g]);
    parde_counter(r, ir, out->min_depth);
    struct ir_visitor stacks = {.ctx = r, .stmt = stack_stmt, .shallow = true};
    for (size_t i = 0; i < ir->states.n; i++)
        ir_visit_block(&stacks, ir->states.v[i]->body);
    struct loc over = {0};
    out->checksums = parde_sum_units(&p, &over, r->limits->parser_checksums);
    over_units(r, ir, "parser", out->checksums, r->limits->parser_checksums, over,
               "verify or subtract fewer sums, or continue one over several headers");
}

// ---- deparser -----------------------------------------------------------------------------------
struct sending {
    struct chip_report *r;
    struct chip_deparser *out;
    const struct phv *phv;
    unsigned g;
    struct loc at; // of the header after which there are too many
    bool over_entries, over_pov, other_header;
    uint64_t in_rows;
    const struct ir_gress *other;
};

static bool same_type_parsed(const struct sending *s, const struct ir_header *h) {
    const struct phv_gress *other = &s->phv->gress[1 - s->g];
    for (size_t i = 0; i < s->other->headers.n; i++)
        if (other->extracted[i] && s->other->headers.v[i]->bits == h->bits &&
            strcmp(s->other->headers.v[i]->type_name, h->type_name) == 0)
            return true;
    return false;
}

static void send_header(struct sending *s, const struct ir_stmt *st) {
    const struct chip_limits *l = s->r->limits;
    const struct ir_header *h = st->header;
    if (!phv_header_lives(s->phv, s->g, h))
        return;
    unsigned bytes = h->bits / 8;
    s->out->pov_bits++;
    s->out->header_bytes += bytes;
    s->out->entries +=
        (bytes + l->deparser_entry_bytes - 1) / l->deparser_entry_bytes; // under one validity bit
    bool extracted = s->phv->gress[s->g].extracted[h->id];
    s->other_header = s->other_header || extracted;
    if (s->g == IR_INGRESS && !s->other_header && same_type_parsed(s, h))
        s->out->bridged_bytes += bytes;
    if (s->out->pov_bits == l->pov_bits + 1) {
        s->over_pov = true;
        s->at = st->at;
    }
    if (s->out->entries > l->deparser_entries && !s->over_entries) {
        s->over_entries = true;
        if (!s->over_pov)
            s->at = st->at;
    }
}

static unsigned parde_bits_of(const ir_expr_vec *args) {
    unsigned bits = 0;
    for (size_t i = 0; i < args->n; i++)
        bits += args->v[i]->width;
    return bits;
}

// A digest has zeros only as padding inside of a byte.
static bool parde_is_number(const struct ir_stmt *st, const struct ir_expr *e) {
    return e && ir_is_const(e) &&
           (big_sign(e->value) != 0 || (st->kind == IR_DIGEST && e->width % 8 == 0));
}

// What goes beside the packet comes from containers, or is zero.
static void constants(struct sending *s, const struct ir_stmt *st) {
    bool any = st->kind == IR_MIRROR && st->args.n > 0 && parde_is_number(st, st->e);
    for (size_t i = 0; i < st->args.n; i++)
        any |= parde_is_number(st, st->args.v[i]);
    if (any)
        chip_violate(s->r, "deparser-constant", st->at,
                     st->kind == IR_MIRROR
                         ? "a constant as the session or in the header of a mirrored packet"
                         : "a constant in the data that a deparser sends with the packet",
                     "set a metadata field to it in the control, and use that field");
}

static void send_stmt(void *ctx, struct ir_stmt *st) {
    struct sending *s = ctx;
    switch (st->kind) {
    case IR_EMIT:
        send_header(s, st);
        break;
    case IR_DIGEST:
        constants(s, st);
        break;
    case IR_MIRROR:
        constants(s, st);
        s->out->mirrors++;
        break;
    case IR_RESUBMIT: {
        constants(s, st);
        const unsigned bits = parde_bits_of(&st->args), bytes = (bits + 7) / 8;
        if (st->flag)
            chip_violate(
                s->r, "header-bytes", st->at,
                arena_printf(s->r->arena,
                             "the header of this is %u bits long: to the chip's compiler a "
                             "header takes whole bytes",
                             bits),
                "fill it up with a field of padding");
        s->out->resubmit_bytes = bytes > s->out->resubmit_bytes ? bytes : s->out->resubmit_bytes;
        break;
    }
    default:
        break;
    }
}

// Which mirror.emit() of an ingress is meant is read off mirror_type alone; 'asked' is the
// innermost condition of the source around the block, or null.
static void parde_mirrors(struct sending *s, const struct ir_block *b, const struct ir_expr *asked,
                          unsigned depth) {
    const struct ir_var *type = s->phv->pipe->ir->gress[s->g].intrinsic[IRI_MIRROR_TYPE];
    for (size_t i = 0; b && depth < 100 && i < b->stmts.n; i++) {
        const struct ir_stmt *t = b->stmts.v[i];
        const struct ir_expr *inner = t->kind == IR_IF && t->text ? t->e : asked;
        parde_mirrors(s, t->then_b, inner, depth + 1);
        parde_mirrors(s, t->else_b, inner, depth + 1);
        if (t->kind == IR_MIRROR && !(asked && type && ir_mentions(asked, type)))
            chip_violate(
                s->r, "mirror-selector", t->at,
                "an ingress deparser chooses what to mirror by mirror_type, and by nothing "
                "else",
                "call emit() in 'if (mirror_type == ...)', with a constant");
    }
}

static void parde_too_many(struct sending *s, const char *rule, const char *what, uint64_t limit,
                           uint64_t used) {
    const char *gress = gress_name(&s->phv->pipe->ir->gress[s->g]);
    struct chip_violation *v =
        chip_violate(s->r, rule, s->at,
                     arena_printf(s->r->arena, "the %s deparser needs %llu %s; it has %llu", gress,
                                  (unsigned long long)used, what, (unsigned long long)limit),
                     "emit fewer headers, or join those that are always valid together");
    v->limit = limit;
    v->used = used;
}

static void deparser(struct chip_report *r, struct chip_pipe *pipe, unsigned g,
                     const struct phv *phv) {
    const struct chip_limits *l = r->limits;
    const struct ir_gress *ir = &pipe->ir->gress[g];
    struct chip_deparser *out = &pipe->deparser[g];
    struct sending s = {.r = r, .out = out, .phv = phv, .g = g, .other = &pipe->ir->gress[1 - g]};
    struct ir_visitor visitor = {.ctx = &s, .stmt = send_stmt, .shallow = true};
    ir_visit_block(&visitor, ir->deparser);
    if (g == IR_INGRESS)
        parde_mirrors(&s, ir->deparser, NULL, 0);
    if (s.over_pov)
        parde_too_many(&s, "pov-bits", "validity bits", l->pov_bits, out->pov_bits);
    if (s.over_entries)
        parde_too_many(&s, "deparser-entries",
                       arena_printf(r->arena,
                                    "entries of its field dictionary, one for %s bytes of a header",
                                    l->deparser_entry_bytes == 4 ? "four" : "eight"),
                       l->deparser_entries, out->entries);
    else if (r->target == CHIP_TOFINO1 && out->header_bytes > 64 &&
             out->header_bytes * 288 < (uint64_t)out->entries * 4 * 240)
        chip_note(r, arena_printf(
                         r->arena,
                         "The %s deparser's field dictionary is sparse: %u bytes of headers in %u "
                         "entries of four. The chip needs them five sixths full to send at full "
                         "rate; its compiler only warns.",
                         gress_name(ir), out->header_bytes, out->entries));
    const unsigned most = ir_most_emitted(r->arena, ir);
    if (most > l->deparser_bytes) {
        struct chip_violation *v =
            chip_violate(r, "deparser-bytes", ir_emits(r->arena, ir, NULL).v[0]->at,
                         arena_printf(r->arena,
                                      "the %s deparser can emit %u bytes of headers; the chip's "
                                      "emits at most %u before the payload of one packet",
                                      gress_name(ir), most, l->deparser_bytes),
                         "emit fewer headers, or make more of them exclude each other");
        v->limit = l->deparser_bytes;
        v->used = most;
    } else if (out->header_bytes > l->deparser_bytes)
        chip_note(r,
                  arena_printf(
                      r->arena,
                      "All headers of the %s together are %u bytes; the deparser emits at most %u "
                      "before the payload of one packet; the chip's compiler does not check this.",
                      gress_name(ir), out->header_bytes, l->deparser_bytes));
    struct updates u = {.most = l->deparser_checksums};
    struct ir_visitor sums = {.ctx = &u, .stmt = update_stmt, .shallow = true};
    ir_visit_block(&sums, ir->deparser);
    out->checksums = u.n;
    over_units(r, ir, "deparser", u.n, u.most, u.over,
               "update fewer sums, or some of them in the other gress");
    out->digests = (unsigned)ir->digests.n;
    for (size_t i = 0; i < ir->digests.n; i++) {
        // the kind of the digest goes along in a byte of its own
        const unsigned bytes = (ir->digests.v[i]->bits + 7) / 8 + 1, most = l->digest_bits / 8;
        if (bytes <= most)
            continue;
        struct chip_violation *v = chip_violate(
            r, "digest-size", ir->digests.v[i]->at,
            arena_printf(r->arena, "a digest of %u bytes with its type; at most %u", bytes, most),
            "send fewer fields; fields that the control plane can look up need not be sent");
        v->limit = most;
        v->used = bytes;
    }
    if (out->digests > l->digest_types) {
        struct chip_violation *v =
            chip_violate(r, "digests", ir->digests.v[l->digest_types]->at,
                         arena_printf(r->arena, "%u kinds of digests; the chip has %u",
                                      out->digests, l->digest_types),
                         "send several kinds as one, with a field that says which");
        v->limit = l->digest_types;
        v->used = out->digests;
    }
}

void chip_parde(struct chip_report *r, struct chip_pipe *pipe) {
    struct phv phv = {.r = r, .pipe = pipe, .a = r->arena, .stages = (int)r->limits->stages};
    for (unsigned g = 0; g < 2; g++)
        phv.gress[g].g = &pipe->gress[g];
    phv_fields(&phv);
    parde_port_metadata(r, &pipe->ir->gress[IR_INGRESS]);
    for (unsigned g = 0; g < 2; g++) {
        parser(r, pipe, g, &phv);
        deparser(r, pipe, g, &phv);
    }
}
