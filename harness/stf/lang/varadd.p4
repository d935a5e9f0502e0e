// SPDX-License-Identifier: Apache-2.0
//
// A checksum that the parser verifies over a header with options, as IPv4's: what of the varbit is
// there counts.
#include "frame.p4i"

header base_h {
    bit<8>      len; // bytes of the options
    bit<8>      x;
    bit<16>     sum;
    varbit<320> options;
}
header more_h { bit<16> wrong; }
header length_h { bit<8> len; }
struct headers_t {
    more_h m;
    base_h b;
}
struct metadata_t { bool wrong; }

PARSER(
    Checksum() c;
    state parse {
        pkt.extract(hdr.m);
        pkt.extract(hdr.b, (bit<32>)pkt.lookahead<length_h>().len << 3);
        c.add({hdr.b.len, hdr.b.x, hdr.b.sum, hdr.b.options});
        md.wrong = c.verify();
        transition accept;
    }
)

INGRESS {
    apply {
        ig_tm_md.ucast_egress_port = 1;
        if (md.wrong)
            hdr.m.wrong = 1;
    }
}

DEPARSER(pkt.emit(hdr);)
MAIN
