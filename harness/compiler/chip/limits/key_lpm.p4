// SPDX-License-Identifier: Apache-2.0
// refused: compile lpm
// Two keys by longest prefix: which of two prefixes would be the longer?
#include "common.p4"

INGRESS {
    action set(bit<8> a) { hdr.num.a = a; }
    table t {
        key = {
            hdr.num.e : lpm;
#ifdef OVER
            hdr.num.f : lpm; // here
#else
            hdr.num.f : exact;
#endif
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
