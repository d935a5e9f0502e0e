// SPDX-License-Identifier: Apache-2.0
// refused: stages
// A table for all the chip's TCAM: 12 stages of 24 blocks of 512 entries.
#include "common.p4"

#ifdef OVER
#define SIZE 148000
#else
#define SIZE 147456
#endif

INGRESS {
    action set(bit<8> a) { hdr.num.a = a; }
    table t { // here
        key = { hdr.num.e : ternary; }
        actions = { set; @defaultonly NoAction; }
        const default_action = NoAction;
        size = SIZE;
    }
    apply {
        t.apply();
    }
}

MAIN
