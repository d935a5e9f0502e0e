// SPDX-License-Identifier: Apache-2.0
// fits: 2
// warns: register-once
// Nobody reads the result of the first access, so that the second one does not wait for it.
#include "../limits/common.p4"

INGRESS {
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) write = {
        void apply(inout bit<32> value, out bit<32> result) {
            value = hdr.num.e;
            result = 1;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) read = {
        void apply(inout bit<32> value, out bit<32> result) {
            result = value;
        }
    };
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        if (hdr.num.b == 1)
            md.v = write.execute(hdr.num.a);
        if (hdr.num.c == 1) {
            md.v = read.execute(hdr.num.a);
            if (md.v == 1)
                hdr.num.g = 1;
        }
    }
}

MAIN
