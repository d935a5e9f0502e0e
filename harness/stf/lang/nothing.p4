// SPDX-License-Identifier: Apache-2.0
//
// bit<0>: a type without bits, whose one value is 0, wherever a value may stand; varbit<0>, headers
// without bits, which are valid or not, and headers with such fields.
#include "frame.p4i"

typedef bit<0> none_t;
const none_t NONE = 0;
const bit<(4 - 4)> ALSO = 0w0;
header t_h {
    bit<8> op;
    none_t n1;
    bit<8> a;
    bit<8> b;
    none_t n2;
    bit<32> r;
    none_t n3;
}
header empty_h {}
header none_h { none_t x; none_t y; }
header options_h { bit<8> v; varbit<0> opts; bit<8> w; }
struct pair_t { none_t x; bit<8> y; }
struct nothing_t { none_t x; none_t y; }
struct headers_t {
    t_h       t;
    empty_h   e;
    none_h    n;
    none_h[3] s;
    options_h o;
}
struct metadata_t { none_t z; bit<8> k; pair_t p; nothing_t q; }

PARSER(
    none_t local = 0;
    state parse {
        pkt.extract(hdr.t);
        pkt.extract(hdr.e);
        local = pkt.lookahead<bit<0>>();
        md.z = local;
        transition select(hdr.t.op, md.z) {
            (0xf0, 0)       : one;
            (0xf1, _)       : two;
            (0xf2, 0 &&& 0) : three;
            default         : accept;
        }
    }
    state one {
        pkt.extract(hdr.n);
        transition select(local) {
            0       : marked;
            default : accept;
        }
    }
    state marked {
        hdr.t.b = 0x11;
        transition accept;
    }
    state two {
        pkt.extract(hdr.s.next);
        pkt.extract(hdr.s.next);
        hdr.t.b = hdr.s.lastIndex[7:0];
        transition accept;
    }
    state three {
        pkt.extract(hdr.o, (bit<32>)(hdr.t.a ++ md.z));
        transition accept;
    }
)

none_t same(in none_t x) {
    return x;
}
bit<8> after(inout none_t x, in bit<8> y, out none_t z) {
    x = 0;
    z = x;
    return y + 1;
}
T chosen<T>(in bool c, in T x, in T y) {
    if (c) return x;
    return y;
}

INGRESS {
    Register<bit<8>, none_t>(1) cell;
    RegisterAction<bit<8>, none_t, bit<8>>(cell) count = {
        void apply(inout bit<8> v, out bit<8> rv) {
            v = v + 1;
            rv = v;
        }
    };
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) hash;
    action give(none_t n, bit<8> v, nothing_t q) { hdr.t.b = v ++ n ++ q.x; }
    action take(inout none_t n, in bit<8> v) { hdr.t.b = v ++ n; }
    table keyed {
        key = {
            md.z    : exact @name("z");
            hdr.t.a : exact @name("a");
            hdr.t.n1 : ternary @name("n");
        }
        actions = { give; take(hdr.t.n2, 7); }
        const entries = {
            (0, 1, 0)       : give(0, 0x21, {0, 0});
            (0, 2, _)       : give(n = NONE, q = {x = 0, y = 0}, v = 0x22);
            (0, 3, 0 &&& 0) : take(hdr.t.n2, 7);
        }
        const default_action = give(0, 0x2f, {0, 0});
    }
    table only {
        key = { md.z : exact; }
        actions = { give; }
        default_action = give(0, 0x33, {0, 0});
    }
    table runtime {
        key = { hdr.t.a : exact @name("a"); hdr.t.n1 : exact @name("n"); }
        actions = { give; NoAction; }
        default_action = NoAction();
    }
    apply {
        ig_tm_md.ucast_egress_port = 1;
        none_t z = 0;
        if (hdr.t.op == 0) {
            hdr.t.b = hdr.t.a ++ z;
            hdr.t.r = z ++ hdr.t.a ++ z ++ hdr.t.b ++ (z ++ z) ++ 16w0x1234 ++ NONE ++ ALSO;
        } else if (hdr.t.op == 1) {
            z = (bit<0>)hdr.t.a;
            hdr.t.b = (bit<8>)z;
            hdr.t.r = 8w1 ++ (bit<8>)(z == 0 ? 8w2 : 3) ++ (z < NONE ? 8w4 : 5) ++ (z <= 0 ? 8w6 : 7);
        } else if (hdr.t.op == 2) {
            z = z + 0w0;
            z = z - z;
            z = ~z & -z | z ^ z;
            z = z |+| z |-| z;
            z = z << 3 >> 1;
            z |= NONE;
            z = max(z, NONE);
            z = hdr.t.a == 1 ? z : NONE;
            hdr.t.b = 8w0x40 ++ z;
        } else if (hdr.t.op == 3) {
            none_t w;
            hdr.t.b = after(z, hdr.t.a, w) ++ same(w) ++ chosen(hdr.t.a == 1, w, z);
            hdr.t.r = chosen<bit<32>>(hdr.t.a == 1, 0x77, 0x88);
        } else if (hdr.t.op == 4) {
            md.p = {0, hdr.t.a};
            md.q = {y = z, x = z};
            pair_t p = md.p;
            if (p == md.p && md.q == {0, 0}) hdr.t.b = p.y ++ p.x;
            tuple<bit<0>, bit<8>> t = {z, 0x55};
            hdr.t.r = 24w0 ++ t[1] ++ t[0];
        } else if (hdr.t.op == 5) {
            keyed.apply();
        } else if (hdr.t.op == 6) {
            if (only.apply().hit) hdr.t.b = 1;
        } else if (hdr.t.op == 7) {
            runtime.apply();
        } else if (hdr.t.op == 8) {
            switch (z) {
                0: { hdr.t.b = 0x66; }
                default: { hdr.t.b = 0x67; }
            }
        } else if (hdr.t.op == 9) {
            hdr.t.b = count.execute(z);
        } else if (hdr.t.op == 10) {
            hdr.t.r = 16w0 ++ hash.get({z, hdr.t.a, z, hdr.t.op, md.q});
        } else if (hdr.t.op == 11) {
            hdr.e.setInvalid();
            hdr.n.setValid();
            hdr.n.x = 0;
            hdr.t.b = (bit<8>)(bit<1>)hdr.n.isValid() << 1 | (bit<8>)(bit<1>)hdr.e.isValid();
            hdr.s[hdr.t.a[1:0]] = hdr.n;
            hdr.t.r = (bit<32>)((bit<1>)hdr.s[0].isValid() ++ (bit<1>)hdr.s[1].isValid() ++ (bit<1>)hdr.s[2].isValid());
        } else if (hdr.t.op == 12) {
            bit<8>[2] v;
            v[0] = 0x10;
            v[1] = 0x20;
            v[z] = v[z] + 1;
            hdr.t.r = v[0] ++ v[1] ++ (bit<8>)hdr.t.minSizeInBits() ++ (bit<8>)hdr.n.minSizeInBytes();
        } else if (hdr.t.op == 13) {
            take(z, hdr.t.a);
            bit<0>[2] v;
            v[hdr.t.a[0:0]] = 0;
            hdr.t.r = 24w0x99 ++ v[hdr.t.a[0:0]] ++ hdr.t.b;
        }
    }
}

DEPARSER(pkt.emit(hdr.t); pkt.emit(hdr.e); pkt.emit(hdr.n); pkt.emit(hdr.s); pkt.emit(hdr.o);)
MAIN
