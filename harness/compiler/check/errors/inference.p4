// SPDX-License-Identifier: Apache-2.0
#include <core.p4>
extern T pick<T>();
extern T both<T>(in T x, in T y);
extern Box<T> {
    Box();
    T get();
}
control C(packet_in pkt, inout bit<8> v, inout bit<16> w) {
    Box() b;
    Box<bit<8>, bit<8>>() c;
    apply {
        v = pick();
        v = both(v, w);
        v = both(1, v);
        v = both(1, 2);
        v = pick<bit<16>>();
        v = pick<bit<8>, bit<8>>();
        bit<8> look = pkt.lookahead();
    }
}
