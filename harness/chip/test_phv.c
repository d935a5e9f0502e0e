// SPDX-License-Identifier: Apache-2.0
//
// Containers. How many of each size a program takes, and where it no longer fits, was tried with the chip's
// own compiler; every allocation is checked against itself and the program (chip_phv_wrong).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/chip/phv.h"
#include "harness/chip/program.h"

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

// ---- headers that are only parsed and deparsed --------------------------------------------------------
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
    // The egress has a collection of tagalong containers for the bytes that lengthen its parser; the ingress
    // the other seven, 224 bytes, then containers of 32 bits, then of 16.
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

// ---- the checker --------------------------------------------------------------------------------------
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
        cmocka_unit_test(contradictions_are_found),
        cmocka_unit_test(programs_of_ours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
