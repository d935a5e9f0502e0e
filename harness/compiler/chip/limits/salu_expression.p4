// SPDX-License-Identifier: Apache-2.0
// refused: salu-operator
// Two additions in one assignment: an ALU does one.
#include "common.p4"

INGRESS {
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) update = {
        void apply(inout bit<32> value) {
#ifdef OVER
            value = value + hdr.num.e + hdr.num.f; // here
#else
            value = value + hdr.num.e;
#endif
        }
    };
    apply {
        update.execute(hdr.num.b);
    }
}

MAIN
