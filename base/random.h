// SPDX-License-Identifier: Apache-2.0
//
// random.h: numbers that nobody can guess, from the kernel.
//
// Only what runs in real time takes them here, for session numbers and the secrets of hashes;
// switches and protocols get theirs as an argument, so that a run can be repeated. Any thread may
// call it.
#ifndef SILKEN_BASE_RANDOM_H
#define SILKEN_BASE_RANDOM_H

#include <stdint.h>

// Never 0.
uint64_t sk_random_secret(void);

#endif
