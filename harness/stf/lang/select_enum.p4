// SPDX-License-Identifier: Apache-2.0
//
// A select on a serializable enum, whose cases are its members and plain values of the type below it.
#include "frame.p4i"

const bit<16> OUTER = 0x88a8;

enum bit<16> kind_t {
    TAG = 0x8100,
    NAMED = 0x1234
}

header tag_h {
    bit<16> id;
    kind_t  kind;
}
header result_h {
    bit<8> tags;
    bit<8> how;
}
struct headers_t {
    result_h result;
    tag_h[3] tags;
}
struct metadata_t {
    bit<8> how;
}

PARSER(
    state parse {
        pkt.extract(hdr.result);
        md.how = 0;
        transition tag;
    }
    state tag {
        pkt.extract(hdr.tags.next);
        transition select(hdr.tags.last.kind) {
            0x8100 : tag;
            OUTER : tag;
            kind_t.NAMED : named;
            0x2000 &&& 0xf000 : masked;
            default : accept;
        }
    }
    state named {
        md.how = 1;
        transition accept;
    }
    state masked {
        md.how = 2;
        transition accept;
    }
)

INGRESS {
    apply {
        hdr.result.how = md.how;
        if (hdr.tags[2].isValid())
            hdr.result.tags = 3;
        else if (hdr.tags[1].isValid())
            hdr.result.tags = 2;
        else
            hdr.result.tags = 1;
        ig_tm_md.ucast_egress_port = 1;
    }
}

DEPARSER(pkt.emit(hdr);)
MAIN
