// SPDX-License-Identifier: Apache-2.0
// refused: immediate-bits
// The hashes of all actions of a table come by the same 32 bits, whichever action runs.
#include "common.p4"

#ifdef OVER
#define BITS 32
#else
#define BITS 16
#endif

INGRESS {
    Hash<bit<16>>(HashAlgorithm_t.CRC16) first;
    Hash<bit<BITS>>(HashAlgorithm_t.CRC32) second;
    action one() {
        hdr.num.c = first.get({ hdr.num.e });
    }
    action two() {
        hdr.num.g[BITS - 1:0] = second.get({ hdr.num.f });
    }
    table t { // here
        key = { hdr.num.a : exact; }
        actions = { one; two; }
        size = 16;
    }
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        t.apply();
    }
}

MAIN
