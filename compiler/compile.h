// SPDX-License-Identifier: Apache-2.0
//
// compile: the compiler as one call: P4 file in, loadable object out.
//
//     struct compile_options opt = {.path = "p4/switchml/switchml.p4"};
//     char *so = compile_p4(&opt, stderr);     // null: errors were printed
//     struct sk_program *prog = sk_program_load(so, ...);   // pipeline/program.h
//
// The object is cached in 'cache_dir' under a key made of the generated C (which the source and the
// compiler decide), the headers it includes, the C compiler, its flags and the processor, so an
// unchanged program is not compiled again and a changed one never taken from the cache. Written
// atomically (temporary folder and rename): several processes may compile the same program at once.
// The system's C compiler ($CC, or cc) is run without a shell.
//
// A compilation, the C compiler apart, uses at most COMPILE_MAX_MEMORY bytes and
// COMPILE_MAX_SECONDS of processor time. A program that needs more is refused with a message that
// names the limit. For BF Runtime's schema the model of the chip sees the program first, with
// at most 4 seconds of its own; a program that takes longer has no snapshots in its schema.
//
// Files, and the rooms of the compiler:
//
//     compile.c   the phases in order, for a build and for a check
//     stages.c    what the schema says of a chip's stages
//     cache.c     from generated C to a loadable object, at most once for the same content
//     wiregen.c   a program of its own: wire headers for the host stacks
//     base/       memory, big integers, messages, JSON and UTF-8 output
//     syntax/     text to AST: preprocessor, scanner, grammar
//     check/      names, types, compile-time values
//     lower/      checked AST to pipeline IR
//     ir/         the IR, and walks through it
//     rules/      checks for constructs that a Tofino or the engine does not allow
//     instrument/ statements added to the IR: the checked build, the trace, notes for flow records
//     plan/       decisions before C is printed
//     print/      IR to C
//     describe/   schemas for controllers, wire headers for hosts
//     wireshark/  a dissector in Lua
//     chip/       does the program fit a Tofino
#ifndef SILKEN_COMPILER_COMPILE_H
#define SILKEN_COMPILER_COMPILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define COMPILE_MAX_MEMORY  UINT64_C(1000000000)
#define COMPILE_MAX_SECONDS 20

struct compile_options {
    const char *path;
    const char *const *include_dirs;
    size_t n_include_dirs;
    const char *const *defines;
    size_t n_defines;
    const char *output; // path of the object to write; null: in the cache
    const char
        *cache_dir; // null: $SILKEN_CACHE, else $XDG_CACHE_HOME/silken, else ~/.cache/silken,
                    // else a folder of the user's in the temporary directory
    const char *wire_header;        // also write the wire header there; null: no
    const char *emit_c;             // also keep the C text there; null: no
    const char *dump_ast, *dump_ir; // paths, "-" for standard output; null: no
    const char *dump_plan;          // also write there which optimisation fired where; null: no
    const char *without_pass;  // a pass that plan_is_optional (compiler/plan/plan.h); null: all run
    const char *bfrt, *p4info; // also write the schemas (schema.h) there; null: no
    const char *wireshark;     // also write a dissector (wireshark.h) there; null: no
    const char *emit_p4;       // also write the preprocessed text there; null: no
    // The file is preprocessed text, of another machine perhaps: no preprocessor runs, so nothing
    // in it is a directive or includes a file, and the files that its line markers name are not
    // read.
    bool preprocessed;
    bool parse_only;   // syntax and types only: no object
    bool checked;      // the checked build: emit.h
    bool scalar;       // no vector instructions, for comparison
    const char *march; // the C compiler's name of a processor; null: this machine's
    bool sanitize;     // compile the generated C with ASan and UBSan (tests)
    bool colour;
    // With which status the process ends when the limit of time is far exceeded without a place in
    // the code that looks at it, after the sentence; 0: it does not.
    int status_at_limit;
    // Commands that are run stay in the caller's process group: the caller is a process for this
    // one compilation, and who started it ends the group.
    bool in_group;
    // Told the path of each file that was read, the program's and all it includes, as messages name
    // them; some names are of no file ("<command-line>"). Or null.
    void (*reads)(void *aux, const char *path);
    void *reads_aux;
    const char *target; // "tofino1", "tofino2"; null: what the program is written for
};

// Path of the object (malloc'ed, the caller frees), or null after errors were printed to
// 'messages'. With 'parse_only' the returned path is empty. Thread-safe.
char *compile_p4(const struct compile_options *opt, FILE *messages);

// For a signal's handler: ends the C compilers that run, and with them compile_p4() on all threads,
// which returns null without a message and leaves no file. False: none runs.
bool compile_stop(void);
// Removes what a process that was killed while it compiled into the user's cache has left there.
void compile_clean_after(pid_t pid);

// Whether a program fits a Tofino, by the model of compiler/chip: front end and lowering, no C. Of
// the options only path, folders, macros, colour and target count.
enum compile_verdict {
    COMPILE_FITS,
    COMPILE_MAY_NOT_FIT,  // the model finds no way, but the chip's compiler may
    COMPILE_DOES_NOT_FIT, // exceeds a limit of the chip, or needs a function that it lacks
    COMPILE_REFUSED, // is no program of the architecture, cannot be read, is for another chip, or
                     // needs something that Silken does not support, or more than it compiles
};
struct chip_report;
struct compile_checked {
    enum compile_verdict verdict;
    // Never null: of a program that the compiler refused its errors are violations of the rule
    // "compile".
    const struct chip_report *report;
};
// Warnings, and the errors of a COMPILE_REFUSED program, are printed to 'messages'. The caller
// frees what is returned, and the report with it. Thread-safe.
struct compile_checked *compile_check(const struct compile_options *opt, FILE *messages);
void compile_checked_free(struct compile_checked *c); // null is allowed

#endif
