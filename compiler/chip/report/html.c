// SPDX-License-Identifier: Apache-2.0
#include "compiler/chip/report/html.h"

#include <inttypes.h>
#include <sha2.h>
#include <string.h>

#include "compiler/base/utf8.h"

#define EXCERPT 160u // characters of a source line that are shown

// ---- writing ----

static void put_escaped(FILE *out, const char *s) {
    while (*s) {
        const unsigned char c = (unsigned char)*s;
        const size_t n = p4_utf8_length(s);
        if (n == 0 || (c < ' ' && c != '\t' && c != '\n') || c == 0x7f)
            fputs(UTF8_REPLACEMENT, out);
        else if (c == '&')
            fputs("&amp;", out);
        else if (c == '<')
            fputs("&lt;", out);
        else if (c == '>')
            fputs("&gt;", out);
        else if (c == '"')
            fputs("&quot;", out);
        else if (c == '\'')
            fputs("&#39;", out);
        else
            fwrite(s, 1, n, out);
        s += n ? n : 1;
    }
}

void html_put(struct html *h, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    for (const char *p = format; *p; p++) {
        if (*p != '%') {
            fputc(*p, h->out);
            continue;
        }
        switch (*++p) {
        case 's':
            put_escaped(h->out, va_arg(ap, const char *));
            break;
        case 'u':
            fprintf(h->out, "%u", va_arg(ap, unsigned));
            break;
        case 'd':
            fprintf(h->out, "%d", va_arg(ap, int));
            break;
        case 'z':
            p++;
            fprintf(h->out, "%zu", va_arg(ap, size_t));
            break;
        case '.':
            p += 2;
            fprintf(h->out, "%.1f", va_arg(ap, double));
            break;
        default:
            fputc('%', h->out);
        }
    }
    va_end(ap);
}

static void html_put_bytes(struct html *h, const char *text, size_t n) {
    html_put(h, "%s", arena_strndup(h->r->arena, text, n));
}

void html_name(struct html *h, const char *name) {
    for (size_t n; *name; name += n) {
        n = strcspn(name, "._");
        n += name[n] != '\0';
        html_put_bytes(h, name, n);
        if (name[n])
            fputs("<wbr>", h->out);
    }
}

const char *html_unit(const struct html *h, const struct chip_unit *u) {
    return arena_printf(h->r->arena, "p%u-%s%u", h->pipe, u->gress == IR_INGRESS ? "i" : "e",
                        u->id);
}

const char *html_short(const struct html *h, const char *name, unsigned characters) {
    size_t n = 0;
    for (unsigned i = 0; i < characters && name[n]; i++) {
        const size_t length = p4_utf8_length(name + n);
        n += length ? length : 1;
    }
    return name[n] ? arena_printf(h->r->arena, "%.*s\xe2\x80\xa6", (int)n, name) : name;
}

void html_place(struct html *h, struct loc at) {
    if (at.line)
        html_put(h, "<span class=\"place\" title=\"%s\">%s</span>", diag_path(h->r->diag, at.file),
                 report_place(h->r, at));
}

// ---- exceeded limits ----

// The source line, its part that is meant marked.
static void excerpt(struct html *h, struct loc at) {
    size_t length;
    const char *line = diag_source_line(h->r->diag, at, &length);
    if (!line || !at.col)
        return;
    size_t from = at.col - 1 < length ? at.col - 1 : length;
    size_t to = at.end_col > at.col ? at.end_col - 1 : at.col;
    to = to < length ? to : length;
    const size_t begin = from > EXCERPT / 2 ? from - EXCERPT / 2 : 0;
    const size_t end = begin + EXCERPT < length ? begin + EXCERPT : length;
    to = to < end ? to : end;
    html_put(h, "<pre class=\"source\"><span class=\"line\">%u</span>", at.line);
    html_put_bytes(h, line + begin, from - begin);
    html_put(h, "<mark>");
    html_put_bytes(h, line + from, to - from);
    html_put(h, "</mark>");
    html_put_bytes(h, line + to, end - to);
    html_put(h, "</pre>\n");
}

static void html_note(struct html *h, struct loc at, const char *text) {
    html_put(h, "<p class=\"also\">%s ", text);
    html_place(h, at);
    html_put(h, "</p>\n");
    excerpt(h, at);
}

static void html_violation(struct html *h, const struct chip_violation *v, const char *kind) {
    html_put(h, "<article class=\"%s\">\n<h3>%s</h3>\n<p><span class=\"rule\">%s</span> ", kind,
             v->message, v->rule);
    html_place(h, v->at);
    if (v->limit || v->used)
        html_put(h, " <span class=\"numbers\">limit <b>%zu</b>, this is <b>%zu</b></span>",
                 (size_t)v->limit, (size_t)v->used);
    html_put(h, "</p>\n");
    excerpt(h, v->at);
    if (v->path.n)
        html_put(h, "<p>A packet gets there on this path:</p>\n<ol class=\"way\">\n");
    for (size_t i = 0; i < v->path.n; i++) {
        html_put(h, "<li>%s ", v->path.v[i].text);
        html_place(h, v->path.v[i].at);
        html_put(h, "</li>\n");
    }
    if (v->path.n)
        html_put(h, "</ol>\n");
    if (v->also_text)
        html_note(h, v->also, v->also_text);
    if (v->suggestion)
        html_put(h, "<p class=\"suggestion\"><b>Try:</b> %s</p>\n", v->suggestion);
    html_put(h, "</article>\n");
}

static void violations(struct html *h) {
    const struct chip_report *r = h->r;
    if (!r->violations.n)
        return;
    html_put(h, "<section id=\"limits\">\n<h2>Exceeded limits</h2>\n");
    for (size_t i = 0; i < r->violations.n; i++)
        html_violation(h, &r->violations.v[i], "violation");
    html_put(h, "</section>\n");
}

static void warnings(struct html *h) {
    const struct chip_report *r = h->r;
    if (!r->warnings.n)
        return;
    html_put(h, "<section id=\"warnings\">\n<h2>Warnings</h2>\n");
    for (size_t i = 0; i < r->warnings.n; i++)
        html_violation(h, &r->warnings.v[i], "warning");
    html_put(h, "</section>\n");
}

// ---- head and answer ----

static void base64(const uint8_t *bytes, size_t n, char *out) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        const uint32_t three = (uint32_t)bytes[i] << 16 |
                               (i + 1 < n ? (uint32_t)bytes[i + 1] << 8 : 0) |
                               (i + 2 < n ? bytes[i + 2] : 0);
        for (unsigned k = 0; k < 4; k++)
            *out++ = i + k > n ? '=' : digits[three >> (18 - 6 * k) & 63];
    }
    *out = '\0';
}

static void html_head(struct html *h) {
    uint8_t digest[SHA256_DIGEST_LENGTH];
    char hash[48];
    SHA2_CTX sha;
    SHA256Init(&sha);
    SHA256Update(&sha, (const uint8_t *)report_page_js, strlen(report_page_js));
    SHA256Final(digest, &sha);
    base64(digest, sizeof digest, hash);
    html_put(
        h,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'; script-src 'sha256-%s'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n<title>%s on %s</title>\n<style>\n",
        hash, html_short(h, h->r->path, 200), h->r->limits->title);
    fputs(report_page_css, h->out);
    html_put(h, "</style>\n</head>\n<body>\n");
}

static void links(struct html *h) {
    static const char *const sections[][2] = {{"stages", "Stages"},
                                              {"resources", "Resources"},
                                              {"graph", "Dependencies"},
                                              {"path", "Critical path"},
                                              {"phv", "PHV"},
                                              {"parsers", "Parsers"},
                                              {"tables", "Tables"}};
    html_put(h, "<nav aria-label=\"Sections\"><ul>\n");
    if (h->r->violations.n)
        html_put(h, "<li><a href=\"#limits\">Limits</a></li>\n");
    if (h->r->warnings.n)
        html_put(h, "<li><a href=\"#warnings\">Warnings</a></li>\n");
    for (unsigned i = 0; h->r->pipes.n && i < sizeof sections / sizeof *sections; i++)
        html_put(h, "<li><a href=\"#p0-%s\">%s</a></li>\n", sections[i][0], sections[i][1]);
    for (unsigned i = 1; i < h->r->pipes.n; i++)
        html_put(h, "<li><a href=\"#p%u\">Pipeline %s</a></li>\n", i,
                 html_short(h, h->r->pipes.v[i]->ir->name, 40));
    if (h->r->notes.n)
        html_put(h, "<li><a href=\"#notes\">Estimates</a></li>\n");
    html_put(h, "</ul></nav>\n");
}

static void figure(struct html *h, const char *what, uint64_t used, uint64_t limit) {
    html_put(h, "<div class=\"figure%s\"><dt>%s</dt><dd><b>%zu</b>",
             limit && used > limit ? " over" : "", what, (size_t)used);
    if (limit)
        html_put(h, " of %zu", (size_t)limit);
    html_put(h, "</dd></div>\n");
}

static void figures(struct html *h, const struct chip_pipe *p) {
    const struct chip_limits *limits = h->r->limits;
    const unsigned in = p->gress[IR_INGRESS].stages, out = p->gress[IR_EGRESS].stages;
    uint64_t containers = 0, tables = 0;
    for (unsigned g = 0; g < 2; g++) {
        for (unsigned i = 0; i < 3; i++)
            containers += p->phv.used[g][i];
        for (size_t i = 0; i < p->gress[g].units.n; i++)
            tables += p->gress[g].units.v[i].kind == CHIP_TABLE;
    }
    html_put(h, "<dl class=\"figures\">\n");
    figure(h, "stages", in > out ? in : out, limits->stages);
    figure(h, "in ingress", in, 0);
    figure(h, "in egress", out, 0);
    figure(h, "tables", tables, 0);
    figure(h, "SRAM blocks", report_total(p, CHIP_SRAM),
           (uint64_t)limits->per_stage[CHIP_SRAM] * limits->stages);
    figure(h, "TCAM blocks", report_total(p, CHIP_TCAM),
           (uint64_t)limits->per_stage[CHIP_TCAM] * limits->stages);
    figure(h, "stateful ALUs", report_total(p, CHIP_STATEFUL_ALUS),
           (uint64_t)limits->per_stage[CHIP_STATEFUL_ALUS] * limits->stages);
    figure(h, "PHV containers", containers,
           limits->containers[0] + limits->containers[1] + limits->containers[2]);
    html_put(h, "</dl>\n");
}

static void html_verdict(struct html *h) {
    const struct chip_report *r = h->r;
    const struct chip_pipe *p = report_fullest(r);
    const size_t n = r->violations.n;
    const char *slash = strrchr(r->path, '/');
    html_put(h, "<header>\n<p class=\"kicker\">silken check</p>\n<h1 title=\"%s\">%s</h1>\n",
             r->path, slash && slash[1] ? slash + 1 : r->path);
    if (r->fits)
        html_put(h, "<p class=\"answer good\">fits %s</p>\n", r->limits->title);
    else if (chip_verdict(r) == CHIP_MAY_NOT_FIT)
        html_put(
            h, "<p class=\"answer doubt\">may not fit %s: %zu limit%s exceeded by the model</p>\n",
            r->limits->title, n, n == 1 ? "" : "s");
    else
        html_put(h, "<p class=\"answer bad\">does not fit %s: %zu limit%s exceeded</p>\n",
                 r->limits->title, n, n == 1 ? "" : "s");
    if (p)
        figures(h, p);
    if (r->pipes.n > 1)
        html_put(h, "<p>These are numbers of %s, the fullest of %zu pipelines.</p>\n", p->ir->name,
                 r->pipes.n);
    html_put(h, "<p class=\"remark\">This is the result of a model of the chip and of how a "
                "compiler places a program. What it cannot know is listed under <a "
                "href=\"#notes\">estimates</a>.</p>\n");
    links(h);
    html_put(h, "</header>\n");
}

static void html_notes(struct html *h) {
    html_put(h, "<section id=\"notes\">\n<h2>What is not certain</h2>\n");
    if (!h->r->notes.n)
        html_put(h, "<p>The model has nothing to add for this program.</p>\n");
    else
        html_put(h, "<ul>\n");
    for (size_t i = 0; i < h->r->notes.n; i++)
        html_put(h, "<li>%s</li>\n", h->r->notes.v[i]);
    if (h->r->notes.n)
        html_put(h, "</ul>\n");
    html_put(h, "</section>\n");
}

void chip_print_html(FILE *out, const struct chip_report *r) {
    struct html h = {.out = out, .r = r};
    html_head(&h);
    html_verdict(&h);
    html_put(&h, "<main>\n");
    violations(&h);
    warnings(&h);
    for (h.pipe = 0; h.pipe < r->pipes.n; h.pipe++) {
        h.p = r->pipes.v[h.pipe];
        html_put(&h, "<div class=\"pipe\" id=\"p%u\">\n", h.pipe);
        if (r->pipes.n > 1)
            html_put(&h, "<h2 class=\"pipename\">Pipeline %s</h2>\n", h.p->ir->name);
        html_stage_map(&h);
        html_resources(&h);
        html_graph(&h);
        html_critical_path(&h);
        html_phv(&h);
        html_parsers(&h);
        html_tables(&h);
        html_put(&h, "</div>\n");
    }
    html_notes(&h);
    html_put(&h, "</main>\n<script>");
    fputs(report_page_js, out);
    html_put(&h, "</script>\n</body>\n</html>\n");
}
