// SPDX-License-Identifier: Apache-2.0
//
// The checked build: what it reports, what it does not, and the trace. Programs and scripts are in
// harness/compiler/print/checked, with what must be told about them to the letter; UPDATE_GOLDEN=1
// writes that anew. What P4 text cannot say, because the compiler refuses it, is built as IR.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/compile.h"
#include "base/file.h"
#include "harness/compiler/emit_rig.h"
#include "harness/compiler/golden.h"
#include "pcap/stf/stf.h"
#include "pipeline/observe/tracer.h"
#include "pipeline/observe/violations.h"

#define HERE "harness/compiler/print/checked/"

static char folder[] = "/tmp/silken-test-checked-XXXXXX";

static struct sk_program *program(const char *path, bool checked) {
    char error[256];
    struct compile_options opt = {.path = path, .cache_dir = folder, .checked = checked};
    char *object = compile_p4(&opt, stderr);
    assert_non_null(object);
    struct sk_program *p = sk_program_load(object, error, sizeof error);
    if (!p)
        fail_msg("%s", error);
    free(object);
    return p;
}

static enum stf_result run_script(const char *path, struct sk_program *p, struct sk_observer *o) {
    struct sk_error err;
    size_t length;
    char *text = sk_read_file(path, &length, &err);
    assert_non_null(text);
    struct stf_script *s = stf_parse(path, text, length, stderr);
    assert_non_null(s);
    enum stf_result result = stf_run(s, p, &(struct stf_options){.observer = o}, stderr);
    stf_free(s);
    free(text);
    return result;
}

// ---- reports ----

static bool add_counts(void *aux, const struct sk_violation_view *v) {
    fprintf(aux, "%s %s: %llu\n", sk_violation_word(v->violation), v->name,
            (unsigned long long)v->count);
    return true;
}

static size_t report(const char *path, const char *expect) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct sk_violations *v = sk_violations_new(out);
    struct sk_program *p = program(path, true);
    assert_int_equal(run_script(HERE "misuse.stf", p, sk_violations_observer(v)), STF_PASS);
    sk_violations_each(v, add_counts, out);
    fclose(out);
    const bool same = golden_same(path, text, expect);
    const size_t n = sk_violations_count(v);
    sk_violations_free(v);
    sk_program_free(p);
    free(text);
    assert_true(same);
    return n;
}

static void test_misuse(void **state) {
    (void)state;
    assert_int_equal(report(HERE "misuse.p4", HERE "misuse.expect"), 21);
    // the same script says the same about the fast build, which reports nothing
    struct sk_violations *v = sk_violations_new(stderr);
    struct sk_program *p = program(HERE "misuse.p4", false);
    assert_int_equal(run_script(HERE "misuse.stf", p, sk_violations_observer(v)), STF_PASS);
    assert_int_equal(sk_violations_count(v), 0);
    sk_violations_free(v);
    sk_program_free(p);
}

static void test_zeroed_metadata(void **state) {
    (void)state;
    assert_int_equal(report(HERE "zeroed.p4", HERE "zeroed.expect"), 15);
}

// ---- the trace ----

static void trace_as(enum sk_trace_form form, const char *expect, struct sk_program *p) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct sk_tracer *t = sk_tracer_new(out, form, NULL);
    assert_int_equal(run_script(HERE "trace.stf", p, sk_tracer_observer(t)), STF_PASS);
    sk_tracer_free(t);
    fclose(out);
    bool same = golden_same("trace.p4", text, expect);
    free(text);
    assert_true(same);
}

static void test_trace(void **state) {
    (void)state;
    struct sk_program *p = program(HERE "trace.p4", true);
    trace_as(SK_TRACE_TEXT, HERE "trace.text", p);
    trace_as(SK_TRACE_JSON, HERE "trace.json", p);
    sk_program_free(p);
}

// The engine tells about its part in any build.
static void test_trace_of_fast_build(void **state) {
    (void)state;
    struct sk_program *p = program(HERE "trace.p4", false);
    trace_as(SK_TRACE_TEXT, HERE "fast.text", p);
    sk_program_free(p);
}

// ---- what only IR can say ----

struct seen {
    struct sk_observer observer;
    unsigned n;
    struct sk_event last;
    char name[64];
};

static void remember(struct sk_observer *o, const struct sk_packet *p, const struct sk_event *e) {
    struct seen *s = (struct seen *)o;
    (void)p;
    if (e->kind != SK_EV_VIOLATION)
        return;
    s->n++;
    s->last = *e;
    snprintf(s->name, sizeof s->name, "%s", e->name);
}

static struct loc line(uint32_t n) {
    return (struct loc){.file = diag_file(rig_diag, "test.p4"), .line = n, .col = 5};
}

static void send(struct rig *r, struct seen *s, const uint8_t *bytes, size_t n) {
    *s = (struct seen){.observer = {.event = remember}};
    r->observer = &s->observer;
    rig_send(r, 1, bytes, n);
}

// Two accesses of a register, the second under a condition.
static void test_register_twice(void **state) {
    (void)state;
    struct build b = rig_program();
    struct ir_header *h = RIG_HEADER(b.g, "hdr.h", 8, 8);
    rig_extract(b.start->body, h);
    struct ir_register *r = ARENA_NEW(rig_arena, struct ir_register);
    *r = (struct ir_register){.name = "pipe.Ingress.r", .width = 8, .words = 1, .size = 256};
    VEC_PUSH(rig_arena, &b.g->registers, r);
    struct ir_var *x = rig_new_var(b.g, "x", 8);
    for (unsigned i = 0; i < 2; i++) {
        struct ir_block *body = b.g->control;
        if (i == 1) {
            struct ir_stmt *s = rig_push(body, IR_IF);
            s->e = rig_node(IR_EQ, 1, rig_ref(h->fields.v[0]), rig_const(8, 1));
            body = s->then_b = rig_new_block();
        }
        struct ir_stmt *s = rig_push(body, IR_REG_READ);
        s->reg = r;
        s->e = rig_ref(h->fields.v[1]);
        s->var = x;
        s->at = line(10 + i);
    }
    rig_to_port(&b, b.g->control, rig_const(9, 1));
    rig_emit(b.g, h);
    struct rig p;
    struct seen s;
    rig_checked = true;
    rig_load(&p, &b);
    send(&p, &s, (const uint8_t[]){0, 7}, 2);
    assert_int_equal(s.n, 0);
    send(&p, &s, (const uint8_t[]){1, 7}, 2);
    assert_int_equal(s.n, 1);
    assert_int_equal(s.last.violation, SK_VIOLATION_REGISTER_TWICE);
    assert_string_equal(s.name, "pipe.Ingress.r");
    assert_string_equal(s.last.at->file, "test.p4");
    assert_int_equal(s.last.at->line, 11);
    assert_int_equal(s.last.at->column, 5);
    assert_int_equal(s.last.also->line, 10);
    char text[256];
    sk_violation_text(text, sizeof text, &s.last);
    assert_string_equal(text,
                        "pipe.Ingress.r is accessed a second time in one pass; the first time "
                        "was at test.p4:10:5");
    // a packet too short for the header: 14 bytes are the least that a port takes, a program may
    // see fewer
    send(&p, &s, (const uint8_t[]){1}, 1);
    assert_int_equal(s.n, 2); // it goes on with a byte of the frame check sequence
    rig_unload(&p);
    rig_checked = false;
}

static void test_table_twice(void **state) {
    (void)state;
    struct build b = rig_program();
    struct ir_header *h = RIG_HEADER(b.g, "hdr.h", 8);
    rig_extract(b.start->body, h);
    struct ir_table *t = rig_new_table(b.g, "pipe.Ingress.t", rig_new_action(b.g, "NoAction"));
    for (unsigned i = 0; i < 2; i++) {
        struct ir_stmt *s = rig_push(b.g->control, IR_IF);
        s->e = rig_node(IR_ULE, 1, rig_const(8, i), rig_ref(h->fields.v[0]));
        s->then_b = rig_new_block();
        s = rig_push(s->then_b, IR_APPLY);
        s->table = t;
        s->at = line(20 + i);
    }
    rig_to_port(&b, b.g->control, rig_const(9, 1));
    rig_emit(b.g, h);
    struct rig p;
    struct seen s;
    rig_checked = true;
    rig_load(&p, &b);
    send(&p, &s, (const uint8_t[]){0}, 1);
    assert_int_equal(s.n, 0);
    send(&p, &s, (const uint8_t[]){1}, 1);
    assert_int_equal(s.n, 1);
    assert_int_equal(s.last.violation, SK_VIOLATION_TABLE_TWICE);
    assert_string_equal(s.name, "pipe.Ingress.t");
    assert_int_equal(s.last.at->line, 21);
    assert_int_equal(s.last.also->line, 20);
    rig_unload(&p);
    rig_checked = false;
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_misuse),         cmocka_unit_test(test_zeroed_metadata),
        cmocka_unit_test(test_trace),          cmocka_unit_test(test_trace_of_fast_build),
        cmocka_unit_test(test_register_twice), cmocka_unit_test(test_table_twice),
    };
    return cmocka_run_group_tests_name("checked", tests, make_folder, NULL);
}
