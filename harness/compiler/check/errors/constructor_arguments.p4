// SPDX-License-Identifier: Apache-2.0
extern Counter {
    Counter(bit<32> size);
    Counter(bit<32> size, bool wide);
    void count(in bit<32> index);
}
extern Opaque {
    void f();
}
control C(in bit<32> i) {
    Counter() a;
    Counter(true) b;
    Counter(i) c;
    Counter(1, 2) d;
    Counter<bit<8>>(1) e;
    Opaque() f;
    Counter(size = 1, narrow = true) g;
    apply {
    }
}
