// SPDX-License-Identifier: Apache-2.0
//
// check: whether an allocation contradicts itself, the program, or the chip. For tests; see phv.h.
#include "compiler/chip/phv/phv_impl.h"

#include <string.h>

struct checking {
    struct phv p;
    const char *wrong;
    uint8_t **seen; // of the gress being looked at, by variable id: its bits that have a container
};

static void phv_check_say(struct checking *c, const char *text) {
    if (!c->wrong)
        c->wrong = text;
}

static const char *box_name(struct checking *c, const struct chip_container *b) {
    return arena_printf(c->p.a, "%s%u[%u]", b->tagalong ? "tagalong " : "", b->size, b->number);
}

static int size_index(unsigned size) {
    return size == 8 ? 0 : size == 16 ? 1 : size == 32 ? 2 : -1;
}

static void check_box(struct checking *c, const struct chip_container *b) {
    const struct chip_limits *l = c->p.r->limits;
    int size = size_index(b->size);
    if (size < 0 || b->number >= (b->tagalong ? l->tagalong[size] : l->containers[size]) ||
        b->gress < 0 || b->gress > 1) {
        phv_check_say(c, arena_printf(c->p.a, "%s is not a container of the chip", box_name(c, b)));
        return;
    }
    if (!b->tagalong && l->phv_own_groups > 0 &&
        b->number / l->phv_group_size == (b->gress == IR_INGRESS ? 1u : 0u))
        phv_check_say(c, arena_printf(c->p.a, "%s is the other gress's", box_name(c, b)));
    for (size_t i = 0; i < b->slices.n; i++) {
        const struct chip_slice *s = &b->slices.v[i];
        if (s->bits.width == 0 || s->container_lo + s->bits.width > b->size ||
            s->bits.lo + s->bits.width > s->bits.var->width || s->first_stage > s->last_stage)
            phv_check_say(c, arena_printf(c->p.a, "%s in %s: bits or stages beyond",
                                          s->bits.var->name, box_name(c, b)));
        for (size_t k = 0; k < i; k++) {
            const struct chip_slice *o = &b->slices.v[k];
            bool bits = s->container_lo < o->container_lo + o->bits.width &&
                        o->container_lo < s->container_lo + s->bits.width;
            bool time = s->first_stage <= o->last_stage && o->first_stage <= s->last_stage;
            if (bits && time &&
                phv_together(&c->p, (unsigned)b->gress, s->bits.var->header, o->bits.var->header))
                phv_check_say(c, arena_printf(c->p.a, "%s and %s meet in %s", s->bits.var->name,
                                              o->bits.var->name, box_name(c, b)));
        }
    }
}

// No lot of containers, no group of tagalong ones, has containers of both gresses.
static void check_owners(struct checking *c) {
    const struct chip_limits *l = c->p.r->limits;
    const struct chip_phv *phv = &c->p.pipe->phv;
    for (size_t i = 0; i < phv->containers.n; i++)
        for (size_t k = 0; k < i; k++) {
            const struct chip_container *a = &phv->containers.v[i], *b = &phv->containers.v[k];
            int x = size_index(a->size), y = size_index(b->size);
            if (x < 0 || y < 0 || a->tagalong != b->tagalong)
                continue;
            if (x == y && a->number == b->number)
                phv_check_say(c, arena_printf(c->p.a, "%s is listed twice", box_name(c, a)));
            if (a->gress == b->gress)
                continue;
            if (!a->tagalong && x == y && a->number / l->phv_lot[x] == b->number / l->phv_lot[x])
                phv_check_say(c, arena_printf(c->p.a, "%s and its neighbour %u are of two gresses",
                                              box_name(c, a), b->number));
            unsigned n = l->tagalong_collections;
            if (a->tagalong && n > 0 &&
                a->number / (l->tagalong[x] / n) == b->number / (l->tagalong[y] / n))
                phv_check_say(
                    c, arena_printf(c->p.a, "collection of %s is of two gresses", box_name(c, a)));
        }
}

static void phv_check_see(struct checking *c, unsigned g) {
    const struct ir_gress *ir = c->p.gress[g].g->ir;
    const struct chip_phv *phv = &c->p.pipe->phv;
    c->seen = ARENA_ARRAY(c->p.a, uint8_t *, ir->vars.n + 1);
    for (size_t i = 0; i < phv->containers.n; i++) {
        const struct chip_container *b = &phv->containers.v[i];
        for (size_t k = 0; b->gress == (int)g && k < b->slices.n; k++) {
            struct chip_bits s = b->slices.v[k].bits;
            if (s.var->id >= ir->vars.n || ir->vars.v[s.var->id] != s.var)
                continue; // one that the chip's compiler adds
            if (!c->seen[s.var->id])
                c->seen[s.var->id] = ARENA_ARRAY(c->p.a, uint8_t, s.var->width);
            for (unsigned bit = s.lo; bit < s.lo + s.width && bit < s.var->width; bit++)
                if (c->seen[s.var->id][bit]++)
                    phv_check_say(c, arena_printf(c->p.a, "bit %u of %s has two containers", bit,
                                                  s.var->name));
        }
    }
}

static void phv_check_need(struct checking *c, const struct ir_var *v, unsigned lo,
                           unsigned width) {
    for (unsigned bit = lo; bit < lo + width && bit < v->width; bit++)
        if (!c->seen[v->id] || !c->seen[v->id][bit]) {
            phv_check_say(c, arena_printf(c->p.a, "bit %u of %s has no container", bit, v->name));
            return;
        }
}

// The validity of a header that is never there is a constant.
static bool phv_check_is_constant(const struct checking *c, unsigned g, const struct ir_var *v) {
    const struct ir_gress *ir = c->p.gress[g].g->ir;
    for (size_t i = 0; i < ir->headers.n; i++)
        if (ir->headers.v[i]->valid == v)
            return !phv_header_lives(&c->p, g, ir->headers.v[i]);
    return v->header && !phv_header_lives(&c->p, g, v->header);
}

// What a unit reads that another writes, or the parser does, is somewhere while it runs.
static void check_reads(struct checking *c, unsigned g, const chip_bits_vec *bits,
                        const struct chip_unit *u) {
    const struct phv_gress *pg = &c->p.gress[g];
    const struct chip_phv *phv = &c->p.pipe->phv;
    for (size_t i = 0; i < bits->n; i++) {
        const struct ir_var *v = bits->v[i].var;
        if (v->id >= pg->g->ir->vars.n || (pg->g->dead && pg->g->dead[v->id]))
            continue;
        const struct phv_field *f = &pg->fields[v->id];
        bool from_elsewhere = f->parsed || (f->written && f->several);
        if (!from_elsewhere || phv_check_is_constant(c, g, v))
            continue;
        phv_check_need(c, v, bits->v[i].lo, bits->v[i].width);
        for (size_t b = 0; b < phv->containers.n; b++)
            for (size_t k = 0; k < phv->containers.v[b].slices.n; k++) {
                const struct chip_slice *s = &phv->containers.v[b].slices.v[k];
                for (size_t part = 0; s->bits.var == v && part < u->parts.n; part++) {
                    int stage = (int)u->parts.v[part].stage;
                    if (stage < c->p.stages && (stage < s->first_stage || stage > s->last_stage))
                        phv_check_say(c,
                                      arena_printf(c->p.a,
                                                   "%s is read in stage %d, where it does not live",
                                                   v->name, stage));
                }
            }
    }
}

static void phv_check_program(struct checking *c, unsigned g) {
    const struct phv_gress *pg = &c->p.gress[g];
    for (size_t i = 0; i < pg->g->ir->headers.n; i++) {
        const struct ir_header *h = pg->g->ir->headers.v[i];
        if (!pg->emitted[i] || !phv_header_lives(&c->p, g, h))
            continue;
        for (size_t k = 0; k < h->fields.n; k++)
            if (c->p.r->target == CHIP_TOFINO1)
                phv_check_need(c, h->fields.v[k], 0, h->fields.v[k]->width);
        if (h->valid)
            phv_check_need(c, h->valid, 0, 1);
    }
    for (size_t i = 0; i < pg->g->units.n; i++) {
        const struct chip_unit *u = &pg->g->units.v[i];
        check_reads(c, g, &u->key, u);
        check_reads(c, g, &u->gateway, u);
        for (size_t k = 0; k < u->actions.n; k++)
            check_reads(c, g, &u->actions.v[k].reads, u);
    }
}

const char *chip_phv_wrong(const struct chip_report *r, const struct chip_pipe *pipe) {
    struct checking c = {.p = {.r = (struct chip_report *)r,
                               .pipe = (struct chip_pipe *)pipe,
                               .a = r->arena,
                               .stages = (int)r->limits->stages}};
    for (unsigned g = 0; g < 2; g++)
        c.p.gress[g].g = &pipe->gress[g];
    phv_fields(&c.p);
    for (size_t i = 0; i < pipe->phv.containers.n; i++)
        check_box(&c, &pipe->phv.containers.v[i]);
    check_owners(&c);
    for (unsigned g = 0; g < 2; g++) {
        phv_check_see(&c, g);
        if (pipe->phv.fits)
            phv_check_program(&c, g);
    }
    return c.wrong;
}
