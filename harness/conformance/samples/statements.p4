// SPDX-License-Identifier: Apache-2.0
#include <core.p4>

match_kind { optional }

struct pair_t {
    bit<8> x;
    bit<8> y;
}

bit<32> total(in bit<32> n) {
    bit<32> sum = 0;
    for (bit<32> i = 0, bit<32> k = n; i < n; i += 1, k = k - 1) {
        if (i == 3)
            continue;
        if (i == 7)
            break;
        sum += i + k;
    }
    for (; sum > 100;)
        sum -= 1;
    for (bit<32> i in 1 .. 4)
        sum |= i;
    for (bit<32> i in { 1, 2, 5 })
        sum ^= i;
    for (@unroll bit<32> i in 0 .. n) {
        sum <<= 1;
        sum >>= 1;
    }
    return sum;
}

control C(inout bit<32> a, inout bit<32> b, in error e, inout pair_t p)(bit<8> start) {
    action set(bit<32> to, @hidden bit<8> how) {
        a = to;
    }
    action none() {
    }
    table t {
        key = {
            a[7:0] : ternary @name("low");
            b & 0xff : exact;
            p.x : optional;
        }
        actions = {
            set;
            none;
            @defaultonly NoAction;
        }
        const default_action = NoAction();
        largest_priority_wins = false;
        priority_delta = 10;
        entries = {
            const priority = 10 : (0x10 &&& 0xf0, 1, _) : set(to = 1, how = 2);
            (0x20, 2, 5) : none();
            priority = (20 + 20) : (_, 3, default) : none() @tag;
        }
        size = 1 << 10;
    }
    apply {
        a[7:0] = b[15:8];
        a[3 +: 4] = 4w5;
        b = a[31:16] ++ b[8 +: 16];
        a |+|= b;
        b |-|= 7;
        a *= 3;
        a &= ~b;
        p = { y = start, x = ... };
        p = { 1, ... };
        p = (pair_t) { x = 1, y = 2 };
        bool same = p == { 1, 2 };
        switch (a) {
            1:
            2: { b = total(n = 5); }
            0xffff_ffff: { return; }
            default: { b = same ? 32w1 : 0; }
        }
        switch (t.apply().action_run) {
            set:
            none: { exit; }
            default: { }
        }
        if (t.apply().hit || !t.apply().miss) {
            a = (bit<32>)(int<32>)-5;
        } else if (e == error.NoError) {
            ;
        }
        { const bit<8> inner = (bit<8>)(300 / 2); p.x = inner; }
    }
}
