// SPDX-License-Identifier: Apache-2.0
// refused: compile cannot be mixed
// A key by longest prefix beside a ternary one.
#include "common.p4"

INGRESS {
    action set(bit<8> a) { hdr.num.a = a; }
    table t {
        key = {
#ifdef OVER
            hdr.num.e : lpm; // here
#else
            hdr.num.e : ternary;
#endif
            hdr.num.f : ternary;
        }
        actions = { set; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 64;
    }
    apply {
        t.apply();
    }
}

MAIN
