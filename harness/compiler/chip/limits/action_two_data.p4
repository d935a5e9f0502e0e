// SPDX-License-Identifier: Apache-2.0
// refused: action-sources
// Two fields and a parameter in one instruction: an ALU takes one field and the parameter.
#include "common.p4"

INGRESS {
    action mix(bit<32> more) {
#ifdef OVER
        hdr.num.h = hdr.num.e + hdr.num.f + more; // here
#else
        hdr.num.h = hdr.num.e + more;
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
