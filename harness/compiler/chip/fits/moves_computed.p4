// SPDX-License-Identifier: Apache-2.0
// fits: 1
// warns: action-stages
// An action moves what it has computed: the chip's compiler takes that, and the chip moves the old value.
#include "../limits/common.p4"

INGRESS {
    action both() {
        hdr.num.e = hdr.num.e + 1;
        hdr.num.a = hdr.num.e[15:8];
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
