/* SPDX-License-Identifier: Apache-2.0
 *
 * forward.p4: ordinary frames beside aggregation, by destination address alone: for programs that are not a
 * whole switch (p4/tor is one). Included after the program's headers_t, which has `ethernet`, and once for
 * each program in a file (p4/ina), so without a guard.
 */
#ifndef MAC_ENTRIES
#define MAC_ENTRIES 4096
#endif

control Forward(in headers_t hdr, in ingress_intrinsic_metadata_t ig_intr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    action to_port(PortId_t port) {
        ig_tm_md.ucast_egress_port = port;
    }

    // To all members but the one whose exclusion id is the port that the frame came from.
    action to_group(bit<16> group) {
        ig_tm_md.mcast_grp_a = group;
        ig_tm_md.level1_exclusion_id = (bit<16>)ig_intr_md.ingress_port;
    }

    action discard() {
        ig_dprsr_md.drop_ctl = 1;
    }

    // Unknown and broadcast addresses take the default: set it to to_group with the flood group.
    table macs {
        key = {
            hdr.ethernet.dst_addr : exact;
        }
        actions = {
            to_port;
            to_group;
            discard;
        }
        default_action = discard;
        size = MAC_ENTRIES;
    }

    apply {
        macs.apply();
    }
}
