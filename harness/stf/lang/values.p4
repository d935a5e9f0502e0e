// SPDX-License-Identifier: Apache-2.0
//
// Types and expressions: structs, tuples, lists, enums, errors, new types, generics, functions,
// header stacks, order of evaluation.
#include "frame.p4i"

typedef bit<8> byte_t;
type bit<8> label_t;
enum bit<8> Code { ZERO = 0, ONE = 1, TEN = 10 }
enum Colour { RED, GREEN, BLUE }
error { Odd, Strange }

header t_h {
    byte_t op;
    byte_t a;
    byte_t b;
    bit<32> r;
}
header item_h { bit<4> hi; bit<4> lo; }
header code_h { Code code; label_t label; }
struct pair_t<T> { T x; T y; }
struct nest_t { pair_t<bit<8>> p; bit<16> q; bool f; }
struct headers_t {
    t_h       t;
    item_h[4] s;
    code_h    c;
}
struct metadata_t { bit<8> n; nest_t nest; }
const tuple<bit<8>, bit<16>> KNOWN = {0x12, 0x3456};
const bit<32>[3] ARRAY = {0x11, 0x22, 0x33};

PARSER(
    bit<8> left = 4;
    state parse {
        pkt.extract(hdr.t);
        md.n = 0;
        transition row;
    }
    state row {
        pkt.extract(hdr.s.next);
        left = left - 1;
        transition select(left[1:0], hdr.s.last.lo, hdr.s.lastIndex) {
            (0, _, _)           : code;
            (_, 4w0xf, 0 .. 2)  : code;
            (_, 4w8 &&& 4w8, _) : row;
            default             : row;
        }
    }
    state code {
        pkt.extract(hdr.c);
        transition accept;
    }
)

T choose<T>(in bool c, in T x, in T y) {
    if (c) return x;
    return y;
}
bit<8> bump(inout bit<8> x) {
    x = x + 1;
    return x;
}
pair_t<bit<8>> turned(in pair_t<bit<8>> p) {
    return {p.y, p.x};
}
void twist(inout bit<8> x, inout bit<8> y) {
    bit<8> z = x;
    x = y;
    y = z;
}
control Keep<T>(inout T place, in T given)(bool on) {
    apply { if (on) { place = given; } }
}

INGRESS {
    Keep<bit<32>>(true) keep;
    Keep<bit<32>>(false) leave_it;
    bit<8> seen = 3;
    action over(pair_t<bit<8>> p, bit<4> q) { hdr.t.r = p.x ++ p.y ++ 12w0 ++ q; }
    action all(tuple<bit<8>, bit<8>> v) { hdr.t.r = 16w0 ++ v[0] ++ v[1]; }
    action plain() { hdr.t.r = 0xdead; }
    table t {
        key = { hdr.t.a : exact @name("which"); }
        actions = { over; all; plain; }
        const entries = {
            1 : over({x = 0x21, y = 0x43}, 5);
            2 : all({0x65, 0x87});
        }
        const default_action = plain();
    }
    action leave_early(in bit<8> x) {
        hdr.t.r = 1;
        if (x == 7) { hdr.t.r = 2; exit; }
        hdr.t.r = 3;
    }
    apply {
        ig_tm_md.ucast_egress_port = 1;
        if (hdr.t.op == 0) {
            t.apply();
        } else if (hdr.t.op == 1) {
            md.nest = {p = {x = hdr.t.a, y = hdr.t.b}, q = 0x1122, f = true};
            md.nest.p = turned(md.nest.p);
            hdr.t.r = md.nest.p.x ++ md.nest.p.y ++ md.nest.q;
        } else if (hdr.t.op == 2) {
            md.nest.p = {hdr.t.a, hdr.t.b};
            md.nest.p = {md.nest.p.y, md.nest.p.x};
            hdr.t.r = 16w0 ++ md.nest.p.x ++ md.nest.p.y;
        } else if (hdr.t.op == 3) { // left to right, each with the effects of those before
            bit<8> x = 1;
            bit<8> y = bump(x) + x * 4 + bump(x);
            hdr.t.r = 16w0 ++ x ++ y;
        } else if (hdr.t.op == 4) { // both out: the later one's copy is last
            twist(hdr.t.a, hdr.t.b);
            bit<8> z = 9;
            twist(z, z);
            hdr.t.r = (bit<32>)z;
        } else if (hdr.t.op == 5) {
            tuple<bit<8>, pair_t<bit<8>>, bool> v = {hdr.t.a, {1, 2}, hdr.t.b == 0};
            hdr.t.r = v[0] ++ v[1].x ++ v[1].y ++ (v[2] ? 8w0xff : 0);
            if (v == {8w9, {8w1, 8w2}, true}) hdr.t.b = 0x99;
        } else if (hdr.t.op == 6) {
            hdr.t.r = KNOWN[0] ++ 8w0 ++ KNOWN[1];
            hdr.t.b = (bit<8>)ARRAY[2];
        } else if (hdr.t.op == 7) {
            Code c = (Code)hdr.t.a;
            hdr.c.code = Code.TEN;
            hdr.c.label = (label_t)((bit<8>)hdr.c.label + 1);
            if (c == Code.ONE) hdr.t.r = 1;
            else if (c == Code.TEN) hdr.t.r = 10 + (bit<32>)(bit<8>)c;
            else hdr.t.r = 0xff;
        } else if (hdr.t.op == 8) {
            Colour c = hdr.t.a == 0 ? Colour.GREEN : Colour.BLUE;
            error e = hdr.t.b == 0 ? error.Odd : error.NoError;
            switch (c) {
                Colour.RED: { hdr.t.r = 1; }
                Colour.GREEN:
                Colour.BLUE: { hdr.t.r = 2; }
            }
            if (e == error.Odd && e != error.Strange) hdr.t.r[15:8] = 0xee;
        } else if (hdr.t.op == 9) { // elements chosen at run time, read and written
            hdr.s[hdr.t.a].hi = hdr.s[hdr.t.b].lo;
            hdr.t.r = (bit<32>)(hdr.s[hdr.t.b].hi ++ hdr.s[hdr.t.a].hi);
        } else if (hdr.t.op == 10) {
            hdr.s.push_front(1);
            hdr.s[0] = {0xa, 0xb};
        } else if (hdr.t.op == 11) {
            hdr.s.pop_front(2);
            hdr.t.r = (bit<32>)hdr.s.size ++ (bit<1>)hdr.s[1].isValid() ++ (bit<1>)hdr.s[2].isValid()
                      == 34w0x12 ? 32w1 : 0;
        } else if (hdr.t.op == 12) {
            leave_early(hdr.t.a);
            hdr.t.b = 0x44;
        } else if (hdr.t.op == 13) {
            keep.apply(hdr.t.r, 77);
            leave_it.apply(hdr.t.r, 78);
            seen = choose(hdr.t.a > 4, seen, 8w0);
            hdr.t.b = choose<bit<8>>(c = hdr.t.b == 0, y = 0x66, x = seen);
        } else if (hdr.t.op == 14) {
            hdr.t.a += 3;
            hdr.t.b |= 0x81;
            hdr.t.r <<= 4;
            hdr.t.r[3:0] ^= 9;
            hdr.t.b[7:4] |+|= 0xf;
        } else if (hdr.t.op == 15) {
            item_h gone;
            gone.setInvalid();
            hdr.s[1] = gone;
            item_h[4] copy = hdr.s;
            hdr.t.r = (bit<32>)((bit<1>)(copy == hdr.s) ++ (bit<1>)copy[1].isValid());
            hdr.t.b = (bit<8>)(bit<1>)(hdr.s[0] == hdr.s[2]);
        } else if (hdr.t.op == 16) {
            int<8> s = (int<8>)hdr.t.a;
            hdr.t.r = (bit<32>)(bit<8>)(s >> 1) | (s < 0 ? 32w0x100 : 0) | (s |-| 100 == -128 ? 32w0x200 : 0);
            hdr.t.b = (bit<8>)s[7:7];
        }
    }
}

DEPARSER(pkt.emit(hdr.t); pkt.emit(hdr.s); pkt.emit(hdr.c);)
MAIN
