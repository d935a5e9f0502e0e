// SPDX-License-Identifier: Apache-2.0
// refused: compile no conditions
// A register of single bits sets, clears and reads; it has no conditions.
#include "common.p4"

INGRESS {
    Register<bit<1>, bit<16>>(65536) seen;
    RegisterAction<bit<1>, bit<16>, bit<1>>(seen) update = {
        void apply(inout bit<1> value, out bit<1> rv) {
            rv = value;
#ifdef OVER
            if (hdr.num.e == 3) { // here
                value = 1;
            }
#else
            value = 1;
#endif
        }
    };
    apply {
        hdr.num.a[0:0] = update.execute(hdr.num.c);
    }
}

MAIN
