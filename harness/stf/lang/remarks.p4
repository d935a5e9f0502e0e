#### SPDX-License-Identifier: Apache-2.0
#
# Lines that begin with a number sign and are no directive: p4c skips them, and so programs have them,
# with ' and " in them.
##include <nothing.p4>
#include "frame.p4i"

header t_h { bit<8> op; }
    # in front of a declaration
struct headers_t { t_h t; }
struct metadata_t {}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        #pkt.advance(PORT_METADATA_SIZE + 8);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.t);
        /* a comment */ # and a remark
        transition accept;
    }
}
INGRESS {
    apply {
        ig_tm_md.ucast_egress_port = 1;
        hdr.t.op = // an expression
        # goes on
            7;
    }
}
DEPARSER(pkt.emit(hdr.t);)
MAIN
# the end
