// SPDX-License-Identifier: Apache-2.0
// fits: 3
// Three ranges of eight bits would stand in two TCAM blocks side by side, but there is one range in a block: so many
// entries do not stand in one stage.
#include "../limits/common.p4"

INGRESS {
    action to(PortId_t port) {
        tm.ucast_egress_port = port;
    }
    table ranges {
        key = {
            hdr.num.a : range;
            hdr.num.b : range;
            hdr.num.c : range;
        }
        actions = { to; }
        size = 3584;
    }
    apply {
        ranges.apply();
    }
}

MAIN
