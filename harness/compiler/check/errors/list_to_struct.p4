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
        hdr.h = {1, 2};
        hdr.h = {1, 2, true};
        hdr.h = {kind = 1, length = 2};
        hdr.h = {kind = 1, lenght = 2, addr = 3};
        hdr.h = {kind = 1, kind = 2, ...};
        hdr.h = {1, ...};
        hdr.h = (h_t) {1, 2, 3, 4};
    }
}
