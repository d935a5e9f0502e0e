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
    apply {
        hdr.h.kind = 256;
        hdr.h.kind = hdr.h.kind + 0x1ff;
        hdr.h.kind = -1;
        hdr.h.length = 8w300 ++ 8w1;
        hdr.h.kind = nothing;
    }
}
