// SPDX-License-Identifier: Apache-2.0
//
// stages: what the schema says of a chip's stages (compiler/describe/schema.h), taken from the
// model's report on the program.
#ifndef SILKEN_COMPILER_STAGES_H
#define SILKEN_COMPILER_STAGES_H

#include "compiler/chip/chip.h"
#include "compiler/describe/schema.h"

// Two for each pipeline of the report, ingress and egress, in memory of 'a', which may outlive the
// report. Null: the report has no placement.
const struct schema_stages *stages_of_report(struct arena *a, const struct chip_report *r);

#endif
