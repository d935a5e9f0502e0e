// SPDX-License-Identifier: Apache-2.0
//
// builder: the programs of a switch compiled one after another, by processes of their own
// (compiler.c), and joined when there are several.
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/run/run.h"

struct run_builder {
    const struct run *r;
    const struct run_source *source, *at; // whose, and which of them is being compiled
    bool checked;
    struct run_compiler *compiler; // of 'at'
    struct sk_program *parts[SK_PIPES];
    struct run_description described[SK_PIPES];
    size_t n; // that are compiled
    bool failed;
    struct sk_error err; // of the failed one
};

static bool builder_next(struct run_builder *b) {
    struct compile_options opt = *run_source_options(b->at);
    opt.checked = b->checked;
    b->compiler = run_compiler_start(b->r, &opt, true, &b->err);
    b->failed = !b->compiler;
    return b->compiler;
}

struct run_builder *run_builder_start(const struct run *r, const struct run_source *source,
                                      bool checked, struct sk_error *err) {
    struct run_builder *b = calloc(1, sizeof *b);
    if (!b)
        abort();
    *b = (struct run_builder){.r = r, .source = source, .at = source, .checked = checked};
    if (builder_next(b))
        return b;
    *err = b->err;
    run_builder_free(b);
    return NULL;
}

bool run_builder_ended(struct run_builder *b) {
    if (b->failed || !b->at)
        return true;
    if (!run_compiler_ended(b->compiler))
        return false;
    b->parts[b->n] = run_compiler_program(b->compiler, &b->err);
    b->failed = !b->parts[b->n];
    if (b->checked)
        fputs(run_compiler_messages(b->compiler), stderr);
    if (!b->failed)
        b->described[b->n++] = run_compiler_description(b->compiler);
    run_compiler_free(b->compiler);
    b->compiler = NULL;
    b->at = b->failed ? b->at : run_source_next(b->at);
    return b->failed || !b->at || !builder_next(b);
}

struct sk_program *run_builder_program(struct run_builder *b, struct sk_error *err) {
    if (b->failed) {
        *err = b->err;
        return NULL;
    }
    struct sk_program *program = run_source_join(b->source, b->parts, err);
    if (program)
        b->n = 0; // they are the program's
    return program;
}

void run_builder_describe(struct run_builder *b, struct run_source *source) {
    for (size_t i = 0; source && i < SK_PIPES; source = run_source_next(source), i++) {
        run_source_describe(source, b->described[i]);
        b->described[i] = (struct run_description){0};
    }
}

void run_builder_free(struct run_builder *b) {
    if (!b)
        return;
    run_compiler_free(b->compiler);
    for (size_t i = 0; i < b->n; i++)
        sk_program_free(b->parts[i]);
    for (size_t i = 0; i < SK_PIPES; i++) {
        free(b->described[i].bfrt);
        free(b->described[i].text);
        free(b->described[i].p4info);
    }
    free(b);
}
