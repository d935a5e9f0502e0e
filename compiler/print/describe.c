// SPDX-License-Identifier: Apache-2.0
//
// describe: descriptions of tables and value sets, for the control plane and for what is made
// of them at run time.
#include "compiler/print/emit_impl.h"

char emit_gress_letter(const struct emit *e) {
    return e->g->kind == IR_INGRESS ? 'i' : 'e';
}

static void words(const struct emit *e, big v, unsigned width) {
    for (unsigned w = 0; w < (width + 63) / 64; w++)
        emit_line(e, "UINT64_C(0x%llx),", (unsigned long long)(v ? big_word(v, w) : 0));
}

static big emit_describe_ones(const struct emit *e, unsigned width) {
    big one = big_u64(e->a, 1);
    return big_sub(e->a, big_shl(e->a, one, width), one);
}

static unsigned data_words(const struct ir_action *a) {
    unsigned n = 0;
    for (size_t i = 0; i < a->params.n; i++)
        n += (a->params.v[i].var->width + 63) / 64;
    return n;
}

static void data(const struct emit *e, const char *name, const struct ir_action *a, const big *args,
                 size_t n) {
    emit_open(e, "static const uint64_t %s[] = {", name);
    for (size_t i = 0; i < a->params.n; i++)
        words(e, i < n ? args[i] : NULL, a->params.v[i].var->width);
    if (data_words(a) == 0)
        emit_line(e, "0,");
    emit_close(e, "};");
}

void emit_action_desc(const struct emit *e, const char *t, unsigned i, const struct ir_action *a,
                      bool table_only, bool default_only) {
    if (a->params.n) {
        emit_open(e, "static const struct sk_field_desc %s_a%u_params[] = {", t, i);
        for (size_t k = 0; k < a->params.n; k++)
            emit_line(e, "{.name = %s, .width = %u, .is_signed = %s},",
                      emit_string(e, a->params.v[k].name), a->params.v[k].var->width,
                      a->params.v[k].var->is_signed ? "true" : "false");
        emit_close(e, "};");
    }
    emit_open(e, "static const struct sk_action_desc %s_a%u = {", t, i);
    emit_line(e, ".name = %s,", emit_string(e, a->name));
    if (a->params.n)
        emit_line(e, ".params = %s_a%u_params, .n_params = %zu, .data_words = %u,", t, i,
                  a->params.n, data_words(a));
    emit_line(e, ".table_only = %s, .default_only = %s,", table_only ? "true" : "false",
              default_only ? "true" : "false");
    emit_close(e, "};");
}

static void emit_describe_table_actions(const struct emit *e, const char *name,
                                        const struct ir_table *t) {
    for (unsigned i = 0; i < t->actions.n; i++)
        emit_action_desc(e, name, i, t->actions.v[i].action, t->actions.v[i].table_only,
                         t->actions.v[i].default_only);
    if (emit_n_actions(t) > t->actions.n)
        emit_action_desc(e, name, (unsigned)t->actions.n, t->default_action, false, true);
    emit_open(e, "static const struct sk_action_desc *const %s_actions[] = {", name);
    for (unsigned i = 0; i < emit_n_actions(t); i++)
        emit_line(e, "&%s_a%u,", name, i);
    if (t->profile)
        emit_line(e, "&sk_member_reference,%s", t->selector ? " &sk_group_reference," : "");
    emit_close(e, "};");
}

static void table_entry_words(const struct emit *e, const struct ir_table *t,
                              const struct ir_entry *en) {
    for (size_t k = 0; k < t->keys.n; k++)
        words(e, en->keys.v[k].value, t->keys.v[k].expr->width);
    for (size_t k = 0; k < t->keys.n; k++) {
        const struct ir_key_value *v = &en->keys.v[k];
        unsigned width = t->keys.v[k].expr->width;
        if (t->keys.v[k].match == IR_MATCH_RANGE)
            words(e, v->high ? v->high : v->value, width);
        else
            words(e, v->mask ? v->mask : emit_describe_ones(e, width), width);
    }
    for (size_t i = 0; i < en->action->params.n; i++)
        words(e, i < en->args.n ? en->args.v[i] : NULL, en->action->params.v[i].var->width);
}

// The words of all entries in one array: the C compiler takes tens of thousands of small ones in
// minutes, one large one in a second.
static void emit_describe_table_entries(const struct emit *e, const char *name,
                                        const struct ir_table *t) {
    if (t->entries.n == 0)
        return;
    size_t at = 0, of_key = 0;
    for (size_t k = 0; k < t->keys.n; k++)
        of_key += (t->keys.v[k].expr->width + 63) / 64;
    emit_open(e, "static const uint64_t %s_words[] = {", name);
    for (size_t i = 0; i < t->entries.n; i++)
        table_entry_words(e, t, t->entries.v[i]);
    emit_line(e, "0,");
    emit_close(e, "};");
    emit_open(e, "static const struct sk_const_entry %s_entries[] = {", name);
    for (size_t i = 0; i < t->entries.n; i++) {
        const struct ir_entry *en = t->entries.v[i];
        emit_line(e,
                  "{.priority = %lld, .value = %s_words + %zu, .mask = %s_words + %zu, .action = "
                  "%u, .data = %s_words + %zu, .is_const = %s},",
                  (long long)en->priority, name, at, name, at + of_key,
                  emit_action_index(t, en->action), name, at + 2 * of_key,
                  en->is_const || t->const_entries ? "true" : "false");
        at += 2 * of_key + data_words(en->action);
    }
    emit_close(e, "};");
}

static unsigned emit_describe_table_keys(const struct emit *e, const char *name,
                                         const struct ir_table *t) {
    static const char *const match[] = {"SK_EXACT", "SK_TERNARY", "SK_LPM", "SK_RANGE"};
    unsigned n = 0;
    if (t->keys.n == 0)
        return 0;
    emit_open(e, "static const struct sk_field_desc %s_keys[] = {", name);
    for (size_t i = 0; i < t->keys.n; i++) {
        const struct ir_key *k = &t->keys.v[i];
        const struct ir_expr *x = k->expr;
        emit_line(e, "{.name = %s, .width = %u, .match = %s, .is_signed = %s},",
                  emit_string(e, k->name), x->width, match[k->match],
                  x->op == IR_VAR && x->var->is_signed ? "true" : "false");
        n += (x->width + 63) / 64;
    }
    emit_close(e, "};");
    return n;
}

static unsigned direct_registers(const struct emit *e, const char *name, const struct ir_table *t) {
    unsigned n = 0;
    if (t->direct_registers.n == 0)
        return 0;
    emit_open(e, "static const uint64_t %s_direct[] = {", name);
    for (size_t i = 0; i < t->direct_registers.n; i++)
        for (unsigned w = 0; w < t->direct_registers.v[i]->words; w++, n++)
            words(e, t->direct_registers.v[i]->initial[w], 64);
    emit_close(e, "};");
    emit_open(e, "static const struct sk_field_desc %s_direct_fields[] = {", name);
    for (size_t i = 0; i < t->direct_registers.n; i++) {
        const struct ir_register *r = t->direct_registers.v[i];
        for (unsigned w = 0; w < r->words; w++)
            emit_line(e, "{.name = %s, .width = %u, .is_signed = %s},",
                      emit_string(e, emit_text(e, "%s.%s", r->name, r->word_names[w])), r->width,
                      r->is_signed ? "true" : "false");
    }
    emit_close(e, "};");
    return n;
}

const char *emit_bool_text(bool b) {
    return b ? "true" : "false";
}

void emit_table_desc(const struct emit *e, const struct ir_table *t) {
    const char *name = emit_text(e, "p%u%c_t%u", e->pipeline_index, emit_gress_letter(e), t->id);
    emit_line(e, " ");
    unsigned key_words = emit_describe_table_keys(e, name, t),
             direct = direct_registers(e, name, t);
    emit_describe_table_actions(e, name, t);
    emit_describe_table_entries(e, name, t);
    data(e, emit_text(e, "%s_default", name), t->default_action, t->default_args.v,
         t->default_args.n);
    emit_open(e, "static const struct sk_table_desc %s = {", name);
    emit_line(e, ".name = %s,", emit_string(e, t->name));
    if (t->keys.n)
        emit_line(e, ".keys = %s_keys, .n_keys = %zu, .key_words = %u,", name, t->keys.n,
                  key_words);
    emit_line(e, ".actions = %s_actions, .n_actions = %u,", name,
              emit_n_actions(t) + !!t->profile + !!t->selector);
    emit_line(e, ".default_action = %u, .default_data = %s_default,",
              emit_action_index(t, t->default_action), name);
    emit_line(e, ".const_default = %s, .const_entries = %s, .hidden = %s,",
              emit_bool_text(t->const_default), emit_bool_text(t->const_entries),
              emit_bool_text(t->hidden));
    emit_line(e, ".size = %llu,", (unsigned long long)(t->size ? t->size : CHIP_TABLE_SIZE));
    if (t->entries.n)
        emit_line(e, ".entries = %s_entries, .n_entries = %zu,", name, t->entries.n);
    emit_table_attachments(e, t);
    if (t->proxy || emit_key_is_packed(e, t))
        emit_line(e, ".proxy = %s_proxy,", name);
    if (t->key_masks)
        emit_line(e, ".key_masks = true,");
    if (t->profile)
        emit_line(e, ".profile = &%s_ap%u,", e->p, t->profile->id);
    if (t->selector)
        emit_line(e, ".selector = &%s_sel%u,", e->p, t->selector->id);
    if (direct)
        emit_line(e,
                  ".direct_words = %u, .direct_initial = %s_direct, .direct_fields = "
                  "%s_direct_fields,",
                  direct, name, name);
    emit_close(e, "};");
}

void emit_value_set_desc(const struct emit *e, const struct ir_value_set *vs) {
    const char *name = emit_text(e, "p%u%c_vs%u", e->pipeline_index, emit_gress_letter(e), vs->id);
    unsigned n = 0;
    emit_line(e, " ");
    emit_open(e, "static const struct sk_field_desc %s_keys[] = {", name);
    for (size_t i = 0; i < vs->widths.n; i++) {
        const char *key = i < vs->names.n ? vs->names.v[i] : emit_text(e, "f%zu", i + 1);
        emit_line(e, "{.name = %s, .width = %u, .match = SK_TERNARY},", emit_string(e, key),
                  vs->widths.v[i]);
        n += (vs->widths.v[i] + 63) / 64;
    }
    emit_close(e, "};");
    emit_line(e, "static const struct sk_action_desc %s_member = {.name = \"member\"};", name);
    emit_line(e, "static const struct sk_action_desc *const %s_actions[] = {&%s_member};", name,
              name);
    emit_open(e, "static const struct sk_table_desc %s = {", name);
    emit_line(e, ".name = %s,", emit_string(e, vs->name));
    emit_line(e, ".keys = %s_keys, .n_keys = %zu, .key_words = %u,", name, vs->widths.n, n);
    emit_line(e, ".actions = %s_actions, .n_actions = 1, .const_default = true,", name);
    emit_line(e, ".size = %llu,", (unsigned long long)vs->size);
    emit_close(e, "};");
}
