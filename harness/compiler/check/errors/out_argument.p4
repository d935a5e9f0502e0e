// SPDX-License-Identifier: Apache-2.0
control C(inout bit<8> a, in bit<8> b) {
    action twice(inout bit<8> x) {
        x = x + x;
    }
    apply {
        twice(a);
        twice(b);
        twice(a + 1);
        twice(5);
        bit<16> w = 1;
        twice(w);
        twice(_);
    }
}
