// SPDX-License-Identifier: Apache-2.0
// refused: action-condition
// An `if` on a field inside of an action; the twin asks outside.
#include "common.p4"

INGRESS {
    action choose() {
#ifdef OVER
        if (hdr.num.b == 3) { // here
            hdr.num.e = hdr.num.f;
        }
#else
        hdr.num.e = hdr.num.f;
#endif
    }
    table t {
        key = { hdr.num.a : exact; }
        actions = { choose; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 16;
    }
    apply {
        t.apply();
    }
}

MAIN
