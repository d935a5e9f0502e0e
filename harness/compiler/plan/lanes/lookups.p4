/* SPDX-License-Identifier: Apache-2.0
 *
 * lookups: lanes that look up tables. 'form': 0 nobody wants sums rounded, 1 and up they are: 2 then
 * leaves without them, 3 is dropped, others leave with them.
 */
#include <core.p4>
#include <tna.p4>

#define LANES(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) \
    X(15) X(16) X(17) X(18) X(19)

header request_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
    bit<8>  form;
    bit<8>  index;
}

#define FIELD(i) bit<16> v##i;
header row_h {
    LANES(FIELD)
}

struct headers_t {
    request_h request;
    row_h     row;
    row_h     result;
}

struct metadata_t {
    bool wanted;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.request);
        pkt.extract(hdr.row);
        pkt.extract(hdr.result);
        transition accept;
    }
}

// Numbers of 32 and of 16 bits, by slices of a field and of what was found before.
control Sum(inout bit<32> value, in bit<16> field, in bit<8> index) {
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) run = {
        void apply(inout bit<32> cell, out bit<32> rv) {
            cell = (bit<32>)((int<32>)cell |+| (int<32>)value);
            rv = cell;
        }
    };

    action set(bit<32> number) {
        value = number;
    }

    action miss() {
        value = (bit<32>)field;
    }

    table wide {
        key = {
            field[15:6] : exact;
        }
        actions = {
            set;
            @defaultonly miss;
        }
        default_action = miss;
        size = 1024;
    }

    action add(bit<16> number) {
        value = value + (bit<32>)number;
    }

    table narrow {
        key = {
            value[8:0] : exact;
        }
        actions = {
            add;
        }
        default_action = add(3);
        size = 512;
    }

    apply {
        wide.apply();
        narrow.apply();
        value = run.execute(index);
    }
}

control Round(inout bit<32> value, inout bit<16> result, in metadata_t md) {
    action none() {
        result = 1;
    }

    action small() {
        result = value[15:0];
    }

    action large() {
        value = (bit<32>)((int<32>)value >> 7);
        result = result ^ 0x400;
    }

    action negative() {
        value = 0 - value;
    }

    action other() {
        value = value ^ 0x1234;
        result = 0x8000;
    }

    table window {
        key = {
            md.wanted : ternary;
            value     : ternary;
        }
        actions = {
            none;
            small;
            large;
            negative;
            other;
        }
        const entries = {
            (false, _)                     : none();
            (_, 0 &&& 0xffffff00)          : small();
            (_, 0xfffffff0 &&& 0xfffffff0) : negative();
            (_, 0 &&& 0x80000000)          : large();
            (_, 0x80000000 &&& 0xc0000000) : negative();
        }
        const default_action = other;
        size = 5;
    }

    action add(bit<16> number) {
        result = result + number;
    }

    table last {
        key = {
            value[9:0] : exact;
        }
        actions = {
            add;
        }
        default_action = add(5);
        size = 1024;
    }

    apply {
        window.apply();
        last.apply();
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
#define DECLARE(i) bit<32> value##i; Sum() sum##i; Round() round##i;
#define SUM(i)     sum##i.apply(value##i, hdr.row.v##i, hdr.request.index);
#define ROUND(i)   round##i.apply(value##i, hdr.result.v##i, md);
#define REPLACE(i) hdr.row.v##i = value##i[15:0];
    LANES(DECLARE)
    apply {
        ig_tm_md.ucast_egress_port = 1;
        if (hdr.request.form != 0) {
            md.wanted = true;
        }
        LANES(SUM)
        LANES(REPLACE)
        if (hdr.request.form != 4) {
            LANES(ROUND)
        }
        if (hdr.request.form == 2) {
            hdr.result.setInvalid();
        } else if (hdr.request.form == 3) {
            ig_dprsr_md.drop_ctl = 1;
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

struct egress_headers_t {
}
struct egress_metadata_t {
}

parser EgressParser(packet_in pkt, out egress_headers_t hdr, out egress_metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}

control Egress(inout egress_headers_t hdr, inout egress_metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {
    }
}

control EgressDeparser(packet_out pkt, inout egress_headers_t hdr, in egress_metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
