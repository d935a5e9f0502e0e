// SPDX-License-Identifier: Apache-2.0
parser P(in bool x) {
    state start {
        transition select(x) {
            8w1: accept;
            default: reject;
        }
    }
}
