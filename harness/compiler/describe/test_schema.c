// SPDX-License-Identifier: Apache-2.0
//
// The schemas that 'silken build' writes. harness/compiler/describe/schema has programs NAME.p4
// with their BF Runtime schema NAME.json and their P4Info NAME.p4info, to the letter (golden.h);
// and what must hold of any schema: it is JSON, identifiers are unique, and names are those of the
// source.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/compile.h"
#include "compiler/base/json_out.h"
#include "harness/compiler/golden.h"

#define FOLDER "harness/compiler/describe/schema"

static char *slurp(const char *path) {
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char *text = NULL;
    size_t size = 0;
    assert_true(getdelim(&text, &size, '\0', f) > 0);
    fclose(f);
    return text;
}

struct schemas {
    char *bfrt, *p4info;
};

static struct schemas schemas_of(const char *program) {
    char a[] = "/tmp/silken-schema-XXXXXX", b[] = "/tmp/silken-schema-XXXXXX";
    static const char *const include_dirs[] = {"p4/include"};
    close(mkstemp(a));
    close(mkstemp(b));
    struct compile_options opt = {
        .path = program,
        .include_dirs = include_dirs,
        .n_include_dirs = 1,
        .bfrt = a,
        .p4info = b,
        .parse_only = true,
    };
    char *object = compile_p4(&opt, stderr);
    assert_non_null(object);
    free(object);
    struct schemas s = {.bfrt = slurp(a), .p4info = slurp(b)};
    unlink(a);
    unlink(b);
    return s;
}

static void check_ids(json_t *objects) {
    size_t i, k;
    json_t *o;
    assert_true(json_is_array(objects));
    json_array_foreach(objects, i, o) {
        assert_non_null(json_string_value(json_object_get(o, "name")));
        for (k = 0; k < i; k++)
            assert_int_not_equal(
                json_integer_value(json_object_get(o, "id")),
                json_integer_value(json_object_get(json_array_get(objects, k), "id")));
    }
}

static void check_json(const char *text) {
    json_error_t error;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        print_error("line %d: %s\n", error.line, error.text);
    assert_non_null(root);
    check_ids(json_object_get(root, "tables"));
    check_ids(json_object_get(root, "learn_filters"));
    json_decref(root);
}

static int is_p4(const struct dirent *e) {
    size_t n = strlen(e->d_name);
    return n > 3 && strcmp(e->d_name + n - 3, ".p4") == 0;
}

static void test_programs_have_the_schema_they_should(void **state) {
    (void)state;
    struct dirent **names;
    int n = scandir(FOLDER, &names, is_p4, alphasort), wrong = 0;
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        int stem = (int)strlen(names[i]->d_name) - 3;
        char path[512], json[512], p4info[512];
        snprintf(path, sizeof path, FOLDER "/%s", names[i]->d_name);
        snprintf(json, sizeof json, FOLDER "/%.*s.json", stem, names[i]->d_name);
        snprintf(p4info, sizeof p4info, FOLDER "/%.*s.p4info", stem, names[i]->d_name);
        struct schemas s = schemas_of(path);
        check_json(s.bfrt);
        wrong += !golden_same(path, s.bfrt, json);
        wrong += !golden_same(path, s.p4info, p4info);
        free(s.bfrt);
        free(s.p4info);
        free(names[i]);
    }
    free(names);
    assert_int_equal(wrong, 0);
}

static void test_our_programs_have_one(void **state) {
    (void)state;
    static const char *const programs[] = {"p4/l2/l2.p4", "p4/switchml/switchml.p4"};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        struct schemas s = schemas_of(programs[i]);
        check_json(s.bfrt);
        free(s.bfrt);
        free(s.p4info);
    }
}

// This library's integers have a sign: the largest default becomes its largest.
static json_t *load_schema(char *text) {
    for (char *at = text; (at = strstr(at, "18446744073709551615"));)
        memcpy(at, "9223372036854775807 ", 20);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    return root;
}

static const json_t *table_of(const json_t *root, const char *name) {
    size_t i;
    json_t *t;
    json_array_foreach(json_object_get(root, "tables"), i, t) {
        if (strcmp(json_string_value(json_object_get(t, "name")), name) == 0)
            return t;
    }
    return NULL;
}

static void check_field(const json_t *table, size_t i, const char *name, json_int_t id) {
    const json_t *f =
        json_object_get(json_array_get(json_object_get(table, "data"), i), "singleton");
    assert_string_equal(json_string_value(json_object_get(f, "name")), name);
    assert_int_equal(json_integer_value(json_object_get(f, "id")), id);
}

// Identifiers and fields as the chip's compiler gives them for the same program.
static void test_meters_and_ageing(void **state) {
    (void)state;
    struct schemas s = schemas_of("harness/stf/meters/meters.p4");
    json_t *root = load_schema(s.bfrt);
    static const struct {
        const char *name, *first;
        json_int_t id, first_id;
    } tables[] = {
        {"pipe.Ingress.of_bytes", "$METER_SPEC_CIR_KBPS", 2245200631, 65545},
        {"pipe.Ingress.average", "$LPF_SPEC_TYPE", 2307716852, 65567},
        {"pipe.Ingress.early", "$WRED_SPEC_TIME_CONSTANT_NS", 2266957779, 65571},
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const json_t *t = table_of(root, tables[i].name);
        assert_non_null(t);
        assert_int_equal(json_integer_value(json_object_get(t, "id")), tables[i].id);
        check_field(t, 0, tables[i].first, tables[i].first_id);
    }
    check_field(table_of(root, "pipe.Ingress.marking"), 2, "$METER_SPEC_CIR_PPS", 65549);
    check_field(table_of(root, "pipe.Ingress.smoothing"), 3, "$LPF_SPEC_OUT_SCALE_DOWN_FACTOR",
                65570);
    check_field(table_of(root, "pipe.Ingress.deciding"), 3, "$WRED_SPEC_MAX_PROBABILITY", 65574);
    assert_null(table_of(root, "pipe.Ingress.per_entry"));
    json_decref(root);
    free(s.bfrt);
    free(s.p4info);
    s = schemas_of("harness/stf/meters/idle.p4");
    root = load_schema(s.bfrt);
    check_field(table_of(root, "pipe.Ingress.learned"), 0, "$ENTRY_HIT_STATE", 65544);
    check_field(table_of(root, "pipe.Ingress.learned"), 1, "$ENTRY_TTL", 65543);
    json_decref(root);
    free(s.bfrt);
    free(s.p4info);
}

static void test_json_text_is_escaped(void **state) {
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    assert_non_null(f);
    struct json_out j = {.out = f};
    jout_open(&j, NULL, '{');
    jout_string(&j, "a\"b", "c\\d\n\x01");
    jout_u64(&j, "most", UINT64_MAX);
    jout_open(&j, "list", '[');
    jout_bool(&j, NULL, true);
    jout_empty(&j, NULL);
    jout_close(&j, ']');
    jout_close(&j, '}');
    fclose(f);
    assert_string_equal(text, "{\n  \"a\\\"b\": \"c\\\\d\\u000a\\u0001\",\n"
                              "  \"most\": 18446744073709551615,\n"
                              "  \"list\": [\n    true,\n    []\n  ]\n}\n");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_programs_have_the_schema_they_should),
        cmocka_unit_test(test_our_programs_have_one),
        cmocka_unit_test(test_meters_and_ageing),
        cmocka_unit_test(test_json_text_is_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
