// SPDX-License-Identifier: Apache-2.0
// fits: 3
// A hash writes a part of a metadata field, another table the bits beside it: both are in one container, so that they
// are written in a stage each, and who reads one part waits for the other.
#define OWN_METADATA
#include "../limits/headers.p4"
struct md_t {
    bit<12> index;
}
#include "../limits/common.p4"

INGRESS {
    Hash<bit<10>>(HashAlgorithm_t.CRC32) hash;
    Register<bit<32>, bit<32>>(1024) tags;
    RegisterAction<bit<32>, bit<32>, bit<32>>(tags) exchange = {
        void apply(inout bit<32> value, out bit<32> result) {
            result = value;
            value = hdr.num.f;
        }
    };
    action high() { md.index[11:2] = hash.get({hdr.num.e}); }
    action low() { md.index[1:0] = hdr.num.b[1:0]; }
    action tag() { hdr.num.g = exchange.execute((bit<32>)md.index[11:2]); }
    action found(bit<8> v) { hdr.num.a = v; }
    table t_high {
        actions = { high; }
        const default_action = high;
        size = 1;
    }
    table t_low {
        actions = { low; }
        const default_action = low;
        size = 1;
    }
    table t_tag {
        actions = { tag; }
        const default_action = tag;
        size = 1;
    }
    table t_index {
        key = { md.index : exact; }
        actions = { found; NoAction; }
        const default_action = NoAction;
        size = 64;
    }
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        t_high.apply();
        t_low.apply();
        t_tag.apply();
        t_index.apply();
    }
}

MAIN
