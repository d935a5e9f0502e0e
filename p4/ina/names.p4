/* SPDX-License-Identifier: Apache-2.0
 *
 * names.p4: several programs in one file, whose names are the same. All that more than one declare gets PREFIX in
 * front, whatever that is where it is used; without a PREFIX the names are themselves again. Included
 * more than once, so without a guard.
 */
#undef CELLS   // a macro of all

#ifdef PREFIX
#define JOIN(prefix, name) prefix##name
#define NAMED(prefix, name) JOIN(prefix, name)
#define Admission NAMED(PREFIX, Admission)
#define CPU_PORT NAMED(PREFIX, CPU_PORT)
#define ETHERTYPE_IPV4 NAMED(PREFIX, ETHERTYPE_IPV4)
#define Egress NAMED(PREFIX, Egress)
#define EgressDeparser NAMED(PREFIX, EgressDeparser)
#define EgressParser NAMED(PREFIX, EgressParser)
#define Forward NAMED(PREFIX, Forward)
#define IP_PROTOCOL_UDP NAMED(PREFIX, IP_PROTOCOL_UDP)
#define Ingress NAMED(PREFIX, Ingress)
#define IngressDeparser NAMED(PREFIX, IngressDeparser)
#define IngressParser NAMED(PREFIX, IngressParser)
#define Lane NAMED(PREFIX, Lane)
#define Lanes NAMED(PREFIX, Lanes)
#define RECIRCULATE_PIPE_0 NAMED(PREFIX, RECIRCULATE_PIPE_0)
#define RECIRCULATE_PIPE_1 NAMED(PREFIX, RECIRCULATE_PIPE_1)
#define RECIRCULATE_PIPE_2 NAMED(PREFIX, RECIRCULATE_PIPE_2)
#define RECIRCULATE_PIPE_3 NAMED(PREFIX, RECIRCULATE_PIPE_3)
#define Steps NAMED(PREFIX, Steps)
#define bridge_h NAMED(PREFIX, bridge_h)
#define cell_t NAMED(PREFIX, cell_t)
#define drop_reason_t NAMED(PREFIX, drop_reason_t)
#define egress_metadata_t NAMED(PREFIX, egress_metadata_t)
#define ethernet_h NAMED(PREFIX, ethernet_h)
#define headers_t NAMED(PREFIX, headers_t)
#define ingress_metadata_t NAMED(PREFIX, ingress_metadata_t)
#define ipv4_addr_t NAMED(PREFIX, ipv4_addr_t)
#define ipv4_h NAMED(PREFIX, ipv4_h)
#define kind_t NAMED(PREFIX, kind_t)
#define mac_addr_t NAMED(PREFIX, mac_addr_t)
#define main NAMED(PREFIX, main)
#define op_t NAMED(PREFIX, op_t)
#define pipe NAMED(PREFIX, pipe)
#define udp_h NAMED(PREFIX, udp_h)
#define value_t NAMED(PREFIX, value_t)
#else
#undef JOIN
#undef NAMED
#undef Admission
#undef CPU_PORT
#undef ETHERTYPE_IPV4
#undef Egress
#undef EgressDeparser
#undef EgressParser
#undef Forward
#undef IP_PROTOCOL_UDP
#undef Ingress
#undef IngressDeparser
#undef IngressParser
#undef Lane
#undef Lanes
#undef RECIRCULATE_PIPE_0
#undef RECIRCULATE_PIPE_1
#undef RECIRCULATE_PIPE_2
#undef RECIRCULATE_PIPE_3
#undef Steps
#undef bridge_h
#undef cell_t
#undef drop_reason_t
#undef egress_metadata_t
#undef ethernet_h
#undef headers_t
#undef ingress_metadata_t
#undef ipv4_addr_t
#undef ipv4_h
#undef kind_t
#undef mac_addr_t
#undef main
#undef op_t
#undef pipe
#undef udp_h
#undef value_t
#endif
