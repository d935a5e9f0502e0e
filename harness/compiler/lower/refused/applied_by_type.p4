// SPDX-License-Identifier: Apache-2.0
//
// Blocks that a controller sees something of, applied by their type's name more than once: their
// instances have one name (section 15.1).
#include "../golden/frame.p4i"

control Look(inout bit<8> x) {
    action put(bit<8> v) {
        x = v;
    }
    table t {
        key = { x : exact; }
        actions = { put; NoAction; }
        default_action = NoAction();
        size = 16;
    }
    apply {
        t.apply();
    }
}

control Count(in bit<8> x) {
    Counter<bit<32>, bit<8>>(256, CounterType_t.PACKETS) c;
    apply {
        c.count(x);
    }
}

// Nothing that a controller sees: this one may.
control Add(inout bit<8> x) {
    apply {
        x = x + 1;
    }
}

// In another scope: it has another name.
control Within(inout bit<8> x) {
    apply {
        Look.apply(x);
    }
}

control Ingress(inout headers_t hdr, inout md_t md) {
    apply {
        Look.apply(hdr.num.a[7:0]);
        Look.apply(hdr.num.b[7:0]);
        Count.apply(hdr.num.a[7:0]);
        Count.apply(hdr.num.b[7:0]);
        Add.apply(hdr.num.a[7:0]);
        Add.apply(hdr.num.a[7:0]);
        Within.apply(hdr.num.b[7:0]);
    }
}

MAIN
