// SPDX-License-Identifier: Apache-2.0
enum bit<4> e_t { a = 1 }
control C(in e_t v, inout bit<8> x) {
    apply {
        switch (v) {
            4w1: { x = 1; }
            e_t.a: { x = 2; }
            true: { x = 3; }
        }
    }
}
parser P(in bit<8> x) {
    state start {
        transition select(x) {
            1w0 &&& 2w0: accept;
            0w0: accept;
            2 .. 4w3: reject;
            default: accept;
        }
    }
}
