// SPDX-License-Identifier: Apache-2.0
#include <core.p4>
#include "common.p4i"

parser parser_t<H>(packet_in p, out H h, @optional in bit<8> kind);
control control_t<H, M>(inout H h, inout M m);
package pipe_t<H, M>(parser_t<H> p, control_t<H, M> c, @optional control_t<H, M> second);
package switch_t<H1, M1>(pipe_t<H1, M1> one, bit<8> number = 1);

parser P(packet_in p, out headers_t h) {
    state start {
        transition accept;
    }
}
control Inner<T>(inout T x)(T step) {
    apply {
        x = step;
    }
}
control C(inout headers_t h, inout bit<8> m) {
    Inner<bit<8>>(step = 4) inner;
    apply {
        inner.apply(m);
        inner.apply(x = m);
    }
}

pipe_t(p = P(), c = C()) one;
switch_t(one) main;
