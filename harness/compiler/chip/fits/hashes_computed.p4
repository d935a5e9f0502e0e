// SPDX-License-Identifier: Apache-2.0
// fits: 1
// warns: action-stages
// An action hashes what it has computed: the chip's compiler takes that, and the chip hashes the old value.
#include "../limits/common.p4"

INGRESS {
    Hash<bit<16>>(HashAlgorithm_t.CRC16) hash;
    action both() {
        hdr.num.e = hdr.num.e + 1;
        hdr.num.d = hash.get({hdr.num.e});
    }
    table t {
        key = { hdr.num.c : exact; }
        actions = { both; NoAction; }
        const default_action = NoAction;
        size = 64;
    }
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        t.apply();
    }
}

MAIN
