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
parser P(packet_in pkt, out headers_t hdr) {
    state start {
        pkt.extract(hdr.h);
        transition select(hdr.h.kind) {
            true : accept;
            16w5 : accept;
            hdr.h.kind : accept;
            1 .. 16w2 : accept;
        }
    }
    state more {
        transition select(hdr.h, 5) {
            default : accept;
        }
    }
}
