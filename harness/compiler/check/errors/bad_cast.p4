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
        hdr.h.kind = (bit<8>) true;
        bool b = (bool) hdr.h.kind;
        int<8> i = (int<8>) hdr.h.length;
        bit<8> x = (bit<8>) hdr.h;
    }
}
