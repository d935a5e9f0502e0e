// SPDX-License-Identifier: Apache-2.0
control C(inout bit<8> x) {
    action a() {
    }
    action a() {
    }
    apply {
        x = 16w1;
        x = true;
    }
}
