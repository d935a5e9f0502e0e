// SPDX-License-Identifier: Apache-2.0
// refused: table-size
// The instruction memory has 32 rows of two for a gress and stage: 64 different actions of all its tables.
#include "common.p4"

#define ACTION(n)                                                                                  \
    action a##n(bit<32> p) { hdr.num.e = hdr.num.f ^ p; hdr.num.g = 1##n; }
#define NAME(n) a##n;

INGRESS {
    TIMES_16(ACTION, 0)
    TIMES_16(ACTION, 1)
    TIMES_16(ACTION, 2)
    TIMES_16(ACTION, 3)
    TIMES_16(ACTION, 4)
    table t { // here
        key = { hdr.num.a : exact; }
        actions = {
            TIMES_16(NAME, 0)
            TIMES_16(NAME, 1)
#ifdef OVER
            TIMES_16(NAME, 2)
            TIMES_16(NAME, 3)
            TIMES_16(NAME, 4)
#endif
        }
        size = 256;
    }
    apply {
        t.apply();
    }
}

MAIN
