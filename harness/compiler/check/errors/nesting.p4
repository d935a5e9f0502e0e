// SPDX-License-Identifier: Apache-2.0
#include <core.p4>
header inner_t {
    bit<8> x;
}
header outer_t {
    inner_t i;
    error e;
    bool b;
}
struct s_t {
    int i;
    string s;
    packet_in p;
}
header_union u_t {
    bit<8> b;
    inner_t h;
}
typedef string text_t;
type inner_t fresh_t;
