// SPDX-License-Identifier: Apache-2.0
//
// switch_pre: a switch's replication engine, for those who see the switch only (pre.h).
#include "pipeline/switch/switch_impl.h"

int sk_pre_node_set(struct sk_switch *sw, uint32_t node, uint16_t rid, const uint16_t *ports,
                    size_t n_ports) {
    return pre_node_set(sw->pre, node, rid, ports, n_ports, NULL, 0);
}

int sk_pre_node_set_lags(struct sk_switch *sw, uint32_t node, uint16_t rid, const uint16_t *ports,
                         size_t n_ports, const uint8_t *lags, size_t n_lags) {
    return pre_node_set(sw->pre, node, rid, ports, n_ports, lags, n_lags);
}

int sk_pre_node_delete(struct sk_switch *sw, uint32_t node) {
    return pre_node_delete(sw->pre, node);
}

int sk_pre_ecmp_set(struct sk_switch *sw, uint32_t ecmp, const uint32_t *nodes, size_t n_nodes) {
    return pre_ecmp_set(sw->pre, ecmp, nodes, n_nodes);
}

int sk_pre_ecmp_delete(struct sk_switch *sw, uint32_t ecmp) {
    return pre_ecmp_delete(sw->pre, ecmp);
}

int sk_pre_lag_set(struct sk_switch *sw, uint8_t lag, const struct sk_pre_lag *as) {
    return pre_lag_set(sw->pre, lag, as);
}

int sk_pre_group_set(struct sk_switch *sw, uint16_t mgid, const struct sk_pre_member *members,
                     size_t n_members) {
    return pre_group_set(sw->pre, mgid, members, n_members);
}

int sk_pre_group_delete(struct sk_switch *sw, uint16_t mgid) {
    return pre_group_delete(sw->pre, mgid);
}

int sk_pre_prune_set(struct sk_switch *sw, uint16_t l2_xid, const uint16_t *ports, size_t n_ports) {
    return pre_prune_set(sw->pre, l2_xid, ports, n_ports);
}

void sk_pre_global_rid(struct sk_switch *sw, uint16_t rid) {
    pre_global_rid(sw->pre, rid);
}

void sk_pre_device_set(struct sk_switch *sw, const struct sk_pre_device *as) {
    pre_device_set(sw->pre, as);
}

int sk_pre_backup_set(struct sk_switch *sw, uint16_t port, uint16_t backup) {
    return pre_backup_set(sw->pre, port, backup);
}

const struct sk_pre *sk_switch_pre(const struct sk_switch *sw) {
    return sw->pre;
}
