// SPDX-License-Identifier: Apache-2.0
//
// snoop_impl: what snoop.c and its readers of IGMP (igmp.c) and MLD (mld.c) share: messages about
// groups, out of frames and into them. Neither reader knows of VLANs, links or time.
//
//     switch (snoop_read(frame, length, &m)) {
//     case SNOOP_GOOD: ...            a query, or reports; 'm' has the contents
//     case SNOOP_OTHER: ...           not about groups: forwarded as any frame
//     case SNOOP_BAD: ...             wrong length or checksum, or not from this link: dropped
//     }
#ifndef SILKEN_CONTROL_TOR_SNOOP_IMPL_H
#define SILKEN_CONTROL_TOR_SNOOP_IMPL_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

// Records of a report: as many as the longest frame has.
#define SNOOP_RECORDS 1160u
// Bytes of the longest query that we send.
#define SNOOP_QUERY_BYTES 96u

enum snoop_verdict { SNOOP_GOOD, SNOOP_OTHER, SNOOP_BAD };

// What a host says about a group. Which sources it wants is not looked at: whoever wants some is a
// member.
struct snoop_record {
    struct in6_addr group; // a multicast address; IPv4 ones are IPv4-mapped
    bool leave; // nobody there wants it, or some sources of it, any more: somebody has to ask
};

struct snoop_message {
    bool query;      // else reports
    bool mld;        // else IGMP
    uint8_t version; // of IGMP 1 to 3, of MLD 1 and 2
    struct in6_addr
        from; // IPv4-mapped of IGMP; 0.0.0.0 and :: are those of senders without an address
    struct in6_addr group; // of a query: the one that it asks about; :: when about all
    bool sources;          // a query about sources of the group
    bool suppress;         // a query that routers take no notice of
    uint32_t response_ms;  // of a query: how long hosts take to answer
    uint32_t interval;     // seconds between queries, 0 when it does not say
    uint32_t robustness;   // 0 when it does not say
    uint32_t n_records;
    struct snoop_record records[SNOOP_RECORDS];
};

// 'frame' begins with the Ethernet header, without a tag; nothing else is taken for granted. 'm'
// has a meaning after SNOOP_GOOD only. RFC 1112, 2236, 3376; RFC 2710, 3590, 3810.
enum snoop_verdict snoop_read(const uint8_t *frame, uint32_t length, struct snoop_message *m);
// The same of what is after the Ethernet header.
enum snoop_verdict snoop_igmp_read(const uint8_t *packet, uint32_t length, struct snoop_message *m);
enum snoop_verdict snoop_mld_read(const uint8_t *packet, uint32_t length, struct snoop_message *m);

// A query of ours, of IGMPv3 or MLDv2, which hosts of older versions take for theirs.
struct snoop_query {
    const uint8_t *mac;    // source
    struct in6_addr from;  // IPv4-mapped: IGMP
    struct in6_addr group; // ::: about all groups
    uint32_t response_ms;  // at most 12,700
    uint32_t interval;     // seconds, at most 31,744
    uint32_t robustness;   // at most 7
};
// Bytes of the frame.
uint32_t snoop_query_frame(const struct snoop_query *q, uint8_t out[SNOOP_QUERY_BYTES]);
uint32_t snoop_igmp_query(const struct snoop_query *q, uint8_t out[SNOOP_QUERY_BYTES]);
uint32_t snoop_mld_query(const struct snoop_query *q, uint8_t out[SNOOP_QUERY_BYTES]);

// ---- what both have in common ----
// The floating point numbers of IGMPv3 and MLDv2: 'mantissa' bits after an exponent of three and a
// one. RFC 3376 4.1.1, RFC 3810 5.1.3.
static inline uint32_t snoop_number(uint32_t code, unsigned mantissa) {
    if (code >> (mantissa + 3) == 0)
        return code;
    return ((code & ((1u << mantissa) - 1)) | 1u << mantissa) << ((code >> mantissa & 7) + 3);
}
// And back, rounded down.
static inline uint32_t snoop_code(uint32_t number, unsigned mantissa) {
    uint32_t exponent = 0;
    if (number >> (mantissa + 3) == 0)
        return number;
    while (number >> (mantissa + 1 + exponent + 3) != 0)
        exponent++;
    return 1u << (mantissa + 3) | exponent << mantissa |
           (number >> (exponent + 3) & ((1u << mantissa) - 1));
}
// Does a record of the kind say that some of it is not wanted any more? RFC 3376 4.2.12, RFC 3810
// 5.2.12: kinds 1 and 3 include the sources and nothing else, 2 and 4 all but the sources, 5 adds
// some, 6 blocks some.
static inline bool snoop_record_leaves(uint8_t kind, uint32_t n_sources) {
    return ((kind == 1 || kind == 3) && n_sources == 0) || kind == 6;
}
// The Ethernet address of a group. RFC 1112 6.4, RFC 2464 7.
void snoop_mac(const struct in6_addr *group, uint8_t mac[6]);

#endif
