// SPDX-License-Identifier: Apache-2.0
//
// subject: one P4 program in every form that is compared: its IR (for the interpreter) and the
// objects that the compiler's builds of it are.
//
// What a person gets from `silken build` is made by the same calls (compile.c); here they are made
// one by one, because the IR is wanted too and the C compiler's options vary.
#ifndef SILKEN_HARNESS_SUBJECT_H
#define SILKEN_HARNESS_SUBJECT_H

#include "compiler/ir/ir.h"
#include "pipeline/program.h"

struct build_kind {
    const char *name;
    const char *flags; // of the C compiler, separated by spaces
    bool checked;      // the checked build
    bool scalar;       // without loops over registers
};
extern const struct build_kind
    build_quick; // -O1: less takes the C compiler longer, its output being longer
extern const struct build_kind build_checked; // the checked build, as silken compiles it
extern const struct build_kind build_full;    // as silken compiles
extern const struct build_kind build_traps;   // undefined behaviour in generated C traps

extern const struct build_kind build_scalar; // no loops over registers, no vectors
extern const struct build_kind build_plain;  // for the oldest processor of the kind
extern const struct build_kind build_v3;     // for one with AVX2; not on others

#define SUBJECT_MAX_BUILDS 6

struct subject {
    struct arena *a;
    struct diag *d;
    struct ir_program *ir;
    struct ir_program
        *specialised; // with the notes and controls that are compiled; null: those of 'ir'
    const struct ir_program *instrumented; // of the checked build; null: there is no such build
    struct sk_program *programs[SUBJECT_MAX_BUILDS];
    const char *names[SUBJECT_MAX_BUILDS];
    bool checked[SUBJECT_MAX_BUILDS];
    size_t n_builds;
};

enum subject_result {
    SUBJECT_OK,
    SUBJECT_REFUSED,     // by the compiler, with errors about the program
    SUBJECT_UNSUPPORTED, // with "not supported yet"
    SUBJECT_BROKEN,      // the C compiler refuses the generated code, or it does not load
};

// Preprocesses the architecture's declarations, once; subject_make does it when nobody did. A
// process that runs subject_make in others calls it first. False after a message.
bool subject_prepare(const char *folder);

// Compiles P4 text that begins behind '#include <core.p4>' and '#include <tna.p4>' (both are added;
// the text must not be preprocessed further). Messages go to 'messages'. 'folder': for temporary
// files. Without kinds only the IR is made. Whatever the result, subject_free.
enum subject_result subject_make(struct subject *s, const char *text, size_t length,
                                 const struct build_kind *const *kinds, size_t n_kinds,
                                 const char *folder, FILE *messages);
// The same for a file, with its own #include lines.
enum subject_result subject_make_file(struct subject *s, const char *path,
                                      const struct build_kind *const *kinds, size_t n_kinds,
                                      const char *folder, FILE *messages);
void subject_free(struct subject *s);

#endif
