// SPDX-License-Identifier: Apache-2.0
//
// test_syntax: text to tree, and what the user is told when the text is no program.
//
// The golden cases are harness/compiler/syntax/NAME.p4 with NAME.out beside it: the messages, then
// the dump of the tree. SILKEN_UPDATE_GOLDEN=1 writes the .out files anew; read the difference.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/syntax/preprocess.h"
#include "compiler/syntax/scope.h"
#include "compiler/syntax/syntax.h"

#define GOLDEN_DIR "harness/compiler/syntax"

struct parsed {
    struct arena *a;
    struct diag *d;
    struct program *p;
    char *messages; // as printed
};

static char *printed(const struct diag *d) {
    char *text;
    size_t length;
    FILE *f = open_memstream(&text, &length);
    diag_print(d, f, false);
    fclose(f);
    return text;
}

static struct parsed parse_bytes(const char *path, const char *text, size_t length) {
    struct parsed r = {.a = arena_new()};
    r.d = diag_new(r.a);
    diag_set_source(r.d, diag_file(r.d, path), text, length);
    r.p = parse_p4(r.a, r.d, path, text, length);
    r.messages = printed(r.d);
    return r;
}

static struct parsed parse(const char *text) {
    return parse_bytes("test.p4", text, strlen(text));
}

static void parsed_free(struct parsed *r) {
    free(r->messages);
    arena_free(r->a);
}

static void assert_accepted(const char *text) {
    struct parsed r = parse(text);
    if (diag_errors(r.d) != 0)
        fail_msg("not accepted:\n%s", r.messages);
    parsed_free(&r);
}

static void assert_messages(const char *text, const char *expected) {
    struct parsed r = parse(text);
    assert_string_equal(r.messages, expected);
    parsed_free(&r);
}

// --------------------------------------------------------------------------------------------
// Golden cases

static char *read_file(const char *path, size_t *length) {
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    *length = (size_t)ftell(f);
    rewind(f);
    char *text = calloc(1, *length + 1);
    assert_int_equal(fread(text, 1, *length, f), *length);
    fclose(f);
    return text;
}

static char *golden_text(const char *name, const char *text, size_t length) {
    struct parsed r = parse_bytes(name, text, length);
    char *out;
    size_t n;
    FILE *f = open_memstream(&out, &n);
    fputs(r.messages, f);
    ast_dump(f, r.p);
    fclose(f);
    parsed_free(&r);
    return out;
}

static void write_file(const char *path, const char *text) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void check_golden(const char *name) {
    char path[512], out_path[512];
    snprintf(path, sizeof path, GOLDEN_DIR "/%s", name);
    snprintf(out_path, sizeof out_path, GOLDEN_DIR "/%.*s.out", (int)strlen(name) - 3, name);
    size_t length, expected_length;
    char *text = read_file(path, &length);
    assert_non_null(text);
    char *got = golden_text(name, text, length);
    if (getenv("SILKEN_UPDATE_GOLDEN"))
        write_file(out_path, got);
    char *expected = read_file(out_path, &expected_length);
    if (!expected || strcmp(got, expected) != 0)
        fail_msg("%s is not what came out:\n%s", out_path, got);
    free(expected);
    free(got);
    free(text);
}

typedef void (*case_fn)(const char *name);

static unsigned for_each_golden(case_fn fn) {
    DIR *dir = opendir(GOLDEN_DIR);
    assert_non_null(dir);
    unsigned n = 0;
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        size_t length = strlen(e->d_name);
        if (length < 4 || strcmp(e->d_name + length - 3, ".p4") != 0)
            continue;
        fn(e->d_name);
        n++;
    }
    closedir(dir);
    return n;
}

static void test_golden(void **state) {
    (void)state;
    assert_true(for_each_golden(check_golden) >= 10);
}

// Every prefix of every case: cut programs are where recovery goes wrong.
static void parse_prefixes(const char *name) {
    char path[512];
    snprintf(path, sizeof path, GOLDEN_DIR "/%s", name);
    size_t length;
    char *text = read_file(path, &length);
    for (size_t n = 0; n < length; n += 3) {
        struct parsed r = parse_bytes(name, text, n);
        assert_non_null(r.p);
        parsed_free(&r);
    }
    free(text);
}

static void test_prefixes(void **state) {
    (void)state;
    for_each_golden(parse_prefixes);
}

static uint32_t next_random(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

// Tokens taken out, doubled and exchanged, from a fixed seed.
static void parse_mutations(const char *name) {
    static const char junk[] = "{}()[]<>;:,.=@\"#&|+-*/!?_ax1\n";
    char path[512];
    snprintf(path, sizeof path, GOLDEN_DIR "/%s", name);
    size_t length;
    char *text = read_file(path, &length);
    char *copy = malloc(length + 1);
    uint32_t seed = 1;
    for (int round = 0; round < 150; round++) {
        memcpy(copy, text, length);
        for (int i = 0; i < 1 + round % 7; i++)
            copy[next_random(&seed) % length] = junk[next_random(&seed) % (sizeof junk - 1)];
        struct parsed r = parse_bytes(name, copy, length);
        assert_non_null(r.p);
        parsed_free(&r);
    }
    free(copy);
    free(text);
}

static void test_mutations(void **state) {
    (void)state;
    for_each_golden(parse_mutations);
}

// --------------------------------------------------------------------------------------------
// Arena, integers

static void test_arena(void **state) {
    (void)state;
    struct arena *a = arena_new();
    for (size_t n = 0; n < 300000; n = n * 3 + 1) {
        unsigned char *p = arena_alloc(a, n);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xff, n);
    }
    VEC(int) v = {0};
    for (int i = 0; i < 1000; i++)
        VEC_PUSH(a, &v, i);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(v.v[i], i);
    assert_string_equal(arena_printf(a, "%s-%d", "x", 7), "x-7");
    assert_string_equal(arena_strndup(a, "abcdef", 3), "abc");
    arena_free(a);
    arena_free(NULL);
}

static big from_i128(struct arena *a, __int128 v) {
    big high = big_shl(a, big_i64(a, (int64_t)(v >> 64)), 64);
    return big_add(a, high, big_u64(a, (uint64_t)v));
}

static __int128 to_i128(big x) {
    return (__int128)((unsigned __int128)big_word(x, 1) << 64 | big_word(x, 0));
}

// Against the machine's own 128-bit arithmetic.
static void test_bigint_random(void **state) {
    (void)state;
    struct arena *a = arena_new();
    uint32_t seed = 7;
    for (int i = 0; i < 3000; i++) {
        __int128 x = 0, y = 0;
        for (int k = 0; k < 4; k++) {
            x = x << 20 | next_random(&seed) % (1u << 20);
            y = y << 13 | next_random(&seed) % (1u << 13);
        }
        x = i % 2 ? -x : x;
        y = i % 3 ? -y : y;
        y >>= next_random(&seed) % 60;
        big bx = from_i128(a, x), by = from_i128(a, y);
        assert_true(to_i128(bx) == x);
        assert_true(to_i128(big_add(a, bx, by)) == x + y);
        assert_true(to_i128(big_sub(a, bx, by)) == x - y);
        assert_true(to_i128(big_and(a, bx, by)) == (x & y));
        assert_true(to_i128(big_or(a, bx, by)) == (x | y));
        assert_true(to_i128(big_xor(a, bx, by)) == (x ^ y));
        assert_true(to_i128(big_not(a, bx)) == ~x);
        assert_true(to_i128(big_neg(a, bx)) == -x);
        assert_int_equal(big_cmp(bx, by), (x > y) - (x < y));
        unsigned n = next_random(&seed) % 100;
        assert_true(to_i128(big_shr(a, bx, n)) == x >> n);
        if (y != 0) {
            assert_true(to_i128(big_div(a, bx, by)) == x / y);
            assert_true(to_i128(big_mod(a, bx, by)) == x % y);
        }
        unsigned w = 1 + next_random(&seed) % 100;
        unsigned __int128 mask = ((unsigned __int128)1 << w) - 1;
        assert_true(to_i128(big_wrap_u(a, bx, w)) == (__int128)((unsigned __int128)x & mask));
        assert_true(to_i128(big_wrap_s(a, bx, w)) ==
                    (__int128)((unsigned __int128)x << (128 - w)) >> (128 - w));
    }
    arena_free(a);
}

static void test_bigint_edges(void **state) {
    (void)state;
    struct arena *a = arena_new();
    assert_null(big_parse(a, "12x", 10));
    assert_null(big_parse(a, "__", 10));
    assert_string_equal(big_str(a, big_parse(a, "ff_FF", 16), 10), "65535");
    assert_string_equal(big_str(a, big_i64(a, -31), 16), "-0x1f");
    assert_string_equal(big_str(a, big_i64(a, INT64_MIN), 10), "-9223372036854775808");
    assert_true(big_fits_i64(big_i64(a, INT64_MIN)));
    assert_false(big_fits_i64(big_u64(a, (uint64_t)INT64_MAX + 1)));
    assert_true(big_fits_u64(big_u64(a, UINT64_MAX)));
    assert_false(big_fits_u64(big_i64(a, -1)));
    assert_null(big_div(a, big_u64(a, 1), big_u64(a, 0)));
    assert_null(big_mod(a, big_u64(a, 1), big_u64(a, 0)));
    assert_null(big_shl(a, big_u64(a, 1), UINT64_MAX));
    assert_null(big_shl(a, big_u64(a, 1), BIG_MAX_BITS));
    big wide = big_shl(a, big_u64(a, 1), BIG_MAX_BITS - 1);
    assert_int_equal(big_bits(wide), BIG_MAX_BITS);
    assert_non_null(big_mul(a, wide, big_u64(a, 1)));
    assert_null(big_mul(a, wide, big_u64(a, 2)));
    assert_int_equal(big_to_i64(big_shr(a, big_i64(a, -5), UINT64_MAX)), -1);
    assert_int_equal(big_to_u64(big_slice(a, big_u64(a, 0xabcd), 11, 4)), 0xbc);
    assert_int_equal(big_sign(big_sub(a, wide, wide)), 0);
    arena_free(a);
}

// --------------------------------------------------------------------------------------------
// Scopes

static enum scope_kind lookup(struct scope *s, const char *name) {
    return scope_lookup(s, name, strlen(name));
}

static void declare(struct scope *s, const char *name, enum scope_kind kind) {
    scope_declare(s, name, strlen(name), kind);
}

static void test_scopes(void **state) {
    (void)state;
    struct arena *a = arena_new();
    struct scope *s = scope_new(a);
    declare(s, "T", SCOPE_TYPE);
    struct scope_mark outer = scope_enter(s);
    declare(s, "T", SCOPE_OBJECT);
    struct scope_mark inner = scope_enter(s);
    declare(s, "U", SCOPE_TYPE);
    declare(s, "T", SCOPE_TYPE);
    declare(s, "T", SCOPE_OBJECT);
    assert_int_equal(lookup(s, "U"), SCOPE_TYPE);
    scope_leave(s, inner);
    assert_int_equal(lookup(s, "U"), SCOPE_UNKNOWN);
    assert_int_equal(lookup(s, "T"), SCOPE_OBJECT);
    assert_int_equal(scope_lookup_top(s, "T", 1), SCOPE_TYPE);
    inner = scope_enter(s);
    declare(s, "V", SCOPE_TYPE);
    scope_leave(s, outer); // takes the inner one with it
    assert_int_equal(lookup(s, "V"), SCOPE_UNKNOWN);
    scope_leave(s, inner); // as a destructor that comes late
    assert_int_equal(scope_depth(s), 0);
    assert_int_equal(lookup(s, "T"), SCOPE_TYPE);
    for (int i = 0; i < 2000; i++) // grows
        declare(s, arena_printf(a, "name%d", i), i % 2 ? SCOPE_TYPE : SCOPE_OBJECT);
    assert_int_equal(lookup(s, "name1999"), SCOPE_TYPE);
    assert_int_equal(lookup(s, "T"), SCOPE_TYPE);
    arena_free(a);
}

// --------------------------------------------------------------------------------------------
// Messages

static struct diag *diag_with(struct arena *a, const char *text) {
    struct diag *d = diag_new(a);
    diag_set_source(d, diag_file(d, "f.p4"), text, strlen(text));
    return d;
}

static void assert_printed(const struct diag *d, const char *expected) {
    char *text = printed(d);
    assert_string_equal(text, expected);
    free(text);
}

static void test_diag_form(void **state) {
    (void)state;
    struct arena *a = arena_new();
    struct diag *d = diag_with(a, "one\n\tx = \xc3\xa9 + yy;\r\n");
    struct loc at = {.line = 2, .col = 11, .end_col = 13}, none = {0};
    diag_error(d, at, "bad '%s'", "yy");
    diag_note(d, (struct loc){.line = 1, .col = 1, .end_col = 99}, "here");
    diag_error(d, at, "bad 'yy'"); // said already, with its notes
    diag_note(d, none, "not shown");
    diag_warning(d, none, "no place");
    diag_unsupported(d, (struct loc){.line = 7, .col = 1}, "beyond the end");
    assert_int_equal(diag_errors(d), 2);
    assert_printed(d, "f.p4:2:11: error: bad 'yy'\n"
                      "    2 | \tx = \xc3\xa9 + yy;\n"
                      "      | \t        ^~\n"
                      "f.p4:1:1: note: here\n"
                      "    1 | one\n"
                      "      | ^~~\n"
                      "silken: warning: no place\n"
                      "f.p4:7:1: error: not supported yet: beyond the end\n");
    arena_free(a);
}

static void test_diag_limit(void **state) {
    (void)state;
    struct arena *a = arena_new();
    struct diag *d = diag_with(a, "");
    for (uint32_t i = 0; i < 2 * DIAG_MAX_ERRORS; i++)
        diag_error(d, (struct loc){.line = i + 1, .col = 1}, "error");
    assert_int_equal(diag_errors(d), DIAG_MAX_ERRORS);
    char *text = printed(d);
    assert_non_null(strstr(text, "silken: too many errors (50); the rest is not shown\n"));
    free(text);
    arena_free(a);
}

static void test_long_line(void **state) {
    (void)state;
    struct arena *a = arena_new();
    char *text = arena_alloc(a, 5001);
    memset(text, 'a', 5000);
    struct diag *d = diag_with(a, text);
    diag_error(d, (struct loc){.line = 1, .col = 4000, .end_col = 4800}, "x");
    char *out = printed(d);
    assert_true(strlen(out) < 500);
    free(out);
    arena_free(a);
}

// --------------------------------------------------------------------------------------------
// Nesting

static char *repeated(const char *head, const char *unit, size_t n, const char *tail) {
    size_t length = strlen(head) + strlen(unit) * n + strlen(tail) + 1;
    char *text = malloc(length), *p = text + sprintf(text, "%s", head);
    for (size_t i = 0; i < n; i++)
        p += sprintf(p, "%s", unit);
    strcpy(p, tail);
    return text;
}

static void assert_too_deep(const char *head, const char *unit, const char *tail) {
    char *text = repeated(head, unit, 100000, tail);
    struct parsed r = parse(text);
    if (diag_errors(r.d) == 0 || !strstr(r.messages, "nested too deeply"))
        fail_msg("'%s%s...' gives\n%.500s", head, unit, r.messages);
    FILE *nowhere = fopen("/dev/null", "w");
    ast_dump(nowhere, r.p);
    fclose(nowhere);
    parsed_free(&r);
    free(text);
}

static void test_nesting(void **state) {
    (void)state;
    static const char apply[] = "control c(inout bit<8> x) { apply { ";
    assert_too_deep("const int x = ", "(", "");
    assert_too_deep("const int x = ", "!", "1;");
    assert_too_deep("const int x = ", "1+", "1;");
    assert_too_deep("const int x = ", "1 ? 2 : ", "1;");
    assert_too_deep("const int x = y", ".y", ";");
    assert_too_deep("const int x = y", "[0]", ";");
    assert_too_deep("const int x = y", "()", ";");
    assert_too_deep("const int x = ", "(bit<8>)", "1;");
    assert_too_deep("const int x = ", "{", "");
    assert_too_deep("typedef ", "tuple<", "");
    assert_too_deep("typedef bit<8>", "[1]", " x;");
    assert_too_deep("typedef ", "bit<", "");
    assert_too_deep(apply, "{", "");
    assert_too_deep(apply, "if (true) x = 1; else ", "x = 1; } }");
    assert_too_deep(apply, "if (true) ", "x = 1; } }");
    assert_too_deep(apply, "for (bit<8> i in 1 .. 2) ", "x = 1; } }");
    assert_too_deep(apply, "switch (x) { 1: {", "");
}

static void test_deep_enough(void **state) {
    (void)state;
    char *text = repeated("const int x = ", "(1 + ", 400, "1");
    char *closed = repeated(text, ")", 400, ";");
    assert_accepted(closed);
    free(closed);
    free(text);
    text = repeated("control c() { apply { ", "if (true) { } else ", 400, "{ } } }");
    assert_accepted(text);
    free(text);
}

// --------------------------------------------------------------------------------------------
// Small texts

static void test_bytes(void **state) {
    (void)state;
    for (int c = 0; c < 256; c++) {
        char text[3] = {(char)c, (char)c, (char)c};
        for (size_t n = 0; n <= 3; n++) {
            struct parsed r = parse_bytes("bytes.p4", text, n);
            assert_non_null(r.p);
            parsed_free(&r);
        }
    }
    struct parsed r = parse_bytes("zero.p4", "const\0int x = 1;", 16);
    assert_int_equal(diag_errors(r.d), 1);
    assert_non_null(strstr(r.messages, "zero.p4:1:6: error: a program cannot contain a NUL byte"));
    parsed_free(&r);
    r = parse_bytes("zero.p4", "@name(\"a\0b\") const int x = 1;", 29);
    assert_int_equal(diag_errors(r.d), 1);
    assert_non_null(strstr(r.messages, "zero.p4:1:7: error: a string cannot contain a NUL byte"));
    parsed_free(&r);
}

static void test_many_errors(void **state) {
    (void)state;
    char *text = repeated("", "const int x = ;\n", 1000, "");
    struct parsed r = parse(text);
    assert_int_equal(diag_errors(r.d), DIAG_MAX_ERRORS);
    parsed_free(&r);
    free(text);
}

// One mistake, one message.
static void test_one_message(void **state) {
    (void)state;
    assert_messages("header h { bit<8> a }\nconst h x = { 1 };\n",
                    "test.p4:1:21: error: expected ';' after 'a', found '}'\n"
                    "    1 | header h { bit<8> a }\n"
                    "      |                     ^\n");
    assert_messages("const bit<8> x = 1\nconst bit<8> y = x;\n",
                    "test.p4:1:19: error: expected ';' after '1', found 'const'\n"
                    "    1 | const bit<8> x = 1\n"
                    "      |                   ^\n");
    assert_messages("extern e { void f(bit<8> x; void g(); }\nconst bit<8> y = 1;\n",
                    "test.p4:1:27: error: a ')' is missing at the end of the parameters\n"
                    "    1 | extern e { void f(bit<8> x; void g(); }\n"
                    "      |                           ^\n");
    assert_messages("bool f() { return {1, 2 3}[0]; }\nbool g() { return true; }\n",
                    "test.p4:1:25: error: expected '}' or ',' after '2', found '3'\n"
                    "    1 | bool f() { return {1, 2 3}[0]; }\n"
                    "      |                         ^\n");
    assert_messages("control c() {\n    apply {\n",
                    "test.p4:2:12: error: expected a statement or '}' after '{', found the end of "
                    "the program\n"
                    "    2 |     apply {\n"
                    "      |            ^\n"
                    "test.p4:2:11: note: this '{' is not closed\n"
                    "    2 |     apply {\n"
                    "      |           ^\n");
}

// An error in one scope leaves the names of the others alone.
static void test_scopes_after_errors(void **state) {
    (void)state;
    struct parsed r = parse("typedef bit<8> T;\n"
                            "control a<U>(in bit<8> T) { apply { bit<8> x = T + ; } }\n"
                            "control b<V>(in bit<8 T) { bit<8> T = 1; apply { } }\n"
                            "extern e<W> { e(; void f<X>(in X x; }\n"
                            "const T t = (T) + 1;\n"
                            "const bool u = U < V && W > 1;\n");
    assert_int_equal(diag_errors(r.d), 4);
    const struct decl *last = r.p->decls.v[r.p->decls.n - 2];
    assert_string_equal(last->name, "t");
    assert_int_equal(last->init->kind, EX_CAST);
    parsed_free(&r);
}

static void test_texts(void **state) {
    (void)state;
    static const char *const texts[] = {
        "hdr.ipv4.dst_addr",
        "a[3:0]",
        "a[b +: 4]",
        "x.isValid()",
        "a + b * c",
        "(a + b) * c",
        "a - b - c",
        "a - (b - c)",
        "-a[1]",
        "(-a)[1]",
        "!(a && b)",
        "a ? b : c ? d : e",
        "(a ? b : c) ? d : e",
        "f(x = 1, _)",
        "{1, {a = 2}}",
        "8w5 ++ 4s3",
        "a >> 1 << 2",
        "a &&& b",
        "a == (b == c)",
        "\"a\\\"b\\n\"",
        ".a.b",
        "{#}",
        "a & b == c",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct arena *a = arena_new();
        bool keyset = strstr(texts[i], "&&&") != NULL;
        char *program =
            arena_printf(a,
                         keyset ? "parser p() { state s { transition select(1) { %s: s; } } }"
                                : "const bit<8> x = %s;",
                         texts[i]);
        struct parsed r = parse(program);
        assert_int_equal(diag_errors(r.d), 0);
        const struct decl *d = r.p->decls.v[0];
        const struct expr *e =
            keyset ? d->members.v[0]->body->stmts.v[0]->select->cases.v[0]->keyset : d->init;
        assert_string_equal(expr_text(r.a, e), texts[i]);
        parsed_free(&r);
        arena_free(a);
    }
}

static void test_annotations(void **state) {
    (void)state;
    struct parsed r = parse("@name(\"n\") @two(1, 2) @soup(a b) const bit<8> x = 1;");
    const annot_vec *v = &r.p->decls.v[0]->annots;
    assert_int_equal(v->n, 3);
    assert_string_equal(annot_string(v, "name"), "n");
    assert_null(annot_string(v, "two"));
    assert_null(annot_string(v, "none"));
    assert_int_equal(annot_find(v, "two")->args.n, 2);
    assert_string_equal(annot_find(v, "soup")->text, "a b");
    assert_int_equal(annot_find(v, "soup")->args.n, 0);
    parsed_free(&r);
}

// --------------------------------------------------------------------------------------------
// The preprocessor

struct folder {
    char path[64];
};

static void folder_file(const struct folder *f, const char *name, const char *text) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", f->path, name);
    write_file(path, text);
}

static struct folder folder_new(void) {
    struct folder f = {"/tmp/silken-test-XXXXXX"};
    assert_non_null(mkdtemp(f.path));
    return f;
}

static void folder_remove(const struct folder *f, const char *const *names, size_t n) {
    for (size_t i = 0; i < n; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", f->path, names[i]);
        unlink(path);
    }
    assert_int_equal(rmdir(f->path), 0);
}

static void test_preprocess(void **state) {
    (void)state;
    static const char *const names[] = {"main.p4", "part.p4"};
    struct folder f = folder_new();
    folder_file(&f, "part.p4", "const bit<8>   part = VALUE ; // don't\n");
    folder_file(&f, "main.p4",
                "#include <core.p4>\n"
                "#include <part.p4>\n"
                "/* a '\n \" comment */\n"
                "#define TWICE(x)  x + x\n"
                "@pragma note don't\n"
                "\tconst   bit<8>   a  =   TWICE(  4 ) ;   const bit<8> b = ;\n");
    struct arena *a = arena_new();
    struct diag *d = diag_new(a);
    const char *dirs[] = {f.path}, *defines[] = {"VALUE=7"};
    struct preprocess_options opt = {
        .include_dirs = dirs, .n_include_dirs = 1, .defines = defines, .n_defines = 1};
    size_t length = 0;
    char *path = arena_printf(a, "%s/main.p4", f.path);
    char *text = preprocess_p4(a, d, path, &opt, &length);
    assert_non_null(text);
    assert_int_equal(strlen(text), length);
    parse_p4(a, d, path, text, length);
    assert_int_equal(diag_errors(d), 1);
    char *messages = printed(d);
    assert_non_null(strstr(messages, "main.p4:7:59: error: expected an expression after '='"));
    free(messages);
    arena_free(a);
    folder_remove(&f, names, 2);
}

static void assert_preprocess_error(const char *text, const char *expected) {
    static const char *const names[] = {"main.p4"};
    struct folder f = folder_new();
    folder_file(&f, "main.p4", text);
    struct arena *a = arena_new();
    struct diag *d = diag_new(a);
    size_t length;
    assert_null(preprocess_p4(a, d, arena_printf(a, "%s/main.p4", f.path), NULL, &length));
    assert_int_equal(diag_errors(d), 1);
    char *messages = printed(d);
    if (!strstr(messages, expected))
        fail_msg("%s", messages);
    free(messages);
    arena_free(a);
    folder_remove(&f, names, 1);
}

static void test_preprocess_errors(void **state) {
    (void)state;
    assert_preprocess_error("\n#include \"missing.p4\"\n", "main.p4:2:");
    assert_preprocess_error("#error wrong target\n", "wrong target");
    assert_preprocess_error("#if 1\n", "main.p4:1:");
    struct arena *a = arena_new();
    struct diag *d = diag_new(a);
    size_t length;
    assert_null(preprocess_p4(a, d, "/no/such/x.p4", NULL, &length));
    assert_null(preprocess_p4(a, d, "/tmp", NULL, &length));
    const char *dirs[] = {"/no/such", "README.md"};
    struct preprocess_options opt = {.include_dirs = dirs, .n_include_dirs = 2};
    assert_null(preprocess_p4(a, d, "p4/l2/l2.p4", &opt, &length));
    assert_printed(
        d, "silken: error: cannot read '/no/such/x.p4': No such file or directory\n"
           "silken: error: cannot read '/tmp': it is a folder\n"
           "silken: error: cannot look for included files in '/no/such': No such file or "
           "directory\n"
           "silken: error: cannot look for included files in 'README.md': Not a directory\n");
    arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),        cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_mutations),     cmocka_unit_test(test_arena),
        cmocka_unit_test(test_bigint_random), cmocka_unit_test(test_bigint_edges),
        cmocka_unit_test(test_scopes),        cmocka_unit_test(test_diag_form),
        cmocka_unit_test(test_diag_limit),    cmocka_unit_test(test_long_line),
        cmocka_unit_test(test_nesting),       cmocka_unit_test(test_deep_enough),
        cmocka_unit_test(test_bytes),         cmocka_unit_test(test_many_errors),
        cmocka_unit_test(test_one_message),   cmocka_unit_test(test_scopes_after_errors),
        cmocka_unit_test(test_texts),         cmocka_unit_test(test_annotations),
        cmocka_unit_test(test_preprocess),    cmocka_unit_test(test_preprocess_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
