// SPDX-License-Identifier: Apache-2.0
// fits: 1
// warns: register-once
// Two tables that a packet may both hit execute actions of one register: the chip's compiler asks whether they exclude
// each other only where they read() and write() it.
#include "../limits/common.p4"

INGRESS {
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) count = {
        void apply(inout bit<32> value, out bit<32> result) {
            result = value;
            value = value + 1;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) look = {
        void apply(inout bit<32> value, out bit<32> result) {
            result = value;
        }
    };
    action one() { hdr.num.e = count.execute(hdr.num.a); }
    action two() { hdr.num.f = look.execute(hdr.num.b); }
    table t {
        key = { hdr.num.c : exact; }
        actions = { one; NoAction; }
        const default_action = NoAction;
        size = 64;
    }
    table u {
        key = { hdr.num.d : exact; }
        actions = { two; NoAction; }
        const default_action = NoAction;
        size = 64;
    }
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        t.apply();
        u.apply();
    }
}

MAIN
