// SPDX-License-Identifier: Apache-2.0
// refused: salu-statement has a return
// A register action ends at its end; to say so is refused, too.
#include "common.p4"

INGRESS {
    Register<bit<32>, bit<8>>(256) r;
    RegisterAction<bit<32>, bit<8>, bit<32>>(r) next = {
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = value;
            value = value + 1;
#ifdef OVER
            return; // here
#endif
        }
    };
    apply {
        hdr.num.e = next.execute(hdr.num.a);
    }
}

MAIN
