/* SPDX-License-Identifier: Apache-2.0
 *
 * roce_by_cards.p4: p4/switchml/with_roce.p4 where the cards of the ports check and make the invariant CRC.
 */
#define WITH_ROCE
#define CRC_BY_CARDS
#include "../p4/switchml/switchml.p4"
