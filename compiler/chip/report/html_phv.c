// SPDX-License-Identifier: Apache-2.0
//
// html_phv: containers with what is in them, and the ends of a pipe.
#include "compiler/chip/report/html.h"

static const unsigned sizes[] = {8, 16, 32};

static const struct chip_container *html_phv_container(const struct html *h, unsigned size,
                                                       bool tagalong, unsigned number) {
    for (size_t i = 0; i < h->p->phv.containers.n; i++) {
        const struct chip_container *c = &h->p->phv.containers.v[i];
        if (c->size == size && c->tagalong == tagalong && c->number == number)
            return c;
    }
    return NULL;
}

static unsigned bits_in_use(const struct chip_container *c) {
    uint64_t taken = 0; // fields that take turns have the same bits
    for (size_t i = 0; i < c->slices.n; i++)
        for (unsigned b = 0; b < c->slices.v[i].bits.width && b < 32; b++)
            taken |= UINT64_C(1) << (c->slices.v[i].container_lo + b);
    return (unsigned)__builtin_popcountll(taken & UINT64_C(0xffffffff));
}

static const char *moment(const struct html *h, int stage) {
    if (stage < 0)
        return "the parser";
    if (stage >= (int)h->r->limits->stages)
        return "the deparser";
    return arena_printf(h->r->arena, "stage %d", stage);
}

static const char *html_phv_slice_text(const struct html *h, const struct chip_slice *s) {
    return arena_printf(h->r->arena, "bits %u to %u: %s, from %s to %s", s->container_lo,
                        s->container_lo + s->bits.width - 1, report_bits(h->r, s->bits),
                        moment(h, s->first_stage), moment(h, s->last_stage));
}

static const char *container_name(const struct html *h, const struct chip_container *c) {
    return arena_printf(h->r->arena, "%s%s%u", c->tagalong ? "T" : "",
                        c->size == 8    ? "B"
                        : c->size == 16 ? "H"
                                        : "W",
                        c->number);
}

static void cell(struct html *h, unsigned size, bool tagalong, unsigned number) {
    const struct chip_container *c = html_phv_container(h, size, tagalong, number);
    if (!c) {
        html_put(h, "<li class=\"c free\" aria-hidden=\"true\"></li>\n");
        return;
    }
    const char *text = "";
    for (size_t i = 0; i < c->slices.n; i++)
        text = arena_printf(h->r->arena, "%s\n%s", text,
                            html_short(h, html_phv_slice_text(h, &c->slices.v[i]), 300));
    html_put(h,
             "<li class=\"c %s\" style=\"--f:%u%%\" title=\"%s, %s, %u of %u "
             "bits%s\"><span>%u</span></li>\n",
             c->gress < 0 ? "free" : report_gress((enum ir_gress_kind)c->gress),
             bits_in_use(c) * 100 / size, container_name(h, c),
             c->gress < 0 ? "free" : report_gress((enum ir_gress_kind)c->gress), bits_in_use(c),
             size, text, number);
}

static void group(struct html *h, unsigned i, bool tagalong) {
    const unsigned limit = tagalong ? h->r->limits->tagalong[i] : h->r->limits->containers[i];
    const unsigned *const used[] = {tagalong ? h->p->phv.tagalong_used[0] : h->p->phv.used[0],
                                    tagalong ? h->p->phv.tagalong_used[1] : h->p->phv.used[1]};
    unsigned shown = limit;
    for (size_t k = 0; k < h->p->phv.containers.n; k++) {
        const struct chip_container *c = &h->p->phv.containers.v[k];
        if (c->size == sizes[i] && c->tagalong == tagalong && c->number >= shown)
            shown = c->number + 1;
    }
    if (!shown)
        return;
    html_put(h,
             "<h3>%s%u bits: %u of %u <small>%u in ingress, %u in egress</small></h3>\n<ul "
             "class=\"phv\" aria-label=\"Containers of %u bits\">\n",
             tagalong ? "Tagalong, " : "", sizes[i], used[0][i] + used[1][i], limit, used[0][i],
             used[1][i], sizes[i]);
    for (unsigned n = 0; n < shown; n++)
        cell(h, sizes[i], tagalong, n);
    html_put(h, "</ul>\n");
}

static void html_phv_list(struct html *h) {
    html_put(h,
             "<details><summary>All containers as a list</summary>\n<div class=\"scroll\" "
             "tabindex=\"0\" role=\"region\" aria-label=\"Containers\">\n<table "
             "class=\"list\">\n<thead><tr><th scope=\"col\" data-sort=\"text\">container</th><th "
             "scope=\"col\" data-sort=\"text\">gress</th><th scope=\"col\" "
             "data-sort=\"text\">field</th><th "
             "scope=\"col\" data-sort=\"number\">from bit</th><th scope=\"col\" "
             "data-sort=\"text\">from</th><th "
             "scope=\"col\" data-sort=\"text\">to</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < h->p->phv.containers.n; i++) {
        const struct chip_container *c = &h->p->phv.containers.v[i];
        for (size_t k = 0; k < c->slices.n; k++) {
            const struct chip_slice *s = &c->slices.v[k];
            html_put(
                h,
                "<tr><th scope=\"row\">%s</th><td>%s</td><td class=\"text\">%s</td><td>%u</td><td "
                "class=\"text\">%s</td><td class=\"text\">%s</td></tr>\n",
                container_name(h, c),
                c->gress < 0 ? "" : report_gress((enum ir_gress_kind)c->gress),
                report_bits(h->r, s->bits), s->container_lo, moment(h, s->first_stage),
                moment(h, s->last_stage));
        }
    }
    html_put(h, "</tbody>\n</table>\n</div>\n</details>\n");
}

void html_phv(struct html *h) {
    html_put(h,
             "<section id=\"p%u-phv\">\n<h2>PHV map <small>(estimate)</small></h2>\n<p>A cell is a "
             "container, filled as far as fields hold its bits; <span class=\"key "
             "ingress\">ingress</span> "
             "and <span class=\"key egress\">egress</span> share them all. Fields hold %u bits in "
             "ingress "
             "and %u in egress.</p>\n<p class=\"detail\" aria-live=\"polite\" hidden></p>\n",
             h->pipe, h->p->phv.bits_used[IR_INGRESS], h->p->phv.bits_used[IR_EGRESS]);
    for (unsigned i = 3; i-- > 0;)
        group(h, i, false);
    for (unsigned i = 3; i-- > 0;)
        group(h, i, true);
    html_phv_list(h);
    html_put(h, "</section>\n");
}

// ---- parsers and deparsers ----

static void html_phv_row(struct html *h, const char *what, const unsigned used[2],
                         const unsigned limit[2]) {
    html_put(h, "<tr><th scope=\"row\">%s</th>", what);
    for (unsigned g = 0; g < 2; g++) {
        if (limit[g] && limit[g] != ~0u)
            html_put(h,
                     "<td class=\"%s\"><b>%u</b> of %u<span class=\"track\"><span "
                     "style=\"width:%u%%\"></span></span></td>",
                     used[g] > limit[g] ? "over" : "", used[g], limit[g],
                     used[g] >= limit[g] ? 100 : used[g] * 100 / limit[g]);
        else if (limit[g])
            html_put(h, "<td><b>%u</b></td>", used[g]);
        else
            html_put(h, "<td class=\"none\">\xe2\x80\x93</td>");
    }
    html_put(h, "</tr>\n");
}

static void html_phv_same(struct html *h, const char *what, unsigned in, unsigned out,
                          unsigned limit) {
    html_phv_row(h, what, (unsigned[]){in, out}, (unsigned[]){limit, limit});
}

void html_parsers(struct html *h) {
    const struct chip_limits *l = h->r->limits;
    const struct chip_parser *x = h->p->parser;
    const struct chip_deparser *y = h->p->deparser;
    html_put(
        h,
        "<section id=\"p%u-parsers\">\n<h2>Parsers and deparsers</h2>\n<table class=\"ends\">\n"
        "<thead><tr><th></th><th scope=\"col\">ingress</th><th "
        "scope=\"col\">egress</th></tr></thead>\n"
        "<tbody>\n",
        h->pipe);
    html_phv_same(h, "parser states", x[0].states, x[1].states, ~0u);
    html_phv_same(h, "parser TCAM rows", x[0].rows, x[1].rows, l->parser_rows);
    html_phv_row(h, "parser depth, bytes", (unsigned[]){x[0].max_depth, x[1].max_depth},
                 l->parser_depth);
    html_phv_same(h, "shortest path, bytes", x[0].min_depth, x[1].min_depth, ~0u);
    html_phv_same(h, "parser checksum units", x[0].checksums, x[1].checksums, l->parser_checksums);
    html_phv_same(h, "validity (POV) bits", y[0].pov_bits, y[1].pov_bits, l->pov_bits);
    html_phv_same(h, "field dictionary entries", y[0].entries, y[1].entries, l->deparser_entries);
    html_phv_same(h, "header bytes out", y[0].header_bytes, y[1].header_bytes, l->deparser_bytes);
    html_phv_same(h, "deparser checksum units", y[0].checksums, y[1].checksums,
                  l->deparser_checksums);
    html_phv_row(h, "mirror types", (unsigned[]){y[0].mirrors, y[1].mirrors}, l->mirror_types);
    html_phv_row(h, "resubmit bytes", (unsigned[]){y[0].resubmit_bytes, 0},
                 (unsigned[]){l->resubmit_bytes, 0});
    html_phv_row(h, "digests", (unsigned[]){y[0].digests, 0}, (unsigned[]){l->digest_types, 0});
    html_phv_row(h, "bytes bridged to egress", (unsigned[]){y[0].bridged_bytes, 0},
                 (unsigned[]){~0u, 0});
    html_put(h, "</tbody>\n</table>\n</section>\n");
}
