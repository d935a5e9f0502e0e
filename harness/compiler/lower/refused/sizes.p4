// SPDX-License-Identifier: Apache-2.0
//
// Tables and registers of a size that no machine holds.
#include "../golden/frame.p4i"

control Ingress(inout headers_t hdr, inout md_t md) {
    Register<bit<32>, bit<32>>(0x100000000) cells;
    action read() { md.x = (bit<8>)cells.read(1); }
    table t {
        key = { hdr.num.a : exact; }
        actions = { NoAction; }
        size = 0x100000000;
    }
    table u {
        key = { hdr.num.a : exact; }
        actions = { read; NoAction; }
        size = 0xffffffff;
    }
    apply {
        t.apply();
        u.apply();
    }
}

MAIN
