// SPDX-License-Identifier: Apache-2.0
//
// Counters, meters and filters on one path twice. What excludes each other is fine.
#include "../golden/frame.p4i"

control Ingress(inout headers_t hdr, inout md_t md) {
    Counter<bit<64>, bit<8>>(256, CounterType_t.PACKETS) in_tables;
    Counter<bit<64>, bit<8>>(256, CounterType_t.PACKETS) in_control;
    Counter<bit<64>, bit<8>>(256, CounterType_t.PACKETS) fine;
    Meter<bit<8>>(256, MeterType_t.BYTES) m;
    Lpf<bit<32>, bit<8>>(256) l;

    action count_1() { in_tables.count(1); }
    action count_2() { in_tables.count(2); }
    action count_fine() { fine.count(3); }
    action forward() { hdr.num.b = 1; }
    table t {
        key = { hdr.num.a : exact; }
        actions = { count_1; NoAction; }
    }
    table u {
        key = { hdr.num.b : exact; }
        actions = { count_2; NoAction; }
    }
    table v {
        key = { hdr.num.a : exact; }
        actions = { count_fine; forward; NoAction; }
    }
    apply {
        t.apply();
        u.apply();
        in_control.count(1);
        if (hdr.num.a == 1)
            in_control.count(2);
        md.x = m.execute(1);
        md.y = m.execute(2);
        md.w = l.execute(hdr.num.d, 1);
        if (hdr.num.a == 1)
            hdr.num.d = l.execute(md.w, 2);
        switch (v.apply().action_run) {
            forward : { fine.count(4); }
            default : {}
        }
        hdr.num.a = md.x;
        hdr.num.b = md.y;
    }
}

MAIN
