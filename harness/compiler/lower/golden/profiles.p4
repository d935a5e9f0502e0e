// SPDX-License-Identifier: Apache-2.0
//
// Tables with action profiles, selectors, a proxy hash, partitions.
#include "frame.p4i"

control Ingress(inout headers_t hdr, inout md_t md) {
    Hash<bit<14>>(HashAlgorithm_t.CRC16) hash;
    ActionProfile(16) members;
    ActionProfile(32) steady_members;
    ActionSelector(steady_members, hash, SelectorMode_t.RESILIENT, 8, 4) steady;
    Hash<bit<32>>(HashAlgorithm_t.CRC32) old_hash;
    ActionSelector(100, old_hash, SelectorMode_t.FAIR) old;

    action set(bit<8> v) { hdr.num.a = v; }
    action drop() { hdr.num.setInvalid(); }

    table first {
        key = { hdr.num.a : ternary; }
        actions = { set; drop; }
        const entries = { 1 &&& 3 : set(7); }
        implementation = members;
    }
    table second {
        key = { hdr.num.a : exact; }
        actions = { drop; set; }
        const default_action = drop();
        implementation = members;
    }
    table chosen {
        key = { hdr.num.a : exact; hdr.num.b : selector; hdr.num.s : selector; }
        actions = { set; }
        implementation = steady;
    }
    table chosen_old {
        key = { hdr.num.a : lpm; hdr.num.b : selector; }
        actions = { set; }
        implementation = old;
    }
    table proxied {
        key = { hdr.num.a : exact; hdr.num.b : exact; }
        actions = { set; }
        proxy_hash = Hash<bit<20>>(HashAlgorithm_t.CRC32);
    }
    table partitioned {
        key = { hdr.num.a : atcam_partition_index; hdr.num.b : ternary; }
        actions = { set; }
        atcam = Atcam(16);
    }
    table by_prefix {
        key = { hdr.num.a : exact; hdr.num.b : lpm; }
        actions = { set; }
        alpm = Alpm(number_partitions = 1024, subtrees_per_partition = 2);
    }
    apply {
        if (!first.apply().hit)
            second.apply();
        chosen.apply();
        chosen_old.apply();
        proxied.apply();
        partitioned.apply();
        by_prefix.apply();
    }
}

MAIN
