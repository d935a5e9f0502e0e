// SPDX-License-Identifier: Apache-2.0
#include <core.p4>
header h_t {
    bit<8> kind;
}
control C(inout h_t h) {
    action a() {
    }
    table t {
        key = { h.kind : ternary; }
        actions = { a; }
        default_action = a;
        const entries = {
            1 &&& 1 : a() @priority(3);
            2 &&& 2 : a() @name("two");
        }
    }
    table u {
        key = { h.kind : ternary; }
        actions = { a; }
        default_action = a;
        entries = {
            1 &&& 1 : a() @priority(3);
            priority = 2 : 2 &&& 2 : a();
        }
    }
    apply {
        t.apply();
        u.apply();
    }
}
