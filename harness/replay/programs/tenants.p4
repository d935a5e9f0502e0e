/* SPDX-License-Identifier: Apache-2.0
 *
 * tenants: a port's metadata say whose it is, a value set which EtherTypes are let in; each tenant
 * has a table of its own in the key.
 */
#include "frame.p4i"

struct port_t {
    bit<16> tenant;
    bit<8>  trust;
    bit<40> rest;
}

header label_h {
    bit<16> tenant;
    bit<8>  trust;
}

struct headers_t {
    label_h    label;
    ethernet_h ethernet;
}

struct metadata_t {
    bit<16> tenant;
    bit<8>  trust;
    bit<1>  let_in;
}

INGRESS_PARSER {
    value_set<bit<16>>(8) let_in;

    state start {
        pkt.extract(ig_intr_md);
        port_t port = port_metadata_unpack<port_t>(pkt);
        md.tenant = port.tenant;
        md.trust = port.trust;
        md.let_in = 0;
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            let_in: marked;
            default: accept;
        }
    }
    state marked {
        md.let_in = 1;
        transition accept;
    }
}

INGRESS {
    action send(PortId_t port) {
        ig_tm_md.ucast_egress_port = port;
    }
    action discard() {
        ig_dprsr_md.drop_ctl = 1;
    }
    table stations {
        key = {
            md.tenant            : exact;
            hdr.ethernet.dst_addr: exact;
        }
        actions = {
            send;
            discard;
        }
        default_action = discard();
        size = 256;
    }

    apply {
        if (md.let_in == 0) {
            ig_dprsr_md.drop_ctl = 1;
        } else {
            stations.apply();
        }
        hdr.label.setValid();
        hdr.label.tenant = md.tenant;
        hdr.label.trust = md.trust;
        ig_tm_md.bypass_egress = 1;
    }
}

INGRESS_DEPARSER
EMIT_ALL
NO_EGRESS
MAIN
