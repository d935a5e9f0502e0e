// SPDX-License-Identifier: Apache-2.0
//
// Headers of variable size and unions where they cannot stand.
#include <core.p4>
#include <tna.p4>

header fixed_h { bit<8> n; }
header options_h { bit<8> n; varbit<64> data; }
header middle_h { varbit<64> data; bit<8> n; varbit<8> more; }
header odd_h { varbit<60> data; }
header shifted_h { bit<4> n; varbit<64> data; }
header_union either_h { fixed_h a; options_h b; }
struct headers_t { fixed_h f; options_h o; middle_h m; odd_h x; shifted_h y; either_h u; }
struct md_t { bit<8> x; }

parser IngressParser(packet_in pkt, out headers_t hdr, out md_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.f);
        pkt.extract(hdr.o, 72);
        pkt.extract(hdr.o, 12);
        if (hdr.f.n == 1) {
            pkt.extract(hdr.o, (bit<32>)hdr.f.n);
        }
        transition accept;
    }
}
control Ingress(inout headers_t hdr, inout md_t md, in ingress_intrinsic_metadata_t ig_intr_md) {
    Hash<bit<8>>(HashAlgorithm_t.CRC8) hash;
    apply {
        md.x = hash.get({hdr.o});
        md.x = md.x + hdr.u.a.n;
    }
}
control IngressDeparser(packet_out pkt, inout headers_t hdr, in md_t md) {
    apply { pkt.emit(hdr); }
}
struct none_t {}
parser EgressParser(packet_in pkt, out none_t hdr, out none_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start { pkt.extract(eg_intr_md); transition accept; }
}
control Egress(inout none_t hdr, inout none_t md, in egress_intrinsic_metadata_t eg_intr_md) {
    apply {}
}
control EgressDeparser(packet_out pkt, inout none_t hdr, in none_t md) { apply {} }
Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(),
         EgressDeparser()) pipe;
Switch(pipe) main;
