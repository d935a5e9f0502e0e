// SPDX-License-Identifier: Apache-2.0
//
// Accesses of one register that never meet: sides of an if, cases, actions of a table, hit and
// miss, what exit and return end, and tests that contradict each other.
#include "frame.p4i"

control Ingress(inout headers_t hdr, inout md_t md) {
    Register<bit<8>, bit<8>>(16) r;
    RegisterAction<bit<8>, bit<8>, bit<8>>(r) get = {
        void apply(inout bit<8> value, out bit<8> rv) {
            rv = value;
        }
    };
    action one() {
        md.x = get.execute(1);
    }
    action two() {
        md.x = get.execute(2);
    }
    action none() {}
    table t {
        key = { hdr.num.a : exact; }
        actions = { one; two; none; }
        const default_action = none;
    }
    apply {
        if (hdr.num.d == 1) {
            switch (hdr.num.b) {
                1 : { md.x = r.read(0); }
                2 : { r.write(0, 1); }
                default : {
                    if (!t.apply().hit) {
                        md.y = r.read(3);
                    }
                }
            }
            return;
        } else if (hdr.num.d == 2) {
            switch (t.apply().action_run) {
                none : { md.y = r.read(4); }
                two : { md.y = 1; }
            }
            exit;
        }
        if (hdr.num.d > 5 && hdr.num.d < 9) {
            md.x = r.read(5);
        }
        if (hdr.num.d == 3 || hdr.num.d == 4) {
            md.x = r.read(6);
        }
        if (hdr.num.d >= 9) {
            md.x = r.read(7);
        } else {
            md.z = 1;
        }
        if (hdr.num.d == 0 && hdr.num.isValid()) {
            r.write(1, 1);
        }
        if (hdr.num.d == 0 && !hdr.num.isValid()) {
            r.write(2, 1);
        }
    }
}

MAIN
