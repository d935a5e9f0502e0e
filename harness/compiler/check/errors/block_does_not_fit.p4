// SPDX-License-Identifier: Apache-2.0
#include <tna.p4>
struct h_t {
}
struct m_t {
}
parser IgP(packet_in pkt, out h_t h, out m_t m, out ingress_intrinsic_metadata_t md) {
    state start {
        transition accept;
    }
}
control Ig(inout h_t h, inout m_t m, in ingress_intrinsic_metadata_for_tm_t tm) {
    apply {
    }
}
control IgD(packet_out pkt, inout h_t h, in m_t m) {
    apply {
    }
}
parser EgP(packet_in pkt, out h_t h, out m_t m) {
    state start {
        transition accept;
    }
}
control Eg(inout h_t h, in m_t m) {
    apply {
    }
}
control EgD(packet_out pkt, inout h_t h, in h_t m) {
    apply {
    }
}
Pipeline(IgP(), Ig(), IgD(), EgP(), Eg(), EgD()) pipe;
Switch(pipe) main;
