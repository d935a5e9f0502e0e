// SPDX-License-Identifier: Apache-2.0
//
// A parser's checksums over odd numbers of bytes, in one state after another: each goes on in the word where the
// one before ended. A packet has a byte more or less where the ways say so with a byte of zeros.
#include "../lang/frame.p4i"

header first_h {
    bit<8> kind;
    bit<8> a;
}
header more_h {
    bit<16> b;
}
header last_h {
    bit<8>  c;
    bit<16> sum;
    bit<8>  d;
}
struct headers_t {
    first_h first;
    more_h  more;
    last_h  last;
}
struct metadata_t {
    bool wrong;
}

PARSER(
    Checksum() sum;
    Checksum() other;
    state parse {
        pkt.extract(hdr.first);
        sum.add(hdr.first.a);
        other.add(hdr.first.kind);
        transition select(hdr.first.kind) {
            0 : last;
            default : more;
        }
    }
    state more {
        pkt.extract(hdr.more);
        sum.add(hdr.more.b);
        other.add(hdr.more.b);
        transition last;
    }
    state last {
        pkt.extract(hdr.last);
        sum.add({hdr.last.c, hdr.last.sum});
        sum.add(hdr.last.d);
        sum.add(8w0);
        md.wrong = sum.verify();
        transition accept;
    }
)

INGRESS {
    apply {
        ig_tm_md.ucast_egress_port = 1;
        if (md.wrong)
            ig_tm_md.ucast_egress_port = 2;
    }
}

DEPARSER(pkt.emit(hdr);)
MAIN
