// SPDX-License-Identifier: Apache-2.0
//
// gateway: which unit takes a condition along.
//
// A table's memory has a gateway before it, so a condition costs no table of its own when something
// directly under it, on either side, can take it: applied at one place, without a condition yet,
// and waiting for nothing in its own run, nor longer than others under the condition: those have to
// wait for it. A unit with a register that another one uses, too, may have to wait for that one;
// CHIP_GATEWAYS_UNSHARED leaves such units alone.
#include "compiler/chip/graph/graph_impl.h"

#include <limits.h>

// The stage from which something under the gateway may stand.
static unsigned needed_from(const struct graph *g, unsigned gate) {
    const struct graph_node *node = &g->nodes.v[gate];
    unsigned s = UINT_MAX;
    for (size_t i = 0; i < node->children.n; i++)
        if (g->gress->units.v[node->children.v[i]].earliest < s)
            s = g->gress->units.v[node->children.v[i]].earliest;
    return s;
}

// The unit changes what the condition asks.
static bool graph_gateway_is_changed_by(const struct chip_unit *gate, const struct chip_unit *w) {
    for (size_t i = 0; i < w->actions.n; i++)
        for (size_t k = 0; k < w->actions.v[i].writes.n; k++)
            for (size_t n = 0; n < gate->gateway.n; n++)
                if (chip_bits_meet(w->actions.v[i].writes.v[k], gate->gateway.v[n]))
                    return true;
    return false;
}

static const struct ir_register *graph_gateway_register(const struct chip_unit *u, size_t *at) {
    for (size_t i = 0, n = 0; i < u->actions.n; i++)
        for (size_t k = 0; k < u->actions.v[i].accesses.n; k++, n++)
            if (n >= *at && u->actions.v[i].accesses.v[k].kind == CHIP_REGISTER) {
                *at = n + 1;
                return u->actions.v[i].accesses.v[k].reg;
            }
    return NULL;
}

// By register id: how many units use it.
static unsigned *graph_gateway_users(const struct graph *g) {
    unsigned *users = ARENA_ARRAY(g->a, unsigned, g->ir->registers.n + 1),
             *last = ARENA_ARRAY(g->a, unsigned, g->ir->registers.n + 1);
    for (unsigned u = 0; u < g->gress->units.n; u++) {
        const struct ir_register *reg;
        for (size_t at = 0; (reg = graph_gateway_register(&g->gress->units.v[u], &at)) != NULL;) {
            users[reg->id] += last[reg->id] != u + 1;
            last[reg->id] = u + 1;
        }
    }
    return users;
}

static bool graph_gateway_shares(const struct chip_unit *u, const unsigned *users) {
    const struct ir_register *reg;
    for (size_t at = 0; (reg = graph_gateway_register(u, &at)) != NULL;)
        if (users[reg->id] > 1)
            return true;
    return false;
}

// 'u' is the first of its side: no other unit under the same side comes before it.
static bool is_free(const struct graph *g, unsigned gate, unsigned u, unsigned stage,
                    const unsigned *users) {
    const struct chip_gress *cg = g->gress;
    const struct chip_unit *cu = &cg->units.v[u];
    if (cu->kind == CHIP_GATEWAY || cu->condition || g->nodes.v[u].parents.n != 1 ||
        g->nodes.v[u].applied > 1 || cu->earliest != stage ||
        (g->gateways == CHIP_GATEWAYS_UNSHARED && graph_gateway_shares(cu, users)))
        return false;
    unsigned side = g->nodes.v[u].parents.v[0].branch;
    for (size_t i = 0; i < cg->deps.n; i++) {
        if (cg->deps.v[i].to != u)
            continue;
        const struct graph_node *other = &g->nodes.v[cg->deps.v[i].from];
        if (other->parents.n == 1 && other->parents.v[0].unit == gate &&
            other->parents.v[0].branch == side)
            return false;
    }
    // What runs before 'u' and changes what is asked would have to wait for the answer at 'u'.
    for (unsigned w = gate + 1; w < u; w++)
        if (graph_has(g->together + w * g->words, u) &&
            graph_gateway_is_changed_by(&cg->units.v[gate], &cg->units.v[w]))
            return false;
    return true;
}

static void take_along(struct graph *g, unsigned gate, unsigned u) {
    struct chip_unit *cu = &g->gress->units.v[u], *cg = &g->gress->units.v[gate];
    struct graph_node *node = &g->nodes.v[u], *above = &g->nodes.v[gate];
    cu->condition = cg->condition;
    cu->gateway = cg->gateway;
    node->parents.v = above->parents.v;
    node->parents.n = above->parents.n;
    node->parents.cap = above->parents.cap;
    const unsigned first = (unsigned)node->branches.n;
    for (size_t i = 0; i < above->branches.n; i++) {
        struct graph_branch br = {first + (unsigned)i, ~UINT64_C(0)};
        VEC_PUSH(g->a, &node->branches, br);
    }
    for (size_t i = 0; i < above->children.n; i++) {
        unsigned c = above->children.v[i];
        if (c == u)
            continue;
        VEC_PUSH(g->a, &node->children, c);
        for (size_t k = 0; k < g->nodes.v[c].parents.n; k++)
            if (g->nodes.v[c].parents.v[k].unit == gate) {
                g->nodes.v[c].parents.v[k].unit = u;
                g->nodes.v[c].parents.v[k].branch += first;
            }
    }
    for (size_t i = 0; i < above->parents.n; i++) {
        struct graph_node *p = &g->nodes.v[above->parents.v[i].unit];
        for (size_t k = 0; k < p->children.n; k++)
            if (p->children.v[k] == gate)
                p->children.v[k] = u;
    }
    cg->stmt = NULL; // gone
}

static void compact(struct graph *g) {
    size_t n = g->gress->units.n, left = 0;
    unsigned *place = ARENA_ARRAY(g->a, unsigned, n + 1), *old = ARENA_ARRAY(g->a, unsigned, n + 1);
    for (size_t i = 0; i < n; i++)
        if (g->gress->units.v[i].stmt) {
            old[left] = (unsigned)i;
            place[i] = (unsigned)left++;
        }
    size_t words = graph_words(left);
    graph_word *together = ARENA_ARRAY(g->a, graph_word, left * words + 1);
    for (size_t i = 0; i < left; i++) {
        g->gress->units.v[i] = g->gress->units.v[old[i]];
        g->gress->units.v[i].id = (unsigned)i;
        g->nodes.v[i] = g->nodes.v[old[i]];
        struct graph_node *node = &g->nodes.v[i];
        for (size_t k = 0; k < node->children.n; k++)
            node->children.v[k] = place[node->children.v[k]];
        for (size_t k = 0; k < left; k++)
            if (graph_has(g->together + old[i] * g->words, old[k]))
                graph_set(together + i * words, k);
    }
    for (size_t i = 0; i < left; i++)
        for (size_t k = 0; k < g->nodes.v[i].parents.n; k++)
            g->nodes.v[i].parents.v[k].unit = place[g->nodes.v[i].parents.v[k].unit];
    g->gress->units.n = g->nodes.n = left;
    g->together = together;
    g->words = words;
}

void graph_gateways(struct graph *g) {
    const unsigned *users = graph_gateway_users(g);
    for (unsigned i = 0; i < g->gress->units.n; i++) {
        if (g->gress->units.v[i].kind != CHIP_GATEWAY)
            continue;
        const struct graph_node *node = &g->nodes.v[i];
        unsigned stage = needed_from(g, i);
        for (size_t k = 0; k < node->children.n; k++)
            if (is_free(g, i, node->children.v[k], stage, users)) {
                take_along(g, i, node->children.v[k]);
                break;
            }
    }
    compact(g);
}
