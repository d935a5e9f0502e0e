// SPDX-License-Identifier: Apache-2.0
// fits: 2
// Parts of a hash that overlap: 48 bits go to fields, but 32 come from the hash.
#include "../limits/common.p4"

INGRESS {
    Hash<bit<32>>(HashAlgorithm_t.CRC32) first;
    action parts() {
        bit<32> hash = first.get({hdr.num.e});
        hdr.num.c = hash[31:16];
        hdr.num.d = hash[15:0];
        md.z = hash[15:0];
    }
    action found(bit<8> v) { hdr.num.a = v; }
    table t {
        key = { md.z : exact; }
        actions = { found; NoAction; }
        const default_action = NoAction;
        size = 64;
    }
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        parts();
        t.apply();
    }
}

MAIN
