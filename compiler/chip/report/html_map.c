// SPDX-License-Identifier: Apache-2.0
//
// html_map: which table is where, and what is taken of each stage.
#include <string.h>

#include "compiler/chip/report/html.h"

#define NAME 60u // characters of a name in the map

static unsigned percent(uint64_t used, uint64_t limit) {
    if (!limit)
        return used ? 100 : 0;
    const uint64_t p = (used * 100 + limit / 2) / limit;
    return used && p == 0 ? 1 : p > 100 ? 100 : (unsigned)p;
}

static const char *level(uint64_t used, uint64_t limit) {
    return used > limit ? "over" : used * 10 > limit * 8 ? "much" : "some";
}

// ---- the stage map ----

// "3 SRAM blocks, 2 TCAM blocks..." of a unit's share.
static const char *html_map_share(struct html *h, const struct chip_part *part) {
    const char *text = "";
    for (unsigned i = 0; i < CHIP_RESOURCES; i++)
        if (part->used[i])
            text = arena_printf(h->r->arena, "%s%s%u %s", text, *text ? ", " : "", part->used[i],
                                chip_resource_titles[i]);
    return text;
}

static void chip_of(struct html *h, const struct chip_unit *u, unsigned stage) {
    const struct chip_part *part = NULL;
    size_t number = 0;
    for (size_t i = 0; i < u->parts.n; i++)
        if (u->parts.v[i].stage == stage) {
            part = &u->parts.v[i];
            number = i + 1;
        }
    if (!part)
        return;
    html_put(h, "<li><a class=\"unit %s %s\" href=\"#%s\" data-unit=\"%s\" title=\"%s: %s\">",
             report_unit_kind(u), report_gress(u->gress), html_unit(h, u), html_unit(h, u),
             html_short(h, u->name, 400), html_map_share(h, part));
    html_name(h, html_short(h, report_name(h->p, u), NAME));
    if (u->parts.n > 1)
        html_put(h, " <small>%zu/%zu</small>", number, u->parts.n);
    html_put(h, "</a></li>\n");
}

static void stage_gress(struct html *h, unsigned stage, unsigned gress) {
    const struct chip_gress *g = &h->p->gress[gress];
    bool any = false;
    for (size_t i = 0; i < g->units.n; i++)
        if (report_in_stage(&g->units.v[i], stage)) {
            if (!any)
                html_put(h, "<h4 class=\"%s\">%s</h4><ul>\n", report_gress(g->kind),
                         report_gress(g->kind));
            any = true;
            chip_of(h, &g->units.v[i], stage);
        }
    if (any)
        html_put(h, "</ul>\n");
}

static void small_bar(struct html *h, const char *title, unsigned resource, unsigned stage) {
    const unsigned used = report_used(h->p, stage, resource);
    const unsigned limit = h->r->limits->per_stage[resource];
    html_put(h,
             "<div class=\"bar %s\" title=\"%u of %u %s\"><span class=\"label\">%s</span><span "
             "class=\"track\"><span style=\"width:%u%%\"></span></span><span "
             "class=\"value\">%u</span></div>\n",
             level(used, limit), used, limit, chip_resource_titles[resource], title,
             percent(used, limit), used);
}

void html_stage_map(struct html *h) {
    const struct report_stages shown = report_stages(h->r, h->p);
    html_put(
        h,
        "<section id=\"p%u-stages\">\n<h2>Stage map</h2>\n<p class=\"legend\"><span class=\"unit "
        "table ingress\">table of ingress</span> <span class=\"unit table egress\">of "
        "egress</span> "
        "<span class=\"unit keyless ingress\">statements between tables</span> <span class=\"unit "
        "gateway ingress\">condition with a gateway of its own</span></p>\n<ol class=\"map\" "
        "start=\"0\">\n",
        h->pipe);
    for (size_t i = 0; i < shown.n; i++) {
        const unsigned s = shown.v[i];
        const bool empty = !report_stage_in_use(h->p, s);
        html_put(h, "<li class=\"stage%s%s\" data-stage=\"%u\">\n<h3>Stage %u</h3>\n",
                 s >= h->r->limits->stages ? " over" : "", empty ? " empty" : "", s, s);
        stage_gress(h, s, IR_INGRESS);
        stage_gress(h, s, IR_EGRESS);
        html_put(h, "<div class=\"bars\">\n");
        small_bar(h, "SRAM", CHIP_SRAM, s);
        small_bar(h, "TCAM", CHIP_TCAM, s);
        small_bar(h, "ALUs", CHIP_STATEFUL_ALUS, s);
        html_put(h, "</div>\n</li>\n");
    }
    html_put(h, "</ol>\n</section>\n");
}

// ---- resources ----

void html_resources(struct html *h) {
    const struct chip_limits *limits = h->r->limits;
    const struct report_stages shown = report_stages(h->r, h->p);
    html_put(
        h,
        "<section id=\"p%u-resources\">\n<h2>Resources by stage</h2>\n<div class=\"scroll\" "
        "tabindex=\"0\" role=\"region\" aria-label=\"Resources by stage\">\n<table "
        "class=\"heat\">\n<thead><tr><th scope=\"col\">of a stage</th><th scope=\"col\">limit</th>",
        h->pipe);
    for (size_t k = 0; k < shown.n; k++)
        html_put(h, "<th scope=\"col\"%s>%u</th>",
                 shown.v[k] >= limits->stages ? " class=\"over\"" : "", shown.v[k]);
    html_put(h, "<th scope=\"col\">all</th><th scope=\"col\">of</th></tr></thead>\n<tbody>\n");
    for (unsigned i = 0; i < CHIP_RESOURCES; i++) {
        const uint64_t total = report_total(h->p, i),
                       most = (uint64_t)limits->per_stage[i] * limits->stages;
        html_put(h, "<tr><th scope=\"row\">%s</th><td class=\"limit\">%u</td>",
                 chip_resource_titles[i], limits->per_stage[i]);
        for (size_t k = 0; k < shown.n; k++) {
            const unsigned used = report_used(h->p, shown.v[k], i);
            if (used)
                html_put(h, "<td class=\"cell %s\" style=\"--f:%u%%\">%u</td>",
                         level(used, limits->per_stage[i]), percent(used, limits->per_stage[i]),
                         used);
            else
                html_put(h, "<td class=\"cell none\">\xc2\xb7</td>");
        }
        html_put(
            h,
            "<td class=\"cell %s\" style=\"--f:%u%%\">%zu</td><td class=\"limit\">%zu</td></tr>\n",
            total ? level(total, most) : "none", percent(total, most), (size_t)total, (size_t)most);
    }
    html_put(h, "</tbody>\n</table>\n</div>\n</section>\n");
}

// ---- the list of tables ----

static const struct {
    const char *title;
    unsigned resource;
} columns[] = {{"SRAM", CHIP_SRAM},
               {"TCAM", CHIP_TCAM},
               {"map RAM", CHIP_MAP_RAM},
               {"hash bits", CHIP_HASH_BITS},
               {"action bus", CHIP_ACTION_BUS},
               {"VLIW", CHIP_VLIW},
               {"ALUs", CHIP_STATEFUL_ALUS}};
#define N_COLUMNS (sizeof columns / sizeof *columns)

static void sorter(struct html *h, const char *title, bool number) {
    html_put(h, "<th scope=\"col\" data-sort=\"%s\">%s</th>", number ? "number" : "text", title);
}

static void table_row(struct html *h, const struct chip_unit *u) {
    html_put(h,
             "<tr id=\"%s\" data-unit=\"%s\" class=\"%s\"><th scope=\"row\" class=\"name\">%s</th>"
             "<td>%s</td><td>%s</td><td data-value=\"%u\">",
             html_unit(h, u), html_unit(h, u), report_gress(u->gress), u->name,
             report_gress(u->gress), report_unit_kind(u), report_first_stage(u));
    for (size_t i = 0; i < u->parts.n; i++)
        html_put(h, "%s%u", i ? ", " : "", u->parts.v[i].stage);
    html_put(h, "</td><td>%u</td><td>%zu</td>", u->earliest, (size_t)u->entries);
    for (unsigned i = 0; i < N_COLUMNS; i++)
        html_put(h, "<td>%u</td>", u->need[columns[i].resource]);
    html_put(h, "<td class=\"text\">");
    html_place(h, u->at);
    html_put(h, "</td></tr>\n");
}

void html_tables(struct html *h) {
    html_put(h,
             "<section id=\"p%u-tables\">\n<h2>Tables</h2>\n<p>Includes the statements and "
             "conditions that take a table's place. 'Earliest' is the stage that dependencies "
             "alone allow.</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
             "aria-label=\"Tables\">\n<table class=\"list\">\n<thead><tr>",
             h->pipe);
    sorter(h, "name", false);
    sorter(h, "gress", false);
    sorter(h, "kind", false);
    sorter(h, "stages", true);
    sorter(h, "earliest", true);
    sorter(h, "entries", true);
    for (unsigned i = 0; i < N_COLUMNS; i++)
        sorter(h, columns[i].title, true);
    sorter(h, "place", false);
    html_put(h, "</tr></thead>\n<tbody>\n");
    for (unsigned g = 0; g < 2; g++)
        for (size_t i = 0; i < h->p->gress[g].units.n; i++)
            table_row(h, &h->p->gress[g].units.v[i]);
    html_put(h, "</tbody>\n</table>\n</div>\n</section>\n");
}
