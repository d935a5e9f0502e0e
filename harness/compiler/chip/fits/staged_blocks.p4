// SPDX-License-Identifier: Apache-2.0
// fits: 6
// @stage of a block asks for the stage of the statements and tables in it, the innermost one first.
#include "../limits/common.p4"

INGRESS {
    Register<bit<8>, bit<8>>(256) seen;
    RegisterAction<bit<8>, bit<8>, bit<8>>(seen) look = {
        void apply(inout bit<8> value, out bit<8> rv) {
            rv = value;
            value = 1;
        }
    };
    action take(bit<8> v) {
        hdr.num.b = v;
    }
    table late {
        key = { hdr.num.c : exact; }
        actions = { take; NoAction; }
        size = 64;
    }
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        @stage(2) {
            md.x = look.execute(hdr.num.a);
            @stage(3) {
                hdr.ethernet.src[7:0] = hdr.num.a;
            }
        }
        @stage(5) {
            late.apply();
        }
        hdr.ethernet.dst[7:0] = md.x;
    }
}

MAIN
