// SPDX-License-Identifier: Apache-2.0
// Sizes of what the hardware puts in front of a packet.
#include <t2na.p4>
const bool a = static_assert(egress_intrinsic_metadata_t.minSizeInBits() == 224);
const bool b = static_assert(ingress_intrinsic_metadata_t.minSizeInBits() == 64);
const bool c = static_assert(ghost_intrinsic_metadata_t.minSizeInBits() == 32);
const bool d = static_assert(pktgen_timer_header_t.minSizeInBits() == 48);
const bool e = static_assert(pktgen_recirc_header_t.minSizeInBits() == 48);
const bool f = static_assert(pktgen_port_down_header_t.minSizeInBits() == 48);

// What a program may ask about its compiler.
#if COMPILER_VERSION < PACK_VERSION(9, 13, 0) || __p4c_major__ != 9
#error "the compiler's version"
#endif
