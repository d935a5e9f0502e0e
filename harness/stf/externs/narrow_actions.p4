/* SPDX-License-Identifier: Apache-2.0
 *
 * narrow_actions: register actions that take fewer bits than the entries of their register have: the
 * low ones. The others stay as they are.
 */
#include "frame.p4i"

INGRESS {
    Register<bit<16>, bit<8>>(4) halves;
    RegisterAction<bit<1>, bit<8>, bit<1>>(halves) low_bit = {
        void apply(inout bit<1> v, out bit<1> rv) { rv = v; }
    };
    RegisterAction<bit<3>, bit<8>, bit<3>>(halves) turn = {
        void apply(inout bit<3> v, out bit<3> rv) {
            rv = v;
            if (v == 5) {
                v = 0;
            } else {
                v = v + 1;
            }
        }
    };
    RegisterAction<int<4>, bit<8>, int<4>>(halves) upwards = {
        void apply(inout int<4> v, out int<4> rv) {
            if (v < 0) {
                v = v + 1;
            }
            rv = v;
        }
    };
    RegisterAction<bit<16>, bit<8>, bit<16>>(halves) all = {
        void apply(inout bit<16> v, out bit<16> rv) { rv = v; }
    };
    Register<int<8>, _>(4) numbers;
    RegisterAction<bool, bit<8>, bool>(numbers) is_odd = {
        void apply(inout bool v, out bool rv) {
            rv = v;
            v = true;
        }
    };

    apply {
        ig_tm_md.ucast_egress_port = 1;
        ig_tm_md.bypass_egress = 1;
        if (hdr.op.op == 0) {
            hdr.op.r = (bit<32>)low_bit.execute(hdr.op.i);
        } else if (hdr.op.op == 1) {
            hdr.op.r = (bit<32>)turn.execute(hdr.op.i);
        } else if (hdr.op.op == 2) {
            hdr.op.r = (bit<32>)(int<32>)upwards.execute(hdr.op.i);
        } else if (hdr.op.op == 3) {
            hdr.op.r = (bit<32>)all.execute(hdr.op.i);
        } else if (hdr.op.op == 4) {
            hdr.op.r = is_odd.execute(hdr.op.i) ? 32w1 : 0;
        }
    }
}

MAIN
