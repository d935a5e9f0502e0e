// SPDX-License-Identifier: Apache-2.0
// Every pair of accesses that a packet can meet, with the way that leads from the first to the second.
#include <core.p4>
#include <tna.p4>
#include "salu.inc"

control Again(inout bit<32> x, in bit<32> y)(bit<32> which) {
    Register<bit<32>, bit<1>>(2) own;
    apply {
        if (y == which)
            x = own.read(0);
    }
}

control Ingress(inout headers hdr, inout metadata md, in ingress_intrinsic_metadata_t im,
                in ingress_intrinsic_metadata_from_parser_t pm, inout ingress_intrinsic_metadata_for_deparser_t dm,
                inout ingress_intrinsic_metadata_for_tm_t tm) {
    Register<bit<32>, bit<10>>(1024) thrice; // five pairs
    Register<bit<32>, bit<10>>(1024) apart;  // none
    Register<bit<32>, bit<10>>(1024) leaves; // the way past an exit
    Register<bit<32>, bit<10>>(1024) tabled;
    Counter<bit<32>, bit<10>>(1024, CounterType_t.PACKETS) counted;
    Again(7) again;
    action get() { md.m = tabled.read(1); }
    action put(bit<32> v) { tabled.write(1, v); }
    action none() {}
    table first { key = { hdr.h.a : exact; } actions = { get; none; } default_action = none; size = 16; }
    table second { key = { hdr.h.b : exact; } actions = { put; none; } default_action = none; size = 16; }
    apply {
        tm.ucast_egress_port = 1;
        if (hdr.h.a == 1)
            hdr.h.r = thrice.read(0);
        if (hdr.h.b == 2)
            thrice.write(0, 1);
        else if (hdr.h.c == 3)
            thrice.write(0, 2);
        hdr.h.b = thrice.read(0);

        if (hdr.h.a == 1)
            hdr.h.r = apart.read(0);
        else
            apart.write(0, 1);

        if (hdr.h.d == 4)
            leaves.write(0, 1);
        if (hdr.h.i == 5)
            exit;
        leaves.write(0, 2);

        if (first.apply().hit)
            counted.count(1);
        switch (second.apply().action_run) {
            put: { counted.count(2); }
            default: { md.n = 1; }
        }
        again.apply(md.m, hdr.h.a);
        again.apply(md.n, hdr.h.c);
    }
}

#include "salu_rest.inc"
