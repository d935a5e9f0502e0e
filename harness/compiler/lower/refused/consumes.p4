// SPDX-License-Identifier: Apache-2.0
//
// What @silken_consumes is for: actions of an ingress.
#include <tna.p4>

struct nothing_t {}

@silken_consumes
action take(inout bit<3> drop_ctl) {
    drop_ctl = 1;
}

parser IngressParser(packet_in pkt, out nothing_t hdr, out nothing_t md) {
    state start {
        transition accept;
    }
}
control Ingress(inout nothing_t hdr, inout nothing_t md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        take(ig_dprsr_md.drop_ctl);
    }
}
control IngressDeparser(packet_out pkt, inout nothing_t hdr, in nothing_t md) {
    apply {}
}
parser EgressParser(packet_in pkt, out nothing_t hdr, out nothing_t md) {
    state start {
        transition accept;
    }
}
control Egress(inout nothing_t hdr, inout nothing_t md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
        take(eg_dprsr_md.drop_ctl);
    }
}
control EgressDeparser(packet_out pkt, inout nothing_t hdr, in nothing_t md) {
    apply {}
}
Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(),
         EgressDeparser()) pipe;
Switch(pipe) main;
