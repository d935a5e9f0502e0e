// SPDX-License-Identifier: Apache-2.0
// fits: 2
// Two accesses of one register on two sides of a condition, one of which changes what is asked: the condition goes with
// no table that comes after it.
#include "../limits/common.p4"

INGRESS {
    Register<bit<32>, bit<8>>(256) cells;
    Register<bit<32>, bit<8>>(256) hits;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) read = {
        void apply(inout bit<32> value, out bit<32> result) {
            result = value;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) write = {
        void apply(inout bit<32> value) {
            value = hdr.num.g;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(hits) count = {
        void apply(inout bit<32> value) {
            value = value + 1;
        }
    };
    action get() {
        hdr.num.g = read.execute(hdr.num.a);
        hdr.num.e = hdr.num.f;
        hdr.num.f = md.v;
        hdr.num.b = 9;
    }
    action counted() {
        count.execute(hdr.num.a);
    }
    action put() {
        write.execute(hdr.num.a);
    }
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        md.v = hdr.num.e + 1;
        if (hdr.num.b == 1) {
            get();
            counted();
        } else {
            put();
        }
    }
}

MAIN
