// SPDX-License-Identifier: Apache-2.0
//
// bit<0>, which has no bits, where some are needed.
#include "../golden/frame.p4i"

control Ingress(inout headers_t hdr, inout md_t md) {
    Register<bit<0>, bit<8>>(16) cells;
    Hash<bit<0>>(HashAlgorithm_t.CRC8) hash;
    Hash<bit<8>>(HashAlgorithm_t.CRC8) of_nothing;
    Random<bit<0>>() random;
    Counter<bit<0>, bit<8>>(16, CounterType_t.PACKETS) counter;
    Lpf<bit<0>, bit<8>>(16) filter;
    bit<0> z = 0;
    action set(bit<8> v) { hdr.num.a = v; }
    table t {
        key = { z : exact; }
        actions = { set; }
        const entries = { 0 : set(1); }
        const default_action = set(2);
    }
    apply {
        t.apply();
        z = hash.get({hdr.num.a});
        hdr.num.a = of_nothing.get({z});
        z = random.get();
        counter.count(1);
        z = filter.execute(z, 1);
    }
}

MAIN
