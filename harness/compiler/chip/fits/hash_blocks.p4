// SPDX-License-Identifier: Apache-2.0
// fits: 2
// What @in_hash is written before is a table of its own: four of two slices of hash distribution take two stages, three
// and one; as one table they would find none that has so many.
#include "../limits/common.p4"

INGRESS {
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        @in_hash { hdr.num.e = hdr.num.e ^ (hdr.num.e[15:0] ++ hdr.num.e[31:16]); }
        @in_hash { hdr.num.f = hdr.num.f ^ (hdr.num.f[15:0] ++ hdr.num.f[31:16]); }
        @in_hash { hdr.num.g = hdr.num.g ^ (hdr.num.g[15:0] ++ hdr.num.g[31:16]); }
        @in_hash { hdr.num.h = hdr.num.h ^ (hdr.num.h[15:0] ++ hdr.num.h[31:16]); }
    }
}

MAIN
