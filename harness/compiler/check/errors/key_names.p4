// SPDX-License-Identifier: Apache-2.0
#include <core.p4>
header h_t {
    bit<8> f;
}
control C(inout h_t h, inout bit<8> x) {
    table t {
        key = {
            h.f + 1 : exact;
            h.f + 2 : exact @name("two");
            h.f & 0xf0 : exact;
            h.isValid() : exact;
            h.f[3:0] : exact;
        }
        actions = { NoAction; }
    }
    apply {
        t.apply();
    }
}
