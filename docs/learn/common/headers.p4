/* SPDX-License-Identifier: Apache-2.0
 *
 * Headers that several exercises have.
 */
const bit<16> TYPE_IPV4 = 0x0800;
const bit<16> TYPE_TAG = 0x8100;
const bit<16> TYPE_LEARN = 0x88b5; // IEEE 802: local experiments; here the headers of an exercise's own

header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

header tag_h {
    bit<3>  priority;
    bit<1>  drop_eligible;
    bit<12> vlan;
    bit<16> ether_type;
}

header ipv4_h {
    bit<4>  version;
    bit<4>  ihl;
    bit<8>  tos;
    bit<16> total_len;
    bit<16> id;
    bit<3>  flags;
    bit<13> fragment;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> src_addr;
    bit<32> dst_addr;
}
