// SPDX-License-Identifier: Apache-2.0
//
// Jobs of Libra in a running ToR (p4/rack/with_libra.p4), with packets: who is admitted, that sums
// are those of the job's own pushes and of no other job's, and what becomes of a job over reloads,
// restarts and the end of another one whose packets are still inside.
#include "harness/control/tor/jobs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "hosts/core/float_bits.h"
#include "hosts/libra/libra.h"

#define PROGRAM "p4/rack/with_libra.p4"
#define LIBRA(name, workers, more)                                                                 \
    "{\"name\": \"" name "\", \"protocol\": \"libra\", \"workers\": [" workers "]" more "}"
#define KV_PORT  41000
#define PASSES   452 // the port by which its packets come in again
#define RELATIVE 1.2e-4
enum { UNKNOWN_WORKER = 4, OTHER_EPOCH = 5, BAD_INDEX = 9 }; // of drops in its pipe
enum { NOT_A_WORKER = 13 };

static struct rig *begin(const char *section) {
    return rig_new_with(PROGRAM, PORTS, section);
}

// ---- packets ----

// Who says what: a member of a job, and where it is.
struct from {
    uint16_t port;
    unsigned tag, host, job, worker, epoch;
};

static size_t frame_of(uint8_t f[LIBRA_FRAME_BYTES], const struct from *w, unsigned kind,
                       uint32_t sequence, uint32_t rank, float value) {
    const unsigned place = rank % LIBRA_PLACES;
    head(f, ETH_OWN, w->host, SWITCH_IP, LIBRA_PORT, LIBRA_FRAME_BYTES - HEAD);
    put(f + 34, 2, KV_PORT);
    put(f + HEAD, 1, kind << 4);
    put(f + HEAD + 1, 1, w->job);
    put(f + HEAD + 2, 2, w->worker);
    put(f + HEAD + 4, 4, sequence);
    put(f + HEAD + 8, 2, 0x8000u >> place);
    put(f + HEAD + 10, 2, w->epoch);
    put(f + HEAD + 12, 4, 0);
    for (unsigned p = 0; p < LIBRA_PLACES; p++) {
        put(f + LIBRA_HEADERS + 8 * p, 4, p == place ? rank : p);
        put(f + LIBRA_HEADERS + 8 * p + 4, 4, p == place ? sk_bits_of_float(value) : 0);
    }
    return LIBRA_FRAME_BYTES;
}

static void say(struct rig *r, const struct from *w, unsigned kind, uint32_t sequence,
                uint32_t rank, float value) {
    uint8_t f[LIBRA_FRAME_BYTES];
    const size_t n = frame_of(f, w, kind, sequence, rank, value);
    send_tagged(r, w->port, w->tag, f, n);
}

// What comes back to the member at 'port', from the address that it sent to.
static void heard(struct rig *r, const struct from *w, uint16_t port, unsigned kind,
                  uint8_t got[RIG_FRAME]) {
    uint8_t mac[6];
    size_t n = rig_take(r, port, got);
    if (n == 0)
        fail_msg("nothing left by port %u", port);
    if (w->tag) {
        assert_int_equal(get(got + 12, 4), 0x81000000u | w->tag);
        memmove(got + 12, got + 16, n - 16);
        n -= 4;
    }
    eth_address(mac, w->host);
    assert_memory_equal(got, mac, 6);
    assert_int_equal(get(got + 26, 4), SWITCH_IP);
    assert_int_equal(get(got + 30, 4), HOST_IP(w->host));
    assert_int_equal(get(got + 34, 2), LIBRA_PORT);
    assert_int_equal(get(got + 36, 2), KV_PORT);
    assert_int_equal(got[HEAD] >> 4, kind);
    assert_int_equal(n, kind == LIBRA_ACK ? LIBRA_HEADERS : LIBRA_FRAME_BYTES);
    eth_quiet(r);
}

static void push(struct rig *r, const struct from *w, uint32_t sequence, uint32_t rank,
                 float value) {
    uint8_t got[RIG_FRAME];
    say(r, w, LIBRA_PUSH, sequence, rank, value);
    heard(r, w, w->port, LIBRA_ACK, got);
    assert_int_equal(get(got + HEAD + 4, 4), sequence);
    assert_int_equal(get(got + HEAD + 8, 2), 0); // all pairs were added
}

static float pull(struct rig *r, const struct from *w, uint32_t rank) {
    uint8_t got[RIG_FRAME];
    say(r, w, LIBRA_PULL, 1, rank, 0);
    heard(r, w, w->port, LIBRA_ANSWER, got);
    return sk_float_of_bits((uint32_t)get(got + LIBRA_HEADERS + 8 * (rank % LIBRA_PLACES) + 4, 4));
}

#define SUM(r, w, rank, right)                                                                     \
    do {                                                                                           \
        const double is = (double)pull(r, w, rank);                                                \
        if (fabs(is - (right)) > RELATIVE * fabs(right))                                           \
            fail_msg("line %d: parameter %u is %.9g", __LINE__, (unsigned)(rank), is);             \
    } while (0)

static void nothing_comes_of(struct rig *r, const struct from *w, long long reason_before,
                             unsigned reason) {
    say(r, w, LIBRA_PUSH, 400, 3, 1000);
    eth_quiet(r);
    assert_int_equal(dropped(r, reason), reason_before + 1);
}

static long long inner_drops(struct rig *r, unsigned reason) {
    struct sk_counter_cell sum;
    struct sk_error err;
    assert_int_equal(
        sk_control_counter_read(rig_switch(r), "libra.Libra.ingress.drops", reason, &sum, &err), 0);
    return (long long)sum.packets;
}

static void inside_refuses(struct rig *r, const struct from *w, uint32_t rank, unsigned reason) {
    const long long before = inner_drops(r, reason);
    say(r, w, LIBRA_PUSH, 400, rank, 1000);
    eth_quiet(r);
    assert_int_equal(inner_drops(r, reason), before + 1);
}

static long long member_number(struct rig *r, const char *name, const char *list, size_t i,
                               const char *what) {
    json_t *j = job(r, name);
    const long long n =
        json_integer_value(json_object_get(json_array_get(json_object_get(j, list), i), what));
    json_decref(j);
    return n;
}

static size_t lost(struct rig *r) {
    struct sk_error err;
    json_t *answer = rig_request(r, "job.list", NULL, &err);
    const size_t n = json_array_size(json_object_get(answer, "lost"));
    json_decref(answer);
    return n;
}

// ---- a job ----

static void test_sums(void **state) {
    struct rig *r = begin(SECTION(LINKS_WITHOUT_C LINK_C, ""));
    const struct from a = {A, 0, 2, 7, 0, 9}, b = {B, 0, 3, 7, 1, 9}, s = {S, 0, 6, 7, 2, 9};
    (void)state;
    add(r, LIBRA("ads", TWO,
                 ", \"servers\": [\"s:10.0.10.6\"], \"number\": 7, \"epoch\": 9, \"hot\": 1000"));
    assert_int_equal(number(r, "ads", "first_cell"), 0);
    assert_int_equal(number(r, "ads", "cells"), 4096);
    assert_int_equal(number(r, "ads", "hot"), 1000);
    for (uint32_t rank = 0; rank < 20; rank++) {
        push(r, &a, 1 + rank, rank, 1.5f);
        push(r, &b, 1 + rank, rank, 0.25f * (float)rank);
    }
    push(r, &s, 1, 999, 100);   // what reached a server, it pushes itself
    push(r, &a, 21, 65535, -3); // the job's last one
    for (uint32_t rank = 0; rank < 20; rank++)
        SUM(r, rank % 2 ? &a : &s, rank, 1.5 + 0.25 * rank);
    SUM(r, &b, 999, 100.0);
    SUM(r, &b, 65535, -3.0);
    push(r, &a, 21, 65535, -3); // once more: it was added
    SUM(r, &b, 65535, -3.0);
    assert_int_equal(member_number(r, "ads", "workers", 0, "repeated"), 1);
    assert_int_equal(member_number(r, "ads", "workers", 1, "repeated"), 0);
    assert_int_equal(member_number(r, "ads", "workers", 0, "packets"), 32);
    assert_int_equal(member_number(r, "ads", "servers", 0, "packets"), 11);
    rig_free(r);
}

static void test_others_are_refused(void **state) {
    struct rig *r = begin(SECTION(LINKS_WITHOUT_C LINK_C, ""));
    const struct from a = {A, 0, 2, 7, 0, 9}, c = {C, 0, 4, 8, 0, 1};
    uint8_t f[HEAD + 16];
    (void)state;
    add(r, LIBRA("ads", TWO, ", \"number\": 7, \"epoch\": 9, \"cells\": 10"));
    add(r, LIBRA("other", "\"c:10.0.10.4\"", ", \"number\": 8, \"epoch\": 1"));
    push(r, &a, 1, 3, 5);
    const struct from outside[] = {{C, 0, 2, 7, 0, 9},  // another port
                                   {A, 0, 5, 7, 0, 9},  // another address
                                   {C, 0, 4, 7, 0, 9},  // another job
                                   {A, 10, 2, 7, 0, 9}, // with a tag that its link has not
                                   {X, 0, 7, 7, 0, 9}}; // a foreign host
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        if (i != 3)
            nothing_comes_of(r, &outside[i], dropped(r, NOT_A_WORKER), NOT_A_WORKER);
    const struct from another = {A, 0, 2, 7, 1, 9}, old = {A, 0, 2, 7, 0, 8};
    inside_refuses(r, &another, 3, UNKNOWN_WORKER);
    inside_refuses(r, &old, 3, OTHER_EPOCH);
    inside_refuses(r, &a, 160, BAD_INDEX);
    inside_refuses(r, &c, 16 * 4096, BAD_INDEX);
    // nobody speaks to a worker in the switch's name
    head(f, 2, 7, HOST_IP(2), KV_PORT, sizeof f - HEAD);
    memset(f + HEAD, 0, sizeof f - HEAD);
    const long long before = dropped(r, NOT_A_WORKER);
    rig_send(r, X, f, sizeof f);
    eth_quiet(r);
    assert_int_equal(dropped(r, NOT_A_WORKER), before + 1);
    SUM(r, &a, 3, 5.0);
    SUM(r, &a, 159, 0.0);
    SUM(r, &c, 0, 0.0);
    rig_free(r);
}

static void test_beside_the_others(void **state) {
    struct rig *r = begin(SECTION(LINKS_WITHOUT_C LINK_C, ""));
    const struct from a = {A, 0, 2, 7, 0, 0}, b = {B, 0, 3, 7, 1, 0};
    struct gradient g = {.bits = 1, .fan_in = 2, .number = 7, .sequence = 1, .value = 100};
    (void)state;
    add(r, LIBRA("ads", TWO, ", \"number\": 7"));
    add(r, SML("resnet", TWO, ", \"slots\": 16, \"number\": 7"));
    add(r, ATP("bert", TWO, "s:10.0.10.6", ", \"number\": 7"));
    for (unsigned round = 1; round < 4; round++) {
        push(r, &a, round, 5, 2);
        sml_send(r, A, 0, 2, 7, 3 | (round % 2) << 15, 100);
        atp_send(r, A, 2, HOST_IP(6), &g, false);
        push(r, &b, round, 5, 1);
        sml_send(r, B, 0, 3, 7, 3 | (round % 2) << 15, 11);
        sml_result(r, A, 0, 2, 111);
        sml_result(r, B, 0, 3, 111);
        g.bits = 2, g.value = 11;
        atp_send(r, B, 3, HOST_IP(6), &g, false);
        atp_expect(r, S, 0x020000000006, 3, 111);
        g.bits = 1, g.value = 100, g.index++;
        SUM(r, &b, 5, 3.0 * round);
    }
    removed(r, "resnet");
    removed(r, "bert");
    SUM(r, &a, 5, 9.0);
    nothing_comes_of(r, &(struct from){X, 0, 7, 7, 0, 0}, dropped(r, NOT_A_WORKER), NOT_A_WORKER);
    rig_free(r);
}

static void test_trunks_and_lags(void **state) {
    struct rig *r = begin(SECTION(LINKS_WITHOUT_C LINK_C, ""));
    const struct from t = {T, 10, 2, 0, 0, 0}, one = {L1, 0, 3, 0, 1, 0}, two = {L2, 0, 3, 0, 1, 0};
    uint8_t got[RIG_FRAME];
    (void)state;
    add(r, LIBRA("ads", "\"t:10.0.10.2\", \"l:10.0.10.3\"", ""));
    push(r, &t, 1, 5, 2);
    eth_send(r, L1, ETH_BROADCAST, 3, ETH_NO_TAG, 1); // the switch learns where host 3 is
    rig_forget(r);
    for (unsigned i = 0; i < 2; i++) { // either port of the LAG
        say(r, i ? &two : &one, LIBRA_PUSH, 1 + i, 5, 1);
        heard(r, &one, rig_count(r, L1) ? L1 : L2, LIBRA_ACK, got);
    }
    SUM(r, &t, 5, 4.0);
    rig_free(r);
}

// ---- cells of their own ----

static void test_cells_come_empty(void **state) {
    struct rig *r = begin(SECTION(LINKS_WITHOUT_C LINK_C, ""));
    const struct from a = {A, 0, 2, 7, 0, 0}, b = {B, 0, 3, 7, 0, 0}, c = {C, 0, 4, 1, 0, 0};
    (void)state;
    add(r, LIBRA("one", "\"a:10.0.10.2\"", ", \"number\": 7, \"cells\": 100"));
    add(r, LIBRA("two", "\"c:10.0.10.4\"", ", \"number\": 1, \"cells\": 100"));
    assert_int_equal(number(r, "two", "first_cell"), 100);
    for (uint32_t rank = 0; rank < 1600; rank += 53) {
        push(r, &a, 1 + rank, rank, 1000);
        push(r, &c, 1 + rank, rank, 7);
    }
    removed(r, "one");
    nothing_comes_of(r, &a, dropped(r, NOT_A_WORKER), NOT_A_WORKER);
    // the next one has its cells, its number, and the records of its worker
    add(r, LIBRA("three", "\"b:10.0.10.3\"", ", \"number\": 7, \"cells\": 100"));
    assert_int_equal(number(r, "three", "first_cell"), 0);
    for (uint32_t rank = 0; rank < 1600; rank += 53)
        SUM(r, &b, rank, 0.0);
    push(r, &b, 1, 53, 3);
    SUM(r, &b, 53, 3.0);
    for (uint32_t rank = 0; rank < 1600; rank += 53)
        SUM(r, &c, rank, 7.0);
    rig_free(r);
}

static bool waits(struct rig *r, const char *name) {
    json_t *j = job(r, name);
    const bool it = json_object_get(j, "waits");
    json_decref(j);
    return it;
}

// A push goes its passes by a port so slow that each takes a millisecond or two, and the job ends.
static void test_what_is_still_inside(void **state) {
    struct rig *r = begin(SECTION(LINKS_WITHOUT_C LINK_C, ""));
    const struct from a = {A, 0, 2, 7, 0, 0}, b = {B, 0, 3, 7, 0, 0}, c = {C, 0, 4, 1, 0, 0};
    struct sk_port_queue was, slow;
    uint8_t f[LIBRA_FRAME_BYTES];
    unsigned ms = 0;
    (void)state;
    add(r, LIBRA("one", "\"a:10.0.10.2\"", ", \"number\": 7, \"cells\": 16384"));
    push(r, &a, 1, 15, 5);
    sk_switch_port_queue_get(rig_switch(r), PASSES, &was);
    slow = was;
    slow.speed_mbps = 1;
    assert_int_equal(sk_switch_port_queue(rig_switch(r), PASSES, &slow), 0);
    const size_t n = frame_of(f, &a, LIBRA_PUSH, 2, 15, 1000);
    rig_send(r, A, f, n);
    eth_quiet(r);
    removed(r, "one");
    rig_wait(r, 1);
    add(r, LIBRA("two", "\"b:10.0.10.3\"", ", \"number\": 7, \"cells\": 16384"));
    assert_true(waits(r, "two"));
    refused(r, "job.add", LIBRA("three", "\"c:10.0.10.4\"", ""), "there is no room for 4096 cells");
    say(r, &b, LIBRA_PUSH, 1, 15, 1);
    assert_int_equal(rig_count(r, B), 0);
    for (; waits(r, "two"); ms++) {
        rig_wait(r, 1);
        assert_true(ms < 200);
    }
    assert_true(ms > 5); // of nine passes
    assert_int_equal(sk_switch_inside(rig_switch(r)), 0);
    eth_quiet(r); // the old one was added in cells that were nobody's, and has no receiver
    assert_int_equal(sk_switch_port_queue(rig_switch(r), PASSES, &was), 0);
    SUM(r, &b, 15, 0.0);
    push(r, &b, 1, 15, 1);
    SUM(r, &b, 15, 1.0);
    // one that has waited and goes leaves nothing
    removed(r, "two");
    add(r, LIBRA("four", "\"c:10.0.10.4\"", ", \"number\": 1, \"cells\": 16384"));
    assert_false(waits(r, "four"));
    SUM(r, &c, 15, 0.0);
    rig_free(r);
}

static void test_room(void **state) {
    struct rig *r = begin(SECTION(LINKS_WITHOUT_C LINK_C, ""));
    char text[2000], name[8];
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        snprintf(text, sizeof text, LIBRA("%u", "\"a:10.0.10.2\"", ""), i);
        add(r, text);
        snprintf(name, sizeof name, "%u", i);
        assert_int_equal(number(r, name, "first_cell"), 4096 * i);
        assert_int_equal(number(r, name, "number"), i);
    }
    refused(r, "job.add", LIBRA("5", "\"a:10.0.10.2\"", ", \"cells\": 1"),
            "there is no room for 1 cells: of 16384, other jobs have 16384");
    // slots are not cells
    add(r, SML("resnet", TWO, ", \"slots\": 8192"));
    for (unsigned i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "%u", i);
        removed(r, name);
    }
    // records of 64 members
    for (unsigned i = 0; i < 3; i++) {
        int n = snprintf(
            text, sizeof text,
            "{\"name\": \"m%u\", \"protocol\": \"libra\", \"cells\": 1, \"workers\": [", i);
        for (unsigned w = 0; w < 30; w++)
            n += snprintf(text + n, sizeof text - (size_t)n, "%s\"a:10.0.10.%u\"", w ? ", " : "",
                          10 + w);
        snprintf(text + n, sizeof text - (size_t)n, "]}");
        if (i < 2)
            add(r, text);
        else
            refused(r, "job.add", text,
                    "the switch has records for 64 workers and servers of Libra, of which 4 are "
                    "free, and the job has 30");
    }
    rig_free(r);
}

static void test_requests_that_are_refused(void **state) {
    static const struct {
        const char *request, *sentence;
    } bad[] = {
        {LIBRA("x", "", ""), "workers: should be a list of 1 to 32"},
        {LIBRA("x", "\"y:10.0.10.2\"", ""), "workers[0]: there is no link or port 'y'"},
        {LIBRA("x", "\"a:10.0.10.2\", \"b:10.0.10.2\"", ""),
         "workers[1]: workers[0] has the same address"},
        {LIBRA("x", TWO, ", \"servers\": [\"s:10.0.10.3\"]"),
         "servers[0]: workers[1] has the same address"},
        {LIBRA("x", TWO, ", \"servers\": \"s:10.0.10.3\""), "servers: should be a list"},
        {LIBRA("x", TWO, ", \"servers\": []"), "servers: should be a list"},
        {LIBRA("x", TWO, ", \"cells\": 16385"), "there is no room for 16385 cells: of 16384"},
        {LIBRA("x", TWO, ", \"cells\": 0"), "cells: should be a number from 1 to 65536"},
        {LIBRA("x", TWO, ", \"hot\": 65537"),
         "cells: the layout has 65537 parameters, which are 4097 cells in each register; the job "
         "has 4096"},
        {LIBRA("x", TWO, ", \"number\": 256"), "number: should be a number from 0 to 255"},
        {LIBRA("x", TWO, ", \"number\": 7"), "number: another job has 7"},
        {LIBRA("x", TWO, ", \"epoch\": 65536"), "epoch: should be a number from 0 to 65535"},
        {LIBRA("x", TWO, ", \"layout\": \"ads.layout\""), "layout: the configuration has what"},
        {LIBRA("x", TWO, ", \"parameters\": 7"), "parameters: only a switch with \"libra\""},
        {LIBRA("x", TWO, ", \"sessions\": true"), "sessions: a job of Libra has none"},
        {LIBRA("x", TWO, ", \"slots\": 7"), "slots: a job of Libra has none"},
        {LIBRA("x", TWO, ", \"server\": \"s:10.0.10.6\""), "server: a job of Libra has none"},
        {LIBRA("x", TWO, ", \"address\": \"nowhere\""), "address: should be an IPv4 address"},
        {LIBRA("there", TWO, ""), "name: there is a job 'there' already"},
        {SML("x", TWO, ", \"cells\": 7"), "cells: a job of SwitchML has none"},
        {ATP("x", TWO, "s:10.0.10.6", ", \"epoch\": 7"), "epoch: a job of ATP has none"},
    };
    struct rig *r = begin(SECTION(LINKS_WITHOUT_C LINK_C, ""));
    char many[2000] = "{\"name\": \"x\", \"protocol\": \"libra\", \"servers\": [\"s:10.0.10.6\"], "
                      "\"workers\": [";
    (void)state;
    add(r, LIBRA("there", TWO, ", \"number\": 7"));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(r, "job.add", bad[i].request, bad[i].sentence);
    for (unsigned w = 0; w < 32; w++)
        snprintf(many + strlen(many), sizeof many - strlen(many), "%s\"a:10.0.10.%u\"",
                 w ? ", " : "", 10 + w);
    strcat(many, "]}");
    refused(r, "job.add", many, "servers: the job has more than 32 workers and servers");
    rig_free(r);
    r = start();
    refused(r, "job.add", LIBRA("ads", TWO, ""),
            "protocol: the running program has no Libra; p4/rack/with_libra.p4 has");
    rig_free(r);
}

// ---- reloads and restarts ----

static char folder[] = "/tmp/silken-libra-XXXXXX", path[64];

static const char *with_state(const char *section) {
    static char text[8192];
    snprintf(text, sizeof text, "%.*s, \"state\": \"%s\"}", (int)strlen(section) - 1, section,
             path);
    return text;
}

static int set_up(void **state) {
    (void)state;
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/jobs.json", folder);
    return 0;
}

static int tear_down(void **state) {
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

#define FIXED LIBRA("fixed", TWO, ", \"cells\": 50, \"number\": 7")

static void test_a_reload_keeps_sums(void **state) {
    struct rig *r = begin(with_state(SECTION(LINKS_WITHOUT_C LINK_C, FIXED)));
    const struct from a = {A, 0, 2, 7, 0, 0}, c = {C, 0, 4, 1, 0, 0};
    struct sk_error err;
    (void)state;
    add(r, LIBRA("mine", "\"c:10.0.10.4\"", ", \"number\": 1"));
    push(r, &a, 1, 5, 2);
    push(r, &c, 1, 5, 3);
    // without its link the job's places are taken, and then it is there again
    assert_int_equal(rig_reload(r, with_state(SECTION(LINKS_WITHOUT_C, FIXED)), &err), 0);
    rig_wait(r, 10);
    SUM(r, &a, 5, 2.0);
    say(r, &c, LIBRA_PULL, 1, 5, 0);
    assert_int_equal(rig_count(r, C), 0);
    assert_int_equal(rig_reload(r, with_state(SECTION(LINKS_WITHOUT_C LINK_C, FIXED)), &err), 0);
    rig_wait(r, 10);
    rig_forget(r);
    SUM(r, &a, 5, 2.0);
    SUM(r, &c, 5, 3.0);
    // taken out of the configuration, and in again: it is another job
    assert_int_equal(rig_reload(r, with_state(SECTION(LINKS_WITHOUT_C LINK_C, "")), &err), 0);
    rig_wait(r, 10);
    assert_int_equal(rig_reload(r, with_state(SECTION(LINKS_WITHOUT_C LINK_C, FIXED)), &err), 0);
    rig_wait(r, 10);
    rig_forget(r);
    SUM(r, &a, 5, 0.0);
    SUM(r, &c, 5, 3.0);
    rig_free(r);
}

static void test_a_restart_ends_it(void **state) {
    static const char sentence[] = "its sums were in the switch, which has been restarted";
    struct rig *r = begin(with_state(SECTION(LINKS_WITHOUT_C LINK_C, FIXED)));
    const struct from a = {A, 0, 2, 7, 0, 0}, c = {C, 0, 4, 1, 0, 0};
    struct sk_error err;
    uint8_t got[RIG_FRAME];
    (void)state;
    add(r, LIBRA("mine", "\"c:10.0.10.4\"", ", \"number\": 1"));
    add(r, LIBRA("leased", "\"x:10.0.10.7\"", ", \"lease\": true"));
    push(r, &a, 1, 5, 2);
    rig_free(r);
    r = begin(with_state(SECTION(LINKS_WITHOUT_C LINK_C, FIXED)));
    assert_int_equal(rig_events(r, "alarm"), 2);
    assert_non_null(strstr(rig_last_alarm(r), sentence));
    assert_int_equal(lost(r), 2);
    assert_null(rig_request(r, "job.show", "{\"name\": \"mine\"}", &err));
    assert_non_null(strstr(err.text, "job 'mine' is not admitted since the switch was started: "));
    assert_non_null(strstr(err.text, sentence));
    for (unsigned i = 0; i < 2; i++) { // nobody listens there
        say(r, i ? &a : &c, LIBRA_PULL, 1, 5, 0);
        assert_int_equal(rig_take(r, i ? A : C, got), 42 + 28 + 144);
        assert_int_equal(got[23], 1); // ICMP
    }
    // a reload changes nothing in that, until it is removed
    assert_int_equal(rig_reload(r, with_state(SECTION(LINKS_WITHOUT_C LINK_C, FIXED)), &err), 0);
    assert_int_equal(lost(r), 2);
    removed(r, "fixed");
    removed(r, "mine");
    assert_int_equal(lost(r), 0);
    assert_int_equal(rig_reload(r, with_state(SECTION(LINKS_WITHOUT_C LINK_C, FIXED)), &err), 0);
    rig_wait(r, 10);
    rig_forget(r);
    SUM(r, &a, 5, 0.0);
    add(r, LIBRA("mine", "\"c:10.0.10.4\"", ", \"number\": 1"));
    SUM(r, &c, 5, 0.0);
    rig_free(r);
}

static void test_the_configuration_needs_a_file(void **state) {
    struct rig *r = begin(SECTION(LINKS_WITHOUT_C LINK_C, FIXED));
    (void)state;
    assert_non_null(
        strstr(rig_last_alarm(r), "a job of Libra in the configuration needs \"state\""));
    rig_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_others_are_refused),
        cmocka_unit_test(test_beside_the_others),
        cmocka_unit_test(test_trunks_and_lags),
        cmocka_unit_test(test_cells_come_empty),
        cmocka_unit_test(test_what_is_still_inside),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_requests_that_are_refused),
        cmocka_unit_test_setup_teardown(test_a_reload_keeps_sums, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_restart_ends_it, set_up, tear_down),
        cmocka_unit_test(test_the_configuration_needs_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
