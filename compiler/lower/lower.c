// SPDX-License-Identifier: Apache-2.0
//
// lower: the program: 'main' and its packages (section 17, tna-facts 1.2), and the header types
// that hosts want to know.
#include "compiler/lower/lower_impl.h"

#include <string.h>

// ---- messages -----------------------------------------------------------------------------------

void lower_unsupported(struct lower *lw, struct loc at, const char *fmt, ...) {
    va_list ap;
    if (lw->gave_up)
        return;
    va_start(ap, fmt);
    diag_unsupported(lw->d, at, "%s", arena_vprintf(lw->a, fmt, ap));
    va_end(ap);
}

void lower_error(struct lower *lw, struct loc at, const char *fmt, ...) {
    va_list ap;
    if (lw->gave_up)
        return;
    va_start(ap, fmt);
    diag_error(lw->d, at, "%s", arena_vprintf(lw->a, fmt, ap));
    va_end(ap);
}

void lower_limit(struct lower *lw, struct loc at, const char *fmt, ...) {
    va_list ap;
    if (lw->gave_up)
        return;
    va_start(ap, fmt);
    diag_limit(lw->d, at, "%s", arena_vprintf(lw->a, fmt, ap));
    va_end(ap);
    lw->gave_up = true;
}

// ---- @p4runtime_translation("URI", BITS), ("URI", bit<BITS>); strings are not translated ----

const struct ir_translation *lower_translation(struct lower *lw, const struct type *t) {
    const struct annotation *n =
        t && t->kind == TY_NEWTYPE ? annot_find(&t->decl->annots, "p4runtime_translation") : NULL;
    const char *open = n && n->text ? strchr(n->text, '"') : NULL;
    const char *end = open ? strchr(open + 1, '"') : NULL;
    unsigned bits = 0;
    if (!end ||
        (sscanf(end + 1, " , bit < %u", &bits) != 1 && sscanf(end + 1, " , %u", &bits) != 1))
        return NULL;
    struct ir_translation *tr = ARENA_NEW(lw->a, struct ir_translation);
    *tr =
        (struct ir_translation){.name = t->decl->name,
                                .uri = arena_printf(lw->a, "%.*s", (int)(end - open - 1), open + 1),
                                .bits = bits};
    return tr;
}

// ---- wire types ---------------------------------------------------------------------------------

static bool wire_fields(struct lower *lw, struct ir_wire_type *w, const struct type *t,
                        const char *prefix, unsigned depth) {
    const struct type *u = plain(t);
    if (depth > 16)
        return false;
    if (u->kind == TY_STRUCT || u->kind == TY_HEADER) {
        for (size_t i = 0; i < u->decl->members.n; i++) {
            const char *name = u->decl->members.v[i]->name;
            const struct type *ft = type_field(lw->a, u, name, NULL);
            if (prefix)
                name = arena_printf(lw->a, "%s_%s", prefix, name);
            if (!ft || !wire_fields(lw, w, ft, name, depth + 1))
                return false;
        }
        return true;
    }
    long bits = is_scalar_type(t) ? type_bits(lw->a, t) : -1;
    if (bits == 0 && prefix)
        return true;
    if (bits < 0 || !prefix)
        return false;
    struct ir_wire_field f = {.name = prefix,
                              .width = (unsigned)bits,
                              .bit_offset = w->bits,
                              .is_signed = is_signed_type(t),
                              .translation = lower_translation(lw, t)};
    VEC_PUSH(lw->a, &w->fields, f);
    w->bits += (unsigned)bits;
    return true;
}

// The architecture's own headers never travel between hosts and the switch.
bool lower_is_architecture(struct lower *lw, const struct decl *d) {
    static const char *const files[] = {"core.p4",         "tna.p4",           "tofino1_base.p4",
                                        "tofino1_arch.p4", "tofino1_specs.p4", "t2na.p4",
                                        "tofino2_base.p4", "tofino2_arch.p4",  "tofino2_specs.p4"};
    const char *path = diag_path(lw->d, d->at.file);
    const char *slash = path ? strrchr(path, '/') : NULL;
    const char *base = slash ? slash + 1 : path ? path : "";
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(base, files[i]) == 0)
            return true;
    return annot_find(&d->annots, "__intrinsic_metadata") != NULL;
}

static void wire_types(struct lower *lw) {
    for (size_t i = 0; i < lw->p->decls.n; i++) {
        struct decl *d = lw->p->decls.v[i];
        struct ir_wire_type w = {.name = d->name,
                                 .controller = annot_string(&d->annots, "controller_header")};
        if (d->kind != D_HEADER || d->tparams.n > 0 || !d->type || lower_is_architecture(lw, d))
            continue;
        if (wire_fields(lw, &w, d->type, NULL, 0) && w.bits % 8 == 0)
            VEC_PUSH(lw->a, &lw->out->wire_types, w);
    }
}

// ---- the chip -----------------------------------------------------------------------------------

#define INTRINSIC_BYTES 8u // of the ingress header in front of port metadata

// What the architecture's declarations say about the bytes before a packet (tna-facts 3).
static void find_prefixes(struct lower *lw) {
    lw->out->ingress_prefix = 16;
    lw->out->egress_prefix = 27;
    for (size_t i = 0; i < lw->p->decls.n; i++) {
        const struct decl *d = lw->p->decls.v[i];
        if (!d->name || !lower_is_architecture(lw, d))
            continue;
        if (d->kind == D_CONST && strcmp(d->name, "PORT_METADATA_SIZE") == 0 && d->init &&
            d->init->cval && big_fits_u64(d->init->cval))
            lw->out->ingress_prefix = INTRINSIC_BYTES + (unsigned)big_to_u64(d->init->cval) / 8;
        if (d->kind == D_HEADER && strcmp(d->name, "egress_intrinsic_metadata_t") == 0 && d->type)
            lw->out->egress_prefix = (unsigned)(type_bits(lw->a, d->type) / 8);
    }
}

unsigned resubmit_bits(const struct lower *lw) {
    return 8 * ir_limits(lw->out)->resubmit_bytes;
}

// The header types of resubmit data fill the space for it; too long ones are said where they are
// sent.
static void fix_resubmit_types(struct lower *lw) {
    for (size_t i = 0; i < lw->p->decls.n; i++) {
        struct decl *d = lw->p->decls.v[i];
        if (d->kind != D_HEADER || !d->resubmitted || !d->type)
            continue;
        long bits = type_bits(lw->a, d->type);
        if (bits >= 0 && bits < resubmit_bits(lw))
            d->fixed_bits = resubmit_bits(lw);
    }
}

// ---- packages -----------------------------------------------------------------------------------

// The constructor call of an argument of a package: written there, or an instance's.
static struct expr *package_ctor(struct expr *e, struct decl **instance) {
    e = (struct expr *)strip(e);
    *instance = NULL;
    if (e->kind == EX_NAME && e->decl && e->decl->kind == D_INSTANCE) {
        *instance = e->decl;
        e = e->decl->ctor_call;
    }
    return e && e->kind == EX_CALL && e->call == CALL_CTOR && e->decl &&
                   e->decl->kind == D_PACKAGE && e->decl->name
               ? e
               : NULL;
}

// @default_portmap(0, {1, 2}): the parser instances of each parser of a bundle.
static void port_map(struct lower *lw, const struct decl *bundle, struct blocks *b) {
    const struct annotation *map = bundle ? annot_find(&bundle->annots, "default_portmap") : NULL;
    for (size_t i = 0; map && i < map->args.n && i < b->n_parsers; i++) {
        struct expr *e = map->args.v[i];
        size_t n = e->kind == EX_LIST ? e->args.n : 1;
        for (size_t k = 0; k < n; k++) {
            struct expr *one = e->kind == EX_LIST ? e->args.v[k]->value : e;
            if (one->kind != EX_INT || !big_fits_u64(one->value) ||
                big_to_u64(one->value) >= MAX_PARSERS)
                lower_error(lw, one->at, "a parser instance is a number below %u", MAX_PARSERS);
            else
                b->parser_of[big_to_u64(one->value)] = (unsigned)i;
        }
    }
}

// A parser, or a bundle of them: instance i runs parser i, or the first one when there is none.
static void gress_parsers(struct lower *lw, struct expr *e, struct blocks *b) {
    struct decl *instance;
    struct expr *bundle = e ? package_ctor(e, &instance) : NULL;
    b->n_parsers = e ? 1 : 0;
    b->parsers[0] = e;
    if (!bundle)
        return;
    b->n_parsers = 0;
    for (size_t i = 0; i < bundle->bound.n && i < MAX_PARSERS; i++) {
        if (!bound_arg(bundle, i))
            continue;
        b->parser_of[i] = b->n_parsers;
        b->parsers[b->n_parsers++] = bound_arg(bundle, i);
    }
    port_map(lw, instance, b);
}

static struct ir_pipeline *lower_pipeline(struct lower *lw, struct expr *ctor, const char *name) {
    struct ir_pipeline *pl = ARENA_NEW(lw->a, struct ir_pipeline);
    pl->name = name;
    pl->gress[IR_INGRESS].kind = IR_INGRESS;
    pl->gress[IR_EGRESS].kind = IR_EGRESS;
    if (bound_arg(ctor, 6))
        lower_unsupported(lw, bound_arg(ctor, 6)->at, "a ghost thread");
    lw->pipeline = pl;
    lw->globals = env_new(lw, NULL, "");
    for (int k = IR_INGRESS; k <= IR_EGRESS; k++) {
        size_t first = k == IR_INGRESS ? 0 : 3;
        struct blocks b = {.control = bound_arg(ctor, first + 1),
                           .deparser = bound_arg(ctor, first + 2)};
        gress_parsers(lw, bound_arg(ctor, first), &b);
        if (b.n_parsers > 0 && b.control && b.deparser)
            lower_gress(lw, &pl->gress[k], &b, ctor->at);
        else
            lower_error(lw, ctor->at, "a pipeline needs six blocks");
    }
    return pl;
}

#define PIPES 4u

// With one pipeline every hardware pipe runs it; with two they alternate (tna-facts 1.2).
static void place_pipelines(struct ir_program *out, const unsigned *given, unsigned n) {
    for (unsigned i = 0; i < PIPES; i++)
        out->pipe_of[i] = n == 0 ? 0 : n == 2 ? given[i % 2] : given[i < n ? i : 0];
}

static void lower_main(struct lower *lw, struct expr *ctor) {
    struct {
        const void *key;
        unsigned index;
    } seen[PIPES];
    unsigned given[PIPES], n = 0;
    for (size_t i = 0; i < ctor->bound.n && n < PIPES; i++) {
        struct decl *instance;
        struct expr *arg = bound_arg(ctor, i);
        struct expr *pl = arg ? package_ctor(arg, &instance) : NULL;
        if (!arg)
            continue;
        if (!pl || (strcmp(pl->decl->name, "Pipeline") != 0 &&
                    strcmp(pl->decl->name, "MultiParserPipeline") != 0)) {
            lower_unsupported(lw, arg->at, "this as a pipeline");
            return;
        }
        const char *name = instance ? instance->name
                           : i == 0 ? "pipe"
                                    : arena_printf(lw->a, "pipe%zu", i);
        unsigned k = 0;
        while (k < n && seen[k].key != pl)
            k++;
        seen[n].key = pl;
        if (k < n) {
            seen[n].index = seen[k].index;
        } else {
            seen[n].index = (unsigned)lw->out->pipelines.n;
            struct ir_pipeline *lowered = lower_pipeline(lw, pl, name);
            VEC_PUSH(lw->a, &lw->out->pipelines, lowered);
        }
        given[n] = seen[n].index;
        n++;
    }
    place_pipelines(lw->out, given, n);
}

struct ir_program *lower_program(struct arena *a, struct diag *d, const char *path,
                                 struct program *p) {
    struct lower lw = {.a = a, .d = d, .p = p};
    unsigned before = diag_errors(d);
    lw.out = ARENA_NEW(a, struct ir_program);
    lw.out->path = path;
    if (!p->main) {
        diag_error(d, (struct loc){0},
                   "the program has no 'main': end it with "
                   "'Switch(pipe) main;'");
        return NULL;
    }
    struct expr *ctor = p->main->ctor_call;
    if (!ctor || ctor->call != CALL_CTOR || !ctor->decl || !ctor->decl->name ||
        (strcmp(ctor->decl->name, "Switch") != 0 &&
         strcmp(ctor->decl->name, "MultiParserSwitch") != 0)) {
        diag_unsupported(d, p->main->at, "'main' of another type than Switch");
        return NULL;
    }
    find_prefixes(&lw);
    fix_resubmit_types(&lw);
    lw.out->invariant_crc = annot_find(&p->main->annots, "silken_invariant_crc");
    lw.out->single_packets = annot_find(&p->main->annots, "silken_single_packets");
    lower_main(&lw, ctor);
    lower_zeroed(&lw);
    wire_types(&lw);
    lower_constants(&lw);
    lower_field_names(&lw);
    return diag_errors(d) == before ? lw.out : NULL;
}
