// SPDX-License-Identifier: Apache-2.0
//
// A deparser that selects by 0 in a header's field: of packets that have the header, or were given it.
// Also a table and a register of one name, and a register that nobody uses.
#include "frame.p4i"

header t_h {
    bit<8> op;
    bit<8> b;
}
header rec_h {
    bit<8> f;
}
struct headers_t { t_h t; rec_h rec; }
struct metadata_t {}

PARSER(
    state parse {
        pkt.extract(hdr.t);
        transition select(hdr.t.op) {
            1 : own;
            2 : there;
            default : accept;
        }
    }
    state own {
        hdr.rec.setValid();
        hdr.rec.f = 0;
        transition accept;
    }
    state there {
        pkt.extract(hdr.rec);
        transition accept;
    })

INGRESS {
    Register<bit<48>, bit<8>>(4) nobody_uses; // no stateful ALU has such cells
    Register<bit<8>, bit<8>>(4, 3) twin;
    RegisterAction<bit<8>, bit<8>, bit<8>>(twin) more = {
        void apply(inout bit<8> value, out bit<8> rv) {
            value = value + 1;
            rv = value;
        }
    };
    action count(bit<8> cell) {
        hdr.t.b = more.execute(cell);
    }
    @name("twin") table twins {
        key = { hdr.t.b : exact; }
        actions = { count; NoAction; }
    }
    apply {
        ig_tm_md.ucast_egress_port = 1;
        twins.apply();
        if (ig_intr_md.resubmit_flag == 1) {
            hdr.t.b = 0xee;
            hdr.rec.f = 1;
        } else if (hdr.t.op == 4) {
            hdr.rec.setValid();
            hdr.rec.f = 0;
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Resubmit() again;
    apply {
        if (hdr.rec.f == 0) {
            again.emit();
        }
        pkt.emit(hdr);
    }
}
MAIN
