// SPDX-License-Identifier: Apache-2.0
//
// Actions on the memory of selectors: one of the selector's own, one that a register gives.
#include "frame.p4i"

control Ingress(inout headers_t hdr, inout md_t md) {
    Hash<bit<14>>(HashAlgorithm_t.CRC16) hash;
    ActionProfile(16) members;
    ActionSelector(members, hash, SelectorMode_t.FAIR, 130, 4) choice;
    Register<bit<1>, bit<32>>(1024) alive;
    ActionProfile(16) more_members;
    ActionSelector(more_members, hash, SelectorMode_t.RESILIENT, alive, 8, 4) other;

    SelectorAction(choice) down = {
        void apply(inout bit<1> value, out bit<1> rv) {
            rv = value;
            value = 0;
        }
    };
    RegisterAction<bit<1>, bit<32>, bit<1>>(alive) up = {
        void apply(inout bit<1> value) { value = 1; }
    };
    action set(bit<8> v) { hdr.num.a = v; }
    table t {
        key = { hdr.num.a : exact; hdr.num.b : selector; }
        actions = { set; NoAction; }
        implementation = choice;
    }
    table u {
        key = { hdr.num.a : exact; hdr.num.b : selector; }
        actions = { set; NoAction; }
        implementation = other;
    }
    apply {
        if (hdr.num.c == 0) {
            md.x[0:0] = down.execute(hdr.num.d);
        } else {
            t.apply();
        }
        if (hdr.num.c == 1) {
            up.execute(hdr.num.d);
        } else {
            u.apply();
        }
        hdr.num.b = md.x;
    }
}

MAIN
