// SPDX-License-Identifier: Apache-2.0
//
// instrument_impl: what the files of the room share. The interface is instrument.h.
#ifndef SILKEN_COMPILER_INSTRUMENT_INSTRUMENT_IMPL_H
#define SILKEN_COMPILER_INSTRUMENT_INSTRUMENT_IMPL_H

#include "compiler/instrument/instrument.h"

// ---- duplicate.c ----
// A gress like 'g' that may be changed: its list of variables, its blocks and statements, and what
// has blocks or refers to such (states, actions, tables, profiles, selectors, registers and their
// actions) are copies, with the same numbers. Variables, headers, expressions, entries' keys and
// other objects are shared.
struct ir_gress instrument_duplicate(struct arena *a, const struct ir_gress *g);

// ---- the checked build (checked.c) ----
struct ir_pipeline *instrument_checked(struct arena *a, const struct ir_pipeline *pl);

#endif
