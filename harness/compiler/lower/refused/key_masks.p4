// SPDX-License-Identifier: Apache-2.0
//
// Key masks where the chip has none.
#include "../golden/frame.p4i"

control Ingress(inout headers_t hdr, inout md_t md) {
    Hash<bit<16>>(HashAlgorithm_t.CRC16) hash;
    @dynamic_table_key_masks(1)
    table t {
        key = { hdr.num.a : exact; hdr.num.b : ternary; }
        actions = { NoAction; }
    }
    @dynamic_table_key_masks
    table u {
        key = { hdr.num.a : exact; }
        actions = { NoAction; }
    }
    @dynamic_table_key_masks(2)
    table v {
        key = { hdr.num.a : exact; }
        actions = { NoAction; }
    }
    @dynamic_table_key_masks(1)
    table w {
        key = { hdr.num.a : exact; }
        actions = { NoAction; }
        proxy_hash = hash;
    }
    apply {
        t.apply();
        u.apply();
        v.apply();
        w.apply();
    }
}

MAIN
