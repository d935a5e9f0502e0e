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
        transition select(8w1) {
            _ : accept;
            1 : accept;
        }
    }
    state left_over {
        transition nowhere;
    }
}
