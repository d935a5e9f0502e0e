// SPDX-License-Identifier: Apache-2.0
// refused: immediate-bits
// What @in_hash computes comes by the 32 bits of hashes, too.
#include "common.p4"

INGRESS {
    action both() {
        @in_hash { hdr.num.g = hdr.num.e ^ (hdr.num.f[15:0] ++ hdr.num.f[31:16]); } // here
#ifdef OVER
        @in_hash { hdr.num.h = hdr.num.f ^ (hdr.num.e[15:0] ++ hdr.num.e[31:16]); }
#endif
    }
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        both();
    }
}

MAIN
