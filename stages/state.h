// SPDX-License-Identifier: Apache-2.0
//
// state: memory for a pipe's registers, counters and table pointers.
#ifndef SILKEN_STAGES_STATE_H
#define SILKEN_STAGES_STATE_H

#include <stddef.h>

#pragma GCC visibility push(default) // compiled programs call these

// Zeroed and touched, so that no packet pays for a page fault; in huge pages where the system
// gives them. Null when memory is short: nothing is taken that the system would have to swap for.
void *sk_state_alloc(size_t bytes);
void sk_state_free(void *state);
// From now on state is zeroed but not touched, and comes when it is used: in small pages for who
// makes and frees many switches and uses little of each, in huge ones for who does not want to wait
// for all of what one switch could use. To be said before any switch is made, and no more.
enum sk_state_pages { SK_STATE_SMALL_PAGES = 1, SK_STATE_HUGE_PAGES };
void sk_state_lazily(enum sk_state_pages pages);

#pragma GCC visibility pop

#endif
