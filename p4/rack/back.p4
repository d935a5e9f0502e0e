/* SPDX-License-Identifier: Apache-2.0
 *
 * back.p4: in the place of p4/common/forward.p4: what ATP is done with goes back to the ToR.
 */
control Forward(in headers_t hdr, in ingress_intrinsic_metadata_t ig_intr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    apply {
        ig_tm_md.ucast_egress_port = RECIRCULATE_PIPE_0;
        ig_tm_md.bypass_egress = 1;
    }
}
