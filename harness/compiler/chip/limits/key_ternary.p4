// SPDX-License-Identifier: Apache-2.0
// refused: ternary-key
// A ternary key of 66 bytes: twelve TCAM blocks beside each other match 524 bits, and 65 bytes.
#include "headers.p4"

header wide_h {
    bit<512> key;
    bit<8>   more;
    bit<8>   too_much;
}
struct headers_t {
    ethernet_h ethernet;
    wide_h     num;
}
#define OWN_HEADERS
#include "common.p4"

INGRESS {
    action set(bit<16> type) { hdr.ethernet.type = type; }
    table t { // here
        key = {
            hdr.num.key      : ternary;
            hdr.num.more     : ternary;
#ifdef OVER
            hdr.num.too_much : ternary;
#endif
        }
        actions = { set; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 512;
    }
    apply {
        t.apply();
    }
}

MAIN
