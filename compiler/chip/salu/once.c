// SPDX-License-Identifier: Apache-2.0
//
// once: what a packet would reach twice in one pass, with the way on which it does.
#include <string.h>

#include "compiler/chip/salu/salu_impl.h"
#include "compiler/chip/report_add.h"
#include "compiler/rules/regonce.h"

static const struct {
    const char *kind, *rule;
} rules[] = {
    {"register", "register-once"}, {"selector memory", "register-once"},
    {"counter", "counter-once"},   {"meter", "meter-once"},
    {"filter", "meter-once"},      {"action profile", "profile-once"},
};

static const char *rule_of(const struct regonce_pair *p) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(rules[i].kind, p->kind) == 0)
            return rules[i].rule;
    return rules[0].rule;
}

static const char *message_of(struct arena *a, const struct regonce_pair *p) {
    if (p->first->kind == IR_APPLY && p->second->kind == IR_APPLY &&
        strcmp(p->kind, "action profile") == 0)
        return arena_printf(a,
                            "tables '%s' and '%s' share action profile '%s', and a packet may hit "
                            "both in one pass",
                            p->first->table->name, p->second->table->name, p->name);
    return arena_printf(a, "%s '%s' is accessed twice in one pass: here%s, and earlier%s", p->kind,
                        p->name, p->second_place, p->first_place);
}

static const char *suggestion_of(struct arena *a, const struct regonce_pair *p) {
    if (strcmp(rule_of(p), "register-once") != 0)
        return arena_printf(a,
                            "put the two into branches that exclude each other, or give each a %s "
                            "of its own",
                            p->kind);
    return "a packet passes the stage of a register once: put the two into branches that exclude "
           "each other, merge the two register actions, or recirculate the packet";
}

// Each pair is told, also when several end in one place.
static void salu_once_add_pair(struct chip_report *r, const struct regonce_pair *p) {
    struct chip_violation v = {
        .rule = rule_of(p),
        .message = message_of(r->arena, p),
        .suggestion = suggestion_of(r->arena, p),
        .at = p->second->at,
        .also = p->first->at,
        .also_text = "the earlier access",
    };
    for (size_t i = 0; i < p->steps.n; i++) {
        struct chip_step s = {.at = p->steps.v[i].at, .text = p->steps.v[i].text};
        VEC_PUSH(r->arena, &v.path, s);
    }
    if (regonce_is_taken(p)) {
        v.message = arena_printf(r->arena,
                                 "%s; the chip's compiler takes that, and the chip executes one of "
                                 "the two",
                                 v.message);
        chip_warn(r, v);
        return;
    }
    r->fits = false;
    VEC_PUSH(r->arena, &r->violations, v);
}

void salu_once(struct chip_report *r, const struct ir_gress *g) {
    struct regonce_pairs pairs = regonce_find(r->arena, g);
    for (size_t i = 0; i < pairs.list.n; i++)
        salu_once_add_pair(r, &pairs.list.v[i]);
    if (pairs.more)
        chip_note(r, arena_printf(r->arena,
                                  "only the first %u pairs of accesses that meet in one "
                                  "pass are listed",
                                  REGONCE_MAX_PAIRS));
}
