// SPDX-License-Identifier: Apache-2.0
//
// Legal programs that are not covered: each use is refused where it stands.
#include "../golden/frame.p4i"

control Ingress(inout headers_t hdr, inout md_t md) {
    ActionProfile(16) profile;
    table profiled {
        key = { hdr.num.a : exact; }
        actions = { NoAction; }
        implementation = profile;
    }
    table selected {
        key = { hdr.num.a : selector; }
        actions = { NoAction; }
    }
    apply {
        profiled.apply();
        selected.apply();
        hdr.num.s = hdr.num.s;
    }
}

MAIN
