// SPDX-License-Identifier: Apache-2.0
// refused: salu-phv-inputs
// A register action with three fields as operands, where a stateful ALU has two inputs.
#include "common.p4"

INGRESS {
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) update = {
        void apply(inout bit<32> value) {
            if (value == hdr.num.e) {
                value = hdr.num.f;
            } else {
#ifdef OVER
                value = hdr.num.g; // here
#else
                value = hdr.num.e;
#endif
            }
        }
    };
    apply {
        update.execute(hdr.num.b);
    }
}

MAIN
