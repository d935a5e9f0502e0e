// SPDX-License-Identifier: Apache-2.0
//
// Flows that are remembered (pipeline/switch/flows.h): packets of ports' bursts come to the same as
// each received and run by itself, whatever the control plane changes between bursts, in all that
// is sent, counted and kept.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/tables/control.h"
#include "control/tables/hashes.h"
#include "control/state/state.h"
#include "harness/net/program.h"
#include "harness/pipeline/sides.h"
#include "stages/checksum.h"
#include "pipeline/switch/core.h"
#include "pipeline/switch/flows.h"

#define FRAME 256u
#define POOL  16u

static uint64_t dice;
static uint32_t below(uint32_t n) {
    return side_draw(&dice) % n;
}

// ---- what the control plane does ----

struct text {
    char key[5][32], arg[32];
};

static struct sk_named_value value(const char *name, char *room, const char *format, unsigned v) {
    snprintf(room, 32, format, v);
    return (struct sk_named_value){name, room};
}

static void entry_of_destinations(struct sk_entry_spec *e, struct sk_named_value *k,
                                  struct sk_named_value *a, struct text *t) {
    static const char *const actions[] = {"send", "send",        "send",        "send",  "send",
                                          "send", "past_egress", "past_egress", "flood", "discard"};
    static const unsigned ports[] = {1, 2, 3, 5, 130, 7, 258, 68, 8};
    e->table = "destinations";
    e->action = actions[below(10)];
    e->n_keys = 1;
    k[0] = value("dst_addr", t->key[0], "0x0200000000%02x", below(6));
    e->n_args = e->action[0] != 'd';
    a[0] = e->action[0] == 'f' ? value("group", t->arg, "%u", 1 + below(3))
                               : value("port", t->arg, "%u", ports[below(9)]);
}

static void entry_of_sources(struct sk_entry_spec *e, struct sk_named_value *k, struct text *t) {
    e->table = "sources";
    e->action = below(3) ? "NoAction" : "stranger";
    e->n_keys = 1;
    k[0] = value("src_addr", t->key[0], "0x0200000001%02x", below(4));
}

static void entry_of_lists(struct sk_entry_spec *e, struct sk_named_value *k,
                           struct sk_named_value *a, struct text *t) {
    static const struct {
        const char *action, *param;
        unsigned values;
    } all[] = {{"permit", "class", 4},      {"permit", "class", 4},  {"permit", "class", 4},
               {"permit", "class", 4},      {"permit", "class", 4},  {"permit", "class", 4},
               {"spread_it", NULL, 0},      {"spread_it", NULL, 0},  {"permit", "class", 4},
               {"permit", "class", 4},      {"deny", NULL, 0},       {"meter_it", "index", 2},
               {"mirror_it", "session", 2}, {"mark", "tos", 2},      {"throw", NULL, 0},
               {"spread_it", NULL, 0},      {"take_chance", NULL, 0}};
    const unsigned i = below(sizeof all / sizeof *all);
    e->table = "lists";
    e->action = all[i].action;
    e->has_priority = true;
    e->priority = below(8);
    e->n_args = all[i].param != NULL;
    if (all[i].param)
        a[0] = value(all[i].param, t->arg, "%u", below(all[i].values));
    const unsigned which = 1 + below(31);
    if (which & 1)
        k[e->n_keys++] = value("hdr.ipv4.$valid$", t->key[0], "%u", below(2));
    if (which & 2)
        k[e->n_keys++] = value("hdr.ipv4.src_addr", t->key[1], "10.0.0.%u", below(4));
    if (which & 4)
        k[e->n_keys++] = value("hdr.ports.src", t->key[2], "%u &&& 3", below(4));
    if (which & 8)
        k[e->n_keys++] = value("md.flags", t->key[3], "%u", below(4));
    if (which & 16)
        k[e->n_keys++] = value("hdr.ipv4.ttl", t->key[4], "%u &&& 1", below(2));
}

static void entry_of_tags(struct sk_entry_spec *e, struct sk_named_value *k,
                          struct sk_named_value *a, struct text *t) {
    static const char *const actions[] = {"NoAction", "NoAction", "NoAction", "NoAction",
                                          "NoAction", "NoAction", "NoAction", "push",
                                          "pop",      "lose"};
    e->table = "tags";
    e->action = actions[below(10)];
    e->n_keys = 2;
    k[0] = value("hdr.vlan.$valid$", t->key[0], "%u", below(2));
    k[1] = value("vid", t->key[1], "%u", below(4));
    e->n_args = strcmp(e->action, "push") == 0;
    a[0] = value("vid", t->arg, "%u", below(4));
}

static void entry_of_leaving(struct sk_entry_spec *e, struct sk_named_value *k,
                             struct sk_named_value *a, struct text *t) {
    static const char *const actions[] = {"keep", "keep", "keep",  "keep",  "keep",
                                          "keep", "keep", "stamp", "strip", "refuse"};
    static const unsigned ports[] = {1, 2, 3, 5, 130};
    e->table = "leaving";
    e->action = actions[below(10)];
    e->n_keys = 3;
    k[0] = value("egress_port", t->key[0], "%u", ports[below(5)]);
    k[1] = value("class", t->key[1], "%u", below(2));
    k[2] = value("dst", t->key[2], "%u", below(2));
    e->n_args = e->action[0] == 's' && e->action[2] == 'a';
    a[0] = value("src_addr", t->arg, "0x0200000002%02x", below(4));
}

static void change_hash(struct side *const sides[2]) {
    static const char *const fields[] = {"hdr.ipv4.src_addr", "hdr.ipv4.dst_addr", "hdr.ports.dst"};
    const char *const one = fields[below(3)];
    struct sk_error err;
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(sk_control_hash_fields(sides[i]->sw, "spread", &one, 1, -1, &err), 0);
}

// The same in both; what one refuses the other refuses.
static void change(struct side *const sides[2]) {
    struct text t;
    struct sk_named_value keys[5], args[1];
    struct sk_entry_spec e = {.keys = keys, .args = args, .pipe = -1};
    switch (below(6)) {
    case 5:
        change_hash(sides);
        return;
    case 0:
        entry_of_destinations(&e, keys, args, &t);
        break;
    case 1:
        entry_of_sources(&e, keys, &t);
        break;
    case 2:
        entry_of_lists(&e, keys, args, &t);
        break;
    case 3:
        entry_of_tags(&e, keys, args, &t);
        break;
    default:
        entry_of_leaving(&e, keys, args, &t);
    }
    const unsigned how = below(8);
    int done[2];
    struct sk_error err;
    for (unsigned i = 0; i < 2; i++) {
        struct sk_switch *sw = sides[i]->sw;
        done[i] = how < 4    ? sk_control_entry_add(sw, &e, &err)
                  : how == 4 ? sk_control_entry_modify(sw, &e, &err)
                  : how < 7  ? sk_control_entry_delete(sw, &e, &err)
                             : sk_control_default_set(sw, &e, &err);
    }
    assert_int_equal(done[0], done[1]);
}

// ---- packets ----

static void put16(uint8_t *at, unsigned v) {
    at[0] = (uint8_t)(v >> 8);
    at[1] = (uint8_t)v;
}

// One of a few, so that most have come before.
static uint32_t make(uint8_t *frame) {
    static const uint16_t types[] = {0x0800, 0x0800, 0x0800, 0x88b5, 0x5555, 0x6666};
    uint8_t *at = frame + 12;
    memset(frame, 0, FRAME);
    memcpy(frame, (const uint8_t[]){2, 0, 0, 0, 0, (uint8_t)below(6)}, 6);
    memcpy(frame + 6, (const uint8_t[]){2, 0, 0, 0, 1, (uint8_t)below(4)}, 6);
    if (below(3) == 0) {
        put16(at, 0x8100);
        put16(at + 2, below(4));
        at += 4;
    }
    const uint16_t type = types[below(6)];
    put16(at, type);
    at += 2;
    if (type == 0x6666)
        at[2] = (uint8_t)below(4);
    if (type == 0x0800) {
        at[0] = 0x45;
        put16(at + 4, below(3)); // nobody asks for it
        at[8] = (uint8_t)(4 + below(2));
        at[9] = below(2) ? 17 : 6;
        at[12] = at[16] = 10;
        at[15] = (uint8_t)below(4);
        put16(at + 20, below(4));
        put16(at + 22, below(2));
        at[33] = (uint8_t)below(4); // TCP's flags
        at[24] = (uint8_t)below(4); // payload, or TCP's number
    }
    static const uint32_t lengths[] = {60, 64, 128, 200, 40};
    uint32_t length = lengths[below(5)];
    if (type == 0x0800) {
        put16(at + 2, length - (uint32_t)(at - frame));
        put16(at + 10, (uint16_t)~sk_csum_fold(sk_csum_bytes(0, at, 20)));
    }
    return length;
}

static void change_frame(uint8_t *frame, uint32_t *length) {
    switch (below(4)) {
    case 0:
        *length = 13 + below(FRAME - 13);
        break;
    case 1:
        frame[below(*length)] = (uint8_t)below(256);
        break;
    default:
        frame[below(60)] ^= (uint8_t)(1u << below(8));
    }
}

// ---- both ----

static void check_state(struct side *const sides[2]) {
    char *text[2];
    size_t n[2];
    for (unsigned i = 0; i < 2; i++) {
        FILE *f = open_memstream(&text[i], &n[i]);
        assert_non_null(f);
        assert_true(sk_state_write(sides[i]->sw, NULL, f));
        fclose(f);
    }
    assert_string_equal(text[0], text[1]);
    free(text[0]);
    free(text[1]);
}

static uint64_t compare(const struct sk_program *prog, uint64_t seed) {
    static const uint16_t in[] = {1, 2, 9, 140};
    struct side *const sides[2] = {side_start(prog, false), side_start(prog, true)};
    uint64_t now = 1000;
    uint8_t pool[POOL][FRAME];
    uint32_t lengths[POOL];
    dice = seed;
    for (unsigned i = 0; i < 60; i++)
        change(sides);
    for (unsigned i = 0; i < POOL; i++)
        lengths[i] = make(pool[i]);
    for (unsigned round = 0; round < 200; round++) {
        struct sk_packet *packets[SIDE_BURST];
        uint8_t frame[FRAME];
        const uint16_t port = in[below(4)];
        const unsigned n = 1 + below(SIDE_BURST);
        now += below(3) ? below(5000) : 0;
        if (below(20) == 0)
            change(sides);
        for (unsigned i = 0; i < n; i++) {
            const unsigned one = below(POOL);
            uint32_t length = lengths[one];
            memcpy(frame, pool[one], sizeof frame);
            if (below(6) == 0) // and some that differ a little
                change_frame(frame, &length);
            struct sk_packet *p = packets[i] = side_get(sides[1]);
            assert_non_null(p);
            p->head = 2 * SK_HEADROOM;
            p->len = length;
            memcpy(sk_packet_data(p), frame, length);
            sk_switch_rx(sides[0]->sw, port, frame, length, now);
            sk_switch_run(sides[0]->sw, now);
        }
        sk_core_rx_burst(sk_switch_core(sides[1]->sw, 0), port, packets, n, now);
        sides_check_same(sides[0], sides[1]);
        if (round % 20 == 19)
            check_state(sides);
    }
    const uint64_t remembered = sk_switch_remembered(sides[1]->sw);
    assert_int_equal(sk_switch_remembered(sides[0]->sw), 0);
    side_end(sides[0]);
    side_end(sides[1]);
    return remembered;
}

static void test_same_as_one_by_one(void **state) {
    (void)state;
    struct sk_program *prog = net_program("harness/pipeline/switch/flows.p4");
    uint64_t remembered = 0;
    const unsigned seeds = getenv("SEEDS") ? (unsigned)strtoul(getenv("SEEDS"), NULL, 10) : 60;
    for (unsigned seed = 0; seed < seeds; seed++)
        remembered += compare(prog, seed);
    printf("%llu packets were of a flow\n", (unsigned long long)remembered);
    assert_true(remembered > 30 * seeds);
    sk_program_free(prog);
}

// What the places of flows do with what was unfit, and which packets share one.
static void test_places(void **state) {
    (void)state;
    uint8_t request[FRAME] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 1, 1, 0x08, 0x00, 0x45};
    uint8_t answer[FRAME];
    request[14 + 9] = 1;  // ICMP
    request[14 + 20] = 8; // an echo is asked for
    memcpy(answer, request, sizeof answer);
    answer[14 + 20] = 0;
    assert_int_not_equal(sk_flow_tag(request, 1), sk_flow_tag(answer, 1));
    answer[14 + 20] = 8;
    answer[14 + 24] = 7; // another number
    assert_int_equal(sk_flow_tag(request, 1), sk_flow_tag(answer, 1));

    struct sk_flows *f = sk_flows_new();
    assert_non_null(f);
    const uint32_t tag = sk_flow_tag(request, 1);
    assert_false(sk_flows_wants(f, tag, 5));
    assert_true(sk_flows_wants(f, tag, 5));
    sk_flows_refuse(f, tag);
    for (unsigned i = 0; i < 100; i++)
        assert_false(sk_flows_wants(f, tag, 5));
    assert_false(sk_flows_wants(f, tag, 6)); // the tables are others: the first since
    assert_true(sk_flows_wants(f, tag, 6));
    sk_flows_free(f);
}

// ---- packets that came as one frame ----

#define ALIKE 6u
struct alike_set {
    unsigned n;
    uint32_t lengths[ALIKE];
    uint8_t frames[ALIKE][FRAME], differs[SK_ALIKE_SHOWN];
};

// Of an IPv4 packet without a damaged header: another identification, and its checksum.
static void identify(uint8_t *frame, unsigned id) {
    uint8_t *const ip = frame + (frame[12] == 0x81 ? 18 : 14);
    put16(ip + 4, id);
    put16(ip + 10, 0);
    put16(ip + 10, (uint16_t)~sk_csum_fold(sk_csum_bytes(0, ip, 20)));
}

// Packets as 'frame', but for bits of some bytes that 'differs' tells; the last may be any other.
static void make_alike(struct alike_set *s, const uint8_t *frame, uint32_t length,
                       const uint8_t *other, uint32_t other_length) {
    const uint32_t header = frame[12] == 0x81 ? 18 : 14;
    const bool ip = frame[header - 2] == 0x08 && frame[header - 1] == 0 && length >= header + 20;
    memset(s->differs, 0, sizeof s->differs);
    for (uint32_t i = ip ? header + 20 : 14; i < SK_ALIKE_SHOWN; i++)
        s->differs[i] = below(8) ? 0 : 0xff;
    if (below(2)) // as a segment's: what is behind ports, and not TCP's flags
        for (uint32_t i = header; i < SK_ALIKE_SHOWN; i++)
            s->differs[i] =
                (uint8_t)((i > header + 23 && i < header + 32) || i > header + 34 ? 0xff : 0);
    if (ip)
        s->differs[header + 4] = s->differs[header + 5] = s->differs[header + 10] =
            s->differs[header + 11] = 0xff;
    s->n = 2 + below(ALIKE - 1);
    for (unsigned k = 0; k < s->n; k++) {
        s->lengths[k] = length;
        memcpy(s->frames[k], frame, FRAME);
        memset(s->frames[k] + length, 0, FRAME - length);
        for (uint32_t i = ip ? header + 20 : 14; k > 0 && i < SK_ALIKE_SHOWN && i < length; i++)
            s->frames[k][i] ^= (uint8_t)(s->differs[i] & below(i < header + 34 ? 4 : 256));
        if (ip && k > 0)
            identify(s->frames[k], below(65536));
    }
    if (below(2)) {
        s->lengths[s->n - 1] = other_length;
        memcpy(s->frames[s->n - 1], other, FRAME);
        memset(s->frames[s->n - 1] + other_length, 0, FRAME - other_length);
    }
}

// They go on as one frame, where they may: true.
static bool give_alike(struct side *s, uint16_t port, const struct alike_set *set, uint64_t now) {
    struct sk_core *const core = sk_switch_core(s->sw, 0);
    struct sk_alike a = {.packets = set->n,
                         .length = set->lengths[0],
                         .last_length = set->lengths[set->n - 1],
                         .first = set->frames[0],
                         .last = set->frames[set->n - 1],
                         .differs = set->differs};
    const int out = sk_core_alike_port(core, port, &a);
    if (out < 0)
        return false;
    for (unsigned k = 0; k < set->n; k++)
        side_sent(s, (uint16_t)out, set->frames[k], set->lengths[k]);
    sk_core_alike_sent(core, port, &a, (uint16_t)out, now);
    return true;
}

static void give_burst(struct side *s, uint16_t port, const struct alike_set *set, uint64_t now) {
    struct sk_packet *packets[ALIKE];
    for (unsigned k = 0; k < set->n; k++) {
        struct sk_packet *p = packets[k] = side_get(s);
        assert_non_null(p);
        p->head = 2 * SK_HEADROOM;
        p->len = set->lengths[k];
        memcpy(sk_packet_data(p), set->frames[k], p->len);
    }
    sk_core_rx_burst(sk_switch_core(s->sw, 0), port, packets, set->n, now);
}

// The address leaves by another port than before, or is new.
static void place(struct side *const sides[2], unsigned address) {
    static const unsigned ports[] = {1, 2, 3, 5, 130, 7};
    struct text t = {0};
    struct sk_named_value key = value("dst_addr", t.key[0], "0x0200000000%02x", address),
                          arg = value("port", t.arg, "%u", ports[below(6)]);
    const struct sk_entry_spec e = {.table = "destinations",
                                    .action = below(2) ? "send" : "past_egress",
                                    .keys = &key,
                                    .n_keys = 1,
                                    .args = &arg,
                                    .n_args = 1,
                                    .pipe = -1};
    struct sk_error err;
    for (unsigned i = 0; i < 2; i++)
        if (sk_control_entry_add(sides[i]->sw, &e, &err))
            assert_int_equal(sk_control_entry_modify(sides[i]->sw, &e, &err), 0);
}

// Packets that take this class, by what they have.
static void permit(struct side *const sides[2]) {
    struct text t;
    struct sk_named_value keys[5], args[1];
    struct sk_entry_spec e = {.keys = keys, .args = args, .pipe = -1};
    struct sk_error err;
    do {
        e.n_keys = 0;
        entry_of_lists(&e, keys, args, &t);
    } while (strcmp(e.action, "permit"));
    for (unsigned i = 0; i < 2; i++)
        sk_control_entry_add(sides[i]->sw, &e, &err);
}

// Of a packet that is so long that its length may not matter.
static uint32_t another_length(uint32_t length) {
    return length >= SK_ALIKE_SHOWN && below(2) ? SK_ALIKE_SHOWN + below(FRAME - SK_ALIKE_SHOWN)
                                                : length;
}

static uint64_t compare_alike(const struct sk_program *prog, uint64_t seed) {
    static const uint16_t in[] = {1, 2, 9, 140};
    struct side *const sides[2] = {side_start(prog, false), side_start(prog, true)};
    uint64_t now = 1000, passed = 0;
    uint8_t pool[POOL][FRAME];
    uint32_t lengths[POOL];
    dice = seed;
    for (unsigned i = 0; i < 6; i++)
        place(sides, i);
    for (unsigned i = 0; i < 10; i++)
        permit(sides);
    for (unsigned i = 0; i < POOL; i++)
        lengths[i] = make(pool[i]);
    for (unsigned round = 0; round < 1000; round++) {
        struct alike_set set;
        const uint16_t port = in[below(2)];
        const unsigned one = below(POOL / 4), other = below(POOL / 4);
        now += below(3) ? below(5000) : 0;
        if (below(100) == 0)
            place(sides, below(6));
        make_alike(&set, pool[one], another_length(lengths[one]), pool[other],
                   another_length(lengths[other]));
        for (unsigned k = 0; k < set.n; k++) {
            sk_switch_rx(sides[0]->sw, port, set.frames[k], set.lengths[k], now);
            sk_switch_run(sides[0]->sw, now);
        }
        if (give_alike(sides[1], port, &set, now))
            passed += set.n;
        else
            give_burst(sides[1], port, &set, now);
        sides_check_same(sides[0], sides[1]);
        if (round % 20 == 19)
            check_state(sides);
    }
    assert_int_equal(sk_switch_remembered(sides[0]->sw), 0);
    assert_true(sk_switch_remembered(sides[1]->sw) >= passed);
    side_end(sides[0]);
    side_end(sides[1]);
    return passed;
}

static void test_alike(void **state) {
    (void)state;
    struct sk_program *prog = net_program("harness/pipeline/switch/flows.p4");
    uint64_t passed = 0;
    const unsigned seeds = getenv("SEEDS") ? (unsigned)strtoul(getenv("SEEDS"), NULL, 10) : 30;
    for (unsigned seed = 0; seed < seeds; seed++)
        passed += compare_alike(prog, seed);
    printf("%llu packets went as one frame with others\n", (unsigned long long)passed);
    assert_true(passed > 100 * seeds);
    sk_program_free(prog);
}

// What has the time of each packet is nothing that can be remembered.
static void test_of_the_moment(void **state) {
    (void)state;
    static const char *const programs[] = {"harness/pipeline/switch/flows_ahead.p4",
                                           "harness/pipeline/switch/flows_front.p4"};
    for (unsigned i = 0; i < 2; i++) {
        struct sk_program *prog = net_program(programs[i]);
        for (unsigned seed = 0; seed < 5; seed++)
            assert_int_equal(compare(prog, seed), 0);
        sk_program_free(prog);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_as_one_by_one),
                                       cmocka_unit_test(test_places), cmocka_unit_test(test_alike),
                                       cmocka_unit_test(test_of_the_moment)};
    return cmocka_run_group_tests_name("flows", tests, NULL, NULL);
}
