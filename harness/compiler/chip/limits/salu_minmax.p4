// SPDX-License-Identifier: Apache-2.0
// refused: salu-pair
// A maximum is a new value of a word; of two words that are both in use none is left for the result alone.
#include "common.p4"

struct pair_t {
    bit<32> first;
    bit<32> second;
}

INGRESS {
    Register<pair_t, bit<8>>(256) cells;
    RegisterAction<pair_t, bit<8>, bit<32>>(cells) update = {
        void apply(inout pair_t value, out bit<32> rv) {
            value.second = value.second + 1;
#ifdef OVER
            rv = max(value.first, hdr.num.e); // here
#else
            value.first = max(value.first, hdr.num.e);
            rv = value.first;
#endif
        }
    };
    apply {
        hdr.num.f = update.execute(hdr.num.b);
    }
}

MAIN
