// SPDX-License-Identifier: Apache-2.0
#include <core.p4>
control C(inout bit<8> x) {
    action a() {}
    table late {
        key = { x : ternary; }
        actions = { a; }
        entries = {
            1 : a();
            priority = 3 : 2 : a();
        }
    }
    table below_zero {
        key = { x : ternary; }
        actions = { a; }
        priority_delta = 10;
        entries = {
            priority = 12 : 1 : a();
            2 : a();
            3 : a();
        }
    }
    table upwards {
        key = { x : ternary; }
        actions = { a; }
        largest_priority_wins = false;
        entries = {
            priority = 0 : 1 : a();
            2 : a();
        }
    }
    table all_exact {
        key = { x : exact; }
        actions = { a; }
        entries = {
            priority = 1 : 1 : a();
        }
    }
    table early {
        entries = {
            1 : a();
        }
        key = { x : exact; }
        actions = { a; }
    }
    apply {
        late.apply();
        below_zero.apply();
        upwards.apply();
        all_exact.apply();
        early.apply();
    }
}
