// SPDX-License-Identifier: Apache-2.0
// doubted: register-stage
// Two registers, in one order on one way and in the other on another, where each result is the other's index:
// each would have to come behind the other.
#include "common.p4"

#define COUNT(name, of)                                                                            \
    RegisterAction<bit<16>, bit<16>, bit<16>>(of) name = {                                         \
        void apply(inout bit<16> value, out bit<16> rv) {                                          \
            value = value + 1;                                                                     \
            rv = value;                                                                            \
        }                                                                                          \
    };

INGRESS {
    Register<bit<16>, bit<16>>(1024) ones;
    Register<bit<16>, bit<16>>(1024) others;
    COUNT(count_one, ones)
    COUNT(count_other, others)

    apply {
        if (hdr.num.a == 1) {
            hdr.num.c = count_one.execute(hdr.num.d);
            hdr.num.c = count_other.execute(hdr.num.c);
        } else {
#ifdef OVER
            hdr.num.c = count_other.execute(hdr.num.d); // here
            hdr.num.c = count_one.execute(hdr.num.c); // here
#else
            hdr.num.c = count_one.execute(hdr.num.c);
            hdr.num.c = count_other.execute(hdr.num.c);
#endif
        }
    }
}

MAIN
