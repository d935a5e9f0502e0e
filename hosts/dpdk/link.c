// SPDX-License-Identifier: Apache-2.0
//
// Apart from the module, which has no sk_transport_use_dpdk(): that is the library's.
#include "hosts/dpdk/dpdk.h"

void sk_dpdk_link(void) {
    sk_transport_use_dpdk(&silken_dpdk_module);
}
