// SPDX-License-Identifier: Apache-2.0
// refused: action-sources
// Three fields in one instruction, which has two sources.
#include "common.p4"

INGRESS {
    action mix() {
#ifdef OVER
        hdr.num.h = hdr.num.e ^ hdr.num.f ^ hdr.num.g; // here
#else
        hdr.num.h = hdr.num.e ^ hdr.num.f;
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
