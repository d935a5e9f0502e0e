// SPDX-License-Identifier: Apache-2.0
//
// Control flow: switch on action_run and on values, hit and miss, exit and return from nested
// places, controls and parsers in others with state of their own, value sets of structs, priorities.
#include "frame.p4i"

header t_h {
    bit<8>  op;
    bit<8>  a;
    int<8>  s;
    bit<16> r;
}
header item_h { bit<8> v; }
struct row_t { item_h[3] s; }
struct headers_t {
    t_h      t;
    item_h   x;
    item_h   y;
    row_t[2] rows;
}
struct metadata_t { bit<8> n; bool odd; }
struct key_t { bit<8> op; bit<8> a; }

// Takes one item; with state of its own that begins anew at every application.
parser Item(packet_in pkt, out item_h item, inout bit<8> n)(bit<8> step) {
    bit<8> mine = 1;
    state start {
        mine = mine + step;
        pkt.extract(item);
        n = n + mine;
        transition select(item.v) {
            0xff    : reject;
            default : accept;
        }
    }
}

parser Rows(packet_in pkt, inout headers_t hdr) {
    state start {
        pkt.extract(hdr.rows[0].s.next);
        pkt.extract(hdr.rows[1].s.next);
        pkt.extract(hdr.rows[1].s.next);
        transition accept;
    }
}

PARSER(
    Item(1) first;
    Item(5) second;
    value_set<key_t>(4) special;
    state parse {
        pkt.extract(hdr.t);
        md.n = 0;
        transition select(hdr.t.op, hdr.t.a) {
            special             : marked;
            (0x20 .. 0x2f, _)   : items;
            (0x30, 1 &&& 1)     : odd;
            (0x30, _)           : accept;
            (0x40, _)           : rows;
            default             : accept;
        }
    }
    state marked { md.n = 0xee; transition accept; }
    state odd { md.odd = true; transition accept; }
    state items {
        first.apply(pkt, hdr.x, md.n);
        second.apply(pkt, hdr.y, md.n);
        transition accept;
    }
    state rows {
        Rows.apply(pkt, hdr);
        transition accept;
    }
)

control Count(inout bit<16> r)(bit<16> by) {
    bit<16> mine = by;
    action more() { mine = mine + 1; }
    table steps {
        key = { r : exact; }
        actions = { more; NoAction; }
        const entries = { 16w5 : more(); }
    }
    apply {
        steps.apply();
        r = r + mine;
        if (r == 0x99) return;
        r = r + 0x100;
    }
}

control Ends(inout bit<16> r, in bit<8> a) {
    action stop(inout bit<16> where) {
        where = 0x1234;
        exit;
    }
    apply {
        r = 1;
        if (a == 1) {
            stop(r);
        }
        r = 2;
        if (a == 2) {
            exit;
        }
        r = 3;
    }
}

bit<16> sorted(in bit<8> a) {
    if (a < 10) {
        if (a < 5) {
            return 1;
        }
        return 2;
    } else if (a == 10) {
        return 3;
    }
    return 4;
}

INGRESS {
    Count(0x10) ten;
    Count(0x20) twenty;
    Ends() ends;
    action set_r(bit<16> v) { hdr.t.r = v; }
    action twice() { hdr.t.r = hdr.t.r + hdr.t.r; }
    action thrice() { hdr.t.r = (bit<16>)sorted(hdr.t.a) + 0x300; }
    table acts {
        key = { hdr.t.a : exact; }
        actions = { set_r; twice; thrice; @defaultonly NoAction; }
        const entries = { 1 : set_r(0x55); 2 : twice(); 3 : thrice(); }
        const default_action = NoAction;
    }
    @name(".far.away") table renamed {
        key = { hdr.t.a : exact @name("what"); hdr.t.s : exact; }
        actions = { @name("other") set_r; NoAction; }
        const default_action = NoAction();
    }
    table ordered {
        key = { hdr.t.a : ternary; hdr.t.s : ternary; }
        actions = { set_r; }
        largest_priority_wins = false;
        entries = {
            priority = 10: (1 &&& 1, _) : set_r(10);
            priority = 5: (3 &&& 3, _) : set_r(5);
            priority = 20: (_, -1) : set_r(20);
            priority = 30: (_, _) : set_r(30);
        }
        size = 16;
    }
    table ranges {
        key = { hdr.t.a : range; md.odd : exact; }
        actions = { set_r; NoAction; }
        const entries = {
            (1 .. 5, true)   : set_r(1);
            (3 .. 9, false)  : set_r(2);
            (0x80, true)     : set_r(3);
        }
        const default_action = NoAction;
    }
    apply {
        ig_tm_md.ucast_egress_port = 1;
        switch (hdr.t.op) {
            0: {
                switch (acts.apply().action_run) {
                    set_r:
                    twice: { hdr.t.r = hdr.t.r + 1; }
                    thrice: { hdr.t.r = hdr.t.r + 2; }
                    default: { hdr.t.r = 0xdef; }
                }
            }
            1: {
                if (renamed.apply().hit) { hdr.t.a = 0xaa; } else { hdr.t.a = 0xbb; }
            }
            2: { ten.apply(hdr.t.r); twenty.apply(hdr.t.r); }
            3: {
                ends.apply(hdr.t.r, hdr.t.a);
                hdr.t.r = hdr.t.r + 0x100;
            }
            4: { hdr.t.r = sorted(hdr.t.a); }
            5: { ordered.apply(); }
            6:
            7: { hdr.t.r = 0x67; }
            0x40: {
                hdr.rows[hdr.t.a[0:0]].s[hdr.t.r[1:0]].v = 0x77;
                hdr.t.r = 8w0 ++ hdr.rows[hdr.t.a[1:1]].s[1].v;
            }
            0x50: {
                hdr.t.r = (bit<16>)(hdr.t.minSizeInBytes() + 0x10 * headers_t.minSizeInBytes());
            }
            0x51: { ranges.apply(); }
            default: {
                hdr.t.r = (md.odd ? 8w1 : 0) ++ md.n;
            }
        }
        hdr.t.s = hdr.t.s + 1;
    }
}

DEPARSER(pkt.emit(hdr);)
MAIN
