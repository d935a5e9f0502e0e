/* SPDX-License-Identifier: Apache-2.0
 *
 * results: two halves of a vector in the pairs of sixteen registers, by one control whose arguments
 * and results are parameters of their own: the results are copied back behind its table. 'command': 0
 * write, 1 add, 2 read the high half, 3 the low one; a result that nobody sets is copied too.
 */
#include <core.p4>
#include <tna.p4>

header request_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
    bit<8>  command;
    bit<8>  index;
}

header half_h {
    bit<32> v0;
    bit<32> v1;
    bit<32> v2;
    bit<32> v3;
    bit<32> v4;
    bit<32> v5;
    bit<32> v6;
    bit<32> v7;
    bit<32> v8;
    bit<32> v9;
    bit<32> v10;
    bit<32> v11;
    bit<32> v12;
    bit<32> v13;
    bit<32> v14;
    bit<32> v15;
}

struct headers_t {
    request_h request;
    half_h    low;
    half_h    high;
}

struct metadata_t {
    bit<8> command;
    bit<8> index;
}

struct pair_t {
    bit<32> low;
    bit<32> high;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.request);
        pkt.extract(hdr.low);
        pkt.extract(hdr.high);
        transition accept;
    }
}

control Cell(in bit<32> low, in bit<32> high, out bit<32> low_out, out bit<32> high_out,
             in metadata_t md) {
    Register<pair_t, bit<8>>(200) cells;
    RegisterAction<pair_t, bit<8>, bit<32>>(cells) write = {
        void apply(inout pair_t cell, out bit<32> rv) {
            cell.low = low;
            cell.high = high;
            rv = cell.high;
        }
    };
    RegisterAction<pair_t, bit<8>, bit<32>>(cells) add = {
        void apply(inout pair_t cell, out bit<32> rv) {
            cell.low = cell.low + low;
            cell.high = cell.high + high;
            rv = cell.high;
        }
    };
    RegisterAction<pair_t, bit<8>, bit<32>>(cells) read_high = {
        void apply(inout pair_t cell, out bit<32> rv) {
            rv = cell.high;
        }
    };
    RegisterAction<pair_t, bit<8>, bit<32>>(cells) read_low = {
        void apply(inout pair_t cell, out bit<32> rv) {
            rv = cell.low;
        }
    };
    action do_write() {
        high_out = write.execute(md.index);
    }
    action do_add() {
        high_out = add.execute(md.index);
    }
    action do_read_high() {
        high_out = read_high.execute(md.index);
    }
    action do_read_low() {
        low_out = read_low.execute(md.index);
    }
    table cell {
        key = {
            md.command : ternary;
        }
        actions = {
            do_write;
            do_add;
            do_read_high;
            do_read_low;
            NoAction;
        }
        const entries = {
            0 : do_write();
            1 : do_add();
            2 : do_read_high();
            3 : do_read_low();
        }
        const default_action = NoAction;
        size = 4;
    }
    apply {
        cell.apply();
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Cell() cell0;
    Cell() cell1;
    Cell() cell2;
    Cell() cell3;
    Cell() cell4;
    Cell() cell5;
    Cell() cell6;
    Cell() cell7;
    Cell() cell8;
    Cell() cell9;
    Cell() cell10;
    Cell() cell11;
    Cell() cell12;
    Cell() cell13;
    Cell() cell14;
    Cell() cell15;
    apply {
        ig_tm_md.ucast_egress_port = 1;
        md.command = hdr.request.command;
        md.index = hdr.request.index;
        cell0.apply(hdr.low.v0, hdr.high.v0, hdr.low.v0, hdr.high.v0, md);
        cell1.apply(hdr.low.v1, hdr.high.v1, hdr.low.v1, hdr.high.v1, md);
        cell2.apply(hdr.low.v2, hdr.high.v2, hdr.low.v2, hdr.high.v2, md);
        cell3.apply(hdr.low.v3, hdr.high.v3, hdr.low.v3, hdr.high.v3, md);
        cell4.apply(hdr.low.v4, hdr.high.v4, hdr.low.v4, hdr.high.v4, md);
        cell5.apply(hdr.low.v5, hdr.high.v5, hdr.low.v5, hdr.high.v5, md);
        cell6.apply(hdr.low.v6, hdr.high.v6, hdr.low.v6, hdr.high.v6, md);
        cell7.apply(hdr.low.v7, hdr.high.v7, hdr.low.v7, hdr.high.v7, md);
        cell8.apply(hdr.low.v8, hdr.high.v8, hdr.low.v8, hdr.high.v8, md);
        cell9.apply(hdr.low.v9, hdr.high.v9, hdr.low.v9, hdr.high.v9, md);
        cell10.apply(hdr.low.v10, hdr.high.v10, hdr.low.v10, hdr.high.v10, md);
        cell11.apply(hdr.low.v11, hdr.high.v11, hdr.low.v11, hdr.high.v11, md);
        cell12.apply(hdr.low.v12, hdr.high.v12, hdr.low.v12, hdr.high.v12, md);
        cell13.apply(hdr.low.v13, hdr.high.v13, hdr.low.v13, hdr.high.v13, md);
        cell14.apply(hdr.low.v14, hdr.high.v14, hdr.low.v14, hdr.high.v14, md);
        cell15.apply(hdr.low.v15, hdr.high.v15, hdr.low.v15, hdr.high.v15, md);
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
