// SPDX-License-Identifier: Apache-2.0
// refused: compile one address
// A meter and a register in the actions of one table, which has one address for both.
#include "common.p4"

INGRESS {
    Meter<bit<8>>(256, MeterType_t.BYTES) meter;
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) count = {
        void apply(inout bit<32> value) {
            value = value + 1;
        }
    };
    action metered() { hdr.num.a = meter.execute(hdr.num.b); }
    action counted() { count.execute(hdr.num.b); } // here
    table t {
        key = { hdr.num.c : exact; }
        actions = { metered; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 64;
    }
    table u {
        key = { hdr.num.c : exact; }
        actions = { counted; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 64;
    }
    table both {
        key = { hdr.num.c : exact; }
        actions = { metered; counted; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 64;
    }
    apply {
#ifdef OVER
        both.apply();
#else
        t.apply();
        u.apply();
#endif
    }
}

MAIN
