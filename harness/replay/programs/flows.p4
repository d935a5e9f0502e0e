/* SPDX-License-Identifier: Apache-2.0
 *
 * flows: registers by a hash of the flow. The packet leaves with the number of its flow's packets
 * and the time since the last one, and every fourth is dropped.
 */
#include "frame.p4i"

header note_h {
    bit<16> flow;
    bit<32> packets;
    bit<32> since;
}

struct headers_t {
    ethernet_h ethernet;
    note_h     note;
}

struct metadata_t {
    bit<10> flow;
    bit<32> now;
    bit<32> count;
}

struct seen_t {
    bit<32> packets;
    bit<32> last;
}

INGRESS_PARSER {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.note);
        transition accept;
    }
}

INGRESS {
    Hash<bit<10>>(HashAlgorithm_t.CRC16) flow_hash;
    Register<bit<32>, bit<10>>(1024, 100) packets;
    Register<bit<32>, bit<10>>(1024) last;

    RegisterAction<bit<32>, bit<10>, bit<32>>(packets) count = {
        void apply(inout bit<32> cell, out bit<32> result) {
            cell = cell |+| 1;
            result = cell;
        }
    };
    RegisterAction<bit<32>, bit<10>, bit<32>>(last) since = {
        void apply(inout bit<32> cell, out bit<32> result) {
            result = cell;
            cell = md.now;
        }
    };

    apply {
        md.flow = flow_hash.get({hdr.ethernet.dst_addr, hdr.ethernet.src_addr});
        md.now = ig_intr_md.ingress_mac_tstamp[31:0];
        hdr.note.flow = 6w0 ++ md.flow;
        md.count = count.execute(md.flow);
        hdr.note.packets = md.count;
        hdr.note.since = since.execute(md.flow);
        hdr.note.since = md.now - hdr.note.since;
        if (md.count[1:0] == 0) {
            ig_dprsr_md.drop_ctl = 1;
        }
        ig_tm_md.ucast_egress_port = 1;
        ig_tm_md.bypass_egress = 1;
    }
}

INGRESS_DEPARSER
EMIT_ALL
NO_EGRESS
MAIN
