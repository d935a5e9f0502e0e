// SPDX-License-Identifier: Apache-2.0
// Sizes of what the hardware puts in front of a packet.
#include <tna.p4>
const bool a = static_assert(egress_intrinsic_metadata_t.minSizeInBits() == 216);
const bool b = static_assert(ingress_intrinsic_metadata_t.minSizeInBits() == 64);
const bool d = static_assert(pktgen_timer_header_t.minSizeInBits() == 48);
const bool e = static_assert(pktgen_recirc_header_t.minSizeInBits() == 48);
const bool f = static_assert(pktgen_port_down_header_t.minSizeInBits() == 48);

// What a program may ask about its compiler.
#if !defined(__p4c__) || COMPILER_VERSION < PACK_VERSION(9, 13, 0) || COMPILER_VERSION >= PACK_VERSION(10, 0, 0)
#error "the compiler's version"
#endif
