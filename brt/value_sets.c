// SPDX-License-Identifier: Apache-2.0
//
// Value sets have scopes for gress, pipes and parsers: a pipe has a parser for every four ports (on
// a Tofino 2 for every eight, with numbers that are multiples of 4), and a value may be in all of
// them or in one.
#include <string.h>

#include "brt/brt_impl.h"

#define ALL_GRESSES   0xffu
#define PARSERS       18u
#define PARSERS_2     9u
#define PARSER_STEP_2 4u

// The number of parsers in a pipe, and of their ids from one to the next.
static unsigned value_sets_parsers(const struct sk_switch *sw, unsigned *step) {
    const bool tofino2 = sk_switch_is_tofino_2(sw);
    *step = tofino2 ? PARSER_STEP_2 : 1;
    return tofino2 ? PARSERS_2 : PARSERS;
}

struct sk_table *brt_table_of(const struct brt *b, const struct brt_change *c, unsigned i) {
    struct sk_table *t = brt_table_in(b, c->table, c->pipes.list[i]);
    return c->table->kind == BRT_VALUE_SET && sk_table_n_parsers(t)
               ? sk_table_of_parser(t, c->parser)
               : t;
}

bool brt_values_set_parsers(struct sk_switch *sw, const struct brt_table *t,
                            const struct brt_table_state *state) {
    unsigned step;
    const unsigned n = state->single_parser ? value_sets_parsers(sw, &step) : 0;
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
        if (sk_object_in_pipe(sw, &t->object, pipe) &&
            sk_table_set_parsers(
                t->object.desc->value_set(sk_switch_pipe(sw, pipe), t->object.index), n))
            return false;
    return true;
}

// ---- where a value is ----

static enum brt_code value_sets_pipes(struct brt *b, const struct brt_target *target,
                                      const struct brt_table_state *state, struct brt_change *c,
                                      struct sk_error *err) {
    const char *name = c->table->name;
    if (state->scope == BRT_SCOPE_ALL)
        return BRT_OK; // alike in all pipes, whichever is named
    if (target->pipe < 0)
        return brt_fail(err, BRT_INVALID_ARG,
                        "value set '%s' has values in single pipes, none in all", name);
    if (state->scope == BRT_SCOPE_GROUPS) {
        const uint8_t group = state->group[target->pipe];
        if (!group || (group & ((1u << target->pipe) - 1)))
            return brt_fail(err, BRT_INVALID_ARG,
                            "value set '%s': pipe %d is not the first of a set of pipes", name,
                            target->pipe);
        brt_scope_pipes(state, (unsigned)target->pipe, &c->pipes);
        return BRT_OK;
    }
    return sk_find_pipes(b->now.sw, &c->table->object, target->pipe, &c->pipes, err)
               ? BRT_INVALID_ARG
               : BRT_OK;
}

enum brt_code brt_resolve_values(struct brt *b, const struct brt_target *target,
                                 struct brt_change *c, struct sk_error *err) {
    const struct brt_table_state *state = brt_schema_state(brt_served(b), c->table);
    const char *name = c->table->name;
    const struct sk_value_set_desc *d = &c->table->object.desc->value_sets[c->table->object.index];
    unsigned step;
    const unsigned n = value_sets_parsers(b->now.sw, &step);
    if (state->single_gress && target->gress != (d->egress ? 1u : 0u))
        return brt_fail(err, BRT_INVALID_ARG, "value set '%s' has values in %s only", name,
                        d->egress ? "egress (direction 1)" : "ingress (direction 0)");
    const enum brt_code code = value_sets_pipes(b, target, state, c, err);
    if (code || !state->single_parser)
        return code;
    if (target->parser % step || target->parser / step >= n)
        return brt_fail(err, BRT_INVALID_ARG,
                        "value set '%s' has values in single parsers: there is no parser %u", name,
                        target->parser);
    c->parser = target->parser / step;
    return BRT_OK;
}

// ---- the attribute ----

static bool value_sets_mode(const BfrtProto__Mode *m, bool *single) {
    *single = m && m->predef == BFRT_PROTO__MODE__PREDEFINED_MODE__SINGLE;
    return !m || (m->scope_case == BFRT_PROTO__MODE__SCOPE_PREDEF && (unsigned)m->predef <= 1);
}

enum brt_code brt_values_scope(const BfrtProto__EntryScope *s, struct brt_table_state *state,
                               struct sk_error *err) {
    if (!value_sets_mode(s->gress_scope, &state->single_gress) ||
        !value_sets_mode(s->prsr_scope, &state->single_parser))
        return brt_fail(err, BRT_INVALID_ARG, "the scope has no kind that there is");
    state->parser_gress = s->prsr_scope ? s->prsr_scope->args : ALL_GRESSES;
    if (state->parser_gress > 1 && state->parser_gress != ALL_GRESSES)
        return brt_fail(err, BRT_INVALID_ARG, "a scope's parsers are of gress 0, 1 or 255 (both)");
    return BRT_OK;
}
