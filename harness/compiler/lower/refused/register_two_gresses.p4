// SPDX-License-Identifier: Apache-2.0
//
// A register of the top level that both gresses want.
#include <tna.p4>

struct nothing_t {}

Register<bit<8>, bit<8>>(16) cells;

parser IngressParser(packet_in pkt, out nothing_t hdr, out nothing_t md) {
    state start {
        transition accept;
    }
}
control Ingress(inout nothing_t hdr, inout nothing_t md) {
    apply {
        cells.write(0, 1);
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
control Egress(inout nothing_t hdr, inout nothing_t md) {
    apply {
        cells.write(0, 2);
    }
}
control EgressDeparser(packet_out pkt, inout nothing_t hdr, in nothing_t md) {
    apply {}
}
Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(),
         EgressDeparser()) pipe;
Switch(pipe) main;
