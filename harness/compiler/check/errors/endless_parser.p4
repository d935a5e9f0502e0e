// SPDX-License-Identifier: Apache-2.0
parser Endless(in bit<8> x) {
    state start {
        transition select(x) {
            1: start;
            default: more;
        }
    }
    state more {
        transition start;
    }
}
parser Ends(in bit<8> x) {
    state start {
        transition select(x) {
            1: start;
        }
    }
}
