// SPDX-License-Identifier: Apache-2.0
// refused: register-once
// A register in the actions of two tables; the twin applies one or the other.
#include "common.p4"

INGRESS {
    Register<bit<16>, bit<16>>(1024) cells;

    action first() { cells.write(hdr.num.d, hdr.num.c); }
    action second() { hdr.num.d = cells.read(hdr.num.c); } // here
    table t {
        key = { hdr.num.a : exact; }
        actions = { first; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 64;
    }
    table u {
        key = { hdr.num.b : exact; }
        actions = { second; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 64;
    }
    apply {
#ifdef OVER
        t.apply();
        u.apply();
#else
        if (hdr.num.e == 5) {
            t.apply();
        } else {
            u.apply();
        }
#endif
    }
}

MAIN
