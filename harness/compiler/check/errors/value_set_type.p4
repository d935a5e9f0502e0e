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
    value_set<bit<16>>(4) types;
    value_set<headers_t>(4) bad;
    state start {
        pkt.extract(hdr.h);
        transition select(hdr.h.kind) {
            types : accept;
            default : reject;
        }
    }
}
