// SPDX-License-Identifier: Apache-2.0
//
// The IR's own tools: what code reads and writes (compiler/ir/effects.h), and whether IR is whole
// (compiler/ir/verify.h). Each fault is made in a gress that has none, and told by its sentence.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/ir/build.h"
#include "compiler/ir/effects.h"
#include "compiler/ir/verify.h"

// A header of two bytes, a table with one action, a queue with an action for when it is full.
struct fixture {
    struct arena *a;
    struct ir_gress g;
    struct ir_header *h;
    struct ir_var *x, *y, *late; // 8 bits
    struct ir_table *t;
    struct ir_action *act;
    struct ir_register *queue;
    struct ir_regaction *enqueue;
};

static struct ir_var *new_var(struct fixture *f, const char *name, unsigned width) {
    struct ir_var *v = ARENA_NEW(f->a, struct ir_var);
    *v = (struct ir_var){.id = (unsigned)f->g.vars.n, .name = name, .width = width};
    VEC_PUSH(f->a, &f->g.vars, v);
    return v;
}

static struct ir_stmt *push(struct fixture *f, struct ir_block *b, enum ir_stmt_kind kind) {
    struct ir_stmt *s = ir_stmt_new(f->a, kind, (struct loc){.line = 7});
    ir_push(f->a, b, s);
    return s;
}

static void assign(struct fixture *f, struct ir_block *b, struct ir_var *v, struct ir_expr *e) {
    struct ir_stmt *s = push(f, b, IR_ASSIGN);
    s->var = v;
    s->e = e;
}

static struct ir_regaction *new_regaction(struct fixture *f, struct ir_var *writes) {
    struct ir_regaction *ra = ARENA_NEW(f->a, struct ir_regaction);
    *ra = (struct ir_regaction){.id = (unsigned)f->g.regactions.n,
                                .name = "queue",
                                .reg = f->queue,
                                .width = 8,
                                .words = 1,
                                .value = {new_var(f, "value", 8), NULL},
                                .body = ir_block_new(f->a)};
    assign(f, ra->body, writes, ir_ref(f->a, ra->value[0]));
    VEC_PUSH(f->a, &f->g.regactions, ra);
    return ra;
}

static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->a = arena_new();
    f->h = ARENA_NEW(f->a, struct ir_header);
    *f->h = (struct ir_header){.name = "hdr.h", .bits = 16, .valid = new_var(f, "hdr.h.$valid", 1)};
    f->x = new_var(f, "hdr.h.x", 8);
    f->y = new_var(f, "hdr.h.y", 8);
    f->y->bit_offset = 8;
    f->x->header = f->y->header = f->h;
    VEC_PUSH(f->a, &f->h->fields, f->x);
    VEC_PUSH(f->a, &f->h->fields, f->y);
    VEC_PUSH(f->a, &f->g.headers, f->h);
    f->late = new_var(f, "late", 8);
    f->act = ARENA_NEW(f->a, struct ir_action);
    *f->act = (struct ir_action){.name = "act", .body = ir_block_new(f->a)};
    assign(f, f->act->body, f->x, ir_ref(f->a, f->y));
    VEC_PUSH(f->a, &f->g.actions, f->act);
    f->t = ARENA_NEW(f->a, struct ir_table);
    *f->t = (struct ir_table){.name = "t", .default_action = f->act};
    VEC_PUSH(f->a, &f->t->actions, (struct ir_table_action){.action = f->act});
    VEC_PUSH(f->a, &f->g.tables, f->t);
    f->queue = ARENA_NEW(f->a, struct ir_register);
    *f->queue = (struct ir_register){
        .name = "queue", .width = 8, .words = 1, .size = 4, .counting = IR_FIFO};
    VEC_PUSH(f->a, &f->g.registers, f->queue);
    f->enqueue = new_regaction(f, f->y);
    f->queue->overflow = new_regaction(f, f->late);
    f->g.control = ir_block_new(f->a);
    f->g.deparser = ir_block_new(f->a);
    push(f, f->g.control, IR_APPLY)->table = f->t;
    push(f, f->g.deparser, IR_EMIT)->header = f->h;
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    arena_free(f->a);
    free(f);
    return 0;
}

// ---- effects ----

static void test_a_table_does_what_its_actions_do(void **state) {
    struct fixture *f = *state;
    struct ir_effects e = ir_effects_none(f->a, &f->g);
    ir_effects_add_block(&e, f->g.control);
    assert_true(e.assigned[f->x->id] && e.writes[f->x->id] && e.reads[f->y->id]);
    assert_false(e.assigned[f->y->id] || e.reads[f->x->id]);
    assert_true(ir_effects_has(&e, IR_APPLY) && !ir_effects_has(&e, IR_EXIT));
    ir_effects_clear(&e);
    assert_false(e.assigned[f->x->id] || ir_effects_has(&e, IR_APPLY));
    e.has_table[f->t->id] = true; // left out
    ir_effects_add_block(&e, f->g.control);
    assert_false(e.assigned[f->x->id]);
}

static void test_a_full_queue_runs_its_own_action(void **state) {
    struct fixture *f = *state;
    struct ir_stmt *s = push(f, f->g.control, IR_REG_EXEC);
    struct ir_effects e = ir_effects_none(f->a, &f->g);
    s->regaction = f->enqueue;
    s->e = ir_const_u64(f->a, 8, 0);
    ir_effects_add_stmt(&e, s);
    assert_true(e.registers[0] && e.assigned[f->y->id]);
    assert_false(e.assigned[f->late->id] || e.cells[0]);
    ir_effects_clear(&e);
    s->use = IR_REG_ENQUEUE;
    ir_effects_add_stmt(&e, s);
    assert_true(e.assigned[f->late->id] && e.cells[0]);
}

static void test_validity_is_written_by_statements_and_assignments(void **state) {
    struct fixture *f = *state;
    struct ir_effects e = ir_effects_none(f->a, &f->g);
    push(f, f->g.control, IR_SET_INVALID)->header = f->h;
    ir_effects_add_block(&e, f->g.control);
    assert_true(e.writes[f->h->valid->id] && !e.assigned[f->h->valid->id]);
    assert_true(ir_effects_may_remove(&e, f->h) && !ir_effects_may_add(&e, f->h));
    assign(f, f->g.control, f->h->valid, ir_const_u64(f->a, 1, 1));
    ir_effects_add_block(&e, f->g.control);
    assert_true(ir_effects_may_add(&e, f->h));
    ir_effects_add_block(&e, f->g.deparser);
    assert_true(e.emitted[f->h->id] && e.reads[f->h->valid->id]);
}

// ---- verify ----

static void expect(struct fixture *f, const char *sentence) {
    const char *said = ir_fault(f->a, &f->g);
    assert_non_null(said);
    assert_string_equal(said, sentence);
}

static void test_whole_ir_has_no_fault(void **state) {
    struct fixture *f = *state;
    assert_null(ir_fault(f->a, &f->g));
}

static void test_a_variable_of_another_gress(void **state) {
    struct fixture *f = *state;
    static struct ir_var other = {.id = 1, .name = "other", .width = 8};
    assign(f, f->g.control, f->x, ir_ref(f->a, &other));
    expect(f, "line 7: variable 'other' is not one of this gress, or has another number");
}

static void test_widths_that_do_not_agree(void **state) {
    struct fixture *f = *state;
    assign(f, f->g.control, f->x, ir_ref(f->a, f->h->valid));
    expect(f, "line 7: an assignment's value has another width than its variable");
}

static void test_a_report_without_its_name(void **state) {
    struct fixture *f = *state;
    struct ir_report *r = ARENA_NEW(f->a, struct ir_report);
    const struct ir_blame x = {IR_VIOLATION_UNDEFINED, "x"};
    struct ir_stmt *s = push(f, f->g.control, IR_REPORT);
    s->report = r;
    s->e = ir_ref(f->a, f->x);
    VEC_PUSH(f->a, &r->blames, x);
    expect(f, "line 7: a report has no condition of one bit");
    s->e = ir_const_u64(f->a, 1, 1);
    assert_null(ir_fault(f->a, &f->g));
    VEC_PUSH(f->a, &s->args, s->e);
    expect(f, "line 7: a report has not a condition for each of its names but the last");
    s->args.n = 0;
    s->e3 = ir_ref(f->a, f->x);
    expect(f, "line 7: a report has a place without its number");
}

static void test_an_event_without_its_names(void **state) {
    struct fixture *f = *state;
    struct ir_event *x = ARENA_NEW(f->a, struct ir_event);
    struct ir_stmt *s = push(f, f->g.control, IR_TRACE);
    s->event = x;
    expect(f, "line 7: an event is in a gress that is not traced");
    f->g.traced = true;
    assert_null(ir_fault(f->a, &f->g));
    VEC_PUSH(f->a, &s->args, ir_ref(f->a, f->x));
    expect(f, "line 7: an event has not a name for each of its values");
    s->args.n = 0;
    s->e3 = ir_ref(f->a, f->x);
    expect(f, "line 7: an event's flag is not one bit wide");
    s->e3 = NULL;
    x->header = f->h;
    expect(f, "line 7: an event has a header and is not its extraction, or the other way round");
    x->kind = IR_EVENT_EXTRACT;
    expect(f, "line 7: a statement of the parser is somewhere else");
}

static void test_a_cell_that_nothing_counts(void **state) {
    struct fixture *f = *state;
    struct ir_register r = {
        .id = (unsigned)f->g.registers.n, .name = "r", .width = 32, .words = 1, .size = 4};
    struct ir_stmt *s = push(f, f->g.control, IR_NEXT_CELL);
    s->reg = &r;
    s->var = f->x;
    expect(f, "line 7: a register, or where its next cell goes, is missing");
    VEC_PUSH(f->a, &f->g.registers, &r);
    expect(f, "line 7: nothing counts the cells of a register");
    s->use = IR_REG_PUSH;
    s->e = ir_const_u64(f->a, 64, 4);
    assert_null(ir_fault(f->a, &f->g));
}

static void test_a_leave_without_its_block(void **state) {
    struct fixture *f = *state;
    struct ir_stmt *b = push(f, f->g.control, IR_BLOCK);
    b->label = 3;
    b->then_b = ir_block_new(f->a);
    struct ir_stmt *s = push(f, b->then_b, IR_LEAVE);
    s->label = 3;
    assert_null(ir_fault(f->a, &f->g));
    s->label = 4;
    expect(f, "line 7: a 'leave' names label 4, which no block around it carries");
}

static void test_a_statement_in_the_wrong_place(void **state) {
    struct fixture *f = *state;
    push(f, f->g.control, IR_EXTRACT)->header = f->h;
    expect(f, "line 7: a statement of the parser is somewhere else");
}

static void test_a_statement_without_its_operand(void **state) {
    struct fixture *f = *state;
    push(f, f->g.control, IR_APPLY);
    expect(f, "line 7: a table is missing, or is not one of this gress");
}

static void test_fields_that_are_not_their_header(void **state) {
    struct fixture *f = *state;
    f->h->bits = 24;
    expect(f, "header 'hdr.h' has 24 bits, its fields 16");
}

static void test_the_sentence_names_the_pass(void **state) {
    struct fixture *f = *state;
    int pipes[2], status;
    char said[512] = "";
    f->g.vars.v[0]->id = 5;
    unsetenv("SILKEN_VERIFY_IR");
    ir_verify_after(f->a, &f->g, "tidy"); // not asked for
    assert_int_equal(pipe(pipes), 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(pipes[1], STDERR_FILENO);
        setenv("SILKEN_VERIFY_IR", "1", 1);
        ir_verify_after(f->a, &f->g, "tidy");
        _exit(0);
    }
    close(pipes[1]);
    for (size_t n = 0; n + 1 < sizeof said;) {
        const ssize_t got = read(pipes[0], said + n, sizeof said - 1 - n);
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    close(pipes[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_non_null(strstr(said, "after pass 'tidy' the IR of ingress is not whole: variable 0 has "
                                 "the number 5"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_a_table_does_what_its_actions_do),
        TEST(test_a_full_queue_runs_its_own_action),
        TEST(test_validity_is_written_by_statements_and_assignments),
        TEST(test_whole_ir_has_no_fault),
        TEST(test_a_variable_of_another_gress),
        TEST(test_widths_that_do_not_agree),
        TEST(test_a_report_without_its_name),
        TEST(test_an_event_without_its_names),
        TEST(test_a_cell_that_nothing_counts),
        TEST(test_a_leave_without_its_block),
        TEST(test_a_statement_in_the_wrong_place),
        TEST(test_a_statement_without_its_operand),
        TEST(test_fields_that_are_not_their_header),
        TEST(test_the_sentence_names_the_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
