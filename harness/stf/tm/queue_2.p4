/* SPDX-License-Identifier: Apache-2.0
 *
 * queue_2: queue for a Tofino 2.
 */
#define ARCHITECTURE
#include <t2na.p4>
#include "queue.p4"
