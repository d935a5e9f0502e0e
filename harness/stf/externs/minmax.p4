/* SPDX-License-Identifier: Apache-2.0
 *
 * minmax: a Tofino 2's entries of 128 bits, and the search of their lanes.
 */
#include <t2na.p4>
#define ARCHITECTURE
#define OWN_OP

header op_h {
    bit<8>   op;
    bit<8>   i;
    bit<16>  mask;
    bit<8>   by;
    bit<8>   found8;
    bit<16>  found16;
    bit<8>   at;
    bit<128> wide;
}

#include "frame.p4i"

struct halves_t {
    bit<64> low;
    bit<64> high;
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    // sixteen lanes of 8 bits; the lanes of cell 0 from the first (least significant) on: 5 3 3 9 7 ...
    Register<bit<128>, bit<8>>(4, 0x00ff0b0a_080c0d02_0e0f1007_09030305) bytes;
    MinMaxAction2<bit<128>, bit<8>, bit<8>, bit<8>>(bytes) least = {
        void apply(inout bit<128> value, out bit<8> rv, out bit<8> at) {
            at = 0;
            rv = this.min8(value, hdr.op.mask, at[3:0]);
        }
    };
    MinMaxAction2<bit<128>, bit<8>, bit<8>, bit<8>>(bytes) most = {
        void apply(inout bit<128> value, out bit<8> rv, out bit<8> at) {
            at = 0;
            rv = this.max8(value, 0x7fff, at[3:0]);
        }
    };
    MinMaxAction<bit<128>, bit<8>, bit<8>>(bytes) take = {
        void apply(inout bit<128> value, out bit<8> rv) {
            bit<4> at;
            rv = this.min8(value, 0xffff, at, 100);
        }
    };
    MinMaxAction<bit<128>, bit<8>, bit<8>>(bytes) give = {
        void apply(inout bit<128> value, out bit<8> rv) {
            bit<4> at;
            rv = this.max8(value, hdr.op.mask, at, -(int<8>)hdr.op.by);
        }
    };

    // the same memory as numbers of 16 bits, eight of which the search sees
    Register<bit<16>, bit<11>>(32) words;
    RegisterAction<bit<16>, bit<11>, bit<16>>(words) put = {
        void apply(inout bit<16> value, out bit<16> rv) {
            rv = value;
            value = hdr.op.found16;
        }
    };
    MinMaxAction2<bit<16>, bit<8>, bit<16>, bit<16>>(words) least16 = {
        void apply(inout bit<128> value, out bit<16> rv, out bit<16> at) {
            at = 0;
            rv = this.min16(value, 0x3e, at[2:0]);
        }
    };
    MinMaxAction2<bit<16>, bit<8>, bit<16>, bit<16>>(words) most16 = {
        void apply(inout bit<128> value, out bit<16> rv, out bit<16> at) {
            at = 0;
            rv = this.max16(value, hdr.op.mask[7:0], at[2:0], 255);
        }
    };

    // one number
    Register<bit<128>, bit<8>>(4) numbers;
    RegisterAction<bit<128>, bit<8>, bit<8>>(numbers) load = {
        void apply(inout bit<128> value) {
            value[63:32] = hdr.op.wide[31:0];
        }
    };
    RegisterAction<bit<128>, bit<8>, bit<8>>(numbers) top = {
        void apply(inout bit<128> value, out bit<8> rv) {
            rv = this.max8(value, 0xffff);
        }
    };

    Register<halves_t, bit<8>>(4, {1, 2}) pairs;
    RegisterAction<halves_t, bit<8>, bit<64>>(pairs) swap = {
        void apply(inout halves_t value, out bit<64> rv) {
            rv = value.high;
            value.high = value.low;
            value.low = hdr.op.wide[63:0];
        }
    };
    Register<bit<128>, bit<8>>(4) plain;

    apply {
        bit<8> at8 = 0;
        bit<16> at16 = 0;
        if (hdr.op.op == 0) {
            hdr.op.found8 = least.execute(hdr.op.i, at8);
        } else if (hdr.op.op == 1) {
            hdr.op.found8 = most.execute(hdr.op.i, at8);
        } else if (hdr.op.op == 2) {
            hdr.op.found8 = take.execute(hdr.op.i);
        } else if (hdr.op.op == 3) {
            hdr.op.found8 = give.execute(hdr.op.i);
        } else if (hdr.op.op == 4) {
            hdr.op.found16 = put.execute((bit<11>)hdr.op.i);
        } else if (hdr.op.op == 5) {
            hdr.op.found16 = least16.execute(hdr.op.i, at16);
        } else if (hdr.op.op == 6) {
            hdr.op.found16 = most16.execute(hdr.op.i, at16);
        } else if (hdr.op.op == 7) {
            load.execute(hdr.op.i);
        } else if (hdr.op.op == 8) {
            hdr.op.found8 = top.execute(hdr.op.i);
        } else if (hdr.op.op == 9) {
            hdr.op.wide[127:64] = swap.execute(hdr.op.i);
        } else if (hdr.op.op == 10) {
            plain.write(hdr.op.i, hdr.op.wide);
        } else if (hdr.op.op == 11) {
            hdr.op.wide = plain.read(hdr.op.i);
        }
        hdr.op.at = at8 | at16[7:0];
        ig_tm_md.ucast_egress_port = 9;
        ig_tm_md.bypass_egress = 1;
    }
}

MAIN
