// SPDX-License-Identifier: Apache-2.0
#include "control/socket/requests_impl.h"

#include <stdlib.h>
#include <string.h>

#include "control/tables/values.h"

json_t *sk_describe_table(const struct request *r, const struct sk_object *o) {
    const struct sk_table_desc *d = o->desc->tables[o->index];
    static const char *const kinds[] = {"exact", "ternary", "lpm", "range"};
    json_t *keys = json_array(), *actions = json_array();
    for (uint32_t i = 0; i < d->n_keys; i++)
        json_array_append_new(keys,
                              json_pack("{s:s, s:i, s:s}", "name", d->keys[i].name, "width",
                                        (int)d->keys[i].width, "match", kinds[d->keys[i].match]));
    for (uint32_t i = 0; i < d->n_actions; i++) {
        const struct sk_action_desc *a = d->actions[i];
        json_t *params = json_array();
        for (uint32_t j = 0; j < a->n_params; j++)
            json_array_append_new(params, json_pack("{s:s, s:i}", "name", a->params[j].name,
                                                    "width", (int)a->params[j].width));
        json_array_append_new(actions, json_pack("{s:s, s:o}", "name", a->name, "params", params));
    }
    json_t *counts = json_array();
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
        if (sk_object_in_pipe(r->sw, o, pipe))
            json_array_append_new(counts, json_integer((json_int_t)sk_table_count(o->desc->table(
                                              sk_switch_pipe(r->sw, pipe), o->index))));
    return json_pack("{s:s, s:I, s:o, s:b, s:b, s:o, s:o}", "name", d->name, "size",
                     (json_int_t)d->size, "entries", counts, "const", d->const_entries, "hidden",
                     d->hidden, "keys", keys, "actions", actions);
}

struct dump {
    const struct sk_table_desc *desc;
    size_t at, from, n;
    const struct sk_entry *entries[SK_PAGE];
    struct sk_entry_copy copies[SK_PAGE + 1]; // the last: of the default entry
    uint64_t *direct;
    uint64_t now;
};

static void set_counts(json_t *out, const struct sk_table_desc *d, const struct sk_entry *e) {
    sk_set_number(out, "hits", sk_entry_hits(e));
    if (d->has_counter && d->counter_type != 1)
        sk_set_number(out, "packets", e->packets);
    if (d->has_counter && d->counter_type != 0)
        sk_set_number(out, "bytes", e->bytes);
}

static json_t *action_json(const struct sk_table_desc *d, const struct sk_entry *e) {
    const struct sk_action_desc *a = d->actions[e->action];
    json_t *args = json_object(), *out;
    if (a->refers) {
        json_decref(args);
        out = json_pack("{s:I}", a->refers == SK_REFERS_MEMBER ? "member" : "group",
                        (json_int_t)e->data[0]);
        set_counts(out, d, e);
        return out;
    }
    for (uint32_t i = 0, word = 0; i < a->n_params; word += sk_words(a->params[i++].width))
        json_object_set_new(args, a->params[i].name, sk_value_text(&a->params[i], e->data + word));
    out = json_pack("{s:s, s:o}", "action", a->name, "args", args);
    set_counts(out, d, e);
    return out;
}

static bool find_page(void *aux, const struct sk_entry *e) {
    struct dump *d = aux;
    if (d->at++ >= d->from)
        d->entries[d->n++] = e;
    return d->n < SK_PAGE;
}

static void copy_page(const struct request *r, struct dump *d, struct sk_table *t) {
    const uint32_t words = d->desc->direct_words;
    sk_pauses_begin(r->pauses);
    d->now = sk_switch_now(r->sw);
    for (size_t i = 0; i < d->n; i++)
        sk_entry_copy(&d->copies[i], d->entries[i], d->direct + i * words, words);
    sk_entry_copy(&d->copies[d->n], sk_table_default(t), d->direct + d->n * words, words);
    sk_pauses_end(r->pauses);
}

static json_t *entry_json(const struct dump *d, const struct sk_entry *e) {
    json_t *key = json_object();
    for (uint32_t i = 0, word = 0; i < d->desc->n_keys;
         word += sk_words(d->desc->keys[i++].width)) {
        char text[2800];
        sk_key_format(text, sizeof text, &d->desc->keys[i], e->value + word, e->mask + word);
        json_object_set_new(key, d->desc->keys[i].name, json_string(text));
    }
    json_t *entry = action_json(d->desc, e);
    if (d->desc->meter_kind || d->desc->idle_timeout)
        json_object_set_new(entry, "data", sk_entry_data_json(d->desc, e, d->now));
    json_object_set_new(entry, "key", key);
    json_object_set_new(entry, "priority", json_integer(e->priority));
    json_object_set_new(entry, "const", json_boolean(e->is_const));
    return entry;
}

struct twins {
    const struct sk_table_desc *desc;
    struct sk_table *other;
    size_t at, from, to; // the entries that are compared
    bool same;
};

static bool requests_table_same_action(const struct sk_table_desc *d, const struct sk_entry *a,
                                       const struct sk_entry *b) {
    return a->action == b->action &&
           memcmp(a->data, b->data, d->actions[a->action]->data_words * sizeof *a->data) == 0;
}

static bool has_twin(void *aux, const struct sk_entry *e) {
    struct twins *t = aux;
    if (t->at++ < t->from)
        return true;
    const struct sk_entry *other = sk_table_find(t->other, e->value, e->mask, e->priority);
    t->same = other && requests_table_same_action(t->desc, e, other);
    return t->same && t->at < t->to;
}

// The pipes that lack one of the entries from 'from' up to 'to' of 'pipe', or have another number
// of entries or another default action. Counts do not matter.
static json_t *pipes_that_differ(const struct request *r, const struct sk_object *o, unsigned pipe,
                                 size_t from, size_t to) {
    struct sk_table *shown = o->desc->table(sk_switch_pipe(r->sw, pipe), o->index);
    json_t *list = json_array();
    for (unsigned i = 0; i < SK_PIPES; i++) {
        if (i == pipe || !sk_object_in_pipe(r->sw, o, i))
            continue;
        struct twins t = {.desc = o->desc->tables[o->index],
                          .other = o->desc->table(sk_switch_pipe(r->sw, i), o->index),
                          .from = from,
                          .to = to};
        t.same =
            sk_table_count(shown) == sk_table_count(t.other) &&
            requests_table_same_action(t.desc, sk_table_default(shown), sk_table_default(t.other));
        if (t.same && from < to)
            sk_table_each(shown, has_twin, &t);
        if (!t.same)
            json_array_append_new(list, json_integer(i));
    }
    return list;
}

static json_t *dump_page(const struct request *r, const struct sk_object *o, unsigned pipe,
                         struct dump *d) {
    struct sk_table *t = o->desc->table(sk_switch_pipe(r->sw, pipe), o->index);
    json_t *entries = json_array();
    sk_table_each(t, find_page, d);
    copy_page(r, d, t);
    for (size_t i = 0; i < d->n; i++)
        json_array_append_new(entries, entry_json(d, &d->copies[i].entry));
    json_t *result = sk_describe(r, o);
    json_object_set_new(result, "pipe", json_integer(pipe));
    json_object_set_new(result, "default", action_json(d->desc, &d->copies[d->n].entry));
    json_object_set_new(result, "entries", entries);
    json_object_set_new(result, "differ", pipes_that_differ(r, o, pipe, d->from, d->from + d->n));
    if (d->from + d->n < sk_table_count(t))
        sk_set_number(result, "next", d->from + d->n);
    return result;
}

json_t *sk_request_table_dump(const struct request *r) {
    static const char *const keys[] = {"op", "table", "pipe", "from", NULL};
    struct sk_object o;
    unsigned pipe;
    sk_at_keys(r->at, keys);
    const char *name = sk_member_string(r, "table");
    size_t from = sk_member_number(r, "from", false, INT64_MAX);
    int wanted = sk_at_pipe(r->at);
    if (!good(r))
        return NULL;
    if (sk_find_object(r->sw, SK_TABLE, name, &o, r->err) || !sk_request_pipe(r, &o, wanted, &pipe))
        return requests_failed(r);
    struct dump *d = calloc(1, sizeof *d);
    if (!d)
        abort();
    d->desc = o.desc->tables[o.index];
    d->from = from;
    d->direct = calloc(SK_PAGE + 1, (d->desc->direct_words + 1) * sizeof *d->direct);
    if (!d->direct)
        abort();
    json_t *result = dump_page(r, &o, pipe, d);
    free(d->direct);
    free(d);
    return result;
}

static json_t *change_entry(const struct request *r, unsigned parts,
                            int (*call)(struct sk_switch *, const struct sk_entry_spec *,
                                        struct sk_error *)) {
    struct sk_entry_spec e;
    sk_at_entry(r->at, parts | SK_AT_OP, &e);
    return good(r) ? requests_done(r, call(r->sw, &e, r->err)) : NULL;
}

json_t *sk_request_table_add(const struct request *r) {
    return change_entry(r, SK_AT_KEY | SK_AT_ACTION, sk_control_entry_add);
}

json_t *sk_request_table_modify(const struct request *r) {
    return change_entry(r, SK_AT_KEY | SK_AT_ACTION, sk_control_entry_modify);
}

json_t *sk_request_table_delete(const struct request *r) {
    return change_entry(r, SK_AT_KEY, sk_control_entry_delete);
}

json_t *sk_request_table_default(const struct request *r) {
    return change_entry(r, SK_AT_ACTION, sk_control_default_set);
}

static int requests_table_reset(struct sk_switch *sw, const struct sk_entry_spec *e,
                                struct sk_error *err) {
    return sk_control_default_reset(sw, e->table, e->pipe, err);
}

json_t *sk_request_table_default_reset(const struct request *r) {
    return change_entry(r, 0, requests_table_reset);
}

json_t *sk_request_table_clear(const struct request *r) {
    struct sk_entry_spec e;
    sk_at_entry(r->at, SK_AT_OP, &e);
    return good(r)
               ? requests_done(r, sk_control_table_clear(r->sw, r->pauses, e.table, e.pipe, r->err))
               : NULL;
}
