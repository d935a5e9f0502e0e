// SPDX-License-Identifier: Apache-2.0
//
// What the fast build puts off and what it does ahead of time: fields that are stored when their
// header has its place (compiler/plan/deferred_stores.c), and entries that are fetched for a burst
// (compiler/plan/prefetch.c).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "harness/compiler/emit_rig.h"
#include "stages/table.h"

static const uint8_t frame[64] = {2, 2, 3, 4, 5, 6, 0xa, 0xb, 0xc, 0xd, 0xe, 0xf, 8, 0, 77, 78};

// A tag in front of Ethernet gets the type, which has just been written, and four bits of the
// payload's header, of which two others are written. Frames to an odd address are dropped.
static struct build tagging_program(void) {
    struct build b = rig_program();
    struct ir_header *eth = RIG_HEADER(b.g, "ethernet", 48, 48, 16);
    struct ir_header *tag = RIG_HEADER(b.g, "tag", 16, 12, 4);
    struct ir_header *bits = RIG_HEADER(b.g, "bits", 3, 2, 4, 7);
    rig_extract(b.start->body, eth);
    rig_extract(b.start->body, bits);
    struct ir_block *c = b.g->control;
    rig_assign(c, eth->fields.v[2], rig_const(16, 0x1234));
    rig_assign(c, bits->fields.v[1], rig_const(2, 2));
    rig_assign(c, tag->fields.v[0], rig_ref(eth->fields.v[2]));
    rig_assign(c, tag->fields.v[2], rig_ref(bits->fields.v[2]));
    rig_push(c, IR_SET_VALID)->header = tag;
    rig_to_port(&b, c, rig_const(9, 7));
    struct ir_stmt *odd = rig_push(c, IR_IF);
    odd->e = rig_slice(rig_ref(eth->fields.v[0]), 40, 1);
    odd->then_b = rig_new_block();
    rig_assign(odd->then_b, b.drop, rig_const(3, 1));
    rig_emit(b.g, tag);
    rig_emit(b.g, eth);
    rig_emit(b.g, bits);
    return b;
}

static void test_held(void **state) {
    (void)state;
    struct build b = tagging_program();
    struct rig p;
    rig_load(&p, &b);
    // 77, 78: 010 01 1010 1001110
    rig_send(&p, 5, frame, sizeof frame);
    assert_true(p.out.drop_ctl == 0 && p.out.ucast_valid && p.out.ucast_port == 7);
    uint8_t want[sizeof frame + 4] = {0x12, 0x34, 0, 0x0a};
    memcpy(want + 4, frame, sizeof frame);
    want[4 + 12] = 0x12;
    want[4 + 13] = 0x34;
    want[4 + 14] = 0x55; // 010 10 1010 1001110
    assert_int_equal(p.packet.len, sizeof want);
    assert_memory_equal(sk_packet_data(&p.packet), want, sizeof want);
    // nothing is stored into a packet that is dropped
    uint8_t odd[sizeof frame];
    memcpy(odd, frame, sizeof odd);
    odd[0] = 1;
    rig_send(&p, 5, odd, sizeof odd);
    assert_int_equal(p.out.drop_ctl, 1);
    assert_memory_equal(p.buffer + SK_HEADROOM, odd, sizeof odd);
    rig_unload(&p);
}

// What is in the packet depends on what is in it, so there are no known ways; and it is mirrored as
// it was received.
static struct build mirroring_program(void) {
    struct build b = rig_program();
    struct ir_header *eth = RIG_HEADER(b.g, "ethernet", 48, 48, 16);
    struct ir_header *option = RIG_HEADER(b.g, "option", 16);
    rig_extract(b.start->body, eth);
    struct ir_stmt *has = rig_push(b.start->body, IR_IF);
    has->e = rig_node(IR_EQ, 1, rig_ref(eth->fields.v[2]), rig_const(16, 0x0800));
    has->then_b = rig_new_block();
    rig_extract(has->then_b, option);
    struct ir_block *c = b.g->control;
    rig_assign(c, eth->fields.v[1], rig_ref(eth->fields.v[0]));
    rig_assign(c, eth->fields.v[2], rig_const(16, 0x86dd));
    struct ir_stmt *there = rig_push(c, IR_IF);
    there->e = rig_ref(option->valid);
    there->then_b = rig_new_block();
    rig_assign(there->then_b, option->fields.v[0], rig_slice(rig_ref(eth->fields.v[1]), 0, 16));
    rig_to_port(&b, c, rig_const(9, 7));
    rig_push(b.g->deparser, IR_MIRROR)->e = rig_const(10, 3);
    rig_emit(b.g, eth);
    rig_emit(b.g, option);
    return b;
}

struct seen {
    unsigned n;
    uint8_t bytes[sizeof frame];
};
static void see(void *aux, const struct sk_packet *p, const struct sk_mirror_out *m) {
    struct seen *s = aux;
    assert_int_equal(m->session, 3);
    assert_int_equal(p->len, sizeof s->bytes);
    memcpy(s->bytes, sk_packet_data(p), sizeof s->bytes);
    s->n++;
}

static void test_mirrored_as_received(void **state) {
    (void)state;
    struct build b = mirroring_program();
    size_t length;
    char *text = rig_emitted(&b, &length);
    assert_non_null(
        strstr(text, "static inline void p0i_emit(")); // on known ways it is inlined by force
    assert_non_null(strstr(text, "holds_"));           // and so headers stay in the packet
    free(text);
    struct rig p;
    rig_load(&p, &b);
    for (unsigned type = 0x0800; type < 0x0802; type++) {
        uint8_t sent[sizeof frame], want[sizeof frame];
        memcpy(sent, frame, sizeof sent);
        sent[13] = (uint8_t)type;
        memcpy(want, sent, sizeof want);
        memcpy(want + 6, sent, 6);
        want[12] = 0x86;
        want[13] = 0xdd;
        if (type == 0x0800)
            memcpy(want + 14, sent + 4, 2);
        struct seen seen = {0};
        p.on_mirror = see;
        p.aux = &seen;
        rig_send(&p, 5, sent, sizeof sent);
        assert_int_equal(seen.n, 1);
        assert_memory_equal(seen.bytes, sent, sizeof sent);
        assert_int_equal(p.packet.len, sizeof want);
        assert_memory_equal(sk_packet_data(&p.packet), want, sizeof want);
    }
    rig_unload(&p);
}

// A table of ingress with one key of the header's, or of something that is on no wire.
static struct build table_program(unsigned width, enum ir_match match, bool on_wire) {
    struct build b = rig_program();
    struct ir_header *h = RIG_HEADER(b.g, "h", 16, width, 64 - width);
    struct ir_var *other = rig_new_var(b.g, "Ingress.other", width);
    rig_extract(b.start->body, h);
    rig_assign(b.g->control, other, rig_ref(h->fields.v[1]));
    struct ir_action *drop = rig_new_action(b.g, "pipe.Ingress.drop");
    rig_assign(drop->body, b.drop, rig_const(3, 1));
    struct ir_action *pass = rig_new_action(b.g, "pipe.Ingress.pass");
    rig_to_port(&b, pass->body, rig_const(9, 7));
    struct ir_table *t = rig_new_table(b.g, "pipe.Ingress.t", drop);
    t->size = 1000;
    rig_add_key(t, "hdr.h.key", match, rig_ref(on_wire ? h->fields.v[1] : other));
    rig_add_action(t, drop);
    rig_add_action(t, pass);
    rig_push(b.g->control, IR_APPLY)->table = t;
    rig_emit(b.g, h);
    return b;
}

static bool has_ahead(unsigned width, enum ir_match match, bool on_wire) {
    struct build b = table_program(width, match, on_wire);
    struct rig p;
    rig_load(&p, &b);
    bool has = p.pl->ahead != NULL;
    rig_unload(&p);
    return has;
}

static void test_ahead(void **state) {
    (void)state;
    assert_false(has_ahead(16, IR_MATCH_EXACT, true)); // an array
    assert_false(has_ahead(48, IR_MATCH_TERNARY, true));
    assert_false(has_ahead(48, IR_MATCH_EXACT, false));
    struct build b = table_program(48, IR_MATCH_EXACT, true);
    struct rig p;
    rig_load(&p, &b);
    assert_non_null(p.pl->ahead);
    struct sk_table *t = rig_table_named(&p, "pipe.Ingress.t");
    // with none, few and many entries; packets of any length, with and without an entry
    struct sk_entry *found[3];
    for (uint64_t n = 0; n < 1000; n++) {
        const uint64_t key = n == 0 ? 0x030405060a0b : n << 20;
        struct sk_packet *const burst[] = {&p.packet, &p.packet, &p.packet};
        rig_send(&p, 5, frame, n % sizeof frame);
        p.pl->ahead(p.pipe, burst, n % 4, found);
        assert_int_equal(sk_table_add(t, &key, NULL, 0, 1, NULL), SK_OK);
    }
    const uint64_t key = 0x030405060a0b;
    struct sk_entry *e = sk_table_find(t, &key, NULL, 0);
    const uint64_t hits = e->hits, other = 7 << 20;
    rig_send(&p, 5, frame, sizeof frame);
    assert_true(p.out.ucast_valid && e->hits == hits + 1);
    p.pl->ahead(p.pipe, (struct sk_packet *const[]){&p.packet}, 1, found);
    assert_int_equal(e->hits, hits + 1);
    // a pass takes what was found, unless that has another key
    assert_ptr_equal(found[0], e);
    p.ahead = found[0];
    rig_send(&p, 5, frame, sizeof frame);
    assert_true(p.out.ucast_valid && e->hits == hits + 2);
    p.ahead = sk_table_find(t, &other, NULL, 0);
    rig_send(&p, 5, frame, sizeof frame);
    assert_true(p.out.ucast_valid && e->hits == hits + 3);
    assert_int_equal(p.ahead->hits, 0);
    // nor what is no longer there
    p.ahead = NULL;
    assert_int_equal(sk_table_delete(t, &key, NULL, 0), SK_OK);
    p.pl->ahead(p.pipe, (struct sk_packet *const[]){&p.packet}, 1, found);
    assert_ptr_not_equal(found[0], e);
    rig_send(&p, 5, frame, sizeof frame);
    assert_int_equal(p.out.drop_ctl, 1);
    rig_unload(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_held),
        cmocka_unit_test(test_mirrored_as_received),
        cmocka_unit_test(test_ahead),
    };
    return cmocka_run_group_tests_name("held", tests, NULL, NULL);
}
