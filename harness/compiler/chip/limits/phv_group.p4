// SPDX-License-Identifier: Apache-2.0
// doubted: phv-group
// Sums tie fields to one group of 16 containers; here they tie 18 fields together, in the twin 12.
#include "headers.p4"

#define FIELD(n) bit<32> f##n;
header words_h {
    TIMES_16(FIELD, 0)
    TIMES_4(FIELD, 1)
}
struct headers_t {
    ethernet_h ethernet;
    words_h    num;
}
#define OWN_HEADERS
#include "common.p4"

INGRESS { // here
    action add() {
        hdr.num.f000 = hdr.num.f000 + hdr.num.f001;
        hdr.num.f002 = hdr.num.f002 + hdr.num.f001;
        hdr.num.f003 = hdr.num.f003 + hdr.num.f001;
        hdr.num.f010 = hdr.num.f010 + hdr.num.f001;
        hdr.num.f011 = hdr.num.f011 + hdr.num.f001;
        hdr.num.f012 = hdr.num.f012 + hdr.num.f001;
        hdr.num.f013 = hdr.num.f013 + hdr.num.f001;
        hdr.num.f020 = hdr.num.f020 + hdr.num.f001;
        hdr.num.f021 = hdr.num.f021 + hdr.num.f001;
        hdr.num.f022 = hdr.num.f022 + hdr.num.f001;
        hdr.num.f023 = hdr.num.f023 + hdr.num.f001;
#ifdef OVER
        hdr.num.f030 = hdr.num.f030 + hdr.num.f001;
        hdr.num.f031 = hdr.num.f031 + hdr.num.f001;
        hdr.num.f032 = hdr.num.f032 + hdr.num.f001;
        hdr.num.f033 = hdr.num.f033 + hdr.num.f001;
        hdr.num.f10  = hdr.num.f10 + hdr.num.f001;
        hdr.num.f11  = hdr.num.f11 + hdr.num.f001;
#endif
    }
    apply {
        add();
    }
}

MAIN
