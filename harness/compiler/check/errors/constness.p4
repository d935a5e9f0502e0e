// SPDX-License-Identifier: Apache-2.0
extern bit<8> now();
extern void fixed(bit<8> v);
const bit<8> at_start = now();
const bit<8> wide = 16w5;
control C(inout bit<8> v) {
    const bit<8> k = v;
    apply {
        fixed(v);
        fixed(5);
        int i = 3;
    }
}
