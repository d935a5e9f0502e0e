// SPDX-License-Identifier: Apache-2.0
#include "hosts/dlcp/peer.h"

#define LEAVE    UINT64_C(100000000) // ns
#define DOUBLED  6u                  // times
#define ENOUGH   16u                 // packets by a port that are worth a judgement
#define PER_CENT 5u
#define CHANCE   4u // packets that any path may lose

void dlcp_peer_init(struct dlcp_peer *peer, uint16_t first_port, uint16_t ports,
                    uint64_t rto_initial, uint64_t rto_min, uint64_t rto_max) {
    *peer = (struct dlcp_peer){.first_port = first_port, .ports = ports, .leave = LEAVE};
    sk_rto_init(&peer->rto, rto_initial, rto_min, rto_max);
}

// If all are left, all are taken.
uint16_t dlcp_peer_turn(struct dlcp_peer *peer, uint64_t now) {
    uint16_t number = peer->turn;
    for (unsigned i = 0; i < peer->ports; i++) {
        if (peer->path[number].left_until <= now)
            break;
        number = (uint16_t)(number + 1 < peer->ports ? number + 1 : 0);
    }
    peer->turn = (uint16_t)(number + 1 < peer->ports ? number + 1 : 0);
    return number;
}

// Whether 'lost' of 'sent' is more than twice the others' share, more than 5 %, and more than
// chance.
static bool peer_is_worse(uint64_t sent, uint64_t lost, uint64_t others_sent,
                          uint64_t others_lost) {
    return others_sent >= ENOUGH && lost >= CHANCE && lost * 100 > sent * PER_CENT &&
           lost * others_sent > 2 * others_lost * sent;
}

// Whether half of its packets are lost, and of the best path's less than half that share. Where
// most paths cross a link that is down, the others are no better than it is.
static bool peer_is_dead(const struct dlcp_path *p, const struct dlcp_path *best) {
    return 2 * (uint64_t)p->lost >= p->sent &&
           2 * (uint64_t)best->lost * p->sent < (uint64_t)p->lost * best->sent;
}

// Whether each path in use has had enough packets since the last time, or all together many.
static bool peer_knows_enough(const struct dlcp_peer *peer, uint64_t now) {
    uint64_t all = 0;
    bool each = true;
    for (unsigned i = 0; i < peer->ports; i++) {
        const struct dlcp_path *p = &peer->path[i];
        all += p->sent;
        each &= p->sent >= ENOUGH || p->left_until > now;
    }
    return each || all >= UINT64_C(4) * ENOUGH * peer->ports;
}

static void peer_leave(struct dlcp_peer *peer, struct dlcp_path *p, uint64_t now) {
    p->left_until = sk_time_add(now, peer->leave << (p->times < DOUBLED ? p->times : DOUBLED));
    p->times++;
    peer->left++;
}

void dlcp_peer_judge(struct dlcp_peer *peer, const uint32_t sent[DLCP_PATHS],
                     const uint32_t came[DLCP_PATHS], uint64_t now) {
    uint64_t all_sent = 0, all_lost = 0;
    struct dlcp_path best = {.sent = 1, .lost = 1};

    for (unsigned i = 0; i < peer->ports; i++) {
        peer->path[i].sent += sent[i];
        peer->path[i].lost += came[i] < sent[i] ? sent[i] - came[i] : 0;
    }
    if (!peer_knows_enough(peer, now))
        return;
    for (unsigned i = 0; i < peer->ports; i++) {
        const struct dlcp_path *p = &peer->path[i];
        if (p->left_until > now)
            continue; // what is still reported of it says nothing of the others
        all_sent += p->sent;
        all_lost += p->lost;
        if (p->sent >= ENOUGH && (uint64_t)p->lost * best.sent < (uint64_t)best.lost * p->sent)
            best = *p;
    }
    for (unsigned i = 0; i < peer->ports; i++) {
        struct dlcp_path *p = &peer->path[i];
        if (p->left_until <= now && p->sent >= ENOUGH) {
            if (peer_is_worse(p->sent, p->lost, all_sent - p->sent, all_lost - p->lost) ||
                peer_is_dead(p, &best))
                peer_leave(peer, p, now);
            else
                p->times = 0;
        }
        p->sent = p->lost = 0;
    }
}
