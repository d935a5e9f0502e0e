// SPDX-License-Identifier: Apache-2.0
//
// test_filter: expressions against libpcap's own judgement (pcap_offline_filter), of whole and cut
// frames, also by way of JSON; lists of steps that are no filters; machine code of random steps
// against libpcap's interpreter, with frames beyond whose end nothing can be read.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>
#include <pcap/pcap.h>

#include "filter/filter.h"
#include "filter/filter_impl.h"

static const char *const expressions[] = {
    "ip",
    "arp",
    "ip6",
    "tcp",
    "udp port 48864 or udp port 53",
    "host 10.0.0.1",
    "src net 10.0.0.0/8 and not dst host 10.0.0.2",
    "ether host 02:00:00:00:00:01",
    "vlan 100 and ip",
    "less 100",
    "greater 200",
    "len > 80",
    "ip[8] < 5",
    "tcp[tcpflags] & (tcp-syn|tcp-ack) == tcp-syn",
    "ip[6:2] & 0x1fff != 0",
    "ether[12:2] >= 0x86dd",
    "ip and (ip[2:2] - ((ip[0] & 0xf) << 2)) > 20",
    "udp[8:4] % 7 == 3",
    "ether broadcast or ether multicast",
    "icmp or icmp6",
    "portrange 1000-2000",
};
#define N_EXPRESSIONS (sizeof expressions / sizeof *expressions)
#define FRAMES        4000u
#define LONGEST       256u

static uint64_t filter_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

// Most have headers that the expressions ask for, of any length.
static uint32_t random_frame(uint8_t *b, uint64_t *state) {
    static const uint16_t types[] = {0x0800, 0x0800, 0x0800, 0x0806, 0x86dd, 0x8100, 0x1234};
    static const uint8_t protocols[] = {1, 6, 6, 17, 17, 58, 99};
    const uint32_t length = 1 + (uint32_t)(filter_random(state) % LONGEST);
    for (unsigned i = 0; i < LONGEST; i++)
        b[i] = (uint8_t)filter_random(state);
    const uint16_t type = types[filter_random(state) % 7];
    unsigned at = 12;
    b[at] = (uint8_t)(type >> 8);
    b[at + 1] = (uint8_t)type;
    if (type == 0x8100) {
        memcpy(b + 14, "\x00\x64\x08\x00", 4);
        at += 4;
    }
    b[at + 2] = filter_random(state) % 4 ? 0x45 : 0x46;
    b[at + 11] = protocols[filter_random(state) % 7];
    if (filter_random(state) % 2)
        memset(b + at + 8, 0, 2);
    if (filter_random(state) % 2)
        memcpy(b + at + 14, "\x0a\x00\x00\x01\x0a\x00\x00\x02", 8);
    if (filter_random(state) % 2)
        memcpy(b + at + 24, "\xbe\xe0", 2);
    if (filter_random(state) % 4 == 0)
        memcpy(b, "\x02\x00\x00\x00\x00\x01", 6);
    return length;
}

static struct sk_filter *through_json(const struct sk_filter *f) {
    struct sk_error err = {""};
    struct sk_json doc = {.name = "request", .err = &err};
    json_t *list = sk_filter_json(f);
    const struct sk_at at = {.doc = &doc, .value = list};
    struct sk_filter *copy = sk_filter_of_json(&at);
    json_decref(list);
    assert_string_equal(err.text, "");
    return copy;
}

static void test_agree(void **state) {
    uint64_t random = UINT64_C(0x9e3779b97f4a7c15);
    uint8_t frame[LONGEST];
    (void)state;
    for (size_t e = 0; e < N_EXPRESSIONS; e++) {
        struct sk_error err;
        struct bpf_program program;
        unsigned matched = 0;
        pcap_t *p = pcap_open_dead(DLT_EN10MB, 262144);
        assert_int_equal(pcap_compile(p, &program, expressions[e], 1, PCAP_NETMASK_UNKNOWN), 0);
        struct sk_filter *f = sk_filter_parse(expressions[e], &err), *copy = through_json(f);
        for (unsigned i = 0; i < FRAMES; i++) {
            const uint32_t length = random_frame(frame, &random);
            const uint32_t wire =
                i % 4 ? length : length + (uint32_t)(filter_random(&random) % 200);
            const struct pcap_pkthdr head = {.caplen = length, .len = wire};
            const bool want = pcap_offline_filter(&program, &head, frame) != 0;
            matched += want;
            if (sk_filter_matches(f, frame, length, wire) != want ||
                sk_filter_matches(copy, frame, length, wire) != want)
                fail_msg("'%s': frame %u of %u bytes: libpcap says %d", expressions[e], i, length,
                         want);
        }
        assert_in_range(matched, 1, FRAMES - 1); // else the frames try nothing
        sk_filter_free(f);
        sk_filter_free(copy);
        pcap_freecode(&program);
        pcap_close(p);
    }
}

static void test_bad_expressions(void **state) {
    static const struct {
        const char *expression, *says;
    } bad[] = {{"", "no words"},
               {"  ", "no words"},
               {"tcp prt 80", "syntax error"},
               {"ip and", "syntax error"},
               {"port 70000", "illegal port number"},
               {"net 10.0.0.1/8", "non-network bits"}};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct sk_error err = {""};
        assert_null(sk_filter_parse(bad[i].expression, &err));
        if (!strstr(err.text, bad[i].says))
            fail_msg("'%s': %s", bad[i].expression, err.text);
    }
}

static void test_bad_steps(void **state) {
    static const struct {
        const char *steps, *says;
    } bad[] = {
        {"[]", "1 to 4096"},
        {"[[6,0,0]]", "[code, jt, jf, k]"},
        {"[7]", "must be an array"},
        {"[[6,0,256,1]]", "255"},
        {"[[6,0,0,-1]]", "4294967295"},
        {"[[65536,0,0,1]]", "65535"},
        {"[[40,0,0,12]]", "no filter"},                  // does not return
        {"[[21,200,0,2048],[6,0,0,1]]", "no filter"},    // jumps out
        {"[[5,0,0,4294967295],[6,0,0,1]]", "no filter"}, // backwards
        {"[[96,0,0,16],[6,0,0,1]]", "no filter"},        // a word that is not there
        {"[[52,0,0,0],[6,0,0,1]]", "no filter"},         // divides by 0
        {"[[4660,0,0,0],[6,0,0,1]]", "no filter"},       // nothing that the machine does
        {"[[260,0,0,1],[6,0,0,1]]", "no filter"},        // an addition, but for one bit
        {"[[100,0,0,32],[6,0,0,1]]", "no filter"},       // shifts too far, left
        {"[[116,0,0,32],[6,0,0,1]]", "no filter"},       // and right
        {"[[13,0,0,0],[6,0,0,1]]", "no filter"},         // a jump, likewise
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct sk_error err = {""};
        struct sk_json doc = {.name = "request", .err = &err};
        json_t *list = json_loads(bad[i].steps, 0, NULL);
        const struct sk_at at = {.doc = &doc, .value = list};
        struct sk_filter *f = sk_filter_of_json(&at);
        if (f || !doc.failed || !strstr(err.text, bad[i].says))
            fail_msg("%s: %s", bad[i].steps, err.text);
        json_decref(list);
    }
}

// Whatever the code of a step: a filter that is taken can be run.
static void test_every_code(void **state) {
    const uint8_t frame[64] = {0};
    unsigned taken = 0;
    (void)state;
    for (unsigned code = 0; code < 65536; code++) {
        struct sk_error err = {""};
        struct sk_json doc = {.name = "request", .err = &err};
        json_t *list = json_pack("[[i,i,i,i],[i,i,i,i]]", code, 0, 0, 1, 6, 0, 0, 1);
        const struct sk_at at = {.doc = &doc, .value = list};
        struct sk_filter *f = sk_filter_of_json(&at);
        if (f)
            sk_filter_matches(f, frame, sizeof frame, sizeof frame);
        taken += f != NULL;
        sk_filter_free(f);
        json_decref(list);
    }
    assert_int_equal(taken, 48); // all that the machine has, but the jump: it would leave the list
}

// As many steps as there may be, each of which is visited: it ends, and says what it should.
static void test_longest(void **state) {
    struct sk_error err = {""};
    struct sk_json doc = {.name = "request", .err = &err};
    json_t *list = json_array();
    const uint8_t frame[64] = {0};
    (void)state;
    for (unsigned i = 0; i + 1 < SK_FILTER_STEPS; i++)
        json_array_append_new(list, json_pack("[i,i,i,i]", 4, 0, 0, 1)); // A += 1
    json_array_append_new(list, json_pack("[i,i,i,i]", 22, 0, 0, 0));    // returns A
    const struct sk_at at = {.doc = &doc, .value = list};
    struct sk_filter *f = sk_filter_of_json(&at);
    assert_non_null(f);
    assert_true(sk_filter_matches(f, frame, sizeof frame, sizeof frame));
    assert_true(sk_filter_matches(f, frame, sizeof frame, 100));
    sk_filter_free(f);
    json_decref(list);
}

// ---- machine code ----

#define RANDOM_STEPS 48u
#define PROGRAMS     30000u

static const uint16_t step_codes[] = {
    BPF_LD | BPF_W | BPF_ABS,
    BPF_LD | BPF_H | BPF_ABS,
    BPF_LD | BPF_B | BPF_ABS,
    BPF_LD | BPF_W | BPF_IND,
    BPF_LD | BPF_H | BPF_IND,
    BPF_LD | BPF_B | BPF_IND,
    BPF_LD | BPF_W | BPF_LEN,
    BPF_LD | BPF_W | BPF_IMM,
    BPF_LD | BPF_W | BPF_MEM,
    BPF_LDX | BPF_B | BPF_MSH,
    BPF_LDX | BPF_W | BPF_IMM,
    BPF_LDX | BPF_W | BPF_MEM,
    BPF_LDX | BPF_W | BPF_LEN,
    BPF_ST,
    BPF_STX,
    BPF_ALU | BPF_ADD | BPF_K,
    BPF_ALU | BPF_SUB | BPF_K,
    BPF_ALU | BPF_MUL | BPF_K,
    BPF_ALU | BPF_DIV | BPF_K,
    BPF_ALU | BPF_MOD | BPF_K,
    BPF_ALU | BPF_OR | BPF_K,
    BPF_ALU | BPF_AND | BPF_K,
    BPF_ALU | BPF_XOR | BPF_K,
    BPF_ALU | BPF_LSH | BPF_K,
    BPF_ALU | BPF_RSH | BPF_K,
    BPF_ALU | BPF_ADD | BPF_X,
    BPF_ALU | BPF_SUB | BPF_X,
    BPF_ALU | BPF_MUL | BPF_X,
    BPF_ALU | BPF_DIV | BPF_X,
    BPF_ALU | BPF_MOD | BPF_X,
    BPF_ALU | BPF_OR | BPF_X,
    BPF_ALU | BPF_AND | BPF_X,
    BPF_ALU | BPF_XOR | BPF_X,
    BPF_ALU | BPF_LSH | BPF_X,
    BPF_ALU | BPF_RSH | BPF_X,
    BPF_ALU | BPF_NEG,
    BPF_JMP | BPF_JA,
    BPF_JMP | BPF_JEQ | BPF_K,
    BPF_JMP | BPF_JGT | BPF_K,
    BPF_JMP | BPF_JGE | BPF_K,
    BPF_JMP | BPF_JSET | BPF_K,
    BPF_JMP | BPF_JEQ | BPF_X,
    BPF_JMP | BPF_JGT | BPF_X,
    BPF_JMP | BPF_JGE | BPF_X,
    BPF_JMP | BPF_JSET | BPF_X,
    BPF_RET | BPF_K,
    BPF_RET | BPF_A,
    BPF_MISC | BPF_TAX,
    BPF_MISC | BPF_TXA,
};
#define N_CODES (sizeof step_codes / sizeof *step_codes)

// Mostly of what a frame has, and of the ends of what 32 bits can be.
static uint32_t random_number(uint64_t *state) {
    static const uint32_t ends[] = {0,          1,          31,         32,
                                    0x7ffffffa, 0x7ffffffb, 0x7ffffffc, 0x7fffffff,
                                    0x80000000, 0xfffffffc, 0xfffffffe, 0xffffffff};
    const uint64_t r = filter_random(state);
    return r % 4 ? (uint32_t)(r >> 8) % 70 : ends[(r >> 8) % (sizeof ends / sizeof *ends)];
}

// The words are zero first: what they have before is nobody's promise.
static size_t random_steps(struct bpf_insn *steps, size_t *tried, uint64_t *state) {
    const size_t n = BPF_MEMWORDS + 2 + filter_random(state) % RANDOM_STEPS;
    for (size_t i = 0; i < n; i++) {
        const size_t which = filter_random(state) % N_CODES, left = n - i - 2;
        struct bpf_insn s = {.code = step_codes[which], .k = random_number(state)};
        const unsigned op = BPF_OP(s.code);
        if (i < BPF_MEMWORDS || i + 1 == n) {
            steps[i].code = i + 1 == n ? BPF_RET | BPF_A : BPF_ST;
            steps[i].jt = steps[i].jf = 0;
            steps[i].k = i + 1 == n ? 0 : (uint32_t)i;
            continue;
        }
        if (s.code == BPF_ST || s.code == BPF_STX || BPF_MODE(s.code) == BPF_MEM)
            s.k %= BPF_MEMWORDS;
        if (BPF_CLASS(s.code) == BPF_ALU && (op == BPF_LSH || op == BPF_RSH))
            s.k %= 32;
        if (BPF_CLASS(s.code) == BPF_ALU && (op == BPF_DIV || op == BPF_MOD))
            s.k += s.k == 0;
        if (BPF_CLASS(s.code) == BPF_JMP && op == BPF_JA)
            s.k = (uint32_t)(filter_random(state) % (left + 1));
        s.jt = (uint8_t)(filter_random(state) % 3 ? 0 : filter_random(state) % (left + 1));
        s.jf = (uint8_t)(filter_random(state) % 3 ? 0 : filter_random(state) % (left + 1));
        if (BPF_CLASS(s.code) == BPF_RET && filter_random(state) % 4)
            s.code = BPF_MISC | BPF_TXA; // else most lists are short
        tried[which]++;
        steps[i] = s;
    }
    return n;
}

static void test_machine_code(void **state) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t random = UINT64_C(0x2545f4914f6cdd1d);
    size_t tried[N_CODES] = {0}, returned = 0;
    uint8_t *pages =
        mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)state;
    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    for (unsigned p = 0; p < PROGRAMS; p++) {
        struct bpf_insn steps[BPF_MEMWORDS + 2 + RANDOM_STEPS];
        const size_t n = random_steps(steps, tried, &random);
        assert_true(bpf_validate(steps, (int)n));
        struct filter_code code = filter_code_make(steps, n);
        assert_non_null(code.call);
        for (unsigned i = 0; i < 8; i++) {
            const uint32_t length = (uint32_t)(filter_random(&random) % 80);
            const uint32_t wire = length + (uint32_t)(filter_random(&random) % 3);
            uint8_t *frame = pages + page - length; // what is read beyond it ends the test
            for (uint32_t b = 0; b < length; b++)
                frame[b] = (uint8_t)filter_random(&random);
            const uint32_t want = bpf_filter(steps, frame, wire, length),
                           got = code.call(frame, length, wire);
            returned += want != 0;
            if (got != want)
                fail_msg("program %u, frame %u of %u bytes: %u, and libpcap's interpreter has %u",
                         p, i, length, got, want);
        }
        filter_code_free(&code);
    }
    for (size_t i = 0; i < N_CODES; i++)
        assert_in_range(tried[i], 1000, SIZE_MAX);
    assert_in_range(returned, PROGRAMS, 7 * PROGRAMS); // of eight times as many
    munmap(pages, 2 * page);
}

// Filters of both kinds run as machine code, on the processors that it is for.
static void test_compiled(void **state) {
    struct sk_error err;
    struct sk_filter *f = sk_filter_parse("tcp port 80", &err), *copy = through_json(f);
    (void)state;
    assert_true(sk_filter_is_compiled(f));
    assert_true(sk_filter_is_compiled(copy));
    sk_filter_free(f);
    sk_filter_free(copy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agree),     cmocka_unit_test(test_bad_expressions),
        cmocka_unit_test(test_bad_steps), cmocka_unit_test(test_every_code),
        cmocka_unit_test(test_longest),   cmocka_unit_test(test_machine_code),
        cmocka_unit_test(test_compiled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
