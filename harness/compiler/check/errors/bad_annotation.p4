// SPDX-License-Identifier: Apache-2.0
@name(5)
control C(inout bit<8> v) {
    @hidden("x")
    action a() {
        v = 1;
    }
    @name("k", "l")
    table t {
        actions = { a; }
    }
    @list[x=1, x=2]
    action b() {
    }
    apply {
        t.apply();
    }
}
