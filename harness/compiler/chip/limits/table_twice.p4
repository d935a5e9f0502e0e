// SPDX-License-Identifier: Apache-2.0
// refused: compile at most once
// A table applied twice on one way.
#include "common.p4"

INGRESS {
    action set(bit<8> a) { hdr.num.a = a; }
    table t {
        key = { hdr.num.b : exact; }
        actions = { set; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 64;
    }
    apply {
        if (hdr.num.c == 1) {
            t.apply();
#ifdef OVER
        }
        if (hdr.num.c == 2) {
#else
        } else if (hdr.num.c == 2) {
#endif
            t.apply(); // here
        }
    }
}

MAIN
