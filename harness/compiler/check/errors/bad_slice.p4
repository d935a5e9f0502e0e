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
    bit<8> high = 3;
    apply {
        hdr.h.kind = hdr.h.kind[8:1];
        hdr.h.kind[0:7] = 1;
        hdr.h.kind = hdr.h.length[high:0];
        hdr.h.kind[3:0] = hdr.h[3:0];
        hdr.h.kind = hdr.h.kind[-1:0];
    }
}
