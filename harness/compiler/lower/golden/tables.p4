// SPDX-License-Identifier: Apache-2.0
//
// Tables: kinds of keys and their names, entries, default actions, what was hit and what ran.
#include "frame.p4i"

const bit<8> LIMIT = 10;

control Ingress(inout headers_t hdr, inout md_t md,
                in ingress_intrinsic_metadata_t intr,
                inout ingress_intrinsic_metadata_for_tm_t tm) {
    DirectCounter<bit<64>>(CounterType_t.BYTES) bytes;
    DirectRegister<bit<32>>(7) seen;
    DirectRegisterAction<bit<32>, bit<32>>(seen) see = {
        void apply(inout bit<32> value, out bit<32> before) {
            before = value;
            value = value |+| 1;
        }
    };
    Hash<bit<16>>(HashAlgorithm_t.CRC16) mix;

    action send(PortId_t port, bool mark) {
        tm.ucast_egress_port = port;
        md.flag = mark;
    }
    @name("elsewhere") action other(bit<16> group) {
        tm.mcast_grp_a = group;
    }
    action count() {
        bytes.count();
        md.w = see.execute();
    }
    action give(out bit<8> where, in bit<8> base, bit<8> add) {
        where = base + add;
    }
    action stop() {
        exit;
    }

    table all_kinds {
        key = {
            hdr.num.a : exact;
            hdr.num.b : ternary;
            hdr.num.c : range;
            intr.ingress_port[6:0] : ternary @name("port");
            hdr.num.isValid() : exact;
        }
        actions = { send; other; @defaultonly NoAction; @tableonly stop; }
        const default_action = NoAction;
        size = 100;
        const entries = {
            (1, 2, 3, 4, true) : send(5, true);
            (1, 2 &&& 3, 3 .. 9, _, false) : other(7);
            (LIMIT + 1, _, _, 7w1, true) : send(mark = false, port = 9);
            (3, 8w0x80 &&& 8w0xc0, 7, 1, true) : stop();
        }
    }

    @hidden table prefixes {
        key = { hdr.num.d : lpm; }
        actions = { send; other; }
        default_action = other(3);
        entries = {
            const 0x0a000000 &&& 0xff000000 : other(1);
            0x0a010203 : send(1, false);
            default : other(2);
        }
    }

    @name("named") table priorities {
        key = { hdr.num.a : ternary; hdr.num.b + 1 : exact @name("next"); }
        actions = { count; @defaultonly NoAction; }
        counters = bytes;
        registers = seen;
        entries = {
            priority = 5 : (1 &&& 1, 2) : count();
            (_, 3) : count();
            priority = 1 : (_, 4) : count();
        }
    }

    table computed {
        key = { mix.get({ hdr.num.a, hdr.num.b }) : exact @name("hash"); }
        actions = { give(md.x, hdr.num.a); stop; }
        default_action = give(md.x, hdr.num.a, 4);
    }

    table no_keys {
        actions = { stop; }
    }

    apply {
        if (all_kinds.apply().hit) {
            md.x = 1;
        } else if (prefixes.apply().miss) {
            md.x = 2;
        }
        switch (priorities.apply().action_run) {
            count : { md.y = 1; }
            NoAction :
            default : { md.y = 2; }
        }
        switch (hdr.num.a) {
            1 :
            2 : { computed.apply(); }
            LIMIT : { md.y = 3; }
            default : { return; }
        }
        md.flag = no_keys.apply().hit;
    }
}

MAIN
