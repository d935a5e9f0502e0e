// SPDX-License-Identifier: Apache-2.0
//
// profile: action profiles, selectors and proxy hashes as data: descriptions, state, and what
// makes them. How a table uses them is in table.c.
//
// The members of a profile are a table (stages/table.h) whose key is the member's id.
#include "compiler/print/emit_impl.h"

static char emit_profile_gress_letter(const struct emit *e) {
    return e->g->kind == IR_INGRESS ? 'i' : 'e';
}

static void profile_desc(const struct emit *e, const struct ir_action_profile *p) {
    const char *name = emit_text(e, "%s_ap%u", e->p, p->id);
    emit_line(e, " ");
    for (unsigned i = 0; i < p->actions.n; i++)
        emit_action_desc(e, name, i, p->actions.v[i].action, false, false);
    emit_line(e,
              "static const struct sk_action_desc %s_none = {.name = \"$NO_MEMBER\", "
              ".default_only = true};",
              name);
    emit_open(e, "static const struct sk_action_desc *const %s_actions[] = {", name);
    for (unsigned i = 0; i < p->actions.n; i++)
        emit_line(e, "&%s_a%u,", name, i);
    emit_line(e, "&%s_none,", name);
    emit_close(e, "};");
    emit_line(e,
              "static const struct sk_field_desc %s_keys[] = {{.name = \"$ACTION_MEMBER_ID\", "
              ".width = 32, .match = SK_EXACT}};",
              name);
    emit_line(e, "static const uint64_t %s_default[1];", name);
    emit_open(e, "static const struct sk_table_desc %s = {", name);
    emit_line(e, ".name = %s,", emit_string(e, p->name));
    emit_line(e, ".keys = %s_keys, .n_keys = 1, .key_words = 1,", name);
    emit_line(e, ".actions = %s_actions, .n_actions = %zu,", name, p->actions.n + 1);
    emit_line(e, ".default_action = %zu, .default_data = %s_default,", p->actions.n, name);
    emit_line(e, ".const_default = true, .is_profile = true,");
    emit_line(e, ".size = %llu,", (unsigned long long)p->size);
    emit_close(e, "};");
}

static void selector_desc(const struct emit *e, const struct ir_selector *s) {
    emit_open(e, "static const struct sk_selector_desc %s_sel%u = {", e->p, s->id);
    emit_line(e, ".name = %s,", emit_string(e, s->name));
    emit_line(e, ".profile = &%s_ap%u,", e->p, s->profile->id);
    emit_line(e, ".mode = %s,",
              s->mode == IR_SELECT_FAIR ? "SK_SELECT_FAIR" : "SK_SELECT_RESILIENT");
    emit_line(e, ".max_group_size = %llu, .n_groups = %llu, .hash_bits = %u,",
              (unsigned long long)s->max_group_size, (unsigned long long)s->n_groups,
              s->hash->width);
    if (s->memory)
        emit_line(e, ".lines = %llu,", (unsigned long long)(s->memory->size / 128));
    emit_close(e, "};");
}

void emit_profiles(const struct emit *e) {
    for (size_t i = 0; i < e->g->profiles.n; i++)
        profile_desc(e, e->g->profiles.v[i]);
    for (size_t i = 0; i < e->g->selectors.n; i++)
        selector_desc(e, e->g->selectors.v[i]);
}

void emit_profile_state(const struct emit *e) {
    for (size_t i = 0; i < e->g->profiles.n; i++)
        emit_line(e, "struct sk_table *%c_profile%zu;", emit_profile_gress_letter(e), i);
    for (size_t i = 0; i < e->g->selectors.n; i++)
        emit_line(e, "struct sk_selector *%c_selector%zu;", emit_profile_gress_letter(e), i);
}

static void emit_profile_selector_memory(const struct emit *e, const char *selector,
                                         const struct ir_register *r) {
    if (!r)
        return;
    const char *first = emit_cell(e, r, "0", "0"), *second = emit_cell(e, r, "1", "0");
    emit_line(e, "if (complete)");
    emit_line(
        e, "    complete = sk_selector_set_memory(%s, &%s, (size_t)((char *)&%s - (char *)&%s));",
        selector, first, second, first);
}

void emit_profiles_new(const struct emit *e) {
    char c = emit_profile_gress_letter(e);
    for (size_t i = 0; i < e->g->selectors.n; i++) {
        const char *ref = emit_text(e, "s->%c_selector%zu", c, i);
        emit_line(e, "if (complete)");
        emit_line(e, "    %s = sk_selector_new(&%s_sel%zu, s->%c_profile%u);", ref, e->p, i, c,
                  e->g->selectors.v[i]->profile->id);
        emit_line(e, "complete = complete && %s;", ref);
        emit_profile_selector_memory(e, ref, e->g->selectors.v[i]->memory);
    }
    for (size_t i = 0; i < e->g->tables.n; i++) {
        const struct ir_table *t = e->g->tables.v[i];
        if (!t->profile)
            continue;
        const char *selector =
            t->selector ? emit_text(e, "s->%c_selector%u", c, t->selector->id) : "NULL";
        emit_line(e, "if (complete)");
        emit_line(e, "    sk_table_attach(%s, s->%c_profile%u, %s);", emit_table_ref(e, t), c,
                  t->profile->id, selector);
    }
}

void emit_profiles_free(const struct emit *e) {
    for (size_t i = 0; i < e->g->selectors.n; i++)
        emit_line(e, "sk_selector_free(s->%c_selector%zu);", emit_profile_gress_letter(e), i);
}

void emit_selector_list(const struct emit *e) {
    unsigned p = e->pipeline_index, n = 0;
    emit_line(e, " ");
    emit_open(e, "static const struct sk_selector_desc *const p%u_selectors[] = {", p);
    for (unsigned k = 0; k < 2; k++)
        for (size_t i = 0; i < e->pipeline->gress[k].selectors.n; i++)
            emit_line(e, "&p%u%c_sel%zu,", p, k ? 'e' : 'i', i);
    emit_line(e, "NULL,");
    emit_close(e, "};");
    emit_open(e, "static struct sk_selector *p%u_selector(struct sk_pipe *pipe, uint32_t i) {", p);
    emit_line(e, "struct p%u_state *s = (struct p%u_state *)pipe;", p, p);
    for (unsigned k = 0; k < 2; k++)
        for (size_t i = 0; i < e->pipeline->gress[k].selectors.n; i++) {
            emit_line(e, "if (i == %u)", n++);
            emit_line(e, "    return s->%c_selector%zu;", k ? 'e' : 'i', i);
        }
    emit_line(e, "return NULL;");
    emit_close(e, "}");
}

bool emit_key_is_packed(const struct emit *e, const struct ir_table *t) {
    unsigned bits = 0;
    for (size_t i = 0; i < t->keys.n; i++) {
        if (t->keys.v[i].match != IR_MATCH_EXACT)
            return false;
        bits += t->keys.v[i].expr->width;
    }
    return t->keys.n > 1 && bits <= 64 && !t->proxy && !t->key_masks &&
           !e->plan->tables[t->id].branches;
}

static void emit_profile_pack(const struct emit *e, const struct ir_table *t) {
    const char *text = "key[0]";
    emit_line(e, " ");
    emit_open(e, "static inline uint64_t %s_t%u_proxy(const uint64_t *key) {", e->p, t->id);
    for (size_t i = 1; i < t->keys.n; i++)
        text = emit_text(e, "(%s << %u | key[%zu])", text, t->keys.v[i].expr->width, i);
    emit_line(e, "return %s;", text);
    emit_close(e, "}");
}

// The key's fields as Hash.get({...}) would take them.
void emit_proxy(const struct emit *e, const struct ir_table *t) {
    if (emit_key_is_packed(e, t))
        emit_profile_pack(e, t);
    if (!t->proxy)
        return;
    unsigned bits = 0, word = 0;
    for (size_t i = 0; i < t->keys.n; i++)
        bits += t->keys.v[i].expr->width;
    unsigned bytes = plan_bytes(bits), offset = 8 * bytes - bits;
    emit_line(e, " ");
    emit_open(e, "static uint64_t %s_t%u_proxy(const uint64_t *key) {", e->p, t->id);
    emit_line(e, "uint8_t b[%u] = {0};", bytes);
    for (size_t i = 0; i < t->keys.n; i++) {
        unsigned width = t->keys.v[i].expr->width;
        emit_line(e, "sk_put_words(b, %u, key + %u, %u);", offset, word, width);
        offset += width;
        word += (width + 63) / 64;
    }
    emit_line(e, "return (uint64_t)(%s & sk_mask128(%u));", emit_hash_value(e, t->proxy, "b", bits),
              t->proxy->width);
    emit_close(e, "}");
}
