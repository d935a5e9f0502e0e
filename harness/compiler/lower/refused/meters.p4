// SPDX-License-Identifier: Apache-2.0
//
// What counters, meters and filters cannot do.
#include "../golden/frame.p4i"

control Ingress(inout headers_t hdr, inout md_t md) {
    Counter<bit<32>, bit<8>>(16, CounterType_t.BYTES) adjusted;
    Counter<bit<65>, bit<8>>(16, CounterType_t.BYTES) wide;
    Counter<bit<32>, bit<8>>(16, CounterType_t.BYTES) far;
    DirectCounter<bit<32>>(CounterType_t.PACKETS) first;
    DirectCounter<bit<32>>(CounterType_t.PACKETS) second;
    DirectCounter<bit<32>>(CounterType_t.PACKETS) nowhere;
    DirectMeter(MeterType_t.BYTES) one;
    DirectMeter(MeterType_t.BYTES) other;
    DirectMeter(MeterType_t.BYTES) unowned;
    DirectLpf<bit<8>>() filter;
    DirectRegister<bit<32>>() cell;
    Meter<bit<8>>(0, MeterType_t.BYTES) empty;
    Lpf<bit<48>, bit<8>>(4) wide_filter;
    @red(256) Meter<bit<8>>(4, MeterType_t.BYTES) red;

    DirectCounter<bit<32>>(CounterType_t.BYTES) third;
    action third_counts() {
        third.count();
    }
    action twice() {
        first.count();
        first.count();
    }
    action either() {
        if (hdr.num.a == 1) {
            first.count();
        } else {
            first.count();
        }
    }
    action metered() {
        md.x = unowned.execute();
    }
    table counted {
        key = { hdr.num.a : exact; }
        actions = { twice; either; }
        counters = { first, second };
    }
    table marked {
        key = { hdr.num.a : exact; }
        actions = { metered; }
        meters = { one, other };
        registers = cell;
    }
    action uncounted() {}
    action nothing() {}
    table sometimes {
        key = { hdr.num.a : exact; }
        actions = { third_counts; uncounted; @defaultonly nothing; }
        counters = third;
    }
    table wrong {
        key = { hdr.num.a : exact; }
        actions = { NoAction; }
        meters = filter;
        filters = one;
        counters = adjusted;
    }
    apply {
        counted.apply();
        marked.apply();
        wrong.apply();
        sometimes.apply();
        adjusted.count(hdr.num.a, 4);
        adjusted.count(hdr.num.b, 5);
        far.count(hdr.num.a, 8192);
        md.x = other.execute();
        md.x = empty.execute(hdr.num.a);
    }
}

MAIN
