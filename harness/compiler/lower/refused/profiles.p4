// SPDX-License-Identifier: Apache-2.0
//
// Tables that the chip has no place for: mixed match kinds, action profiles used wrongly.
#include "../golden/frame.p4i"

control Ingress(inout headers_t hdr, inout md_t md) {
    Hash<bit<14>>(HashAlgorithm_t.CRC16) hash;
    Hash<bit<64>>(HashAlgorithm_t.CRC64) wide_hash;
    ActionProfile(16) members;
    ActionProfile(16) both;
    ActionProfile(0) none;
    ActionSelector(members, hash, SelectorMode_t.FAIR, 8, 4) choice;

    action one() { hdr.num.a = 1; }
    action two() { hdr.num.a = 2; }

    table not_an_object {
        key = { hdr.num.a : exact; }
        actions = { NoAction; }
        implementation = hash;
    }
    table no_selector_key {
        key = { hdr.num.a : exact; }
        actions = { one; }
        implementation = choice;
    }
    table no_selector {
        key = { hdr.num.a : exact; hdr.num.b : selector; }
        actions = { one; }
    }
    table left {
        key = { hdr.num.a : exact; }
        actions = { one; two; }
        implementation = both;
    }
    table right {
        key = { hdr.num.a : exact; }
        actions = { one; }
        implementation = both;
    }
    table two_prefixes {
        key = { hdr.num.a : lpm; hdr.num.b : lpm; }
        actions = { one; }
    }
    table prefix_and_range {
        key = { hdr.num.a : lpm; hdr.num.b : range; }
        actions = { one; }
    }
    table prefix_and_mask {
        key = { hdr.num.a : ternary; hdr.num.b : lpm; }
        actions = { one; }
    }
    table proxied_mask {
        key = { hdr.num.a : ternary; }
        actions = { one; }
        proxy_hash = hash;
    }
    table proxied_wide {
        key = { hdr.num.a : exact; }
        actions = { one; }
        proxy_hash = wide_hash;
    }
    table not_atcam {
        key = { hdr.num.a : atcam_partition_index; hdr.num.b : ternary; }
        actions = { one; }
        atcam = hash;
    }
    apply {
        not_an_object.apply();
        no_selector_key.apply();
        no_selector.apply();
        if (hdr.num.s == 1)
            left.apply();
        else
            right.apply();
        two_prefixes.apply();
        prefix_and_range.apply();
        prefix_and_mask.apply();
        proxied_mask.apply();
        proxied_wide.apply();
        not_atcam.apply();
    }
}

MAIN
