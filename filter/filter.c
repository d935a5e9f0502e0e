// SPDX-License-Identifier: Apache-2.0
#include "filter/filter.h"

#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>

#include "filter/filter_impl.h"

#define SNAPLEN 262144 // of the frames that an expression is compiled for

struct sk_filter {
    struct bpf_program steps; // owned
    struct filter_code code;  // owned
};

// ---- what can be run ----

// The operations that libpcap's interpreter knows; at any other one it ends the process, and
// bpf_validate() does not look at all bits of a code.
static bool filter_is_known(uint16_t code) {
    const unsigned op = code & 0xf0u;
    if (code > 0xff)
        return false;
    switch (BPF_CLASS(code)) {
    case BPF_LD:
        return BPF_SIZE(code) == 0x18 ? false
               : BPF_MODE(code) == BPF_ABS || BPF_MODE(code) == BPF_IND
                   ? true
                   : BPF_SIZE(code) == BPF_W &&
                         (BPF_MODE(code) == BPF_IMM || BPF_MODE(code) == BPF_MEM ||
                          BPF_MODE(code) == BPF_LEN);
    case BPF_LDX:
        return code == (BPF_LDX | BPF_MSH | BPF_B) || code == (BPF_LDX | BPF_W | BPF_IMM) ||
               code == (BPF_LDX | BPF_W | BPF_MEM) || code == (BPF_LDX | BPF_W | BPF_LEN);
    case BPF_ST:
    case BPF_STX:
        return code == BPF_CLASS(code);
    case BPF_ALU:
        return op == BPF_NEG ? code == (BPF_ALU | BPF_NEG) : op <= BPF_XOR;
    case BPF_JMP:
        return op == BPF_JA ? code == (BPF_JMP | BPF_JA) : op <= BPF_JSET;
    case BPF_RET:
        return code == (BPF_RET | BPF_K) || code == (BPF_RET | BPF_A);
    default:
        return code == (BPF_MISC | BPF_TAX) || code == (BPF_MISC | BPF_TXA);
    }
}

// A distance of 32 and more, which C does not define; libpcap's interpreter shifts anyway.
static bool filter_shifts_too_far(const struct bpf_insn *s) {
    return BPF_CLASS(s->code) == BPF_ALU && BPF_SRC(s->code) == BPF_K && s->k > 31 &&
           (BPF_OP(s->code) == BPF_LSH || BPF_OP(s->code) == BPF_RSH);
}

// bpf_validate() lets a jump without a condition go back, where it might never end.
static bool filter_is_sound(const struct bpf_insn *steps, size_t n) {
    bool sound = true;
    for (size_t i = 0; i < n; i++)
        sound &= filter_is_known(steps[i].code) && !filter_shifts_too_far(&steps[i]) &&
                 (steps[i].code != (BPF_JMP | BPF_JA) || steps[i].k < n - i - 1);
    return sound && bpf_validate(steps, (int)n);
}

// ---- making ----

static struct sk_filter *filter_new(const struct bpf_insn *steps, size_t n) {
    struct sk_filter *f = calloc(1, sizeof *f);
    if (!f)
        abort();
    f->steps = (struct bpf_program){(unsigned)n, malloc(n * sizeof *steps)};
    if (!f->steps.bf_insns)
        abort();
    memcpy(f->steps.bf_insns, steps, n * sizeof *steps);
    f->code = filter_code_make(steps, n);
    return f;
}

struct sk_filter *sk_filter_parse(const char *expression, struct sk_error *err) {
    struct bpf_program program;
    struct sk_filter *f = NULL;
    if (expression[strspn(expression, " \t\r\n")] == '\0') {
        sk_fail(err, "a filter of no words");
        return NULL;
    }
    pcap_t *p = pcap_open_dead(DLT_EN10MB, SNAPLEN);
    if (!p)
        abort();
    if (pcap_compile(p, &program, expression, 1, PCAP_NETMASK_UNKNOWN)) {
        sk_fail(err, "the filter '%s': %s", expression, pcap_geterr(p));
    } else {
        if (filter_is_sound(program.bf_insns, program.bf_len))
            f = filter_new(program.bf_insns, program.bf_len);
        else
            sk_fail(err, "the filter '%s': libpcap makes steps of it that cannot be run",
                    expression);
        pcap_freecode(&program);
    }
    pcap_close(p);
    return f;
}

void sk_filter_free(struct sk_filter *f) {
    if (!f)
        return;
    filter_code_free(&f->code);
    free(f->steps.bf_insns);
    free(f);
}

// ---- as numbers ----

json_t *sk_filter_json(const struct sk_filter *f) {
    json_t *list = json_array();
    for (unsigned i = 0; i < f->steps.bf_len; i++) {
        const struct bpf_insn *s = &f->steps.bf_insns[i];
        json_array_append_new(list,
                              json_pack("[i, i, i, I]", s->code, s->jt, s->jf, (json_int_t)s->k));
    }
    return list;
}

static struct bpf_insn filter_step(const struct sk_at *step) {
    static const uint32_t most[4] = {UINT16_MAX, UINT8_MAX, UINT8_MAX, UINT32_MAX};
    uint64_t number[4] = {0};
    if (sk_at_length(step) != 4)
        sk_at_fail(step, "a step of a filter is [code, jt, jf, k]");
    for (size_t i = 0; i < 4 && !step->doc->failed; i++) {
        const struct sk_at one = sk_at_item(step, i);
        number[i] = sk_at_number(&one, true, most[i]);
    }
    return (struct bpf_insn){(uint16_t)number[0], (uint8_t)number[1], (uint8_t)number[2],
                             (uint32_t)number[3]};
}

struct sk_filter *sk_filter_of_json(const struct sk_at *steps) {
    const size_t n = sk_at_length(steps);
    struct sk_filter *f = NULL;
    if (!steps->doc->failed && (n == 0 || n > SK_FILTER_STEPS))
        sk_at_fail(steps, "a filter has 1 to %u steps", SK_FILTER_STEPS);
    struct bpf_insn *list = calloc(n + 1, sizeof *list);
    if (!list)
        abort();
    for (size_t i = 0; i < n && !steps->doc->failed; i++) {
        const struct sk_at step = sk_at_item(steps, i);
        list[i] = filter_step(&step);
    }
    if (!steps->doc->failed && !filter_is_sound(list, n))
        sk_at_fail(steps, "these steps are no filter: a jump, an operation, a shift or an address "
                          "is impossible, or the last step does not return");
    if (!steps->doc->failed)
        f = filter_new(list, n);
    free(list);
    return f;
}

// ---- matching ----

bool sk_filter_matches(const struct sk_filter *f, const uint8_t *frame, uint32_t length,
                       uint32_t wire_length) {
    return (f->code.call ? f->code.call(frame, length, wire_length)
                         : bpf_filter(f->steps.bf_insns, frame, wire_length, length)) != 0;
}

bool sk_filter_is_compiled(const struct sk_filter *f) {
    return f->code.call != NULL;
}
