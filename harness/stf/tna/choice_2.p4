/* SPDX-License-Identifier: Apache-2.0
 *
 * choice_2: choice for a Tofino 2.
 */
#define ARCHITECTURE
#include <t2na.p4>
#include "choice.p4"
