// SPDX-License-Identifier: Apache-2.0
#include <core.p4>
extern Counter {
    Counter(bit<32> size);
    void count(in bit<32> index);
}
control C(in bit<32> i) {
    Counter(16) ctr;
    apply {
        ctr.cuont(i);
        ctr.count(i, i);
    }
}
