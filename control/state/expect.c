// SPDX-License-Identifier: Apache-2.0
#include "control/state/expect.h"

#include <stdlib.h>
#include <string.h>

#include "control/tables/direct.h"
#include "control/tables/values.h"

#define MOST_MEMBERS 12

// By what an item is said, and what else it has.
static const struct {
    const char *identity[6];
    const char *facts[9];
} sections[STATE_SECTIONS] = {
    [STATE_REGISTERS] = {{"name", "pipe", "index", "key", "priority", "default"},
                         {"value", "otherwise"}},
    [STATE_COUNTERS] = {{"name", "pipe", "index", "key", "priority", "default"},
                        {"packets", "bytes"}},
    [STATE_HITS] = {{"table", "pipe", "key", "priority", "default"}, {"hits", "last_hit"}},
    [STATE_ENTRIES] = {{"table", "pipe", "key", "priority"}, {"action", "args", "member", "group"}},
    [STATE_MEMBERS] = {{"profile", "pipe", "id"}, {"action", "args"}},
    [STATE_GROUPS] = {{"selector", "pipe", "id"}, {"max_size", "members"}},
    [STATE_SELECTOR_BITS] = {{"selector", "pipe", "id"}, {"live"}},
    [STATE_DEFAULTS] = {{"table", "pipe"}, {"action", "args", "member", "group"}},
    [STATE_VALUE_SETS] = {{"name", "pipe", "key"}, {NULL}},
    [STATE_METERS] = {{"name", "pipe", "index", "key", "priority", "default"}, {"spec"}},
    [STATE_METER_STATES] = {{"name", "pipe", "index", "key", "priority", "default"},
                            {"committed", "peak", "value", "last"}},
    [STATE_AGEING] = {{"table", "pipe", "key", "priority", "default"}, {"ttl_ms", "active"}},
    [STATE_DROPS] = {{"reason"}, {"packets"}},
    [STATE_PORTS] = {{"port"}, {"received", "sent", "dropped"}},
    [STATE_SWITCH] = {{NULL},
                      {"received", "sent", "copies", "recirculated", "resubmitted", "mirrored",
                       "generated", "digests"}},
};

bool state_is_identity(enum state_section s, const char *key) {
    for (size_t i = 0; i < sizeof sections->identity / sizeof *sections->identity; i++)
        if (sections[s].identity[i] && strcmp(sections[s].identity[i], key) == 0)
            return true;
    return false;
}

struct reader {
    const struct sk_at *at;
    enum state_section section;
    struct sk_switch *sw;
    struct sk_error err;
    json_t *identity;
};

static void check_members(const struct reader *r) {
    const char *keys[MOST_MEMBERS + 4];
    size_t n = 0;
    for (size_t i = 0; i < 6 && sections[r->section].identity[i]; i++)
        keys[n++] = sections[r->section].identity[i];
    for (size_t i = 0; i < 9 && sections[r->section].facts[i]; i++)
        keys[n++] = sections[r->section].facts[i];
    keys[n] = NULL;
    if (!json_is_object(r->at->value))
        sk_at_fail(r->at, "it must be an object");
    sk_at_keys(r->at, keys);
}

static bool state_expect_has(const struct reader *r, const char *key) {
    return json_object_get(r->at->value, key) != NULL;
}

static void state_expect_fail(struct reader *r, const char *key) {
    struct sk_at at = sk_at_member(r->at, key);
    sk_at_fail(at.value ? &at : r->at, "%s", r->err.text);
}

static void state_expect_set_number(struct reader *r, const char *key, uint64_t most) {
    struct sk_at at = sk_at_member(r->at, key);
    json_object_set_new(r->identity, key, state_number(sk_at_number(&at, true, most)));
}

static bool state_expect_find(struct reader *r, const char *key, enum sk_object_kind kind,
                              struct sk_object *o) {
    struct sk_at at = sk_at_member(r->at, key);
    const char *name = sk_at_string(&at, true);
    if (r->at->doc->failed)
        return false;
    if (sk_find_object(r->sw, kind, name, o, &r->err)) {
        state_expect_fail(r, key);
        return false;
    }
    json_object_set_new(r->identity, key, json_string(sk_object_name(o)));
    return true;
}

// "pipe", which must be there when 'must', and must have the object.
static void read_pipe(struct reader *r, const struct sk_object *o, bool must) {
    struct sk_at at = sk_at_member(r->at, "pipe");
    struct sk_pipe_list pipes;
    if (!at.value && !must)
        return;
    int pipe = (int)sk_at_number(&at, true, SK_PIPES - 1);
    if (r->at->doc->failed)
        return;
    if (sk_find_pipes(r->sw, o, pipe, &pipes, &r->err))
        state_expect_fail(r, "pipe");
    json_object_set_new(r->identity, "pipe", json_integer(pipe));
}

// ---- keys ---------------------------------------------------------------------------------------

static const char *state_expect_member_of(struct reader *r, const struct sk_at *key,
                                          const struct sk_field_desc *fields, uint32_t n,
                                          uint32_t field, bool *used) {
    const char *name, *text = NULL;
    json_t *value;
    size_t i = 0;
    json_object_foreach(key->value, name, value) {
        int at = sk_find_field("key field", fields, n, name, &r->err);
        if (at < 0)
            state_expect_fail(r, "key");
        if (at == (int)field && text)
            sk_at_fail(key, "key field '%s' is given twice", fields[field].name);
        if (at == (int)field) {
            struct sk_at member = sk_at_member(key, name);
            text = sk_at_text(&member);
            *used = true;
        }
        i++;
    }
    return text;
}

static void state_expect_read_key(struct reader *r, const struct sk_table_desc *d) {
    struct sk_at at = sk_at_member(r->at, "key");
    uint64_t value[SK_MAX_KEY_WORDS] = {0}, mask[SK_MAX_KEY_WORDS] = {0};
    if (!json_is_object(at.value))
        sk_at_fail(&at, "it must be an object: {\"field\": value, ...}");
    if (d->n_keys == 0)
        sk_at_fail(&at, "table '%s' has no key", d->name);
    for (uint32_t i = 0, word = 0; i < d->n_keys && !r->at->doc->failed;
         word += sk_words(d->keys[i++].width)) {
        const struct sk_field_desc *f = &d->keys[i];
        bool used = false;
        const char *text = state_expect_member_of(r, &at, d->keys, d->n_keys, i, &used);
        if (r->at->doc->failed)
            return;
        if (!used && !sk_key_any(f, value + word, mask + word))
            sk_at_fail(&at, "key field '%s' is missing; an exact key must be given", f->name);
        else if (used && sk_key_parse(text, f, value + word, mask + word, &r->err))
            sk_at_fail(&at, "key field '%s': %s", f->name, r->err.text);
    }
    if (!r->at->doc->failed)
        json_object_set_new(r->identity, "key", state_key(d, value, mask));
}

// Which entry of a table: its key and priority, or the default one.
static void read_entry(struct reader *r, const struct sk_table_desc *d) {
    struct sk_at def = sk_at_member(r->at, "default");
    if (def.value && (!json_is_true(def.value) || state_expect_has(r, "key")))
        sk_at_fail(&def, "it can only be true, in place of a key");
    if (def.value) {
        json_object_set_new(r->identity, "default", json_true());
        return;
    }
    state_expect_read_key(r, d);
    if (state_takes_priority(d))
        state_expect_set_number(r, "priority", INT64_MAX);
    else if (state_expect_has(r, "priority"))
        sk_at_fail(r->at, "table '%s' has no ternary or range key, so no priority", d->name);
}

// ---- objects ------------------------------------------------------------------------------------

static void read_direct_register(struct reader *r) {
    struct sk_at at = sk_at_member(r->at, "name");
    const char *name = sk_at_string(&at, true);
    struct sk_direct d;
    struct sk_object table;
    if (r->at->doc->failed)
        return;
    if (sk_control_direct_find(r->sw, name, NULL, &d, &r->err) ||
        sk_find_object(r->sw, SK_TABLE, d.table, &table, &r->err)) {
        state_expect_fail(r, "name");
        return;
    }
    json_object_set_new(r->identity, "name",
                        json_stringn(d.field->name, state_register_length(d.field->name)));
    read_pipe(r, &table, true);
    read_entry(r, table.desc->tables[table.index]);
}

static void read_direct(struct reader *r, const struct sk_object *o, bool direct, uint32_t table) {
    if (!direct)
        sk_at_fail(r->at, "'%s' has cells with an index, not in a table's entries",
                   sk_object_name(o));
    read_pipe(r, o, true);
    if (!r->at->doc->failed)
        read_entry(r, o->desc->tables[table]);
}

static void read_index(struct reader *r, const struct sk_object *o, uint64_t size) {
    read_pipe(r, o, r->section != STATE_METERS);
    if (size == 0)
        sk_at_fail(r->at, "'%s' has no cells with an index", sk_object_name(o));
    else
        state_expect_set_number(r, "index", size - 1);
}

static void state_expect_read_cell(struct reader *r, enum sk_object_kind kind) {
    struct sk_object o;
    bool in_entry = state_expect_has(r, "key") || state_expect_has(r, "default");
    if (in_entry && state_expect_has(r, "index"))
        sk_at_fail(r->at, "it has \"index\" or \"key\", not both");
    if (in_entry && kind == SK_REGISTER) {
        read_direct_register(r);
        return;
    }
    if (!state_expect_find(r, "name", kind, &o))
        return;
    if (kind == SK_REGISTER && state_expect_has(r, "otherwise")) {
        if (state_expect_has(r, "pipe") || state_expect_has(r, "index") ||
            state_expect_has(r, "value"))
            sk_at_fail(r->at,
                       "\"otherwise\" applies to all cells that are not listed, in all pipes");
        return;
    }
    const struct sk_counter_desc *c = kind == SK_COUNTER ? &o.desc->counters[o.index] : NULL;
    const struct sk_meter_desc *m = kind == SK_METER_OBJECT ? &o.desc->meters[o.index] : NULL;
    if (in_entry)
        read_direct(r, &o, c ? c->direct : m->direct, c ? c->table : m->table);
    else
        read_index(r, &o, c ? c->size : m ? m->size : o.desc->registers[o.index].size);
}

static void read_table(struct reader *r, bool pipe_must, bool entry) {
    struct sk_object o;
    if (!state_expect_find(r, "table", SK_TABLE, &o))
        return;
    read_pipe(r, &o, pipe_must);
    if (entry && !r->at->doc->failed)
        read_entry(r, o.desc->tables[o.index]);
}

static void state_expect_read_value_set(struct reader *r) {
    struct sk_object o;
    if (!state_expect_find(r, "name", SK_VALUE_SET, &o))
        return;
    read_pipe(r, &o, false);
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
        if (sk_object_in_pipe(r->sw, &o, pipe)) {
            state_expect_read_key(
                r, sk_table_desc(o.desc->value_set(sk_switch_pipe(r->sw, pipe), o.index)));
            return;
        }
}

static void read_numbered(struct reader *r, const char *key, enum sk_object_kind kind,
                          bool pipe_must) {
    struct sk_object o;
    if (!state_expect_find(r, key, kind, &o))
        return;
    read_pipe(r, &o, pipe_must);
    state_expect_set_number(r, "id", UINT32_MAX);
}

static void read_reason(struct reader *r) {
    struct sk_at at = sk_at_member(r->at, "reason");
    const char *text = sk_at_string(&at, true);
    bool known = false;
    for (unsigned i = 0; i < SK_DROP_COUNT; i++)
        known |= strcmp(text, sk_drop_text((enum sk_drop_reason)i)) == 0;
    if (!known)
        sk_at_fail(&at, "there is no drop reason '%s'", text);
    json_object_set_new(r->identity, "reason", json_string(text));
}

json_t *state_identity(const struct sk_at *item, enum state_section s, struct sk_switch *sw) {
    struct reader r = {.at = item, .section = s, .sw = sw, .identity = json_object()};
    check_members(&r);
    if (item->doc->failed) {
        json_decref(r.identity);
        return NULL;
    }
    switch (s) {
    case STATE_REGISTERS:
        state_expect_read_cell(&r, SK_REGISTER);
        break;
    case STATE_COUNTERS:
        state_expect_read_cell(&r, SK_COUNTER);
        break;
    case STATE_METERS:
    case STATE_METER_STATES:
        state_expect_read_cell(&r, SK_METER_OBJECT);
        break;
    case STATE_HITS:
    case STATE_AGEING:
        read_table(&r, true, true);
        break;
    case STATE_ENTRIES:
        read_table(&r, false, true);
        break;
    case STATE_DEFAULTS:
        read_table(&r, false, false);
        break;
    case STATE_MEMBERS:
        read_numbered(&r, "profile", SK_TABLE, false);
        break;
    case STATE_GROUPS:
    case STATE_SELECTOR_BITS:
        read_numbered(&r, "selector", SK_SELECTOR, s == STATE_SELECTOR_BITS);
        break;
    case STATE_VALUE_SETS:
        state_expect_read_value_set(&r);
        break;
    case STATE_DROPS:
        read_reason(&r);
        break;
    case STATE_PORTS:
        state_expect_set_number(&r, "port", SK_PORTS - 1);
        break;
    case STATE_SWITCH:
    case STATE_SECTIONS:
        break;
    }
    if (!item->doc->failed)
        return r.identity;
    json_decref(r.identity);
    return NULL;
}
