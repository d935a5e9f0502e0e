// SPDX-License-Identifier: Apache-2.0
//
// Small P4 programs from text to packets: what a construct does when it runs.
//
// Each case gives the parts of a program that matter to it; a frame around them makes it complete.
// The result of a packet is its bytes behind the ingress deparser, and what the control decided.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/compile.h"
#include "harness/compiler/emit_rig.h"
#include "stages/checksum.h"
#include "stages/hash.h"

static char folder[] = "/tmp/silken-test-run-XXXXXX";

struct parts {
    const char *types;    // header types, struct headers_t, struct metadata_t
    const char *parser;   // declarations and states; 'parse' is the first state
    const char *control;  // of the ingress: declarations
    const char *apply;    // its statements
    const char *deparser; // statements
    const char *deparser_decls;
};

static void write_program(FILE *f, const struct parts *p) {
    fprintf(f,
            "#include <core.p4>\n#include <tna.p4>\n%s\n"
            "parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,\n"
            "                     out ingress_intrinsic_metadata_t ig_intr_md) {\n",
            p->types);
    const char *states = strstr(p->parser, "state parse");
    fprintf(f, "%.*s\n", (int)(states - p->parser), p->parser);
    fprintf(f,
            "state start { pkt.extract(ig_intr_md); pkt.advance(PORT_METADATA_SIZE);\n"
            "transition parse; }\n%s\n}\n",
            states);
    fprintf(f,
            "control Ingress(inout headers_t hdr, inout metadata_t md,\n"
            "    in ingress_intrinsic_metadata_t ig_intr_md,\n"
            "    in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,\n"
            "    inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,\n"
            "    inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {\n%s\napply {\n"
            "ig_tm_md.ucast_egress_port = 1;\n%s\n} }\n",
            p->control ? p->control : "", p->apply ? p->apply : "");
    fprintf(f,
            "control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,\n"
            "    in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {\n%s\n"
            "apply {\n%s\n} }\n",
            p->deparser_decls ? p->deparser_decls : "", p->deparser);
    fputs("struct eg_headers_t {}\nstruct eg_metadata_t {}\n"
          "parser EgressParser(packet_in pkt, out eg_headers_t hdr, out eg_metadata_t md,\n"
          "    out egress_intrinsic_metadata_t eg_intr_md) {\n"
          "state start { pkt.extract(eg_intr_md); transition accept; } }\n"
          "control Egress(inout eg_headers_t hdr, inout eg_metadata_t md,\n"
          "    in egress_intrinsic_metadata_t eg_intr_md,\n"
          "    in egress_intrinsic_metadata_from_parser_t eg_prsr_md,\n"
          "    inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,\n"
          "    inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) { apply {} }\n"
          "control EgressDeparser(packet_out pkt, inout eg_headers_t hdr, in eg_metadata_t md,\n"
          "    in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) { apply {} }\n"
          "Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(),\n"
          "         EgressDeparser()) pipe;\n"
          "Switch(pipe) main;\n",
          f);
}

static void start(struct rig *r, const struct parts *p) {
    char path[256], error[256];
    snprintf(path, sizeof path, "%s/test.p4", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    write_program(f, p);
    fclose(f);
    struct compile_options opt = {.path = path, .cache_dir = folder};
    char *object = compile_p4(&opt, stderr);
    assert_non_null(object);
    memset(r, 0, sizeof *r);
    r->prog = sk_program_load(object, error, sizeof error);
    if (!r->prog)
        fail_msg("%s", error);
    r->pl = sk_program_desc(r->prog)->pipelines[0];
    r->pipe = r->pl->pipe_new(1);
    assert_non_null(r->pipe);
    free(object);
}

static void stop(struct rig *r) {
    r->pl->pipe_free(r->pipe);
    sk_program_free(r->prog);
}

static const uint8_t *result(const struct rig *r) {
    return sk_packet_data(&r->packet);
}

// --------------------------------------------------------------------------------------------

#define ONE_HEADER                                                                                 \
    "header h_t { bit<8> a; bit<8> b; bit<16> c; bit<32> d; }\n"                                   \
    "struct headers_t { h_t h; }\nstruct metadata_t { bit<16> m; }\n"
#define PARSE_ONE "state parse { pkt.extract(hdr.h); transition accept; }"

static const uint8_t eight[] = {1, 2, 3, 4, 5, 6, 7, 8, 0xaa, 0xbb};

static void test_const_tables(void **state) {
    (void)state;
    struct rig r;
    start(&r,
          &(struct parts){
              .types = ONE_HEADER,
              .parser = PARSE_ONE,
              .control = "action set(bit<16> v) { hdr.h.c = v; }\n"
                         "action keep() {}\n"
                         "table ternary_t { key = { hdr.h.a : ternary; hdr.h.b : ternary; }\n"
                         "  actions = { set; keep; } const default_action = set(0xdddd);\n"
                         "  const entries = { (0x10 &&& 0xf0, _) : set(1);\n"
                         "    (0x12, 5) : set(2); (0x20, 5) : set(3); (0x20, _) : set(4); } }\n"
                         "table range_t { key = { hdr.h.d[15:0] : range @name(\"d\"); }\n"
                         "  actions = { set; keep; } const default_action = keep;\n"
                         "  const entries = { 100..200 : set(0x100); 150..300 : set(0x200); } }\n",
              .apply = "ternary_t.apply(); range_t.apply();",
              .deparser = "pkt.emit(hdr.h);",
          });
    const struct {
        uint8_t a, b;
        uint16_t d, want;
    } cases[] = {
        {0x12, 5, 0, 1},       {0x20, 5, 0, 3},       {0x20, 6, 0, 4},       {0x30, 0, 0, 0xdddd},
        {0x12, 5, 99, 1},      {0x12, 5, 100, 0x100}, {0x12, 5, 200, 0x100}, {0x12, 5, 201, 0x200},
        {0x12, 5, 300, 0x200}, {0x12, 5, 301, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t pkt[8] = {cases[i].a, cases[i].b};
        sk_store16(pkt + 6, cases[i].d);
        rig_send(&r, 3, pkt, sizeof pkt);
        assert_int_equal(sk_load16(result(&r) + 2), cases[i].want);
    }
    struct sk_table *t = rig_table_named(&r, "pipe.Ingress.ternary_t");
    uint64_t key[2] = {0x20, 6};
    assert_int_equal(sk_entry_hits(sk_table_lookup(t, key)), 1);
    assert_int_equal(sk_entry_hits(sk_table_default(t)), 1);
    key[1] = 5;
    assert_int_equal(sk_entry_hits(sk_table_lookup(t, key)), 1);
    assert_int_equal(sk_table_add(t, key, NULL, 0, 1, NULL), SK_E_CONST);
    stop(&r);
}

// Run-time tables of every kind, hit and miss, a switch over the action, a default changed.
static void test_runtime_tables(void **state) {
    (void)state;
    struct rig r;
    start(&r, &(struct parts){
                  .types = ONE_HEADER,
                  .parser = PARSE_ONE,
                  .control = "action set(bit<16> v) { hdr.h.c = v; }\n"
                             "action other() { hdr.h.c = 0x0e0e; }\n"
                             "table routes { key = { hdr.h.d : lpm; } actions = { set; other; }\n"
                             "  default_action = other; size = 16; }\n"
                             "table exact_t { key = { hdr.h.a : exact; hdr.h.b : exact; }\n"
                             "  actions = { set; NoAction; } const default_action = NoAction;\n"
                             "  size = 16; }\n",
                  .apply = "switch (routes.apply().action_run) {\n"
                           "  set: { hdr.h.a = 0x51; } other: { hdr.h.a = 0x52; } }\n"
                           "if (exact_t.apply().hit) { hdr.h.b = 0xbb; } else { hdr.h.b = 0xcc; }",
                  .deparser = "pkt.emit(hdr.h);",
              });
    struct sk_table *routes = rig_table_named(&r, "pipe.Ingress.routes");
    uint64_t key = 0x05000000, mask = 0xff000000, v = 0x1111;
    assert_int_equal(sk_table_add(routes, &key, &mask, 0, 0, &v), SK_OK);
    key = 0x05060000;
    mask = 0xffff0000;
    v = 0x2222;
    assert_int_equal(sk_table_add(routes, &key, &mask, 0, 0, &v), SK_OK);
    rig_send(&r, 3, eight, sizeof eight);
    assert_memory_equal(result(&r), "\x51\xcc\x22\x22\x05\x06\x07\x08\xaa\xbb", 10);
    assert_int_equal(r.packet.len, 10);
    uint64_t two[2] = {0x51, 2};
    v = 0x3333;
    struct sk_table *exact = rig_table_named(&r, "pipe.Ingress.exact_t");
    assert_int_equal(sk_table_add(exact, two, NULL, 0, 0, &v), SK_OK);
    rig_send(&r, 3, eight, sizeof eight);
    assert_memory_equal(result(&r), "\x51\xbb\x33\x33", 4);
    sk_table_clear(routes);
    rig_send(&r, 3, eight, sizeof eight);
    assert_memory_equal(result(&r), "\x52\xcc\x0e\x0e", 4);
    v = 0x7777;
    assert_int_equal(sk_table_set_default(routes, 0, &v), SK_OK);
    rig_send(&r, 3, eight, sizeof eight);
    assert_memory_equal(result(&r), "\x51\xbb\x33\x33", 4);
    stop(&r);
}

// Select over several keys with masks and ranges, a value set, no match.
static void test_select(void **state) {
    (void)state;
    struct rig r;
    start(&r, &(struct parts){
                  .types = ONE_HEADER,
                  .parser = "value_set<bit<16>>(4) ports;\n"
                            "state parse { pkt.extract(hdr.h);\n"
                            "  transition select(hdr.h.a, hdr.h.b) { (1, 2 &&& 0xfe) : one;\n"
                            "    (_, 0x20 .. 0x2f) : two; (9, _) : set_state; } }\n"
                            "state one { md.m = 1; transition accept; }\n"
                            "state two { md.m = 2; transition reject; }\n"
                            "state set_state { transition select(hdr.h.c) { ports : three;\n"
                            "  default : accept; } }\n"
                            "state three { md.m = 3; transition accept; }\n",
                  .apply = "hdr.h.c = md.m;",
                  .deparser = "pkt.emit(hdr.h);",
              });
    const struct {
        uint8_t a, b, want;
        bool drop;
    } cases[] = {{1, 3, 1, false}, {1, 4, 0, true}, {7, 0x2f, 2, false}, {9, 0, 0, false}};
    for (size_t i = 0; i < 4; i++) {
        uint8_t pkt[12] = {cases[i].a, cases[i].b, 0x12, 0x34};
        rig_send(&r, 3, pkt, sizeof pkt);
        assert_int_equal(r.out.parser_drop, cases[i].drop);
        assert_int_equal(r.out.parser_err, cases[i].drop ? SK_PARSER_NO_MATCH : 0);
        if (!cases[i].drop)
            assert_int_equal(sk_load16(result(&r) + 2), cases[i].want);
    }
    assert_int_equal(r.pl->n_value_sets, 1);
    struct sk_table *vs = r.pl->value_set(r.pipe, 0);
    uint64_t key = 0x1200, mask = 0xff00;
    assert_int_equal(sk_table_add(vs, &key, &mask, 0, 0, NULL), SK_OK);
    uint8_t pkt[12] = {9, 0, 0x12, 0x34};
    rig_send(&r, 3, pkt, sizeof pkt);
    assert_int_equal(sk_load16(result(&r) + 2), 3);
    stop(&r);
}

// A header stack read in a loop, lookahead, headers added and removed: the packet changes length.
static void test_stack_and_lengths(void **state) {
    (void)state;
    struct rig r;
    start(&r,
          &(struct parts){
              .types = "header tag_t { bit<1> last; bit<7> id; }\n"
                       "header new_t { bit<16> x; bit<8> y; }\n"
                       "header one_t { bit<8> v; }\n"
                       "struct headers_t { new_t fresh; tag_t[3] tags; one_t one; }\n"
                       "struct metadata_t {}\n",
              .parser = "state parse { transition select(pkt.lookahead<bit<8>>()) {\n"
                        "    0xff : last; default : tags; } }\n"
                        "state tags { pkt.extract(hdr.tags.next);\n"
                        "  transition select(hdr.tags.last.last) { 1 : last; 0 : tags; } }\n"
                        "state last { pkt.extract(hdr.one); transition accept; }\n",
              .apply = "if (hdr.tags[1].isValid()) { hdr.tags[0].setInvalid();\n"
                       "  hdr.fresh.setValid(); hdr.fresh.x = 0xf00d; hdr.fresh.y = hdr.one.v;\n"
                       "  hdr.tags[1].id = hdr.tags[1].id + 1; }",
              .deparser = "pkt.emit(hdr.fresh); pkt.emit(hdr.tags); pkt.emit(hdr.one);",
          });
    rig_send(&r, 1, (const uint8_t *)"\x85\x07\x99", 3);
    assert_int_equal(r.packet.len, 3);
    assert_memory_equal(result(&r), "\x85\x07\x99", 3);
    rig_send(&r, 1, (const uint8_t *)"\x05\x86\x07\x99", 4);
    assert_int_equal(r.packet.len, 6);
    assert_memory_equal(result(&r), "\xf0\x0d\x07\x87\x07\x99", 6);
    rig_send(&r, 1, (const uint8_t *)"\xff\x99", 2);
    assert_memory_equal(result(&r), "\xff\x99", 2);
    stop(&r);
}

// IPv4 checksum: verified, then updated.
static void test_checksums(void **state) {
    (void)state;
    struct rig r;
    start(&r, &(struct parts){
                  .types = "header ip_t { bit<32> w0; bit<32> w1; bit<8> ttl; bit<8> proto;\n"
                           "  bit<16> sum; bit<32> src; bit<32> dst; }\n"
                           "struct headers_t { ip_t ip; }\nstruct metadata_t { bit<1> bad; }\n",
                  .parser = "Checksum() c;\n"
                            "state parse { pkt.extract(hdr.ip); c.add(hdr.ip);\n"
                            "  md.bad = (bit<1>)c.verify(); transition accept; }\n",
                  .apply = "hdr.ip.ttl = hdr.ip.ttl - 1; ig_tm_md.copy_to_cpu = md.bad;",
                  .deparser_decls = "Checksum() c;\n",
                  .deparser = "hdr.ip.sum = c.update({hdr.ip.w0, hdr.ip.w1, hdr.ip.ttl,\n"
                              "  hdr.ip.proto, hdr.ip.src, hdr.ip.dst}); pkt.emit(hdr.ip);",
              });
    uint8_t ip[20] = {0x45, 0, 0, 20, 1, 2, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2};
    sk_store16(ip + 10, sk_csum_result(sk_csum_bytes(0, ip, 20), false));
    rig_send(&r, 1, ip, sizeof ip);
    assert_false(r.out.copy_to_cpu);
    assert_false(sk_csum_wrong(sk_csum_bytes(0, result(&r), 20)));
    assert_int_equal(result(&r)[8], 63);
    ip[19]++;
    rig_send(&r, 1, ip, sizeof ip);
    assert_true(r.out.copy_to_cpu);
    stop(&r);
}

static void test_hash_random_counter(void **state) {
    (void)state;
    struct rig r;
    start(&r, &(struct parts){
                  .types = ONE_HEADER,
                  .parser = PARSE_ONE,
                  .control = "Hash<bit<32>>(HashAlgorithm_t.CRC32) crc;\n"
                             "Hash<bit<8>>(HashAlgorithm_t.IDENTITY) low;\n"
                             "Random<bit<16>>() rnd;\n"
                             "Counter<bit<64>, bit<8>>(4, CounterType_t.PACKETS_AND_BYTES) seen;\n",
                  .apply = "seen.count(hdr.h.a);\n"
                           "bit<32> x = crc.get({hdr.h.a, hdr.h.b, hdr.h.c});\n"
                           "hdr.h.b = low.get({hdr.h.b, hdr.h.a});\n"
                           "hdr.h.d = x; hdr.h.c = rnd.get();",
                  .deparser = "pkt.emit(hdr.h);",
              });
    uint64_t table[256];
    sk_crc_table(table, 32, 0x04c11db7, true);
    uint32_t crc = (uint32_t)sk_crc(table, 32, true, 0xffffffff, 0xffffffff, eight, 4);
    rig_send(&r, 1, eight, sizeof eight);
    assert_int_equal(sk_load32(result(&r) + 4), crc);
    assert_int_equal(result(&r)[1], 1);
    uint16_t random = sk_load16(result(&r) + 2);
    rig_send(&r, 1, eight, sizeof eight);
    assert_int_not_equal(sk_load16(result(&r) + 2), random);
    uint8_t far[8] = {200};
    rig_send(&r, 1, far, sizeof far); // outside of the counter
    struct sk_counter_cell *c = r.pl->counter(r.pipe, 0);
    assert_true(c[1].packets == 2 && c[1].bytes == 2 * (sizeof eight + 4) && c[0].packets == 0);
    stop(&r);
}

static void test_resubmit(void **state) {
    (void)state;
    struct rig r;
    start(&r, &(struct parts){
                  .types = ONE_HEADER "header again_t { bit<16> x; bit<8> y; }\n",
                  .parser = PARSE_ONE,
                  .apply = "if (hdr.h.a == 1) { ig_dprsr_md.resubmit_type = 2; hdr.h.c = 0x7777; }",
                  .deparser_decls = "Resubmit() resubmit;\n",
                  .deparser = "if (ig_dprsr_md.resubmit_type == 2) {\n"
                              "  resubmit.emit<again_t>({hdr.h.c, hdr.h.b}); }\n"
                              "pkt.emit(hdr.h);",
              });
    rig_send(&r, 1, eight, sizeof eight);
    assert_true(r.out.resubmit);
    assert_memory_equal(r.out.resubmit_data, "\x77\x77\x02\0\0\0\0\0", 8);
    assert_memory_equal(result(&r), eight, sizeof eight);
    uint8_t other[8] = {2};
    rig_send(&r, 1, other, sizeof other);
    assert_false(r.out.resubmit);
    stop(&r);
}

// Fields wider than what is computed with: carried, compared, sliced.
static void test_wide_fields(void **state) {
    (void)state;
    struct rig r;
    start(&r, &(struct parts){
                  .types = "header w_t { bit<256> x; bit<256> y; bit<8> z; }\n"
                           "struct headers_t { w_t w; }\nstruct metadata_t {}\n",
                  .parser = "state parse { pkt.extract(hdr.w); transition accept; }",
                  .apply = "if (hdr.w.x == hdr.w.y) { hdr.w.z = 1; }\n"
                           "else { hdr.w.z = hdr.w.x[15:8]; hdr.w.y = hdr.w.x; }",
                  .deparser = "pkt.emit(hdr.w);",
              });
    uint8_t pkt[65] = {0};
    for (int i = 0; i < 64; i++)
        pkt[i] = (uint8_t)i;
    rig_send(&r, 1, pkt, sizeof pkt);
    assert_memory_equal(result(&r) + 32, pkt, 32);
    assert_int_equal(result(&r)[64], 30);
    memcpy(pkt + 32, pkt, 32);
    rig_send(&r, 1, pkt, sizeof pkt);
    assert_int_equal(result(&r)[64], 1);
    stop(&r);
}

// Direct counter and direct register: cells belong to entries and outlive a change of the action.
static void test_direct(void **state) {
    (void)state;
    struct rig r;
    start(
        &r,
        &(struct parts){
            .types = ONE_HEADER,
            .parser = PARSE_ONE,
            .control =
                "DirectCounter<bit<32>>(CounterType_t.PACKETS) dc;\n"
                "DirectRegister<bit<32>>(7) dr;\n"
                "DirectRegisterAction<bit<32>, bit<32>>(dr) bump = {\n"
                "  void apply(inout bit<32> v, out bit<32> rv) { v = v + 1; rv = v; } };\n"
                "action touch() { dc.count(); hdr.h.d = bump.execute(); }\n"
                "table t { key = { hdr.h.a : exact; } actions = { touch; @defaultonly NoAction; }\n"
                "  const default_action = NoAction; size = 16; counters = dc;\n"
                "  registers = dr; }\n",
            .apply = "t.apply();",
            .deparser = "pkt.emit(hdr.h);",
        });
    struct sk_table *t = rig_table_named(&r, "pipe.Ingress.t");
    uint64_t key = 1;
    assert_int_equal(sk_table_add(t, &key, NULL, 0, 0, NULL), SK_OK);
    for (int i = 0; i < 3; i++)
        rig_send(&r, 1, eight, sizeof eight);
    assert_int_equal(sk_load32(result(&r) + 4), 10);
    const struct sk_entry *e = sk_table_lookup(t, &key);
    assert_true(e->packets == 3 && e->direct[0] == 10);
    stop(&r);
}

// Tables that match alike, one after the other: matched once, unless an action changes the key.
static void test_tables_alike(void **state) {
    (void)state;
    struct rig r;
#define ALIKE(name, action)                                                                        \
    "table " name " { key = { hdr.h.a : exact; } actions = { " action "; NoAction; }\n"            \
    "  const default_action = NoAction; const entries = { 1 : " action "(); 2 : NoAction();\n"     \
    "  3 : " action "(); 4 : " action "(); } }\n"
    start(&r, &(struct parts){
                  .types = ONE_HEADER,
                  .parser = PARSE_ONE,
                  .control = "action first() { hdr.h.c = hdr.h.c + 1; }\n"
                             "action second() { hdr.h.c = hdr.h.c << 4; }\n"
                             "action change() { hdr.h.a = 2; }\n"
                             "action last() { hdr.h.c = 0xffff; }\n" ALIKE("t1", "first")
                                 ALIKE("t2", "second") ALIKE("t3", "change") ALIKE("t4", "last"),
                  .apply = "t1.apply(); t2.apply(); t3.apply(); t4.apply();",
                  .deparser = "pkt.emit(hdr.h);",
              });
    const struct {
        uint8_t a, a_then;
        uint16_t c;
    } cases[] = {{1, 2, 0x20}, {2, 2, 1}, {3, 2, 0x20}, {9, 9, 1}};
    for (size_t i = 0; i < 4; i++) {
        uint8_t pkt[8] = {cases[i].a, 0, 0, 1};
        rig_send(&r, 1, pkt, sizeof pkt);
        assert_int_equal(result(&r)[0], cases[i].a_then);
        assert_int_equal(sk_load16(result(&r) + 2), cases[i].c);
    }
    uint64_t key = 1;
    for (unsigned i = 1; i <= 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "pipe.Ingress.t%u", i);
        struct sk_table *t = rig_table_named(&r, name);
        assert_int_equal(sk_entry_hits(sk_table_lookup(t, &key)), 1);
        assert_int_equal(sk_entry_hits(sk_table_default(t)), 1);
    }
    stop(&r);
}

// Eight registers of one shape share an array; each keeps its own cells.
static void test_banks(void **state) {
    (void)state;
    struct rig r;
    char control[4096] = "", apply[1024] = "";
    for (unsigned i = 0; i < 8; i++) {
        char part[400];
        snprintf(part, sizeof part,
                 "Register<bit<16>, bit<8>>(200, %u) r%u;\n"
                 "RegisterAction<bit<16>, bit<8>, bit<16>>(r%u) add%u = {\n"
                 "  void apply(inout bit<16> v, out bit<16> rv) { v = v |+| hdr.h.f%u;\n"
                 "    rv = v; } };\n",
                 i, i, i, i, i);
        strcat(control, part);
        snprintf(part, sizeof part, "hdr.h.f%u = add%u.execute(hdr.h.index);\n", i, i);
        strcat(apply, part);
    }
    start(&r, &(struct parts){
                  .types = "header h_t { bit<8> index; bit<16> f0; bit<16> f1; bit<16> f2;\n"
                           "  bit<16> f3; bit<16> f4; bit<16> f5; bit<16> f6; bit<16> f7; }\n"
                           "struct headers_t { h_t h; }\nstruct metadata_t {}\n",
                  .parser = PARSE_ONE,
                  .control = control,
                  .apply = apply,
                  .deparser = "pkt.emit(hdr.h);",
              });
    uint8_t pkt[17] = {199};
    for (unsigned i = 0; i < 8; i++)
        sk_store16(pkt + 1 + 2 * i, (uint16_t)(0x2000 * i));
    for (unsigned round = 1; round <= 3; round++) {
        rig_send(&r, 1, pkt, sizeof pkt);
        for (unsigned i = 0; i < 8; i++) {
            uint32_t sum = i + round * 0x2000 * i;
            uint16_t want = sum > 0xffff ? 0xffff : (uint16_t)sum;
            assert_int_equal(sk_load16(result(&r) + 1 + 2 * i), want);
            assert_int_equal(r.pl->register_read(r.pipe, i, 199, 0), want);
            assert_int_equal(r.pl->register_read(r.pipe, i, 198, 0), i);
        }
    }
    r.pl->register_write(r.pipe, 5, 199, 0, 0x12345);
    assert_int_equal(r.pl->register_read(r.pipe, 5, 199, 0), 0x2345);
    assert_int_equal(r.pl->register_read(r.pipe, 4, 199, 0), 0xffff);
    pkt[0] = 200; // outside: nothing is added, zero comes back
    rig_send(&r, 1, pkt, sizeof pkt);
    assert_int_equal(sk_load16(result(&r) + 3), 0);
    stop(&r);
}

// The UDP checksum over a payload that the parser does not see, after a change of the header.
static void test_residual_checksum(void **state) {
    (void)state;
    struct rig r;
    start(&r,
          &(struct parts){
              .types = "header udp_t { bit<16> sport; bit<16> dport; bit<16> len; bit<16> sum; }\n"
                       "struct headers_t { udp_t udp; }\nstruct metadata_t { bit<16> rest; }\n",
              .parser = "Checksum() c;\n"
                        "state parse { pkt.extract(hdr.udp);\n"
                        "  c.subtract({hdr.udp.sum, hdr.udp.sport});\n"
                        "  c.subtract_all_and_deposit(md.rest); transition accept; }\n",
              .apply = "hdr.udp.sport = 0x1234;",
              .deparser_decls = "Checksum() c;\n",
              .deparser = "hdr.udp.sum = c.update({hdr.udp.sport, md.rest}); pkt.emit(hdr.udp);",
          });
    uint8_t udp[31] = {0xab, 0xcd, 0, 53, 0, 31};
    for (unsigned i = 8; i < sizeof udp; i++)
        udp[i] = (uint8_t)(17 * i);
    sk_store16(udp + 6, sk_csum_result(sk_csum_bytes(0, udp, sizeof udp), false));
    assert_false(sk_csum_wrong(sk_csum_bytes(0, udp, sizeof udp)));
    rig_send(&r, 1, udp, sizeof udp);
    assert_int_equal(sk_load16(result(&r)), 0x1234);
    assert_false(sk_csum_wrong(sk_csum_bytes(0, result(&r), sizeof udp)));
    stop(&r);
}

// A parser that could go on for ever does not.
static void test_parser_timeout(void **state) {
    (void)state;
    struct rig r;
    start(&r, &(struct parts){
                  .types = ONE_HEADER,
                  .parser = "state parse { transition select(pkt.lookahead<bit<8>>()) {\n"
                            "  7 : parse; default : done; } }\n"
                            "state done { pkt.extract(hdr.h); transition accept; }\n",
                  .deparser = "pkt.emit(hdr.h);",
              });
    rig_send(&r, 1, (const uint8_t *)"\7\7\7\7\7\7\7\7", 8);
    assert_int_equal(r.out.parser_err, SK_PARSER_TIMEOUT);
    assert_true(r.out.parser_drop);
    rig_send(&r, 1, eight, sizeof eight);
    assert_int_equal(r.out.parser_err, 0);
    // lookahead behind the end, and behind the frame check sequence
    rig_send(&r, 1, eight, 0);
    assert_int_equal(r.out.parser_err, SK_PARSER_PARTIAL_HDR);
    stop(&r);
}

// What the back end cannot do is refused at its place.
static void refused(const struct parts *p, const char *why) {
    char path[256], *said = NULL;
    size_t n;
    snprintf(path, sizeof path, "%s/refused.p4", folder);
    FILE *f = fopen(path, "w"), *messages = open_memstream(&said, &n);
    assert_true(f && messages);
    write_program(f, p);
    fclose(f);
    struct compile_options opt = {.path = path, .cache_dir = folder};
    assert_null(compile_p4(&opt, messages));
    fclose(messages);
    if (!strstr(said, why))
        fail_msg("\"%s\" is not in: %s", why, said);
    if (!strstr(said, "refused.p4:"))
        fail_msg("no place in: %s", said);
    free(said);
}

static void test_refusals(void **state) {
    (void)state;
    refused(
        &(struct parts){
            .types = "header w_t { bit<2048> x; }\n"
                     "struct headers_t { w_t a; w_t b; }\nstruct metadata_t {}\n",
            .parser = "state parse { pkt.extract(hdr.a); transition accept; }",
            .apply = "hdr.b.setValid();",
            .deparser = "pkt.emit(hdr.a); pkt.emit(hdr.b);",
        },
        "a Tofino 1 emits at most 480");
}

int main(void) {
    const char *cc = getenv("CC");
    char with_errors[256];
    snprintf(with_errors, sizeof with_errors,
             "%s -Werror -fsanitize=undefined "
             "-fsanitize-undefined-trap-on-error",
             cc && *cc ? cc : "cc");
    setenv("CC", with_errors, 1);
    assert_non_null(mkdtemp(folder));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_const_tables),   cmocka_unit_test(test_runtime_tables),
        cmocka_unit_test(test_select),         cmocka_unit_test(test_stack_and_lengths),
        cmocka_unit_test(test_checksums),      cmocka_unit_test(test_hash_random_counter),
        cmocka_unit_test(test_resubmit),       cmocka_unit_test(test_wide_fields),
        cmocka_unit_test(test_direct),         cmocka_unit_test(test_tables_alike),
        cmocka_unit_test(test_banks),          cmocka_unit_test(test_residual_checksum),
        cmocka_unit_test(test_parser_timeout), cmocka_unit_test(test_refusals),
    };
    int failed = cmocka_run_group_tests_name("run", tests, NULL, NULL);
    char clean[64];
    snprintf(clean, sizeof clean, "rm -rf %s", folder);
    return system(clean) ? 1 : failed;
}
