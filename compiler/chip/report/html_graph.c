// SPDX-License-Identifier: Apache-2.0
//
// html_graph: the dependencies of a gress as a picture and as a list, and the critical path.
//
// A column is a stage. A unit is a box as wide as the stages it is spread over, in the first line
// that is free in all of them at or below the mean line of the units it depends on, which come
// before it: so edges are short and rarely cross. Units of one stage are placed in that order. An
// edge goes from right to left ends, or, within a stage, around the left ends; several between the
// same two units are one.
#include <stdlib.h>

#include "compiler/chip/report/html.h"

enum { BOX = 132, COLUMN = 176, LINE = 34, HEIGHT = 24, TOP = 34, LEFT = 18, LETTERS = 17 };

struct box {
    unsigned first, last; // columns
    unsigned line;
    double wish;
    bool placed, critical;
};
struct graph {
    struct html *h;
    const struct chip_gress *g;
    struct box *boxes; // by unit
    struct report_stages shown;
    unsigned columns, lines; // in use
};

// ---- where boxes go ----

static unsigned column_of(const struct graph *x, unsigned stage) {
    size_t i = 0;
    while (i + 1 < x->shown.n && x->shown.v[i] != stage)
        i++;
    return (unsigned)i;
}

static void find_columns(struct graph *x) {
    for (size_t i = 0; i < x->g->units.n; i++) {
        const struct chip_unit *u = &x->g->units.v[i];
        struct box *b = &x->boxes[i];
        b->first = column_of(x, report_first_stage(u));
        b->last = column_of(x, u->parts.n ? u->parts.v[u->parts.n - 1].stage : 0);
        if (b->last >= x->columns)
            x->columns = b->last + 1;
    }
    for (size_t i = 0; i < x->g->critical_path.n; i++)
        x->boxes[x->g->critical_path.v[i]].critical = true;
}

static void find_wish(struct graph *x, unsigned unit) {
    double sum = 0;
    unsigned n = 0;
    for (size_t i = 0; i < x->g->deps.n; i++) {
        const struct chip_dep *d = &x->g->deps.v[i];
        if (d->to == unit && x->boxes[d->from].placed) {
            const unsigned weight = chip_dep_distance(d) ? 3 : 1;
            sum += weight * x->boxes[d->from].line;
            n += weight;
        }
    }
    x->boxes[unit].wish = n ? sum / n : 1e9; // what depends on nothing comes last
}

static void place_box(struct graph *x, bool *taken, unsigned max, unsigned unit) {
    struct box *b = &x->boxes[unit];
    unsigned line = b->wish < max ? (unsigned)b->wish : 0;
    for (;; line = line + 1 < max ? line + 1 : 0) {
        bool is_free = true;
        for (unsigned s = b->first; s <= b->last; s++)
            is_free &= !taken[s * max + line];
        if (is_free)
            break;
    }
    for (unsigned s = b->first; s <= b->last; s++)
        taken[s * max + line] = true;
    b->line = line;
    b->placed = true;
    if (line >= x->lines)
        x->lines = line + 1;
}

static void place_boxes(struct graph *x) {
    const unsigned n = (unsigned)x->g->units.n, max = n + 1;
    bool *taken = ARENA_ARRAY(x->h->r->arena, bool, (size_t)x->columns *max);
    for (unsigned s = 0; s < x->columns; s++) {
        for (unsigned i = 0; i < n; i++)
            if (x->boxes[i].first == s)
                find_wish(x, i);
        for (;;) {
            int next = -1;
            for (unsigned i = 0; i < n; i++)
                if (x->boxes[i].first == s && !x->boxes[i].placed &&
                    (next < 0 || x->boxes[i].wish < x->boxes[next].wish))
                    next = (int)i;
            if (next < 0)
                break;
            place_box(x, taken, max, (unsigned)next);
        }
    }
}

// ---- drawing ----

static unsigned left_of(const struct box *b) {
    return LEFT + b->first * COLUMN;
}

static unsigned right_of(const struct box *b) {
    return LEFT + b->last * COLUMN + BOX;
}

static unsigned middle_of(const struct box *b) {
    return TOP + b->line * LINE + HEIGHT / 2;
}

static void put_curve(struct graph *x, unsigned from, unsigned to) {
    const struct box *a = &x->boxes[from], *b = &x->boxes[to];
    const int ax = (int)right_of(a), ay = (int)middle_of(a), bx = (int)left_of(b),
              by = (int)middle_of(b);
    if (bx > ax) {
        const int bend = (bx - ax) / 2 > 60 ? 60 : (bx - ax) / 2;
        html_put(x->h, "M%d %dC%d %d %d %d %d %d", ax, ay, ax + bend, ay, bx - bend, by, bx, by);
    } else { // no later stage: around the left ends
        const int al = (int)left_of(a), out = 14;
        html_put(x->h, "M%d %dC%d %d %d %d %d %d", al, ay, al - out, ay, bx - out, by, bx, by);
    }
}

static bool is_critical(const struct graph *x, unsigned from, unsigned to) {
    for (size_t i = 1; i < x->g->critical_path.n; i++)
        if (x->g->critical_path.v[i - 1] == from && x->g->critical_path.v[i] == to)
            return true;
    return false;
}

// The first dependency between two units speaks for all: drawn as the strongest of them.
static void html_graph_put_edge(struct graph *x, size_t i) {
    const struct chip_dep *d = &x->g->deps.v[i];
    struct html *h = x->h;
    const struct chip_dep *strongest = report_edge(x->g, d->from, d->to);
    if (strongest != d)
        return;
    html_put(h, "<path class=\"edge %s%s%s\" data-from=\"%s\" data-to=\"%s\" data-kind=\"%s\" d=\"",
             chip_dep_names[d->kind], d->ignored ? " ignored" : "",
             is_critical(x, d->from, d->to) ? " critical" : "",
             html_unit(h, &x->g->units.v[d->from]), html_unit(h, &x->g->units.v[d->to]),
             chip_dep_names[d->kind]);
    put_curve(x, d->from, d->to);
    html_put(h, "\"/>\n");
}

static void put_box(struct graph *x, const struct chip_unit *u) {
    const struct box *b = &x->boxes[u->id];
    const unsigned width = right_of(b) - left_of(b);
    struct html *h = x->h;
    const unsigned letters = LETTERS + (b->last - b->first) * COLUMN / 8;
    html_put(
        h,
        "<a class=\"node %s %s%s\" href=\"#%s\" data-unit=\"%s\"><title>%s</title><rect x=\"%u\" "
        "y=\"%u\" width=\"%u\" height=\"%u\" rx=\"5\"/><text x=\"%u\" y=\"%u\">%s</text></a>\n",
        report_unit_kind(u), report_gress(u->gress), b->critical ? " critical" : "",
        html_unit(h, u), html_unit(h, u), html_short(h, u->name, 400), left_of(b),
        middle_of(b) - HEIGHT / 2, width, (unsigned)HEIGHT, left_of(b) + 8, middle_of(b) + 4,
        html_short(h, report_name(h->p, u), letters));
}

static void put_columns(struct graph *x, unsigned height) {
    for (unsigned c = 0; c < x->columns; c++)
        html_put(x->h,
                 "<g class=\"column%s\"><rect x=\"%u\" y=\"0\" width=\"%u\" height=\"%u\"/><text "
                 "x=\"%u\" y=\"18\">stage %u</text></g>\n",
                 x->shown.v[c] >= x->h->r->limits->stages ? " over"
                 : c % 2                                  ? " odd"
                                                          : "",
                 LEFT + c * COLUMN - (COLUMN - BOX) / 2, (unsigned)COLUMN, height,
                 LEFT + c * COLUMN, x->shown.v[c]);
}

static void put_picture(struct graph *x) {
    const char *const gress = report_gress(x->g->kind);
    const unsigned width = x->columns * COLUMN, height = TOP + x->lines * LINE + 6;
    struct html *h = x->h;
    html_put(
        h,
        "<h3>%s</h3>\n<div class=\"scroll graph\" tabindex=\"0\" role=\"region\" "
        "aria-label=\"Dependencies "
        "in %s, a picture\">\n<svg width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\" role=\"group\" "
        "aria-label=\"Dependencies in %s\">\n",
        x->g->kind == IR_INGRESS ? "Ingress" : "Egress", gress, width, height, width, height,
        gress);
    put_columns(x, height);
    for (size_t i = 0; i < x->g->deps.n; i++)
        html_graph_put_edge(x, i);
    for (size_t i = 0; i < x->g->units.n; i++)
        put_box(x, &x->g->units.v[i]);
    html_put(h, "</svg>\n</div>\n");
}

// ---- the list ----

static void put_dep(struct html *h, const struct chip_gress *g, const struct chip_dep *d) {
    const struct chip_unit *from = &g->units.v[d->from], *to = &g->units.v[d->to];
    html_put(h,
             "<tr data-from=\"%s\" data-to=\"%s\" data-kind=\"%s\"><td><span class=\"kind "
             "%s\">%s</span></td><td class=\"name\">%s</td><td class=\"name\">%s</td><td "
             "class=\"name\">%s",
             html_unit(h, from), html_unit(h, to), chip_dep_names[d->kind], chip_dep_names[d->kind],
             chip_dep_names[d->kind], from->name, to->name,
             d->bits.var ? report_bits(h->r, d->bits) : "");
    html_put(h, "%s</td><td class=\"text\">", d->ignored ? " (ignored by annotation)" : "");
    html_place(h, d->writer);
    html_put(h, "</td><td class=\"text\">");
    html_place(h, d->reader);
    html_put(h, "</td></tr>\n");
}

static void put_list(struct html *h, size_t n) {
    html_put(
        h,
        "<details class=\"deps\"><summary><span class=\"which\">All dependencies as a list</span> "
        "(<span class=\"count\">%zu</span>)</summary>\n<div class=\"scroll\" tabindex=\"0\" "
        "role=\"region\" aria-label=\"Dependencies as a list\">\n<table "
        "class=\"list\">\n<thead><tr><th "
        "scope=\"col\" data-sort=\"text\">kind</th><th scope=\"col\" "
        "data-sort=\"text\">from</th><th "
        "scope=\"col\" data-sort=\"text\">to</th><th scope=\"col\" "
        "data-sort=\"text\">field</th><th "
        "scope=\"col\" data-sort=\"text\">first at</th><th scope=\"col\" data-sort=\"text\">then "
        "at</th></tr></thead>\n<tbody>\n",
        n);
    for (unsigned g = 0; g < 2; g++)
        for (size_t i = 0; i < h->p->gress[g].deps.n; i++)
            put_dep(h, &h->p->gress[g], &h->p->gress[g].deps.v[i]);
    html_put(h, "</tbody>\n</table>\n</div>\n</details>\n");
}

static void put_legend(struct html *h) {
    static const char *const what[] = {
        [CHIP_DEP_MATCH] =
            "a key or condition reads a value that the first one writes: a later stage",
        [CHIP_DEP_ACTION] = "an action reads a value that the first one writes: a later stage",
        [CHIP_DEP_OUTPUT] = "both write it: a later stage",
        [CHIP_DEP_ANTI] = "the first one reads a value that the second one writes: not before it",
        [CHIP_DEP_CONTROL] = "the first one decides whether the second one runs: not before it"};
    html_put(h, "<p class=\"legend kinds\">");
    for (unsigned k = 0; k <= CHIP_DEP_CONTROL; k++)
        html_put(
            h,
            "<label title=\"%s\"><input type=\"checkbox\" checked value=\"%s\"><span class=\"kind "
            "%s\">%s</span></label> ",
            what[k], chip_dep_names[k], chip_dep_names[k], chip_dep_names[k]);
    html_put(h, "</p>\n");
}

void html_graph(struct html *h) {
    size_t n = 0;
    html_put(h,
             "<section id=\"p%u-graph\" class=\"dependencies\">\n<h2>Dependencies</h2>\n<p>Match, "
             "action and output dependencies take a stage each; the critical path is marked. "
             "Choose a box to see its dependencies in both directions.</p>\n",
             h->pipe);
    put_legend(h);
    for (unsigned g = 0; g < 2; g++) {
        struct graph x = {.h = h, .g = &h->p->gress[g]};
        n += x.g->deps.n;
        if (!x.g->units.n)
            continue;
        x.boxes = ARENA_ARRAY(h->r->arena, struct box, x.g->units.n);
        x.shown = report_stages(h->r, h->p);
        find_columns(&x);
        place_boxes(&x);
        put_picture(&x);
    }
    put_list(h, n);
    html_put(h, "</section>\n");
}

// ---- the critical path ----

static void html_graph_put_path(struct html *h, const struct chip_gress *g) {
    if (!g->critical_path.n)
        return;
    const unsigned last = g->critical_path.v[g->critical_path.n - 1];
    html_put(h, "<h3>%s: %u stages by dependencies alone</h3>\n<ol class=\"path\">\n",
             g->kind == IR_INGRESS ? "Ingress" : "Egress", g->units.v[last].earliest + 1);
    for (size_t i = 0; i < g->critical_path.n; i++) {
        const struct chip_unit *u = &g->units.v[g->critical_path.v[i]];
        const struct chip_dep *d = i ? report_edge(g, g->critical_path.v[i - 1], u->id) : NULL;
        html_put(h, "<li>");
        if (d) {
            html_put(h, "<p class=\"because\"><span class=\"kind %s\">%s</span> <code>%s</code>",
                     chip_dep_names[d->kind], chip_dep_names[d->kind],
                     d->bits.var ? report_bits(h->r, d->bits) : "");
            if (d->writer.line) {
                html_put(h, " %s ", d->kind == CHIP_DEP_ANTI ? "read at" : "written at");
                html_place(h, d->kind == CHIP_DEP_ANTI ? d->reader : d->writer);
            }
            if (d->reader.line) {
                html_put(h, ", %s ",
                         d->kind == CHIP_DEP_ANTI     ? "written at"
                         : d->kind == CHIP_DEP_OUTPUT ? "and again at"
                                                      : "read at");
                html_place(h, d->kind == CHIP_DEP_ANTI ? d->writer : d->reader);
            }
            html_put(h, "</p>");
        }
        html_put(h,
                 "<span class=\"at\">%u</span> <a class=\"unit %s %s\" href=\"#%s\" "
                 "data-unit=\"%s\">%s</a> ",
                 u->earliest, report_unit_kind(u), report_gress(u->gress), html_unit(h, u),
                 html_unit(h, u), html_short(h, report_name(h->p, u), 80));
        html_place(h, u->at);
        html_put(h, "</li>\n");
    }
    html_put(h, "</ol>\n");
}

void html_critical_path(struct html *h) {
    html_put(h, "<section id=\"p%u-path\">\n<h2>Critical path</h2>\n", h->pipe);
    html_graph_put_path(h, &h->p->gress[IR_INGRESS]);
    html_graph_put_path(h, &h->p->gress[IR_EGRESS]);
    if (!h->p->gress[IR_INGRESS].critical_path.n && !h->p->gress[IR_EGRESS].critical_path.n)
        html_put(h, "<p>There are no dependencies.</p>\n");
    html_put(h, "</section>\n");
}
