// SPDX-License-Identifier: Apache-2.0
//
// The replication engine against a model: random trees of nodes, ECMP groups, LAGs, prune sets,
// ports that are down, and random packets. The model follows the description of the hardware
// (tna-facts 5.6) word by word, keeps plain arrays and shares nothing with the engine.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "pipeline/tm/pre.h"

#define NODES  24
#define ECMPS  4
#define LAGS   6
#define PORTS  20 // 0..9 and 128..137
#define SETS   4
#define ROUNDS 4000

static uint64_t state = 1;

static unsigned rnd(unsigned n) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state >> 33) % n;
}

static uint16_t port_at(unsigned i) {
    return (uint16_t)(i < PORTS / 2 ? i : 128 + i - PORTS / 2);
}

// ---- the model ----

struct model_node {
    int rid; // -1: there is none
    uint16_t ports[PORTS];
    unsigned n_ports;
    uint8_t lags[LAGS];
    unsigned n_lags;
};
struct model_entry {
    int node, ecmp; // one is -1
    int xid;        // -1: none
};
struct model {
    struct model_node nodes[NODES];
    int ecmps[ECMPS][32]; // -1: empty slot
    uint16_t lags[LAGS][PORTS];
    unsigned lag_size[LAGS], left[LAGS], right[LAGS];
    struct model_entry entries[NODES + ECMPS];
    unsigned n_entries;
    bool pruned[SETS][512], down[512];
    uint16_t backup[512];
    uint16_t global_rid;
};

struct copies {
    struct sk_pre_copy list[1024];
    size_t n;
};

static void model_copy(struct copies *out, uint16_t port, int rid) {
    bool first = true;
    for (size_t i = 0; i < out->n; i++)
        first &= out->list[i].rid != rid;
    out->list[out->n++] =
        (struct sk_pre_copy){.port = port, .rid = (uint16_t)rid, .rid_first = first};
}

// The port of a LAG, or -1.
static int model_lag(const struct model *m, unsigned lag, unsigned hash) {
    unsigned n = m->lag_size[lag];
    if (n == 0)
        return -1;
    unsigned index = hash % (m->left[lag] + n + m->right[lag]);
    if (index < m->right[lag] || index >= m->right[lag] + n)
        return -1;
    uint16_t live[PORTS] = {0};
    unsigned n_live = 0;
    for (unsigned i = 0; i < n; i++)
        if (!m->down[m->lags[lag][i]])
            live[n_live++] = m->lags[lag][i];
    uint16_t port = m->lags[lag][index - m->right[lag]];
    return m->down[port] && n_live > 0 ? live[hash % n_live] : port;
}

static bool model_pruned(const struct model *m, const struct sk_pre_request *q, int rid,
                         uint16_t port) {
    return (q->rid == rid || q->rid == m->global_rid) && q->level2_exclusion_id < SETS &&
           m->pruned[q->level2_exclusion_id][port];
}

static void model_node(const struct model *m, const struct sk_pre_request *q, int node,
                       struct copies *out) {
    const struct model_node *n = &m->nodes[node];
    for (unsigned i = 0; i < n->n_ports; i++)
        if (!model_pruned(m, q, n->rid, n->ports[i]))
            model_copy(out, m->down[n->ports[i]] ? m->backup[n->ports[i]] : n->ports[i], n->rid);
    for (unsigned i = 0; i < n->n_lags; i++) {
        int port = model_lag(m, n->lags[i], q->level2_hash);
        if (port >= 0 && !model_pruned(m, q, n->rid, (uint16_t)port))
            model_copy(out, m->down[port] ? m->backup[port] : (uint16_t)port, n->rid);
    }
}

static int model_ecmp(const int slots[32], unsigned hash) {
    int live[32], n = 0;
    for (int i = 0; i < 32; i++)
        if (slots[i] >= 0)
            live[n++] = slots[i];
    if (n == 0)
        return -1;
    return slots[hash % 32] >= 0 ? slots[hash % 32] : live[hash % (unsigned)n];
}

static void model_replicate(const struct model *m, const struct sk_pre_request *q,
                            struct copies *out) {
    out->n = 0;
    for (unsigned i = 0; i < m->n_entries; i++) {
        const struct model_entry *e = &m->entries[i];
        if (e->xid == q->level1_exclusion_id)
            continue;
        int node = e->ecmp < 0 ? e->node : model_ecmp(m->ecmps[e->ecmp], q->level1_hash);
        if (node >= 0)
            model_node(m, q, node, out);
    }
}

// ---- random trees ----

static int compare_ports(const void *a, const void *b) {
    return *(const uint16_t *)a - *(const uint16_t *)b;
}

static unsigned some_ports(uint16_t *out, unsigned one_in) {
    unsigned n = 0;
    for (unsigned i = 0; i < PORTS; i++)
        if (rnd(one_in) == 0)
            out[n++] = port_at(i);
    for (unsigned i = n; i > 1; i--) { // in any order
        unsigned k = rnd(i);
        uint16_t t = out[k];
        out[k] = out[i - 1];
        out[i - 1] = t;
    }
    return n;
}

static void make_nodes(struct sk_pre *pre, struct model *m) {
    for (unsigned i = 0; i < LAGS; i++) {
        m->lag_size[i] = some_ports(m->lags[i], 4);
        m->left[i] = rnd(3);
        m->right[i] = rnd(3);
        const struct sk_pre_lag as = {m->lags[i], m->lag_size[i], (uint16_t)m->left[i],
                                      (uint16_t)m->right[i]};
        assert_int_equal(pre_lag_set(pre, (uint8_t)(40 * i), &as), 0);
        qsort(m->lags[i], m->lag_size[i], sizeof m->lags[i][0], compare_ports);
    }
    for (unsigned i = 0; i < NODES; i++) {
        struct model_node *n = &m->nodes[i];
        uint8_t lags[LAGS];
        n->rid = (int)rnd(6);
        n->n_ports = some_ports(n->ports, 5);
        n->n_lags = 0;
        for (unsigned k = 0; k < LAGS; k++)
            if (rnd(4) == 0) {
                lags[n->n_lags] = (uint8_t)(40 * k);
                n->lags[n->n_lags++] = (uint8_t)k;
            }
        assert_int_equal(
            pre_node_set(pre, 1000 - i, (uint16_t)n->rid, n->ports, n->n_ports, lags, n->n_lags),
            0);
    }
}

static void make_ecmps(struct sk_pre *pre, struct model *m) {
    for (unsigned i = 0; i < ECMPS; i++) {
        uint32_t nodes[32];
        bool taken[NODES] = {false};
        unsigned n = rnd(33);
        for (unsigned k = 0; k < 32; k++) {
            unsigned node = rnd(NODES);
            bool empty = k >= n || rnd(2) || taken[node];
            m->ecmps[i][k] = empty ? -1 : (int)node;
            nodes[k] = empty ? SK_PRE_NO_NODE : 1000 - node;
            taken[node] |= !empty;
        }
        assert_int_equal(pre_ecmp_set(pre, i, nodes, n), 0);
    }
}

static void make_group(struct sk_pre *pre, struct model *m) {
    struct sk_pre_member members[NODES + ECMPS];
    m->n_entries = 0;
    for (unsigned i = 0; i < NODES + ECMPS; i++) {
        if (rnd(3))
            continue;
        bool ecmp = i >= NODES, xid = rnd(2);
        struct model_entry e = {ecmp ? -1 : (int)i, ecmp ? (int)(i - NODES) : -1,
                                xid ? (int)rnd(3) : -1};
        members[m->n_entries] = (struct sk_pre_member){.node = ecmp ? i - NODES : 1000 - i,
                                                       .ecmp = ecmp,
                                                       .l1_xid_valid = xid,
                                                       .l1_xid = xid ? (uint16_t)e.xid : 0};
        m->entries[m->n_entries++] = e;
    }
    assert_int_equal(pre_group_set(pre, 77, members, m->n_entries), 0);
}

static void make_rest(struct sk_pre *pre, struct model *m) {
    for (unsigned i = 0; i < SETS; i++) {
        uint16_t ports[PORTS];
        unsigned n = some_ports(ports, 3);
        memset(m->pruned[i], 0, sizeof m->pruned[i]);
        for (unsigned k = 0; k < n; k++)
            m->pruned[i][ports[k]] = true;
        assert_int_equal(pre_prune_set(pre, (uint16_t)i, ports, n), 0);
    }
    for (unsigned i = 0; i < PORTS; i++) {
        uint16_t port = port_at(i);
        m->down[port] = rnd(4) == 0;
        m->backup[port] = rnd(2) ? port : port_at(rnd(PORTS));
        pre_port_live(pre, port, !m->down[port]);
        assert_int_equal(pre_backup_set(pre, port, m->backup[port]), 0);
    }
    m->global_rid = (uint16_t)rnd(6);
    pre_global_rid(pre, m->global_rid);
}

// ---- the tests ----

static void collect(void *aux, const struct sk_pre_copy *c) {
    struct copies *out = aux;
    out->list[out->n++] = *c;
}

static void test_random_trees(void **unused) {
    (void)unused;
    struct sk_pre *pre = sk_pre_new();
    struct sk_pre_marks *marks = sk_pre_marks_new();
    static struct model m;
    static struct copies got, want;
    size_t copies = 0;
    assert_non_null(pre);
    for (unsigned round = 0; round < ROUNDS; round++) {
        if (round % 20 == 0) { // changes what a group names, too
            make_nodes(pre, &m);
            make_ecmps(pre, &m);
            make_rest(pre, &m);
        }
        make_group(pre, &m);
        const struct sk_pre_request q = {.mgid = 77,
                                         .level1_exclusion_id = (uint16_t)rnd(4),
                                         .level2_exclusion_id = (uint16_t)rnd(SETS + 1),
                                         .rid = (uint16_t)rnd(7),
                                         .level1_hash = (uint16_t)rnd(8192),
                                         .level2_hash = (uint16_t)rnd(8192)};
        got.n = 0;
        size_t n = pre_replicate(pre, marks, &q, collect, &got);
        assert_int_equal(n, got.n);
        model_replicate(&m, &q, &want);
        assert_int_equal(got.n, want.n);
        for (size_t i = 0; i < got.n; i++) {
            assert_int_equal(got.list[i].port, want.list[i].port);
            assert_int_equal(got.list[i].rid, want.list[i].rid);
            assert_int_equal(got.list[i].rid_first, want.list[i].rid_first);
        }
        copies += got.n;
    }
    assert_true(copies > ROUNDS); // the trees were not empty
    sk_pre_marks_free(marks);
    sk_pre_free(pre);
}

// What is refused changes nothing.
static void test_errors(void **unused) {
    (void)unused;
    struct sk_pre *pre = sk_pre_new();
    const uint16_t twice[] = {1, 1}, no_port[] = {72};
    const uint8_t lags_twice[] = {3, 3}, no_lag[] = {255};
    uint32_t many[33], nodes[] = {1, SK_PRE_NO_NODE, 2}, node_twice[] = {1, 1}, absent[] = {9};
    assert_non_null(pre);
    for (unsigned i = 0; i < 33; i++)
        many[i] = SK_PRE_NO_NODE;
    assert_int_equal(pre_node_set(pre, 1, 0, twice, 2, NULL, 0), -EINVAL);
    assert_int_equal(pre_node_set(pre, 1, 0, no_port, 1, NULL, 0), -EINVAL);
    assert_int_equal(pre_node_set(pre, 1, 0, NULL, 0, lags_twice, 2), -EINVAL);
    assert_int_equal(pre_node_set(pre, 1, 0, NULL, 0, no_lag, 1), -EINVAL);
    assert_int_equal(pre_node_delete(pre, 1), -ENOENT);
    assert_int_equal(pre_node_set(pre, 1, 0, NULL, 0, NULL, 0), 0);
    assert_int_equal(pre_node_set(pre, 2, 0, NULL, 0, NULL, 0), 0);
    assert_int_equal(pre_ecmp_set(pre, 1, many, 33), -EINVAL);
    assert_int_equal(pre_ecmp_set(pre, 1, node_twice, 2), -EEXIST);
    assert_int_equal(pre_ecmp_set(pre, 1, absent, 1), -ENOENT);
    assert_int_equal(pre_ecmp_delete(pre, 1), -ENOENT);
    assert_int_equal(pre_ecmp_set(pre, 1, nodes, 3), 0);
    assert_int_equal(pre_node_delete(pre, 1), -EBUSY);
    const struct sk_pre_member group[] = {{.node = 1, .ecmp = true}, {.node = 1}};
    const struct sk_pre_member again[] = {{.node = 1}, {.node = 1}};
    assert_int_equal(pre_group_set(pre, 5, again, 2), -EEXIST);
    assert_int_equal(pre_group_set(pre, 5, group, 2), 0);
    assert_int_equal(pre_ecmp_delete(pre, 1), -EBUSY);
    assert_int_equal(pre_group_delete(pre, 5), 0);
    assert_int_equal(pre_group_delete(pre, 5), -ENOENT);
    assert_int_equal(pre_ecmp_delete(pre, 1), 0);
    assert_int_equal(pre_node_delete(pre, 1), 0);
    assert_int_equal(pre_node_delete(pre, 2), 0);
    const struct sk_pre_lag bad = {no_port, 1, 0, 0}, empty = {NULL, 0, 1, 1};
    assert_int_equal(pre_lag_set(pre, 255, &empty), -EINVAL);
    assert_int_equal(pre_lag_set(pre, 0, &bad), -EINVAL);
    assert_int_equal(pre_lag_set(pre, 0, &empty), 0);
    assert_null(pre_lag(pre, 0));
    assert_int_equal(pre_backup_set(pre, 72, 1), -EINVAL);
    assert_int_equal(pre_prune_set(pre, 288, NULL, 0), -EINVAL);
    sk_pre_free(pre);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_trees),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
