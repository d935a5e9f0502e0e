// SPDX-License-Identifier: Apache-2.0
// refused: default-hash
// The index of a register comes by a hash, and a hash with a hit only; a constant does not.
#include "common.p4"

#ifdef OVER
#define INDEX hdr.num.b
#else
#define INDEX 3
#endif

INGRESS {
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) count = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value + 1;
            rv = value;
        }
    };
    action none() {
        hdr.num.c = 5;
    }
    action counted() { // here
        hdr.num.e = count.execute(INDEX);
    }
    table t {
        key = { hdr.num.f : exact; }
        actions = { none; counted; }
        default_action = counted();
        size = 16;
    }
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        t.apply();
    }
}

MAIN
