// SPDX-License-Identifier: Apache-2.0
// refused: stages
// Entries of 176 bits take four of a stage's TCAM blocks for every 512 of them.
#include "common.p4"

#ifdef OVER
#define SIZE 37376
#else
#define SIZE 24576
#endif

INGRESS {
    action set(bit<8> a) { hdr.num.a = a; }
    table t { // here
        key = {
            hdr.num.e        : ternary;
            hdr.num.f        : ternary;
            hdr.num.g        : ternary;
            hdr.num.h        : ternary;
            hdr.ethernet.dst : ternary;
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
