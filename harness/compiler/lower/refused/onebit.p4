// SPDX-License-Identifier: Apache-2.0
//
// What a stateful ALU cannot do with single bits, and types it does not have.
#include "../golden/frame.p4i"

struct bits_t {
    bit<1> one;
    bit<1> two;
}

control Ingress(inout headers_t hdr, inout md_t md) {
    Register<bit<1>, bit<8>>(256) r;
    RegisterAction<bit<1>, bit<8>, bit<1>>(r) condition = {
        void apply(inout bit<1> value, out bit<1> rv) {
            rv = value;
            if (hdr.num.a == 1) {
                value = 1;
            }
        }
    };
    RegisterAction<bit<1>, bit<8>, bit<1>>(r) operand = {
        void apply(inout bit<1> value, out bit<1> rv) { value = hdr.num.a[0:0]; }
    };
    RegisterAction<bit<1>, bit<8>, bit<1>>(r) flip = {
        void apply(inout bit<1> value, out bit<1> rv) { value = ~value; }
    };
    RegisterAction<bit<1>, bit<8>, bit<1>>(r) result = {
        void apply(inout bit<1> value, out bit<1> rv) { rv = hdr.num.a[0:0]; }
    };
    Register<bit<1>, bit<8>>(256) s;
    RegisterAction<bit<1>, bit<8>, bit<1>>(s) kept = {
        void apply(inout bit<1> value, out bit<1> rv) {
            bit<1> not_before = ~value;
            value = 0;
            rv = not_before;
        }
    };
    RegisterAction<bit<1>, bit<8>, bit<1>>(s) choose = {
        void apply(inout bit<1> value, out bit<1> rv) { value = hdr.num.a == 1 ? 1w1 : 1w0; }
    };
    Register<bool, bit<8>>(256) truths;
    Register<bits_t, bit<8>>(256) pairs;
    RegisterParam<bit<1>>(1) parameter;
    RegisterParam<bit<64>>(1) wide_parameter;

    apply {
        bit<1> x = 0;
        if (hdr.num.d == 1) {
            x = condition.execute(1);
        } else if (hdr.num.d == 2) {
            x = operand.execute(1);
        } else if (hdr.num.d == 3) {
            x = flip.execute(1);
        } else if (hdr.num.d == 4) {
            x = result.execute(1);
        } else if (hdr.num.d == 5) {
            x = kept.execute(1);
        } else if (hdr.num.d == 6) {
            x = choose.execute(1);
        } else if (hdr.num.d == 7) {
            s.write(1, hdr.num.a[0:0]);
        } else if (hdr.num.d == 8) {
            pairs.read(1);
        }
        hdr.num.b = 7w0 ++ x;
    }
}

MAIN
