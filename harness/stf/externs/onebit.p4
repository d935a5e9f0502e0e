/* SPDX-License-Identifier: Apache-2.0
 *
 * onebit: what a stateful ALU does to single bits. The result is what was there before, or its
 * complement, also when the source says otherwise.
 */
#include "frame.p4i"

INGRESS {
    Register<bit<1>, bit<8>>(16) zeros;
    RegisterAction<bit<1>, bit<8>, bit<32>>(zeros) set = {
        void apply(inout bit<1> value, out bit<32> rv) {
            rv = (bit<32>)value;
            value = 1;
        }
    };
    RegisterAction<bit<1>, bit<8>, bit<1>>(zeros) clear_first = {
        void apply(inout bit<1> value, out bit<1> rv) {
            value = 0;
            rv = value;
        }
    };
    RegisterAction<bit<1>, bit<8>, bit<1>>(zeros) set_complement = {
        void apply(inout bit<1> value, out bit<1> rv) {
            rv = ~value;
            value = 0;
            value = ~value;
        }
    };
    RegisterAction<bit<1>, bit<8>, bit<32>>(zeros) look = {
        void apply(inout bit<1> value, out bit<32> rv) {
            rv = 31w0 ++ value;
            return;
        }
    };

    Register<bit<1>, bit<8>>(16, 1) ones;
    RegisterAction<bit<1>, bit<8>, bit<1>>(ones) constant = {
        void apply(inout bit<1> value, out bit<1> rv) {
            value = 1;
            rv = 1;
        }
    };
    RegisterAction<bit<1>, bit<8>, bit<1>>(ones) silent = {
        void apply(inout bit<1> value, out bit<1> rv) {
            value = 0;
        }
    };
    RegisterAction<bit<1>, bit<8>, bit<1>>(ones) complement_late = {
        void apply(inout bit<1> value, out bit<1> rv) {
            value = 0;
            rv = ~value;
        }
    };
    RegisterAction<bit<1>, bit<8>, bit<1>>(ones) through_local = {
        void apply(inout bit<1> value, out bit<1> rv) {
            bit<1> before = value;
            bit<1> zero = 0;
            value = zero;
            rv = before;
        }
    };
    Register<bit<1>, bit<8>>(16) plain;

    apply {
        bit<8> i = hdr.op.i;
        bit<1> bit_ = 0;
        if (hdr.op.op == 0) {
            hdr.op.r = set.execute(i);
        } else if (hdr.op.op == 1) {
            bit_ = clear_first.execute(i);
            hdr.op.r = (bit<32>)bit_;
        } else if (hdr.op.op == 2) {
            bit_ = set_complement.execute(i);
            hdr.op.r = (bit<32>)bit_;
        } else if (hdr.op.op == 3) {
            hdr.op.r = look.execute(i);
        } else if (hdr.op.op == 4) {
            bit_ = constant.execute(i);
            hdr.op.r = (bit<32>)bit_;
        } else if (hdr.op.op == 5) {
            bit_ = silent.execute(i);
            hdr.op.r = (bit<32>)bit_;
        } else if (hdr.op.op == 6) {
            bit_ = complement_late.execute(i);
            hdr.op.r = (bit<32>)bit_;
        } else if (hdr.op.op == 7) {
            bit_ = through_local.execute(i);
            hdr.op.r = (bit<32>)bit_;
        } else if (hdr.op.op == 8) {
            plain.write(i, 1);
        } else if (hdr.op.op == 9) {
            hdr.op.r = (bit<32>)plain.read(i);
        }
        ig_tm_md.ucast_egress_port = 1;
    }
}

MAIN
