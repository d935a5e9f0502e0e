// SPDX-License-Identifier: Apache-2.0
//
// Attributes of tables, and operations.
#include <string.h>

#include "brt/brt_impl.h"
#include "control/tables/idle.h"
#include "stages/meter.h"

static enum brt_code attributes_none(const struct brt_table *t, const char *what,
                                     struct sk_error *err) {
    return brt_fail(err, BRT_NOT_SUPPORTED, "table '%s' has no attribute %s", t->name, what);
}

// ---- in which pipes an entry is ----

void brt_scope_pipes(const struct brt_table_state *state, unsigned pipe, struct sk_pipe_list *out) {
    struct sk_pipe_list in = *out;
    const uint8_t group = state->group[pipe];
    out->n = 0;
    for (unsigned i = 0; i < in.n; i++)
        if (group >> in.list[i] & 1)
            out->list[out->n++] = in.list[i];
}

// Each byte of the number is a set of pipes; each pipe is in one of them at most.
static bool attributes_groups(uint64_t sets, uint8_t group[SK_PIPES]) {
    uint8_t all = 0;
    memset(group, 0, SK_PIPES);
    for (unsigned i = 0; i < 8; i++, sets >>= 8) {
        const uint8_t set = (uint8_t)sets;
        if (set >> SK_PIPES || set & all)
            return false;
        all |= set;
        for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
            if (set >> pipe & 1)
                group[pipe] = set;
    }
    return all;
}

static bool attributes_is_all(const BfrtProto__Mode *m) {
    return !m || (m->scope_case == BFRT_PROTO__MODE__SCOPE_PREDEF &&
                  m->predef == BFRT_PROTO__MODE__PREDEFINED_MODE__ALL);
}

static enum brt_code attributes_scope_mode(const BfrtProto__Mode *m, struct brt_table_state *state,
                                           struct sk_error *err) {
    if (m->scope_case == BFRT_PROTO__MODE__SCOPE_USER_DEFINED) {
        state->scope = BRT_SCOPE_GROUPS;
        state->groups = m->user_defined;
        return attributes_groups(m->user_defined, state->group)
                   ? BRT_OK
                   : brt_fail(err, BRT_INVALID_ARG,
                              "a scope is sets of pipes, one a byte, that share none");
    }
    if (m->scope_case != BFRT_PROTO__MODE__SCOPE_PREDEF || (unsigned)m->predef > 1)
        return brt_fail(err, BRT_INVALID_ARG, "the scope has no kind that there is");
    state->scope =
        m->predef == BFRT_PROTO__MODE__PREDEFINED_MODE__ALL ? BRT_SCOPE_ALL : BRT_SCOPE_SINGLE;
    return BRT_OK;
}

static bool attributes_is_empty(struct brt *b, const struct brt_table *t) {
    if (brt_has_cells(t))
        return true; // nothing is put into it
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
        if (sk_object_in_pipe(b->now.sw, &t->object, pipe) &&
            sk_table_count(brt_table_in(b, t, pipe)) > (t->desc ? t->desc->n_entries : 0))
            return false;
    return true;
}

static bool attributes_has_scope(const struct brt_table *t) {
    return (t->kind == BRT_MATCH && !t->desc->is_profile) || t->kind == BRT_VALUE_SET ||
           t->kind == BRT_REGISTER;
}

static enum brt_code attributes_set_scope(struct brt *b, const struct brt_change *c,
                                          const BfrtProto__EntryScope *s, struct sk_error *err) {
    const struct brt_table *t = c->table;
    struct brt_table_state *state = brt_schema_state(brt_served(b), t), wanted = *state;
    if (!attributes_has_scope(t))
        return attributes_none(t, "EntryScope", err);
    if (!s->pipe_scope || !s->gress_scope != !s->prsr_scope)
        return brt_fail(err, BRT_INVALID_ARG,
                        "EntryScope is given for pipes, or for gress, pipes and parsers");
    const bool values = t->kind == BRT_VALUE_SET;
    if (!values && (!attributes_is_all(s->gress_scope) || !attributes_is_all(s->prsr_scope)))
        return brt_not_served(t, "this scope", err);
    enum brt_code code = attributes_scope_mode(s->pipe_scope, &wanted, err);
    if (code == BRT_OK && values)
        code = brt_values_scope(s, &wanted, err);
    if (code)
        return code;
    if ((wanted.scope != state->scope || values) && !attributes_is_empty(b, t))
        return brt_fail(err, BRT_IN_USE, "table '%s': its scope changes while it has no entries",
                        t->name);
    if (values && !brt_values_set_parsers(b->now.sw, t, &wanted)) {
        brt_values_set_parsers(b->now.sw, t, state);
        return brt_fail(err, BRT_NO_SYS_RESOURCES, "table '%s': its parsers need too much memory",
                        t->name);
    }
    *state = wanted;
    return BRT_OK;
}

static bool attributes_get_scope(struct brt *b, const struct brt_table *t,
                                 BfrtProto__TableAttribute *out) {
    const struct brt_table_state *state = brt_schema_state(brt_served(b), t);
    struct {
        BfrtProto__EntryScope scope;
        BfrtProto__Mode gress, pipe, prsr;
    } *m = brt_take(&b->scratch, sizeof *m);
    if (!m)
        return false;
    bfrt_proto__entry_scope__init(&m->scope);
    bfrt_proto__mode__init(&m->gress);
    bfrt_proto__mode__init(&m->pipe);
    bfrt_proto__mode__init(&m->prsr);
    m->gress.scope_case = m->pipe.scope_case = m->prsr.scope_case = BFRT_PROTO__MODE__SCOPE_PREDEF;
    m->prsr.args = state->single_parser ? state->parser_gress : 0xff;
    if (state->single_gress)
        m->gress.predef = BFRT_PROTO__MODE__PREDEFINED_MODE__SINGLE;
    if (state->single_parser)
        m->prsr.predef = BFRT_PROTO__MODE__PREDEFINED_MODE__SINGLE;
    if (state->scope == BRT_SCOPE_SINGLE)
        m->pipe.predef = BFRT_PROTO__MODE__PREDEFINED_MODE__SINGLE;
    if (state->scope == BRT_SCOPE_GROUPS) {
        m->pipe.scope_case = BFRT_PROTO__MODE__SCOPE_USER_DEFINED;
        m->pipe.user_defined = state->groups;
    }
    m->scope.gress_scope = &m->gress;
    m->scope.pipe_scope = &m->pipe;
    m->scope.prsr_scope = &m->prsr;
    out->attribute_case = BFRT_PROTO__TABLE_ATTRIBUTE__ATTRIBUTE_ENTRY_SCOPE;
    out->entry_scope = &m->scope;
    return true;
}

// ---- which bits of a key are compared ----

static enum brt_code attributes_mask_words(const struct brt_change *c,
                                           const BfrtProto__DynKeyMask *m, uint64_t *words,
                                           struct sk_error *err) {
    const struct brt_table *t = c->table;
    for (size_t i = 0; i < t->n_keys; i++)
        for (uint32_t bit = 0; bit < t->keys[i].width; bit++)
            words[t->keys[i].word + bit / 64] |= UINT64_C(1) << bit % 64;
    for (size_t i = 0; i < m->n_fields; i++) {
        const struct brt_field *f = brt_find(t->keys, t->n_keys, m->fields[i]->field_id);
        if (!f)
            return brt_fail(err, BRT_OBJECT_NOT_FOUND, "there is no key field with id %u",
                            m->fields[i]->field_id);
        const enum brt_code code = brt_words(&m->fields[i]->mask, f, words + f->word, err);
        if (code)
            return code;
    }
    return BRT_OK;
}

static enum brt_code attributes_set_masks(struct brt *b, const struct brt_change *c,
                                          const BfrtProto__DynKeyMask *m, struct sk_error *err) {
    uint64_t words[SK_MAX_KEY_WORDS] = {0};
    if (!c->table->desc || !c->table->desc->key_masks)
        return attributes_none(c->table, "DynamicKeyMask", err);
    const enum brt_code code = attributes_mask_words(c, m, words, err);
    if (code)
        return code;
    for (unsigned i = 0; i < c->pipes.n; i++)
        if (sk_table_count(brt_table_in(b, c->table, c->pipes.list[i])) > 0)
            return brt_fail(err, BRT_IN_USE, "table '%s': %s", c->table->name,
                            sk_table_strerror(SK_E_NOT_EMPTY));
    for (unsigned i = 0; i < c->pipes.n; i++)
        sk_table_set_key_mask(brt_table_in(b, c->table, c->pipes.list[i]), words);
    return BRT_OK;
}

static bool attributes_get_masks(struct brt *b, const struct brt_change *c,
                                 BfrtProto__TableAttribute *out) {
    const struct brt_table *t = c->table;
    const uint64_t *words = sk_table_key_mask(brt_table_in(b, t, c->pipes.list[0]));
    BfrtProto__DynKeyMask *m = brt_take(&b->scratch, sizeof *m);
    BfrtProto__KeyFieldMask *masks = brt_take(&b->scratch, (t->n_keys + 1) * sizeof *masks);
    BfrtProto__KeyFieldMask **list = brt_take(&b->scratch, (t->n_keys + 1) * sizeof *list);
    if (!m || !masks || !list)
        return false;
    bfrt_proto__dyn_key_mask__init(m);
    m->fields = list;
    for (size_t i = 0; i < t->n_keys; i++) {
        const uint32_t width = t->keys[i].width;
        bfrt_proto__key_field_mask__init(&masks[i]);
        masks[i].field_id = t->keys[i].id;
        if (!brt_stream(&b->scratch, words + t->keys[i].word, width, &masks[i].mask))
            return false;
        if (width % 8) // the switch's words are all ones to their end
            masks[i].mask.data[0] &= (uint8_t)((1u << width % 8) - 1);
        list[m->n_fields++] = &masks[i];
    }
    out->attribute_case = BFRT_PROTO__TABLE_ATTRIBUTE__ATTRIBUTE_DYN_KEY_MASK;
    out->dyn_key_mask = m;
    return true;
}

// ---- ageing ----

static enum brt_code attributes_set_idle(struct brt *b, const struct brt_change *c,
                                         const BfrtProto__IdleTable *i, struct sk_error *err) {
    const bool notifies =
        i->idle_table_mode == BFRT_PROTO__IDLE_TABLE__IDLE_TABLE_MODE__IDLE_TABLE_NOTIFY_MODE;
    const struct brt_client *client = brt_client(b, c->client);
    if (!c->table->desc || !c->table->desc->idle_timeout)
        return attributes_none(c->table, "IdleTimeout", err);
    if ((unsigned)i->idle_table_mode > 1)
        return brt_fail(err, BRT_INVALID_ARG, "unknown mode of ageing");
    if (notifies && (!client || !client->idle))
        return brt_fail(err, BRT_INVALID_ARG,
                        "client %u has not subscribed to notifications of idle entries", c->client);
    struct brt_idle_state *state = &brt_schema_state(brt_served(b), c->table)->idle;
    const uint64_t now = sk_switch_now(b->now.sw), aged = brt_idle_time(state, now);
    if (i->enable)
        sk_control_idle_resume(b->now.sw, &b->pauses, &c->table->object, aged);
    *state = (struct brt_idle_state){
        .enabled = i->enable, .notifies = notifies, .since = i->enable ? now : aged};
    if (notifies) {
        state->client = c->client;
        state->query_ms = i->ttl_query_interval;
        state->min_ms = i->min_ttl;
        state->max_ms = i->max_ttl;
    }
    return BRT_OK;
}

static bool attributes_get_idle(struct brt *b, const struct brt_table *t,
                                BfrtProto__TableAttribute *out) {
    const struct brt_idle_state *state = &brt_schema_state(brt_served(b), t)->idle;
    BfrtProto__IdleTable *i = brt_take(&b->scratch, sizeof *i);
    if (!i)
        return false;
    bfrt_proto__idle_table__init(i);
    i->enable = state->enabled;
    if (state->notifies)
        i->idle_table_mode = BFRT_PROTO__IDLE_TABLE__IDLE_TABLE_MODE__IDLE_TABLE_NOTIFY_MODE;
    i->ttl_query_interval = state->query_ms;
    i->min_ttl = state->min_ms;
    i->max_ttl = state->max_ms;
    out->attribute_case = BFRT_PROTO__TABLE_ATTRIBUTE__ATTRIBUTE_IDLE_TABLE;
    out->idle_table = i;
    return true;
}

// ---- bytes that a meter counts ----

// The table's own meter, or the one in its entries: its number; -1: no meter of bytes.
static int attributes_meter(const struct brt_table *t) {
    const struct sk_pipeline_desc *d = t->object.desc;
    if (t->kind == BRT_METER)
        return d->meters[t->object.index].kind == SK_METER && d->meters[t->object.index].bytes
                   ? (int)t->object.index
                   : -1;
    for (uint32_t i = 0; t->desc && i < d->n_meters; i++)
        if (d->meters[i].direct && d->meters[i].bytes && d->meters[i].kind == SK_METER &&
            d->meters[i].table == t->object.index)
            return (int)i;
    return -1;
}

int32_t *brt_meter_more(const struct brt *b, const struct brt_table *t, unsigned pipe) {
    const int meter = attributes_meter(t);
    return meter < 0 ? NULL
                     : t->object.desc->meter_more(sk_switch_pipe(b->now.sw, pipe), (uint32_t)meter);
}

static enum brt_code attributes_set_more(struct brt *b, const struct brt_change *c,
                                         const BfrtProto__ByteCountAdj *a, struct sk_error *err) {
    const int32_t more = a->byte_count_adjust;
    if (attributes_meter(c->table) < 0)
        return attributes_none(c->table, "MeterByteCountAdjust", err);
    if (more < SK_METER_MORE_MIN || more > SK_METER_MORE_MAX)
        return brt_fail(err, BRT_INVALID_ARG, "a packet's bytes are adjusted by %d to %d",
                        SK_METER_MORE_MIN, SK_METER_MORE_MAX);
    for (unsigned i = 0; i < c->pipes.n; i++)
        *brt_meter_more(b, c->table, c->pipes.list[i]) = more;
    return BRT_OK;
}

static bool attributes_get_more(struct brt *b, const struct brt_change *c,
                                BfrtProto__TableAttribute *out) {
    BfrtProto__ByteCountAdj *a = brt_take(&b->scratch, sizeof *a);
    if (!a)
        return false;
    bfrt_proto__byte_count_adj__init(a);
    a->byte_count_adjust = *brt_meter_more(b, c->table, c->pipes.list[0]);
    out->attribute_case = BFRT_PROTO__TABLE_ATTRIBUTE__ATTRIBUTE_BYTE_COUNT_ADJ;
    out->byte_count_adj = a;
    return true;
}

// ---- all of them ----

static const char *attributes_name(BfrtProto__TableAttribute__AttributeCase kind) {
    switch (kind) {
    case BFRT_PROTO__TABLE_ATTRIBUTE__ATTRIBUTE_DYN_HASHING:
        return "DynamicHashing";
    case BFRT_PROTO__TABLE_ATTRIBUTE__ATTRIBUTE_PORT_STATUS_NOTIFY:
        return "port_status_notif_cb";
    case BFRT_PROTO__TABLE_ATTRIBUTE__ATTRIBUTE_INTVL_MS:
        return "poll_intvl_ms";
    case BFRT_PROTO__TABLE_ATTRIBUTE__ATTRIBUTE_PRE_DEVICE_CONFIG:
        return "pre_device_config";
    default:
        return "SelectorUpdateCb";
    }
}

enum brt_code brt_attribute_apply(struct brt *b, const struct brt_change *c, struct sk_error *err) {
    const BfrtProto__TableAttribute *a = c->attribute;
    switch (a->attribute_case) {
    case BFRT_PROTO__TABLE_ATTRIBUTE__ATTRIBUTE_ENTRY_SCOPE:
        return attributes_set_scope(b, c, a->entry_scope, err);
    case BFRT_PROTO__TABLE_ATTRIBUTE__ATTRIBUTE_DYN_KEY_MASK:
        return attributes_set_masks(b, c, a->dyn_key_mask, err);
    case BFRT_PROTO__TABLE_ATTRIBUTE__ATTRIBUTE_IDLE_TABLE:
        return attributes_set_idle(b, c, a->idle_table, err);
    case BFRT_PROTO__TABLE_ATTRIBUTE__ATTRIBUTE__NOT_SET:
        return brt_fail(err, BRT_INVALID_ARG, "the attribute is empty");
    case BFRT_PROTO__TABLE_ATTRIBUTE__ATTRIBUTE_BYTE_COUNT_ADJ:
        return attributes_set_more(b, c, a->byte_count_adj, err);
    default:
        break;
    }
    return attributes_none(c->table, attributes_name(a->attribute_case), err);
}

enum brt_code brt_attribute_message(struct brt *b, const struct brt_change *question,
                                    BfrtProto__TableAttribute *out, struct sk_error *err) {
    const struct brt_table *t = question->table;
    bool good;
    switch (question->attribute->attribute_case) {
    case BFRT_PROTO__TABLE_ATTRIBUTE__ATTRIBUTE_ENTRY_SCOPE:
        if (!attributes_has_scope(t))
            return attributes_none(t, "EntryScope", err);
        good = attributes_get_scope(b, t, out);
        break;
    case BFRT_PROTO__TABLE_ATTRIBUTE__ATTRIBUTE_DYN_KEY_MASK:
        if (!t->desc || !t->desc->key_masks)
            return attributes_none(t, "DynamicKeyMask", err);
        good = attributes_get_masks(b, question, out);
        break;
    case BFRT_PROTO__TABLE_ATTRIBUTE__ATTRIBUTE_IDLE_TABLE:
        if (!t->desc || !t->desc->idle_timeout)
            return attributes_none(t, "IdleTimeout", err);
        good = attributes_get_idle(b, t, out);
        break;
    case BFRT_PROTO__TABLE_ATTRIBUTE__ATTRIBUTE_BYTE_COUNT_ADJ:
        if (attributes_meter(t) < 0)
            return attributes_none(t, "MeterByteCountAdjust", err);
        good = attributes_get_more(b, question, out);
        break;
    case BFRT_PROTO__TABLE_ATTRIBUTE__ATTRIBUTE__NOT_SET:
        return brt_fail(err, BRT_INVALID_ARG, "the attribute is empty");
    default:
        return attributes_none(t, attributes_name(question->attribute->attribute_case), err);
    }
    out->table_id = t->id;
    return good ? BRT_OK
                : brt_fail(err, BRT_NO_SYS_RESOURCES, "the attribute needs too much memory");
}

// ---- operations ----

static bool operation_is(const char *name, const char *all, const char *of_entries, bool cells) {
    return strcmp(name, all) == 0 || (!cells && strcmp(name, of_entries) == 0);
}

enum brt_code brt_operation_apply(struct brt *b, const struct brt_change *c, struct sk_error *err) {
    const struct brt_table *t = c->table;
    const struct sk_table_desc *d = t->desc;
    const bool cells = brt_has_cells(t);
    const char *name = c->operation;
    unsigned what = 0;
    if ((t->kind == BRT_COUNTER || (d && d->has_counter)) &&
        operation_is(name, "Sync", "SyncCounters", cells))
        what |= BRT_COPY_COUNTS;
    if ((t->kind == BRT_REGISTER || (d && d->direct_words)) &&
        operation_is(name, "Sync", "SyncRegisters", cells))
        what |= BRT_COPY_DIRECT;
    if (what)
        return brt_copy_table(b, c, what, err);
    if (d && d->idle_timeout && strcmp(name, "UpdateHitState") == 0)
        return sk_control_hit_update(b->now.sw, &b->pauses, t->name, err) ? BRT_UNEXPECTED : BRT_OK;
    return brt_fail(err, BRT_NOT_SUPPORTED, "table '%s' has no operation '%.40s'", t->name, name);
}
