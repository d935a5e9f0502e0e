// SPDX-License-Identifier: Apache-2.0
//
// subject: see subject.h.
#include "harness/interp/subject.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/check/check.h"
#include "compiler/instrument/instrument.h"
#include "compiler/print/emit.h"
#include "compiler/lower/lower.h"
#include "compiler/syntax/preprocess.h"
#include "compiler/rules/regonce.h"
#include "compiler/syntax/syntax.h"

#define COMMON "-std=gnu17 -fPIC -shared -w -I. "
const struct build_kind build_quick = {.name = "O1", .flags = COMMON "-O1"};
const struct build_kind build_checked = {
    .name = "checked", .flags = COMMON "-O1 -march=native", .checked = true};
const struct build_kind build_full = {.name = "O3", .flags = COMMON "-O3 -march=native"};
const struct build_kind build_traps = {
    .name = "traps", .flags = COMMON "-Og -fsanitize=undefined -fsanitize-undefined-trap-on-error"};
const struct build_kind build_scalar = {
    .name = "scalar", .flags = COMMON "-O1 -fno-tree-vectorize", .scalar = true};
const struct build_kind build_plain = {.name = "x86-64", .flags = COMMON "-O3 -march=x86-64"};
const struct build_kind build_v3 = {
    .name = "x86-64-v3", .flags = COMMON "-O3 -march=x86-64-v3 -mprefer-vector-width=512"};

extern char **environ;

// --------------------------------------------------------------------------------------------
// The architecture's declarations, preprocessed once per process.

static char *prelude;
static size_t prelude_length;

bool subject_prepare(const char *folder) {
    if (prelude)
        return true;
    static const char *const include_dirs[] = {"p4/include"};
    struct preprocess_options opt = {.include_dirs = include_dirs, .n_include_dirs = 1};
    char path[512];
    snprintf(path, sizeof path, "%s/prelude.p4", folder);
    FILE *f = fopen(path, "w");
    if (!f)
        return false;
    fputs("#include <core.p4>\n#include <tna.p4>\n", f);
    fclose(f);
    struct arena *a = arena_new();
    struct diag *d = diag_new(a);
    char *text = preprocess_p4(a, d, path, &opt, &prelude_length);
    prelude = text ? strdup(text) : NULL;
    diag_print(d, stderr, false);
    arena_free(a);
    unlink(path);
    return prelude != NULL;
}

// --------------------------------------------------------------------------------------------
// P4 to IR.

static bool mentions(const char *text, const char *word) {
    return text && strstr(text, word);
}

// Prints the diagnostics; says of which kind they are.
static enum subject_result refusal(struct subject *s, FILE *messages) {
    char *text = NULL;
    size_t length;
    FILE *f = open_memstream(&text, &length);
    diag_print(s->d, f, false);
    fclose(f);
    fputs(text, messages);
    bool unsupported = mentions(text, "not supported yet");
    free(text);
    return unsupported ? SUBJECT_UNSUPPORTED : SUBJECT_REFUSED;
}

static bool to_ir(struct subject *s, const char *path, const char *text, size_t length) {
    struct program *p = parse_p4(s->a, s->d, path, text, length);
    bool ok = !diag_errors(s->d) && check_program(s->a, s->d, p) && !diag_errors(s->d);
    if (ok)
        s->ir = lower_program(s->a, s->d, path, p);
    return ok && s->ir && !diag_errors(s->d) && regonce_check(s->a, s->d, s->ir);
}

static bool text_to_ir(struct subject *s, const char *text, size_t length) {
    char *all = NULL;
    size_t n;
    FILE *f = open_memstream(&all, &n);
    fwrite(prelude, 1, prelude_length, f);
    fputs("# 3 \"program.p4\"\n", f);
    fwrite(text, 1, length, f);
    fclose(f);
    uint32_t file = diag_file(s->d, "program.p4");
    char *source = arena_printf(s->a, "\n\n%.*s", (int)length, text);
    diag_set_source(s->d, file, source, strlen(source));
    bool ok = to_ir(s, "program.p4", all, n);
    free(all);
    return ok;
}

static bool file_to_ir(struct subject *s, const char *path) {
    struct preprocess_options opt = {.include_dirs = NULL};
    size_t length;
    char *text = preprocess_p4(s->a, s->d, path, &opt, &length);
    return text && to_ir(s, path, text, length);
}

// --------------------------------------------------------------------------------------------
// IR to objects.

// The C compiler itself: through a compiler cache every program would be kept.
static bool run_cc(const char *flags, const char *c_path, const char *so_path, FILE *messages) {
    const char *argv[32];
    size_t n = 0;
    char *words = strdup(flags), *save = NULL;
    argv[n++] = "cc";
    for (char *w = strtok_r(words, " ", &save); w && n < 26; w = strtok_r(NULL, " ", &save))
        argv[n++] = w;
    argv[n++] = "-o";
    argv[n++] = so_path;
    argv[n++] = c_path;
    argv[n] = NULL;
    pid_t pid;
    int status = -1;
    fflush(messages);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (fileno(messages) >= 0)
        posix_spawn_file_actions_adddup2(&actions, fileno(messages), 2);
    if (posix_spawnp(&pid, "cc", &actions, NULL, (char **)argv, environ) == 0)
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
    posix_spawn_file_actions_destroy(&actions);
    free(words);
    return status == 0;
}

static bool make_build(struct subject *s, const char *c_path, const struct build_kind *kind,
                       const char *folder, FILE *messages) {
    char so_path[512], error[256];
    // a name that was never used: the dynamic linker may know the object of an old one still
    static unsigned number;
    snprintf(so_path, sizeof so_path, "%s/%s-%d-%u.so", folder, kind->name, (int)getpid(),
             number++);
    if (!run_cc(kind->flags, c_path, so_path, messages))
        return false;
    struct sk_program *p = sk_program_load(so_path, error, sizeof error);
    unlink(so_path);
    if (!p) {
        fprintf(messages, "the %s build does not load: %s\n", kind->name, error);
        return false;
    }
    s->names[s->n_builds] = kind->name;
    s->checked[s->n_builds] = kind->checked;
    s->programs[s->n_builds++] = p;
    return true;
}

// The program after the passes that change the IR, notes and 'specialise', in its first pipeline;
// null: they change nothing there.
static struct ir_program *specialised(struct subject *s) {
    const struct plan_options opt = {.vectorise = true};
    const struct instrument_options inserts = {.notes_always = true};
    const struct ir_program *const noted = instrument_program(s->a, s->ir, &inserts);
    struct ir_program *p = ARENA_NEW(s->a, struct ir_program);
    struct ir_pipeline *pl = ARENA_NEW(s->a, struct ir_pipeline);
    struct plan plans[2];
    plan_pipeline(s->a, s->d, noted, noted->pipelines.v[0], &opt, plans);
    if (noted == s->ir && !plans[0].split && !plans[1].split)
        return NULL;
    *pl = *noted->pipelines.v[0];
    for (unsigned k = 0; k < 2; k++)
        pl->gress[k] = plan_specialised(&plans[k]);
    *p = *noted;
    p->pipelines.v = ARENA_ARRAY(s->a, struct ir_pipeline *, 1);
    p->pipelines.v[0] = pl;
    p->pipelines.n = 1;
    return p;
}

static bool write_c(struct subject *s, const char *c_path, const struct build_kind *kind) {
    FILE *f = fopen(c_path, "w");
    const struct emit_options opt = {
        .plan = {.checked = kind->checked, .vectorise = !kind->checked && !kind->scalar}};
    bool ok = f && emit_c(f, s->a, s->d, s->ir, &opt);
    if (f)
        fclose(f);
    return ok;
}

static enum subject_result builds(struct subject *s, const struct build_kind *const *kinds,
                                  size_t n_kinds, const char *folder, FILE *messages) {
    enum subject_result result = SUBJECT_OK;
    char c_path[512];
    snprintf(c_path, sizeof c_path, "%s/program-%d.c", folder, (int)getpid());
    for (size_t i = 0; i < n_kinds && result == SUBJECT_OK; i++) {
        bool written = (i > 0 && kinds[i]->checked == kinds[i - 1]->checked &&
                        kinds[i]->scalar == kinds[i - 1]->scalar) ||
                       write_c(s, c_path, kinds[i]);
        if (!written)
            result = refusal(s, messages);
        else if (!make_build(s, c_path, kinds[i], folder, messages))
            result = SUBJECT_BROKEN;
    }
    unlink(c_path);
    if (result == SUBJECT_OK && n_kinds)
        s->specialised = specialised(s);
    for (size_t i = 0; result == SUBJECT_OK && i < n_kinds && !s->instrumented; i++)
        if (kinds[i]->checked)
            s->instrumented =
                instrument_program(s->a, s->ir, &(struct instrument_options){.checked = true});
    return result;
}

enum subject_result subject_make(struct subject *s, const char *text, size_t length,
                                 const struct build_kind *const *kinds, size_t n_kinds,
                                 const char *folder, FILE *messages) {
    *s = (struct subject){.a = arena_new()};
    s->d = diag_new(s->a);
    if (!subject_prepare(folder))
        return SUBJECT_BROKEN;
    if (!text_to_ir(s, text, length))
        return refusal(s, messages);
    return builds(s, kinds, n_kinds, folder, messages);
}

enum subject_result subject_make_file(struct subject *s, const char *path,
                                      const struct build_kind *const *kinds, size_t n_kinds,
                                      const char *folder, FILE *messages) {
    *s = (struct subject){.a = arena_new()};
    s->d = diag_new(s->a);
    if (!file_to_ir(s, path))
        return refusal(s, messages);
    return builds(s, kinds, n_kinds, folder, messages);
}

void subject_free(struct subject *s) {
    for (size_t i = 0; i < s->n_builds; i++)
        sk_program_free(s->programs[i]);
    arena_free(s->a);
    *s = (struct subject){0};
}
