// SPDX-License-Identifier: Apache-2.0
//
// program: `silken ctl reload` and `silken ctl program`, which may have to wait for the compiler.
#include "cli/ctl/ctl_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/ctl/print.h"
#include "base/json.h"

#define AGAIN_US 100000

// Asks until it is there. Null after a sentence.
static json_t *ctl_program_ask(struct ctl *c, const json_t *request) {
    struct sk_error err;
    for (;;) {
        json_t *result = sk_client_call(c->client, json_deep_copy(request), &err);
        const char *state = result ? json_string_value(json_object_get(result, "state")) : NULL;
        if (!result)
            fprintf(stderr, "silken ctl: %s\n", err.text);
        if (!state || !ctl_is(state, "compiling"))
            return result;
        json_decref(result);
        usleep(AGAIN_US);
    }
}

static void print_kept(const json_t *result) {
    const json_t *lost = json_object_get(result, "lost"), *sentence;
    size_t i;
    printf("program %s: kept %lld entries and %lld cells\n", sk_json_text(result, "program"),
           sk_json_number(result, "kept"), sk_json_number(result, "cells"));
    json_array_foreach(lost, i, sentence) {
        printf("not kept: %s\n", json_string_value(sentence));
    }
}

static void print_reload(const json_t *result) {
    static const char *const counts[] = {"added",       "changed",       "removed",
                                         "ports_added", "ports_removed", "tor"};
    bool some = false;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const long long n = sk_json_number(result, counts[i]);
        if (n > 0 && ctl_is(counts[i], "tor"))
            printf("%stor changed", some ? ", " : "");
        else if (n > 0)
            printf("%s%s %lld", some ? ", " : "", counts[i], n);
        some |= n > 0;
    }
    const bool program = json_object_get(result, "program");
    if (some || !program)
        puts(some ? "" : "nothing differs");
    if (program)
        print_kept(result);
}

static int ctl_program_finish(struct ctl *c, void (*print)(const json_t *result)) {
    if (*c->words && !c->bad)
        return cli_misused("ctl", "unexpected argument '%s'", *c->words);
    if (c->bad)
        return EXIT_UNUSABLE;
    json_t *result = ctl_program_ask(c, c->request);
    if (!result)
        return EXIT_FAILED;
    if (c->json)
        ctl_print_json(result);
    else
        print(result);
    json_decref(result);
    return EXIT_GOOD;
}

int ctl_reload(struct ctl *c) {
    ctl_op(c, "reload");
    return ctl_program_finish(c, print_reload);
}

int ctl_program(struct ctl *c) {
    char path[4096];
    const char *file = ctl_next_word(c, "a P4 file");
    ctl_op(c, "program");
    if (!c->bad)
        ctl_set_text(c, "file", realpath(file, path) ? path : file);
    return ctl_program_finish(c, print_kept);
}
