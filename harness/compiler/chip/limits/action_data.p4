// SPDX-License-Identifier: Apache-2.0
// refused: action-data
// An entry's parameters: 132 bytes, of the 128 that the action data bus carries.
#include "headers.p4"

#define FIELD(n) bit<32> f##n;
header wide_h {
    TIMES_16(FIELD, 0)
    TIMES_16(FIELD, 1)
    bit<32> more;
}
struct headers_t {
    ethernet_h ethernet;
    wide_h     num;
}
#define OWN_HEADERS
#include "common.p4"

#define PARAMETER(n) bit<32> p##n,
#define SET(n)       hdr.num.f##n = p##n;
INGRESS {
    action set(TIMES_16(PARAMETER, 0) TIMES_16(PARAMETER, 1) bit<32> more) {
        TIMES_16(SET, 0)
        TIMES_16(SET, 1)
#ifdef OVER
        hdr.num.more = more;
#endif
    }
    table t { // here
        key = { hdr.ethernet.type : exact; }
        actions = { set; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 512;
    }
    apply {
        t.apply();
    }
}

MAIN
