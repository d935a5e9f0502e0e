// SPDX-License-Identifier: Apache-2.0
// refused: register-size
// The memory that one stateful ALU reaches: 35 RAMs of 4,096 words of 32 bits.
#include "common.p4"

#ifdef OVER
#define SIZE 143361
#else
#define SIZE 143360
#endif

INGRESS {
    Register<bit<32>, bit<32>>(SIZE) cells; // here
    RegisterAction<bit<32>, bit<32>, bit<32>>(cells) count = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value + 1;
            rv = value;
        }
    };
    apply {
        hdr.num.e = count.execute(hdr.num.f);
    }
}

MAIN
