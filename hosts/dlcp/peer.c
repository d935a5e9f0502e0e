// SPDX-License-Identifier: Apache-2.0
#include "hosts/dlcp/peer.h"

#define LEAVE    UINT64_C(100000000) // ns
#define DOUBLED  6u                  // times
#define ENOUGH   16u                 // packets by a port that are worth a judgement
#define PER_CENT 5u

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

// Whether 'lost' of 'sent' is more than twice the others' share, and more than 5 %.
static bool peer_is_worse(uint64_t sent, uint64_t lost, uint64_t others_sent,
                          uint64_t others_lost) {
    return sent >= ENOUGH && others_sent >= ENOUGH && lost * 100 > sent * PER_CENT &&
           lost * others_sent > 2 * others_lost * sent;
}

void dlcp_peer_judge(struct dlcp_peer *peer, const uint32_t sent[DLCP_PATHS],
                     const uint32_t came[DLCP_PATHS], uint64_t now) {
    uint64_t all_sent = 0, all_lost = 0, lost[DLCP_PATHS] = {0};

    for (unsigned i = 0; i < peer->ports; i++) {
        lost[i] = came[i] < sent[i] ? sent[i] - came[i] : 0;
        all_sent += sent[i];
        all_lost += lost[i];
    }
    for (unsigned i = 0; i < peer->ports; i++) {
        struct dlcp_path *p = &peer->path[i];
        if (sent[i] < ENOUGH || p->left_until > now)
            continue;
        if (peer_is_worse(sent[i], lost[i], all_sent - sent[i], all_lost - lost[i])) {
            p->left_until =
                sk_time_add(now, peer->leave << (p->times < DOUBLED ? p->times : DOUBLED));
            p->times++;
            peer->left++;
        } else {
            p->times = 0;
        }
    }
}
