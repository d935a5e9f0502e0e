// SPDX-License-Identifier: Apache-2.0
// fits: 1
// A hash of 32 bits in a field of 48: the other 16 bits do not come from the hash, and are not counted with it.
#include "../limits/common.p4"

INGRESS {
    Hash<bit<32>>(HashAlgorithm_t.CRC32) hash;
    action mark(bit<8> by) {
        hdr.ethernet.src = (bit<48>)hash.get({ hdr.ethernet.src, hdr.num.e });
        hdr.num.a = hdr.num.a + by;
    }
    table t {
        key = { hdr.num.b : exact; }
        actions = { mark; NoAction; }
        size = 64;
    }
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        t.apply();
    }
}

MAIN
