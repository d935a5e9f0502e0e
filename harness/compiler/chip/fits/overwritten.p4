// SPDX-License-Identifier: Apache-2.0
// fits: 2
// A register action that writes a metadata field: the result of each execution goes to the same field, so that the
// statement is left out.
#include "../limits/common.p4"

INGRESS {
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) count = {
        void apply(inout bit<32> value, out bit<32> result) {
            value = value + 1;
            result = value;
            md.v = value;
        }
    };
    action by_a() {
        md.v = count.execute(hdr.num.a);
    }
    action by_b() {
        md.v = count.execute(hdr.num.b);
    }
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        if (hdr.num.c == 1)
            by_a();
        else
            by_b();
        hdr.num.f = md.v;
    }
}

MAIN
