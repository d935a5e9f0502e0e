// SPDX-License-Identifier: Apache-2.0
#include <core.p4>
header h_t {
    bit<8> kind;
    bit<16> length;
    bit<32> addr;
}
struct headers_t {
    h_t h;
    h_t[2] stack;
}
control C(inout headers_t hdr) {
    action a() {
    }
    action b() {
    }
    action c() {
    }
    table t {
        actions = { a; b; }
    }
    apply {
        switch (t.apply().action_run) {
            a : {
            }
            c : {
            }
            a : {
            }
            d : {
            }
        }
        switch (hdr.h.kind) {
            1 : {
            }
            default : {
            }
            hdr.h.kind : {
            }
            1 : {
            }
        }
        switch (hdr.h) {
        }
    }
}
