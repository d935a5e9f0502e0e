// SPDX-License-Identifier: Apache-2.0
//
// Groups of action selectors, and the member that a hash chooses in one.
#include <string.h>

#include "brt/brt_impl.h"

bool brt_has_groups(const struct brt_table *t) {
    return t->kind == BRT_SELECTOR;
}

struct sk_selector *brt_selector_in(const struct brt *b, const struct brt_table *t, unsigned pipe) {
    return t->object.desc->selector(sk_switch_pipe(b->now.sw, pipe), t->object.index);
}

static enum brt_code groups_no_memory(struct sk_error *err) {
    return brt_fail(err, BRT_NO_SYS_RESOURCES, "the group needs too much memory");
}

static enum brt_code groups_failure(const struct brt_change *c, int error, struct sk_error *err) {
    const char *why = sk_table_strerror(error);
    enum brt_code code = brt_of_table_error(error);
    if (error == SK_E_NO_MEMBER)
        code = BRT_INVALID_ARG;
    else if (error == SK_E_FULL)
        why = "it holds no more groups";
    else if (error == SK_E_EXISTS)
        why = "it exists already";
    return brt_fail(err, code, "selector '%s', group %llu: %s", c->table->name,
                    (unsigned long long)c->index, why);
}

// ---- updates out of messages ----

// The exact value of a key field of 64 bits at most.
static enum brt_code groups_key_value(const BfrtProto__TableKey *key, const struct brt_field *f,
                                      uint64_t *out, struct sk_error *err) {
    const BfrtProto__KeyField *found = NULL;
    for (size_t i = 0; i < key->n_fields; i++) {
        if (key->fields[i]->field_id != f->id)
            continue;
        if (found)
            return brt_fail(err, BRT_INVALID_ARG, "key field '%s' is given twice", f->name);
        found = key->fields[i];
    }
    if (!found)
        return brt_fail(err, BRT_INVALID_ARG, "key field '%s' is missing", f->name);
    if (found->match_type_case != BFRT_PROTO__KEY_FIELD__MATCH_TYPE_EXACT)
        return brt_fail(err, BRT_INVALID_ARG, "key field '%s' is exact", f->name);
    return brt_words(&found->exact->value, f, out, err);
}

enum brt_code brt_group_key(const BfrtProto__TableKey *key, struct brt_change *c,
                            struct sk_error *err) {
    const struct brt_table *t = c->table;
    for (size_t i = 0; i < key->n_fields; i++)
        if (!brt_find(t->keys, t->n_keys, key->fields[i]->field_id))
            return brt_fail(err, BRT_OBJECT_NOT_FOUND, "there is no key field with id %u",
                            key->fields[i]->field_id);
    c->has_key = true;
    return groups_key_value(key, &t->keys[0], &c->index, err);
}

// What a message says of a group's members: ids and whether they are up.
struct groups_lists {
    const BfrtProto__DataField *members, *status;
};

static enum brt_code groups_datum(const BfrtProto__DataField *d, struct brt_change *c,
                                  struct groups_lists *lists, struct sk_error *err) {
    const struct brt_field *f = brt_find(c->table->data, c->table->n_data, d->field_id);
    uint64_t number = 0;
    enum brt_code code = BRT_OK;
    if (!f)
        return brt_fail(err, BRT_OBJECT_NOT_FOUND, "there is no data field with id %u",
                        d->field_id);
    if (strcmp(f->name, "$ACTION_MEMBER_ID") == 0 &&
        d->value_case == BFRT_PROTO__DATA_FIELD__VALUE_INT_ARR_VAL)
        lists->members = d;
    else if (strcmp(f->name, "$ACTION_MEMBER_STATUS") == 0 &&
             d->value_case == BFRT_PROTO__DATA_FIELD__VALUE_BOOL_ARR_VAL)
        lists->status = d;
    else if (f->repeated)
        return brt_fail(err, BRT_INVALID_ARG, "field '%s' takes a list", f->name);
    else
        code = brt_number(d, f, &number, err);
    if (strcmp(f->name, "$MAX_GROUP_SIZE") == 0)
        c->max_size = (uint32_t)number;
    if (strcmp(f->name, "$ADT_OFFSET") == 0) {
        c->has_offset = code == BRT_OK;
        c->offset = (uint32_t)number;
    }
    return code;
}

static enum brt_code groups_members(struct brt *b, const struct groups_lists *lists,
                                    struct brt_change *c, struct sk_error *err) {
    const size_t n = lists->members ? lists->members->int_arr_val->n_val : 0,
                 n_status = lists->status ? lists->status->bool_arr_val->n_val : 0;
    if (n != n_status)
        return brt_fail(err, BRT_INVALID_ARG, "the group has %zu members and the status of %zu", n,
                        n_status);
    if (n > UINT32_MAX || !(c->members = brt_take(&b->scratch, (n + 1) * sizeof *c->members)))
        return groups_no_memory(err);
    for (size_t i = 0; i < n; i++)
        c->members[i] = (struct sk_group_member){.member = lists->members->int_arr_val->val[i],
                                                 .up = lists->status->bool_arr_val->val[i]};
    c->n_members = (uint32_t)n;
    c->has_members = lists->members || lists->status;
    return BRT_OK;
}

static enum brt_code groups_check_type(const struct brt_change *c, bool has_key,
                                       struct sk_error *err) {
    const BfrtProto__Update__Type type = c->type;
    if (type == BFRT_PROTO__UPDATE__TYPE__UNSPECIFIED)
        return brt_fail(err, BRT_INVALID_ARG, "the update has no type");
    if (c->is_default)
        return brt_fail(err, BRT_NOT_SUPPORTED, "table '%s' has no default entry", c->table->name);
    if (type != BFRT_PROTO__UPDATE__TYPE__INSERT && type != BFRT_PROTO__UPDATE__TYPE__MODIFY &&
        type != BFRT_PROTO__UPDATE__TYPE__DELETE &&
        type != BFRT_PROTO__UPDATE__TYPE__INSERT_OR_MODIFY)
        return brt_fail(err, BRT_NOT_SUPPORTED, "table '%s': its groups cannot be changed so",
                        c->table->name);
    if (!has_key && type != BFRT_PROTO__UPDATE__TYPE__DELETE)
        return brt_fail(err, BRT_INVALID_ARG, "the key is missing");
    return BRT_OK;
}

// Groups are those of single pipes when the entries that name them are.
static bool groups_are_asymmetric(struct brt *b, const struct brt_table *t) {
    const struct sk_pipeline_desc *d = t->object.desc;
    for (uint32_t i = 0; i < d->n_tables; i++) {
        const struct brt_table *user = d->tables[i]->selector == d->selectors[t->object.index]
                                           ? brt_schema_of(brt_served(b), d->tables[i])
                                           : NULL;
        if (user && brt_schema_state(brt_served(b), user)->scope != BRT_SCOPE_ALL)
            return true;
    }
    return false;
}

// As by the chip's driver: where groups are the same in all pipes, they change in all.
static enum brt_code groups_check_pipes(struct brt *b, const struct brt_change *c,
                                        struct sk_error *err) {
    struct sk_pipe_list all;
    if (!c->names_pipe || groups_are_asymmetric(b, c->table))
        return BRT_OK;
    if (sk_find_pipes(b->now.sw, &c->table->object, -1, &all, err))
        return BRT_INVALID_ARG;
    return all.n < 2 ? BRT_OK
                     : brt_fail(err, BRT_INVALID_ARG,
                                "selector '%s' has the same groups in all pipes: they change in "
                                "all (EntryScope of a table that names them makes them single)",
                                c->table->name);
}

enum brt_code brt_group_change(struct brt *b, const BfrtProto__TableEntry *e, struct brt_change *c,
                               struct sk_error *err) {
    const bool has_key = e->value_case == BFRT_PROTO__TABLE_ENTRY__VALUE_KEY;
    struct groups_lists lists = {0};
    enum brt_code code = groups_check_type(c, has_key, err);
    if (code == BRT_OK)
        code = groups_check_pipes(b, c, err);
    if (code == BRT_OK && has_key)
        code = brt_group_key(e->key, c, err);
    for (size_t i = 0; code == BRT_OK && e->data && i < e->data->n_fields; i++)
        code = groups_datum(e->data->fields[i], c, &lists, err);
    return code ? code : groups_members(b, &lists, c, err);
}

// ---- in a pause ----

static enum brt_code groups_insert(struct brt *b, const struct brt_change *c,
                                   struct sk_error *err) {
    for (unsigned i = 0; i < c->pipes.n; i++) {
        struct sk_selector *s = brt_selector_in(b, c->table, c->pipes.list[i]);
        const int error =
            sk_selector_add(s, (uint32_t)c->index, c->max_size, c->members, c->n_members);
        if (error == SK_OK)
            continue;
        while (i-- > 0) {
            s = brt_selector_in(b, c->table, c->pipes.list[i]);
            sk_selector_delete(s, (uint32_t)c->index);
            sk_selector_quiesce(s);
        }
        return groups_failure(c, error, err);
    }
    return BRT_OK;
}

// Members that are not given stay.
static int groups_modify_one(struct sk_selector *s, const struct brt_change *c, bool asks) {
    const struct sk_group *g = sk_selector_find(s, (uint32_t)c->index);
    if (!g)
        return SK_E_NO_GROUP;
    const struct sk_group_member *members = c->has_members ? c->members : g->members;
    const uint32_t n = c->has_members ? c->n_members : g->n;
    return asks ? sk_selector_may_modify(s, g->id, c->max_size, members, n)
                : sk_selector_modify(s, g->id, c->max_size, members, n);
}

static int groups_delete_one(struct sk_selector *s, const struct brt_change *c, bool asks) {
    if (!c->has_key)
        return asks ? sk_selector_may_clear(s) : sk_selector_clear(s);
    return asks ? sk_selector_may_delete(s, (uint32_t)c->index)
                : sk_selector_delete(s, (uint32_t)c->index);
}

// Every pipe is asked before one is changed.
static enum brt_code groups_everywhere(struct brt *b, const struct brt_change *c,
                                       int (*one)(struct sk_selector *s, const struct brt_change *c,
                                                  bool asks),
                                       struct sk_error *err) {
    for (unsigned i = 0; i < 2 * c->pipes.n; i++) {
        const bool asks = i < c->pipes.n;
        struct sk_selector *s = brt_selector_in(b, c->table, c->pipes.list[i % c->pipes.n]);
        const int error = one(s, c, asks);
        sk_selector_quiesce(s);
        if (error)
            return groups_failure(c, error, err);
    }
    return BRT_OK;
}

enum brt_code brt_group_apply(struct brt *b, const struct brt_change *c, bool *existed,
                              struct sk_error *err) {
    bool there = false;
    for (unsigned i = 0; c->has_key && i < c->pipes.n; i++)
        there = there || sk_selector_find(brt_selector_in(b, c->table, c->pipes.list[i]),
                                          (uint32_t)c->index);
    *existed = there && c->type == BFRT_PROTO__UPDATE__TYPE__INSERT_OR_MODIFY;
    if (c->type == BFRT_PROTO__UPDATE__TYPE__DELETE)
        return groups_everywhere(b, c, groups_delete_one, err);
    const enum brt_code code = c->type == BFRT_PROTO__UPDATE__TYPE__MODIFY || *existed
                                   ? groups_everywhere(b, c, groups_modify_one, err)
                                   : groups_insert(b, c, err);
    for (unsigned i = 0; code == BRT_OK && c->has_offset && i < c->pipes.n; i++)
        sk_selector_set_offset(brt_selector_in(b, c->table, c->pipes.list[i]), (uint32_t)c->index,
                               true, c->offset);
    return code;
}

// ---- messages out of groups ----

struct groups_out {
    BfrtProto__TableData data;
    BfrtProto__DataField fields[4], *list[4];
    BfrtProto__DataField__IntArray members;
    BfrtProto__DataField__BoolArray status;
};

static BfrtProto__DataField *groups_next(struct groups_out *o, const struct brt_field *f) {
    BfrtProto__DataField *out = &o->fields[o->data.n_fields];
    bfrt_proto__data_field__init(out);
    out->field_id = f->id;
    o->data.fields[o->data.n_fields++] = out;
    return out;
}

static bool groups_put_members(struct brt_memory *m, struct groups_out *o, const struct sk_group *g,
                               BfrtProto__DataField *out) {
    bfrt_proto__data_field__int_array__init(&o->members);
    o->members.n_val = g->n;
    o->members.val = brt_take(m, (g->n + 1) * sizeof *o->members.val);
    for (uint32_t i = 0; o->members.val && i < g->n; i++)
        o->members.val[i] = g->members[i].member;
    out->value_case = BFRT_PROTO__DATA_FIELD__VALUE_INT_ARR_VAL;
    out->int_arr_val = &o->members;
    return o->members.val;
}

static bool groups_put_status(struct brt_memory *m, struct groups_out *o, const struct sk_group *g,
                              BfrtProto__DataField *out) {
    bfrt_proto__data_field__bool_array__init(&o->status);
    o->status.n_val = g->n;
    o->status.val = brt_take(m, (g->n + 1) * sizeof *o->status.val);
    for (uint32_t i = 0; o->status.val && i < g->n; i++)
        o->status.val[i] = g->members[i].up;
    out->value_case = BFRT_PROTO__DATA_FIELD__VALUE_BOOL_ARR_VAL;
    out->bool_arr_val = &o->status;
    return o->status.val;
}

static bool groups_put(struct brt_memory *m, struct groups_out *o, const struct sk_group *g,
                       const struct brt_field *f) {
    const bool is_offset = strcmp(f->name, "$ADT_OFFSET") == 0;
    const uint64_t number = is_offset ? g->offset : g->max_size;
    if (strcmp(f->name, "$ACTION_MEMBER_ID") == 0)
        return groups_put_members(m, o, g, groups_next(o, f));
    if (strcmp(f->name, "$ACTION_MEMBER_STATUS") == 0)
        return groups_put_status(m, o, g, groups_next(o, f));
    if (is_offset && !g->has_offset)
        return true; // where a group is in the chip's memory: nobody has said it
    BfrtProto__DataField *out = groups_next(o, f);
    out->value_case = BFRT_PROTO__DATA_FIELD__VALUE_STREAM;
    return brt_stream(m, &number, f->width, &out->stream);
}

bool brt_group_message(struct brt_memory *m, const struct brt_table *t, const struct sk_group *g,
                       const BfrtProto__TableData *wanted, BfrtProto__TableEntry *out) {
    struct groups_out *o = brt_take(m, sizeof *o);
    if (!o)
        return false;
    bfrt_proto__table_data__init(&o->data);
    o->data.fields = o->list;
    for (size_t i = 0; i < t->n_data; i++)
        if (brt_is_wanted(wanted, t->data[i].id) && !groups_put(m, o, g, &t->data[i]))
            return false;
    out->table_id = t->id;
    out->data = &o->data;
    return brt_index_key_message(m, t, g->id, out);
}

// ---- what a hash chooses ----

enum brt_code brt_get_member(struct brt *b, const struct brt_change *question,
                             const BfrtProto__TableKey *key, BfrtProto__TableEntry *out,
                             struct sk_error *err) {
    const struct brt_table *t = question->table;
    struct groups_out *o = brt_take(&b->scratch, sizeof *o);
    uint64_t group, hash, chosen;
    uint32_t member;
    if (!o)
        return groups_no_memory(err);
    enum brt_code code = groups_key_value(key, &t->keys[0], &group, err);
    code = code ? code : groups_key_value(key, &t->keys[1], &hash, err);
    if (code)
        return code;
    const struct sk_selector *s = brt_selector_in(b, t, question->pipes.list[0]);
    if (group > UINT32_MAX || !sk_selector_choose(s, (uint32_t)group, hash, &member))
        return brt_fail(err, BRT_OBJECT_NOT_FOUND,
                        "table '%s': there is no group %llu with a member that is up", t->name,
                        (unsigned long long)group);
    chosen = member;
    bfrt_proto__table_data__init(&o->data);
    o->data.fields = o->list;
    BfrtProto__DataField *d = groups_next(o, &t->data[0]);
    d->value_case = BFRT_PROTO__DATA_FIELD__VALUE_STREAM;
    out->table_id = t->id;
    out->value_case = BFRT_PROTO__TABLE_ENTRY__VALUE_KEY;
    out->key = (BfrtProto__TableKey *)key;
    out->data = &o->data;
    return brt_stream(&b->scratch, &chosen, t->data[0].width, &d->stream) ? BRT_OK
                                                                          : groups_no_memory(err);
}
