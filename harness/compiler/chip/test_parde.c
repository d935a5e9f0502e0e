// SPDX-License-Identifier: Apache-2.0
//
// What parser and deparser take of a chip. Where a limit is was tried with the chip's own compiler:
// pairs of programs on both sides of each.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "harness/compiler/chip/program.h"

#define ONE   "header one_h { bit<8> f; }\n"
#define FIRST "state first { "

// A select over the fields named, in a header of 16 bytes f0 to f15, then a header that is counted
// up.
static struct compile_checked *select_on(const char *key_header, const char *keys,
                                         const char *set) {
    struct text types = {0}, states = {0};
    text_add(&types, "%sheader key_h { %s }\n", ONE, key_header);
    text_add(
        &states,
        "state first { pkt.extract(hdr.k); transition select(%s) { %s: more; default: accept; } }\n"
        "state more { pkt.extract(hdr.x); transition accept; }",
        keys, set);
    struct program_parts p = {.types = types.v};
    p.gress[0].headers = "key_h k; one_h x;";
    p.gress[0].states = states.v;
    p.gress[0].apply = "if (hdr.x.isValid()) { hdr.x.f = hdr.x.f + 1; }";
    struct compile_checked *c = program_check(&p);
    free(types.v);
    free(states.v);
    return c;
}

static void selects_have_registers_for_four_bytes(void **state) {
    (void)state;
    static const char *const sixteen =
        "bit<8> f0; bit<8> f1; bit<8> f2; bit<8> f3; bit<8> f4; bit<8> f5; bit<8> f6; bit<8> f7;"
        "bit<8> f8; bit<8> f9; bit<8> f10; bit<8> f11; bit<8> f12; bit<8> f13; bit<8> f14; bit<8> "
        "f15;";
    static const struct {
        const char *header, *keys, *set;
        const char *rule; // or null: the parser has registers enough
    } tries[] = {
        {"bit<32> f0;", "hdr.k.f0", "1", NULL},
        {"bit<32> f0; bit<8> f1;", "hdr.k.f0, hdr.k.f1", "(1, 2)", "select-registers"},
        {"bit<32> f0; bit<32> f1;", "hdr.k.f0, hdr.k.f1", "(1, 2)", "select-registers"},
        // a key that no case looks at takes none
        {"bit<32> f0; bit<8> f1;", "hdr.k.f0, hdr.k.f1", "(1, _)", NULL},
        {"bit<40> f0;", "hdr.k.f0", "1", "select-width"},
        {"bit<128> f0;", "hdr.k.f0", "1", "select-width"},
    };
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        struct compile_checked *c = select_on(tries[i].header, tries[i].keys, tries[i].set);
        static const char *const rules[] = {"select-registers", "select-width"};
        for (size_t k = 0; k < 2; k++) {
            bool expected = tries[i].rule && strcmp(tries[i].rule, rules[k]) == 0;
            assert_int_equal(program_violation(c, rules[k]) != NULL, expected);
        }
        compile_checked_free(c);
    }
    // Four bytes of which no two are neighbours: one register of 16 bits, two of 8, hold three of
    // them.
    struct compile_checked *c =
        select_on(sixteen, "hdr.k.f0, hdr.k.f4, hdr.k.f8, hdr.k.f12", "(1, 2, 3, 4)");
    const struct chip_violation *v = program_violation(c, "select-registers");
    assert_non_null(v);
    assert_int_equal(v->used, 4);
    assert_true(v->at.line > 0);
    compile_checked_free(c);
    c = select_on(sixteen, "hdr.k.f0, hdr.k.f1, hdr.k.f8, hdr.k.f12", "(1, 2, 3, 4)");
    assert_null(program_violation(c, "select-registers"));
    compile_checked_free(c);
}

static void a_stack_has_32_elements(void **state) {
    (void)state;
    for (unsigned n = 32; n <= 33; n++) {
        struct text headers = {0};
        text_add(&headers, "one_h[%u] v;", n);
        struct program_parts p = {.types = ONE};
        p.gress[0].headers = headers.v;
        p.gress[0].states =
            "state first { pkt.extract(hdr.v.next); transition select(hdr.v.last.f) { 1: "
            "accept; default: first; } }";
        struct compile_checked *c = program_check(&p);
        assert_int_equal(program_violation(c, "header-stack") != NULL, n == 33);
        compile_checked_free(c);
        free(headers.v);
    }
}

static void lookahead_sees_32_bytes(void **state) {
    (void)state;
    for (unsigned bits = 248; bits <= 264; bits += 8) {
        struct text states = {0};
        text_add(
            &states,
            "state first { transition select(pkt.lookahead<bit<%u>>()[7:0]) { 1: more; default: "
            "accept; } }\n"
            "state more { pkt.extract(hdr.x); transition accept; }",
            bits);
        struct program_parts p = {.types = ONE};
        p.gress[0].headers = "one_h x;";
        p.gress[0].states = states.v;
        struct compile_checked *c = program_check(&p);
        const struct chip_violation *v = program_violation(c, "lookahead");
        assert_int_equal(v != NULL, bits > 256);
        if (v) {
            assert_int_equal(v->limit, 32);
            assert_int_equal(v->used, 33);
        }
        compile_checked_free(c);
        free(states.v);
    }
}

static void depths_of_ways(void **state) {
    (void)state;
    // 8 + 8 in front; one header of 4 bytes, then none, one of 2 or a stack of 3 x 6.
    struct program_parts p = {.types = "header a_h { bit<32> f; }\nheader b_h { bit<16> f; "
                                       "}\nheader c_h { bit<8> more; bit<40> f; }\n"};
    p.gress[0].headers = "a_h a; b_h b; c_h[3] c;";
    p.gress[0].states = "state first { pkt.extract(hdr.a); transition select(hdr.a.f) { 1: two; 2: "
                        "six; default: accept; } }\n"
                        "state two { pkt.extract(hdr.b); transition accept; }\n"
                        "state six { pkt.extract(hdr.c.next); transition select(hdr.c.last.more) { "
                        "1: six; default: accept; } }";
    p.gress[1].headers = "a_h a;";
    p.gress[1].states =
        "state first { pkt.extract(hdr.a); transition select(hdr.a.f) { 1: accept; } }";
    struct compile_checked *c = program_check(&p);
    const struct chip_pipe *pipe = program_pipe(c);
    assert_int_equal(pipe->parser[0].min_depth, 16 + 4);
    assert_int_equal(pipe->parser[0].max_depth, 16 + 4 + 3 * 6);
    assert_int_equal(pipe->parser[1].min_depth, 27 + 4);
    assert_int_equal(pipe->parser[1].max_depth, 27 + 4);
    assert_true(c->report->fits);
    compile_checked_free(c);
}

static void an_egress_parser_takes_160_bytes(void **state) {
    (void)state;
    for (unsigned words = 33; words <= 34; words++) { // 27 + 132 and 27 + 136 bytes
        struct text types = {0};
        text_add(&types, "header p_h { ");
        for (unsigned i = 0; i < words; i++)
            text_add(&types, "bit<32> f%u; ", i);
        text_add(&types, "}\n");
        struct program_parts p = {.types = types.v};
        p.gress[1].headers = "p_h p;";
        p.gress[1].states = "state first { pkt.extract(hdr.p); transition accept; }";
        struct compile_checked *c = program_check(&p);
        const struct chip_violation *v = program_violation(c, "parser-depth");
        assert_int_equal(v != NULL, words == 34);
        if (v)
            assert_non_null(strstr(v->message, "egress parser takes 163 bytes"));
        compile_checked_free(c);
        free(types.v);
    }
}

static void a_short_egress_parser_has_no_counter(void **state) {
    (void)state;
    for (unsigned bytes = 32; bytes <= 40; bytes += 8) { // 27 + 32 and 27 + 40
        struct text types = {0};
        text_add(&types, "header o_h { bit<8> n; bit<%u> f; }\n" ONE, bytes * 8 - 8);
        struct program_parts p = {.types = types.v};
        p.gress[1].headers = "o_h o; one_h[4] x;";
        p.gress[1].parser_locals = "ParserCounter() ctr;";
        p.gress[1].states =
            "state first { pkt.extract(hdr.o); ctr.set(hdr.o.n); transition next; }\n"
            "state next { transition select(ctr.is_zero()) { true: accept; false: more; } }\n"
            "state more { pkt.extract(hdr.x.next); ctr.decrement(1); transition next; }";
        struct compile_checked *c = program_check(&p);
        assert_int_equal(program_violation(c, "parser-counter") != NULL, bytes == 32);
        compile_checked_free(c);
        // that of the ingress is nobody else's
        p.gress[0] = p.gress[1];
        memset(&p.gress[1], 0, sizeof p.gress[1]);
        c = program_check(&p);
        assert_null(program_violation(c, "parser-counter"));
        compile_checked_free(c);
        free(types.v);
    }
}

// Residual sums of n headers in the parser, updates of n sums in the ingress's, m in the egress's
// deparser.
static struct compile_checked *sums(unsigned residuals, unsigned updates, unsigned egress_updates) {
    struct text h[2] = {0}, md = {0}, locals = {0}, extract[2] = {0}, dl[2] = {0}, dep[2] = {0},
                apply[2] = {0};
    unsigned n[2] = {residuals > updates ? residuals : updates, egress_updates};
    text_add(&extract[0], FIRST);
    text_add(&extract[1], FIRST);
    for (unsigned i = 0; i < residuals; i++) {
        text_add(&md, "bit<16> r%u; ", i);
        text_add(&locals, "Checksum() c%u; ", i);
    }
    for (unsigned g = 0; g < 2; g++) {
        text_add(&h[g], " ");
        text_add(&dl[g], " ");
        text_add(&dep[g], " ");
        text_add(&apply[g], " ");
        for (unsigned i = 0; i < n[g]; i++) {
            text_add(&h[g], "i_h i%u; ", i);
            text_add(&extract[g], "pkt.extract(hdr.i%u); ", i);
            if (g == 0 && i < residuals)
                text_add(
                    &extract[g],
                    "c%u.subtract({hdr.i%u.a, hdr.i%u.c}); c%u.subtract_all_and_deposit(md.r%u); ",
                    i, i, i, i, i);
            text_add(&apply[g], "hdr.i%u.a = 7; ", i);
            text_add(&dl[g], "Checksum() u%u; ", i);
            if (g == 0 && i < residuals)
                text_add(&dep[g], "hdr.i%u.c = u%u.update({hdr.i%u.a, md.r%u}); ", i, i, i, i);
            else
                text_add(&dep[g], "hdr.i%u.c = u%u.update({hdr.i%u.a}); ", i, i, i);
        }
        text_add(&extract[g], "transition accept; }");
    }
    struct program_parts p = {.types = "header i_h { bit<16> a; bit<16> c; }\n"};
    p.gress[0].metadata = md.v;
    p.gress[0].parser_locals = locals.v;
    for (unsigned g = 0; g < 2; g++) {
        p.gress[g].headers = h[g].v;
        p.gress[g].states = extract[g].v;
        p.gress[g].apply = apply[g].v;
        p.gress[g].deparser_locals = dl[g].v;
        p.gress[g].deparse = dep[g].v;
    }
    struct compile_checked *c = program_check(&p);
    for (unsigned g = 0; g < 2; g++) {
        free(h[g].v);
        free(extract[g].v);
        free(dl[g].v);
        free(dep[g].v);
        free(apply[g].v);
    }
    free(md.v);
    free(locals.v);
    return c;
}

static void checksum_units(void **state) {
    (void)state;
    static const struct {
        unsigned residuals, updates, egress;
        const char *rule;
    } tries[] = {
        {2, 2, 0, NULL}, {3, 3, 0, "parser-checksums"},
        {0, 6, 0, NULL}, {0, 7, 0, "deparser-checksums"},
        {0, 4, 3, NULL}, {0, 2, 5, NULL},
    };
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        struct compile_checked *c = sums(tries[i].residuals, tries[i].updates, tries[i].egress);
        static const char *const rules[] = {"parser-checksums", "deparser-checksums"};
        for (size_t k = 0; k < 2; k++) {
            bool expected = tries[i].rule && strcmp(tries[i].rule, rules[k]) == 0;
            assert_int_equal(program_violation(c, rules[k]) != NULL, expected);
        }
        assert_int_equal(program_pipe(c)->parser[0].checksums, tries[i].residuals);
        assert_int_equal(program_pipe(c)->deparser[0].checksums, tries[i].updates);
        assert_int_equal(program_pipe(c)->deparser[1].checksums, tries[i].egress);
        compile_checked_free(c);
    }
}

static void sums_of_different_packets_share(void **state) {
    (void)state;
    // IP's sum is verified; of TCP and UDP, of which a packet has one, the same part of it is
    // subtracted.
    struct program_parts p = {.types = "header ip_h { bit<16> a; bit<16> c; }\n"};
    p.gress[0].headers = "ip_h ip; ip_h tcp; ip_h udp;";
    p.gress[0].metadata = "bit<16> t; bit<16> u; bool wrong;";
    p.gress[0].parser_locals = "Checksum() ip; Checksum() tcp; Checksum() udp;";
    static const char *const second[] = {"udp.subtract({hdr.ip.a});", "udp.subtract({hdr.ip.c});"};
    for (unsigned i = 0; i < 2; i++) {
        struct text states = {0};
        text_add(&states,
                 "state first { pkt.extract(hdr.ip); ip.add(hdr.ip); md.wrong = ip.verify();"
                 "tcp.subtract({hdr.ip.a}); %s transition select(hdr.ip.c) { 6: tcp; 17: udp; } }\n"
                 "state tcp { pkt.extract(hdr.tcp); tcp.subtract({hdr.tcp.c});"
                 "tcp.subtract_all_and_deposit(md.t); transition accept; }\n"
                 "state udp { pkt.extract(hdr.udp); udp.subtract({hdr.udp.c});"
                 "udp.subtract_all_and_deposit(md.u); transition accept; }",
                 second[i]);
        p.gress[0].states = states.v;
        struct compile_checked *c = program_check(&p);
        assert_int_equal(program_pipe(c)->parser[0].checksums, 2 + i);
        assert_int_equal(program_violation(c, "parser-checksums") != NULL, i);
        compile_checked_free(c);
        free(states.v);
    }
}

static void what_a_deparser_sends(void **state) {
    (void)state;
    // 1 + 9 + 14 bytes: 1 + 3 + 4 entries of four bytes. The first two come to the egress as
    // bridged.
    struct program_parts p = {
        .types =
            "header kind_h { bit<8> k; }\nheader bridge_h { bit<72> b; }\n"
            "header eth_h { bit<48> d; bit<48> s; bit<16> t; }\nheader never_h { bit<8> f; }\n"};
    p.gress[0].headers = "kind_h kind; bridge_h bridge; eth_h eth; never_h never;";
    p.gress[0].states = "state first { pkt.extract(hdr.eth); transition accept; }";
    p.gress[0].apply =
        "hdr.kind.setValid(); hdr.bridge.setValid(); hdr.bridge.b = 1; hdr.kind.k = 2;"
        "ig_tm_md.ucast_egress_port = 1;";
    p.gress[1].headers = "kind_h kind; bridge_h bridge; eth_h eth;";
    p.gress[1].states = "state first { pkt.extract(hdr.kind); pkt.extract(hdr.bridge); "
                        "pkt.extract(hdr.eth); transition accept; }";
    p.gress[1].apply = "hdr.kind.setInvalid(); hdr.bridge.setInvalid();";
    struct compile_checked *c = program_check(&p);
    const struct chip_deparser *d = &program_pipe(c)->deparser[0];
    assert_int_equal(d->pov_bits, 3); // 'never' is never valid
    assert_int_equal(d->header_bytes, 24);
    assert_int_equal(d->entries, 8);
    assert_int_equal(d->bridged_bytes, 10);
    compile_checked_free(c);
}

// n headers of a byte, one after the other, each asking for the next.
static void rows_of_selects(void **state) {
    (void)state;
    for (unsigned n = 250; n <= 254; n += 4) {
        struct text states = {0};
        text_add(&states, "state first { pkt.extract(hdr.k); transition select(hdr.k.f) { ");
        for (unsigned i = 0; i < n; i++)
            text_add(&states, "%u: %s; ", 3 * i, i % 2 ? "x" : "y");
        text_add(&states, "default: accept; } }\n"
                          "state x { pkt.extract(hdr.x); transition accept; }\n"
                          "state y { pkt.extract(hdr.y); transition accept; }");
        struct program_parts p = {.types = ONE "header two_h { bit<16> f; }\n"};
        p.gress[0].headers = "two_h k; one_h x; one_h y;";
        p.gress[0].states = states.v;
        p.gress[0].apply = "if (hdr.x.isValid()) { hdr.x.f = hdr.x.f + 1; }"
                           "if (hdr.y.isValid()) { hdr.y.f = hdr.y.f + 2; }";
        struct compile_checked *c = program_check(&p);
        // the cases, the default, the first state, x and y
        assert_int_equal(program_pipe(c)->parser[0].rows, n + 4);
        assert_int_equal(program_violation(c, "parser-rows") != NULL, n + 4 > 256);
        compile_checked_free(c);
        free(states.v);
    }
}

static void ranges_take_rows(void **state) {
    (void)state;
    struct program_parts p = {.types = ONE "header two_h { bit<16> f; }\n"};
    p.gress[0].headers = "two_h k; one_h x; one_h y;";
    // 1, 2-3, 4-7 ... 256-511, 512-767, 768-895 ... of 1..1000: 9 up to 511, then 512, 768, 896,
    // 960, 992, 1000
    p.gress[0].states =
        "state first { pkt.extract(hdr.k); transition select(hdr.k.f) { 1..1000: x; 1024: y;"
        "default: accept; } }\n"
        "state x { pkt.extract(hdr.x); transition accept; }\n"
        "state y { pkt.extract(hdr.y); transition accept; }";
    p.gress[0].apply = "if (hdr.x.isValid()) { hdr.x.f = hdr.x.f + 1; }";
    struct compile_checked *c = program_check(&p);
    assert_int_equal(program_pipe(c)->parser[0].rows, 1 + 15 + 1 + 1);
    compile_checked_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selects_have_registers_for_four_bytes),
        cmocka_unit_test(a_stack_has_32_elements),
        cmocka_unit_test(lookahead_sees_32_bytes),
        cmocka_unit_test(depths_of_ways),
        cmocka_unit_test(an_egress_parser_takes_160_bytes),
        cmocka_unit_test(a_short_egress_parser_has_no_counter),
        cmocka_unit_test(checksum_units),
        cmocka_unit_test(sums_of_different_packets_share),
        cmocka_unit_test(what_a_deparser_sends),
        cmocka_unit_test(rows_of_selects),
        cmocka_unit_test(ranges_take_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
