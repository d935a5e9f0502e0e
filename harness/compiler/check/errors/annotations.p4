// SPDX-License-Identifier: Apache-2.0
#include <core.p4>
extern E {
    E();
}
E() e1;
E() e2;
@twice[1] @twice[2]
const bit<8> a = 1;
@mixed(3) @mixed[4]
const bit<8> b = 1;
@listed[k = { 1, 2 }] @compared[e1 == e2]
const bit<8> c = 1;
struct set_t {
    @match(ternary) bit<8> x;
    @match(1 + 1) bit<8> y;
    @match(ternry) bit<8> z;
}
