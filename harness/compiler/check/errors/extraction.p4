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
        pkt.extract(hdr);
        pkt.extract(hdr.stack);
        pkt.extract(hdr.h, 8);
        pkt.extract(hdr.stack.next);
        bit<8> b = pkt.lookahead<bit<16>>();
        error e = pkt.lookahead<error>();
        verify(1, error.NoMatch);
        transition accept;
    }
}
