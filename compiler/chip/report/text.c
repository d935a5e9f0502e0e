// SPDX-License-Identifier: Apache-2.0
//
// text: the report for people at a terminal: the answer, the exceeded limits, the stage map, how
// full the chip is, what it is that takes so many stages, containers, parsers, and what is not
// certain.
#include <inttypes.h>
#include <stdlib.h>

#include "compiler/chip/report/report_impl.h"
#include "compiler/chip/report/lines.h"

#define WIDE 76u // from here on the stage map has columns of numbers

struct text {
    struct lines l;
    const struct chip_report *r;
};

#define MOST_SHOWN DIAG_MAX_ERRORS // of the limits that are exceeded

static void chip_text_heading(struct text *t, const char *what) {
    lines_put(&t->l, "\n");
    lines_paragraph(&t->l, 0, 2, INK_STRONG "%s" INK_PLAIN, what);
}

static const char *clean(struct text *t, const char *text) {
    return lines_clean(t->l.a, text);
}

// ---- exceeded limits ----

static void chip_text_note(struct text *t, struct loc at, const char *what) {
    if (at.line)
        lines_put(&t->l, "%s:%u:%u: ", clean(t, diag_path(t->r->diag, at.file)), at.line, at.col);
    lines_put(&t->l, INK_NOTE "note:" INK_PLAIN " %s\n", clean(t, what));
    diag_print_source(t->r->diag, t->l.out, at, t->l.colour);
}

// 'kind': "error:" and its like, with its ink.
static void chip_text_violation(struct text *t, const struct chip_violation *v, const char *kind) {
    struct lines *l = &t->l;
    if (v->at.line)
        lines_put(l, "\n%s:%u:%u: ", clean(t, diag_path(t->r->diag, v->at.file)), v->at.line,
                  v->at.col);
    else
        lines_put(l, "\n%s: ", clean(t, t->r->path));
    lines_put(l, "%s" INK_PLAIN " %s " INK_DIM "[%s]" INK_PLAIN "\n", kind, clean(t, v->message),
              v->rule);
    diag_print_source(t->r->diag, l->out, v->at, l->colour);
    if (v->limit || v->used)
        lines_paragraph(l, 4, 4, "the limit is %" PRIu64 ", this is %" PRIu64, v->limit, v->used);
    for (size_t i = 0; i < v->path.n; i++)
        chip_text_note(t, v->path.v[i].at, v->path.v[i].text);
    if (v->also_text)
        chip_text_note(t, v->also, v->also_text);
    if (v->suggestion)
        lines_paragraph(l, 4, 6, INK_GOOD "try:" INK_PLAIN " %s", clean(t, v->suggestion));
}

// ---- the stage map ----

static const char *unit_text(struct text *t, const struct chip_pipe *p, const struct chip_unit *u,
                             unsigned stage) {
    const char *name = clean(t, report_name(p, u));
    size_t part = 0;
    while (part < u->parts.n && u->parts.v[part].stage != stage)
        part++;
    if (u->parts.n > 1)
        name = arena_printf(t->l.a, "%s %zu/%zu", name, part + 1, u->parts.n);
    name = lines_tied(t->l.a, name);
    return u->kind == CHIP_TABLE     ? name
           : u->kind == CHIP_GATEWAY ? arena_printf(t->l.a, INK_DIM "%s" INK_PLAIN, name)
                                     : arena_printf(t->l.a, INK_DIM "{%s}" INK_PLAIN, name);
}

static const char *units_text(struct text *t, const struct chip_pipe *p, unsigned gress,
                              unsigned stage) {
    char *text = "";
    size_t length;
    FILE *f = open_memstream(&text, &length);
    if (!f)
        return "";
    const struct chip_gress *g = &p->gress[gress];
    bool first = true;
    for (size_t i = 0; i < g->units.n; i++)
        if (report_in_stage(&g->units.v[i], stage)) {
            fprintf(f, "%s%s", first ? "" : ", ", unit_text(t, p, &g->units.v[i], stage));
            first = false;
        }
    if (fclose(f) != 0)
        return "";
    const char *kept = arena_strdup(t->l.a, text);
    free(text);
    return kept;
}

static const char *number_text(struct text *t, const struct chip_pipe *p, unsigned stage,
                               unsigned resource) {
    const unsigned used = report_used(p, stage, resource);
    if (!used)
        return INK_DIM "   ." INK_PLAIN;
    return arena_printf(t->l.a, "%s%4u" INK_PLAIN,
                        used > t->r->limits->per_stage[resource] ? INK_BAD : INK_PLAIN, used);
}

static void map_row(struct text *t, const struct chip_pipe *p, unsigned s, bool wide, bool both) {
    const unsigned width = t->l.width, numbers = wide ? 3 * 6 : 0;
    const unsigned names = width - 7 - numbers;
    struct lines_cell cells[6];
    size_t n = 0;
    cells[n++] = (struct lines_cell){
        arena_printf(t->l.a, "%s%5u", s >= t->r->limits->stages ? INK_BAD : INK_PLAIN, s), 5};
    for (unsigned i = 0; wide && i < 3; i++) {
        static const unsigned shown[] = {CHIP_SRAM, CHIP_TCAM, CHIP_STATEFUL_ALUS};
        cells[n++] = (struct lines_cell){number_text(t, p, s, shown[i]), 4};
    }
    const char *in = units_text(t, p, IR_INGRESS, s), *out = units_text(t, p, IR_EGRESS, s);
    if (both && width >= 60) {
        cells[n++] = (struct lines_cell){in, (names - 2) / 2};
        cells[n++] = (struct lines_cell){out, 0};
    } else if (both) { // under each other
        cells[n++] = (struct lines_cell){in, 0};
        if (*in || !*out)
            lines_row(&t->l, 0, cells, n);
        if (*out) {
            if (*in)
                cells[0].text = "";
            cells[n - 1] = (struct lines_cell){
                arena_printf(t->l.a, INK_NOTE "egress:" INK_PLAIN " %s", out), 0};
            lines_row(&t->l, 0, cells, n);
        }
        return;
    } else {
        cells[n++] = (struct lines_cell){*in ? in : out, 0};
    }
    lines_row(&t->l, 0, cells, n);
}

static void stage_map(struct text *t, const struct chip_pipe *p) {
    const struct report_stages shown = report_stages(t->r, p);
    const bool wide = t->l.width >= WIDE;
    const bool in = p->gress[IR_INGRESS].units.n, out = p->gress[IR_EGRESS].units.n;
    chip_text_heading(t, "Stage map");
    if (!in && !out) {
        lines_paragraph(&t->l, 2, 2, "no tables, no statements: nothing takes a stage");
        return;
    }
    const unsigned names = t->l.width - 7 - (wide ? 18 : 0);
    struct lines_cell cells[6] = {{INK_DIM "stage", 5}};
    size_t k = 1;
    if (wide) {
        cells[k++] = (struct lines_cell){INK_DIM "SRAM", 4};
        cells[k++] = (struct lines_cell){INK_DIM "TCAM", 4};
        cells[k++] = (struct lines_cell){INK_DIM "ALUs", 4};
    }
    if (in)
        cells[k++] =
            (struct lines_cell){INK_DIM "ingress", out && t->l.width >= 60 ? (names - 2) / 2 : 0};
    if (out && (!in || t->l.width >= 60))
        cells[k++] = (struct lines_cell){INK_DIM "egress", 0};
    lines_row(&t->l, 0, cells, k);
    for (size_t i = 0; i < shown.n;) {
        size_t next = i; // several free stages are one line
        while (next < shown.n && !report_stage_in_use(p, shown.v[next]))
            next++;
        if (next > i + 1)
            lines_put(&t->l, INK_DIM "%2u to %u are free" INK_PLAIN "\n", shown.v[i],
                      shown.v[next - 1]);
        else
            map_row(t, p, shown.v[i], wide, in && out);
        i = next > i + 1 ? next : i + 1;
    }
    lines_paragraph(&t->l, 0, 0,
                    INK_DIM
                    "a name alone is a table, one in braces stands for statements between "
                    "tables, 'if' for a condition with a gateway of its own; 2/3 is the second "
                    "of three stages that a table is spread over" INK_PLAIN);
}

// ---- resources ----

static void bar(struct text *t, uint64_t used, uint64_t limit, unsigned width) {
    const char *const inks[] = {INK_GOOD, INK_WARN, INK_BAD};
    if (width < 4)
        return;
    unsigned full = limit ? (unsigned)(used * (width - 2) / limit) : 0;
    if (full > width - 2)
        full = width - 2;
    if (used && !full)
        full = 1;
    lines_put(&t->l, "  [%s", inks[used > limit ? 2 : used * 10 > limit * 8]);
    for (unsigned i = 0; i < width - 2; i++) {
        if (i == full)
            lines_put(&t->l, INK_DIM);
        fputc(i < full ? '#' : '.', t->l.out);
    }
    lines_put(&t->l, INK_PLAIN "]");
}

static void resources(struct text *t, const struct chip_pipe *p) {
    const struct chip_limits *limits = t->r->limits;
    // title 24, "  1234 of 1234", "  stage 12", "  12345 of 12345"
    const unsigned width = t->l.width, rest = width > 52 ? width - 52 : 0;
    const bool totals = width >= 70;
    chip_text_heading(t, "Resources, in the stage that has most of each");
    for (unsigned i = 0; i < CHIP_RESOURCES; i++) {
        unsigned stage;
        const unsigned most = report_peak(p, i, &stage);
        lines_put(&t->l, "  %-24s", chip_resource_titles[i]);
        if (!most) {
            lines_put(&t->l, INK_DIM "  none" INK_PLAIN "\n");
            continue;
        }
        lines_put(&t->l, width < 52 ? "%5u of %u" : "%5u of %-4u", most, limits->per_stage[i]);
        if (width >= 52)
            lines_put(&t->l, rest < 4 ? " stage %u" : " stage %-2u", stage);
        if (rest)
            bar(t, most, limits->per_stage[i], totals ? rest - 17 > 22 ? 22 : rest - 17 : rest);
        if (totals)
            lines_put(&t->l, "  %5" PRIu64 " of %u", report_total(p, i),
                      limits->per_stage[i] * limits->stages);
        fputc('\n', t->l.out);
    }
    if (totals)
        lines_put(&t->l, INK_DIM "  the last column is of all %u stages" INK_PLAIN "\n",
                  limits->stages);
}

// ---- the critical path ----

static void critical_path(struct text *t, const struct chip_pipe *p, unsigned gress) {
    const struct chip_gress *g = &p->gress[gress];
    if (!g->critical_path.n)
        return;
    const unsigned last = g->critical_path.v[g->critical_path.n - 1];
    chip_text_heading(t,
                      arena_printf(t->l.a, "Critical path of %s: %u stages by dependencies alone",
                                   report_gress(g->kind), g->units.v[last].earliest + 1));
    for (size_t i = 0; i < g->critical_path.n; i++) {
        const struct chip_unit *u = &g->units.v[g->critical_path.v[i]];
        const struct chip_dep *d = i ? report_edge(g, g->critical_path.v[i - 1], u->id) : NULL;
        if (d)
            lines_paragraph(&t->l, 9, 2, INK_DIM "^ %s" INK_PLAIN,
                            clean(t, report_reason(t->r, d)));
        struct lines_cell cells[] = {
            {arena_printf(t->l.a, "%5u", u->earliest), 5},
            {arena_printf(t->l.a, "%s" INK_DIM "%s%s", clean(t, report_name(p, u)),
                          u->kind == CHIP_TABLE ? "  " : "",
                          u->kind == CHIP_TABLE ? clean(t, report_place(t->r, u->at)) : ""),
             0}};
        lines_row(&t->l, 0, cells, 2);
    }
}

// ---- PHV, parsers, deparsers ----

static void phv_line(struct text *t, const char *kind, unsigned size, const unsigned used[2],
                     unsigned limit) {
    if (!limit && !used[0] && !used[1])
        return;
    const unsigned sum = used[0] + used[1];
    lines_put(&t->l, "  %2u%-9s%7u%7u  %4u of %u", size, kind, used[IR_INGRESS], used[IR_EGRESS],
              sum, limit);
    if (t->l.width >= 60)
        bar(t, sum, limit, t->l.width - 44 > 24 ? 24 : t->l.width - 44);
    fputc('\n', t->l.out);
}

static void phv(struct text *t, const struct chip_pipe *p) {
    static const unsigned sizes[] = {8, 16, 32};
    const struct chip_limits *limits = t->r->limits;
    chip_text_heading(t, "PHV containers (estimate)");
    lines_put(&t->l, INK_DIM "  %-11s%7s%7s  in use" INK_PLAIN "\n", "bits", "ingress", "egress");
    for (unsigned i = 0; i < 3; i++)
        phv_line(t, "", sizes[i], (unsigned[]){p->phv.used[0][i], p->phv.used[1][i]},
                 limits->containers[i]);
    for (unsigned i = 0; i < 3; i++)
        phv_line(t, " tagalong", sizes[i],
                 (unsigned[]){p->phv.tagalong_used[0][i], p->phv.tagalong_used[1][i]},
                 limits->tagalong[i]);
    lines_paragraph(&t->l, 2, 2, "fields hold %u bits in ingress and %u in egress",
                    p->phv.bits_used[IR_INGRESS], p->phv.bits_used[IR_EGRESS]);
}

static void ends(struct text *t, const struct chip_pipe *p) {
    const struct chip_limits *limits = t->r->limits;
    chip_text_heading(t, "Parsers and deparsers");
    for (unsigned g = 0; g < 2; g++) {
        const struct chip_parser *x = &p->parser[g];
        lines_paragraph(
            &t->l, 2, 4,
            "%s parser: %u states, %u of %u TCAM rows, %u to %u bytes deep of %u, %u of %u "
            "checksum units",
            report_gress((enum ir_gress_kind)g), x->states, x->rows, limits->parser_rows,
            x->min_depth, x->max_depth, limits->parser_depth[g], x->checksums,
            limits->parser_checksums);
    }
    for (unsigned g = 0; g < 2; g++) {
        const struct chip_deparser *x = &p->deparser[g];
        const char *more = g ? ""
                             : arena_printf(t->l.a,
                                            ", %u of %u resubmit bytes, %u of %u digests, %u "
                                            "bytes bridged to egress",
                                            x->resubmit_bytes, limits->resubmit_bytes, x->digests,
                                            limits->digest_types, x->bridged_bytes);
        lines_paragraph(
            &t->l, 2, 4,
            "%s deparser: %u of %u validity (POV) bits, %u of %u entries of its field "
            "dictionary, %u header bytes of %u, %u of %u checksum units, %u of %u mirror "
            "types%s",
            report_gress((enum ir_gress_kind)g), x->pov_bits, limits->pov_bits, x->entries,
            limits->deparser_entries, x->header_bytes, limits->deparser_bytes, x->checksums,
            limits->deparser_checksums, x->mirrors, limits->mirror_types[g], more);
    }
}

// ---- the whole ----

static void chip_text_verdict(struct text *t, const struct chip_pipe *p) {
    const struct chip_report *r = t->r;
    const size_t n = r->violations.n;
    if (r->fits)
        lines_put(&t->l, INK_GOOD "fits %s" INK_PLAIN "\n", r->limits->title);
    else if (chip_verdict(r) == CHIP_MAY_NOT_FIT)
        lines_put(&t->l,
                  INK_NOTE "may not fit %s: %zu limit%s exceeded by the model" INK_PLAIN "\n",
                  r->limits->title, n, n == 1 ? "" : "s");
    else
        lines_put(&t->l, INK_BAD "does not fit %s: %zu limit%s exceeded" INK_PLAIN "\n",
                  r->limits->title, n, n == 1 ? "" : "s");
    if (!p)
        return;
    const unsigned in = p->gress[IR_INGRESS].stages, out = p->gress[IR_EGRESS].stages;
    lines_paragraph(&t->l, 0, 2, "%s: %u of %u stages, %u in ingress, %u in egress%s",
                    clean(t, r->path), in > out ? in : out, r->limits->stages, in, out,
                    r->pipes.n > 1 ? ", in its fullest pipeline" : "");
    if (r->target_of_program && r->target == CHIP_TOFINO2)
        lines_paragraph(&t->l, 0, 2, "for a Tofino 2, because it includes t2na.p4");
}

static void chip_text_notes(struct text *t) {
    if (!t->r->notes.n)
        return;
    chip_text_heading(t, "What is not certain");
    for (size_t i = 0; i < t->r->notes.n; i++)
        lines_paragraph(&t->l, 2, 2, "- %s", clean(t, t->r->notes.v[i]));
}

void chip_print_text(FILE *out, const struct chip_report *r, bool colour, unsigned columns) {
    struct text t = {.l = {.out = out, .a = r->arena, .colour = colour, .width = columns}, .r = r};
    chip_text_verdict(&t, report_fullest(r));
    for (size_t i = 0; i < r->violations.n && i < MOST_SHOWN; i++)
        chip_text_violation(&t, &r->violations.v[i],
                            r->violations.v[i].doubtful ? INK_NOTE "note:" : INK_BAD "error:");
    if (r->violations.n > MOST_SHOWN)
        lines_paragraph(&t.l, 0, 2, "%zu more limits are exceeded; --json has all of them",
                        r->violations.n - MOST_SHOWN);
    for (size_t i = 0; i < r->warnings.n && i < MOST_SHOWN; i++)
        chip_text_violation(&t, &r->warnings.v[i], INK_NOTE "warning:");
    for (size_t i = 0; i < r->pipes.n; i++) {
        const struct chip_pipe *p = r->pipes.v[i];
        if (r->pipes.n > 1)
            chip_text_heading(&t,
                              arena_printf(r->arena, "==== pipeline %s", clean(&t, p->ir->name)));
        stage_map(&t, p);
        resources(&t, p);
        critical_path(&t, p, IR_INGRESS);
        critical_path(&t, p, IR_EGRESS);
        phv(&t, p);
        ends(&t, p);
    }
    chip_text_notes(&t);
}
