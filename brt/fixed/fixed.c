// SPDX-License-Identifier: Apache-2.0
//
// An update is made whole before it is applied: what the message says on top of what the entry
// says, or, for a new one, of its first values. So each table has one function that changes it.
#include <string.h>

#include "brt/fixed/fixed.h"

const struct fixed_table *fixed_family(const struct brt *b, unsigned family, size_t *n) {
    const bool tofino2 = sk_switch_is_tofino_2(b->now.sw);
    switch (family) {
    case 0:
        return fixed_device(tofino2, n);
    case 1:
        return fixed_port(tofino2, n);
    case 2:
        return fixed_pre(n);
    case 3:
        return fixed_pktgen(tofino2, n);
    case 4:
        return fixed_tm(tofino2, n);
    default:
        return fixed_mirror(tofino2, n);
    }
}

const struct fixed_table *fixed_table(const struct brt *b, uint32_t id) {
    if (id >> 24 != FIXED_IDS) // asked for each update: mostly of the program's tables
        return NULL;
    for (unsigned family = 0; family < FIXED_FAMILIES; family++) {
        size_t n;
        const struct fixed_table *list = fixed_family(b, family, &n);
        for (size_t i = 0; i < n; i++)
            if (list[i].id == id)
                return &list[i];
    }
    return NULL;
}

const struct fixed_table *fixed_table_named(const struct brt *b, const char *name) {
    for (unsigned family = 0; family < FIXED_FAMILIES; family++) {
        size_t n;
        const struct fixed_table *list = fixed_family(b, family, &n);
        for (size_t i = 0; i < n; i++)
            if (strcmp(list[i].name, name) == 0)
                return &list[i];
    }
    return NULL;
}

static uint32_t fixed_id_of(const struct fixed_field *fields, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(fields[i].name, name) == 0)
            return fields[i].id;
    return 0;
}

static uint32_t fixed_id_of_action(const struct fixed_table *t, const char *name) {
    for (size_t i = 0; i < t->n_actions; i++)
        if (strcmp(t->actions[i].name, name) == 0)
            return t->actions[i].id;
    return 0;
}

uint32_t fixed_id(const struct fixed_table *t, const BfrtProto__ObjectId__TableObject *o) {
    switch (o->names_case) {
    case BFRT_PROTO__OBJECT_ID__TABLE_OBJECT__NAMES_ACTION_NAME:
        return fixed_id_of_action(t, o->action_name->action);
    case BFRT_PROTO__OBJECT_ID__TABLE_OBJECT__NAMES_KEY_FIELD_NAME:
        return fixed_id_of(t->keys, t->n_keys, o->key_field_name->field);
    case BFRT_PROTO__OBJECT_ID__TABLE_OBJECT__NAMES_DATA_FIELD_NAME:
        return fixed_id_of(t->data, t->n_data, o->data_field_name->field);
    default:
        return t->id;
    }
}

static enum brt_code fixed_no_memory(struct sk_error *err) {
    return brt_fail(err, BRT_NO_SYS_RESOURCES, "the entry needs too much memory");
}

static enum brt_code fixed_not_found(const struct fixed_table *t, struct sk_error *err) {
    return brt_fail(err, BRT_OBJECT_NOT_FOUND, "table '%s': there is no such entry", t->name);
}

static struct fixed_entry *fixed_new_entry(struct brt_memory *m, const struct fixed_table *t) {
    struct fixed_entry *e = brt_take(m, sizeof *e);
    if (e)
        e->data = brt_take(m, (t->n_data + 1) * sizeof *e->data);
    return e && e->data ? e : NULL;
}

static bool fixed_get(struct brt *b, struct brt_memory *m, const struct fixed_table *t,
                      const struct fixed_entry *key, struct fixed_entry *out) {
    struct fixed_value *data = out->data;
    *out = *key;
    out->data = data;
    return t->functions.get(b, m, out);
}

// ---- updates ----

static enum brt_code fixed_check_served(const struct fixed_table *t, bool writes,
                                        struct sk_error *err) {
    if (!t->functions.get)
        return brt_fail(err, BRT_NOT_IMPLEMENTED, "table '%s' is not implemented%s%s", t->name,
                        t->why ? ": " : "", t->why ? t->why : "");
    return writes && !t->functions.set && !t->functions.remove
               ? brt_fail(err, BRT_NOT_SUPPORTED, "table '%s' is only read", t->name)
               : BRT_OK;
}

static enum brt_code fixed_check_type(const struct brt_change *c, bool has_key,
                                      struct sk_error *err) {
    const struct fixed_table *t = c->fixed;
    switch (c->type) {
    case BFRT_PROTO__UPDATE__TYPE__INSERT:
    case BFRT_PROTO__UPDATE__TYPE__MODIFY:
    case BFRT_PROTO__UPDATE__TYPE__INSERT_OR_MODIFY:
        break;
    case BFRT_PROTO__UPDATE__TYPE__MODIFY_INC:
        if (!t->increments)
            return brt_fail(err, BRT_NOT_SUPPORTED, "table '%s' has nothing that can be added to",
                            t->name);
        break;
    case BFRT_PROTO__UPDATE__TYPE__DELETE:
        if (!t->functions.remove)
            return brt_fail(err, BRT_NOT_SUPPORTED, "table '%s': entries cannot be deleted",
                            t->name);
        return BRT_OK; // without a key: of all
    case BFRT_PROTO__UPDATE__TYPE__UNSPECIFIED:
        return brt_fail(err, BRT_INVALID_ARG, "the update has no type");
    default:
        return brt_fail(err, BRT_INVALID_ARG, "table '%s' does not take updates of this type",
                        t->name);
    }
    return has_key || t->n_keys == 0 ? BRT_OK
                                     : brt_fail(err, BRT_INVALID_ARG, "the key is missing");
}

static enum brt_code fixed_check_entry(struct brt *b, const struct fixed_table *t,
                                       const struct fixed_entry *e, struct sk_error *err) {
    if (t->one_pipe && e->pipe < 0)
        return brt_fail(err, BRT_INVALID_ARG, "table '%s': the target must be one pipe", t->name);
    return t->check ? t->check(b, e, err) : BRT_OK;
}

enum brt_code fixed_change(struct brt *b, const BfrtProto__TableEntry *e, int pipe,
                           struct brt_change *c, struct sk_error *err) {
    static const BfrtProto__TableData nothing = BFRT_PROTO__TABLE_DATA__INIT;
    const struct fixed_table *t = c->fixed;
    const bool has_key = e->value_case == BFRT_PROTO__TABLE_ENTRY__VALUE_KEY;
    enum brt_code code = fixed_check_served(t, true, err);
    if (code == BRT_OK && e->is_default_entry && t->n_keys)
        code = brt_fail(err, BRT_NOT_SUPPORTED, "table '%s' has no default entry", t->name);
    if (code == BRT_OK)
        code = fixed_check_type(c, has_key, err);
    if (code)
        return code;
    if (e->value_case == BFRT_PROTO__TABLE_ENTRY__VALUE_HANDLE_ID)
        return brt_fail(err, BRT_INVALID_ARG, "an entry is written by its key, not by its handle");
    c->has_key = has_key;
    c->removes = e->table_flags && e->table_flags->mod_del;
    c->entry = fixed_new_entry(&b->scratch, t);
    if (!c->entry)
        return fixed_no_memory(err);
    c->entry->pipe = t->by_pipe ? pipe : -1;
    if (has_key)
        code = fixed_key(t, e->key, c->entry, err);
    if (code == BRT_OK && (has_key || c->type != BFRT_PROTO__UPDATE__TYPE__DELETE))
        code = fixed_check_entry(b, t, c->entry, err);
    if (code || c->type == BFRT_PROTO__UPDATE__TYPE__DELETE)
        return code;
    code = fixed_data(&b->scratch, t, e->data ? e->data : &nothing, c->entry, err);
    return code ? code : fixed_check_lists(&b->scratch, t, c->entry, err);
}

// A new entry's values where the message says none.
static enum brt_code fixed_complete(const struct fixed_table *t, struct fixed_entry *e,
                                    struct sk_error *err) {
    for (size_t i = 0; i < t->n_data; i++) {
        struct fixed_value *v = &e->data[i];
        if (v->given)
            continue;
        if (t->data[i].mandatory && !t->data[i].repeated) // a list can be empty
            return brt_fail(err, BRT_INVALID_ARG, "table '%s': field '%s' is missing", t->name,
                            t->data[i].name);
        v->given = true;
        v->number = t->data[i].otherwise;
    }
    return BRT_OK;
}

// What the entry says stays where the message says nothing, if that has no action of its own.
static void fixed_overlay(const struct fixed_table *t, const struct fixed_entry *now,
                          struct fixed_entry *e) {
    static const struct fixed_value zero = {.given = true};
    for (size_t i = 0; i < t->n_data; i++)
        if (!e->data[i].given)
            e->data[i] = e->action && !t->data[i].stays ? zero : now->data[i];
    e->action = e->action ? e->action : now->action;
}

static enum brt_code fixed_insert(struct brt *b, const struct brt_change *c, struct sk_error *err) {
    const enum brt_code code = fixed_complete(c->fixed, c->entry, err);
    return code ? code : c->fixed->functions.set(b, c->entry, err);
}

// ---- entries that name others ----

// The list of 'user' that names entries of 't'.
static size_t fixed_names(const struct fixed_table *t, const struct fixed_table *user) {
    size_t i = 0;
    while (strcmp(user->data[i].name, t->keys[0].name) != 0)
        i++;
    return i;
}

static bool fixed_is_named(const struct fixed_value *names, uint64_t key) {
    for (size_t i = 0; i < names->n; i++)
        if (names->list[i] == key)
            return true;
    return false;
}

// Calls 'fn' for each entry, in memory of 'm', that names 'e'.
static enum brt_code fixed_each_user(struct brt *b, struct brt_memory *m,
                                     const struct fixed_table *t, const struct fixed_entry *e,
                                     enum brt_code (*fn)(void *aux, const struct fixed_table *user,
                                                         struct fixed_entry *entry,
                                                         struct sk_error *err),
                                     void *aux, struct sk_error *err) {
    enum brt_code code = BRT_OK;
    for (size_t u = 0; u < 2 && t->users[u] && t->is_used(b, e); u++) {
        const struct fixed_table *user = fixed_table(b, t->users[u]);
        const size_t names = fixed_names(t, user);
        size_t n;
        const struct fixed_entry *keys = user->functions.keys(b, m, &n);
        if (!keys)
            return fixed_no_memory(err);
        for (size_t i = 0; code == BRT_OK && i < n; i++) {
            struct fixed_entry *entry = fixed_new_entry(m, user);
            if (!entry || !fixed_get(b, m, user, &keys[i], entry) || m->refused)
                return fixed_no_memory(err);
            if (fixed_is_named(&entry->data[names], e->key[0]))
                code = fn(aux, user, entry, err);
        }
    }
    return code;
}

struct fixed_removal {
    struct brt *b;
    const struct fixed_table *t;
    uint32_t key;
};

static enum brt_code fixed_forget(void *aux, const struct fixed_table *user,
                                  struct fixed_entry *entry, struct sk_error *err) {
    const struct fixed_removal *r = aux;
    struct brt_memory *m = &r->b->scratch;
    struct fixed_entry *by = fixed_new_entry(m, user);
    if (!by || !fixed_list(m, &by->data[fixed_names(r->t, user)], 1))
        return fixed_no_memory(err);
    by->data[fixed_names(r->t, user)].list[0] = r->key;
    enum brt_code code = fixed_check_lists(m, user, by, err);
    code = code ? code : fixed_increment(m, user, entry, by, true, err);
    return code ? code : user->functions.set(r->b, entry, err);
}

static enum brt_code fixed_remove_one(struct brt *b, const struct fixed_table *t,
                                      const struct fixed_entry *e, struct sk_error *err) {
    struct fixed_removal r = {.b = b, .t = t, .key = (uint32_t)e->key[0]};
    const enum brt_code code =
        t->is_used ? fixed_each_user(b, &b->scratch, t, e, fixed_forget, &r, err) : BRT_OK;
    return code ? code : t->functions.remove(b, e, err);
}

static enum brt_code fixed_remove_all(struct brt *b, const struct fixed_table *t, int pipe,
                                      struct sk_error *err) {
    size_t n;
    struct fixed_entry *keys = t->functions.keys(b, &b->scratch, &n);
    enum brt_code code = keys ? BRT_OK : fixed_no_memory(err);
    for (size_t i = 0; code == BRT_OK && i < n; i++) {
        keys[i].pipe = pipe;
        code = fixed_remove_one(b, t, &keys[i], err);
    }
    return code;
}

static enum brt_code fixed_remove(struct brt *b, const struct brt_change *c, bool there,
                                  struct sk_error *err) {
    if (!c->has_key && c->fixed->n_keys)
        return fixed_remove_all(b, c->fixed, c->entry->pipe, err);
    if (!there)
        return c->fixed->lenient ? BRT_OK : fixed_not_found(c->fixed, err);
    return fixed_remove_one(b, c->fixed, c->entry, err);
}

enum brt_code fixed_attribute_change(const struct fixed_table *t,
                                     const BfrtProto__TableAttribute *a, struct sk_error *err) {
    if (t->set_attribute && a->attribute_case == t->attribute_case)
        return BRT_OK;
    if (a->attribute_case == BFRT_PROTO__TABLE_ATTRIBUTE__ATTRIBUTE__NOT_SET)
        return brt_fail(err, BRT_INVALID_ARG, "the attribute is empty");
    return brt_fail(err, BRT_NOT_IMPLEMENTED, "table '%s': this attribute is not implemented",
                    t->name);
}

enum brt_code fixed_attribute(struct brt *b, const struct fixed_table *t,
                              const BfrtProto__TableAttribute *asked,
                              BfrtProto__TableAttribute *out, struct sk_error *err) {
    const enum brt_code code = fixed_attribute_change(t, asked, err);
    if (code)
        return code;
    out->table_id = t->id;
    return t->get_attribute(b, &b->scratch, out) ? BRT_OK : fixed_no_memory(err);
}

static enum brt_code fixed_apply_one(struct brt *b, const struct brt_change *c, bool *existed,
                                     struct sk_error *err) {
    const struct fixed_table *t = c->fixed;
    if (c->attribute)
        return t->set_attribute(b, c->attribute, err);
    struct fixed_entry *now = fixed_new_entry(&b->scratch, t);
    if (!now)
        return fixed_no_memory(err);
    const bool there =
        (c->has_key || t->n_keys == 0) && fixed_get(b, &b->scratch, t, c->entry, now);
    if (b->scratch.refused)
        return fixed_no_memory(err);
    switch (c->type) {
    case BFRT_PROTO__UPDATE__TYPE__DELETE:
        return fixed_remove(b, c, there, err);
    case BFRT_PROTO__UPDATE__TYPE__INSERT:
        if (there && !t->always)
            return brt_fail(err, BRT_ALREADY_EXISTS, "table '%s': the entry exists already",
                            t->name);
        break;
    case BFRT_PROTO__UPDATE__TYPE__INSERT_OR_MODIFY:
        *existed = there && !t->always;
        break;
    default:
        if (!there)
            return fixed_not_found(t, err);
    }
    if (!there)
        return fixed_insert(b, c, err);
    if (c->type == BFRT_PROTO__UPDATE__TYPE__MODIFY_INC) {
        const enum brt_code code = fixed_increment(&b->scratch, t, now, c->entry, c->removes, err);
        return code ? code : t->functions.set(b, now, err);
    }
    fixed_overlay(t, now, c->entry);
    return t->functions.set(b, c->entry, err);
}

// What a change is about to change, as it was.
struct fixed_saved {
    struct fixed_entry *entries;
    bool *there;
    size_t n;
    struct fixed_saved_user *users;       // entries that named those that go, the last first
    BfrtProto__TableAttribute *attribute; // null: it is entries that were changed
};
struct fixed_saved_user {
    struct fixed_saved_user *next;
    const struct fixed_table *table;
    struct fixed_entry *entry;
};

// Of a table by pipe: for each of the pipes, whose entries may differ. In '*done' stands how many
// were changed.
static enum brt_code fixed_apply_each(struct brt *b, const struct brt_change *c, bool *existed,
                                      size_t *done, struct sk_error *err) {
    enum brt_code code = BRT_OK;
    *done = 0;
    for (int pipe = 0; code == BRT_OK && pipe < (int)SK_PIPES; pipe++) {
        struct brt_change one = *c;
        one.entry = fixed_new_entry(&b->scratch, c->fixed);
        if (!one.entry)
            return fixed_no_memory(err);
        struct fixed_value *const data = one.entry->data;
        memcpy(data, c->entry->data, c->fixed->n_data * sizeof *data);
        *one.entry = *c->entry;
        one.entry->data = data;
        one.entry->pipe = pipe;
        code = fixed_apply_one(b, &one, existed, err);
        *done += code == BRT_OK;
    }
    return code;
}

// An entry is changed in all pipes or in none.
static enum brt_code fixed_apply_pipes(struct brt *b, const struct brt_change *c, bool *existed,
                                       struct sk_error *err) {
    const bool entry = c->has_key || c->fixed->n_keys == 0;
    struct fixed_saved *saved = entry ? fixed_save(b, c) : NULL;
    size_t done;
    if (entry && !saved)
        return fixed_no_memory(err);
    const enum brt_code code = fixed_apply_each(b, c, existed, &done, err);
    if (!code || !saved)
        return code;
    struct sk_error why;
    saved->n = done; // an entry of each pipe, in their order
    return fixed_put_back(b, c, saved, &why)
               ? brt_fail(err, BRT_UNEXPECTED, "the other pipes could not be put back: %.200s",
                          why.text)
               : code;
}

enum brt_code fixed_apply(struct brt *b, const struct brt_change *c, bool *existed,
                          struct sk_error *err) {
    return !c->attribute && c->fixed->by_pipe && c->entry->pipe < 0
               ? fixed_apply_pipes(b, c, existed, err)
               : fixed_apply_one(b, c, existed, err);
}

// ---- taking back ----

struct fixed_saving {
    struct brt *b;
    struct fixed_saved *saved;
};

static enum brt_code fixed_save_user(void *aux, const struct fixed_table *user,
                                     struct fixed_entry *entry, struct sk_error *err) {
    const struct fixed_saving *s = aux;
    struct fixed_saved_user *u = brt_take(&s->b->request, sizeof *u);
    if (!u)
        return fixed_no_memory(err);
    *u = (struct fixed_saved_user){s->saved->users, user, entry};
    s->saved->users = u;
    return BRT_OK;
}

static bool fixed_save_users(struct brt *b, const struct brt_change *c, struct fixed_saved *saved,
                             const struct fixed_entry *e) {
    struct fixed_saving s = {.b = b, .saved = saved};
    struct sk_error err;
    return c->type != BFRT_PROTO__UPDATE__TYPE__DELETE || !c->fixed->is_used ||
           fixed_each_user(b, &b->request, c->fixed, e, fixed_save_user, &s, &err) == BRT_OK;
}

// The entries with these keys in a pipe, or in all of them; null when memory is short.
static struct fixed_entry *fixed_by_pipe(struct brt_memory *m, const struct fixed_entry *keys,
                                         int pipe, size_t *n) {
    const size_t pipes = pipe < 0 ? SK_PIPES : 1;
    struct fixed_entry *all = brt_take(m, (*n * pipes + 1) * sizeof *all);
    for (size_t i = 0; all && i < *n * pipes; i++) {
        all[i] = keys[i / pipes];
        all[i].pipe = pipe < 0 ? (int)(i % pipes) : pipe;
    }
    *n *= pipes;
    return all;
}

struct fixed_saved *fixed_save(struct brt *b, const struct brt_change *c) {
    const struct fixed_table *t = c->fixed;
    struct fixed_saved *saved = brt_take(&b->request, sizeof *saved);
    if (!saved)
        return NULL;
    if (c->attribute) {
        saved->attribute = brt_take(&b->request, sizeof *saved->attribute);
        return saved->attribute && t->get_attribute(b, &b->request, saved->attribute) ? saved
                                                                                      : NULL;
    }
    const bool all = !c->has_key && t->n_keys;
    saved->n = 1;
    saved->entries = all ? t->functions.keys(b, &b->request, &saved->n) : c->entry;
    if (t->by_pipe && saved->entries)
        saved->entries = fixed_by_pipe(&b->request, saved->entries, c->entry->pipe, &saved->n);
    struct fixed_entry *copies = brt_take(&b->request, (saved->n + 1) * sizeof *copies);
    saved->there = brt_take(&b->request, saved->n + 1);
    if (!saved->entries || !copies || !saved->there)
        return NULL;
    for (size_t i = 0; i < saved->n; i++) {
        copies[i].data = brt_take(&b->request, (t->n_data + 1) * sizeof *copies[i].data);
        if (!copies[i].data)
            return NULL;
        saved->there[i] = fixed_get(b, &b->request, t, &saved->entries[i], &copies[i]);
        if (!fixed_save_users(b, c, saved, &saved->entries[i]))
            return NULL;
    }
    saved->entries = copies;
    return b->request.refused ? NULL : saved;
}

enum brt_code fixed_put_back(struct brt *b, const struct brt_change *c,
                             const struct fixed_saved *saved, struct sk_error *err) {
    enum brt_code code = BRT_OK;
    if (saved->attribute)
        return c->fixed->set_attribute(b, saved->attribute, err);
    for (size_t i = 0; code == BRT_OK && i < saved->n; i++) {
        struct fixed_entry *now = fixed_new_entry(&b->request, c->fixed);
        if (!now)
            return fixed_no_memory(err);
        if (saved->there[i])
            code = c->fixed->functions.set(b, &saved->entries[i], err);
        else if (fixed_get(b, &b->request, c->fixed, &saved->entries[i], now))
            code = fixed_remove_one(b, c->fixed, &saved->entries[i], err);
    }
    for (const struct fixed_saved_user *u = saved->users; code == BRT_OK && u; u = u->next)
        code = u->table->functions.set(b, u->entry, err);
    return code;
}

// ---- reads ----

static enum brt_code fixed_check_wanted(const struct fixed_table *t,
                                        const BfrtProto__TableData *wanted, struct sk_error *err) {
    for (size_t i = 0; wanted && i < wanted->n_fields; i++) {
        size_t k = 0;
        while (k < t->n_data && t->data[k].id != wanted->fields[i]->field_id)
            k++;
        if (k == t->n_data)
            return brt_fail(err, BRT_OBJECT_NOT_FOUND, "there is no data field with id %u",
                            wanted->fields[i]->field_id);
    }
    return BRT_OK;
}

struct fixed_reading {
    const struct fixed_table *t;
    const BfrtProto__TableEntry *asked;
    int pipe;
    bool key_only;
    bool (*emit)(void *aux, BfrtProto__TableEntry *out);
    void *aux;
};

// '*more' is false when no other entry is wanted.
static enum brt_code fixed_read_one(struct brt *b, const struct fixed_reading *r,
                                    const struct fixed_entry *key, bool *more,
                                    struct sk_error *err) {
    BfrtProto__TableEntry out;
    struct fixed_entry *e = fixed_new_entry(&b->scratch, r->t), asked = *key;
    if (!e)
        return fixed_no_memory(err);
    asked.pipe = r->t->by_pipe ? r->pipe : -1;
    if (!fixed_get(b, &b->scratch, r->t, &asked, e))
        return b->scratch.refused ? fixed_no_memory(err) : fixed_not_found(r->t, err);
    if (!fixed_message(&b->scratch, r->t, e, r->asked->data, r->key_only, &out))
        return fixed_no_memory(err);
    out.entry_tgt = r->asked->entry_tgt;
    *more = r->emit(r->aux, &out);
    return BRT_OK;
}

static enum brt_code fixed_read_all(struct brt *b, const struct fixed_reading *r,
                                    struct sk_error *err) {
    size_t n;
    bool more = true;
    // not in the scratch, which each entry uses anew
    const struct fixed_entry *keys = r->t->functions.keys(b, &b->request, &n);
    enum brt_code code = keys ? BRT_OK : fixed_no_memory(err);
    for (size_t i = 0; code == BRT_OK && more && i < n; i++)
        code = fixed_read_one(b, r, &keys[i], &more, err);
    return code;
}

enum brt_code fixed_read(struct brt *b, const struct fixed_table *t, const BfrtProto__TableEntry *e,
                         int pipe, bool key_only,
                         bool (*emit)(void *aux, BfrtProto__TableEntry *out), void *aux,
                         struct sk_error *err) {
    const struct fixed_reading r = {
        .t = t, .asked = e, .pipe = pipe, .key_only = key_only, .emit = emit, .aux = aux};
    struct fixed_entry key = {.key = {0}};
    bool more;
    enum brt_code code = fixed_check_served(t, false, err);
    code = code ? code : fixed_check_wanted(t, e->data, err);
    if (code)
        return code;
    if (e->value_case == BFRT_PROTO__TABLE_ENTRY__VALUE_HANDLE_ID)
        return brt_fail(err, BRT_NOT_SUPPORTED, "table '%s' has no handles", t->name);
    if (e->is_default_entry && t->n_keys)
        return brt_fail(err, BRT_NOT_SUPPORTED, "table '%s' has no default entry", t->name);
    if (t->one_pipe && pipe < 0)
        return brt_fail(err, BRT_INVALID_ARG, "table '%s': the target must be one pipe", t->name);
    if (e->value_case != BFRT_PROTO__TABLE_ENTRY__VALUE_KEY && t->n_keys)
        return fixed_read_all(b, &r, err);
    key.pipe = pipe;
    code = e->value_case == BFRT_PROTO__TABLE_ENTRY__VALUE_KEY ? fixed_key(t, e->key, &key, err)
                                                               : BRT_OK;
    code = code ? code : fixed_check_entry(b, t, &key, err);
    return code ? code : fixed_read_one(b, &r, &key, &more, err);
}

enum brt_code fixed_usage(struct brt *b, const struct fixed_table *t, uint32_t *usage,
                          struct sk_error *err) {
    size_t n;
    const enum brt_code code = fixed_check_served(t, false, err);
    if (code || t->n_keys == 0)
        return code ? code : brt_fail(err, BRT_NOT_SUPPORTED, "table '%s' has no usage", t->name);
    if (!t->functions.keys(b, &b->scratch, &n))
        return fixed_no_memory(err);
    *usage = (uint32_t)n;
    return BRT_OK;
}
