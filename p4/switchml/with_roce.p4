/* SPDX-License-Identifier: Apache-2.0
 *
 * with_roce.p4: switchml.p4 for workers that write their elements by RoCEv2, beside those that send them by UDP.
 */
#define WITH_ROCE
#include "switchml.p4"
