// SPDX-License-Identifier: Apache-2.0
// refused: stages
// A table for all the chip's SRAM: 12 stages of 80 blocks.
#include "common.p4"

#ifdef OVER
#define SIZE 1400000
#else
#define SIZE 400000
#endif

INGRESS {
    action set(bit<32> g, bit<32> h) {
        hdr.num.g = g;
        hdr.num.h = h;
    }
    table t { // here
        key = {
            hdr.num.e : exact;
            hdr.num.f : exact;
        }
        actions = { set; @defaultonly NoAction; }
        const default_action = NoAction;
        size = SIZE;
    }
    apply {
        t.apply();
    }
}

MAIN
