// SPDX-License-Identifier: Apache-2.0
//
// quantise_compare.h: does an implementation of the conversions give the scalar one's bits?
//
// Thousands of blocks of every length from 0 to 300, with any bit patterns for floats and those
// where conversions usually go wrong (NaN, infinities, denormals, the edges of 32-bit integers),
// all factors, and memory at any alignment; nothing past the end may be written. Fails the
// running cmocka test.
#ifndef SILKEN_HARNESS_HOSTS_CORE_QUANTISE_COMPARE_H
#define SILKEN_HARNESS_HOSTS_CORE_QUANTISE_COMPARE_H

#include "hosts/core/quantise.h"

void compare_with_scalar(const struct sk_quantise *v, uint64_t seed);

#endif
