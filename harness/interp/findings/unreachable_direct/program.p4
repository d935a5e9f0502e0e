// No packet reaches the tables, so there is no table that the direct objects would belong to. The
// program was refused: "register 'pipe.Ingress.cells' belongs to no table".
header first_h {
    bit<16> a;
    bit<16> residual;
}
header second_h {
    bit<32> c;
}
struct ig_headers_t {
    first_h first;
    second_h second;
}
struct ig_metadata_t {
    bit<16> residual;
}
struct eg_headers_t {
}
struct eg_metadata_t {
}
parser IngressParser(packet_in pkt, out ig_headers_t hdr, out ig_metadata_t md, out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.first);
        transition select(hdr.first.a) {
            0xffff : second;
            default : accept;
        }
    }
    state second {
        pkt.extract(hdr.second);
        transition accept;
    }
}
control Ingress(inout ig_headers_t hdr, inout ig_metadata_t md, in ingress_intrinsic_metadata_t ig_intr_md, in ingress_intrinsic_metadata_from_parser_t ig_prsr_md, inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md, inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    DirectRegister<bit<32>>(7) cells;
    DirectRegisterAction<bit<32>, bit<32>>(cells) up = {
        void apply(inout bit<32> value) {
            value = value + 1;
        }
    };
    DirectCounter<bit<64>>(CounterType_t.PACKETS) hits;
    DirectMeter(MeterType_t.BYTES) rate;
    action a() {
        up.execute();
    }
    action b() {
        hits.count();
    }
    action c() {
        md.residual = (bit<16>)rate.execute();
    }
    table with_register {
        key = {
            hdr.first.a : exact;
        }
        actions = {
            a;
        }
        const default_action = a();
        registers = cells;
        size = 16;
    }
    table with_counter {
        key = {
            hdr.first.a : exact;
        }
        actions = {
            b;
        }
        const default_action = b();
        counters = hits;
        size = 16;
    }
    table with_meter {
        key = {
            hdr.first.a : exact;
        }
        actions = {
            c;
        }
        const default_action = c();
        meters = rate;
        size = 16;
    }
    apply {
        if (false) {
            with_register.apply();
            with_counter.apply();
            with_meter.apply();
        }
        ig_tm_md.ucast_egress_port = 1;
    }
}
control IngressDeparser(packet_out pkt, inout ig_headers_t hdr, in ig_metadata_t md, in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {
        pkt.emit(hdr);
    }
}
parser EgressParser(packet_in pkt, out eg_headers_t hdr, out eg_metadata_t md, out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}
control Egress(inout eg_headers_t hdr, inout eg_metadata_t md, in egress_intrinsic_metadata_t eg_intr_md, in egress_intrinsic_metadata_from_parser_t eg_prsr_md, inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md, inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {
    }
}
control EgressDeparser(packet_out pkt, inout eg_headers_t hdr, in eg_metadata_t md, in egress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {
    }
}
Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
