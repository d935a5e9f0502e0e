// SPDX-License-Identifier: Apache-2.0
// refused: phv
// Headers of more bytes than a gress has containers for.
#include "headers.p4"

header long_h {
    bit<1024> first;
    bit<1024> second;
#ifdef OVER
    bit<1024> third;
    bit<1024> fourth;
    bit<1024> fifth;
#endif
}
struct headers_t {
    ethernet_h ethernet;
    long_h     num;
}
#define OWN_HEADERS
#include "common.p4"

INGRESS { // here
    apply {
        hdr.ethernet.type = 5;
    }
}

MAIN
