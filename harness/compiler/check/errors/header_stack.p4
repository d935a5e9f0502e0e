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
        hdr.stack.next.kind = 1;
        hdr.stack[2].kind = 1;
        hdr.stack[-1].kind = 1;
        hdr.stack.push_front(hdr.h.kind);
        hdr.h[0].kind = 1;
        hdr.stack.size = 1;
        hdr.stack.setValid();
        hdr.stack[true].kind = 1;
    }
}
