// SPDX-License-Identifier: Apache-2.0
//
// Legal programs that are not covered: each use is refused where it stands.
#include "../golden/frame.p4i"

control Ingress(inout headers_t hdr, inout md_t md) {
    Register<bit<1>, bit<32>>(1024) alive;
    Hash<bit<14>>(HashAlgorithm_t.CRC16) hash;
    ActionProfile(16) members;
    ActionSelector(members, hash, SelectorMode_t.FAIR, alive, 8, 4) selector_of_bits;
    table selected {
        key = { hdr.num.a : selector; }
        actions = { NoAction; }
        implementation = selector_of_bits;
    }
    apply {
        selected.apply();
        hdr.num.s = hdr.num.s;
    }
}

MAIN
