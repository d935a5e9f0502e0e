// SPDX-License-Identifier: Apache-2.0
//
// code: a filter's steps as x86-64 machine code.
//
// Each step becomes a few instructions, in the steps' order, and jumps go forward as theirs do, so
// that it takes no longer than its length. What a step reads of the frame is compared with the
// frame's length first; a step that would read beyond it goes to the end, which returns 0.
//
//     eax, ecx      A and X
//     rdi, rsi, r8  the frame, its length, that on the wire
//     rsp - 64      the 16 words, in the red zone: nothing is called
//     edx, r9, r10  free
//
// The pages are of a file in memory that is written before it is mapped, so that no page can ever
// be both written and run: a unit with MemoryDenyWriteExecute=yes allows that, too.
#include "filter/filter_impl.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __x86_64__

#define STEP_LONGEST 64u // bytes of a step's instructions, and of what begins and ends all

enum { A = 0, X = 1 }; // as the instructions number eax and ecx

// Conditions as in the second byte of a jump.
enum condition {
    BELOW = 0x82,
    NOT_BELOW = 0x83,
    EQUAL = 0x84,
    NOT_EQUAL = 0x85,
    NOT_ABOVE = 0x86,
    ABOVE = 0x87
};

struct code_jump {
    size_t from; // the byte after its distance
    size_t to;   // a step; the number of steps: the end
};

struct code_writer {
    uint8_t *bytes;
    size_t n;
    struct code_jump *jumps;
    size_t n_jumps;
    size_t *starts; // of steps
    size_t n_steps;
};

// ---- bytes ----

static void code_put(struct code_writer *w, const char *bytes, size_t n) {
    memcpy(w->bytes + w->n, bytes, n);
    w->n += n;
}
#define PUT(w, text) code_put(w, text, sizeof(text) - 1)

static void code_byte(struct code_writer *w, unsigned byte) {
    w->bytes[w->n++] = (uint8_t)byte;
}

static void code_number(struct code_writer *w, uint32_t number) {
    memcpy(w->bytes + w->n, &number, sizeof number);
    w->n += sizeof number;
}

static void code_jump_to(struct code_writer *w, size_t step) {
    code_number(w, 0);
    w->jumps[w->n_jumps++] = (struct code_jump){w->n, step};
}

static void code_go(struct code_writer *w, size_t step) {
    code_byte(w, 0xe9);
    code_jump_to(w, step);
}

static void code_go_if(struct code_writer *w, enum condition c, size_t step) {
    code_byte(w, 0x0f);
    code_byte(w, c);
    code_jump_to(w, step);
}

// ---- reading the frame ----

static unsigned code_size(uint16_t code) {
    return BPF_SIZE(code) == BPF_W ? 4 : BPF_SIZE(code) == BPF_H ? 2 : 1;
}

// The bytes came in network order.
static void code_swap(struct code_writer *w, unsigned size) {
    if (size == 4)
        PUT(w, "\x0f\xc8"); // bswap eax
    else if (size == 2)
        PUT(w, "\x66\xc1\xc0\x08"); // rol ax, 8
}

// r10 = r9 + size; to the end if that is beyond the frame. Then eax = what is at r9.
static void code_load_at_r9(struct code_writer *w, unsigned size) {
    PUT(w, "\x4d\x8d\x51"); // lea r10, [r9 + size]
    code_byte(w, size);
    PUT(w, "\x49\x39\xf2"); // cmp r10, rsi
    code_go_if(w, ABOVE, w->n_steps);
    if (size == 4)
        PUT(w, "\x42\x8b\x04\x0f"); // mov eax, [rdi + r9]
    else if (size == 2)
        PUT(w, "\x42\x0f\xb7\x04\x0f"); // movzx
    else
        PUT(w, "\x42\x0f\xb6\x04\x0f");
    code_swap(w, size);
}

static void code_r9(struct code_writer *w, uint32_t k) {
    PUT(w, "\x41\xb9"); // mov r9d, k
    code_number(w, k);
}

static void code_load(struct code_writer *w, uint32_t k, unsigned size) {
    if (k > INT32_MAX - 4) { // beyond what an instruction has room for
        code_r9(w, k);
        code_load_at_r9(w, size);
        return;
    }
    PUT(w, "\x81\xfe"); // cmp esi, k + size
    code_number(w, k + size);
    code_go_if(w, BELOW, w->n_steps);
    if (size == 4)
        PUT(w, "\x8b\x87"); // mov eax, [rdi + k]
    else if (size == 2)
        PUT(w, "\x0f\xb7\x87"); // movzx
    else
        PUT(w, "\x0f\xb6\x87");
    code_number(w, k);
    code_swap(w, size);
}

static void code_load_after_x(struct code_writer *w, uint32_t k, unsigned size) {
    code_r9(w, k);
    PUT(w, "\x41\x89\xca\x4d\x01\xd1"); // mov r10d, ecx; add r9, r10
    code_load_at_r9(w, size);
}

// X = length of an IP header whose first byte is at k. A stays.
static void code_header_length(struct code_writer *w, uint32_t k) {
    PUT(w, "\x89\xc2"); // mov edx, eax
    code_load(w, k, 1);
    PUT(w, "\x83\xe0\x0f\xc1\xe0\x02"); // and eax, 15; shl eax, 2
    PUT(w, "\x89\xc1\x89\xd0");         // mov ecx, eax; mov eax, edx
}

// ---- the words ----

static void code_word(struct code_writer *w, bool store, unsigned reg, uint32_t k) {
    code_byte(w, store ? 0x89 : 0x8b); // mov [rsp - 64 + 4 k], eax, or the other way
    code_byte(w, 0x44 | reg << 3);
    code_byte(w, 0x24);
    code_byte(w, (uint8_t)(4 * k - 64));
}

// ---- classes of steps ----

static void code_ld(struct code_writer *w, const struct bpf_insn *s) {
    switch (BPF_MODE(s->code)) {
    case BPF_ABS:
        code_load(w, s->k, code_size(s->code));
        break;
    case BPF_IND:
        code_load_after_x(w, s->k, code_size(s->code));
        break;
    case BPF_LEN:
        PUT(w, "\x44\x89\xc0"); // mov eax, r8d
        break;
    case BPF_IMM:
        code_byte(w, 0xb8);
        code_number(w, s->k);
        break;
    default:
        code_word(w, false, A, s->k);
    }
}

static void code_ldx(struct code_writer *w, const struct bpf_insn *s) {
    switch (BPF_MODE(s->code)) {
    case BPF_MSH:
        code_header_length(w, s->k);
        break;
    case BPF_LEN:
        PUT(w, "\x44\x89\xc1"); // mov ecx, r8d
        break;
    case BPF_IMM:
        code_byte(w, 0xb9);
        code_number(w, s->k);
        break;
    default:
        code_word(w, false, X, s->k);
    }
}

// A's quotient by r9d, or its rest.
static void code_divide(struct code_writer *w, bool rest) {
    PUT(w, "\x31\xd2\x41\xf7\xf1"); // xor edx, edx; div r9d
    if (rest)
        PUT(w, "\x89\xd0"); // mov eax, edx
}

static void code_alu_k(struct code_writer *w, const struct bpf_insn *s) {
    static const uint8_t codes[] = {
        [BPF_ADD >> 4] = 0x05, [BPF_SUB >> 4] = 0x2d, [BPF_OR >> 4] = 0x0d,
        [BPF_AND >> 4] = 0x25, [BPF_XOR >> 4] = 0x35,
    };
    switch (BPF_OP(s->code)) {
    case BPF_MUL:
        PUT(w, "\x69\xc0"); // imul eax, eax, k
        code_number(w, s->k);
        break;
    case BPF_DIV:
    case BPF_MOD:
        code_r9(w, s->k);
        code_divide(w, BPF_OP(s->code) == BPF_MOD);
        break;
    case BPF_LSH:
    case BPF_RSH:
        code_byte(w, 0xc1); // shl or shr eax, k
        code_byte(w, BPF_OP(s->code) == BPF_LSH ? 0xe0 : 0xe8);
        code_byte(w, s->k);
        break;
    default:
        code_byte(w, codes[BPF_OP(s->code) >> 4]);
        code_number(w, s->k);
    }
}

static void code_alu_x(struct code_writer *w, const struct bpf_insn *s) {
    static const uint8_t codes[] = {
        [BPF_ADD >> 4] = 0x01, [BPF_SUB >> 4] = 0x29, [BPF_OR >> 4] = 0x09,
        [BPF_AND >> 4] = 0x21, [BPF_XOR >> 4] = 0x31,
    };
    switch (BPF_OP(s->code)) {
    case BPF_MUL:
        PUT(w, "\x0f\xaf\xc1"); // imul eax, ecx
        break;
    case BPF_DIV:
    case BPF_MOD:
        PUT(w, "\x85\xc9"); // test ecx, ecx
        code_go_if(w, EQUAL, w->n_steps);
        PUT(w, "\x41\x89\xc9"); // mov r9d, ecx
        code_divide(w, BPF_OP(s->code) == BPF_MOD);
        break;
    case BPF_LSH:
    case BPF_RSH:
        // a distance of 32 and more leaves nothing, while the instruction takes it modulo 32
        PUT(w, "\x83\xf9\x20\x19\xd2\xd3"); // cmp ecx, 32; sbb edx, edx; shl or shr eax, cl
        code_byte(w, BPF_OP(s->code) == BPF_LSH ? 0xe0 : 0xe8);
        PUT(w, "\x21\xd0"); // and eax, edx
        break;
    default:
        code_byte(w, codes[BPF_OP(s->code) >> 4]); // eax, ecx
        code_byte(w, 0xc8);
    }
}

static void code_alu(struct code_writer *w, const struct bpf_insn *s) {
    if (BPF_OP(s->code) == BPF_NEG)
        PUT(w, "\xf7\xd8"); // neg eax
    else if (BPF_SRC(s->code) == BPF_K)
        code_alu_k(w, s);
    else
        code_alu_x(w, s);
}

static void code_compare(struct code_writer *w, const struct bpf_insn *s) {
    const bool test = BPF_OP(s->code) == BPF_JSET;
    if (BPF_SRC(s->code) == BPF_K) {
        code_byte(w, test ? 0xa9 : 0x3d); // test or cmp eax, k
        code_number(w, s->k);
    } else {
        code_byte(w, test ? 0x85 : 0x39); // eax, ecx
        code_byte(w, 0xc8);
    }
}

static void code_jmp(struct code_writer *w, const struct bpf_insn *s, size_t at) {
    const size_t yes = at + 1 + s->jt, no = at + 1 + s->jf;
    const uint8_t op = BPF_OP(s->code);
    if (op == BPF_JA) {
        code_go(w, at + 1 + s->k);
        return;
    }
    const enum condition c = op == BPF_JEQ   ? EQUAL
                             : op == BPF_JGT ? ABOVE
                             : op == BPF_JGE ? NOT_BELOW
                                             : NOT_EQUAL;
    code_compare(w, s);
    if (s->jt)
        code_go_if(w, c, yes);
    else
        code_go_if(w, (enum condition)(c ^ 1), no); // the opposite one
    if (s->jt && s->jf)
        code_go(w, no);
}

static void code_step(struct code_writer *w, const struct bpf_insn *s, size_t at) {
    switch (BPF_CLASS(s->code)) {
    case BPF_LD:
        code_ld(w, s);
        break;
    case BPF_LDX:
        code_ldx(w, s);
        break;
    case BPF_ST:
        code_word(w, true, A, s->k);
        break;
    case BPF_STX:
        code_word(w, true, X, s->k);
        break;
    case BPF_ALU:
        code_alu(w, s);
        break;
    case BPF_JMP:
        code_jmp(w, s, at);
        break;
    case BPF_RET:
        if (BPF_RVAL(s->code) == BPF_K) {
            code_byte(w, 0xb8);
            code_number(w, s->k);
        }
        code_byte(w, 0xc3);
        break;
    default:
        code_put(w, BPF_MISCOP(s->code) == BPF_TAX ? "\x89\xc1" : "\x89\xc8", 2);
    }
}

// ---- all of it ----

static void code_begin(struct code_writer *w) {
    PUT(w, "\xf3\x0f\x1e\xfa\x89\xf6\x41\x89\xd0"); // endbr64; mov esi, esi; mov r8d, edx
    PUT(w, "\x31\xc0\x31\xc9");                     // xor eax, eax; xor ecx, ecx
    for (unsigned i = 0; i < BPF_MEMWORDS; i += 2) {
        PUT(w, "\x48\x89\x44\x24"); // mov [rsp - 64 + 4 i], rax
        code_byte(w, (uint8_t)(4 * i - 64));
    }
}

static void code_set_jumps(struct code_writer *w) {
    for (size_t i = 0; i < w->n_jumps; i++) {
        const uint32_t distance = (uint32_t)(w->starts[w->jumps[i].to] - w->jumps[i].from);
        memcpy(w->bytes + w->jumps[i].from - sizeof distance, &distance, sizeof distance);
    }
}

static filter_call *code_map(const uint8_t *bytes, size_t n) {
    void *pages = MAP_FAILED;
    const int fd = memfd_create("silken-filter", MFD_CLOEXEC);
    if (fd < 0)
        return NULL;
    if (write(fd, bytes, n) == (ssize_t)n)
        pages = mmap(NULL, n, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    close(fd);
    filter_call *call = NULL;
    if (pages != MAP_FAILED)
        memcpy(&call, &pages, sizeof call); // C has no conversion for that
    return call;
}

struct filter_code filter_code_make(const struct bpf_insn *steps, size_t n) {
    struct code_writer w = {.bytes = malloc((n + 4) * STEP_LONGEST),
                            .jumps = malloc((2 * n + 1) * sizeof *w.jumps),
                            .starts = malloc((n + 1) * sizeof *w.starts),
                            .n_steps = n};
    if (!w.bytes || !w.jumps || !w.starts)
        abort();
    code_begin(&w);
    for (size_t i = 0; i < n; i++) {
        w.starts[i] = w.n;
        code_step(&w, &steps[i], i);
    }
    w.starts[n] = w.n;
    PUT(&w, "\x31\xc0\xc3"); // xor eax, eax; ret
    code_set_jumps(&w);
    const struct filter_code code = {code_map(w.bytes, w.n), w.n};
    free(w.bytes);
    free(w.jumps);
    free(w.starts);
    return code;
}

void filter_code_free(struct filter_code *code) {
    void *pages;
    memcpy(&pages, &code->call, sizeof pages);
    if (pages)
        munmap(pages, code->bytes);
}

#else

struct filter_code filter_code_make(const struct bpf_insn *steps, size_t n) {
    (void)steps, (void)n;
    return (struct filter_code){0};
}

void filter_code_free(struct filter_code *code) {
    (void)code;
}

#endif
