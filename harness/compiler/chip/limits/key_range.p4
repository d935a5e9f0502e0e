// SPDX-License-Identifier: Apache-2.0
// refused: range-key
// A range is matched by nibbles, of which a TCAM takes five: 20 bits.
#include "common.p4"

INGRESS {
    action set(bit<16> type) { hdr.ethernet.type = type; }
    table t {
        key = {
#ifdef OVER
            hdr.num.e : range; // here
#else
            hdr.num.c : range;
#endif
        }
        actions = { set; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 512;
    }
    apply {
        t.apply();
    }
}

MAIN
