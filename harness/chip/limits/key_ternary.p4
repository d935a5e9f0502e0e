// SPDX-License-Identifier: Apache-2.0
// refused: key-ternary
// A ternary key of 67 bytes: a stage's ternary crossbar has 66.
#include "headers.p4"

header wide_h {
    bit<512> key;
    bit<8>   more;
    bit<8>   one_more;
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
            hdr.num.one_more : ternary;
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
