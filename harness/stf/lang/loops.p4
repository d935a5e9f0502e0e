// SPDX-License-Identifier: Apache-2.0
//
// Loops in all their forms: counted, with several counters, over ranges, lists and stacks, nested,
// left by break, exit and return, skipped by continue.
#include "frame.p4i"

header t_h {
    bit<8>  op;
    bit<8>  a;
    bit<8>  b;
    bit<32> r;
}
header item_h { bit<8> v; }
struct headers_t {
    t_h       t;
    item_h[4] s;
}
struct metadata_t { bit<8> n; }

PARSER(
    state parse {
        pkt.extract(hdr.t);
        pkt.extract(hdr.s.next);
        pkt.extract(hdr.s.next);
        pkt.extract(hdr.s.next);
        transition accept;
    }
)

// The position of the lowest bit that is set, 8 when none is.
bit<8> lowest(in bit<8> x) {
    for (bit<8> i in 8w0 .. 8w7) {
        if (x[0:0] == 1 && i == 0) return i;
        if (i == 1 && x[1:1] == 1) return i;
        if (i == 2 && x[i +: 1] == 1) return i;
        if (i > 2 && x[i +: 1] == 1) return i;
    }
    return 8;
}

INGRESS {
    bit<8> k;
    action count_bits(bit<8> extra) {
        bit<8> n = 0;
        for (bit<4> i = 0; i < 8; i += 1)
            n = n + (bit<8>)hdr.t.a[i +: 1];
        hdr.t.r = (bit<32>)(n + extra);
    }
    table counting {
        key = { hdr.t.op : exact; }
        actions = { count_bits; }
        const entries = { 5 : count_bits(16); }
        const default_action = count_bits(0);
    }
    apply {
        ig_tm_md.ucast_egress_port = 1;
        if (hdr.t.op == 0) { // 1 + 2 + ... + 10
            for (bit<32> i = 1; i <= 10; i = i + 1)
                hdr.t.r = hdr.t.r + i;
        } else if (hdr.t.op == 1) { // two counters, and the variable afterwards
            bit<32> j;
            for (j = 100, bit<32> i = 0; i < 4; i += 1, j -= 10)
                hdr.t.r = hdr.t.r + j;
            hdr.t.a = (bit<8>)j;
        } else if (hdr.t.op == 2) { // at most a rounds, by a condition on the packet
            for (bit<8> i = 0; i < 5 && i < hdr.t.a; i += 1)
                hdr.t.r = hdr.t.r + 1;
        } else if (hdr.t.op == 3) { // continue and break
            for (bit<8> i = 0; i < 8; i += 1) {
                if (i[0:0] == 1) continue;
                if (i == hdr.t.a) break;
                hdr.t.r = hdr.t.r << 4 | (bit<32>)i;
            }
        } else if (hdr.t.op == 4) { // nested; break leaves the inner one only
            for (bit<8> i in 8w1 .. 8w3) {
                for (bit<8> j in 8w1 .. 8w9) {
                    if (j == i) break;
                    hdr.t.r = hdr.t.r + 1;
                }
                hdr.t.r = hdr.t.r + 16;
            }
        } else if (hdr.t.op == 5 || hdr.t.op == 6) {
            counting.apply();
        } else if (hdr.t.op == 7) { // over a stack; the variable is a copy
            for (item_h h in hdr.s) {
                if (h.isValid()) {
                    hdr.t.r = hdr.t.r + (bit<32>)h.v;
                    h.v = 0xff;
                    hdr.s[0].v = 0x80;
                }
            }
        } else if (hdr.t.op == 8) { // over a list
            for (bit<8> x in (list<bit<8>>){hdr.t.a, 3, hdr.t.b})
                hdr.t.r = hdr.t.r << 8 | (bit<32>)x;
        } else if (hdr.t.op == 9) { // elements by number
            for (bit<2> i = 0; i < 3; i += 1) {
                hdr.s[i].v = hdr.s[i].v + 1;
                hdr.t.r[i +: 1] = 1;
            }
        } else if (hdr.t.op == 10) {
            hdr.t.r = (bit<32>)lowest(hdr.t.a);
        } else if (hdr.t.op == 11) {
            for (bit<8> i = 0; i < 8; i += 1) {
                hdr.t.r = hdr.t.r + 1;
                if (i == hdr.t.a) exit;
            }
            hdr.t.r = 0xffffffff;
        } else if (hdr.t.op == 12) { // backwards, through the end of the counter's range
            for (int<8> i = 2; i >= -2; i -= 1)
                hdr.t.r = hdr.t.r << 4 | (bit<32>)(bit<4>)(bit<8>)i;
        } else if (hdr.t.op == 13) { // never
            for (bit<8> i = 3; i < 3; i += 1)
                hdr.t.r = 1;
        }
    }
}

DEPARSER(pkt.emit(hdr.t); pkt.emit(hdr.s);)
MAIN
