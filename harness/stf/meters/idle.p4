/* SPDX-License-Identifier: Apache-2.0
 *
 * idle: tables whose entries age. 'pair_a' and 'pair_b' match alike and are looked up as one.
 */
#include "../externs/frame.p4i"

INGRESS {
    action put(bit<32> value) {
        hdr.op.r = value;
    }
    action put_s(bit<32> value) {
        hdr.op.s = value;
    }
    table learned {
        key = { hdr.op.a : exact; }
        actions = { put; NoAction; }
        default_action = NoAction;
        size = 64;
        idle_timeout = true;
    }
    table masked {
        key = { hdr.op.b : ternary; }
        actions = { put_s; }
        size = 64;
        idle_timeout = true;
    }
    table pair_a {
        key = { hdr.op.h : exact; }
        actions = { put; NoAction; }
        const default_action = NoAction;
        const entries = {
            1 : put(11);
            2 : put(12);
        }
        idle_timeout = true;
    }
    table pair_b {
        key = { hdr.op.h : exact; }
        actions = { put_s; NoAction; }
        const default_action = NoAction;
        const entries = {
            1 : put_s(21);
            2 : put_s(22);
        }
        idle_timeout = true;
    }
    apply {
        ig_tm_md.ucast_egress_port = 1;
        ig_tm_md.bypass_egress = 1;
        learned.apply();
        masked.apply();
        pair_a.apply();
        pair_b.apply();
    }
}

MAIN
