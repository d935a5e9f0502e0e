// SPDX-License-Identifier: Apache-2.0
action NoAction(bit<8> x) {}
control C(inout bit<8> x) {
    action a() {}
    table good {
        actions = { a; }
        default_action = a;
    }
    table bad {
        actions = { a; }
    }
    apply {
        good.apply();
        bad.apply();
    }
}
