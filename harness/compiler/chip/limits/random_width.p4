// SPDX-License-Identifier: Apache-2.0
// refused: immediate-bits
// A random number comes the way of immediate data, of 32 bits, also when it is taken apart behind that.
#include "common.p4"

INGRESS {
#ifdef OVER
    Random<bit<64>>() numbers;
#else
    Random<bit<32>>() numbers;
#endif
    apply {
#ifdef OVER
        bit<64> all = numbers.get(); // here
        hdr.num.e = all[63:32];
        hdr.num.f = all[31:0];
#else
        bit<32> all = numbers.get();
        hdr.num.c = all[31:16];
        hdr.num.d = all[15:0];
#endif
    }
}

MAIN
