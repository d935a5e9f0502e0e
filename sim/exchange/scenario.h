// SPDX-License-Identifier: Apache-2.0
//
// What a scenario says of an exchange (docs/simulation.md): members of a job whose protocol is a
// transport.
#ifndef SILKEN_SIM_EXCHANGE_SCENARIO_H
#define SILKEN_SIM_EXCHANGE_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/transport/levels.h"

enum scn_transport { SCN_NEWRENO, SCN_CUBIC, SCN_DCTCP, SCN_PIAS, SCN_PFABRIC, SCN_DLCP };
extern const char *const scn_transport_names[]; // ends with null

enum scn_form { SCN_SERVERS, SCN_RING, SCN_HALVING, SCN_TREE, SCN_TWO_TREES, SCN_HIERARCHICAL };

struct scn_exchange {
    enum scn_transport transport;
    enum scn_form form;
    uint32_t group;              // workers of a group, of SCN_HIERARCHICAL
    uint64_t chunk_bytes;        // of trees
    uint32_t *workers, *servers; // stations; servers may be workers, too
    size_t n_workers, n_servers;
    double cut_bytes; // tensors above are cut over all servers
    bool in_step;     // all workers begin with the same server
    // a host's order
    bool by_layer;
    uint64_t partition_bytes, credit_bytes; // 0: whole tensors, no limit
    bool list_flows;
    uint8_t dscp, ack_dscp; // of streams; the first level's
    // streams
    bool kept; // a connection for each pair of hosts
    uint32_t mss, initial_window, duplicates;
    double cubic_c;
    struct tr_levels levels;
    // DLCP
    uint32_t bound, pull_bound; // millionths
    uint32_t segment, ports;
    double period_us, burst_us, important;
    bool one_class; // all layers alike
};

// All-reduces by sim/exchange/collective.h.
static inline bool scn_is_collective(const struct scn_exchange *x) {
    return x->form >= SCN_HALVING;
}

#endif
