// SPDX-License-Identifier: Apache-2.0
//
// json: the report for programs. The form is the manual's; "form" counts changes that a reader
// would trip over.
#include "compiler/chip/report/report_impl.h"
#include "compiler/base/json_out.h"

struct writer {
    struct json_out j;
    const struct chip_report *r;
};

static void chip_json_put_place(struct writer *w, const char *key, struct loc at) {
    struct json_out *j = &w->j;
    if (!at.line) {
        jout_null(j, key);
        return;
    }
    jout_open(j, key, '{');
    jout_string(j, "file", diag_path(w->r->diag, at.file));
    jout_u64(j, "line", at.line);
    jout_u64(j, "column", at.col);
    jout_close(j, '}');
}

static void chip_json_put_text(struct writer *w, const char *key, const char *text) {
    if (text)
        jout_string(&w->j, key, text);
    else
        jout_null(&w->j, key);
}

// ---- violations ----

static void put_violation(struct writer *w, const struct chip_violation *v) {
    struct json_out *j = &w->j;
    jout_open(j, NULL, '{');
    jout_string(j, "rule", v->rule);
    jout_string(j, "message", v->message);
    jout_bool(j, "doubtful", v->doubtful);
    chip_json_put_text(w, "suggestion", v->suggestion);
    if (v->at.line)
        jout_string(j, "file", diag_path(w->r->diag, v->at.file));
    else
        jout_null(j, "file");
    jout_u64(j, "line", v->at.line);
    jout_u64(j, "column", v->at.col);
    if (v->limit || v->used) {
        jout_u64(j, "limit", v->limit);
        jout_u64(j, "used", v->used);
    } else {
        jout_null(j, "limit");
        jout_null(j, "used");
    }
    chip_json_put_place(w, "also", v->also);
    chip_json_put_text(w, "also_text", v->also_text);
    jout_open(j, "path", '[');
    for (size_t i = 0; i < v->path.n; i++) {
        jout_open(j, NULL, '{');
        jout_string(j, "text", v->path.v[i].text);
        chip_json_put_place(w, "at", v->path.v[i].at);
        jout_close(j, '}');
    }
    jout_close(j, ']');
    jout_close(j, '}');
}

static void put_violations(struct writer *w) {
    const struct chip_report *r = w->r;
    jout_open(&w->j, "violations", '[');
    for (size_t i = 0; i < r->violations.n; i++)
        put_violation(w, &r->violations.v[i]);
    jout_close(&w->j, ']');
    jout_open(&w->j, "warnings", '[');
    for (size_t i = 0; i < r->warnings.n; i++)
        put_violation(w, &r->warnings.v[i]);
    jout_close(&w->j, ']');
}

// ---- tables and their stages ----

static void put_resources(struct writer *w, const char *key, const unsigned used[CHIP_RESOURCES]) {
    jout_open(&w->j, key, '{');
    for (unsigned i = 0; i < CHIP_RESOURCES; i++)
        if (used[i])
            jout_u64(&w->j, chip_resource_names[i], used[i]);
    jout_close(&w->j, '}');
}

static void put_unit(struct writer *w, const struct chip_unit *u) {
    struct json_out *j = &w->j;
    jout_open(j, NULL, '{');
    jout_string(j, "name", u->name);
    jout_string(j, "gress", report_gress(u->gress));
    jout_string(j, "kind", report_unit_kind(u));
    jout_u64(j, "id", u->id);
    jout_open(j, "stages", '[');
    for (size_t i = 0; i < u->parts.n; i++)
        jout_u64(j, NULL, u->parts.v[i].stage);
    jout_close(j, ']');
    jout_u64(j, "earliest", u->earliest);
    jout_u64(j, "entries", u->entries);
    put_resources(w, "resources", u->need);
    jout_open(j, "parts", '[');
    for (size_t i = 0; i < u->parts.n; i++) {
        jout_open(j, NULL, '{');
        jout_u64(j, "stage", u->parts.v[i].stage);
        jout_u64(j, "entries", u->parts.v[i].entries);
        put_resources(w, "resources", u->parts.v[i].used);
        jout_close(j, '}');
    }
    jout_close(j, ']');
    chip_json_put_place(w, "at", u->at);
    jout_close(j, '}');
}

static void chip_json_put_tables(struct writer *w, const struct chip_pipe *p) {
    jout_open(&w->j, "tables", '[');
    for (unsigned g = 0; p && g < 2; g++)
        for (size_t i = 0; i < p->gress[g].units.n; i++)
            put_unit(w, &p->gress[g].units.v[i]);
    jout_close(&w->j, ']');
}

static void put_stage_resources(struct writer *w, const struct chip_pipe *p) {
    struct json_out *j = &w->j;
    jout_open(j, "resources", '{');
    jout_open(j, "limits", '{'); // of one stage
    for (unsigned i = 0; i < CHIP_RESOURCES; i++)
        jout_u64(j, chip_resource_names[i], w->r->limits->per_stage[i]);
    jout_close(j, '}');
    jout_open(j, "stages", '[');
    for (unsigned s = 0; p && s < p->stages.n; s++) {
        jout_open(j, NULL, '{');
        jout_u64(j, "stage", s);
        for (unsigned i = 0; i < CHIP_RESOURCES; i++)
            jout_u64(j, chip_resource_names[i], report_used(p, s, i));
        jout_close(j, '}');
    }
    jout_close(j, ']');
    jout_open(j, "totals", '{');
    for (unsigned i = 0; i < CHIP_RESOURCES; i++) {
        unsigned stage = 0;
        jout_open(j, chip_resource_names[i], '{');
        jout_u64(j, "used", p ? report_total(p, i) : 0);
        jout_u64(j, "limit", (uint64_t)w->r->limits->per_stage[i] * w->r->limits->stages);
        jout_u64(j, "most_in_a_stage", p ? report_peak(p, i, &stage) : 0);
        jout_u64(j, "stage", stage);
        jout_close(j, '}');
    }
    jout_close(j, '}');
    jout_close(j, '}');
}

// ---- dependencies ----

static void chip_json_put_edge(struct writer *w, const struct chip_gress *g,
                               const struct chip_dep *d) {
    struct json_out *j = &w->j;
    jout_string(j, "kind", chip_dep_names[d->kind]);
    jout_string(j, "from", g->units.v[d->from].name);
    jout_u64(j, "from_id", d->from);
    jout_string(j, "to", g->units.v[d->to].name);
    jout_u64(j, "to_id", d->to);
    chip_json_put_text(w, "field", d->bits.var ? report_bits(w->r, d->bits) : NULL);
    jout_u64(j, "distance", chip_dep_distance(d));
    jout_bool(j, "ignored", d->ignored);
    chip_json_put_place(w, "writer", d->writer);
    chip_json_put_place(w, "reader", d->reader);
}

static void chip_json_put_path(struct writer *w, const struct chip_gress *g) {
    struct json_out *j = &w->j;
    for (size_t i = 0; i < g->critical_path.n; i++) {
        const struct chip_unit *u = &g->units.v[g->critical_path.v[i]];
        const struct chip_dep *d = i ? report_edge(g, g->critical_path.v[i - 1], u->id) : NULL;
        jout_open(j, NULL, '{');
        jout_string(j, "table", u->name);
        jout_u64(j, "id", u->id);
        jout_u64(j, "earliest", u->earliest);
        if (d) {
            jout_open(j, "because", '{');
            chip_json_put_edge(w, g, d);
            jout_close(j, '}');
        } else {
            jout_null(j, "because");
        }
        jout_close(j, '}');
    }
}

static void put_dependencies(struct writer *w, const struct chip_pipe *p) {
    struct json_out *j = &w->j;
    jout_open(j, "critical_path", '{');
    for (unsigned g = 0; g < 2; g++) {
        jout_open(j, report_gress((enum ir_gress_kind)g), '[');
        if (p)
            chip_json_put_path(w, &p->gress[g]);
        jout_close(j, ']');
    }
    jout_close(j, '}');
    jout_open(j, "dependencies", '[');
    for (unsigned g = 0; p && g < 2; g++)
        for (size_t i = 0; i < p->gress[g].deps.n; i++) {
            jout_open(j, NULL, '{');
            jout_string(j, "gress", report_gress((enum ir_gress_kind)g));
            chip_json_put_edge(w, &p->gress[g], &p->gress[g].deps.v[i]);
            jout_close(j, '}');
        }
    jout_close(j, ']');
}

// ---- PHV ----

static void put_container(struct writer *w, const struct chip_container *c) {
    struct json_out *j = &w->j;
    jout_open(j, NULL, '{');
    jout_u64(j, "size", c->size);
    jout_u64(j, "number", c->number);
    jout_bool(j, "tagalong", c->tagalong);
    chip_json_put_text(w, "gress",
                       c->gress < 0 ? NULL : report_gress((enum ir_gress_kind)c->gress));
    jout_open(j, "fields", '[');
    for (size_t i = 0; i < c->slices.n; i++) {
        const struct chip_slice *s = &c->slices.v[i];
        jout_open(j, NULL, '{');
        jout_string(j, "field", s->bits.var->name);
        jout_u64(j, "lo", s->bits.lo);
        jout_u64(j, "width", s->bits.width);
        jout_u64(j, "container_lo", s->container_lo);
        jout_i64(j, "first_stage", s->first_stage);
        jout_i64(j, "last_stage", s->last_stage);
        jout_close(j, '}');
    }
    jout_close(j, ']');
    jout_close(j, '}');
}

static void put_phv(struct writer *w, const struct chip_pipe *p) {
    static const unsigned sizes[] = {8, 16, 32};
    const struct chip_limits *limits = w->r->limits;
    struct json_out *j = &w->j;
    jout_open(j, "phv", '{');
    jout_bool(j, "fits", p && p->phv.fits);
    jout_open(j, "sizes", '[');
    for (unsigned t = 0; t < 2; t++)
        for (unsigned i = 0; i < 3; i++) {
            jout_open(j, NULL, '{');
            jout_u64(j, "size", sizes[i]);
            jout_bool(j, "tagalong", t);
            jout_u64(j, "limit", t ? limits->tagalong[i] : limits->containers[i]);
            for (unsigned g = 0; g < 2; g++)
                jout_u64(j, report_gress((enum ir_gress_kind)g),
                         !p  ? 0
                         : t ? p->phv.tagalong_used[g][i]
                             : p->phv.used[g][i]);
            jout_close(j, '}');
        }
    jout_close(j, ']');
    jout_open(j, "bits_used", '{');
    for (unsigned g = 0; g < 2; g++)
        jout_u64(j, report_gress((enum ir_gress_kind)g), p ? p->phv.bits_used[g] : 0);
    jout_close(j, '}');
    jout_open(j, "containers", '[');
    for (size_t i = 0; p && i < p->phv.containers.n; i++)
        put_container(w, &p->phv.containers.v[i]);
    jout_close(j, ']');
    jout_close(j, '}');
}

// ---- parser and deparser ----

static void chip_json_put_number(struct writer *w, const char *key, uint64_t used, uint64_t limit) {
    jout_open(&w->j, key, '{');
    jout_u64(&w->j, "used", used);
    jout_u64(&w->j, "limit", limit);
    jout_close(&w->j, '}');
}

static void put_parser(struct writer *w, const struct chip_pipe *p, unsigned g) {
    static const struct chip_parser none;
    const struct chip_parser *x = p ? &p->parser[g] : &none;
    const struct chip_limits *l = w->r->limits;
    jout_open(&w->j, report_gress((enum ir_gress_kind)g), '{');
    jout_u64(&w->j, "states", x->states);
    chip_json_put_number(w, "rows", x->rows, l->parser_rows);
    chip_json_put_number(w, "depth_bytes", x->max_depth, l->parser_depth[g]);
    jout_u64(&w->j, "min_depth_bytes", x->min_depth);
    chip_json_put_number(w, "checksums", x->checksums, l->parser_checksums);
    jout_close(&w->j, '}');
}

static void put_deparser(struct writer *w, const struct chip_pipe *p, unsigned g) {
    static const struct chip_deparser none;
    const struct chip_deparser *x = p ? &p->deparser[g] : &none;
    const struct chip_limits *l = w->r->limits;
    jout_open(&w->j, report_gress((enum ir_gress_kind)g), '{');
    chip_json_put_number(w, "pov_bits", x->pov_bits, l->pov_bits);
    chip_json_put_number(w, "entries", x->entries, l->deparser_entries);
    chip_json_put_number(w, "header_bytes", x->header_bytes, l->deparser_bytes);
    chip_json_put_number(w, "checksums", x->checksums, l->deparser_checksums);
    chip_json_put_number(w, "mirrors", x->mirrors, l->mirror_types[g]);
    if (g == IR_INGRESS) {
        chip_json_put_number(w, "resubmit_bytes", x->resubmit_bytes, l->resubmit_bytes);
        chip_json_put_number(w, "digests", x->digests, l->digest_types);
        jout_u64(&w->j, "bridged_bytes", x->bridged_bytes);
    }
    jout_close(&w->j, '}');
}

// ---- the whole ----

static void put_pipe(struct writer *w, const struct chip_pipe *p) {
    const unsigned in = p ? p->gress[IR_INGRESS].stages : 0,
                   out = p ? p->gress[IR_EGRESS].stages : 0;
    struct json_out *j = &w->j;
    jout_u64(j, "stages", in > out ? in : out);
    jout_u64(j, "stages_ingress", in);
    jout_u64(j, "stages_egress", out);
    chip_json_put_tables(w, p);
    put_stage_resources(w, p);
    put_dependencies(w, p);
    put_phv(w, p);
    jout_open(j, "parser", '{');
    put_parser(w, p, IR_INGRESS);
    put_parser(w, p, IR_EGRESS);
    jout_close(j, '}');
    jout_open(j, "deparser", '{');
    put_deparser(w, p, IR_INGRESS);
    put_deparser(w, p, IR_EGRESS);
    jout_close(j, '}');
}

void chip_print_json(FILE *out, const struct chip_report *r) {
    struct writer w = {.j = {.out = out}, .r = r};
    struct json_out *j = &w.j;
    jout_open(j, NULL, '{');
    jout_u64(j, "form", 1);
    jout_string(j, "program", r->path);
    static const char *const verdicts[] = {[CHIP_FITS] = "fits",
                                           [CHIP_MAY_NOT_FIT] = "may not fit",
                                           [CHIP_DOES_NOT_FIT] = "does not fit"};
    jout_bool(j, "fits", r->fits);
    chip_json_put_text(&w, "verdict", r->refused ? NULL : verdicts[chip_verdict(r)]);
    jout_string(j, "target", r->limits->name);
    jout_string(j, "target_by", r->target_of_program ? "program" : "option");
    jout_u64(j, "stages_limit", r->limits->stages);
    put_violations(&w);
    jout_open(j, "notes", '[');
    for (size_t i = 0; i < r->notes.n; i++)
        jout_string(j, NULL, r->notes.v[i]);
    jout_close(j, ']');
    put_pipe(&w, report_fullest(r));
    jout_open(j, "pipelines", '[');
    for (size_t i = 0; i < r->pipes.n; i++) {
        jout_open(j, NULL, '{');
        jout_string(j, "name", r->pipes.v[i]->ir->name);
        put_pipe(&w, r->pipes.v[i]);
        jout_close(j, '}');
    }
    jout_close(j, ']');
    jout_close(j, '}');
}
