// SPDX-License-Identifier: Apache-2.0
#include <core.p4>
action top() {}
@name(".other") action renamed() {}
control C(inout bit<8> x) {
    @name(".top") action a() {}
    @name("b") action a2() {}
    @name("b") action a3() {}
    table t {
        actions = { a; }
    }
    apply {
        t.apply();
    }
}
