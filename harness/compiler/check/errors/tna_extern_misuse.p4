// SPDX-License-Identifier: Apache-2.0
#include <tna.p4>
control C(inout bit<32> v, inout bit<16> w) {
    Hash<bit<16>>(HashAlgorithm_t.CRC15) h1;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) h2;
    Register<bit<32>, bit<8>>(w) r1;
    Register<bit<32>, bit<8>>(16) r2;
    Counter<bit<32>, bit<8>>(16) c1;
    apply {
        v = h2.get({v, w});
        w = h2.gte({v, w});
        w = h2.get();
        v = r2.read(v);
        v = max(v, w);
    }
}
