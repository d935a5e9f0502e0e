// SPDX-License-Identifier: Apache-2.0
control C(inout bit<8> x) {
    apply {
        x = 1 x = 2;
    }
}
