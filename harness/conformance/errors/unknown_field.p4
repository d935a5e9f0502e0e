// SPDX-License-Identifier: Apache-2.0
header h_t {
    bit<8> there;
}
control C(inout h_t h) {
    apply {
        h.there = 1;
        h.elsewhere = 2;
    }
}
