// SPDX-License-Identifier: Apache-2.0
//
// send: how drops are counted, whoever looks (send.h has what most packets need of it).
#include "pipeline/path/send.h"

#include <assert.h>

static void core_send_count(struct sk_core *core, uint16_t port, enum sk_drop_reason r) {
    core->stats.drops[r]++;
    if (port < SK_PORTS)
        core->ports[port].stats.drops[r]++;
}

void core_refuse(struct sk_core *core, const struct sk_packet *p, uint16_t port,
                 enum sk_drop_reason r) {
    core_tell(core, p, SK_EV_DROPPED, port, 0, sk_drop_text(r));
    // one that its port did not take has been recorded as such
    if (core->recorder && r != SK_DROP_TX_FULL)
        recorder_dropped(core->recorder, p, port, r, core->now);
    core_send_count(core, port, r);
}

void core_drop(struct sk_core *core, struct sk_packet *p, uint16_t port, enum sk_drop_reason r) {
    core_refuse(core, p, port, r);
    sk_pool_put(p);
}

void sk_core_tx_lost(struct sk_core *core, uint16_t dev_port, const struct sk_packet *p) {
    assert(dev_port < SK_PORTS);
    struct sk_port_stats *stats = &core->ports[dev_port].stats;
    assert(stats->tx_packets >= 1 && stats->tx_bytes >= p->len);
    stats->tx_packets--;
    stats->tx_bytes -= p->len;
    core->stats.tx_packets--;
    core_send_count(core, dev_port, SK_DROP_TX_FULL);
    if (core->recorder)
        recorder_unsent(core->recorder, p, dev_port, core->now);
}
