// SPDX-License-Identifier: Apache-2.0
// What becomes a unit: runs of statements, tables, conditions.
#include "graph.inc"

control Ingress(inout headers_t hdr, inout metadata_t md, in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    action send(bit<9> port) {
        ig_tm_md.ucast_egress_port = port;
    }
    action mark() {
        md.m = hdr.h.a;
    }
    table first {
        key = { hdr.h.a : exact; }
        actions = { send; mark; NoAction; }
        default_action = NoAction();
        size = 64;
    }
    table second {
        key = { md.m : exact; }
        actions = { send; }
        default_action = send(1);
        size = 64;
    }
    table third {
        key = { hdr.h.b : exact; }
        actions = { mark; NoAction; }
        default_action = NoAction();
        size = 64;
    }
    apply {
        // One table without a key: none reads what another wrote, and md.n is a copy.
        md.n = hdr.h.c;
        hdr.h.d = md.n;
        hdr.h.f = 7;
        // Its own, for it reads what the extern of another would not know: d.
        hdr.h.c = hdr.h.d + 1;
        hdr.h.c = hdr.h.c - hdr.h.a;
        // Nobody reads it.
        md.o = 5;
        switch (first.apply().action_run) {
            send: { third.apply(); }
            mark: { hdr.h.e = 1; }
        }
        if (hdr.h.g == 1 && hdr.h.i > 3) {
            second.apply();
        } else {
            hdr.h.g = 2;
        }
    }
}

#include "graph_rest.inc"
