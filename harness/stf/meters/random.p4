/* SPDX-License-Identifier: Apache-2.0
 *
 * random: generators of several widths.
 */
#include "../externs/frame.p4i"

INGRESS {
    Random<bit<1>>() one;
    Random<bit<7>>() seven;
    Random<bit<16>>() sixteen;
    Random<bit<32>>() thirty_two;
    Random<bit<64>>() sixty_four;
    apply {
        ig_tm_md.ucast_egress_port = 1;
        ig_tm_md.bypass_egress = 1;
        hdr.op.op = (bit<8>)one.get();
        hdr.op.i = (bit<8>)seven.get();
        hdr.op.h = sixteen.get();
        hdr.op.a = thirty_two.get();
        bit<64> wide = sixty_four.get();
        hdr.op.r = wide[63:32];
        hdr.op.s = wide[31:0];
    }
}

MAIN
