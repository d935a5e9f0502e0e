// SPDX-License-Identifier: Apache-2.0
//
// differential: random programs, random scenarios, every build against the interpreter.
//
// Each program is run in a process of its own: a crash or an endless loop is a finding like any
// other. A finding is kept in a folder as program.p4, scenario.txt and report.txt, and then reduced
// (statements and lines of the scenario are taken out as long as the finding stays).
#ifndef SILKEN_HARNESS_DIFFERENTIAL_H
#define SILKEN_HARNESS_DIFFERENTIAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum verdict {
    VERDICT_SAME,
    VERDICT_DIFFERENT,
    VERDICT_REFUSED,     // the compiler says that the program is wrong
    VERDICT_UNSUPPORTED, // "not supported yet"
    VERDICT_BROKEN,      // the C compiler refuses, or the object does not load
    VERDICT_CRASHED,     // signal or time limit
};
extern const char *const verdict_names[];

struct differential_options {
    const char *folder; // for temporary files
    const char *keep;   // findings go to folders below it; null: not kept
    unsigned scenarios, packets;
    bool full;    // all builds: also -O3, and one in which undefined behaviour traps
    bool checked; // the checked build instead of the fast one
    bool lanes;   // generate_lanes_program; vectorised, scalar and, with 'full', other builds
    unsigned reduce_seconds;
};

struct differential_case {
    char *program;
    size_t length;
    uint64_t scenario_seed;    // when 'scenario' is null: random ones
    const char *scenario_path; // one from a file
};

// One program; messages about it to 'log'.
enum verdict differential_run(const struct differential_case *c,
                              const struct differential_options *opt, FILE *log);
// The program of 'seed': generated, run, and kept and reduced when it is a finding.
enum verdict differential_seed(uint64_t seed, const struct differential_options *opt, FILE *log);

// Makes what is in 'dir' (program.p4, scenario.txt) smaller as long as the verdict stays.
void differential_reduce(const char *dir, enum verdict verdict,
                         const struct differential_options *opt);
// Runs what is in 'dir' again.
enum verdict differential_replay(const char *dir, const struct differential_options *opt,
                                 FILE *log);

#endif
