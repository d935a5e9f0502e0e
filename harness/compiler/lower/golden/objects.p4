// SPDX-License-Identifier: Apache-2.0
//
// Registers, their actions, counters, hashes, random numbers.
#include "frame.p4i"

struct pair_t {
    bit<16> first;
    bit<16> second;
}

struct one_t {
    int<8> only;
}

Register<bit<8>, bit<4>>(16, 8w3) shared;

control Ingress(inout headers_t hdr, inout md_t md) {
    Register<pair_t, bit<8>>(256, { 1, 2 }) pairs;
    Register<one_t, bit<8>>(256) ones;
    Register<bit<1>, bit<16>>(65536) bits;
    Register<bit<64>, bit<8>>(8) wide;
    Counter<bit<64>, bit<8>>(256, CounterType_t.PACKETS_AND_BYTES) traffic;
    CRCPolynomial<bit<16>>(16w0x1021, false, false, true, 16w0xffff, 16w0) ccitt;
    Hash<bit<24>>(HashAlgorithm_t.CUSTOM, ccitt) own;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) mix;
    Hash<bit<32>>(HashAlgorithm_t.IDENTITY) same;
    Random<bit<16>>() dice;

    RegisterAction<pair_t, bit<8>, bit<16>>(pairs) step = {
        void apply(inout pair_t value, out bit<16> rv) {
            bit<16> sum = value.first + hdr.num.c;
            if (value.second == 0 || md.flag) {
                value.second = 9;
                return;
            }
            value.first = sum;
            rv = value.second |-| 1;
        }
    };
    RegisterAction<bit<1>, bit<16>, bit<1>>(bits) set_bit = {
        void apply(inout bit<1> value, out bit<1> rv) {
            rv = value;
            value = 1;
        }
    };
    RegisterAction<one_t, bit<8>, int<8>>(ones) forget = {
        void apply(inout one_t v) {
            v.only = v.only + 1;
        }
    };

    apply {
        md.z = step.execute(hdr.num.a);
        md.x[3:3] = set_bit.execute(mix.get({ hdr.eth.src, 8w0, hdr.num.c }));
        forget.execute(0);
        md.y = shared.read(hdr.num.a[3:0]);
        wide.write(hdr.num.a, hdr.num.d ++ md.w);
        traffic.count(hdr.num.b);
        md.w = same.get(hdr.num) + (bit<32>)own.get({ hdr.num.d });
        md.z = dice.get();
    }
}

MAIN
