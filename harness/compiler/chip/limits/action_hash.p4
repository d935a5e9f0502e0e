// SPDX-License-Identifier: Apache-2.0
// refused: immediate-bits
// What an action takes from hashes, random numbers and meters comes the way of immediate data: 32 bits.
#include "common.p4"

INGRESS {
    Hash<bit<32>>(HashAlgorithm_t.CRC32) one;
    Hash<bit<32>>(HashAlgorithm_t.CRC32) two;
    action mix() { // here
        hdr.num.e = one.get({ hdr.num.a, hdr.num.b });
#ifdef OVER
        hdr.num.f = two.get({ hdr.num.a, hdr.num.c });
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
