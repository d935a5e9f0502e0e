// SPDX-License-Identifier: Apache-2.0
#include <core.p4>
const bit<8> size = 1;
header size {
    bit<8> a;
    bit<16> a;
}
enum e_t { x, y, x }
error { Mine, NoMatch }
control C(inout bit<8> v, in bit<8> v) {
    bit<8> w;
    bit<8> w;
    apply {
    }
}
