// SPDX-License-Identifier: Apache-2.0
//
// Registers that a packet comes to twice where its own bits, or entries, say so
// (harness/compiler/instrument/test_guard.py). What else the packet asks for must not happen then.
#include <core.p4>
#include <tna.p4>

header words_h {
    bit<8> what;
    bit<8> n;
    bit<32> a;
    bit<32> b;
    bit<32> c;
    bit<64> fill;
}

struct headers {
    words_h m;
}

struct note_t {
    bit<8> n;
}

struct meta {
    MirrorId_t session;
}

parser IngressParser(packet_in p, out headers h, out meta m,
                     out ingress_intrinsic_metadata_t i) {
    state start {
        p.extract(i);
        p.advance(PORT_METADATA_SIZE);
        p.extract(h.m);
        m.session = 1;
        transition accept;
    }
}

control Ingress(inout headers h, inout meta m, in ingress_intrinsic_metadata_t i,
                in ingress_intrinsic_metadata_from_parser_t ip,
                inout ingress_intrinsic_metadata_for_deparser_t d,
                inout ingress_intrinsic_metadata_for_tm_t t) {
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) add = {
        void apply(inout bit<32> v, out bit<32> r) {
            v = v + 1;
            r = v;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) look = {
        void apply(inout bit<32> v, out bit<32> r) {
            r = v;
        }
    };
    Register<bit<32>, bit<8>>(256) others;
    RegisterAction<bit<32>, bit<8>, bit<32>>(others) count = {
        void apply(inout bit<32> v) {
            v = v + 1;
        }
    };
    action read_it() {
        h.m.b = look.execute(h.m.n);
    }
    @silken_consumes
    action take() {
        d.drop_ctl = 1;
    }
    table readers {
        key = { h.m.n : exact; }
        actions = { read_it; NoAction; }
        const default_action = NoAction;
        size = 16;
    }
    table takers {
        key = { h.m.what : ternary; }
        actions = { take; NoAction; }
        const default_action = NoAction;
        const entries = { 0x20 &&& 0x20 : take(); }
        size = 1;
    }
    apply {
        t.ucast_egress_port = 2;
        if (h.m.what[1:1] == 1)
            t.copy_to_cpu = 1;
        if (h.m.what[2:2] == 1)
            d.digest_type = 1;
        if (h.m.what[3:3] == 1)
            d.resubmit_type = 1;
        if (h.m.what[4:4] == 1)
            d.mirror_type = 1;
        takers.apply();
        if (h.m.what[0:0] == 1)
            h.m.a = add.execute(h.m.n);
        readers.apply();
        count.execute(h.m.n);
    }
}

control IngressDeparser(packet_out p, inout headers h, in meta m,
                        in ingress_intrinsic_metadata_for_deparser_t d) {
    Digest<note_t>() note;
    Resubmit() again;
    Mirror() copy;
    apply {
        if (d.digest_type == 1)
            note.pack({h.m.n});
        if (d.resubmit_type == 1)
            again.emit();
        if (d.mirror_type == 1)
            copy.emit(m.session);
        p.emit(h);
    }
}

parser EgressParser(packet_in p, out headers h, out meta m, out egress_intrinsic_metadata_t e) {
    state start {
        p.extract(e);
        p.extract(h.m);
        transition accept;
    }
}

control Egress(inout headers h, inout meta m, in egress_intrinsic_metadata_t e,
               in egress_intrinsic_metadata_from_parser_t ep,
               inout egress_intrinsic_metadata_for_deparser_t d,
               inout egress_intrinsic_metadata_for_output_port_t o) {
    Register<bit<32>, bit<8>>(256) sent;
    RegisterAction<bit<32>, bit<8>, bit<32>>(sent) one = {
        void apply(inout bit<32> v, out bit<32> r) {
            v = v + 1;
            r = v;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(sent) ten = {
        void apply(inout bit<32> v, out bit<32> r) {
            v = v + 10;
            r = v;
        }
    };
    apply {
        if (h.m.what[6:6] == 1)
            h.m.c = one.execute(h.m.n);
        if (h.m.what[7:7] == 1)
            h.m.c = ten.execute(h.m.n);
    }
}

control EgressDeparser(packet_out p, inout headers h, in meta m,
                       in egress_intrinsic_metadata_for_deparser_t d) {
    apply {
        p.emit(h);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(),
         EgressDeparser()) pipe;
Switch(pipe) main;
