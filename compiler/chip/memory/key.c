// SPDX-License-Identifier: Apache-2.0
//
// key: keys as bytes. A crossbar moves containers' bytes; a header's field keeps its place in the
// byte that it has on the wire, a variable starts a byte of its own.
#include <stdlib.h>
#include <string.h>

#include "compiler/chip/memory/memory_impl.h"

unsigned memory_log2(uint64_t n) {
    unsigned bits = 0;
    while (bits < 64 && (UINT64_C(1) << bits) < n)
        bits++;
    return bits;
}

uint64_t memory_divide(uint64_t n, uint64_t by) {
    return n / by + (n % by != 0);
}

uint64_t memory_pow2(uint64_t n) {
    return UINT64_C(1) << memory_log2(n);
}

void memory_byte_add(struct arena *a, memory_byte_vec *out, struct memory_byte byte) {
    for (size_t i = 0; i < out->n; i++)
        if (out->v[i].of == byte.of && out->v[i].at == byte.at) {
            out->v[i].bits |= byte.bits;
            return;
        }
    VEC_PUSH(a, out, byte);
}

// Bit 'i' of a variable, from its low end: in which byte of what it is carried.
static struct memory_byte memory_key_byte_of(const struct ir_var *v, unsigned i) {
    struct memory_byte b = {.of = v, .at = i / 8, .bits = 1u << i % 8};
    if (!v->header)
        return b;
    unsigned at = v->bit_offset + (v->width - 1 - i);
    b.of = v->header;
    b.at = at / 8;
    b.bits = 1u << (7 - at % 8);
    return b;
}

void memory_bytes(struct arena *a, memory_byte_vec *out, const struct chip_bits *b, size_t n) {
    for (size_t k = 0; k < n; k++) {
        struct memory_byte now = {0};
        for (unsigned i = b[k].lo; i < b[k].lo + b[k].width && i < b[k].var->width; i++) {
            struct memory_byte next = memory_key_byte_of(b[k].var, i);
            if (now.of && now.at != next.at) {
                memory_byte_add(a, out, now);
                now.of = NULL;
            }
            next.bits |= now.of ? now.bits : 0;
            now = next;
        }
        if (now.of)
            memory_byte_add(a, out, now);
    }
}

unsigned memory_bits_of(const memory_byte_vec *v) {
    unsigned bits = 0;
    for (size_t i = 0; i < v->n; i++)
        bits += (unsigned)__builtin_popcount(v->v[i].bits);
    return bits;
}

bool memory_annotation(const struct ir_table *t, const char *name, uint64_t *value) {
    size_t n = strlen(name);
    for (size_t i = 0; t && i < t->annotations.n; i++) {
        const char *s = t->annotations.v[i];
        if (s[0] != '@' || strncmp(s + 1, name, n) != 0)
            continue;
        s += 1 + n;
        if (*s == '(' || *s == ' ') // a pragma's text stands after a blank
            s++;
        else if (*s)
            continue;
        if (*s == '"')
            s++;
        *value = strtoull(s, NULL, 0);
        return true;
    }
    return false;
}
