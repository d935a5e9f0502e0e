// SPDX-License-Identifier: Apache-2.0
#include <core.p4>
control C() {
    apply {
    }
}
parser P(packet_in p) {
    C() c;
    state start {
        transition accept;
    }
}
control D(packet_in p) {
    P() parse;
    C() c;
    apply {
        parse.apply(p);
        c.apply(1);
        c.execute();
    }
}
C() top;
extern E {
    E();
}
E() main;
