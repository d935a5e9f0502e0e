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
#include <stdlib.h>
#include <string.h>

#include "compiler/cache.h"
#include "compiler/check.h"
#include "compiler/emit.h"
#include "compiler/lower.h"
#include "compiler/preprocess.h"
#include "compiler/regonce.h"
#include "compiler/schema.h"
#include "compiler/syntax.h"
#include "compiler/wireshark.h"

struct compilation {
    const struct compile_options *opt;
    FILE *messages;
    struct arena *a;
    struct diag *d;
    struct program *ast;
    struct ir_program *ir;
    char *text; // the generated C
    size_t length;
};

// Opens a file to write; "-" is standard output.
static FILE *open_output(struct compilation *c, const char *path) {
    FILE *f = strcmp(path, "-") == 0 ? stdout : fopen(path, "we");
    if (!f)
        fprintf(c->messages, "silken: error: cannot write %s: %s\n", path, strerror(errno));
    return f;
}

static bool close_output(struct compilation *c, const char *path, FILE *f) {
    bool ok = !ferror(f);
    ok = (f == stdout ? fflush(f) : fclose(f)) == 0 && ok;
    if (!ok)
        fprintf(c->messages, "silken: error: cannot write %s: %s\n", path, strerror(errno));
    return ok;
}

static bool front_end(struct compilation *c) {
    struct preprocess_options pp = {
        .include_dirs = c->opt->include_dirs,
        .n_include_dirs = c->opt->n_include_dirs,
        .defines = c->opt->defines,
        .n_defines = c->opt->n_defines,
    };
    size_t length;
    char *text = preprocess_p4(c->a, c->d, c->opt->path, &pp, &length);
    if (!text)
        return false;
    c->ast = parse_p4(c->a, c->d, c->opt->path, text, length);
    if (diag_errors(c->d))
        return false;
    return check_program(c->a, c->d, c->ast) && !diag_errors(c->d);
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
    c->ir = lower_program(c->a, c->d, c->opt->path, c->ast);
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

static bool wire_header(struct compilation *c) {
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

static bool back_end(struct compilation *c) {
    FILE *f = open_memstream(&c->text, &c->length);
    if (!f) {
        fprintf(c->messages, "silken: error: %s\n", strerror(errno));
        return false;
    }
    bool ok = (c->opt->checked  ? emit_checked_c
               : c->opt->scalar ? emit_scalar_c
                                : emit_c)(f, c->a, c->d, c->ir);
    if (fclose(f) != 0) {
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
    };
    return cache_object(&r, c->messages);
}

// Everything up to the C text. False after an error, which is in the diagnostics or printed.
static bool translate(struct compilation *c) {
    if (!front_end(c) || !dump_ast(c))
        return false;
    bool ir_wanted = !c->opt->parse_only || c->opt->wire_header || c->opt->dump_ir ||
                     c->opt->bfrt || c->opt->p4info || c->opt->wireshark;
    if (!ir_wanted)
        return true;
    if (!middle(c) || !dump_ir(c) || !wire_header(c))
        return false;
    if (!schema(c, c->opt->bfrt, schema_bfrt) || !schema(c, c->opt->p4info, schema_p4info) ||
        !schema(c, c->opt->wireshark, wireshark_dissector))
        return false;
    if (c->opt->parse_only)
        return true;
    return regonce_check(c->a, c->d, c->ir) && back_end(c) && keep_c(c);
}

char *compile_p4(const struct compile_options *opt, FILE *messages) {
    struct compilation c = {.opt = opt, .messages = messages, .a = arena_new()};
    char *path = NULL;
    c.d = diag_new(c.a);
    bool ok = translate(&c);
    diag_print(c.d, messages, opt->colour);
    if (ok)
        path = opt->parse_only ? strdup("") : object(&c);
    free(c.text);
    arena_free(c.a);
    return path;
}
