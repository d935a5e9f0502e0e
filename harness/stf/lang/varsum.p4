// SPDX-License-Identifier: Apache-2.0
//
// A checksum over a header with options, as IPv4's: what is not there does not count, and what
// comes behind stays in its place.
#include "frame.p4i"

header base_h {
    bit<8>  len; // bytes of the options
    bit<8>  x;
    bit<16> sum;
}
header options_h { varbit<320> data; }
header more_h { bit<16> y; }
struct headers_t {
    base_h    b;
    options_h o;
    more_h    m;
}
struct metadata_t {}

PARSER(
    state parse {
        pkt.extract(hdr.b);
        pkt.extract(hdr.o, (bit<32>)hdr.b.len << 3);
        pkt.extract(hdr.m);
        transition accept;
    }
)

INGRESS {
    apply { ig_tm_md.ucast_egress_port = 1; }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md) {
    Checksum() c;
    apply {
        hdr.b.sum = c.update({hdr.b.len, hdr.b.x, hdr.o.data, hdr.m});
        pkt.emit(hdr);
    }
}
MAIN
