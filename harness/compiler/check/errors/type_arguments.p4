// SPDX-License-Identifier: Apache-2.0
#include <core.p4>
struct pair<A, B> {
    A a;
    B b;
}
control C(inout pair<bit<8>> x, in pair y, in bit<8> z) {
    pair<bit<8>, int> p;
    bit<-1> q;
    int<0> r;
    bit<z> s;
    bit<100000> t;
    apply {
    }
}
