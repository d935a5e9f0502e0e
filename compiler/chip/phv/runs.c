// SPDX-License-Identifier: Apache-2.0
//
// runs: what is cut into containers: bytes of headers as they stand on the wire, metadata fields,
// validity bits, and which of them instructions link. See phv.h.
#include "compiler/chip/phv/phv_impl.h"
#include "compiler/chip/report_add.h"

#define PACK_BYTES 4u // neighbouring fields of a header share a container up to this size

struct making {
    struct phv *p;
    unsigned gress;
    struct phv_gress *g;
    struct phv_run **of; // by variable id: the run it is in
};

static bool phv_runs_touched(const struct phv_field *f) {
    return f->read || f->written;
}

static bool is_dead(const struct phv_gress *g, const struct ir_var *v) {
    return g->g->dead && g->g->dead[v->id];
}

static struct phv_run *new_run(struct making *m, const struct ir_header *h, unsigned bytes,
                               struct loc at) {
    struct phv_run *run = ARENA_NEW(m->p->a, struct phv_run);
    run->gress = m->gress;
    run->header = h;
    run->bytes = bytes;
    run->loc = at;
    run->whole = ARENA_ARRAY(m->p->a, bool, bytes + 1);
    run->first = m->p->stages;
    run->last = -1;
    run->id = run->cluster = (unsigned)m->p->runs.n;
    VEC_PUSH(m->p->a, &m->p->runs, run);
    return run;
}

// Puts a whole variable at bit 'at' of the run.
static void phv_runs_put(struct making *m, struct phv_run *run, const struct ir_var *v,
                         unsigned at) {
    struct phv_bits b = {v, 0, v->width, at};
    VEC_PUSH(m->p->a, &run->bits, b);
    if (v->id >= m->g->g->ir->vars.n || m->g->g->ir->vars.v[v->id] != v)
        return; // one of ours
    const struct phv_field *f = &m->g->fields[v->id];
    m->of[v->id] = run;
    run->normal = run->normal || phv_runs_touched(f) || f->intrinsic;
    run->first = f->first < run->first ? f->first : run->first;
    run->last = f->last > run->last ? f->last : run->last;
    if (f->computed && v->width <= 32)
        for (unsigned i = at / 8 + 1; i * 8 < at + v->width; i++)
            run->whole[i] = true;
}

// ---- headers ------------------------------------------------------------------------------------
// Two neighbouring fields of a header whose boundary is one of bytes, both touched by the stages.
static bool may_pack(const struct phv_field *a, const struct phv_field *b) {
    if (a->computed || b->computed)
        return false;
    return (!a->written && !b->written) || a->ways == b->ways;
}

// Fields i to j - 1 of the header, which begin and end at bytes.
static void header_run(struct making *m, const struct ir_header *h, size_t i, size_t j) {
    const struct ir_var *first = h->fields.v[i], *last = h->fields.v[j - 1];
    unsigned from = first->bit_offset / 8, to = (last->bit_offset + last->width + 7) / 8;
    struct phv_run *run = new_run(m, h, to - from, h->at);
    run->exact = m->g->emitted[h->id];
    for (; i < j; i++)
        phv_runs_put(m, run, h->fields.v[i], h->fields.v[i]->bit_offset - from * 8);
}

// The field after the last that begins in field i's bytes: up to there no cut is possible.
static size_t chunk_end(const struct ir_header *h, size_t i) {
    do
        i++;
    while (i < h->fields.n && h->fields.v[i]->bit_offset % 8 != 0);
    return i;
}

static bool chunk_touched(const struct phv_gress *g, const struct ir_header *h, size_t i,
                          size_t j) {
    for (; i < j; i++)
        if (phv_runs_touched(&g->fields[h->fields.v[i]->id]))
            return true;
    return false;
}

static unsigned chunk_bytes(const struct ir_header *h, size_t i, size_t j) {
    const struct ir_var *last = h->fields.v[j - 1];
    return (last->bit_offset + last->width) / 8 - h->fields.v[i]->bit_offset / 8;
}

static void emitted_header(struct making *m, const struct ir_header *h) {
    const struct phv_gress *g = m->g;
    size_t i = 0;
    while (i < h->fields.n) {
        size_t j = chunk_end(h, i);
        bool normal = chunk_touched(g, h, i, j);
        while (j < h->fields.n) {
            size_t k = chunk_end(h, j);
            if (chunk_touched(g, h, j, k) != normal)
                break;
            if (normal &&
                (chunk_bytes(h, i, k) > PACK_BYTES ||
                 !may_pack(&g->fields[h->fields.v[j - 1]->id], &g->fields[h->fields.v[j]->id])))
                break;
            j = k;
        }
        header_run(m, h, i, j);
        i = j;
    }
}

// Of a header that is only parsed: the bytes of fields that somebody needs.
static bool needed(const struct phv_gress *g, const struct ir_var *v) {
    const struct phv_field *f = &g->fields[v->id];
    return f->intrinsic || ((f->read || f->deparsed) && !is_dead(g, v));
}

static void parsed_header(struct making *m, const struct ir_header *h) {
    for (size_t i = 0; i < h->fields.n; i++) {
        if (!needed(m->g, h->fields.v[i]))
            continue;
        const struct ir_var *v = h->fields.v[i];
        unsigned from = v->bit_offset / 8, to = (v->bit_offset + v->width + 7) / 8;
        size_t j = i + 1;
        for (; j < h->fields.n && h->fields.v[j]->bit_offset < to * 8; j++)
            if (needed(m->g, h->fields.v[j]))
                to = (h->fields.v[j]->bit_offset + h->fields.v[j]->width + 7) / 8;
        struct phv_run *run = new_run(m, h, to - from, h->at);
        for (size_t k = i; k < j; k++)
            if (needed(m->g, h->fields.v[k]))
                phv_runs_put(m, run, h->fields.v[k], h->fields.v[k]->bit_offset - from * 8);
        i = j - 1;
    }
}

// ---- metadata, validity bits --------------------------------------------------------------------
static bool metadata_lives(const struct making *m, const struct ir_var *v) {
    const struct phv_field *f = &m->g->fields[v->id];
    if (is_dead(m->g, v))
        return false;
    if (f->intrinsic)
        return true;
    if (!f->read && !f->deparsed)
        return false;
    // What one unit both writes and reads goes from instruction to instruction.
    if (f->written && f->read && !f->several && !f->parsed && !f->deparsed)
        return false;
    return f->read || f->written || (f->parsed && f->deparsed);
}

static bool phv_runs_may_share(const struct making *m, const struct phv_run *run,
                               const struct ir_var *v) {
    const struct phv_field *f = &m->g->fields[v->id];
    for (size_t i = 0; i < run->bits.n; i++) {
        const struct phv_field *o = &m->g->fields[run->bits.v[i].var->id];
        if (f->written && o->written && f->unit != o->unit && f->first_write == o->first_write)
            return false;
    }
    return true;
}

#define OPEN 64u // bytes that still have room, of those begun last

// Small fields share a byte as long as no two tables write it in one stage.
static bool phv_runs_join(struct making *m, phv_run_vec *open, const struct ir_var *v) {
    const struct phv_field *f = &m->g->fields[v->id];
    for (size_t i = open->n > OPEN ? open->n - OPEN : 0; i < open->n; i++) {
        struct phv_run *run = open->v[i];
        unsigned used = 0;
        for (size_t k = 0; k < run->bits.n; k++)
            used += run->bits.v[k].width;
        if (used + v->width > run->bytes * 8 || !phv_runs_may_share(m, run, v) ||
            (f->first == -1) != (run->first == -1))
            continue;
        phv_runs_put(m, run, v, run->bytes * 8 - used - v->width);
        return true;
    }
    return false;
}

static void metadata(struct making *m, const bool *special) {
    const struct ir_gress *ir = m->g->g->ir;
    phv_run_vec open = {0};
    for (size_t i = 0; i < ir->vars.n; i++) {
        const struct ir_var *v = ir->vars.v[i];
        const struct phv_field *f = &m->g->fields[i];
        if (v->header || special[i] || v->width == 0 || !metadata_lives(m, v))
            continue;
        bool small = v->width < 8 && !f->computed && !f->intrinsic && !f->deparsed;
        if (small && phv_runs_join(m, &open, v))
            continue;
        unsigned bytes = (v->width + 7) / 8;
        struct phv_run *run = new_run(m, NULL, bytes, v->at);
        phv_runs_put(m, run, v, bytes * 8 - v->width);
        run->normal = true;
        if (f->intrinsic)
            run->first = -1; // the chip looks at the container, whoever wrote it
        if (small)
            VEC_PUSH(m->p->a, &open, run);
    }
}

static void validity(struct making *m) {
    const struct ir_gress *ir = m->g->g->ir;
    unsigned n = 0, at = 0;
    for (int pass = 0; pass < 2; pass++) {
        struct phv_run *run =
            pass == 0 || n == 0 ? NULL : new_run(m, NULL, (n + 7) / 8, (struct loc){0});
        if (run)
            at = run->bytes * 8;
        for (size_t i = 0; i < ir->headers.n; i++) {
            const struct ir_header *h = ir->headers.v[i];
            if (!h->valid || h->intrinsic || !phv_header_lives(m->p, m->gress, h))
                continue;
            struct phv_field *f = &m->g->fields[h->valid->id];
            if (!m->g->emitted[i] && !f->read)
                continue;
            if (pass == 0)
                n++;
            if (!run)
                continue;
            f->first = -1;
            f->last = m->g->emitted[i] ? m->p->stages : f->last;
            phv_runs_put(m, run, h->valid, --at);
        }
        if (run) {
            run->normal = true;
            run->first = -1;
            run->last = m->p->stages;
        }
    }
}

// What the chip's compiler adds: fields that no program names.
static void hidden(struct making *m, const char *name, unsigned bits, int first, int last,
                   bool normal, unsigned id) {
    struct ir_var *v = ARENA_NEW(m->p->a, struct ir_var);
    v->id = (unsigned)m->g->g->ir->vars.n + id;
    v->name = name;
    v->width = bits;
    struct phv_run *run = new_run(m, NULL, (bits + 7) / 8, (struct loc){0});
    phv_runs_put(m, run, v, run->bytes * 8 - bits);
    run->normal = normal;
    run->exact = !normal;
    run->first = first;
    run->last = last;
}

#define MIN_DEPTH  65u // bytes that an egress parser takes at least (tna-facts 3.4)
#define PAD_HEADER 11u // in headers of this size

static void additions(struct making *m) {
    const struct ir_gress *ir = m->g->g->ir;
    int end = m->p->stages;
    unsigned id = 0;
    if (m->p->r->target != CHIP_TOFINO1)
        return;
    if (m->gress == IR_INGRESS) {
        // Mirror type 0 of an ingress is taken (tna-facts 5.5): its type is always looked at.
        const struct ir_var *type = ir->intrinsic[IRI_MIRROR_TYPE];
        if (!type || !m->of[type->id])
            hidden(m, "$mirror_type", 3, -1, end, true, id++);
        hidden(m, "$mirror_session_0", 10, end, end, true, id++);
    } else if (m->g->parses && m->g->min_depth < MIN_DEPTH) {
        unsigned pads = (MIN_DEPTH - m->g->min_depth + PAD_HEADER - 1) / PAD_HEADER;
        for (unsigned i = 0; i < pads; i++)
            hidden(m, arena_printf(m->p->a, "$padding[%u]", i), PAD_HEADER * 8, -1, end, false,
                   id++);
        hidden(m, "$padding.$valid", pads, -1, end, true, id++);
    }
}

// ---- clusters -----------------------------------------------------------------------------------
static unsigned root(const struct phv *p, unsigned i) {
    struct phv_run **runs = p->runs.v;
    while (runs[i]->cluster != i)
        i = runs[i]->cluster = runs[runs[i]->cluster]->cluster;
    return i;
}

static void link_runs(struct making *m, const struct ir_var *a, const struct ir_var *b) {
    size_t n = m->g->g->ir->vars.n;
    if (!a || !b || a->id >= n || b->id >= n || !m->of[a->id] || !m->of[b->id])
        return;
    unsigned x = root(m->p, m->of[a->id]->id), y = root(m->p, m->of[b->id]->id);
    m->p->runs.v[x > y ? x : y]->cluster = x > y ? y : x;
}

// Into @padding before a field its carry may go, so that they may be in one container.
static bool phv_runs_is_after_padding(const struct ir_var *v) {
    for (size_t i = 1; v->header && i < v->header->fields.n; i++)
        if (v->header->fields.v[i] == v)
            return v->header->fields.v[i - 1]->padding;
    return false;
}

// What an ALU computes, and what the chip itself reads, is in one container; of an emitted header's
// field that is alone in its bytes no larger one.
static void settle_sizes(struct making *m, struct phv_run *run) {
    run->least = 1;
    run->most = 4;
    for (size_t i = 0; i < run->bits.n; i++) {
        const struct ir_var *v = run->bits.v[i].var;
        if (v->id >= m->g->g->ir->vars.n || m->g->g->ir->vars.v[v->id] != v || v->width > 32)
            continue;
        const struct phv_field *f = &m->g->fields[v->id];
        unsigned bytes = v->width > 16 ? 4 : v->width > 8 ? 2 : 1;
        if ((f->result || f->intrinsic) && bytes > run->least)
            run->least = bytes;
        if (f->result && run->exact && run->bits.n == 1 && run->bytes == bytes &&
            !phv_runs_is_after_padding(v))
            run->most = bytes;
    }
}

// Two fields of one instruction are in containers of one size.
static void check_sizes(struct making *m, const struct chip_op *op, const struct ir_var *from) {
    size_t n = m->g->g->ir->vars.n;
    if (!op->to.var || op->to.var->id >= n || from->id >= n)
        return;
    const struct phv_run *a = m->of[op->to.var->id], *b = m->of[from->id];
    if (!a || !b || (a->least <= b->most && b->least <= a->most))
        return;
    const struct phv_run *small = a->most < b->least ? a : b, *large = small == a ? b : a;
    struct chip_violation *v = chip_violate(
        m->p->r, "phv-size", op->stmt ? op->stmt->at : op->to.var->at,
        arena_printf(m->p->a,
                     "%s and %s are in one instruction, so they need containers of one size; %s, "
                     "which is computed and emitted, takes one of %u bits, the other at least %u",
                     op->to.var->name, from->name, small == a ? op->to.var->name : from->name,
                     small->most * 8, large->least * 8),
        "compute in a metadata field of the larger size, and copy the result");
    v->limit = small->most * 8;
    v->used = large->least * 8;
}

static void clusters(struct making *m) {
    for (size_t i = 0; i < m->p->runs.n; i++)
        if (m->p->runs.v[i]->gress == m->gress)
            settle_sizes(m, m->p->runs.v[i]);
    for (size_t i = 0; i < m->g->g->units.n; i++) {
        const struct chip_unit *u = &m->g->g->units.v[i];
        for (size_t j = 0; j < u->actions.n; j++)
            for (size_t k = 0; k < u->actions.v[j].ops.n; k++) {
                const struct chip_op *op = &u->actions.v[j].ops.v[k];
                for (size_t l = 0; !op->dead && !op->hash && l < op->from.n; l++) {
                    link_runs(m, op->to.var, op->from.v[l].var);
                    check_sizes(m, op, op->from.v[l].var);
                }
            }
    }
}

void phv_runs(struct phv *p) {
    for (unsigned g = 0; g < 2; g++) {
        struct making m = {.p = p, .gress = g, .g = &p->gress[g]};
        const struct ir_gress *ir = m.g->g->ir;
        m.of = ARENA_ARRAY(p->a, struct phv_run *, ir->vars.n + 1);
        // Variables that are no metadata: validity bits of headers, and, on a Tofino 1, whether a
        // field of the architecture was assigned, which its container tells, unless the program
        // asks.
        bool *special = ARENA_ARRAY(p->a, bool, ir->vars.n + 1);
        for (size_t i = 0; i < ir->vars.n; i++)
            if (ir->vars.v[i]->valid && p->r->target == CHIP_TOFINO1 &&
                !m.g->fields[ir->vars.v[i]->valid->id].read)
                special[ir->vars.v[i]->valid->id] = true;
        for (size_t i = 0; i < ir->headers.n; i++) {
            const struct ir_header *h = ir->headers.v[i];
            if (h->valid)
                special[h->valid->id] = true;
            if (!phv_header_lives(p, g, h))
                continue;
            if (m.g->emitted[i])
                emitted_header(&m, h);
            else
                parsed_header(&m, h);
        }
        metadata(&m, special);
        validity(&m);
        additions(&m);
        clusters(&m);
    }
    for (size_t i = 0; i < p->runs.n; i++)
        p->runs.v[i]->cluster = root(p, (unsigned)i);
}
