/* SPDX-License-Identifier: Apache-2.0
 *
 * pipes: a program of two pipelines. Pipes 0 and 2 run 'left', whose ports are the switch's; pipes 1
 * and 3 run 'right', on packets that left sends them through ports in loopback. Left's ingress puts a
 * tag in front; right's egress, right's ingress and left's egress each write their byte of it. Both
 * use one control, of which each has a table and a register of its own.
 */
#include <core.p4>
#include <tna.p4>
#include "frame.p4i"

header tag_h {
    bit<8> left_in;
    bit<8> right_out;
    bit<8> right_in;
    bit<8> left_out;
}

struct headers_t {
    tag_h      tag;
    ethernet_h ethernet;
}

struct metadata_t {
    bit<16> here; // metadata of the port
}

control Tally(in bit<16> ether_type, out bit<8> seen) {
    Register<bit<8>, bit<4>>(16) cells;
    RegisterAction<bit<8>, bit<4>, bit<8>>(cells) next = {
        void apply(inout bit<8> cell, out bit<8> before) {
            before = cell;
            cell = cell + 1;
        }
    };
    action count(bit<4> cell) {
        seen = next.execute(cell);
    }
    action skip() {
        seen = 0xff;
    }
    table kinds {
        key = { ether_type : exact; }
        actions = { count; skip; }
        const default_action = skip();
        size = 16;
    }
    apply {
        kinds.apply();
    }
}

// ---- left ----

PARSER_IN(LeftParser) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        transition accept;
    }
}

CONTROL_IN(LeftIngress) {
    Tally() tally;
    action to(PortId_t port) {
        ig_tm_md.ucast_egress_port = port;
    }
    table ports {
        key = { ig_intr_md.ingress_port : exact; }
        actions = { to; NoAction; }
        const default_action = NoAction();
        size = 512;
    }
    apply {
        bit<8> seen;
        hdr.tag.setValid();
        tally.apply(hdr.ethernet.ether_type, seen);
        hdr.tag.left_in = seen;
        hdr.tag.right_out = 0;
        hdr.tag.right_in = 0;
        hdr.tag.left_out = 0;
        ports.apply();
    }
}

DEPARSER_IN(Deparser) {
    apply {
        pkt.emit(hdr);
    }
}

PARSER_OUT(Tagged) {
    state start {
        pkt.extract(eg_intr_md);
        pkt.extract(hdr.tag);
        pkt.extract(hdr.ethernet);
        transition accept;
    }
}

CONTROL_OUT(LeftEgress) {
    action keep(bit<8> as) {
        hdr.tag.left_out = as;
    }
    action take() {
        hdr.tag.setInvalid();
    }
    table leave {
        key = { hdr.ethernet.ether_type : exact; }
        actions = { keep; take; }
        default_action = keep(0xee);
        size = 16;
    }
    apply {
        leave.apply();
    }
}

DEPARSER_OUT(OutDeparser) {
    apply {
        pkt.emit(hdr);
    }
}

// ---- right ----

PARSER_IN(RightParser) {
    state start {
        pkt.extract(ig_intr_md);
        md.here = pkt.lookahead<bit<16>>();
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.tag);
        pkt.extract(hdr.ethernet);
        transition accept;
    }
}

CONTROL_IN(RightIngress) {
    Tally() tally;
    action to(PortId_t port) {
        ig_tm_md.ucast_egress_port = port;
    }
    table ports {
        key = { ig_intr_md.ingress_port : exact; md.here : exact; }
        actions = { to; NoAction; }
        const default_action = NoAction();
        size = 512;
    }
    apply {
        bit<8> seen;
        tally.apply(hdr.ethernet.ether_type, seen);
        hdr.tag.right_in = seen;
        ports.apply();
    }
}

CONTROL_OUT(RightEgress) {
    apply {
        hdr.tag.right_out = eg_intr_md.egress_port[8:7] ++ 6w0x21;
    }
}

Pipeline(LeftParser(), LeftIngress(), Deparser(), Tagged(), LeftEgress(), OutDeparser()) left;
Pipeline(RightParser(), RightIngress(), Deparser(), Tagged(), RightEgress(), OutDeparser()) right;
Switch(left, right) main;
