// SPDX-License-Identifier: Apache-2.0
//
// change: what a scenario does to an interpreter besides packets, without a build beside it.
#include <string.h>

#include "harness/interp/scenario.h"

static int change_action(const struct ir_table *t, const char *name) {
    const unsigned n = (unsigned)t->actions.n;
    bool listed = false;
    for (unsigned i = 0; i < n; i++) {
        listed |= t->actions.v[i].action == t->default_action;
        if (strcmp(t->actions.v[i].action->name, name) == 0)
            return (int)i;
    }
    if (!t->profile)
        return -1;
    const unsigned all = n + !listed;
    return (int)(strcmp(name, "$ACTION_MEMBER_ID") == 0 ? all : all + 1);
}

static bool change_has(const struct interp_table *t, const struct op *op) {
    for (size_t i = 0; i < t->n; i++)
        if (memcmp(t->entries[i]->value, op->value.v, op->value.n * sizeof(uint64_t)) == 0 &&
            memcmp(t->entries[i]->mask, op->mask.v, op->mask.n * sizeof(uint64_t)) == 0)
            return true;
    return false;
}

static bool change_has_member(struct interp *ip, const struct ir_action_profile *p, uint64_t id) {
    const struct interp_table *const t =
        interp_profile(ip, (unsigned)interp_find_profile(ip, p->name));
    for (size_t i = 0; i < t->n; i++)
        if (t->entries[i]->value[0] == id)
            return true;
    return false;
}

// What an entry refers to is there.
static bool change_is_whole(struct interp *ip, const struct ir_table *t, const struct op *op) {
    if (strcmp(op->action, "$ACTION_MEMBER_ID") == 0)
        return change_has_member(ip, t->profile, op->data.v[0]);
    return strcmp(op->action, "$SELECTOR_GROUP_ID") != 0 ||
           interp_has_group(ip, t->selector->name, op->data.v[0]);
}

static void change_table(struct interp *ip, const struct op *op) {
    const int table = interp_find_table(ip, op->name);
    if (table < 0)
        return;
    const struct ir_table *const ir = interp_table_ir(ip, (unsigned)table);
    const int action = change_action(ir, op->action);
    if (action < 0 || !change_is_whole(ip, ir, op))
        return;
    if (op->kind == OP_DEFAULT)
        interp_set_default(ip, (unsigned)table, (unsigned)action, op->data.v);
    else if (!change_has(interp_table(ip, (unsigned)table), op) &&
             interp_table(ip, (unsigned)table)->n < ir->size)
        interp_add(ip, (unsigned)table, op->value.v, op->mask.v, op->priority, (unsigned)action,
                   op->data.v);
}

static void change_value_set(struct interp *ip, const struct op *op) {
    const struct ir_gress *const g = interp_gresses(ip);
    for (unsigned i = 0; i < g[0].value_sets.n + g[1].value_sets.n; i++) {
        const struct ir_value_set *const vs = interp_value_set_ir(ip, i);
        struct interp_table *const t = interp_value_set(ip, i);
        if (strcmp(vs->name, op->name) == 0 && t->n < vs->size && !change_has(t, op))
            interp_value_set_add(ip, i, op->value.v, op->mask.v);
    }
}

static void change_member(struct interp *ip, const struct op *op) {
    const int profile = interp_find_profile(ip, op->name);
    const struct ir_action_profile *const p =
        profile < 0 ? NULL : interp_profile_ir(ip, (unsigned)profile);
    if (p && !change_has_member(ip, p, op->index) &&
        interp_profile(ip, (unsigned)profile)->n >= p->size)
        return;
    for (unsigned i = 0; p && i < p->actions.n; i++)
        if (strcmp(p->actions.v[i].action->name, op->action) == 0)
            interp_set_member(ip, (unsigned)profile, op->index, i, op->data.v);
}

static const struct ir_selector *change_selector(const struct interp *ip, const char *name) {
    for (unsigned k = 0; k < 2; k++) {
        const struct ir_gress *const g = &interp_gresses(ip)[k];
        for (size_t i = 0; i < g->selectors.n; i++)
            if (strcmp(g->selectors.v[i]->name, name) == 0)
                return g->selectors.v[i];
    }
    return NULL;
}

static void change_group(struct interp *ip, const struct op *op) {
    const struct ir_selector *const s = change_selector(ip, op->name);
    const size_t n = op->data.n / 2;
    uint64_t groups = 0;
    if (!s || n > s->max_group_size)
        return;
    for (uint64_t id = 0; id < op->index; id++) // those with larger numbers are made later
        groups += interp_has_group(ip, op->name, id);
    if (groups >= s->n_groups)
        return;
    for (size_t i = 0; i < n; i++)
        if (!change_has_member(ip, s->profile, op->data.v[2 * i]))
            return;
    interp_set_group(ip, op->name, op->index, op->data.v, n);
}

void scenario_change(struct interp *ip, const struct op *op) {
    switch (op->kind) {
    case OP_ENTRY:
    case OP_DEFAULT:
        change_table(ip, op);
        break;
    case OP_MEMBER:
        change_value_set(ip, op);
        break;
    case OP_PROFILE:
        change_member(ip, op);
        break;
    case OP_GROUP:
        change_group(ip, op);
        break;
    case OP_REGISTER: // of programs without registers
    case OP_INGRESS:
    case OP_EGRESS:
        break;
    }
}
