// SPDX-License-Identifier: Apache-2.0
//
// compile: the compiler as one call. See compile.h.
//
// The phases run in order, each only when those before it reported no error. The P4 side takes
// milliseconds and always runs, so warnings are always seen; the C compiler's part is what is
// cached.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // open_memstream
#endif
#include "compiler/compile.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "compiler/cache.h"
#include "compiler/check/check.h"
#include "compiler/chip/chip.h"
#include "compiler/chip/report_add.h"
#include "compiler/instrument/instrument.h"
#include "compiler/print/emit.h"
#include "compiler/lower/lower.h"
#include "compiler/syntax/preprocess.h"
#include "compiler/rules/regonce.h"
#include "compiler/rules/rules.h"
#include "compiler/stages.h"
#include "compiler/describe/schema.h"
#include "compiler/describe/wire.h"
#include "compiler/syntax/syntax.h"
#include "compiler/wireshark/wireshark.h"

struct compilation {
    const struct compile_options *opt;
    FILE *messages;
    struct arena *a;
    struct diag *d;
    unsigned tofino; // __TARGET_TOFINO__
    struct program *ast;
    struct ir_program *ir;
    const struct schema_stages *stages; // for the schema, if it is asked for and there are any
    char *text;                         // the generated C
    size_t length;
    struct emit_units units; // of the text
    FILE *file;              // that is being written, or null; closed when the compilation is left
    unsigned seconds;        // of processor time at most
    jmp_buf leave;           // where to, at a limit
};

#define SPARE_MEMORY UINT64_C(100000000) // of the limit: for the stack and for C text that grows

#define STAGES_SECONDS 4 // of processor time for what only snapshots need

#define TOO_MUCH_TIME                                                                              \
    "compiling '%s' takes more than %d s of processor time, the most that Silken's compiler uses " \
    "for a program"

// Limits the rest of the compilation. Returns false a second time if a limit was exceeded.
#define WITHIN_LIMITS(c)                                                                           \
    (arena_limit((c)->a, COMPILE_MAX_MEMORY - SPARE_MEMORY, (c)->seconds, &(c)->leave),            \
     setjmp((c)->leave) == 0)

static void left_at_limit(struct compilation *c) {
    if (c->file && c->file != stdout)
        fclose(c->file);
    c->file = NULL;
    arena_limit(c->a, 0, 0, NULL);
    if (arena_exceeded(c->a) == ARENA_TOO_MUCH_MEMORY)
        diag_error(
            c->d, (struct loc){0},
            "compiling '%s' takes more than %u GB of memory, the most that Silken's compiler "
            "uses for a program",
            c->opt->path, (unsigned)(COMPILE_MAX_MEMORY / 1000000000));
    else
        diag_error(c->d, (struct loc){0}, TOO_MUCH_TIME, c->opt->path, COMPILE_MAX_SECONDS);
}

// ---- a compilation that does not look at its limit ----
//
// Limits are looked at where memory is taken and where steps are counted. Should a loop do neither,
// a signal ends the process of a command some seconds later, with the same sentence.

#define NET_SECONDS 4

static char net_sentence[PATH_MAX + 200];
static size_t net_length;
static int net_status;

static void net_caught(int signal) {
    (void)signal;
    const ssize_t ignored = write(STDERR_FILENO, net_sentence, net_length);
    (void)ignored;
    _exit(net_status);
}

static void net_set(int seconds) {
    const struct itimerval time = {.it_value = {.tv_sec = seconds}};
    setitimer(ITIMER_PROF, &time, NULL); // the processor time of the process, not of its children
}

static void net_up(const struct compile_options *opt) {
    if (!opt->status_at_limit)
        return;
    snprintf(net_sentence, sizeof net_sentence, "silken: error: " TOO_MUCH_TIME "\n", opt->path,
             COMPILE_MAX_SECONDS);
    net_length = strlen(net_sentence);
    net_status = opt->status_at_limit;
    sigaction(SIGPROF, &(struct sigaction){.sa_handler = net_caught}, NULL);
    net_set(COMPILE_MAX_SECONDS + NET_SECONDS);
}

static void net_down(const struct compile_options *opt) {
    if (opt->status_at_limit)
        net_set(0);
}

// Opens a file to write; "-" is standard output.
static FILE *open_output(struct compilation *c, const char *path) {
    FILE *f = strcmp(path, "-") == 0 ? stdout : fopen(path, "we");
    if (!f)
        fprintf(c->messages, "silken: error: cannot write %s: %s\n", path, strerror(errno));
    c->file = f;
    return f;
}

static bool close_output(struct compilation *c, const char *path, FILE *f) {
    bool ok = !ferror(f);
    c->file = NULL;
    ok = (f == stdout ? fflush(f) : fclose(f)) == 0 && ok;
    if (!ok)
        fprintf(c->messages, "silken: error: cannot write %s: %s\n", path, strerror(errno));
    return ok;
}

// t2na.p4's own file of blocks is there only when the program includes it: with tna.p4 for a Tofino
// 2 that chip's widths stand under the blocks of a Tofino 1.
#define TOFINO2_BLOCKS "tofino2_arch.p4"

// What the object says that it was compiled of. A text of another machine has no place here, and so
// the same text always has the same object in the cache.
static const char *compile_source_name(const struct compilation *c) {
    const char *slash = strrchr(c->opt->path, '/');
    return c->opt->preprocessed && slash ? slash + 1 : c->opt->path;
}

static char *preprocess(struct compilation *c, size_t *length) {
    if (c->opt->preprocessed)
        return read_preprocessed_p4(c->a, c->d, c->opt->path, length);
    struct preprocess_options pp = {
        .include_dirs = c->opt->include_dirs,
        .n_include_dirs = c->opt->n_include_dirs,
        .defines = c->opt->defines,
        .n_defines = c->opt->n_defines,
        .tofino = c->tofino,
        .in_group = c->opt->in_group,
    };
    return preprocess_p4(c->a, c->d, c->opt->path, &pp, length);
}

static bool is_for_tofino2(const struct compilation *c) {
    for (size_t i = 0; i < c->ast->decls.n; i++) {
        const char *path = diag_path(c->d, c->ast->decls.v[i]->at.file);
        const char *slash = strrchr(path, '/');
        if (strcmp(slash ? slash + 1 : path, TOFINO2_BLOCKS) == 0)
            return true;
    }
    return false;
}

// The chip that is asked for, by name or by the macro that the architecture's files look at.
static unsigned chip_asked_for(const struct compile_options *opt) {
    bool two = opt->target && strcmp(opt->target, "tofino2") == 0;
    for (size_t i = 0; i < opt->n_defines && !opt->target; i++)
        two |= strcmp(opt->defines[i], "__TARGET_TOFINO__=2") == 0;
    return two ? 2 : 1;
}

static bool compile_keep_text(struct compilation *c, const char *text, size_t length) {
    FILE *f = c->opt->emit_p4 ? open_output(c, c->opt->emit_p4) : NULL;
    if (f)
        fwrite(text, 1, length, f);
    return f ? close_output(c, c->opt->emit_p4, f) : !c->opt->emit_p4;
}

// A line marker names it: as an include path, or in a text of another machine.
static bool includes_tofino2(const char *text) {
    return strstr(text, "/" TOFINO2_BLOCKS "\"") || strstr(text, "\"" TOFINO2_BLOCKS "\"");
}

// Of that chip, or else the one that the program includes the architecture of.
static bool front_end(struct compilation *c) {
    size_t length;
    c->tofino = chip_asked_for(c->opt);
    char *text = preprocess(c, &length);
    if (text && c->tofino == 1 && !c->opt->target && includes_tofino2(text)) {
        c->tofino = 2;
        c->d = diag_new(c->a); // the messages are the same
        text = preprocess(c, &length);
    }
    if (!text || !compile_keep_text(c, text, length))
        return false;
    c->ast = parse_p4(c->a, c->d, compile_source_name(c), text, length);
    for (uint32_t i = 0; c->opt->reads && i < diag_files(c->d); i++)
        c->opt->reads(c->opt->reads_aux, diag_path(c->d, i));
    if (diag_errors(c->d) || (!c->opt->preprocessed && !check_included(c->d)))
        return false;
    if (!check_program(c->a, c->d, c->ast) || diag_errors(c->d))
        return false;
    if (!is_for_tofino2(c))
        return true;
    if (c->tofino == 1)
        diag_error(
            c->d, c->ast->main ? c->ast->main->at : (struct loc){0},
            "this program includes t2na.p4, so it is written for a Tofino 2, whose blocks and "
            "metadata a Tofino 1 does not have; use --target tofino2, or leave --target out");
    return c->tofino == 2;
}

static bool dump_ast(struct compilation *c) {
    if (!c->opt->dump_ast)
        return true;
    FILE *f = open_output(c, c->opt->dump_ast);
    if (!f)
        return false;
    ast_dump(f, c->ast);
    return close_output(c, c->opt->dump_ast, f);
}

static bool middle(struct compilation *c) {
    c->ir = lower_program(c->a, c->d, compile_source_name(c), c->ast);
    return c->ir && !diag_errors(c->d);
}

static bool dump_ir(struct compilation *c) {
    if (!c->opt->dump_ir)
        return true;
    FILE *f = open_output(c, c->opt->dump_ir);
    if (!f)
        return false;
    ir_dump(f, c->a, c->ir);
    return close_output(c, c->opt->dump_ir, f);
}

static bool compile_wire_header(struct compilation *c) {
    if (!c->opt->wire_header)
        return true;
    FILE *f = open_output(c, c->opt->wire_header);
    if (!f)
        return false;
    emit_wire_header(f, c->ir);
    return close_output(c, c->opt->wire_header, f);
}

static bool schema(struct compilation *c, const char *path,
                   void (*write)(FILE *f, struct arena *a, const struct ir_program *p)) {
    if (!path)
        return true;
    FILE *f = open_output(c, path);
    if (!f)
        return false;
    write(f, c->a, c->ir);
    return close_output(c, path, f);
}

static bool compile_bfrt(struct compilation *c) {
    FILE *f = c->opt->bfrt ? open_output(c, c->opt->bfrt) : NULL;
    if (!f)
        return !c->opt->bfrt;
    schema_bfrt(f, c->a, c->ir, c->stages);
    return close_output(c, c->opt->bfrt, f);
}

static bool pass_is_known(struct compilation *c) {
    const char *pass = c->opt->without_pass;
    if (!pass || plan_is_optional(pass) || instrument_is_optional(pass))
        return true;
    fprintf(c->messages, "silken: error: '%s' is not an optimisation that can be left out\n", pass);
    return false;
}

static bool back_end(struct compilation *c) {
    if (!pass_is_known(c))
        return false;
    FILE *plan = c->opt->dump_plan ? open_output(c, c->opt->dump_plan) : NULL;
    if (c->opt->dump_plan && !plan)
        return false;
    FILE *f = open_memstream(&c->text, &c->length);
    if (!f) {
        fprintf(c->messages, "silken: error: %s\n", strerror(errno));
        return false;
    }
    const struct emit_options opt = {
        .plan = {.checked = c->opt->checked,
                 .vectorise = !c->opt->checked && !c->opt->scalar,
                 .without = c->opt->without_pass},
        .dump_plan = plan,
        .units = &c->units,
    };
    c->file = f;
    bool ok = emit_c(f, c->a, c->d, c->ir, &opt);
    c->file = NULL;
    if (plan && !close_output(c, c->opt->dump_plan, plan))
        ok = false;
    const bool is_whole = !ferror(f);
    if (fclose(f) != 0 || !is_whole) {
        fprintf(c->messages, "silken: error: %s\n", strerror(errno));
        return false;
    }
    return ok && !diag_errors(c->d);
}

static bool keep_c(struct compilation *c) {
    if (!c->opt->emit_c)
        return true;
    FILE *f = open_output(c, c->opt->emit_c);
    if (!f)
        return false;
    fwrite(c->text, 1, c->length, f);
    return close_output(c, c->opt->emit_c, f);
}

// What the object is called: the source's name without folder and extension, file-name safe.
static char *object_name(struct compilation *c) {
    const char *slash = strrchr(c->opt->path, '/');
    char *name = arena_strdup(c->a, slash ? slash + 1 : c->opt->path);
    char *dot = strrchr(name, '.');
    if (dot && dot != name)
        *dot = '\0';
    for (char *p = name; *p; p++)
        if (!isalnum((unsigned char)*p) && *p != '_' && *p != '-')
            *p = '_';
    if (*name == '-' || !*name)
        return arena_printf(c->a, "p4%s", name);
    return strlen(name) > 64 ? arena_strndup(c->a, name, 64) : name;
}

static char *object(struct compilation *c) {
    struct cache_request r = {
        .text = c->text,
        .length = c->length,
        .name = object_name(c),
        .output = c->opt->output,
        .cache_dir = c->opt->cache_dir,
        .sanitize = c->opt->sanitize,
        .checked = c->opt->checked,
        .scalar = c->opt->scalar,
        .march = c->opt->march,
        .parts = c->units.parts,
        .n_parts = c->units.n,
    };
    return cache_object(&r, c->messages);
}

// The rules of the chip and of the engine, for all that is made of the IR alike.
static bool is_allowed(struct compilation *c) {
    bool ok = true;
    for (size_t i = 0; i < c->ir->pipelines.n; i++)
        ok = emit_check(c->a, c->d, c->ir, c->ir->pipelines.v[i]) && ok;
    return ok;
}

// Everything up to the C text. False after an error, which is in the diagnostics or printed.
static bool translate(struct compilation *c) {
    if (!front_end(c) || !dump_ast(c))
        return false;
    bool ir_wanted = !c->opt->parse_only || c->opt->wire_header || c->opt->dump_ir ||
                     c->opt->bfrt || c->opt->p4info || c->opt->wireshark;
    if (!ir_wanted)
        return true;
    if (!middle(c) || !dump_ir(c) || !compile_wire_header(c))
        return false;
    const bool described = c->opt->bfrt || c->opt->p4info || c->opt->wireshark;
    if ((described || !c->opt->parse_only) && !(regonce_check(c->a, c->d, c->ir) && is_allowed(c)))
        return false;
    if (!compile_bfrt(c) || !schema(c, c->opt->p4info, schema_p4info) ||
        !schema(c, c->opt->wireshark, wireshark_dissector))
        return false;
    if (c->opt->parse_only)
        return true;
    return back_end(c) && keep_c(c);
}

static bool translate_within_limits(struct compilation *c) {
    if (WITHIN_LIMITS(c))
        return translate(c);
    left_at_limit(c);
    return false;
}

static struct compile_checked *check_within(const struct compile_options *opt, FILE *messages,
                                            unsigned seconds);

// The model changes the program that it looks at, so it gets one of its own. What it has to say is
// no message of this compilation.
static void compile_place(struct compilation *c) {
    const struct compile_options opt = {.path = c->opt->path,
                                        .include_dirs = c->opt->include_dirs,
                                        .n_include_dirs = c->opt->n_include_dirs,
                                        .defines = c->opt->defines,
                                        .n_defines = c->opt->n_defines,
                                        .preprocessed = c->opt->preprocessed,
                                        .status_at_limit = c->opt->status_at_limit,
                                        .in_group = c->opt->in_group,
                                        .target = c->opt->target};
    FILE *nowhere = c->opt->bfrt ? fopen("/dev/null", "we") : NULL;
    if (!nowhere)
        return;
    struct compile_checked *k = check_within(&opt, nowhere, STAGES_SECONDS);
    fclose(nowhere);
    c->stages = stages_of_report(c->a, k->report);
    compile_checked_free(k);
}

char *compile_p4(const struct compile_options *opt, FILE *messages) {
    struct compilation c = {
        .opt = opt, .messages = messages, .a = arena_new(), .seconds = COMPILE_MAX_SECONDS};
    char *path = NULL;
    compile_place(&c);
    c.d = diag_new(c.a);
    net_up(opt);
    bool ok = translate_within_limits(&c);
    arena_limit(c.a, 0, 0, NULL);
    net_down(opt);
    diag_print(c.d, messages, opt->colour);
    if (ok)
        path = opt->parse_only ? strdup("") : object(&c);
    free(c.text);
    arena_free(c.a);
    return path;
}

bool compile_stop(void) {
    return cache_stop();
}

void compile_clean_after(pid_t pid) {
    cache_clean_after(pid);
}

// ---- does it fit? ----

struct checking {
    struct compile_checked public;
    struct compilation c;
};

static bool is_violated_at(const struct chip_report *r, struct loc at) {
    for (size_t i = 0; i < r->violations.n; i++)
        if (loc_same(r->violations.v[i].at, at))
            return true;
    return false;
}

// The compiler's errors, each with its first note, as violations.
static void violate_by_messages(struct chip_report *r, const struct diag *d, const char *rule) {
    const size_t n = diag_messages(d);
    for (size_t i = 0; i < n; i++) {
        const struct diag_message *m = diag_message_at(d, i), *note = i + 1 < n ? m + 1 : NULL;
        if (m->severity != DIAG_ERROR || is_violated_at(r, m->at))
            continue;
        struct chip_violation *v = chip_violate(r, rule, m->at, m->text, NULL);
        if (note && note->severity == DIAG_NOTE) {
            v->also = note->at;
            v->also_text = note->text;
        }
    }
}

// The program is 'wrong', or the chip's rules refuse it.
static struct chip_report *compile_refused(struct compilation *c, enum chip_target target,
                                           bool wrong) {
    struct chip_report *r = ARENA_NEW(c->a, struct chip_report);
    r->refused = wrong;
    r->limits = chip_limits_of(target);
    r->target = target;
    r->arena = c->a;
    r->diag = c->d;
    r->path = c->opt->path;
    violate_by_messages(r, c->d, "compile");
    return r;
}

// What Silken's compiler does not support, and its own limits, are no limits of the chip.
static bool compile_is_ours(const struct diag *d) {
    for (size_t i = 0; i < diag_messages(d); i++)
        if (diag_message_at(d, i)->is_ours)
            return true;
    return false;
}

// Sets the report; returns the verdict.
static enum compile_verdict check_fit(struct compilation *c, struct chip_report **report) {
    bool ok = front_end(c);
    enum chip_target target = c->tofino == 2 ? CHIP_TOFINO2 : CHIP_TOFINO1;
    const bool is_program = ok && c->ast->main;
    if (!ok || !middle(c)) {
        const bool wrong = !is_program || compile_is_ours(c->d);
        *report = compile_refused(c, target, wrong);
        return wrong ? COMPILE_REFUSED : COMPILE_DOES_NOT_FIT;
    }
    const bool allowed = is_allowed(c);
    if (!allowed && compile_is_ours(c->d)) {
        *report = compile_refused(c, target, true);
        return COMPILE_REFUSED;
    }
    *report = chip_check(c->a, c->d, c->ir, target);
    if (!allowed)
        violate_by_messages(*report, c->d, "compile");
    static const enum compile_verdict verdict_of[] = {[CHIP_FITS] = COMPILE_FITS,
                                                      [CHIP_MAY_NOT_FIT] = COMPILE_MAY_NOT_FIT,
                                                      [CHIP_DOES_NOT_FIT] = COMPILE_DOES_NOT_FIT};
    return verdict_of[chip_verdict(*report)];
}

static enum compile_verdict check_within_limits(struct compilation *c,
                                                struct chip_report **report) {
    if (WITHIN_LIMITS(c))
        return check_fit(c, report);
    left_at_limit(c);
    *report = compile_refused(c, c->tofino == 2 ? CHIP_TOFINO2 : CHIP_TOFINO1, true);
    return COMPILE_REFUSED;
}

static struct compile_checked *check_within(const struct compile_options *opt, FILE *messages,
                                            unsigned seconds) {
    struct arena *a = arena_new();
    struct checking *k = ARENA_NEW(a, struct checking);
    k->c = (struct compilation){
        .opt = opt, .messages = messages, .a = a, .d = diag_new(a), .seconds = seconds};
    struct chip_report *report;
    net_up(opt);
    k->public.verdict = check_within_limits(&k->c, &report);
    arena_limit(a, 0, 0, NULL);
    net_down(opt);
    report->target_of_program = !opt->target;
    k->public.report = report;
    (k->public.verdict == COMPILE_REFUSED ? diag_print : diag_print_warnings)(k->c.d, messages,
                                                                              opt->colour);
    return &k->public;
}

struct compile_checked *compile_check(const struct compile_options *opt, FILE *messages) {
    return check_within(opt, messages, COMPILE_MAX_SECONDS);
}

void compile_checked_free(struct compile_checked *c) {
    if (c)
        arena_free(((struct checking *)c)->c.a);
}
