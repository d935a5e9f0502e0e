// SPDX-License-Identifier: Apache-2.0
//
// annotations: walks a checked program and looks for [check] fields that were left empty.
#ifndef SILKEN_HARNESS_COMPILER_CHECK_ANNOTATIONS_H
#define SILKEN_HARNESS_COMPILER_CHECK_ANNOTATIONS_H

#include "compiler/check/types.h"

// Number of holes found; each is written to 'out' with its place.
unsigned missing_annotations(const struct diag *d, const struct program *p, FILE *out);

#endif
