// SPDX-License-Identifier: Apache-2.0
// What the actions of one table may have attached, indexes, reads and writes.
#include <core.p4>
#include <tna.p4>
#include "salu.inc"

control Ingress(inout headers hdr, inout metadata md, in ingress_intrinsic_metadata_t im,
                in ingress_intrinsic_metadata_from_parser_t pm, inout ingress_intrinsic_metadata_for_deparser_t dm,
                inout ingress_intrinsic_metadata_for_tm_t tm) {
    // inside: two registers at one index
    Register<bit<32>, bit<10>>(1024) a0;
    Register<bit<32>, bit<10>>(1024) a1;
    action both() { hdr.h.r = a0.read(hdr.h.idx[9:0]); a1.write(hdr.h.idx[9:0], hdr.h.a); }
    table same { key = { hdr.h.k : exact; } actions = { both; } size = 16; }
    // outside: at two
    Register<bit<32>, bit<10>>(1024) b0;
    Register<bit<32>, bit<10>>(1024) b1;
    action two() { hdr.h.r = b0.read(hdr.h.idx[9:0]); b1.write(hdr.h.idx[19:10], hdr.h.a); }
    table indexes { key = { hdr.h.k : exact; } actions = { two; } size = 16; }
    // outside: of two widths
    Register<bit<32>, bit<10>>(1024) c0;
    Register<bit<16>, bit<10>>(1024) c1;
    action wide() { hdr.h.r = c0.read(hdr.h.idx[9:0]); c1.write(hdr.h.idx[9:0], hdr.h.e); }
    table widths { key = { hdr.h.k : exact; } actions = { wide; } size = 16; }
    // outside: each in one action
    Register<bit<32>, bit<10>>(1024) d0;
    Register<bit<32>, bit<10>>(1024) d1;
    action first() { hdr.h.r = d0.read(hdr.h.idx[9:0]); }
    action second() { d1.write(hdr.h.idx[9:0], hdr.h.a); }
    table apart { key = { hdr.h.k : exact; } actions = { first; second; } size = 16; }
    // outside: indexes from the entry and from PHV
    Register<bit<32>, bit<10>>(1024) e0;
    action by_field() { hdr.h.r = e0.read(hdr.h.idx[9:0]); }
    action by_data(bit<10> i) { e0.write(i, hdr.h.a); }
    table mixed { key = { hdr.h.k : exact; } actions = { by_field; by_data; } size = 16; }
    // inside: constants and data
    Register<bit<32>, bit<10>>(1024) f0;
    action by_constant() { hdr.h.r = f0.read(3); }
    action by_entry(bit<10> i) { f0.write(i, hdr.h.a); }
    table entries_only { key = { hdr.h.k : exact; } actions = { by_constant; by_entry; } size = 16; }
    // outside: five reads and writes
    Register<bit<32>, bit<10>>(1024) g0;
    action w1() { g0.write(hdr.h.idx[9:0], 1); }
    action w2() { g0.write(hdr.h.idx[9:0], 2); }
    action w3() { g0.write(hdr.h.idx[9:0], 3); }
    action w4() { g0.write(hdr.h.idx[9:0], 4); }
    action w5() { g0.write(hdr.h.idx[9:0], 5); }
    table five { key = { hdr.h.k : exact; } actions = { w1; w2; w3; w4; w5; } size = 16; }
    // outside: two results in one action
    Register<bit<32>, bit<10>>(1024) l0;
    Register<bit<32>, bit<10>>(1024) l1;
    action results() { hdr.h.r = l0.read(hdr.h.idx[9:0]); hdr.h.d = l1.read(hdr.h.idx[9:0]); }
    table outputs { key = { hdr.h.k : exact; } actions = { results; } size = 16; }
    // outside: action data stored
    Register<bit<32>, bit<10>>(1024) m0;
    action store(bit<32> v) { m0.write(3, v); }
    table stored { key = { hdr.h.k : exact; } actions = { store; } size = 16; }
    // outside: what the action computes is an operand; inside: an index that is a copy
    Register<bit<32>, bit<10>>(1024) n0;
    Register<bit<32>, bit<10>>(1024) n1;
    RegisterAction<bit<32>, bit<10>, bit<32>>(n0) n0_action = {
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = value;
            value = md.m;
        }
    };
    action computed() { md.m = hdr.h.a + 1; hdr.h.r = n0_action.execute(hdr.h.idx[9:0]); }
    table computes { key = { hdr.h.k : exact; } actions = { computed; } size = 16; }
    action copied() { md.n = hdr.h.idx; hdr.h.r = n1.read(md.n[9:0]); }
    table copies { key = { hdr.h.k : exact; } actions = { copied; } size = 16; }
    // outside: PHV gives the index, and no entry says which action runs
    Register<bit<32>, bit<10>>(1024) o0;
    action counted() { hdr.h.r = o0.read(hdr.h.idx[9:0]); }
    action not_counted() {}
    table keyless { actions = { counted; not_counted; } default_action = not_counted; size = 1; }
    Register<bit<32>, bit<10>>(1024) h0;
    Register<bit<32>, bit<10>>(1024) i0;
    Register<bit<32>, bit<10>>(1024) j0;
    Register<bit<32>, bit<10>>(1024) k0;
    apply {
        tm.ucast_egress_port = 1;
        same.apply();
        indexes.apply();
        widths.apply();
        apart.apply();
        mixed.apply();
        entries_only.apply();
        five.apply();
        outputs.apply();
        stored.apply();
        computes.apply();
        copies.apply();
        keyless.apply();
        // inside: read, then written
        hdr.h.c = h0.read(hdr.h.idx[9:0]);
        h0.write(hdr.h.idx[9:0], hdr.h.c + 1);
        // outside: written, then read
        i0.write(hdr.h.idx[9:0], hdr.h.c);
        hdr.h.d = i0.read(hdr.h.idx[9:0]);
        // outside: a computed index
        hdr.h.r = j0.read(hdr.h.idx[9:0] + 1);
        // outside: two PHV fields added
        k0.write(hdr.h.idx[9:0], hdr.h.a + hdr.h.b);
    }
}

#include "salu_rest.inc"
