// SPDX-License-Identifier: Apache-2.0
//
// schema: the description of a program for controllers, in the two forms that they read.
//
//     schema_bfrt(f, a, ir, stages);  BF Runtime's JSON (tna-facts 8.2)
//     schema_p4info(f, a, ir);        P4Runtime's P4Info as protobuf text (its specification, 6)
//
// Names are those of the source as the chip's compiler forms them (tna-facts 8.1), and so are the
// identifiers: a 24-bit hash of the name under a prefix for the kind of object, so a controller
// finds the same numbers here and on the chip as long as names agree. Objects that only exist on
// the chip are left out: debug counters, and of snapshots all fields that are in no header. Both
// functions write to 'f' only, keep nothing and are thread-safe; the caller checks the stream for
// errors.
//
// Files:
//
//     schema.c      names and identifiers of both forms
//     bfrt.c        the BF Runtime schema
//     bfrt_table.c  match tables in it
//     bfrt_hash.c   configurable hashes in it
//     bfrt_snapshot.c   snapshots in it
//     p4info.c      P4Info
//     wire.c        C structs of the headers, for host stacks (wire.h)
#ifndef SILKEN_COMPILER_DESCRIBE_SCHEMA_H
#define SILKEN_COMPILER_DESCRIBE_SCHEMA_H

#include <limits.h>
#include <stdio.h>

#include "compiler/ir/ir.h"

// Where a chip would have what a gress has, by the model of compiler/chip: what snapshots say of
// stages.
struct schema_stage_table {
    const char *name;
    unsigned first, last;
};
struct schema_stage_field {
    const char *name;
    bool live; // in a container that stages see: from 'first' to 'last'
    unsigned first, last;
    unsigned written; // the first stage that may write it; UINT_MAX: no stage does
};
struct schema_stages {
    unsigned stages; // that the chip has
    VEC(struct schema_stage_table) tables;
    VEC(struct schema_stage_field) fields; // those that are live or written
};

// 'stages' are two for each pipeline of the program, ingress and egress. Null: there is no
// placement, and the schema has no snapshots.
void schema_bfrt(FILE *f, struct arena *a, const struct ir_program *p,
                 const struct schema_stages *stages);
void schema_p4info(FILE *f, struct arena *a, const struct ir_program *p);

#endif
