// SPDX-License-Identifier: Apache-2.0
//
// A table and a register of a control that is applied twice on one way: the messages name both
// applications, for the line inside is the same.
#include "../golden/frame.p4i"

control Inner(inout bit<8> v) {
    Register<bit<8>, bit<8>>(16) seen;
    action add() { v = v + 1; }
    table t {
        key = { v : exact; }
        actions = { add; NoAction; }
    }
    apply {
        t.apply();
        v = seen.read(0);
    }
}

control Outer(inout bit<8> v) {
    Inner() inner;
    apply {
        if (v == 7) {
            inner.apply(v);
        }
    }
}

control Ingress(inout headers_t hdr, inout md_t md) {
    Outer() outer;
    apply {
        outer.apply(hdr.num.a);
        hdr.num.b = 7;
        outer.apply(hdr.num.b);
    }
}

MAIN
