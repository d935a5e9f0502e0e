// SPDX-License-Identifier: Apache-2.0
// fits: 4
// The upper bits of a number that is widened are zero from the beginning: the statement that sets them is joined with
// the execution before it, but nobody waits for that.
#include "../limits/common.p4"

INGRESS {
    Register<bit<32>, bit<8>>(256) cells;
    Register<bit<32>, bit<8>>(256) others;
    RegisterAction<bit<32>, bit<8>, void>(cells) add = {
        void apply(inout bit<32> value) {
            value = value + md.w;
        }
    };
    RegisterAction<bit<32>, bit<8>, void>(others) add_other = {
        void apply(inout bit<32> value) {
            value = value + md.v;
        }
    };
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        bit<32> one = (bit<32>)hdr.num.a;
        one = one << 3;
        md.w = one;
        add.execute(hdr.num.b);
        bit<32> two = (bit<32>)hdr.num.b;
        two = two << 3;
        md.v = two;
        add_other.execute(hdr.num.a);
    }
}

MAIN
