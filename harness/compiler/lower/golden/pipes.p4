// SPDX-License-Identifier: Apache-2.0
//
// Two pipelines: each has objects of its own, also of controls they share.
#define MAIN
#include "frame.p4i"
#undef MAIN

control Common(inout headers_t hdr)(bit<8> n) {
    Register<bit<8>, bit<8>>(16) cells;
    apply {
        cells.write(hdr.num.a, n);
    }
}

control IngressA(inout headers_t hdr, inout md_t md) {
    Common(1) common;
    apply {
        common.apply(hdr);
    }
}

control IngressB(inout headers_t hdr, inout md_t md)(bit<8> n) {
    Common(n) common;
    apply {
        common.apply(hdr);
    }
}

Pipeline(IngressParser(), IngressA(), IngressDeparser(), EgressParser(), Egress(),
         EgressDeparser()) pipe_a;
Pipeline(IngressParser(), IngressB(2), IngressDeparser(), EgressParser(), Egress(),
         EgressDeparser()) pipe_b;
Switch(pipe_a, pipe_b) main;
