// SPDX-License-Identifier: Apache-2.0
// fits: 3
// Of two exclusive accesses of one register the first waits for nothing, the second for two stages: the condition does
// not stand with the first one, for which both would then have to wait.
#include "../limits/common.p4"

INGRESS {
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) read = {
        void apply(inout bit<32> value, out bit<32> result) {
            result = value;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) write = {
        void apply(inout bit<32> value) {
            value = md.w;
        }
    };
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        if (hdr.num.b == 1) {
            hdr.num.g = read.execute(hdr.num.a);
        } else {
            md.v = min(hdr.num.e, hdr.num.f);
            md.w = min(md.v, hdr.num.g);
            write.execute(hdr.num.a);
        }
    }
}

MAIN
