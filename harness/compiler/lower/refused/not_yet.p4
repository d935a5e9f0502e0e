// SPDX-License-Identifier: Apache-2.0
//
// Legal programs that are not covered: each use is refused where it stands.
#include "../golden/frame.p4i"

control Ingress(inout headers_t hdr, inout md_t md) {
    Lpf<int<32>, bit<32>>(16) of_signed;
    apply {
        hdr.num.s = of_signed.execute(hdr.num.s, 1);
    }
}

MAIN
