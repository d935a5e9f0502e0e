// SPDX-License-Identifier: Apache-2.0
//
// One register on one path twice: in a row, through tables, within one action.
#include "../golden/frame.p4i"

control Ingress(inout headers_t hdr, inout md_t md) {
    Register<bit<8>, bit<8>>(16) plain;
    Register<bit<8>, bit<8>>(16) in_tables;
    Register<bit<8>, bit<8>>(16) in_action;
    Register<bit<8>, bit<8>>(16) after_if;
    Register<bit<8>, bit<8>>(16) mixed;
    RegisterAction<bit<8>, bit<8>, bit<8>>(in_tables) get = {
        void apply(inout bit<8> value, out bit<8> rv) {
            rv = value;
        }
    };
    RegisterAction<bit<8>, bit<8>, bit<8>>(in_tables) put = {
        void apply(inout bit<8> value) {
            value = md.x;
        }
    };
    action do_get() {
        md.x = get.execute(1);
    }
    action do_put() {
        put.execute(2);
    }
    action both() {
        md.x = in_action.read(1);
        in_action.write(2, md.x);
    }
    table t {
        key = { hdr.num.a : exact; }
        actions = { do_get; NoAction; }
    }
    table u {
        key = { hdr.num.b : exact; }
        actions = { do_put; both; NoAction; }
    }
    apply {
        md.x = plain.read(0);
        plain.write(1, 1);
        t.apply();
        u.apply();
        if (hdr.num.a == 1) {
            md.y = after_if.read(1);
        }
        if (hdr.num.b == 2) {
            after_if.write(1, 2);
        }
        if (hdr.num.a == 1) {
            md.y = mixed.read(1);
            hdr.num.a = hdr.num.a + 1;
        }
        if (hdr.num.a == 2) {
            mixed.write(1, 2);
        }
    }
}

MAIN
