// SPDX-License-Identifier: Apache-2.0
//
// What `silken check` prints, from reports made up here: full of tables, empty, refused, with names
// that try to be something else. Lines stay within the width, JSON is JSON, text talks to no
// terminal, no name becomes a part of the page. With "--write FOLDER" the reports are written
// there, for the test in a browser (test_page.py).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "compiler/chip/report/report.h"
#include "compiler/chip/report_add.h"

static const char hostile[] =
    "\"><script>document.title='taken'</script><img src=x onerror=alert(1)>"
    "'&amp;</title></style>\033]0;taken\007\xc2\x9b"
    "31m\xff\xfe %s%n <!-- ";

struct made {
    struct arena *a;
    struct chip_report *r;
    bool hostile;
    uint64_t random;
};

static unsigned draw(struct made *m, unsigned n) {
    m->random = m->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(m->random >> 33) % n;
}

static const char *name(struct made *m, const char *format, unsigned i) {
    char *plain = arena_printf(m->a, format, i);
    if (!m->hostile || i % 3)
        return plain;
    if (i % 2)
        return arena_printf(m->a, "%s%s", plain, hostile);
    char *longest = arena_alloc(m->a, 10001);
    memset(longest, 'a' + (char)(i % 26), 10000);
    return longest;
}

static struct ir_var *variable(struct made *m, unsigned i) {
    struct ir_var *v = ARENA_NEW(m->a, struct ir_var);
    v->id = i;
    v->name = name(m, "hdr.some.field%u", i);
    v->width = 1 + draw(m, 32);
    return v;
}

static struct loc place(struct made *m) {
    const uint32_t line = 1 + draw(m, 3), col = 1 + draw(m, 4);
    return (struct loc){.file = 0, .line = line, .col = col, .end_col = col + 3};
}

static void add_part(struct made *m, struct chip_pipe *p, struct chip_unit *u, unsigned stage) {
    struct chip_part part = {.stage = stage, .entries = 1024};
    while (p->stages.n <= stage)
        VEC_PUSH(m->a, &p->stages, ARENA_ARRAY(m->a, unsigned, CHIP_RESOURCES));
    part.used[CHIP_LOGICAL_TABLES] = 1;
    part.used[CHIP_SRAM] = draw(m, 20);
    part.used[CHIP_TCAM] = draw(m, 3) ? 0 : draw(m, 8);
    part.used[CHIP_VLIW] = 1 + draw(m, 4);
    part.used[CHIP_STATEFUL_ALUS] = draw(m, 4) == 0;
    for (unsigned i = 0; i < CHIP_RESOURCES; i++) {
        u->need[i] += part.used[i];
        p->stages.v[stage][i] += part.used[i];
    }
    u->entries += part.entries;
    VEC_PUSH(m->a, &u->parts, part);
}

static void add_units(struct made *m, struct chip_pipe *p, unsigned gress, unsigned n,
                      unsigned stages) {
    struct chip_gress *g = &p->gress[gress];
    for (unsigned i = 0; i < n; i++) {
        const enum chip_unit_kind kind = i % 5 == 3   ? CHIP_KEYLESS
                                         : i % 7 == 5 ? CHIP_GATEWAY
                                                      : CHIP_TABLE;
        struct chip_unit u = {
            .id = i, .kind = kind, .gress = (enum ir_gress_kind)gress, .at = place(m)};
        u.name = kind == CHIP_TABLE
                     ? name(m, gress ? "pipe.Egress.part.table%u" : "pipe.Ingress.table%u", i)
                     : name(m, kind == CHIP_GATEWAY ? "if switch.p4:%u" : "switch.p4:%u", i);
        u.earliest = i * stages / n;
        add_part(m, p, &u, u.earliest);
        if (kind == CHIP_TABLE && i % 6 == 0)
            for (unsigned s = u.earliest + 1; s < stages && s < u.earliest + 3; s++)
                add_part(m, p, &u, s);
        VEC_PUSH(m->a, &g->units, u);
        g->stages = u.parts.v[u.parts.n - 1].stage + 1 > g->stages
                        ? u.parts.v[u.parts.n - 1].stage + 1
                        : g->stages;
    }
    for (unsigned i = 1; i < n; i++)
        for (unsigned k = draw(m, 4); k > 0; k--) {
            struct chip_dep d = {
                .from = draw(m, i), .to = i, .kind = (enum chip_dep_kind)draw(m, 5)};
            if (g->units.v[d.from].earliest == g->units.v[i].earliest && d.kind < CHIP_DEP_ANTI)
                d.kind = CHIP_DEP_ANTI;
            d.bits = (struct chip_bits){variable(m, i), 0, 1};
            if (d.kind == CHIP_DEP_CONTROL)
                d.bits.var = NULL;
            d.writer = d.reader = place(m);
            VEC_PUSH(m->a, &g->deps, d);
        }
    for (unsigned s = 0, i = 0; s < stages && n; s++) {
        while (i < n && g->units.v[i].earliest < s)
            i++;
        if (i < n && g->units.v[i].earliest == s)
            VEC_PUSH(m->a, &g->critical_path, i);
    }
    for (unsigned i = 1; i < g->critical_path.n; i++) {
        struct chip_dep d = {.kind = CHIP_DEP_MATCH,
                             .from = g->critical_path.v[i - 1],
                             .to = g->critical_path.v[i],
                             .bits = {variable(m, i), 0, 1},
                             .writer = place(m),
                             .reader = place(m)};
        VEC_PUSH(m->a, &g->deps, d);
    }
}

static void add_containers(struct made *m, struct chip_pipe *p) {
    static const unsigned sizes[] = {8, 16, 32};
    for (unsigned i = 0; i < 3; i++)
        for (unsigned n = 0; n < 40; n++) {
            struct chip_container c = {
                .size = sizes[i], .number = n, .tagalong = n > 35, .gress = n % 3 == 0};
            struct chip_slice s = {.bits = {variable(m, n), 0, 1},
                                   .container_lo = draw(m, sizes[i]),
                                   .first_stage = -1,
                                   .last_stage = (int)draw(m, 13)};
            VEC_PUSH(m->a, &c.slices, s);
            s.container_lo = 0;
            s.first_stage = 3;
            VEC_PUSH(m->a, &c.slices, s);
            VEC_PUSH(m->a, &p->phv.containers, c);
            (c.tagalong ? p->phv.tagalong_used : p->phv.used)[c.gress][i]++;
        }
    p->phv.bits_used[0] = 1000;
    p->phv.fits = true;
}

static void add_violation(struct made *m, unsigned i) {
    struct chip_violation *v = chip_violate(
        m->r, i ? "stages" : "register-actions", (struct loc){0, i + 1, 3, 8},
        name(m, "register 'r%u' has 5 register actions; a stateful ALU has room for 4", i * 3),
        name(m, "move action %u to a register of its own", i * 3));
    v->limit = 4;
    v->used = 5;
    v->also = place(m);
    v->also_text = name(m, "the first one of %u is here", i * 3);
    for (unsigned k = 0; k < 3; k++) {
        struct chip_step s = {place(m), name(m, "the condition 'x == %u' holds", k * 3)};
        VEC_PUSH(m->a, &v->path, s);
    }
}

// 'units' in each gress over 'stages' stages, in so many pipelines.
static struct made make(unsigned units, unsigned stages, unsigned pipes, bool is_hostile) {
    static const char source[] =
        "    reg.execute(index);\n  <b>\"x\"</b> & \033[2J \xff\n\tlast line\n";
    struct made m = {.a = arena_new(), .hostile = is_hostile, .random = units};
    struct diag *d = diag_new(m.a);
    const char *path = is_hostile ? "dir<b>/\"x'>\033[2J.p4" : "somewhere/switch.p4";
    diag_set_source(d, diag_file(d, path), source, sizeof source - 1);
    struct chip_report *r = m.r = ARENA_NEW(m.a, struct chip_report);
    *r = (struct chip_report){.arena = m.a, .diag = d, .path = path, .fits = true, .judged = true};
    r->limits = chip_limits_of(r->target = CHIP_TOFINO1);
    for (unsigned i = 0; i < pipes; i++) {
        struct chip_pipe *p = ARENA_NEW(m.a, struct chip_pipe);
        struct ir_pipeline *ir = ARENA_NEW(m.a, struct ir_pipeline);
        ir->name = i ? "pipe_b" : "pipe";
        p->ir = ir;
        for (unsigned g = 0; g < 2; g++) {
            p->gress[g].kind = (enum ir_gress_kind)g;
            add_units(&m, p, g, g ? units / 2 : units, stages);
        }
        if (units)
            add_containers(&m, p);
        p->parser[0] =
            (struct chip_parser){.states = 14, .rows = 30, .max_depth = 128, .min_depth = 30};
        p->deparser[0] = (struct chip_deparser){.pov_bits = 12, .entries = 200, .header_bytes = 90};
        VEC_PUSH(m.a, &r->pipes, p);
    }
    for (unsigned i = 0; stages > r->limits->stages && i < 3; i++)
        add_violation(&m, i);
    chip_note(r, name(&m, "Placement is an estimate: the chip's compiler has choices %u.", 3));
    return m;
}

static char *printed(const struct chip_report *r, char form, bool colour, unsigned width) {
    char *text = NULL;
    size_t length = 0;
    FILE *f = open_memstream(&text, &length);
    assert_non_null(f);
    if (form == 't')
        chip_print_text(f, r, colour, width);
    else
        (form == 'j' ? chip_print_json : chip_print_html)(f, r);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(strlen(text), length);
    return text;
}

// ---- text ----

static size_t columns_of(const char *line, size_t n) {
    size_t columns = 0;
    for (size_t i = 0; i < n; i++)
        columns += ((unsigned char)line[i] & 0xc0) != 0x80;
    return columns;
}

// From the stage map on; the lines of the compiler's form are as long as what they say. A hostile
// name may end with blanks.
static void check_width(const char *text, unsigned width, bool is_hostile) {
    const char *map = strstr(text, "\nStage map");
    assert_non_null(map);
    for (const char *line = map + 1, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        assert_non_null(end);
        if (columns_of(line, (size_t)(end - line)) > width)
            fail_msg("wider than %u: %.*s", width, (int)(end - line), line);
        if (!is_hostile && end > line && end[-1] == ' ')
            fail_msg("blanks at the end: '%.*s'", (int)(end - line), line);
    }
}

static void test_width(void **state) {
    static const unsigned widths[] = {40, 41, 52, 59, 60, 61, 69, 70, 75, 76, 80, 100, 133, 300};
    (void)state;
    for (unsigned k = 0; k < 4; k++) {
        struct made m = make(k == 0 ? 0 : 60, k == 2 ? 15 : 9, k == 3 ? 2 : 1, k >= 2);
        for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
            char *text = printed(m.r, 't', false, widths[i]);
            check_width(text, widths[i], k >= 2);
            free(text);
        }
        arena_free(m.a);
    }
}

static void test_terminal(void **state) {
    (void)state;
    struct made m = make(60, 15, 1, true);
    char *plain = printed(m.r, 't', false, 80), *coloured = printed(m.r, 't', true, 80);
    for (const char *p = plain; *p; p++)
        if (((unsigned char)*p < ' ' && *p != '\n' && *p != '\t') || *p == 0x7f)
            fail_msg("control character %u", (unsigned char)*p);
    assert_null(strstr(plain, "\xc2\x9b"));
    assert_null(strstr(coloured, "\033]0"));
    assert_null(strstr(coloured, "\033[2J"));
    // but for its colours it says the same
    char *out = coloured;
    for (const char *p = coloured; *p;) {
        if (*p == '\033')
            p += strcspn(p, "m") + 1;
        else
            *out++ = *p++;
    }
    *out = '\0';
    assert_string_equal(plain, coloured);
    free(plain);
    free(coloured);
    arena_free(m.a);
}

static void test_answer(void **state) {
    (void)state;
    struct made m = make(20, 9, 1, false);
    char *text = printed(m.r, 't', false, 100);
    assert_ptr_equal(
        strstr(text, "fits Tofino 1\nsomewhere/switch.p4: 9 of 12 stages, 9 in ingress, "), text);
    assert_non_null(strstr(text, "table0 1/3"));
    free(text);
    arena_free(m.a);
    m = make(20, 15, 1, false);
    text = printed(m.r, 't', false, 100);
    assert_ptr_equal(strstr(text, "does not fit Tofino 1: 3 limits exceeded\n"), text);
    assert_non_null(
        strstr(text, "\nsomewhere/switch.p4:1:3: error: register 'r0' has 5 register actions; a "
                     "stateful ALU has room for 4 [register-actions]\n"
                     "    1 |     reg.execute(index);\n      |   ^~~~~\n"
                     "    the limit is 4, this is 5\n"));
    assert_non_null(strstr(text, "    try: move action 0 to a register of its own\n"));
    free(text);
    arena_free(m.a);
}

// A limit that is passed within the known error is told, but is no part of the verdict.
static void test_known_error(void **state) {
    (void)state;
    for (unsigned k = 0; k < 3; k++) { // so many of two are within it
        struct made m = make(20, 9, 1, false);
        add_violation(&m, 0);
        add_violation(&m, 1);
        for (unsigned i = 0; i < k; i++)
            m.r->violations.v[i].within_error = true;
        chip_trust_known_error(m.r);
        assert_int_equal(m.r->violations.n, 2 - k);
        assert_int_equal(m.r->warnings.n, k);
        assert_int_equal(m.r->fits, k == 2);
        assert_int_equal(chip_verdict(m.r), k == 2 ? CHIP_FITS : CHIP_DOES_NOT_FIT);
        char *text = printed(m.r, 't', false, 100);
        assert_int_equal(strstr(text, "warning: ") != NULL, k > 0);
        assert_ptr_equal(strstr(text, k == 2 ? "fits Tofino 1\n" : "does not fit Tofino 1: "),
                         text);
        free(text);
        text = printed(m.r, 'j', false, 0);
        json_t *doc = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
        assert_int_equal(json_array_size(json_object_get(doc, "warnings")), k);
        json_decref(doc);
        free(text);
        text = printed(m.r, 'h', false, 0);
        assert_int_equal(strstr(text, "<section id=\"warnings\">") != NULL, k > 0);
        free(text);
        arena_free(m.a);
    }
}

// ---- JSON ----

static void test_json(void **state) {
    (void)state;
    for (unsigned k = 0; k < 4; k++) {
        struct made m = make(k == 0 ? 0 : 100, k == 2 ? 15 : 9, k == 1 ? 2 : 1, k >= 2);
        char *text = printed(m.r, 'j', false, 0);
        json_error_t error;
        json_t *doc = json_loads(text, JSON_REJECT_DUPLICATES, &error);
        if (!doc)
            fail_msg("line %d: %s", error.line, error.text);
        size_t i, tables = 0;
        json_t *table;
        assert_int_equal(json_is_true(json_object_get(doc, "fits")), k != 2);
        assert_int_equal(json_integer_value(json_object_get(doc, "stages")), k == 0   ? 0
                                                                             : k == 2 ? 15
                                                                                      : 9);
        json_array_foreach(json_object_get(doc, "tables"), i, table) tables +=
            json_array_size(json_object_get(table, "stages")) > 0;
        assert_int_equal(tables, k == 0 ? 0 : 150);
        assert_int_equal(json_array_size(json_object_get(doc, "violations")), k == 2 ? 3 : 0);
        json_decref(doc);
        free(text);
        arena_free(m.a);
    }
}

// ---- the page ----

static unsigned count(const char *text, const char *what) {
    unsigned n = 0;
    for (const char *p = text; (p = strstr(p, what)); p++)
        n++;
    return n;
}

static void test_page(void **state) {
    (void)state;
    struct made plain = make(100, 15, 1, false), bad = make(100, 15, 1, true);
    char *a = printed(plain.r, 'h', false, 0), *b = printed(bad.r, 'h', false, 0);
    assert_int_equal(count(a, "<script"), 1);
    // hostile names make no element more, and none less
    static const char *const elements[] = {"<script", "</script", "<img",     "<!--",
                                           "</title", "</style",  "<a ",      "<li",
                                           "<tr",     "<path",    "<section", "<b>"};
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        if (count(a, elements[i]) != count(b, elements[i]))
            fail_msg("%u of '%s', with hostile names %u", count(a, elements[i]), elements[i],
                     count(b, elements[i]));
    for (const char *p = b; *p; p++)
        if (((unsigned char)*p < ' ' && *p != '\n' && *p != '\t') || *p == 0x7f)
            fail_msg("control character %u", (unsigned char)*p);
    assert_null(strstr(a, "http:"));
    assert_null(strstr(a, "https:"));
    free(a);
    free(b);
    arena_free(plain.a);
    arena_free(bad.a);
}

static void write_all(const char *folder) {
    static const struct {
        const char *name;
        unsigned units, stages, pipes;
        bool hostile;
    } reports[] = {{"many", 100, 12, 1, false},
                   {"over", 40, 15, 1, false},
                   {"empty", 0, 0, 1, false},
                   {"pipes", 30, 6, 2, false},
                   {"hostile", 60, 14, 1, true}};
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
        struct made m =
            make(reports[i].units, reports[i].stages, reports[i].pipes, reports[i].hostile);
        static const char *const extensions[] = {"txt", "json", "html"};
        for (unsigned k = 0; k < 3; k++) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s.%s", folder, reports[i].name, extensions[k]);
            FILE *f = fopen(path, "w");
            char *text = printed(m.r, extensions[k][0], false, 100);
            if (!f || fputs(text, f) < 0 || fclose(f) != 0)
                abort();
            free(text);
        }
        arena_free(m.a);
    }
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "--write") == 0) {
        write_all(argv[2]);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_width),       cmocka_unit_test(test_terminal),
        cmocka_unit_test(test_answer),      cmocka_unit_test(test_json),
        cmocka_unit_test(test_known_error), cmocka_unit_test(test_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
