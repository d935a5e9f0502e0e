// SPDX-License-Identifier: Apache-2.0
//
// rig: a compiled program in a switch in memory, configured, for the benchmarks that hand it
// frames. Everything ends the process with a sentence on standard error when it fails.
#ifndef SILKEN_BENCH_RIG_H
#define SILKEN_BENCH_RIG_H

#include <jansson.h>
#include <stdbool.h>

#include "pipeline/ports/ports.h"

struct rig {
    struct sk_program *program;
    struct sk_switch *sw;
};

// 'path' below p4/, "switchml/switchml.p4"; 'scalar': compiled without vectors, ours and the C
// compiler's. The configuration (control/config/config.h) is consumed; devices in it are not
// opened.
struct rig rig_new(const char *path, bool scalar, json_t *configuration,
                   const struct sk_switch_options *options);
void rig_free(struct rig *rig);

void rig_give_up(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif
