// SPDX-License-Identifier: Apache-2.0
bit<8> f(in bit<8> x) {
    if (x == 1) {
        return 2;
    }
}
bit<8> g(in bit<8> x) {
    return;
}
void h() {
    return 1;
}
