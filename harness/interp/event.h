// SPDX-License-Identifier: Apache-2.0
//
// event: what a compiled program tells an observer (pipeline/trace.h), as the text that the
// interpreter has for the same (interp.h, interp_on_event): two that agree are equal.
#ifndef SILKEN_HARNESS_EVENT_H
#define SILKEN_HARNESS_EVENT_H

#include "compiler/base/arena.h"
#include "pipeline/trace.h"

// Without its place. Not of a violation. The text lives in 'a'.
const char *event_text(struct arena *a, const struct sk_event *e);

#endif
