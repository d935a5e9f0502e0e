// SPDX-License-Identifier: Apache-2.0
//
// An instance that is a constructor's argument: one table and one register, applied by the block that declares it
// and by the one that gets it, which calls its parameters otherwise and hands in a copy of one of them.
#include "frame.p4i"

header t_h {
    bit<8> way;
    bit<8> key;
    bit<8> out1;
    bit<8> out2;
}
struct headers_t { t_h t; }
struct look_t { bit<8> key; bit<8> kind; }
struct metadata_t { look_t look; bit<8> found; bit<8> n; }

PARSER(state parse { pkt.extract(hdr.t); transition accept; })

control Finder_t(in bit<8> key, inout metadata_t md);

control Finder(in bit<8> key, inout metadata_t md)(bit<8> base) {
    Register<bit<8>, bit<1>>(2) asked;
    RegisterAction<bit<8>, bit<1>, bit<8>>(asked) ask = {
        void apply(inout bit<8> v, out bit<8> rv) { v = v + 1; rv = v; }
    };
    action hit(bit<8> value) { md.found = value; }
    action miss() { md.found = base; }
    table finds {
        key = { key : exact; }
        actions = { hit; miss; }
        const default_action = miss();
        const entries = { 1 : hit(0x11); 2 : hit(0x22); }
    }
    apply {
        finds.apply();
        md.n = ask.execute(0);
    }
}

control Router(in look_t look, inout metadata_t md)(Finder_t finder, bit<8> twice) {
    apply {
        md.look.key = 2;
        if (look.kind == twice)
            finder.apply(look.key, md);
        else
            finder.apply(look.kind, md);
    }
}

INGRESS {
    Finder(0x77) finder;
    Router(finder, 0) router;
    apply {
        md.look.key = hdr.t.key;
        md.look.kind = hdr.t.way;
        if (hdr.t.way < 3)
            router.apply(md.look, md);
        else
            finder.apply(md.look.key, md);
        hdr.t.out1 = md.found;
        hdr.t.out2 = md.n;
        ig_tm_md.ucast_egress_port = 1;
    }
}

DEPARSER(pkt.emit(hdr);)
MAIN
