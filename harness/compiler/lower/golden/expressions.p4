// SPDX-License-Identifier: Apache-2.0
//
// Operators and casts of every kind, folding, and the order in which calls inside of expressions
// take effect.
#include "frame.p4i"

const bit<128> WIDE = 0x0123456789abcdef0123456789abcdef;

enum bit<8> kind_t { ONE = 1, TWO = 2 }
enum plain_t { A, B, C }

control Ingress(inout headers_t hdr, inout md_t md,
                inout ingress_intrinsic_metadata_for_tm_t tm) {
    Random<bit<8>>() dice;
    Register<bit<8>, bit<8>>(4) cells;

    apply {
        // arithmetic
        hdr.num.a = hdr.num.b + 3;
        hdr.num.a = hdr.num.a |+| 200;
        hdr.num.a = hdr.num.a |-| hdr.num.b;
        hdr.num.s = hdr.num.s |+| 32s100;
        hdr.num.s = -hdr.num.s * 4;
        hdr.num.d = ~hdr.num.d & 0xff00ff00 | 1 ^ hdr.num.d;
        // shifts and comparisons follow the type
        hdr.num.s = hdr.num.s >> 3;
        hdr.num.d = hdr.num.d / 8 + hdr.num.d % 8;
        hdr.num.d = hdr.num.d << 40;
        md.flag = hdr.num.s < -5 || hdr.num.d >= 7 && !(hdr.num.a > hdr.num.b);
        // slices, concatenation, casts
        hdr.num.c[7:4] = hdr.num.a[3:0];
        hdr.num.c = hdr.num.a ++ hdr.num.b;
        hdr.num.c = (hdr.num.a ++ hdr.num.b)[11:4] ++ 8w0;
        hdr.num.d = (bit<32>)hdr.num.s;
        hdr.num.s = (int<32>)(int<8>)hdr.num.a;
        hdr.num.d = (bit<32>)hdr.num.a;
        md.x = (bit<8>)hdr.num.d;
        md.x[0:0] = (bit<1>)md.flag;
        md.flag = (bool)hdr.num.a[7:7];
        // constants fold, whatever their width
        hdr.num.d = WIDE[63:32] + (1 << 4);
        hdr.num.a = (bit<8>)kind_t.TWO;
        md.y = md.flag ? hdr.num.a : hdr.num.b;
        md.y = 1 == 1 ? 8w7 : 8w9;
        // a call's effects come in order, and only when it is reached
        md.x = md.x + dice.get();
        md.x = dice.get() - dice.get();
        md.flag = md.x == 0 && dice.get() == 1;
        md.flag = md.x == 0 || cells.read(dice.get()) == 2;
        md.y = md.flag ? dice.get() : md.y;
        md.z = md.x ++ dice.get();
        // own validity comes with every assignment, and can be taken back
        tm.ucast_egress_port[3:0] = 5;
        if (is_validated(tm.mcast_grp_a)) {
            invalidate(tm.ucast_egress_port);
        }
        tm.mcast_grp_a = 0;
        md.w = max(hdr.num.d, 32w9) + min(hdr.num.d, md.w);
        funnel_shift_right(md.w, hdr.num.d, md.w, 5);
        md.z += 1;
        md.z <<= 2;
        md.x = (bit<8>)sizeInBytes(hdr.num);
    }
}

MAIN
