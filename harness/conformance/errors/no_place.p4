// SPDX-License-Identifier: Apache-2.0
control C(inout bit<8> x) {
    table t {
        actions = {}
    }
    apply {
        t.apply();
    }
}
