// SPDX-License-Identifier: Apache-2.0
//
// Entries of match tables (P4Runtime specification, section 9.1). A larger priority wins here and a
// smaller one in the switch, so one is what is missing from the other to the largest.
#include <stdio.h>
#include <string.h>

#include "p4rt/p4rt_impl.h"

#define ENTRY_MOST_PRIORITY INT32_MAX
#define ENTRY_NS_PER_MS     INT64_C(1000000)

enum rpc_status p4rt_begin(struct p4rt *p, const struct brt_table *t, P4__V1__Update__Type type,
                           struct brt_change *c, struct sk_error *err) {
    const struct brt_target all = {.pipe = -1, .gress = 0xff, .parser = 0xff};
    const enum brt_code code = brt_resolve(p->b, t->id, &all, c, err);
    c->type = type == P4__V1__UPDATE__TYPE__INSERT   ? BFRT_PROTO__UPDATE__TYPE__INSERT
              : type == P4__V1__UPDATE__TYPE__DELETE ? BFRT_PROTO__UPDATE__TYPE__DELETE
                                                     : BFRT_PROTO__UPDATE__TYPE__MODIFY;
    return brt_rpc_status(code);
}

// ---- keys ----

static void p4rt_entry_leading_ones(uint64_t *words, uint32_t width, uint32_t n) {
    for (uint32_t bit = width - n; bit < width; bit++)
        words[bit / 64] |= UINT64_C(1) << (bit % 64);
}

static bool p4rt_entry_is_zero(const uint64_t *words, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (words[i])
            return false;
    return true;
}

// -1, 0 or 1
static int p4rt_entry_compare(const uint64_t *a, const uint64_t *b, uint32_t n) {
    while (n-- > 0)
        if (a[n] != b[n])
            return a[n] < b[n] ? -1 : 1;
    return 0;
}

static enum rpc_status p4rt_entry_masked(const char *name, const uint64_t *value,
                                         const uint64_t *mask, uint32_t n, struct sk_error *err) {
    if (p4rt_entry_is_zero(mask, n))
        return p4rt_fail(err, RPC_INVALID_ARGUMENT,
                         "field '%s' matches everything: it must be left out", name);
    for (uint32_t i = 0; i < n; i++)
        if (value[i] & ~mask[i])
            return p4rt_fail(err, RPC_INVALID_ARGUMENT,
                             "field '%s': the value has bits that its mask does not have", name);
    return RPC_OK;
}

static enum rpc_status p4rt_entry_range(const char *name, const uint64_t *low, const uint64_t *high,
                                        uint32_t width, struct sk_error *err) {
    uint64_t most[SK_MAX_KEY_WORDS] = {0};
    const uint32_t n = sk_words(width);
    if (p4rt_entry_compare(low, high, n) > 0)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT,
                         "field '%s': the range's low end is above its "
                         "high end",
                         name);
    p4rt_entry_leading_ones(most, width, width);
    if (p4rt_entry_is_zero(low, n) && p4rt_entry_compare(high, most, n) == 0)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT,
                         "field '%s' matches everything: it must be left out", name);
    return RPC_OK;
}

// A field whose values are translated matches one value: whole, with all of its bits, or as a range
// of one.
static enum rpc_status p4rt_entry_translated(const struct p4rt *p, const P4__V1__FieldMatch *f,
                                             const P4__Config__V1__P4NamedType *type,
                                             const struct sk_field_desc *d, uint32_t bits,
                                             uint64_t *value, uint64_t *mask,
                                             struct sk_error *err) {
    const ProtobufCBinaryData *bytes = NULL;
    uint64_t one = 0;
    enum rpc_status status = RPC_OK;
    if (d->match == SK_EXACT &&
        f->field_match_type_case == P4__V1__FIELD_MATCH__FIELD_MATCH_TYPE_EXACT)
        bytes = &f->exact->value;
    else if (d->match == SK_TERNARY &&
             f->field_match_type_case == P4__V1__FIELD_MATCH__FIELD_MATCH_TYPE_TERNARY) {
        status = p4rt_words(&f->ternary->mask, bits, false, d->name, &one, err);
        bytes = one == UINT64_MAX >> (64 - bits) ? &f->ternary->value : NULL;
    } else if (d->match == SK_LPM &&
               f->field_match_type_case == P4__V1__FIELD_MATCH__FIELD_MATCH_TYPE_LPM)
        bytes = f->lpm->prefix_len == (int32_t)bits ? &f->lpm->value : NULL;
    else if (d->match == SK_RANGE &&
             f->field_match_type_case == P4__V1__FIELD_MATCH__FIELD_MATCH_TYPE_RANGE) {
        status = p4rt_value(p, type, &f->range->high, d->width, false, d->name, mask, err);
        status = status ? status
                        : p4rt_value(p, type, &f->range->low, d->width, false, d->name, value, err);
        if (status == RPC_OK && *value == *mask)
            return RPC_OK;
    }
    if (status)
        return status;
    if (!bytes)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT,
                         "field '%s' is translated: it matches one value, whole, or is left out",
                         d->name);
    p4rt_entry_leading_ones(mask, d->width, d->width);
    return p4rt_value(p, type, bytes, d->width, d->is_signed, d->name, value, err);
}

static enum rpc_status p4rt_entry_field(const P4__V1__FieldMatch *f, const struct sk_field_desc *d,
                                        uint64_t *value, uint64_t *mask, struct sk_error *err) {
    static const char *const kinds[] = {"exact", "ternary", "lpm", "range"};
    const uint32_t w = d->width, n = sk_words(w);
    enum rpc_status status;
    if (d->match == SK_EXACT &&
        f->field_match_type_case == P4__V1__FIELD_MATCH__FIELD_MATCH_TYPE_EXACT) {
        p4rt_entry_leading_ones(mask, w, w);
        return p4rt_words(&f->exact->value, w, d->is_signed, d->name, value, err);
    }
    if (d->match == SK_TERNARY &&
        f->field_match_type_case == P4__V1__FIELD_MATCH__FIELD_MATCH_TYPE_TERNARY) {
        status = p4rt_words(&f->ternary->value, w, false, d->name, value, err);
        status = status ? status : p4rt_words(&f->ternary->mask, w, false, d->name, mask, err);
        return status ? status : p4rt_entry_masked(d->name, value, mask, n, err);
    }
    if (d->match == SK_LPM &&
        f->field_match_type_case == P4__V1__FIELD_MATCH__FIELD_MATCH_TYPE_LPM) {
        if (f->lpm->prefix_len < 0 || (uint32_t)f->lpm->prefix_len > w)
            return p4rt_fail(err, RPC_INVALID_ARGUMENT, "field '%s' has a prefix of 1 to %u bits",
                             d->name, w);
        p4rt_entry_leading_ones(mask, w, (uint32_t)f->lpm->prefix_len);
        status = p4rt_words(&f->lpm->value, w, false, d->name, value, err);
        return status ? status : p4rt_entry_masked(d->name, value, mask, n, err);
    }
    if (d->match == SK_RANGE &&
        f->field_match_type_case == P4__V1__FIELD_MATCH__FIELD_MATCH_TYPE_RANGE) {
        status = p4rt_words(&f->range->low, w, false, d->name, value, err);
        status = status ? status : p4rt_words(&f->range->high, w, false, d->name, mask, err);
        return status ? status : p4rt_entry_range(d->name, value, mask, w, err);
    }
    return p4rt_fail(err, RPC_INVALID_ARGUMENT, "field '%s' is %s", d->name, kinds[d->match]);
}

// What a field that is left out matches; false: an exact one.
static bool p4rt_entry_anything(const struct sk_field_desc *d, uint64_t *mask) {
    if (d->match == SK_RANGE)
        p4rt_entry_leading_ones(mask, d->width, d->width);
    return d->match != SK_EXACT;
}

static enum rpc_status p4rt_entry_priority(const struct p4rt_table *t, const P4__V1__TableEntry *e,
                                           struct brt_change *c, struct sk_error *err) {
    const char *name = t->info->preamble->name;
    c->priority = t->has_priority ? (int64_t)ENTRY_MOST_PRIORITY - e->priority : 0;
    if (t->has_priority && e->priority <= 0)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "table '%s': an entry needs a priority above 0",
                         name);
    if (!t->has_priority && e->priority)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "table '%s': its entries have no priority",
                         name);
    return RPC_OK;
}

bool p4rt_entry_names_none(const P4__V1__TableEntry *e) {
    return e->n_match == 0;
}

enum rpc_status p4rt_entry_key(struct p4rt *p, const struct p4rt_table *t,
                               const P4__V1__TableEntry *e, struct brt_change *c,
                               struct sk_error *err) {
    const struct sk_table_desc *d = t->table->desc;
    struct brt_memory *m = brt_scratch_memory(p->b);
    c->value = brt_take(m, (d->key_words + 1) * sizeof *c->value);
    c->mask = brt_take(m, (d->key_words + 1) * sizeof *c->mask);
    bool *given = brt_take(m, d->n_keys + 1);
    if (!c->value || !c->mask || !given)
        return p4rt_no_memory(err);
    enum rpc_status status = p4rt_entry_priority(t, e, c, err);
    for (size_t i = 0; status == RPC_OK && i < e->n_match; i++) {
        const uint32_t id = e->match[i]->field_id;
        if (id < 1 || id > d->n_keys)
            return p4rt_fail(err, RPC_INVALID_ARGUMENT, "table '%s' has no match field %u",
                             t->info->preamble->name, id);
        if (given[id - 1])
            return p4rt_fail(err, RPC_INVALID_ARGUMENT, "field '%s' is given twice",
                             d->keys[id - 1].name);
        given[id - 1] = true;
        const uint32_t word = t->table->keys[id - 1].word;
        const P4__Config__V1__P4NamedType *type = t->info->match_fields[id - 1]->type_name;
        struct p4rt_translation tr;
        if (p4rt_translation(p->info, type, &tr) && tr.bits >= 1 && tr.bits <= 64 &&
            d->keys[id - 1].width <= 64)
            status = p4rt_entry_translated(p, e->match[i], type, &d->keys[id - 1], tr.bits,
                                           c->value + word, c->mask + word, err);
        else
            status = p4rt_entry_field(e->match[i], &d->keys[id - 1], c->value + word,
                                      c->mask + word, err);
    }
    for (uint32_t i = 0; status == RPC_OK && i < d->n_keys; i++)
        if (!given[i] && !p4rt_entry_anything(&d->keys[i], c->mask + t->table->keys[i].word))
            status = p4rt_fail(err, RPC_INVALID_ARGUMENT, "the exact field '%s' is missing",
                               d->keys[i].name);
    c->has_key = true;
    return status;
}

// ---- actions ----

enum rpc_status p4rt_action(struct p4rt *p, const struct brt_table *t, const P4__V1__Action *a,
                            struct brt_change *c, struct sk_error *err) {
    const struct brt_action *action = brt_table_action(t, a->action_id);
    if (!action)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "table '%s' has no action %u", t->name,
                         a->action_id);
    const struct sk_action_desc *d = t->desc->actions[action->index];
    const P4__Config__V1__Action *info = p4rt_info_action(p->info, a->action_id);
    struct brt_memory *m = brt_scratch_memory(p->b);
    bool *given = brt_take(m, action->n + 1);
    c->data = brt_take(m, (d->data_words + 1) * sizeof *c->data);
    c->action = action->index;
    c->has_action = true;
    if (!given || !c->data)
        return p4rt_no_memory(err);
    for (size_t i = 0; i < a->n_params; i++) {
        const uint32_t id = a->params[i]->param_id;
        if (id < 1 || id > action->n || given[id - 1])
            return p4rt_fail(err, RPC_INVALID_ARGUMENT, "action '%s': parameter %u %s",
                             action->name, id,
                             id < 1 || id > action->n ? "does not exist" : "is given twice");
        given[id - 1] = true;
        const struct brt_field *f = &action->fields[id - 1];
        const enum rpc_status status =
            p4rt_value(p, info && id <= info->n_params ? info->params[id - 1]->type_name : NULL,
                       &a->params[i]->value, f->width, d->params[id - 1].is_signed, f->name,
                       c->data + f->word, err);
        if (status)
            return status;
    }
    if (a->n_params != action->n)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT,
                         "action '%s' has %zu parameters, and %zu are "
                         "given",
                         action->name, action->n, a->n_params);
    return RPC_OK;
}

static enum rpc_status p4rt_entry_scope(const struct p4rt_table *t, const P4__V1__TableEntry *e,
                                        uint32_t id, struct sk_error *err) {
    for (size_t i = 0; i < t->info->n_action_refs; i++) {
        const P4__Config__V1__ActionRef *ref = t->info->action_refs[i];
        const P4__Config__V1__ActionRef__Scope wrong =
            e->is_default_action ? P4__CONFIG__V1__ACTION_REF__SCOPE__TABLE_ONLY
                                 : P4__CONFIG__V1__ACTION_REF__SCOPE__DEFAULT_ONLY;
        if (ref->id == id && ref->scope == wrong)
            return p4rt_fail(err, RPC_PERMISSION_DENIED, "table '%s': action %u is only for %s",
                             t->info->preamble->name, id,
                             e->is_default_action ? "entries" : "the default entry");
    }
    return RPC_OK;
}

// A member or a group in place of an action.
static enum rpc_status p4rt_entry_refers(struct p4rt *p, const struct p4rt_table *t, uint8_t refers,
                                         uint32_t id, struct brt_change *c, struct sk_error *err) {
    const struct sk_table_desc *d = t->table->desc;
    c->data = brt_take(brt_scratch_memory(p->b), sizeof *c->data);
    if (!c->data)
        return p4rt_no_memory(err);
    *c->data = id;
    for (uint32_t i = 0; i < d->n_actions; i++)
        if (d->actions[i]->refers == refers) {
            c->action = i;
            c->has_action = true;
            return RPC_OK;
        }
    return p4rt_fail(err, RPC_INVALID_ARGUMENT, "table '%s': its entries name no %s",
                     t->info->preamble->name, refers == SK_REFERS_GROUP ? "groups" : "members");
}

static enum rpc_status p4rt_entry_action(struct p4rt *p, const struct p4rt_table *t,
                                         const P4__V1__TableEntry *e, struct brt_change *c,
                                         struct sk_error *err) {
    const P4__V1__TableAction *a = e->action;
    enum rpc_status status;
    switch (a->type_case) {
    case P4__V1__TABLE_ACTION__TYPE_ACTION:
        if (t->profile)
            break;
        status = p4rt_entry_scope(t, e, a->action->action_id, err);
        return status ? status : p4rt_action(p, t->table, a->action, c, err);
    case P4__V1__TABLE_ACTION__TYPE_ACTION_PROFILE_MEMBER_ID:
        if (!t->profile || e->is_default_action)
            break;
        return p4rt_entry_refers(p, t, SK_REFERS_MEMBER, a->action_profile_member_id, c, err);
    case P4__V1__TABLE_ACTION__TYPE_ACTION_PROFILE_GROUP_ID:
        if (!t->profile || e->is_default_action)
            break;
        return p4rt_entry_refers(p, t, SK_REFERS_GROUP, a->action_profile_group_id, c, err);
    case P4__V1__TABLE_ACTION__TYPE_ACTION_PROFILE_ACTION_SET:
        if (!t->profile || e->is_default_action)
            break;
        return p4rt_entry_refers(p, t, SK_REFERS_GROUP, 0, c, err); // sets.c has its number
    default:
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "table '%s': the action is missing",
                         t->info->preamble->name);
    }
    return p4rt_fail(err, RPC_INVALID_ARGUMENT, "table '%s': its entries have %s",
                     t->info->preamble->name,
                     t->profile ? "members or groups in place of actions" : "actions");
}

// ---- what hangs on an entry ----

static enum rpc_status p4rt_entry_attach(const struct p4rt_table *t, const char *name,
                                         uint64_t value, struct brt_change *c,
                                         struct sk_error *err) {
    const struct sk_holder holder = sk_holder_of_table(t->table->desc);
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return sk_attached_parse(&holder, name, text, &c->attached, err) ? RPC_INVALID_ARGUMENT
                                                                     : RPC_OK;
}

enum rpc_status p4rt_entry_counts(const struct p4rt_table *t, const P4__V1__CounterData *d,
                                  struct brt_change *c, struct sk_error *err) {
    const struct sk_table_desc *desc = t->table->desc;
    enum rpc_status status = RPC_OK;
    if (!desc->has_counter)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "table '%s' has no direct counter",
                         t->info->preamble->name);
    if (d->packet_count < 0 || d->byte_count < 0)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "a count is not negative");
    if (desc->counter_type != 1)
        status = p4rt_entry_attach(t, "$COUNTER_SPEC_PKTS", (uint64_t)d->packet_count, c, err);
    if (status == RPC_OK && desc->counter_type != 0)
        status = p4rt_entry_attach(t, "$COUNTER_SPEC_BYTES", (uint64_t)d->byte_count, c, err);
    return status;
}

enum rpc_status p4rt_entry_meter(const struct p4rt_table *t, const P4__V1__MeterConfig *config,
                                 struct brt_change *c, struct sk_error *err) {
    const struct sk_holder holder = sk_holder_of_table(t->table->desc);
    if (t->table->desc->meter_kind != SK_METER)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "table '%s' has no direct meter",
                         t->info->preamble->name);
    return p4rt_meter_spec(config, &holder, &c->attached, err);
}

static enum rpc_status p4rt_entry_attached(const struct p4rt_table *t, const P4__V1__TableEntry *e,
                                           struct brt_change *c, struct sk_error *err) {
    enum rpc_status status = RPC_OK;
    if (e->meter_counter_data)
        return p4rt_fail(err, RPC_UNIMPLEMENTED, "meters do not count by colour");
    if (e->idle_timeout_ns < 0 || (e->idle_timeout_ns && !t->table->desc->idle_timeout))
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "table '%s': %s", t->info->preamble->name,
                         e->idle_timeout_ns < 0 ? "an idle timeout is not negative"
                                                : "its entries do not age");
    if (e->counter_data)
        status = p4rt_entry_counts(t, e->counter_data, c, err);
    if (status == RPC_OK && e->meter_config)
        status = p4rt_entry_meter(t, e->meter_config, c, err);
    if (status == RPC_OK && t->table->desc->idle_timeout && !e->is_default_action) {
        const int64_t ms =
            e->idle_timeout_ns / ENTRY_NS_PER_MS + (e->idle_timeout_ns % ENTRY_NS_PER_MS != 0);
        if (ms > UINT32_MAX)
            return p4rt_fail(err, RPC_OUT_OF_RANGE, "an idle timeout is at most 49 days");
        status = p4rt_entry_attach(t, "$ENTRY_TTL", (uint64_t)ms, c, err);
    }
    return status;
}

enum rpc_status p4rt_entry_change(struct p4rt *p, const struct p4rt_table *t,
                                  const P4__V1__TableEntry *e, struct brt_change *c,
                                  struct sk_error *err) {
    const bool inserts = c->type == BFRT_PROTO__UPDATE__TYPE__INSERT;
    enum rpc_status status = RPC_OK;
    if (e->action)
        status = p4rt_entry_action(p, t, e, c, err);
    else if (inserts)
        status = p4rt_fail(err, RPC_INVALID_ARGUMENT, "table '%s': the action is missing",
                           t->info->preamble->name);
    return status ? status : p4rt_entry_attached(t, e, c, err);
}

// ---- messages ----

P4__V1__Action *p4rt_action_message(struct p4rt *p, const struct brt_table *t, uint32_t action,
                                    const uint64_t *data) {
    const struct brt_action *a = brt_table_action_at(t, action);
    const P4__Config__V1__Action *info = a ? p4rt_info_action(p->info, a->id) : NULL;
    struct brt_memory *m = brt_scratch_memory(p->b);
    P4__V1__Action *out = a ? brt_take(m, sizeof *out) : NULL;
    P4__V1__Action__Param *params = a ? brt_take(m, (a->n + 1) * sizeof *params) : NULL;
    if (!out || !params)
        return NULL;
    p4__v1__action__init(out);
    out->action_id = a->id;
    out->params = brt_take(m, (a->n + 1) * sizeof *out->params);
    for (size_t i = 0; out->params && i < a->n; i++) {
        p4__v1__action__param__init(&params[i]);
        params[i].param_id = (uint32_t)i + 1;
        out->params[out->n_params++] = &params[i];
        if (!p4rt_value_bytes(p, info && i < info->n_params ? info->params[i]->type_name : NULL, m,
                              data + a->fields[i].word, a->fields[i].width,
                              t->desc->actions[action]->params[i].is_signed, &params[i].value))
            return NULL;
    }
    return out->params ? out : NULL;
}

struct entry_match {
    P4__V1__FieldMatch field;
    union {
        P4__V1__FieldMatch__Exact exact;
        P4__V1__FieldMatch__Ternary ternary;
        P4__V1__FieldMatch__LPM lpm;
        P4__V1__FieldMatch__Range range;
    } part;
};

static uint32_t p4rt_entry_prefix_of(const uint64_t *mask, uint32_t width) {
    uint32_t n = 0;
    while (n < width && mask[(width - 1 - n) / 64] >> ((width - 1 - n) % 64) & 1)
        n++;
    return n;
}

// One value of a field whose values are translated, as p4rt_entry_translated() reads it. False:
// BF Runtime wrote another mask, which is said as the switch has it.
static bool p4rt_entry_is_one(const struct sk_field_desc *d, const uint64_t *value,
                              const uint64_t *mask) {
    return d->width <= 64 &&
           (d->match == SK_EXACT ||
            (d->match == SK_RANGE ? *value == *mask : *mask == UINT64_MAX >> (64 - d->width)));
}

static bool p4rt_entry_translated_message(const struct p4rt *p,
                                          const P4__Config__V1__P4NamedType *type,
                                          const struct sk_field_desc *d, uint32_t bits,
                                          const uint64_t *value, struct entry_match *out) {
    struct brt_memory *m = brt_scratch_memory(p->b);
    const uint64_t all = UINT64_MAX >> (64 - bits);
    ProtobufCBinaryData *to = &out->part.exact.value;
    bool good = true;
    switch (d->match) {
    case SK_TERNARY:
        to = &out->part.ternary.value;
        good = p4rt_bytes(m, &all, bits, false, &out->part.ternary.mask);
        break;
    case SK_LPM:
        to = &out->part.lpm.value;
        out->part.lpm.prefix_len = (int32_t)bits;
        break;
    case SK_RANGE:
        to = &out->part.range.low;
        good = p4rt_value_bytes(p, type, m, value, d->width, false, &out->part.range.high);
        break;
    default:
        break;
    }
    return good && p4rt_value_bytes(p, type, m, value, d->width, d->is_signed, to);
}

static bool p4rt_entry_match_message(struct brt_memory *m, const struct sk_field_desc *d,
                                     const uint64_t *value, const uint64_t *mask,
                                     struct entry_match *out) {
    switch (d->match) {
    case SK_TERNARY:
        p4__v1__field_match__ternary__init(&out->part.ternary);
        out->field.field_match_type_case = P4__V1__FIELD_MATCH__FIELD_MATCH_TYPE_TERNARY;
        out->field.ternary = &out->part.ternary;
        return p4rt_bytes(m, value, d->width, false, &out->part.ternary.value) &&
               p4rt_bytes(m, mask, d->width, false, &out->part.ternary.mask);
    case SK_LPM:
        p4__v1__field_match__lpm__init(&out->part.lpm);
        out->field.field_match_type_case = P4__V1__FIELD_MATCH__FIELD_MATCH_TYPE_LPM;
        out->field.lpm = &out->part.lpm;
        out->part.lpm.prefix_len = (int32_t)p4rt_entry_prefix_of(mask, d->width);
        return p4rt_bytes(m, value, d->width, false, &out->part.lpm.value);
    case SK_RANGE:
        p4__v1__field_match__range__init(&out->part.range);
        out->field.field_match_type_case = P4__V1__FIELD_MATCH__FIELD_MATCH_TYPE_RANGE;
        out->field.range = &out->part.range;
        return p4rt_bytes(m, value, d->width, false, &out->part.range.low) &&
               p4rt_bytes(m, mask, d->width, false, &out->part.range.high);
    default:
        p4__v1__field_match__exact__init(&out->part.exact);
        out->field.field_match_type_case = P4__V1__FIELD_MATCH__FIELD_MATCH_TYPE_EXACT;
        out->field.exact = &out->part.exact;
        return p4rt_bytes(m, value, d->width, d->is_signed, &out->part.exact.value);
    }
}

// Does a field of an entry match everything, so that it is left out?
static bool p4rt_entry_is_anything(const struct sk_field_desc *d, const uint64_t *value,
                                   const uint64_t *mask) {
    const uint32_t n = sk_words(d->width);
    if (d->match == SK_RANGE)
        return p4rt_entry_is_zero(value, n) && p4rt_entry_prefix_of(mask, d->width) == d->width;
    return d->match != SK_EXACT && p4rt_entry_is_zero(mask, n);
}

bool p4rt_entry_key_message(struct p4rt *p, const struct p4rt_table *t, const struct sk_entry *e,
                            P4__V1__TableEntry *out) {
    const struct sk_table_desc *d = t->table->desc;
    struct brt_memory *m = brt_scratch_memory(p->b);
    struct entry_match *matches = brt_take(m, (d->n_keys + 1) * sizeof *matches);
    out->match = brt_take(m, (d->n_keys + 1) * sizeof *out->match);
    if (!matches || !out->match)
        return false;
    if (t->has_priority) // of an entry that BF Runtime wrote it may be beyond what can be said
        out->priority =
            e->priority < ENTRY_MOST_PRIORITY ? (int32_t)(ENTRY_MOST_PRIORITY - e->priority) : 1;
    for (uint32_t i = 0; i < d->n_keys; i++) {
        const uint32_t word = t->table->keys[i].word;
        if (p4rt_entry_is_anything(&d->keys[i], e->value + word, e->mask + word))
            continue;
        struct entry_match *match = &matches[i];
        p4__v1__field_match__init(&match->field);
        match->field.field_id = i + 1;
        out->match[out->n_match++] = &match->field;
        if (!p4rt_entry_match_message(m, &d->keys[i], e->value + word, e->mask + word, match))
            return false;
        const P4__Config__V1__P4NamedType *type = t->info->match_fields[i]->type_name;
        struct p4rt_translation tr;
        if (p4rt_translation(p->info, type, &tr) && tr.bits >= 1 && tr.bits <= 64 &&
            p4rt_entry_is_one(&d->keys[i], e->value + word, e->mask + word) &&
            !p4rt_entry_translated_message(p, type, &d->keys[i], tr.bits, e->value + word, match))
            return false;
    }
    return true;
}

bool p4rt_entry_action_message(struct p4rt *p, const struct p4rt_table *t, const struct sk_entry *e,
                               P4__V1__TableEntry *out) {
    const uint8_t refers = t->table->desc->actions[e->action]->refers;
    P4__V1__TableAction *action = brt_take(brt_scratch_memory(p->b), sizeof *action);
    if (!action)
        return false;
    p4__v1__table_action__init(action);
    if (refers == SK_REFERS_MEMBER) {
        action->type_case = P4__V1__TABLE_ACTION__TYPE_ACTION_PROFILE_MEMBER_ID;
        action->action_profile_member_id = (uint32_t)e->data[0];
    } else if (refers == SK_REFERS_GROUP && p4rt_sets_have_group(t->profile, e->data[0])) {
        action->type_case = P4__V1__TABLE_ACTION__TYPE_ACTION_PROFILE_ACTION_SET;
        action->action_profile_action_set = p4rt_set_message(p, t->profile, (uint32_t)e->data[0]);
        if (!action->action_profile_action_set)
            return false;
    } else if (refers == SK_REFERS_GROUP) {
        action->type_case = P4__V1__TABLE_ACTION__TYPE_ACTION_PROFILE_GROUP_ID;
        action->action_profile_group_id = (uint32_t)e->data[0];
    } else if (brt_table_action_at(t->table, e->action)) {
        action->type_case = P4__V1__TABLE_ACTION__TYPE_ACTION;
        action->action = p4rt_action_message(p, t->table, e->action, e->data);
        if (!action->action)
            return false;
    } else
        action = NULL; // the default action of a table with a profile
    out->action = action;
    return true;
}
