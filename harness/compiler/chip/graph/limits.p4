// SPDX-License-Identifier: Apache-2.0
// What an ALU and a gateway can do, and what they cannot. The chip's own compiler takes every statement that is
// marked with "taken", and refuses every other one, each tried alone.
#include "graph.inc"

control Ingress(inout headers_t hdr, inout metadata_t md, in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    action inverted() {
        hdr.h.d = ~(hdr.h.a | hdr.h.b); // taken
    }
    action masked() {
        hdr.h.d = hdr.h.a & ~hdr.h.b; // taken
    }
    action merged() {
        hdr.h.d = (hdr.h.a & 0xff) | (hdr.h.b & 0xff00); // taken
    }
    action larger() {
        hdr.h.d = max(hdr.h.a, hdr.h.b); // taken
    }
    action low() {
        hdr.h.e = hdr.h.a[15:0] + hdr.h.e; // taken
    }
    action cut() {
        hdr.h.e = (hdr.h.a + hdr.h.b)[15:0]; // taken
    }
    action limited() {
        hdr.h.e = hdr.h.e |+| 1; // taken
    }
    action shift_add() {
        hdr.h.d = (hdr.h.a << 3) + hdr.h.b;
    }
    action shift_or() {
        hdr.h.d = (hdr.h.a >> 5) | hdr.h.b;
    }
    action xor_and() {
        hdr.h.d = (hdr.h.a ^ hdr.h.b) & 0xffff0000;
    }
    action mask_add() {
        hdr.h.d = hdr.h.d + (hdr.h.a & 0xff);
    }
    action three() {
        hdr.h.d = hdr.h.a ^ hdr.h.b ^ hdr.h.c;
    }
    action choice() {
        hdr.h.d = hdr.h.a == 1 ? hdr.h.b : hdr.h.c;
    }
    action three_with_data(bit<32> x) {
        hdr.h.d = hdr.h.a + hdr.h.b + x;
    }
    action twice() {
        hdr.h.e = hdr.h.e + 1;
        hdr.h.f = hdr.h.e + 1;
    }
    action chooses(bit<32> x) {
        if (hdr.h.g == 1)
            hdr.h.d = x;
    }
    table t {
        key = { hdr.h.a : exact; }
        actions = { inverted; masked; merged; larger; low; cut; limited; shift_add; shift_or; xor_and; mask_add; three; choice;
                    three_with_data; twice; chooses; @defaultonly NoAction; }
        const default_action = NoAction();
        size = 64;
    }
    apply {
        if ((hdr.h.a & 0xff) == 3)                             // taken
            hdr.h.b = 1;
        if (hdr.h.a == hdr.h.b)                                // taken
            hdr.h.c = 1;
        if (hdr.h.a == 1 || hdr.h.b == 2)                      // taken
            hdr.h.c = 2;
        if (hdr.h.a == 1 && hdr.h.b == 2)
            hdr.h.c = 3;
        if (hdr.h.a > 12345)
            hdr.h.b = 2;
        if (hdr.h.g > 12)                                      // taken
            hdr.h.b = 3;
        if (hdr.h.e[3:0] < hdr.h.f[3:0])
            hdr.h.b = 4;
        if (hdr.h.e - hdr.h.f == 0)
            hdr.h.b = 5;
        if ((hdr.h.a & hdr.h.b) == 0)
            hdr.h.c = 4;
        switch (hdr.h.g) {
            1: { hdr.h.a = 1; }
            2: { hdr.h.a = 2; }
        }
        t.apply();
    }
}

#include "graph_rest.inc"
