// SPDX-License-Identifier: Apache-2.0
// refused: default-hash
// A hash comes with a hit only, so that the default action of a table with a key cannot take one.
#include "common.p4"

INGRESS {
    Hash<bit<16>>(HashAlgorithm_t.CRC16) crc;
    action none() {
        hdr.num.c = 5;
    }
    action hash() { // here
        hdr.num.c = crc.get({ hdr.num.e });
    }
    table t {
        key = { hdr.num.f : exact; }
        actions = { none; hash; }
#ifdef OVER
        default_action = hash();
#else
        default_action = none();
#endif
        size = 16;
    }
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        t.apply();
    }
}

MAIN
