// SPDX-License-Identifier: Apache-2.0
// refused: exact-key
// An exact key of more bytes than a stage's crossbar takes: 129, of 128.
#include "headers.p4"

header wide_h {
    bit<1024> key;
    bit<8>    more;
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
            hdr.num.key  : exact;
#ifdef OVER
            hdr.num.more : exact;
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
