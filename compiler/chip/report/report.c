// SPDX-License-Identifier: Apache-2.0
#include "compiler/chip/report/report_impl.h"

#include <stdlib.h>
#include <string.h>

static unsigned pipe_stages(const struct chip_pipe *p) {
    const unsigned in = p->gress[IR_INGRESS].stages, out = p->gress[IR_EGRESS].stages;
    return in > out ? in : out;
}

const struct chip_pipe *report_fullest(const struct chip_report *r) {
    const struct chip_pipe *fullest = NULL;
    for (size_t i = 0; i < r->pipes.n; i++)
        if (!fullest || pipe_stages(r->pipes.v[i]) > pipe_stages(fullest))
            fullest = r->pipes.v[i];
    return fullest;
}

const char *report_gress(enum ir_gress_kind kind) {
    return kind == IR_INGRESS ? "ingress" : "egress";
}

const char *report_unit_kind(const struct chip_unit *u) {
    static const char *const names[] = {
        [CHIP_TABLE] = "table", [CHIP_KEYLESS] = "keyless", [CHIP_GATEWAY] = "gateway"};
    return names[u->kind];
}

const char *report_bits(const struct chip_report *r, struct chip_bits bits) {
    if (bits.lo == 0 && bits.width == bits.var->width)
        return bits.var->name;
    if (bits.width == 1)
        return arena_printf(r->arena, "%s[%u]", bits.var->name, bits.lo);
    return arena_printf(r->arena, "%s[%u:%u]", bits.var->name, bits.lo + bits.width - 1, bits.lo);
}

const char *report_name(const struct chip_pipe *p, const struct chip_unit *u) {
    const char *name = u->name;
    const size_t n = strlen(p->ir->name);
    if (u->kind != CHIP_TABLE || strncmp(name, p->ir->name, n) != 0 || name[n] != '.')
        return name;
    name += n + 1;
    const char *dot = strchr(name, '.');
    return dot && dot[1] ? dot + 1 : name;
}

const char *report_place(const struct chip_report *r, struct loc at) {
    if (!at.line)
        return "";
    const char *path = diag_path(r->diag, at.file), *slash = strrchr(path, '/');
    return arena_printf(r->arena, "%s:%u", slash ? slash + 1 : path, at.line);
}

const char *report_reason(const struct chip_report *r, const struct chip_dep *d) {
    const bool anti = d->kind == CHIP_DEP_ANTI, output = d->kind == CHIP_DEP_OUTPUT;
    const char *text = chip_dep_names[d->kind];
    if (d->bits.var)
        text = arena_printf(r->arena, "%s: %s", text, report_bits(r, d->bits));
    if (d->writer.line)
        text = arena_printf(r->arena, "%s, written at %s", text, report_place(r, d->writer));
    if (d->reader.line)
        text = arena_printf(r->arena, "%s, %s at %s", text,
                            output ? "and again"
                            : anti ? "read before"
                                   : "read",
                            report_place(r, d->reader));
    return d->ignored ? arena_printf(r->arena, "%s (ignored by annotation)", text) : text;
}

// Of several the one that keeps them furthest apart; the first of those.
const struct chip_dep *report_edge(const struct chip_gress *g, unsigned from, unsigned to) {
    const struct chip_dep *best = NULL;
    for (size_t i = 0; i < g->deps.n; i++) {
        const struct chip_dep *d = &g->deps.v[i];
        if (d->from == from && d->to == to &&
            (!best || chip_dep_distance(d) > chip_dep_distance(best)))
            best = d;
    }
    return best;
}

unsigned report_first_stage(const struct chip_unit *u) {
    return u->parts.n ? u->parts.v[0].stage : 0;
}

bool report_in_stage(const struct chip_unit *u, unsigned stage) {
    for (size_t i = 0; i < u->parts.n; i++)
        if (u->parts.v[i].stage == stage)
            return true;
    return false;
}

unsigned report_used(const struct chip_pipe *p, unsigned stage, unsigned resource) {
    return stage < p->stages.n ? p->stages.v[stage][resource] : 0;
}

uint64_t report_total(const struct chip_pipe *p, unsigned resource) {
    uint64_t total = 0;
    for (unsigned s = 0; s < p->stages.n; s++)
        total += p->stages.v[s][resource];
    return total;
}

unsigned report_peak(const struct chip_pipe *p, unsigned resource, unsigned *stage) {
    unsigned peak = 0;
    *stage = 0;
    for (unsigned s = 0; s < p->stages.n; s++)
        if (p->stages.v[s][resource] > peak) {
            peak = p->stages.v[s][resource];
            *stage = s;
        }
    return peak;
}

bool report_stage_in_use(const struct chip_pipe *p, unsigned stage) {
    for (unsigned g = 0; g < 2; g++)
        for (size_t i = 0; i < p->gress[g].units.n; i++)
            if (report_in_stage(&p->gress[g].units.v[i], stage))
                return true;
    return false;
}

static int by_number(const void *x, const void *y) {
    const unsigned a = *(const unsigned *)x, b = *(const unsigned *)y;
    return (a > b) - (a < b);
}

struct report_stages report_stages(const struct chip_report *r, const struct chip_pipe *p) {
    VEC(unsigned) all = {0};
    for (unsigned s = 0; s < r->limits->stages; s++)
        VEC_PUSH(r->arena, &all, s);
    for (unsigned g = 0; g < 2; g++)
        for (size_t i = 0; i < p->gress[g].units.n; i++) {
            const struct chip_unit *u = &p->gress[g].units.v[i];
            for (size_t k = 0; k < u->parts.n; k++)
                VEC_PUSH(r->arena, &all, u->parts.v[k].stage);
        }
    qsort(all.v, all.n, sizeof *all.v, by_number);
    struct report_stages shown = {all.v, 0};
    for (size_t i = 0; i < all.n; i++)
        if (!shown.n || shown.v[shown.n - 1] != all.v[i])
            shown.v[shown.n++] = all.v[i];
    return shown;
}
