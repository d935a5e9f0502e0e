/* SPDX-License-Identifier: Apache-2.0
 *
 * alone/headers.p4: what is added to the ToR's pipe, and what the parsers do with it: nothing, here. A
 * program that adds something (p4/rack) has two files of its own in the place of those in this folder, with
 * the same names in them, and says so by ADDED_HEADERS and ADDED_CONTROLS.
 */
struct added_headers_t {
}

struct added_ingress_t {
}

struct added_egress_t {
}

// Behind the ports of a UDP packet over IPv4, and where there would be some behind an IPv4 header with options.
#define BEHIND_UDP     transition accept;
#define BEHIND_OPTIONS transition accept;
#define INGRESS_STATES

// Egress: first bytes that are no kind_t of the ToR's frames, and what is behind an IPv4 header.
#define OTHER_KINDS
#define BEHIND_EGRESS_IPV4 transition accept;
#define EGRESS_STATES

control AddedDeparser(packet_out pkt, inout added_headers_t hdr, in added_egress_t md,
                      in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
    }
}
