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
        for (bit<8> i in 1 .. 8) {
            hdr.h.kind = hdr.h.kind + i;
        }
        for (bit<8> i in hdr.h) {
        }
        for (bit<8> i = 0; i; i = i + 1) {
            continue;
        }
        break;
    }
}
