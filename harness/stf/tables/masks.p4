// SPDX-License-Identifier: Apache-2.0
//
// Tables whose keys have masks that the control plane sets: one of several keys, one so small that it is
// an array, one with an action profile.
#include "../lang/frame.p4i"

header t_h {
    bit<8>   op;
    bit<8>   a;
    bit<128> b;
    int<16>  c;
    bit<8>   found;
}
struct headers_t { t_h t; }
struct metadata_t {}

PARSER(
    state parse {
        pkt.extract(hdr.t);
        transition accept;
    }
)

INGRESS {
    action set(bit<8> n) { hdr.t.found = n; }
    action none() { hdr.t.found = 0xff; }
    @dynamic_table_key_masks(1)
    table wide {
        key = {
            hdr.t.a       : exact;
            hdr.t.b       : exact;
            hdr.t.c[11:4] : exact;
        }
        actions = { set; none; }
        const default_action = none;
    }
    @dynamic_table_key_masks(1)
    table narrow {
        key = { hdr.t.a : exact; }
        actions = { set; none; }
        const default_action = none;
    }
    ActionProfile(4) members;
    @dynamic_table_key_masks(1)
    table by_member {
        key = { hdr.t.c : exact; }
        actions = { set; none; }
        implementation = members;
    }
    table plain {
        key = { hdr.t.a : exact; }
        actions = { none; }
        const default_action = none;
    }
    table defaulted {
        key = { hdr.t.a : exact; }
        actions = { set; none; }
        default_action = none;
    }
    apply {
        ig_tm_md.ucast_egress_port = 1;
        switch (hdr.t.op) {
            0: { wide.apply(); }
            1: { narrow.apply(); }
            2: { by_member.apply(); }
            3: { plain.apply(); }
            4: { defaulted.apply(); }
        }
    }
}

DEPARSER(pkt.emit(hdr);)
MAIN
