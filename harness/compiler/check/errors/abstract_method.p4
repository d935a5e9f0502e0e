// SPDX-License-Identifier: Apache-2.0
#include <tna.p4>
struct pair_t {
    bit<32> lo;
    bit<32> hi;
}
control C(inout bit<32> v) {
    Register<pair_t, bit<8>>(256) reg;
    RegisterAction<pair_t, bit<8>, bit<32>>(reg) missing;
    RegisterAction<pair_t, bit<8>, bit<32>>(reg) empty = {
    };
    RegisterAction<pair_t, bit<8>, bit<32>>(reg) typed = {
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = value;
        }
    };
    RegisterAction<pair_t, bit<8>, bit<32>>(reg) named = {
        void aply(inout pair_t value, out bit<32> rv) {
            rv = value.lo;
        }
        void apply(inout pair_t value) {
            value.middle = 1;
        }
    };
    apply {
        v = typed.execute(1);
        v = typed.execute(v);
    }
}
