// SPDX-License-Identifier: Apache-2.0
// refused: stages
// Thirteen conditions, each on what the statement under the one before it changed.
#include "common.p4"

#define LINK(n)                                                                                    \
    if (hdr.num.c == n) {                                                                          \
        hdr.num.c = n + 1;                                                                         \
    }

INGRESS {
    apply {
        LINK(1)
        LINK(2)
        LINK(3)
        LINK(4)
        LINK(5)
        LINK(6)
        LINK(7)
        LINK(8)
        LINK(9)
        LINK(10)
        LINK(11)
        LINK(12)
#ifdef OVER
        LINK(13) // here
#endif
    }
}

MAIN
