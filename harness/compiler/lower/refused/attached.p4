// SPDX-License-Identifier: Apache-2.0
//
// More counters and meters than the chip has addresses for: in one table, on one way through the
// control.
#include "../golden/frame.p4i"

control Ingress(inout headers_t hdr, inout md_t md) {
    Counter<bit<64>, bit<8>>(256, CounterType_t.PACKETS) c;
    Counter<bit<64>, bit<8>>(256, CounterType_t.PACKETS) d;
    DirectCounter<bit<64>>(CounterType_t.PACKETS) of_entries;
    Meter<bit<8>>(256, MeterType_t.BYTES) m;
    Meter<bit<8>>(256, MeterType_t.BYTES) n;
    DirectMeter(MeterType_t.BYTES) m_of_entries;
    Register<bit<8>, bit<8>>(256) r;

    action count_entry() { of_entries.count(); }
    action count_both() { of_entries.count(); c.count(1); }
    table direct_and_not {
        key = { hdr.num.a : exact; }
        actions = { count_entry; count_both; @defaultonly NoAction; }
        counters = of_entries;
    }
    action same_index() { c.count(hdr.num.a); d.count(hdr.num.a); }
    action other_index() { c.count(hdr.num.a); d.count(hdr.num.b); }
    table two_indices {
        key = { hdr.num.a : exact; }
        actions = { same_index; other_index; NoAction; }
    }
    action one() { c.count(1); }
    action other() { d.count(1); }
    table one_or_other {
        key = { hdr.num.a : exact; }
        actions = { one; other; NoAction; }
    }
    action meter_entry() { md.x = m_of_entries.execute(); md.y = m.execute(1); }
    table meters_of_both {
        key = { hdr.num.a : exact; }
        actions = { meter_entry; @defaultonly NoAction; }
        meters = m_of_entries;
    }
    action metered() { md.x = n.execute(1); }
    action stored() { r.write(1, 2); }
    table meter_and_register {
        key = { hdr.num.a : exact; }
        actions = { metered; stored; NoAction; }
    }
    apply {
        if (hdr.num.c == 0) {
            direct_and_not.apply();
        } else if (hdr.num.c == 1) {
            two_indices.apply();
        } else if (hdr.num.c == 2) {
            one_or_other.apply();
        } else if (hdr.num.c == 3) {
            meters_of_both.apply();
        } else {
            meter_and_register.apply();
        }
        hdr.num.a = md.x;
    }
}

MAIN
