// SPDX-License-Identifier: Apache-2.0
//
// scenario: what is done to a program: entries, register values, packets, in order; as text, one
// line each, so that a person can read it, change it and run it again:
//
//     entry TABLE PRIORITY ACTION | VALUE... | MASK... | DATA...
//     default TABLE ACTION | DATA...
//     member VALUESET | VALUE... | MASK...
//     profile PROFILE ID ACTION | DATA...              (a member, made or changed)
//     group SELECTOR ID | MEMBER STATUS MEMBER...      (made or changed)
//     register NAME INDEX WORD VALUE
//     ingress TIME BYTES          (the architecture's bytes, then the packet, hexadecimal)
//     egress TIME BYTES
//
// VALUE, MASK, DATA are 64-bit words as sk_table_add takes them, hexadecimal. A line whose objects
// the program does not have is passed over: programs get smaller while a difference is reduced.
#ifndef SILKEN_HARNESS_SCENARIO_H
#define SILKEN_HARNESS_SCENARIO_H

#include "harness/interp/interp.h"
#include "harness/interp/random.h"
#include "harness/interp/subject.h"

enum op_kind {
    OP_ENTRY,
    OP_DEFAULT,
    OP_MEMBER,
    OP_PROFILE,
    OP_GROUP,
    OP_REGISTER,
    OP_INGRESS,
    OP_EGRESS
};
typedef VEC(uint64_t) word_vec;
struct op {
    enum op_kind kind;
    const char *name, *action;
    int64_t priority;
    word_vec value, mask, data;
    uint64_t index, word, time;
    uint8_t *bytes;
    size_t n_bytes;
    bool dropped; // left out while a difference is reduced
};
struct scenario {
    struct arena *a;
    VEC(struct op) ops;
};

void scenario_write(FILE *f, const struct scenario *s);
// False after a message about the line that is wrong.
bool scenario_read(struct scenario *s, struct arena *a, FILE *f);

// A random scenario for a program's first pipeline (scenario_random.c): packets that follow the
// parser's selects, entries with keys that these packets look up.
void scenario_make(struct scenario *s, struct arena *a, const struct ir_program *p,
                   struct random *rnd, unsigned packets);

// Does to an interpreter what a line says that is not a packet: an entry, a default action, a
// member, a group (change.c). What it cannot take is passed over: a second entry with a key, one
// too many, a reference to what is not there.
void scenario_change(struct interp *ip, const struct op *op);

// Runs it on every build of the subject and on the interpreter, with the program as it is and as
// passes made it (compare.c). False when they differ; the first difference is described in
// 'report'.
bool scenario_run(const struct scenario *s, const struct subject *subject, FILE *report);
// By kind, what interpreters of instrumented programs reported in this process, and what builds
// told observers.
extern unsigned scenario_violations[SK_VIOLATION_COUNT], scenario_events[SK_EV_COUNT];

#endif
