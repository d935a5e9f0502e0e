// SPDX-License-Identifier: Apache-2.0
#include <core.p4>
action a(bit<8> x, in bit<8> y, packet_in p) {
}
control C(in packet_in p, inout string s, out bit<8> d = 1)(in bit<8> x) {
    apply {
    }
}
bit<8> f(@optional in bit<8> x) {
    return x;
}
extern void g(in bit<8> x = true, inout int n);
