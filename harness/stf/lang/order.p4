// SPDX-License-Identifier: Apache-2.0
//
// Order of evaluation, where sub-expressions have effects: arguments as they are written, named or
// not, copies out in the same order, keys of a table, indices, lists, methods of externs.
#include "frame.p4i"

header t_h {
    bit<8> op;
    bit<8> a;
    bit<8> b;
    bit<32> r;
}
struct pair_t { bit<8> x; bit<8> y; }
struct headers_t { t_h t; }
struct metadata_t { bit<8> k; }

bit<8> up(inout bit<8> x) {
    x = x + 1;
    return x;
}
bit<8> two(in bit<8> v, in bit<8> w) {
    return v << 4 | w;
}
void give(out bit<8> x, out bit<8> y) {
    x = 1;
    y = 2;
}
void give_pairs(out pair_t x, out pair_t y) {
    x = {1, 2};
    y = {3, 4};
}
bit<8> take(inout bit<8> x, in bit<8> y) {
    x = x + 0x10;
    return y;
}
bit<8> spoil(inout bit<8>[3] q) {
    q[1] = 0x99;
    return 1;
}
bit<16> three(in bit<4> a, in bit<4> b = 7, in bit<4> c) {
    return 4w0 ++ a ++ b ++ c;
}
control Both(in bit<8> a, inout bit<8> b, out bit<8> c) {
    apply {
        c = a << 4 | b;
        b = 0xee;
    }
}
parser Sub(packet_in pkt, in bit<8> x, in bit<8> y, out bit<8> z) {
    state start {
        z = x << 4 | y;
        transition accept;
    }
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    Sub() sub;
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.t);
        md.k = 0;
        transition select(hdr.t.op) {
            0xf0    : named;
            0xf1    : keys;
            default : accept;
        }
    }
    state named {
        sub.apply(z = hdr.t.b, y = up(md.k), pkt = pkt, x = up(md.k));
        transition accept;
    }
    state keys { // 0, 1, 1
        transition select(md.k, up(md.k), md.k) {
            (0, 1, 1) : right;
            default   : accept;
        }
    }
    state right {
        hdr.t.b = 0x77;
        transition accept;
    }
}

INGRESS {
    Register<bit<8>, bit<8>>(8) cells;
    Hash<bit<24>>(HashAlgorithm_t.IDENTITY) same;
    Both() both;
    action found(bit<8> v) { hdr.t.r[7:0] = v; }
    table t {
        key = {
            md.k          : exact @name("k1");
            up(md.k)      : exact @name("k2");
            md.k << 1     : exact @name("k3");
            up(hdr.t.a)   : exact @name("k4");
            md.k + hdr.t.a : exact @name("k5");
        }
        actions = { found; NoAction; }
        const entries = {
            (0, 1, 2, 6, 7) : found(1);
            (1, 2, 4, 7, 9) : found(2);
        }
        const default_action = NoAction();
    }
    action act(in bit<8> x, inout bit<8> y) {
        hdr.t.r[15:8] = x;
        hdr.t.r[7:0] = y;
        y = 0x55;
    }
    table named {
        key = { hdr.t.op : exact; }
        actions = { act(y = md.k, x = up(md.k)); }
        const default_action = act(y = md.k, x = up(md.k));
    }
    apply {
        ig_tm_md.ucast_egress_port = 1;
        bit<8> k = 0;
        if (hdr.t.op == 0) {
            hdr.t.b = two(w = up(k), v = up(k));
            hdr.t.a = two(up(k), up(k));
        } else if (hdr.t.op == 1) {
            give(y = hdr.t.b, x = hdr.t.b);
            give(y = hdr.t.a, x = k);
            give(k, k);
            hdr.t.r = (bit<32>)k;
        } else if (hdr.t.op == 2) {
            hdr.t.b = take(y = hdr.t.a, x = hdr.t.a);
        } else if (hdr.t.op == 3) {
            t.apply();
            hdr.t.b = md.k;
        } else if (hdr.t.op == 4) { // the table again, as a condition
            md.k = 1;
            if (t.apply().hit) hdr.t.b = 0x66;
        } else if (hdr.t.op == 5) {
            bit<8>[3] q;
            q[0] = 1;
            q[1] = 2;
            q[2] = 3;
            hdr.t.b = q[spoil(q)];
            hdr.t.a = q[1];
        } else if (hdr.t.op == 6) { // the place first: element 1
            bit<8>[3] q;
            q[0] = 0;
            q[1] = 0;
            q[2] = 0;
            q[up(k)] = two(up(k), k);
            hdr.t.r = q[0] ++ q[1] ++ q[2] ++ k;
        } else if (hdr.t.op == 7) {
            cells.write(value = up(k), index = up(k));
        } else if (hdr.t.op == 8) {
            k = 5;
            hdr.t.a = max(k, up(k)) << 4 | min(t2 = up(k), t1 = k);
        } else if (hdr.t.op == 9) {
            hdr.t.r = 8w0 ++ same.get({k, up(k), k});
        } else if (hdr.t.op == 10) {
            pair_t p = {y = up(k), x = up(k)};
            hdr.t.r = p.x ++ p.y ++ 16w0;
            p = {p.y + k, up(k)};
            hdr.t.r[15:0] = p.x ++ p.y;
        } else if (hdr.t.op == 11) {
            hdr.t.r = (k - up(k)) ++ (up(k) - k) ++ k ++ (8w0 ++ up(k) == (k ++ up(k)) ? 8w1 : 2);
        } else if (hdr.t.op == 12) { // the right side only when it is needed
            if (hdr.t.a == 1 && up(k) == 1 || up(k) == 3) hdr.t.b = k;
            hdr.t.r = (bit<32>)(hdr.t.a == 2 ? up(k) : k);
        } else if (hdr.t.op == 13) {
            named.apply();
            hdr.t.b = md.k;
        } else if (hdr.t.op == 14) {
            both.apply(c = hdr.t.b, b = k, a = up(k));
            hdr.t.a = k;
        } else if (hdr.t.op == 15) {
            hdr.t.b = two(two(up(k), up(k)), up(k));
        } else if (hdr.t.op == 16) {
            hdr.t.r = three(c = 3, a = 1) ++ three(b = 2, c = 3, a = 1);
        } else if (hdr.t.op == 17) { // the value from before the later argument is what is changed
            k = 3;
            hdr.t.b = take(k, up(k));
            hdr.t.a = k;
        } else if (hdr.t.op == 18) {
            pair_t p;
            give_pairs(y = p, x = p);
            hdr.t.b = two(p.x, p.y);
            give_pairs(p, p);
            hdr.t.a = two(p.x, p.y);
        } else if (hdr.t.op == 19) {
            hdr.t.b += up(hdr.t.b);
            hdr.t.r[7:0] |= up(hdr.t.r[7:0]);
        }
    }
}

DEPARSER(pkt.emit(hdr.t);)
MAIN
