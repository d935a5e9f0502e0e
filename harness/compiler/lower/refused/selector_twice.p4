// SPDX-License-Identifier: Apache-2.0
//
// The memory of a selector, reached twice in one pass: by an action and by choosing a member, by two
// actions of which one is on the register that was given.
#include "../golden/frame.p4i"

control Ingress(inout headers_t hdr, inout md_t md) {
    Hash<bit<14>>(HashAlgorithm_t.CRC16) hash;
    ActionProfile(16) members;
    ActionSelector(members, hash, SelectorMode_t.FAIR, 8, 4) choice;
    Register<bit<1>, bit<32>>(1024) alive;
    ActionProfile(16) more_members;
    ActionSelector(more_members, hash, SelectorMode_t.FAIR, alive, 8, 4) other;

    SelectorAction(choice) down = {
        void apply(inout bit<1> value) { value = 0; }
    };
    SelectorAction(other) other_down = {
        void apply(inout bit<1> value) { value = 0; }
    };
    RegisterAction<bit<1>, bit<32>, bit<1>>(alive) look = {
        void apply(inout bit<1> value, out bit<1> rv) { rv = value; }
    };
    action set(bit<8> v) { hdr.num.a = v; }
    table t {
        key = { hdr.num.a : exact; hdr.num.b : selector; }
        actions = { set; NoAction; }
        implementation = choice;
    }
    apply {
        down.execute(hdr.num.d);
        t.apply();
        md.x[0:0] = look.execute(hdr.num.d);
        if (md.flag)
            other_down.execute(hdr.num.d);
        hdr.num.a = md.x;
    }
}

MAIN
