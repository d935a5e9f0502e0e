// SPDX-License-Identifier: Apache-2.0
//
// The hosts' wire header: every accessor it has for a header of awkward fields is compiled and held
// against the bit-field functions of stages/.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/cache.h"
#include "compiler/describe/wire.h"
#include "harness/hosts/random.h"
#include "stages/bits.h"

static const unsigned widths[] = {4, 4,  8,  16, 3,  13, 32, 48,  1, 63,
                                  7, 57, 64, 5,  64, 3,  24, 128, 40};
#define FIELDS (sizeof widths / sizeof *widths)

struct accessor {
    uint64_t (*get)(const uint8_t *);
    void (*set)(uint8_t *, uint64_t);
};

static struct ir_program *program_with_header(struct arena *a, unsigned *offsets) {
    struct ir_program *p = ARENA_NEW(a, struct ir_program);
    struct ir_wire_type t = {.name = "odd_h"};
    p->path = "odd.p4";
    for (size_t i = 0; i < FIELDS; i++) {
        struct ir_wire_field f = {
            .name = arena_printf(a, "f%zu", i), .width = widths[i], .bit_offset = t.bits};
        offsets[i] = t.bits;
        t.bits += widths[i];
        VEC_PUSH(a, &t.fields, f);
    }
    assert_int_equal(t.bits % 8, 0);
    VEC_PUSH(a, &p->wire_types, t);
    return p;
}

// The header, and a table of accessors that all have one type.
static char *text_of(const struct ir_program *p, size_t *length) {
    char *text;
    FILE *f = open_memstream(&text, length);
    fputs("#pragma GCC diagnostic ignored \"-Wunused-function\"\n", f);
    emit_wire_header(f, p);
    for (size_t i = 0; i < FIELDS; i++)
        if (widths[i] <= 64)
            fprintf(f,
                    "static uint64_t g%zu(const uint8_t *p) { return odd_h_get_f%zu(p); }\n"
                    "static void s%zu(uint8_t *p, uint64_t v) { odd_h_set_f%zu(p, v); }\n",
                    i, i, i, i);
    fputs("__attribute__((visibility(\"default\"))) const unsigned bytes = ODD_H_BYTES;\n"
          "__attribute__((visibility(\"default\"))) const struct { uint64_t (*get)(const uint8_t "
          "*);\n"
          "void (*set)(uint8_t *, uint64_t); } accessors[] = {\n",
          f);
    for (size_t i = 0; i < FIELDS; i++)
        if (widths[i] <= 64)
            fprintf(f, "{g%zu, s%zu},\n", i, i);
        else
            fputs("{0, 0},\n", f);
    fputs("};\n", f);
    fclose(f);
    return text;
}

static void check_field(const struct accessor *acc, unsigned offset, unsigned width,
                        struct sk_random *r) {
    uint8_t bytes[80], want[80];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = want[i] = (uint8_t)sk_random_below(r, 256);
    assert_int_equal(acc->get(bytes), sk_bits_get(bytes, offset, width));
    uint64_t v = sk_random_below(r, UINT64_MAX) & sk_mask(width);
    sk_bits_put(want, offset, width, v);
    acc->set(bytes, v);
    assert_memory_equal(bytes, want, sizeof bytes);
}

static void test_accessors(void **state) {
    (void)state;
    struct arena *a = arena_new();
    unsigned offsets[FIELDS];
    size_t length;
    char *text = text_of(program_with_header(a, offsets), &length);
    char dir[] = "/tmp/silken-test-wire-XXXXXX";
    assert_non_null(mkdtemp(dir));
    struct cache_request q = {.text = text, .length = length, .name = "wire", .cache_dir = dir};
    char *path = cache_object(&q, stderr);
    assert_non_null(path);
    void *object = dlopen(path, RTLD_NOW);
    assert_non_null(object);
    const struct accessor *acc = dlsym(object, "accessors");
    assert_int_equal(*(const unsigned *)dlsym(object, "bytes"), offsets[FIELDS - 1] / 8 + 5);
    struct sk_random r = sk_random_seeded(7);
    for (size_t i = 0; i < FIELDS; i++)
        for (int n = 0; n < 200 && acc[i].get; n++)
            check_field(&acc[i], offsets[i], widths[i], &r);
    dlclose(object);
    unlink(path);
    rmdir(dir);
    free(path);
    free(text);
    arena_free(a);
}

int main(void) {
    const char *cc = getenv("CC");
    char with_errors[256];
    snprintf(with_errors, sizeof with_errors, "%s -Werror", cc && *cc ? cc : "cc");
    setenv("CC", with_errors, 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_accessors)};
    return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
