/* SPDX-License-Identifier: Apache-2.0
 *
 * alone/controls.p4: what is done with what is added to the ToR's pipe: nothing, here (headers.p4).
 */

// A frame from a front port, before anybody has looked at it. With md.direct set it is not switched.
control Arrivals(inout headers_t hdr, inout ingress_metadata_t md,
                 in ingress_intrinsic_metadata_t ig_intr_md,
                 inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    apply {
    }
}

// Any frame, when all is known but what becomes of it.
control Departures(inout headers_t hdr, inout ingress_metadata_t md,
                   in ingress_intrinsic_metadata_t ig_intr_md) {
    apply {
    }
}

// Egress: what is no frame of the ToR's (md.is_added), and marks in what is.
control Leaving(inout headers_t hdr, inout egress_metadata_t md,
                in egress_intrinsic_metadata_t eg_intr_md,
                in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
                inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
                inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {
    }
}
