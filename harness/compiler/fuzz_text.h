// SPDX-License-Identifier: Apache-2.0
//
// fuzz_text: what targets that take P4 text share: their mutations (p4_mutator.h), and
// architectures.
//
// A first line "#arch NAME" stands for the declarations of that architecture, which are read from
// $SILKEN_FUZZ_ARCH/NAME.p4 (default build/fuzz/arch), preprocessed: mutations then hit the
// program, not 500 lines in front of it. harness/fuzz.sh makes these files and the seeds.
#ifndef SILKEN_HARNESS_COMPILER_FUZZ_TEXT_H
#define SILKEN_HARNESS_COMPILER_FUZZ_TEXT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/base/arena.h"
#include "harness/compiler/p4_mutator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *x, size_t nx, const uint8_t *y, size_t ny,
                                 uint8_t *out, size_t max, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed) {
    return seed % 16 == 0 ? LLVMFuzzerMutate(data, size, max) : p4_mutate(data, size, max, seed);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *x, size_t nx, const uint8_t *y, size_t ny,
                                 uint8_t *out, size_t max, unsigned seed) {
    return p4_cross(x, nx, y, ny, out, max, seed);
}

// ------------------------------------------------------------------------------------------------
// Architectures

struct arch {
    char name[32];
    char *text;
    size_t size;
};

static void read_arch(struct arch *a) {
    const char *folder = getenv("SILKEN_FUZZ_ARCH");
    char path[512];
    snprintf(path, sizeof path, "%s/%s.p4", folder ? folder : "build/fuzz/arch", a->name);
    FILE *in = fopen(path, "r");
    FILE *out = open_memstream(&a->text, &a->size);
    char part[4096];
    for (size_t n; in && out && (n = fread(part, 1, sizeof part, in)) > 0;)
        fwrite(part, 1, n, out);
    if (in)
        fclose(in);
    if (out)
        fclose(out);
}

static const struct arch *arch_named(const char *name, size_t length) {
    static struct arch known[16];
    static size_t n;
    for (size_t i = 0; i < length; i++)
        if (name[i] < 'a' || name[i] > 'z')
            if (name[i] < '0' || name[i] > '9')
                return NULL;
    for (size_t i = 0; i < n; i++)
        if (strlen(known[i].name) == length && memcmp(known[i].name, name, length) == 0)
            return &known[i];
    if (n == sizeof known / sizeof *known || length >= sizeof known[0].name)
        return NULL;
    memcpy(known[n].name, name, length);
    read_arch(&known[n]);
    return &known[n++];
}

// The program with its architecture in front, in the arena.
static char *whole_text(struct arena *a, const char *text, size_t *size) {
    static const char mark[] = "#arch ";
    size_t skip = sizeof mark - 1;
    const struct arch *arch = NULL;
    if (*size > skip && memcmp(text, mark, skip) == 0) {
        const char *newline = memchr(text, '\n', *size);
        size_t line = newline ? (size_t)(newline - text) : *size;
        arch = arch_named(text + skip, line - skip);
        text += line;
        *size -= line;
    }
    size_t before = arch ? arch->size : 0;
    char *whole = arena_alloc(a, before + *size + 1);
    if (before)
        memcpy(whole, arch->text, before);
    memcpy(whole + before, text, *size);
    *size += before;
    return whole;
}

#endif
