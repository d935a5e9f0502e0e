// SPDX-License-Identifier: Apache-2.0
// refused: default-hash
// A table without a key has a hit if nobody can change what it does: a random number needs one.
#include "common.p4"

INGRESS {
    Random<bit<16>>() random;
    action none() {
        hdr.num.c = 5;
    }
    action throw() { // here
        hdr.num.c = random.get();
    }
    table t {
#ifdef OVER
        actions = { none; throw; }
        default_action = none();
#else
        actions = { throw; }
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
