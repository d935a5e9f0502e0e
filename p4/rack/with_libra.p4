/* SPDX-License-Identifier: Apache-2.0
 *
 * with_libra.p4: rack.p4 with p4/libra, which adds floats, in pipe 3, where else the ToR is.
 */
#define WITH_LIBRA
#include "rack.p4"
