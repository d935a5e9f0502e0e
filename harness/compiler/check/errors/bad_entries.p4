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
    action a() {
    }
    action b(bit<8> x) {
    }
    table t {
        key = {
            hdr.h.kind : exact;
            hdr.h.length : ternary;
            hdr.h.addr : lpm;
        }
        actions = { a; b; @defaultonly NoAction; }
        const entries = {
            (1, 2) : a();
            (1 &&& 3, 2, 3) : a();
            (_, 2, 3) : a();
            (1, 5 .. 6, 3) : a();
            (1, true, 3) : a();
            (1, 2, 0xff00ff00 &&& 0xff00ff00) : a();
            (hdr.h.kind, 2, 3) : a();
            (1, 2, 3) : b();
            (1, 2, 3) : b(hdr.h.kind);
            (1, 2, 3) : NoAction();
            (1, 2, 3) : c();
            priority = 3 : (1, 2, 3) : a();
        }
    }
    apply {
        t.apply();
    }
}
