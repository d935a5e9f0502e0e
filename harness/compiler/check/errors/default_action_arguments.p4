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
    action set(bit<8> k) {
        hdr.h.kind = k;
    }
    action copy(in bit<8> from, bit<8> add) {
        hdr.h.kind = from + add;
    }
    table t {
        actions = { set; copy(hdr.h.kind); }
        default_action = set;
    }
    table u {
        actions = { set; copy(hdr.h.kind); }
        default_action = set(hdr.h.kind);
    }
    table v {
        actions = { set; copy(hdr.h.kind); }
        default_action = copy(hdr.stack[0].kind, 1);
    }
    table w {
        actions = { set(1); copy; unknown; hdr; }
    }
    apply {
    }
}
