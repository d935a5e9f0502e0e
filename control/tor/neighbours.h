// SPDX-License-Identifier: Apache-2.0
//
// neighbours: who has which MAC address, for IPv4 (RFC 826) and IPv6 (RFC 4861) alike.
//
//     neighbours.c   the entries: states, timers, packets that wait
//     arp.c, nd.c    frames of the two protocols: checked, answered, sent
//     claims.c       the switch's own addresses: probed, announced, defended (RFC 5227, RFC 4862)
//     neighbours_request.c   requests about neighbours
//
// States are those of RFC 4861 7.3.2, of ARP too. What the tables forward no one sees here, so an
// entry counts as used when it has been stale for STALE_TIME: it is asked then, and one that does
// not answer any more goes.
//
//              asked for                   an answer to us
//     (none) -------------> INCOMPLETE ------------------> REACHABLE --30 s--> STALE
//        |  a request to us    | 3 times no answer            ^                  | used: DELAY, 5 s
//        +--------> STALE      v                              |                  | else after 30 s
//                           FAILED (1, 2, 4 .. 32 s)          +----- PROBE <-----+
//                                                                      | 3 times no answer: (none)
//
// Who may be believed: an entry comes into being because the switch asks (a packet waits, a route
// needs it), or because somebody asks the switch for its address, from an address of the VLAN.
// Everything else only changes entries that are there. An answer counts as one (REACHABLE) only if
// the switch has asked; a new MAC address that comes otherwise is taken over as stale, and asked at
// once.
#ifndef SILKEN_CONTROL_TOR_NEIGHBOURS_H
#define SILKEN_CONTROL_TOR_NEIGHBOURS_H

#include "control/tor/ip.h"
#include "control/tor/links_impl.h"
#include "control/tor/tor_impl.h"
#include "openvswitch/hmap.h"

#define NS_PER_MS 1000000ull
#define NS_PER_S  1000000000ull

#define NEIGHBOURS_MOST 2047u // p4/tor: members of the selector `ecmp`
#define UNANSWERED_MOST 512u  // of them those that have not answered
#define WAITING_EACH    3u    // packets that wait for one neighbour
#define WAITING_MOST    512u  // for all of them
// Of those, what may be there because of one link; of all neighbours that is in its section.
#define UNANSWERED_OF_LINK 128u
#define WAITING_OF_LINK    128u

enum neighbour_state {
    NEIGHBOUR_FAILED,
    NEIGHBOUR_INCOMPLETE,
    NEIGHBOUR_STALE,
    NEIGHBOUR_DELAY,
    NEIGHBOUR_PROBE,
    NEIGHBOUR_REACHABLE,
    NEIGHBOUR_PERMANENT // the configuration's
};
const char *neighbour_state_text(enum neighbour_state state);

struct waiting {
    struct waiting *next;
    struct tor_link *by; // that it came in by; null: none that is there
    uint16_t from_vid;   // that it came in by; 0: the switch's own
    uint32_t length;
    uint8_t bytes[];
};

struct neighbour {
    struct hmap_node node; // of 'struct neighbours', by VLAN and address
    uint16_t vid;
    struct in6_addr address;
    struct tor_link *by; // whose frame made it: it counts for that link's limit; null: none's
    enum neighbour_state state;
    uint8_t mac[6];          // from STALE on
    uint64_t due;            // ns: when the state's timer fires; UINT64_MAX: none
    uint64_t changed, used;  // ns: this state began; it was needed last
    uint64_t asked;          // ns: the last question went out; 0: never
    uint64_t held_until;     // FAILED: nobody is asked before
    unsigned sent, failures; // questions in this state; rounds without an answer
    struct waiting *waiting; // oldest first
    unsigned n_waiting;
};

static inline bool neighbour_is_known(const struct neighbour *n) {
    return n->state >= NEIGHBOUR_STALE;
}

// An address of the switch in a VLAN, and how far it has been claimed.
struct claim {
    uint16_t vid;
    struct in6_addr address;
    unsigned step;     // claims.c
    uint64_t due;      // ns; UINT64_MAX: nothing is left to do
    uint64_t defended; // ns: last; 0: never
    uint64_t conflicts;
    bool silent; // not said unasked, but defended
};

struct neighbours {
    uint32_t hash_secret; // of 'entries'
    struct hmap entries;
    unsigned n_unanswered, n_waiting;
    struct neighbours_of_link {
        uint16_t unanswered, waiting;
    } of_link[LINKS_INTERFACES]; // by interface
    uint16_t in_vlan[4096];      // entries
    uint64_t next;               // ns: no timer fires before
    uint64_t random;
    struct waiting *refused; // packets whose sender has still to be told that nobody answers
    struct claim *claims;
    size_t n_claims;
    uint64_t claims_next;
    uint64_t evicted, bad, packets_dropped;
};

static inline struct neighbours *neighbours_of(struct tor *t) {
    return t->states[TOR_MODULE_NEIGHBOURS];
}
// 0 to 'below' - 1, from a generator of the module's own: delays that shall differ among switches.
uint64_t neighbours_random(struct neighbours *n, uint64_t below);

// ---- neighbours.c
// May somebody with this address be a neighbour in the VLAN: it is of a prefix that the switch is
// in there (or link-local), and not the switch's own, a network's or broadcast address.
bool neighbours_possible(const struct tor *t, uint16_t vid, const struct in6_addr *address);

enum heard {
    HEARD_QUESTION, // asks the switch for its address: will want to be answered
    HEARD_ANSWER,   // to the switch alone
    HEARD_NEWS      // for everybody
};
// Somebody has told its MAC address. 'may_change' false (RFC 4861: no override flag): not if
// another is known. 'mac' null: an answer that confirms the one that is known.
void neighbours_heard(struct tor *t, uint16_t vid, const struct in6_addr *address,
                      const uint8_t *mac, enum heard how, bool may_change);

// Forgets those of a VLAN (0: of all) with that address (null: any), but for the configuration's;
// routes ask for theirs again. How many.
int neighbours_flush(struct tor *t, uint16_t vid, const struct in6_addr *address);
// neighbours_request.c: "tor.neighbours", "tor.neighbour.flush"
json_t *neighbours_request(struct tor *t, void *state, const char *op, json_t *r,
                           struct sk_error *err);

// ---- arp.c, nd.c
// Frames; anything else is none of theirs.
void arp_frame(struct tor *t, const struct tor_frame *frame);
void nd_frame(struct tor *t, const struct tor_frame *frame);
// Asks all of the VLAN ('mac' null) or the one that had the address last.
void arp_ask(struct tor *t, uint16_t vid, const struct in6_addr *address, const uint8_t *mac);
void nd_ask(struct tor *t, uint16_t vid, const struct in6_addr *address, const uint8_t *mac);
// For claims: is anybody there who has it; we have it.
void arp_probe(struct tor *t, uint16_t vid, const struct in6_addr *address);
void arp_announce(struct tor *t, uint16_t vid, const struct in6_addr *address);
void nd_probe(struct tor *t, uint16_t vid, const struct in6_addr *address);
void nd_announce(struct tor *t, uint16_t vid, const struct in6_addr *address);

// ---- claims.c
void claims_configure(struct tor *t);
void claims_run(struct tor *t);
void claims_link_up(struct tor *t, const struct tor_link *link);
// The claim of the VLAN's own address; null: it is none.
struct claim *claims_find(struct tor *t, uint16_t vid, const struct in6_addr *address);
// Somebody else has the address, by the frame.
void claims_conflict(struct tor *t, struct claim *c, const uint8_t mac[6],
                     const struct tor_frame *frame);

#endif
