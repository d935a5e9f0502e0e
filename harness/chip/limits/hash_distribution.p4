// SPDX-License-Identifier: Apache-2.0
// refused: hash-distribution
// Results of hashes reach an action through six slices of 16 bits: 96 bits of them, not 128.
#include "common.p4"

INGRESS {
    Hash<bit<32>>(HashAlgorithm_t.CRC32) one;
    Hash<bit<32>>(HashAlgorithm_t.CRC32) two;
    Hash<bit<32>>(HashAlgorithm_t.CRC32) three;
    Hash<bit<32>>(HashAlgorithm_t.CRC32) four;
    action mix() { // here
        hdr.num.e = one.get({ hdr.num.a, hdr.num.b });
        hdr.num.f = two.get({ hdr.num.a, hdr.num.c });
        hdr.num.g = three.get({ hdr.num.a, hdr.num.d });
#ifdef OVER
        hdr.num.h = four.get({ hdr.num.b, hdr.num.c });
#endif
    }
    table t {
        key = { hdr.num.a : exact; }
        actions = { mix; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 64;
    }
    apply {
        t.apply();
    }
}

MAIN
