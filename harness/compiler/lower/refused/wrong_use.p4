// SPDX-License-Identifier: Apache-2.0
//
// What the types allow and the architecture does not.
#include "../golden/frame.p4i"

header odd_h {
    bit<7> seven;
}

control Ingress(inout headers_t hdr, inout md_t md) {
    odd_h odd;
    DirectCounter<bit<32>>(CounterType_t.PACKETS) unowned;
    DirectCounter<bit<32>>(CounterType_t.PACKETS) owned;
    Register<bit<24>, bit<8>>(16) wide;
    Register<bit<8>, bit<8>>(0) empty;
    action count_unowned() {
        unowned.count();
    }
    action count_owned() {
        owned.count();
    }
    table t {
        key = { hdr.num.a : exact; }
        actions = { count_unowned; count_owned; }
        counters = owned;
    }
    table v {
        key = { hdr.num.a : exact; hdr.num.a : exact; }
        actions = { NoAction; }
    }
    apply {
        odd.setValid();
        t.apply();
        v.apply();
        count_owned();
        invalidate(md.x);
        md.x = wide.read(1)[7:0] + empty.read(0);
    }
}

MAIN
