// SPDX-License-Identifier: Apache-2.0
//
// Legal programs that are not covered: each use is refused where it stands.
#include "../golden/frame.p4i"

control Ingress(inout headers_t hdr, inout md_t md) {
    Meter<bit<8>>(16, MeterType_t.BYTES) meter;
    ActionProfile(16) profile;
    table profiled {
        key = { hdr.num.a : exact; }
        actions = { NoAction; }
        implementation = profile;
    }
    table idle {
        key = { hdr.num.a : selector; }
        actions = { NoAction; }
        idle_timeout = true;
    }
    apply {
        md.x = meter.execute(hdr.num.a);
        profiled.apply();
        idle.apply();
        hdr.num.s = hdr.num.s;
    }
}

MAIN
