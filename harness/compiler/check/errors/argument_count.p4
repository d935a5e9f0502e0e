// SPDX-License-Identifier: Apache-2.0
#include <core.p4>
header h_t {
    bit<8> kind;
    bit<16> length;
    bit<32> addr;
}
struct headers_t {
    h_t h;
    h_t[2] stack;
}
control C(inout headers_t hdr) {
    action a(bit<8> x, bit<8> y) {
        hdr.h.kind = x + y;
    }
    apply {
        a(1);
        a(1, 2, 3);
        a(x = 1, z = 2);
        a(x = 1, x = 2);
        a(1, y = 2);
        a(x = 1);
        hdr.h.setValid(1);
    }
}
