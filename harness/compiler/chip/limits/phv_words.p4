// SPDX-License-Identifier: Apache-2.0
// doubted: phv
// Sums of 32 bits need containers of 32 bits: a gress has at most 48 of them.
#include "headers.p4"

#ifdef OVER
#define FIELDS(F) TIMES_16(F, 0) TIMES_16(F, 1) TIMES_16(F, 2) TIMES_4(F, 3)
#else
#define FIELDS(F) TIMES_16(F, 0) TIMES_16(F, 1) TIMES_4(F, 2)
#endif

#define FIELD(n) bit<32> f##n;
header words_h {
    FIELDS(FIELD)
}
struct headers_t {
    ethernet_h ethernet;
    words_h    num;
}
#define OWN_HEADERS
#include "common.p4"

#define ADD(n) hdr.num.f##n = hdr.num.f##n + 1;
INGRESS { // here
    action add() {
        FIELDS(ADD)
    }
    apply {
        add();
    }
}

MAIN
