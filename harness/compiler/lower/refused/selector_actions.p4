// SPDX-License-Identifier: Apache-2.0
//
// Actions on selectors that the chip has no place for: bodies that are more than setting, clearing and
// reading a bit, no index, registers that do not fit.
#include "../golden/frame.p4i"

control Ingress(inout headers_t hdr, inout md_t md) {
    Hash<bit<14>>(HashAlgorithm_t.CRC16) hash;
    Register<bit<1>, bit<32>>(127) short_of_a_line;
    Register<bit<1>, bit<32>>(128) twice_given;
    ActionProfile(16) members;
    ActionProfile(16) more_members;
    ActionSelector(members, hash, SelectorMode_t.FAIR, 8, 4) choice;
    ActionSelector(more_members, hash, SelectorMode_t.FAIR, short_of_a_line, 8, 4) no_line;
    ActionSelector(more_members, hash, SelectorMode_t.FAIR, twice_given, 8, 4) first;
    ActionSelector(more_members, hash, SelectorMode_t.FAIR, twice_given, 8, 4) second;
    ActionSelector(more_members, hash, SelectorMode_t.FAIR, 119040, 100) huge;

    SelectorAction(choice) down = {
        void apply(inout bit<1> value) { value = 0; }
    };
    SelectorAction(choice) if_up = {
        void apply(inout bit<1> value) { if (value == 1) value = 0; }
    };
    SelectorAction(choice) by_field = {
        void apply(inout bit<1> value) { value = hdr.num.a[0:0]; }
    };
    SelectorAction(huge) far = {
        void apply(inout bit<1> value) { value = 0; }
    };
    action set(bit<8> v) { hdr.num.a = v; }
    table t {
        key = { hdr.num.a : exact; hdr.num.b : selector; }
        actions = { set; }
        implementation = choice;
    }
    apply {
        if (hdr.num.d == 1) {
            if_up.execute(1);
        } else if (hdr.num.d == 2) {
            by_field.execute(1);
        } else if (hdr.num.d == 3) {
            down.execute();
        } else if (hdr.num.d == 4) {
            far.execute(1);
        } else {
            t.apply();
        }
    }
}

MAIN
