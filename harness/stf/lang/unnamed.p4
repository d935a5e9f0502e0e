// SPDX-License-Identifier: Apache-2.0
//
// A direct register that no table names belongs to the one table whose actions use it.
#include "frame.p4i"

header t_h {
    bit<8>  key;
    bit<8>  action_ran;
    bit<16> n;
}
struct headers_t { t_h t; }
struct metadata_t {}

PARSER(state parse { pkt.extract(hdr.t); transition accept; })

INGRESS {
    DirectRegister<bit<16>>(0x10) seen;
    DirectRegisterAction<bit<16>, bit<16>>(seen) count = {
        void apply(inout bit<16> v, out bit<16> rv) { v = v + 1; rv = v; }
    };
    action first() { hdr.t.n = count.execute(); hdr.t.action_ran = 1; }
    action second() { hdr.t.n = count.execute(); hdr.t.action_ran = 2; }
    table counted {
        key = { hdr.t.key : exact; }
        actions = { first; second; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = { 1 : first(); 2 : second(); 3 : second(); }
    }
    apply {
        ig_tm_md.ucast_egress_port = 1;
        counted.apply();
    }
}

DEPARSER(pkt.emit(hdr);)
MAIN
