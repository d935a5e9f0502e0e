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
    const int zero = 0;
    apply {
        hdr.h.kind = hdr.h.kind / 0;
        hdr.h.kind = 5 % zero;
        hdr.h.kind = (bit<8>) (-5 / 2);
        int<8> i = 4;
        i = i / 2;
    }
}
