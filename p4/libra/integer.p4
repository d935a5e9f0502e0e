/* SPDX-License-Identifier: Apache-2.0
 *
 * integer.p4: libra.p4 with sums of 32-bit integers, which are exact.
 */
#define LIBRA_INTEGERS
#include "libra.p4"
