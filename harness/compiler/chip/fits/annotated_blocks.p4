// SPDX-License-Identifier: Apache-2.0
// fits: 1
// Statements of different annotated blocks are no table together: 56 bits of hashes in one action would be too many.
#include "../limits/common.p4"

INGRESS {
    Hash<bit<32>>(HashAlgorithm_t.CRC32) first;
    Hash<bit<32>>(HashAlgorithm_t.IDENTITY) second;
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        @stage(0) {
            hdr.ethernet.dst[23:0] = first.get({ hdr.num.e })[23:0];
        }
        @stage(0) {
            hdr.num.g = second.get({ hdr.num.f });
        }
    }
}

MAIN
