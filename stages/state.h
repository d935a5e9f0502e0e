// SPDX-License-Identifier: Apache-2.0
//
// state: memory for a pipe's registers, counters and table pointers.
#ifndef SILKEN_STAGES_STATE_H
#define SILKEN_STAGES_STATE_H

#include <stddef.h>

// Zeroed and touched, so that no packet pays for a page fault; in huge pages where the system
// gives them. Null when memory is short: nothing is taken that the system would have to swap for.
void *sk_state_alloc(size_t bytes);
void sk_state_free(void *state);

#endif
