// SPDX-License-Identifier: Apache-2.0
//
// The checker on programs that are right: no field of the tree stays empty, compile-time values
// are the ones of the specification, overloads and type arguments are the ones meant.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/check/check.h"
#include "compiler/syntax/preprocess.h"
#include "compiler/syntax/syntax.h"
#include "harness/compiler/check/annotations.h"

struct checked {
    struct arena *a;
    struct diag *d;
    struct program *p;
};

static struct checked start(void) {
    struct checked x = {.a = arena_new()};
    x.d = diag_new(x.a);
    return x;
}

static void finish(struct checked *x, const char *text, size_t length, const char *path) {
    x->p = parse_p4(x->a, x->d, path, text, length);
    bool ok = diag_errors(x->d) == 0 && check_program(x->a, x->d, x->p);
    if (!ok)
        diag_print(x->d, stderr, false);
    assert_true(ok);
    assert_int_equal(missing_annotations(x->d, x->p, stderr), 0);
}

static struct checked check_text(const char *text) {
    struct checked x = start();
    finish(&x, text, strlen(text), "test.p4");
    return x;
}

// 'define' may be null.
static struct checked check_file(const char *path, const char *define) {
    struct checked x = start();
    static const char *const dirs[] = {"p4/include"};
    struct preprocess_options opt = {
        .include_dirs = dirs, .n_include_dirs = 1, .defines = &define, .n_defines = define ? 1 : 0};
    size_t length = 0;
    char *text = preprocess_p4(x.a, x.d, path, &opt, &length);
    assert_non_null(text);
    finish(&x, text, length, path);
    return x;
}

static struct decl *decl_named(const decl_vec *decls, const char *name) {
    for (size_t i = 0; i < decls->n; i++)
        if (decls->v[i]->name && strcmp(decls->v[i]->name, name) == 0)
            return decls->v[i];
    fail_msg("no declaration '%s'", name);
    return NULL;
}

// ------------------------------------------------------------------------------------------------

// p4/NAME/NAME.p4; the files beside it are included by it.
static bool is_program(const char *path) {
    const char *folder = strchr(path, '/') + 1, *file = strchr(folder, '/') + 1;
    size_t length = (size_t)(file - folder) - 1;
    return strncmp(folder, file, length) == 0 && strcmp(file + length, ".p4") == 0;
}

static void test_our_programs_are_fully_annotated(void **state) {
    (void)state;
    glob_t g;
    assert_int_equal(glob("p4/*/*.p4", 0, NULL, &g), 0);
    for (size_t i = 0; i < g.gl_pathc; i++) {
        if (!is_program(g.gl_pathv[i]))
            continue;
        struct checked x = check_file(g.gl_pathv[i], NULL);
        arena_free(x.a);
    }
    globfree(&g);
}

// The programs are static assertions.
static void test_intrinsic_headers_have_their_sizes(void **state) {
    (void)state;
    struct checked one = check_file("harness/compiler/check/arch/tna.p4", "__TARGET_TOFINO__=1");
    struct checked two = check_file("harness/compiler/check/arch/t2na.p4", "__TARGET_TOFINO__=2");
    arena_free(one.a);
    arena_free(two.a);
}

// A constant's value for each line: "type name = expression;" and what it must be.
static void test_constants_fold(void **state) {
    (void)state;
    static const struct {
        const char *type, *expr, *value;
    } cases[] = {
        {"bit<8>", "255 + 1", "0"},
        {"bit<8>", "8w255 + 1", "0"},
        {"bit<8>", "8w255 |+| 1", "255"},
        {"bit<8>", "8w1 |-| 2", "0"},
        {"int<8>", "8s127 |+| 1", "127"},
        {"int<8>", "8s127 + 1", "-128"},
        {"int<8>", "-8s128 |-| 1", "-128"},
        {"bit<8>", "8w1 - 2", "255"},
        {"int", "1 - 2", "-1"},
        {"int", "7 / 2", "3"},
        {"int", "7 % 4", "3"},
        {"int", "1 << 100", "1267650600228229401496703205376"},
        {"bit<8>", "8w1 << 8", "0"},
        {"bit<8>", "8w0x80 >> 7", "1"},
        {"int<8>", "-8s128 >> 7", "-1"},
        {"bit<16>", "8w1 ++ 8w2", "258"},
        {"int<16>", "-8s1 ++ 8w0", "-256"},
        {"bit<4>", "16w0xabcd[11:8]", "11"},
        {"bit<8>", "(bit<8>) 16w0x1234", "52"},
        {"bit<16>", "(bit<16>) (int<16>) -8s1", "65535"},
        {"int<8>", "(int<8>) 8w255", "-1"},
        {"bit<1>", "(bit<1>) true", "1"},
        {"bool", "(bool) 1w0", "0"},
        {"bool", "5 > 3 && !(2 == 3)", "1"},
        {"bool", "8w255 < 8w1", "0"},
        {"bool", "-8s1 < 8s1", "1"},
        {"bit<8>", "~8w1", "254"},
        {"bit<8>", "true ? 8w1 : 8w2", "1"},
        {"bit<8>", "8w6 & 3 | 8", "10"},
        {"bit<8>", "8w6 ^ 3", "5"},
        {"E", "E.b", "7"},
        {"bit<8>", "E.b + 1", "8"},
        {"bool", "F.y == F.y", "1"},
        {"bit<8>", "s.f", "3"},
        {"bit<16>", "t[1]", "5"},
        {"int", "H.minSizeInBits()", "24"},
        {"int", "H.maxSizeInBytes()", "5"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "enum bit<8> E { a = 1, b = 7 }\nenum F { x, y }\n"
                 "struct S { bit<8> e; bit<8> f; }\nheader H { bit<24> x; varbit<16> y; }\n"
                 "const S s = {f = 3, e = 2};\nconst tuple<bit<8>, bit<16>> t = {4, 5};\n"
                 "const %s result = %s;\n",
                 cases[i].type, cases[i].expr);
        struct checked x = check_text(text);
        const struct decl *d = decl_named(&x.p->decls, "result");
        assert_non_null(d->cval);
        if (strcmp(big_str(x.a, d->cval, 10), cases[i].value) != 0)
            fail_msg("%s is %s, not %s", cases[i].expr, big_str(x.a, d->cval, 10), cases[i].value);
        arena_free(x.a);
    }
}

// The call assigned by the i-th statement of control C's apply.
static const struct expr *call_at(const struct checked *x, size_t i) {
    const struct decl *c = decl_named(&x->p->decls, "C");
    const struct stmt *s = c->body->stmts.v[i];
    return s->kind == ST_CALL ? s->a : s->b;
}

static void test_overloads_by_number_and_by_type(void **state) {
    (void)state;
    struct checked x = check_text("enum bit<8> Color { GREEN = 0 }\n"
                                  "extern Meter<I> {\n"
                                  "    Meter(bit<32> size);\n"
                                  "    bit<8> execute(in I index, in Color color,\n"
                                  "                   @optional in bit<32> adjust);\n"
                                  "    bit<8> execute(in I index, @optional in bit<32> adjust);\n"
                                  "}\n"
                                  "control C(inout bit<8> v, in bit<9> i) {\n"
                                  "    Meter<bit<9>>(8) m;\n"
                                  "    apply {\n"
                                  "        v = m.execute(i);\n"
                                  "        v = m.execute(i, Color.GREEN);\n"
                                  "        v = m.execute(i, 5);\n"
                                  "        v = m.execute(i, Color.GREEN, 5);\n"
                                  "    }\n"
                                  "}\n");
    static const size_t params[] = {2, 3, 2, 3};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(call_at(&x, i)->decl->params.n, params[i]);
    assert_null(call_at(&x, 0)->bound.v[1]);
    assert_null(call_at(&x, 1)->bound.v[2]);
    assert_int_equal(call_at(&x, 2)->bound.v[1]->type->width, 32);
    arena_free(x.a);
}

static void test_type_arguments_are_inferred(void **state) {
    (void)state;
    struct checked x = check_text("extern T max<T>(in T x, in T y);\n"
                                  "extern Hash<W> { Hash(); W get<D>(in D data); }\n"
                                  "control C(inout bit<16> v, inout bit<8> w) {\n"
                                  "    Hash<bit<16>>() h;\n"
                                  "    apply {\n"
                                  "        v = max(5, v);\n"
                                  "        v = h.get({v, w, 3w1});\n"
                                  "    }\n"
                                  "}\n");
    const struct expr *max = call_at(&x, 0), *get = call_at(&x, 1);
    assert_string_equal(type_name(x.a, max->inst.v[0]), "bit<16>");
    assert_string_equal(type_name(x.a, max->bound.v[0]->type), "bit<16>");
    assert_string_equal(type_name(x.a, get->inst.v[0]), "tuple<bit<16>, bit<8>, bit<3>>");
    assert_string_equal(type_name(x.a, get->type), "bit<16>");
    arena_free(x.a);
}

static void test_named_arguments_are_put_in_order(void **state) {
    (void)state;
    struct checked x = check_text("control C(inout bit<8> v) {\n"
                                  "    action set(bit<8> a, bit<8> b) { v = a - b; }\n"
                                  "    apply { set(b = 1, a = 2); }\n"
                                  "}\n");
    const struct expr *call = call_at(&x, 0);
    assert_int_equal(big_to_u64(call->bound.v[0]->cval), 2);
    assert_int_equal(big_to_u64(call->bound.v[1]->cval), 1);
    arena_free(x.a);
}

static void test_implicit_casts_are_made_explicit(void **state) {
    (void)state;
    struct checked x = check_text("enum bit<8> E { a = 1 }\n"
                                  "struct S { bit<8> x; bit<4> y; }\n"
                                  "control C(inout bit<8> v, inout S s) {\n"
                                  "    apply {\n"
                                  "        v = E.a;\n"
                                  "        v = 5;\n"
                                  "        s = {1, 2};\n"
                                  "    }\n"
                                  "}\n");
    const struct expr *cast = call_at(&x, 0), *five = call_at(&x, 1), *list = call_at(&x, 2);
    assert_int_equal(cast->kind, EX_CAST);
    assert_null(cast->tref);
    assert_int_equal(cast->type->width, 8);
    assert_int_equal(five->kind, EX_INT);
    assert_int_equal(five->type->width, 8);
    assert_int_equal(list->type->kind, TY_STRUCT);
    assert_int_equal(list->args.v[1]->value->type->width, 4);
    arena_free(x.a);
}

static void test_types_subst_and_size(void **state) {
    (void)state;
    struct checked x = check_text("struct pair<T> { T lo; T hi; }\n"
                                  "header h_t { bit<9> a; bool b; int<6> c; varbit<8> d; }\n"
                                  "header_union u_t { h_t h; }\n"
                                  "struct s_t { pair<bit<32>> p; h_t[3] stack; u_t u; }\n"
                                  "error { Bad } struct e_t { error e; }\n");
    const struct type *s = decl_named(&x.p->decls, "s_t")->type;
    struct type *p = type_field(x.a, s, "p", NULL);
    assert_string_equal(type_name(x.a, p), "pair<bit<32>>");
    assert_string_equal(type_name(x.a, type_field(x.a, p, "hi", NULL)), "bit<32>");
    assert_null(type_field(x.a, p, "middle", NULL));
    assert_int_equal(type_bits(x.a, s), 64 + 3 * 16 + 16);
    assert_int_equal(type_bits(x.a, decl_named(&x.p->decls, "e_t")->type), -1);
    arena_free(x.a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_our_programs_are_fully_annotated),
        cmocka_unit_test(test_intrinsic_headers_have_their_sizes),
        cmocka_unit_test(test_constants_fold),
        cmocka_unit_test(test_overloads_by_number_and_by_type),
        cmocka_unit_test(test_type_arguments_are_inferred),
        cmocka_unit_test(test_named_arguments_are_put_in_order),
        cmocka_unit_test(test_implicit_casts_are_made_explicit),
        cmocka_unit_test(test_types_subst_and_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
