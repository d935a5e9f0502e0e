/* SPDX-License-Identifier: Apache-2.0
 *
 * handed_on: fields with a validity of their own that are handed to actions, functions and controls.
 * What is copied in and out and not assigned is as valid afterwards as it was before.
 */
#include <core.p4>
#include <tna.p4>
#include "frame.p4i"

header order_h {
    bit<8> op;
    bit<8> set;    // the port is assigned where it is handed to
    bit<8> before; // and was before that: port 3
    bit<8> is_set; // shown: 1 port, 2 group a, 4 digest type
}
header rest_h { bit<80> rest; }
struct headers_t {
    order_h order;
    rest_h  rest;
}
struct metadata_t { PortId_t port; PortId_t kept; }

PARSER_IN(IngressParser) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.order);
        pkt.extract(hdr.rest);
        md.port = 7;
        md.kept = 0;
        transition accept;
    }
}

action set_cos(inout ingress_intrinsic_metadata_for_tm_t tm) {
    tm.ingress_cos = 3;
}
void maybe(in bit<8> set, inout ingress_intrinsic_metadata_for_tm_t tm) {
    if (set != 0) tm.ucast_egress_port = 5;
}
void maybe_port(in bit<8> set, inout PortId_t port) {
    if (set != 0) port = 5;
}
void maybe_out(in bit<8> set, out PortId_t port) {
    if (set != 0) port = 5;
}
void nested(in bit<8> set, inout ingress_intrinsic_metadata_for_tm_t tm) {
    tm.qid = 1;
    maybe_port(set, tm.ucast_egress_port);
    maybe(set, tm);
}
void take_back(inout ingress_intrinsic_metadata_for_tm_t tm, in bit<8> set) {
    tm.ucast_egress_port = 6;
    if (set == 0) invalidate(tm.ucast_egress_port);
}
bit<8> asked(in ingress_intrinsic_metadata_for_tm_t tm) {
    if (is_validated(tm.ucast_egress_port)) return 1;
    return 0;
}
struct both_t { ingress_intrinsic_metadata_for_tm_t tm; bit<8> n; }
void in_a_struct(inout both_t b) {
    if (b.n != 0) b.tm.ucast_egress_port = 5;
}
control Pick(in bit<8> set, inout PortId_t port) {
    action to() { port = 5; }
    action none() {}
    table pick {
        key = { set : exact; }
        actions = { to; none; }
        const entries = { 1 : to(); }
        const default_action = none();
    }
    apply { pick.apply(); }
}
control Deep(in bit<8> set, inout PortId_t port) {
    Pick() pick;
    apply { pick.apply(set, port); }
}

CONTROL_IN(Ingress) {
    Pick() once;
    Pick() twice;
    Deep() deep;
    action of_table(inout ingress_intrinsic_metadata_for_tm_t tm, inout PortId_t port, PortId_t to) {
        tm.ingress_cos = 1;
        port = to;
    }
    action of_table_not(inout ingress_intrinsic_metadata_for_tm_t tm, inout PortId_t port) {
        tm.ingress_cos = 2;
    }
    table by_action {
        key = { hdr.order.set : exact; }
        actions = {
            of_table(ig_tm_md, md.kept);
            of_table_not(ig_tm_md, ig_tm_md.ucast_egress_port);
        }
        const entries = { 1 : of_table(ig_tm_md, md.kept, 4); }
        const default_action = of_table_not(ig_tm_md, ig_tm_md.ucast_egress_port);
    }
    apply {
        if (hdr.order.before != 0) ig_tm_md.ucast_egress_port = 3;
        if (hdr.order.op == 0) {
            set_cos(ig_tm_md);
        } else if (hdr.order.op == 1) {
            maybe(hdr.order.set, ig_tm_md);
        } else if (hdr.order.op == 2) {
            maybe_port(hdr.order.set, ig_tm_md.ucast_egress_port);
        } else if (hdr.order.op == 3) {
            maybe_out(hdr.order.set, ig_tm_md.ucast_egress_port);
        } else if (hdr.order.op == 4) {
            nested(hdr.order.set, ig_tm_md);
        } else if (hdr.order.op == 5) {
            once.apply(hdr.order.set, ig_tm_md.ucast_egress_port);
        } else if (hdr.order.op == 6) { // one control for a port of the program and for the switch's
            if (hdr.order.before == 2) twice.apply(hdr.order.set, md.port);
            else twice.apply(hdr.order.set, ig_tm_md.ucast_egress_port);
        } else if (hdr.order.op == 7) {
            deep.apply(hdr.order.set, ig_tm_md.ucast_egress_port);
        } else if (hdr.order.op == 8) {
            take_back(set = hdr.order.set, tm = ig_tm_md);
        } else if (hdr.order.op == 9) { // a copy of one's own, put back
            ingress_intrinsic_metadata_for_tm_t tm = ig_tm_md;
            maybe(hdr.order.set, tm);
            ig_tm_md = tm;
        } else if (hdr.order.op == 10) {
            both_t b;
            b.tm = ig_tm_md;
            b.n = hdr.order.set;
            in_a_struct(b);
            ig_tm_md = b.tm;
        } else if (hdr.order.op == 11) { // nothing was ever put in
            ingress_intrinsic_metadata_for_tm_t tm;
            tm.qid = 0;
            maybe(hdr.order.set, tm);
            ig_tm_md = tm;
        } else if (hdr.order.op == 12) {
            by_action.apply();
            if (md.kept == 4) ig_tm_md.ucast_egress_port = md.kept;
        } else if (hdr.order.op == 13) { // to itself
            ig_tm_md.ucast_egress_port = ig_tm_md.ucast_egress_port;
            if (hdr.order.set != 0) ig_tm_md.ucast_egress_port = 5;
        } else if (hdr.order.op == 14) {
            hdr.order.set = asked(ig_tm_md);
        }
        hdr.order.is_set = 0;
        if (is_validated(ig_tm_md.ucast_egress_port)) hdr.order.is_set[0:0] = 1;
        if (is_validated(ig_tm_md.mcast_grp_a)) hdr.order.is_set[1:1] = 1;
        if (is_validated(ig_dprsr_md.digest_type)) hdr.order.is_set[2:2] = 1;
        ig_tm_md.copy_to_cpu = 1;
    }
}

DEPARSER_IN(IngressDeparser) {
    apply { pkt.emit(hdr); }
}

PARSER_OUT(EgressParser) {
    state start {
        pkt.extract(eg_intr_md);
        pkt.extract(hdr.order);
        transition accept;
    }
}
CONTROL_OUT(Egress) { apply { } }
DEPARSER_OUT(EgressDeparser) {
    apply { pkt.emit(hdr); }
}

MAIN
