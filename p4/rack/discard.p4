/* SPDX-License-Identifier: Apache-2.0
 *
 * discard.p4: in the place of p4/common/forward.p4: frames that are not SwitchML's have no business in its
 * pipe.
 */
control Forward(in headers_t hdr, in ingress_intrinsic_metadata_t ig_intr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    apply {
        ig_dprsr_md.drop_ctl = 1;
    }
}
