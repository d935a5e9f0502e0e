// SPDX-License-Identifier: Apache-2.0
// fits: 1
// What is added comes from the hash matrix where @in_hash asks for that: no second operation, and no container of
// the other one's size.
#include "../limits/common.p4"

INGRESS {
    action add_masked() {
        @in_hash { hdr.num.e = hdr.num.e + (hdr.num.f ^ (hdr.num.g & 0xaa77aa77)); }
    }
    action add_joined() {
        @in_hash {
            hdr.num.h = hdr.num.h + (6w2 ++ hdr.ethernet.type[15:5] ++ 5w0 ++ hdr.ethernet.dst[4:0] ++ 5w1);
        }
    }
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        add_masked();
        add_joined();
    }
}

MAIN
