// SPDX-License-Identifier: Apache-2.0
#include <core.p4>
header h_t {
    bit<8> kind;
    int<8> level;
}
struct headers_t {
    h_t h;
}
parser P(packet_in pkt, out headers_t hdr) {
    state start {
        pkt.extract(hdr.h);
        transition select(hdr.h.kind) {
            9 .. 3 : reject;
            3 .. 3 : accept;
            default : accept;
        }
    }
}
control C(inout headers_t hdr) {
    action a() {
    }
    table t {
        key = {
            hdr.h.kind : range;
            hdr.h.level : range;
        }
        actions = { a; @defaultonly NoAction; }
        const entries = {
            (9 .. 9, 1) : a();
            (9 .. 8, 1) : a();
            (1, -1 .. -2) : a();
        }
    }
    apply {
        t.apply();
    }
}
