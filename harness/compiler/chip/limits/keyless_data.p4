// SPDX-License-Identifier: Apache-2.0
// refused: default-hash
// Nor may it have data, which could be changed.
#include "common.p4"

INGRESS {
    Random<bit<16>>() random;
#ifdef OVER
    action throw(bit<16> x) { // here
        hdr.num.d = x;
        hdr.num.c = random.get();
    }
#else
    action throw() {
        hdr.num.c = random.get();
    }
#endif
    table t {
        actions = { throw; }
#ifdef OVER
        default_action = throw(7);
#else
        default_action = throw();
#endif
        size = 1;
    }
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        t.apply();
    }
}

MAIN
