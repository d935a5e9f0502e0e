// SPDX-License-Identifier: Apache-2.0
//
// Partitions whose number is not in the key, not exact, or that are more than it has.
#include "../golden/frame.p4i"

control Ingress(inout headers_t hdr, inout md_t md) {
    @atcam_partition_index("hdr.num.z")
    table t {
        key = { hdr.num.a : exact; hdr.num.b : ternary; }
        actions = { NoAction; }
    }
    @pragma atcam_partition_index hdr.num.b
    table u {
        key = { hdr.num.a : exact; hdr.num.b : ternary; }
        actions = { NoAction; }
    }
    @atcam_number_partitions(16)
    table v {
        key = { hdr.num.a : exact; hdr.num.b : ternary; }
        actions = { NoAction; }
    }
    @atcam_partition_index("low") @atcam_number_partitions(17)
    table w {
        key = { hdr.num.a[3:0] : exact @name("low"); hdr.num.b : ternary; }
        actions = { NoAction; }
    }
    @atcam_partition_index("low") @atcam_number_partitions("many")
    table x {
        key = { hdr.num.a[3:0] : exact @name("low"); hdr.num.b : ternary; }
        actions = { NoAction; }
    }
    @atcam_partition_index
    table y {
        actions = { NoAction; }
    }
    apply {
        t.apply();
        u.apply();
        v.apply();
        w.apply();
        x.apply();
        y.apply();
    }
}

MAIN
