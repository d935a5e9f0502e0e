// SPDX-License-Identifier: Apache-2.0
//
// Containers. How many of each size a program takes, and where it no longer fits, was tried with
// the chip's own compiler; every allocation is checked against itself and the program
// (chip_phv_wrong).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/chip/phv/phv.h"
#include "harness/compiler/chip/program.h"

static void expect_right(const struct compile_checked *c, const char *what) {
    for (size_t i = 0; i < c->report->pipes.n; i++) {
        const char *wrong = chip_phv_wrong(c->report, c->report->pipes.v[i]);
        if (wrong)
            fail_msg("%s: %s", what, wrong);
    }
}

static struct compile_checked *checked(const struct program_parts *p) {
    struct compile_checked *c = program_check(p);
    expect_right(c, "program");
    return c;
}

// ---- headers that are only parsed and deparsed --------------------------------------------------
// 'bytes' of payload as headers of 64 bytes.
static struct compile_checked *payload(unsigned bytes) {
    struct text types = {0}, headers = {0}, states = {0};
    text_add(&states, "state first { ");
    for (unsigned at = 0; at < bytes; at += 64) {
        unsigned n = bytes - at < 64 ? bytes - at : 64;
        text_add(&types, "header p%u_h { ", at);
        for (unsigned i = 0; i < n / 4; i++)
            text_add(&types, "bit<32> f%u; ", i);
        text_add(&types, "}\n");
        text_add(&headers, "p%u_h p%u; ", at, at);
        text_add(&states, "pkt.extract(hdr.p%u); ", at);
    }
    text_add(&states, "transition accept; }");
    struct program_parts p = {.types = types.v};
    p.gress[0].headers = headers.v;
    p.gress[0].states = states.v;
    p.gress[0].apply = "ig_tm_md.ucast_egress_port = 1;";
    struct compile_checked *c = checked(&p);
    free(types.v);
    free(headers.v);
    free(states.v);
    return c;
}

static void what_nobody_touches_tags_along(void **state) {
    (void)state;
    // The egress has a collection of tagalong containers for the bytes that lengthen its parser;
    // the ingress the other seven, 224 bytes, then containers of 32 bits, then of 16.
    static const struct {
        unsigned bytes, w, h;
    } tries[] = {{224, 0, 0},  {256, 8, 0},   {320, 24, 0},
                 {384, 40, 0}, {448, 48, 16}, {512, 48, 48}};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        struct compile_checked *c = payload(tries[i].bytes);
        const struct chip_phv *phv = &program_pipe(c)->phv;
        assert_true(phv->fits);
        assert_int_equal(phv->tagalong_used[0][0], 28);
        assert_int_equal(phv->tagalong_used[0][1], 42);
        assert_int_equal(phv->tagalong_used[0][2], 28);
        assert_int_equal(phv->used[0][2], tries[i].w);
        // port, session of mirror type 0
        assert_in_range(phv->used[0][1], tries[i].h, tries[i].h + 2);
        compile_checked_free(c);
    }
}

static void a_gress_has_448_bytes_and_tagalong(void **state) {
    (void)state;
    for (unsigned bytes = 600; bytes <= 640; bytes += 40) {
        struct compile_checked *c = payload(bytes);
        const struct chip_violation *v = program_violation(c, "phv");
        assert_int_equal(v != NULL, bytes == 640);
        assert_int_equal(program_pipe(c)->phv.fits, bytes != 640);
        if (v) {
            assert_non_null(strstr(v->message, "ingress"));
            assert_non_null(strstr(v->message, "hdr.p0 (512 bits)"));
            assert_non_null(strstr(v->suggestion, "do not parse"));
            assert_true(v->at.line > 0);
        }
        compile_checked_free(c);
    }
}

static void headers_of_different_packets_share(void **state) {
    (void)state;
    // Each 300 bytes; a packet has one of three.
    struct text types = {0};
    text_add(&types, "header b_h { bit<8> n; }\nheader o_h { ");
    for (unsigned i = 0; i < 75; i++)
        text_add(&types, "bit<32> f%u; ", i);
    text_add(&types, "}\n");
    struct program_parts p = {.types = types.v};
    p.gress[0].headers = "b_h b; o_h x; o_h y; o_h z;";
    p.gress[0].apply = "ig_tm_md.ucast_egress_port = 1;";
    p.gress[0].states = "state first { pkt.extract(hdr.b); transition select(hdr.b.n) { 1: x; 2: "
                        "y; 3: z; default: accept; } }\n"
                        "state x { pkt.extract(hdr.x); transition accept; }\n"
                        "state y { pkt.extract(hdr.y); transition accept; }\n"
                        "state z { pkt.extract(hdr.z); transition accept; }";
    struct compile_checked *c = checked(&p);
    assert_true(program_pipe(c)->phv.fits);
    assert_true(program_pipe(c)->phv.bits_used[0] < 8 * 400);
    compile_checked_free(c);
    // Behind each other they do not fit.
    p.gress[0].states = "state first { pkt.extract(hdr.b); pkt.extract(hdr.x); pkt.extract(hdr.y); "
                        "pkt.extract(hdr.z); transition accept; }";
    c = checked(&p);
    assert_false(program_pipe(c)->phv.fits);
    compile_checked_free(c);
    free(types.v);
}

static void an_idle_egress_is_not_lengthened(void **state) {
    (void)state;
    struct program_parts p = {0};
    struct compile_checked *c = checked(&p);
    const struct chip_phv *phv = &program_pipe(c)->phv;
    // 27 bytes: four headers of 11 bytes make 65 of them
    unsigned bytes =
        phv->tagalong_used[1][0] + 2 * phv->tagalong_used[1][1] + 4 * phv->tagalong_used[1][2];
    assert_int_equal(bytes, 44);
    compile_checked_free(c);
}

// ---- fields that instructions work on -----------------------------------------------------------
// A header of n fields of 'width' bits, each set from action data by a table that matches on one of
// them.
static struct compile_checked *changed(unsigned n) {
    struct text types = {0}, locals = {0}, apply = {0};
    text_add(&types, "header o_h { ");
    for (unsigned i = 0; i < n; i++)
        text_add(&types, "bit<32> f%u; ", i);
    text_add(&types, "}\n");
    text_add(&apply, "ig_tm_md.ucast_egress_port = 1; ");
    for (unsigned at = 0; at < n; at += 4) {
        text_add(&locals, "action a%u(", at);
        for (unsigned i = at; i < at + 4; i++)
            text_add(&locals, "%sbit<32> x%u", i > at ? ", " : "", i);
        text_add(&locals, ") { ");
        for (unsigned i = at; i < at + 4; i++)
            text_add(&locals, "hdr.o.f%u = x%u; ", i, i);
        text_add(&locals,
                 "}\ntable t%u { key = { hdr.o.f%u : exact; } actions = { a%u; } size = 64; }\n",
                 at, at, at);
        text_add(&apply, "t%u.apply(); ", at);
    }
    struct program_parts p = {.types = types.v};
    p.gress[0].headers = "o_h o;";
    p.gress[0].states = "state first { pkt.extract(hdr.o); transition accept; }";
    p.gress[0].control_locals = locals.v;
    p.gress[0].apply = apply.v;
    struct compile_checked *c = checked(&p);
    free(types.v);
    free(locals.v);
    free(apply.v);
    return c;
}

static void fields_are_cut_when_wide_containers_are_full(void **state) {
    (void)state;
    // As the chip's compiler: 48 of 32 bits, then pairs of 16, then fours of 8; 3200 bits are too
    // many.
    static const struct {
        unsigned n, w, h, b;
    } tries[] = {
        {40, 40, 0, 0}, {48, 48, 0, 0}, {64, 48, 32, 0}, {80, 48, 64, 0}, {96, 48, 78, 36}};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        struct compile_checked *c = changed(tries[i].n);
        const struct chip_phv *phv = &program_pipe(c)->phv;
        assert_true(phv->fits);
        assert_int_equal(phv->used[0][2], tries[i].w);
        assert_int_equal(phv->used[0][1], tries[i].h + 2);
        assert_int_equal(phv->used[0][0], tries[i].b + 2);
        assert_int_equal(
            phv->tagalong_used[0][0] + phv->tagalong_used[0][1] + phv->tagalong_used[0][2], 0);
        compile_checked_free(c);
    }
    struct compile_checked *c = changed(100);
    assert_non_null(program_violation(c, "phv"));
    compile_checked_free(c);
}

// n fields of 'width' bits are kept in metadata by one table and added to by another.
static struct compile_checked *added(unsigned n, unsigned width) {
    struct text types = {0}, md = {0}, locals = {0}, second = {0};
    text_add(&types, "header e_h { bit<32> d; bit<32> s; }\nheader o_h { ");
    text_add(&locals, "action a() { ");
    text_add(&second, "action b() { ");
    for (unsigned i = 0; i < n; i++) {
        text_add(&types, "bit<%u> f%u; ", width, i);
        text_add(&md, "bit<%u> m%u; ", width, i);
        text_add(&locals, "md.m%u = hdr.o.f%u; ", i, i);
        text_add(&second, "hdr.o.f%u = md.m%u + hdr.o.f%u; ", i, i, i);
    }
    text_add(&types, "}\n");
    text_add(&locals,
             "}\n%s}\ntable ta { key = { hdr.e.d : exact; } actions = { a; } size = 64; }\n"
             "table tb { key = { hdr.e.s : exact; } actions = { b; } size = 64; }\n",
             second.v);
    struct program_parts p = {.types = types.v};
    p.gress[0].headers = "e_h e; o_h o;";
    p.gress[0].metadata = md.v;
    p.gress[0].states =
        "state first { pkt.extract(hdr.e); pkt.extract(hdr.o); transition accept; }";
    p.gress[0].control_locals = locals.v;
    p.gress[0].apply = "ig_tm_md.ucast_egress_port = 1; ta.apply(); tb.apply();";
    struct compile_checked *c = checked(&p);
    free(types.v);
    free(md.v);
    free(locals.v);
    free(second.v);
    return c;
}

static void what_is_added_is_not_cut(void **state) {
    (void)state;
    static const struct {
        unsigned n, width;
        bool fits;
    } tries[] = {{39, 16, true}, {41, 16, false}, {24, 8, true}, {32, 8, false}, {32, 32, false}};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        struct compile_checked *c = added(tries[i].n, tries[i].width);
        assert_int_equal(program_pipe(c)->phv.fits, tries[i].fits);
        assert_int_equal(program_violation(c, "phv") == NULL, tries[i].fits);
        compile_checked_free(c);
    }
}

static void an_instruction_stays_in_a_group(void **state) {
    (void)state;
    for (unsigned n = 15; n <= 16; n++) { // header fields that one metadata field goes to
        struct text headers = {0}, extract = {0}, locals = {0}, names = {0};
        text_add(&headers, "e_h e; ");
        text_add(&extract, "state first { pkt.extract(hdr.e); ");
        for (unsigned i = 0; i < n; i++) {
            text_add(&headers, "o_h o%u; ", i);
            text_add(&extract, "pkt.extract(hdr.o%u); ", i);
            text_add(&locals, "action a%u() { hdr.o%u.f = md.x; }\n", i, i);
            text_add(&names, "a%u; ", i);
        }
        text_add(&extract, "transition accept; }");
        text_add(&locals,
                 "action s(bit<32> v) { md.x = v; }\n"
                 "table ts { key = { hdr.e.d : exact; } actions = { s; } size = 64; }\n"
                 "table t { key = { hdr.e.s : exact; } actions = { %s } size = 64; }\n",
                 names.v);
        struct program_parts p = {
            .types = "header o_h { bit<32> f; }\nheader e_h { bit<32> d; bit<32> s; }\n"};
        p.gress[0].headers = headers.v;
        p.gress[0].metadata = "bit<32> x;";
        p.gress[0].states = extract.v;
        p.gress[0].control_locals = locals.v;
        p.gress[0].apply = "ts.apply(); t.apply();";
        struct compile_checked *c = checked(&p);
        const struct chip_violation *v = program_violation(c, "phv-group");
        assert_int_equal(v != NULL, n == 16);
        if (v) {
            assert_int_equal(v->used, 17);
            assert_int_equal(v->limit, 16);
        }
        compile_checked_free(c);
        free(headers.v);
        free(extract.v);
        free(locals.v);
        free(names.v);
    }
}

static void sizes_that_one_instruction_cannot_have(void **state) {
    (void)state;
    struct program_parts p = {.types = "header o_h { bit<8> n; bit<16> w; }\n"};
    p.gress[0].headers = "o_h o;";
    p.gress[0].states = "state first { pkt.extract(hdr.o); transition accept; }";
    p.gress[0].apply = "ig_tm_md.ucast_egress_port = 1; hdr.o.n = hdr.o.n - 1;"
                       "if (hdr.o.w == 1) { ig_tm_md.rid = 8w0 ++ hdr.o.n; }";
    struct compile_checked *c = checked(&p);
    const struct chip_violation *v = program_violation(c, "phv-size");
    assert_non_null(v);
    assert_int_equal(v->limit, 8);
    assert_int_equal(v->used, 16);
    compile_checked_free(c);
    // a field that is not counted may be in part of a container
    p.gress[0].apply =
        "ig_tm_md.ucast_egress_port = 1; if (hdr.o.w == 1) { ig_tm_md.rid = 8w0 ++ hdr.o.n; }";
    c = checked(&p);
    assert_null(program_violation(c, "phv-size"));
    compile_checked_free(c);
}

// ---- the checker --------------------------------------------------------------------------------
static void contradictions_are_found(void **state) {
    (void)state;
    for (unsigned kind = 0; kind < 5; kind++) {
        struct compile_checked *c = payload(128);
        struct chip_pipe *pipe = program_pipe(c);
        struct chip_container *box = &pipe->phv.containers.v[0];
        while (box->slices.n == 0 || !box->slices.v[0].bits.var->header)
            box++;
        struct chip_slice twice = box->slices.v[0];
        switch (kind) {
        case 0: // two containers for the same bits
            VEC_PUSH(c->report->arena, &(box + 1)->slices, twice);
            break;
        case 1: // a bit without one
            box->slices.v[0].bits.width--;
            break;
        case 2: // past the container's end
            box->slices.v[0].container_lo = box->size;
            break;
        case 3: // no such container
            box->number = 1000;
            break;
        default: // the other gress's
            box->gress = 1 - box->gress;
            break;
        }
        assert_non_null(chip_phv_wrong(c->report, pipe));
        compile_checked_free(c);
    }
}

static void programs_of_ours(void **state) {
    (void)state;
    static const char *const patterns[] = {"p4/*/*.p4", "harness/replay/programs/*.p4",
                                           "harness/stf/*.p4", "harness/stf/*/*.p4", "bench/*.p4"};
    static const char *const dirs[] = {"p4/include", "p4"};
    unsigned looked_at = 0;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        glob_t g;
        if (glob(patterns[i], 0, NULL, &g) != 0)
            continue;
        for (size_t k = 0; k < g.gl_pathc; k++) {
            if (strstr(g.gl_pathv[k], "p4/include/"))
                continue;
            char *text = NULL;
            size_t n = 0;
            FILE *f = open_memstream(&text, &n);
            assert_non_null(f);
            struct compile_options opt = {
                .path = g.gl_pathv[k], .include_dirs = dirs, .n_include_dirs = 2};
            struct compile_checked *c = compile_check(&opt, f);
            fclose(f);
            free(text);
            assert_non_null(c);
            if (c->verdict != COMPILE_REFUSED) {
                expect_right(c, g.gl_pathv[k]);
                looked_at++;
            }
            compile_checked_free(c);
        }
        globfree(&g);
    }
    assert_true(looked_at > 15);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_nobody_touches_tags_along),
        cmocka_unit_test(a_gress_has_448_bytes_and_tagalong),
        cmocka_unit_test(headers_of_different_packets_share),
        cmocka_unit_test(an_idle_egress_is_not_lengthened),
        cmocka_unit_test(fields_are_cut_when_wide_containers_are_full),
        cmocka_unit_test(what_is_added_is_not_cut),
        cmocka_unit_test(an_instruction_stays_in_a_group),
        cmocka_unit_test(sizes_that_one_instruction_cannot_have),
        cmocka_unit_test(contradictions_are_found),
        cmocka_unit_test(programs_of_ours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
