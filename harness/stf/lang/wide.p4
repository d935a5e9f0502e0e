// SPDX-License-Identifier: Apache-2.0
//
// Values of more than 128 bits: arithmetic, comparisons, concatenation, slices, keys, action data,
// and fields that begin within a byte.
#include "frame.p4i"

header t_h {
    bit<8>   op;
    bit<3>   lead;
    bit<200> a;
    bit<200> b;
    bit<5>   tail;
}
struct headers_t { t_h t; }
struct metadata_t { bit<400> m; }

PARSER(
    state parse {
        pkt.extract(hdr.t);
        transition select(hdr.t.a) {
            200w0x77 &&& 200w0xff : marked;
            200w5 .. 200w9        : marked;
            default               : accept;
        }
    }
    state marked {
        hdr.t.lead = 7;
        transition accept;
    }
)

INGRESS {
    action set_b(bit<200> v) { hdr.t.b = v; }
    action mark() { hdr.t.tail = 1; }
    action add_it(bit<200> v) { hdr.t.b = hdr.t.b + v; }
    table exactly {
        key = { hdr.t.a : exact; }
        actions = { set_b; mark; }
        default_action = mark;
    }
    table masked {
        key = { md.m : ternary; }
        actions = { set_b; mark; NoAction; }
        const entries = {
            (400w0x55 << 392) &&& (400w0xff << 392) : set_b(200w1 << 199);
            400w3 &&& 400w3 : mark();
        }
        const default_action = NoAction;
    }
    table prefixes {
        key = { hdr.t.a : lpm; }
        actions = { add_it; NoAction; }
    }
    apply {
        ig_tm_md.ucast_egress_port = 1;
        bit<200> a = hdr.t.a;
        bit<200> b = hdr.t.b;
        switch (hdr.t.op) {
            0: { hdr.t.a = a + b; hdr.t.b = a - b; }
            1: { hdr.t.a = a & b; hdr.t.b = a ^ ~b; }
            2: { hdr.t.a = a << 67; hdr.t.b = b >> 67; }
            3: { hdr.t.tail = (bit<1>)(a < b) ++ (bit<1>)(a <= b) ++ (bit<1>)(a == b)
                              ++ (bit<1>)((int<200>)a < (int<200>)b) ++ (bit<1>)(a != b); }
            4: { md.m = a ++ b; hdr.t.a = md.m[299:100]; hdr.t.b[135:4] = md.m[140:9]; }
            5: { hdr.t.a = a |+| b; hdr.t.b = a |-| b; }
            6: { hdr.t.a = (bit<200>)((int<200>)a |+| (int<200>)b);
                 hdr.t.b = (bit<200>)((int<200>)a >> 150); }
            7: { hdr.t.a = a < b ? b : a; hdr.t.b = (bit<200>)(int<200>)(int<150>)b[149:0]; }
            8: { exactly.apply(); }
            9: { md.m = a ++ b; masked.apply(); }
            10: { hdr.t.a = -a; hdr.t.b = max(a, b); }
            11: { prefixes.apply(); }
            12: { switch (a) { 200w1: { hdr.t.b = 100; } 200w2 << 190: { hdr.t.b = 101; }
                               default: { hdr.t.b = 102; } } }
        }
    }
}

DEPARSER(pkt.emit(hdr.t);)
MAIN
