// SPDX-License-Identifier: Apache-2.0
#include <core.p4>
enum e_t { x }
control C(inout bit<8> b) {
    apply {
        b = e_t;
        b = e_t.x.y;
        b = C;
    }
}
