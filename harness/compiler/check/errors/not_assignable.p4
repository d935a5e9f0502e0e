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
control C(inout headers_t hdr, in bit<8> in_param) {
    const bit<8> k = 1;
    action a(bit<8> data) {
        data = 2;
    }
    apply {
        k = 2;
        in_param = 3;
        hdr.stack.size = 4;
        hdr = hdr;
    }
}
