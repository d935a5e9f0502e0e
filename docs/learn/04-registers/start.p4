/* SPDX-License-Identifier: Apache-2.0
 *
 * Exercise 4: of each sensor's reports only newer ones are to pass, and so far all do. README.md says what to do.
 */
#include <core.p4>
#include <tna.p4>
#include "../common/headers.p4"
#include "../common/empty_egress.p4"

#define SENSORS 1024

header report_h { // after the Ethernet header, of type TYPE_LEARN
    bit<16> sensor;
    bit<32> number; // a sensor's first report has number 1, and the numbers grow
    bit<32> value;
}

struct headers_t {
    ethernet_h ethernet;
    report_h   report;
}

struct metadata_t {
    bit<8> fresh;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        md.fresh = 0;
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            TYPE_LEARN : parse_report;
            default    : accept;
        }
    }
    state parse_report {
        pkt.extract(hdr.report);
        transition accept;
    }
}

// TODO 3: a struct of two numbers, 'last' and 'refused', as what a cell of the register is.

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Register<bit<32>, bit<10>>(SENSORS, 0) sensors;
    RegisterAction<bit<32>, bit<10>, bit<8>>(sensors) take = {
        void apply(inout bit<32> last, out bit<8> fresh) {
            // TODO 1: 'fresh' is whether the number is greater than the last one. Only then is it stored.
            // TODO 3: count in the same access how many reports were refused.
            last = hdr.report.number;
            fresh = 1;
        }
    };

    apply {
        ig_tm_md.ucast_egress_port = 1; // where the reports are collected
        if (hdr.report.isValid()) {
            // TODO 2: each sensor has a cell of its own; a sensor that has none is refused.
            md.fresh = take.execute(0);
            if (md.fresh == 0) {
                ig_dprsr_md.drop_ctl = 1;
            }
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
