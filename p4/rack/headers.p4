/* SPDX-License-Identifier: Apache-2.0
 *
 * headers.p4: what aggregation adds to the ToR's pipe: what is known of a packet before anybody is asked, and
 * how what comes back from the other pipes is told from frames.
 */

// Where packets go to be added up: SwitchML's come out there as from a worker's port (p4/ina does the same),
// ATP's as if another of its pipes had relayed them. Both recirculate.
const PortId_t TO_ATP = 196;
const PortId_t TO_SWITCHML = 325;
#ifdef WITH_LIBRA
const PortId_t TO_LIBRA = 453;
#endif

// Which protocol's a packet is, by port and length. What is not has no job either.
enum bit<2> protocol_t {
    NONE     = 0,
    SWITCHML = 1,
    ATP      = 2,
    LIBRA    = 3
}

// Who has sent it, by the tables.
enum bit<3> role_t {
    NOBODY   = 0,
    SWITCHML = 1,  // a worker of it
    WORKER   = 2,  // of ATP
    SERVER   = 3,
    SWITCH   = 4,  // another rack's, which stands for its workers
    LIBRA    = 5   // a worker of it
}

struct added_headers_t {
    // of results, in egress
    switchml_headers_t switchml;
    vlan_h             tag;
    // of an ATP packet, in egress: what is behind IPv4
    atp_headers_t      atp;
}

struct added_ingress_t {
    bit<1>     udp;        // over IPv4, not a later fragment
    protocol_t protocol;
    bit<8>     job;
    bit<32>    bitmap0;    // ATP's
    bit<32>    bitmap1;
    bit<16>    marks;      // the two bytes from `edge` to `fan_in1`
    bit<16>    index;
    // what the tables say
    bit<1>     guarded;
    role_t     role;
    bit<8>     colour;     // by the sender's meter; 3: too much
    bit<32>    other0;     // bits that are not the sender's
    bit<32>    other1;
    bit<16>    differs;    // between the marks and the registered ones
    bit<16>    below;      // from the share's first aggregator to the packet's; negative: outside
    bit<16>    above;      // from there to the last
    protocol_t way;
    drop_t     refused;
}

struct added_egress_t {
    switchml_egress_metadata_t switchml;
    atp_egress_metadata_t      atp;
}

// ---------------------------------------------------------------------------------------------------
// Behind the ports are length and checksum, 4 bytes, then the protocol's header, which stays where it is.
#ifdef WITH_LIBRA
// A push or a pull: the lengths of others are nothing that a worker sends to this switch.
#define LIBRA_LENGTHS (UDP_PORT_LIBRA, 152): parse_libra;
#define LIBRA_STATES                                                                                  \
    state parse_libra {                                                                               \
        md.added.protocol = protocol_t.LIBRA;                                                         \
        md.added.job = pkt.lookahead<bit<48>>()[7:0];                                                 \
        transition accept;                                                                            \
    }

// Of frames from the other pipes those that Libra has answered have nothing that is ATP's.
#define AGGREGATED_STATES                                                                             \
    state parse_returned {                                                                            \
        transition select(pkt.lookahead<bit<16>>()) {                                                 \
            UDP_PORT_LIBRA: accept;                                                                   \
            default: parse_aggregated;                                                                \
        }                                                                                             \
    }
#define AGGREGATED_STATE parse_returned
#else
#define LIBRA_LENGTHS
#define LIBRA_STATES
#define AGGREGATED_STATES
#define AGGREGATED_STATE parse_aggregated
#endif

#define BEHIND_UDP                                                                                    \
    md.added.udp = 1;                                                                                 \
    transition select(hdr.ports.dst, pkt.lookahead<bit<16>>()) {                                      \
        (UDP_PORT_ATP, 272): parse_atp;                                                               \
        (UDP_PORT_SWITCHML &&& UDP_PORT_SWITCHML_MASK, 146): parse_switchml;                          \
        (UDP_PORT_SWITCHML &&& UDP_PORT_SWITCHML_MASK, 274): parse_switchml;                          \
        (UDP_PORT_SWITCHML &&& UDP_PORT_SWITCHML_MASK, EMPTY_UDP_LENGTH): parse_switchml;             \
        LIBRA_LENGTHS                                                                                 \
        default: accept;                                                                              \
    }

// Where the ports are has to be looked for: whoever is guarded gets none of these.
#define BEHIND_OPTIONS                                                                                \
    md.added.udp = 1;                                                                                 \
    transition accept;

#define INGRESS_STATES                                                                                \
    state parse_atp {                                                                                 \
        md.added.protocol = protocol_t.ATP;                                                           \
        md.added.bitmap0 = pkt.lookahead<bit<160>>()[127:96];                                         \
        md.added.bitmap1 = pkt.lookahead<bit<160>>()[95:64];                                          \
        md.added.marks = pkt.lookahead<bit<160>>()[63:48];                                            \
        md.added.index = pkt.lookahead<bit<160>>()[47:32];                                            \
        md.added.job = pkt.lookahead<bit<160>>()[31:24];                                              \
        transition accept;                                                                            \
    }                                                                                                 \
                                                                                                      \
    state parse_switchml {                                                                            \
        md.added.protocol = protocol_t.SWITCHML;                                                      \
        md.unchecked = 1;                                                                             \
        md.added.job = pkt.lookahead<bit<48>>()[7:0];                                                 \
        transition accept;                                                                            \
    }                                                                                                 \
                                                                                                      \
    LIBRA_STATES

// Results begin with SwitchML's bridge header and what its last pass was. With levels none is without elements, and one that
// came from above is none of its reads.
#ifdef WITH_LEVELS
#define LAST_KIND switchml_op_t.RESULT
#else
#define LAST_KIND switchml_op_t.READ_BRIEF
#endif
#define OTHER_KINDS                                                                                   \
    (kind_t)(bit<8>)switchml_op_t.READ_LOW: parse_result;                                             \
    (kind_t)(bit<8>)switchml_op_t.READ_NONE: parse_result;                                            \
    (kind_t)(bit<8>)LAST_KIND: parse_result;

#define BEHIND_EGRESS_IPV4                                                                            \
    transition select(hdr.bridge.kind) {                                                              \
        kind_t.AGGREGATED: AGGREGATED_STATE;                                                          \
        default: accept;                                                                              \
    }

#define EGRESS_STATES                                                                                 \
    AGGREGATED_STATES                                                                                 \
                                                                                                      \
    state parse_result {                                                                              \
        md.is_added = 1;                                                                              \
        pkt.extract(hdr.added.switchml.bridge);                                                       \
        pkt.extract(hdr.added.switchml.ethernet);                                                     \
        pkt.extract(hdr.added.switchml.ipv4);                                                         \
        pkt.extract(hdr.added.switchml.udp);                                                          \
        transition accept;                                                                            \
    }                                                                                                 \
                                                                                                      \
    state parse_aggregated {                                                                          \
        pkt.extract(hdr.added.atp.udp);                                                               \
        pkt.extract(hdr.added.atp.atp);                                                               \
        transition accept;                                                                            \
    }

// ---------------------------------------------------------------------------------------------------
// A result has none of the ToR's headers; what ATP's headers are behind, the ToR has sent before.
control AddedDeparser(packet_out pkt, inout added_headers_t hdr, in added_egress_t md,
                      in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    Checksum() ipv4_checksum;

    apply {
        hdr.switchml.ipv4.hdr_checksum = ipv4_checksum.update({
            hdr.switchml.ipv4.version, hdr.switchml.ipv4.ihl, hdr.switchml.ipv4.diffserv,
            hdr.switchml.ipv4.total_len, hdr.switchml.ipv4.identification, hdr.switchml.ipv4.flags,
            hdr.switchml.ipv4.frag_offset, hdr.switchml.ipv4.ttl, hdr.switchml.ipv4.protocol,
            hdr.switchml.ipv4.src_addr, hdr.switchml.ipv4.dst_addr});
        pkt.emit(hdr.switchml.ethernet);
        pkt.emit(hdr.tag);
        pkt.emit(hdr.switchml.ipv4);
        pkt.emit(hdr.switchml.udp);
        pkt.emit(hdr.atp.udp);
        pkt.emit(hdr.atp.atp);
    }
}
