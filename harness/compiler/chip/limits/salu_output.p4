// SPDX-License-Identifier: Apache-2.0
// refused: salu-pair
// What a register action returns is a word of the memory, before or after, not something computed for it.
#include "common.p4"

struct pair_t {
    bit<32> first;
    bit<32> second;
}

INGRESS {
    Register<pair_t, bit<8>>(256) cells;
    RegisterAction<pair_t, bit<8>, bit<32>>(cells) update = {
        void apply(inout pair_t value, out bit<32> rv) {
            value.first = value.first + 1;
            value.second = value.second + hdr.num.e;
#ifdef OVER
            rv = value.first + hdr.num.e; // here
#else
            rv = value.first;
#endif
        }
    };
    apply {
        hdr.num.f = update.execute(hdr.num.b);
    }
}

MAIN
