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
        transition select(hdr.h.kind, hdr.h.length) {
            (1, 2, 3) : accept;
            4 : accept;
            (5, 6) : accept;
            default : accept;
        }
    }
}
