/* SPDX-License-Identifier: Apache-2.0
 *
 * Exercise 4, solved: of each sensor's reports only newer ones pass.
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

struct sensor_t { // what a cell of the register is: at most two numbers of 8, 16 or 32 bits
    bit<32> last;
    bit<32> refused;
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Register<sensor_t, bit<10>>(SENSORS, {0, 0}) sensors;
    RegisterAction<sensor_t, bit<10>, bit<8>>(sensors) take = {
        void apply(inout sensor_t sensor, out bit<8> fresh) {
            if (hdr.report.number > sensor.last) {
                sensor.last = hdr.report.number;
                fresh = 1;
            } else {
                sensor.refused = sensor.refused + 1;
                fresh = 0;
            }
        }
    };

    apply {
        ig_tm_md.ucast_egress_port = 1; // where the reports are collected
        if (hdr.report.isValid()) {
            if (hdr.report.sensor[15:10] == 0) { // below SENSORS
                md.fresh = take.execute(hdr.report.sensor[9:0]);
            }
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
