// SPDX-License-Identifier: Apache-2.0
// fits: 3
// An action takes the parts of a hash of its own: what is hashed has to be there, though nothing else reads the hash.
#include "../limits/common.p4"

INGRESS {
    Hash<bit<32>>(HashAlgorithm_t.CRC32) first;
    Hash<bit<32>>(HashAlgorithm_t.CRC32) second;
    Register<bit<32>, bit<16>>(1024) cells;
    RegisterAction<bit<32>, bit<16>, bit<32>>(cells) swap = {
        void apply(inout bit<32> value, out bit<32> result) {
            result = value;
            value = hdr.num.f;
        }
    };
    action get_first() {
        bit<32> hash = first.get({hdr.num.e});
        md.z = hash[31:16];
    }
    action get_second() {
        bit<32> hash = second.get({md.z, md.v});
        hdr.num.c = hash[31:16];
        hdr.num.d = hash[15:0];
    }
    action do_swap() { md.v = swap.execute(md.z); }
    table t {
        key = { hdr.num.a : exact; }
        actions = { do_swap; NoAction; }
        const default_action = NoAction;
        size = 64;
    }
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        get_first();
        t.apply();
        get_second();
    }
}

MAIN
