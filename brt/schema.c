// SPDX-License-Identifier: Apache-2.0
#include "brt/schema.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "brt/brt_impl.h"

struct brt_schema {
    json_t *root; // has all names
    const struct sk_switch *sw;
    struct brt_table *tables; // n of them, by id
    struct brt_table_state *states;
    struct schema_copy {
        uint64_t *of[SK_PIPES];
    } * copies;
    size_t n;
    struct brt_learn *learns;
    size_t n_learns;
};

// ---- fields ----

static const char *schema_string(const json_t *o, const char *key) {
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : "";
}

static uint64_t schema_number(const json_t *o, const char *key) {
    return (uint64_t)json_number_value(json_object_get(o, key));
}

static void schema_type(const json_t *type, struct brt_field *f) {
    static const struct {
        const char *name;
        enum brt_type type;
        uint32_t width;
    } types[] = {
        {"bytes", BRT_STREAM, 0},   {"uint8", BRT_STREAM, 8},   {"uint16", BRT_STREAM, 16},
        {"uint32", BRT_STREAM, 32}, {"uint64", BRT_STREAM, 64}, {"float", BRT_FLOAT, 0},
        {"string", BRT_STRING, 0},  {"bool", BRT_BOOL, 0},
    };
    const char *name = schema_string(type, "type");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(name, types[i].name) == 0) {
            f->type = types[i].type;
            f->width = types[i].width ? types[i].width : (uint32_t)schema_number(type, "width");
        }
}

// The default values of this schema are small, or 64 ones: above them there is no double.
static void schema_default(const json_t *type, struct brt_field *f) {
    const json_t *value = json_object_get(type, "default_value");
    const double number = json_number_value(value);
    f->has_default = json_is_number(value);
    f->dflt = number >= 18446744073709551615.0 ? UINT64_MAX : (uint64_t)number;
}

static struct brt_field schema_field(const json_t *o, bool read_only) {
    struct brt_field f = {.id = (uint32_t)schema_number(o, "id"),
                          .name = schema_string(o, "name"),
                          .repeated = json_is_true(json_object_get(o, "repeated")),
                          .read_only = read_only,
                          .meaning = BRT_OTHER};
    schema_type(json_object_get(o, "type"), &f);
    schema_default(json_object_get(o, "type"), &f);
    return f;
}

static void schema_append(struct brt_field **fields, size_t *n, struct brt_field f) {
    *fields = sk_resize(*fields, *n + 1, sizeof f);
    (*fields)[(*n)++] = f;
}

static void schema_read_members(const json_t *list, struct brt_field *f) {
    for (size_t i = 0; i < json_array_size(list); i++)
        schema_append(&f->members, &f->n_members,
                      schema_field(json_object_get(json_array_get(list, i), "singleton"), false));
}

// A data field that belongs to no action: one, or one of several of which an entry has one.
static void schema_read_common(const json_t *item, struct brt_table *t) {
    const bool read_only = json_is_true(json_object_get(item, "read_only"));
    const json_t *one = json_object_get(item, "singleton"), *list = json_object_get(item, "oneof");
    if (one) {
        schema_append(&t->data, &t->n_data, schema_field(one, read_only));
        schema_read_members(json_object_get(one, "container"), &t->data[t->n_data - 1]);
    }
    for (size_t i = 0; i < json_array_size(list); i++)
        schema_append(&t->data, &t->n_data, schema_field(json_array_get(list, i), read_only));
}

static void schema_read_fields(const json_t *list, struct brt_field **fields, size_t *n) {
    for (size_t i = 0; i < json_array_size(list); i++)
        schema_append(fields, n, schema_field(json_array_get(list, i), false));
}

static void schema_read_actions(const json_t *list, struct brt_table *t) {
    t->n_actions = json_array_size(list);
    t->actions = calloc(t->n_actions + 1, sizeof *t->actions);
    if (!t->actions)
        abort();
    for (size_t i = 0; i < t->n_actions; i++) {
        const json_t *o = json_array_get(list, i);
        struct brt_action *a = &t->actions[i];
        a->id = (uint32_t)schema_number(o, "id");
        a->name = schema_string(o, "name");
        schema_read_fields(json_object_get(o, "data"), &a->fields, &a->n);
    }
}

// ---- what the switch has ----

static void schema_places(struct brt_field *fields, size_t n, const struct sk_field_desc *descs,
                          enum brt_meaning meaning) {
    for (uint32_t i = 0, word = 0; i < n; word += sk_words(descs[i++].width)) {
        fields[i].meaning = meaning;
        fields[i].index = i;
        fields[i].word = word;
    }
}

static bool schema_same(const struct brt_field *fields, size_t n, const struct sk_field_desc *descs,
                        uint32_t n_descs) {
    bool same = n == n_descs;
    for (size_t i = 0; same && i < n; i++)
        same = fields[i].type == BRT_STREAM && fields[i].width == descs[i].width;
    return same;
}

static int schema_join_key(struct brt_table *t, const struct sk_field_desc *keys, uint32_t n_keys,
                           struct sk_error *err) {
    size_t n = t->n_keys;
    if (n > 0 && strcmp(t->keys[n - 1].name, "$MATCH_PRIORITY") == 0)
        t->keys[--n].meaning = BRT_PRIORITY;
    if (!schema_same(t->keys, n, keys, n_keys))
        return sk_fail(err, "the schema's key of table '%s' is not the program's", t->name);
    schema_places(t->keys, n, keys, BRT_KEY);
    return 0;
}

static int schema_join_action(struct brt_table *t, struct brt_action *a, struct sk_error *err) {
    const int index = sk_find_action(t->desc, a->name, err);
    if (index < 0)
        return index;
    const struct sk_action_desc *d = t->desc->actions[index];
    a->index = (uint32_t)index;
    if (!schema_same(a->fields, a->n, d->params, d->n_params))
        return sk_fail(err, "the schema's action '%s' of table '%s' is not the program's", a->name,
                       t->name);
    schema_places(a->fields, a->n, d->params, BRT_ARGUMENT);
    return 0;
}

// Of a match table: by name; what is none of these is a cell of a direct register.
static int schema_join_data(struct brt_table *t, struct sk_error *err) {
    for (size_t i = 0; i < t->n_data; i++) {
        struct brt_field *f = &t->data[i];
        if (strcmp(f->name, "$ACTION_MEMBER_ID") == 0)
            f->meaning = BRT_MEMBER;
        else if (strcmp(f->name, "$SELECTOR_GROUP_ID") == 0)
            f->meaning = BRT_GROUP;
        else if (f->name[0] == '$')
            f->meaning = BRT_ATTACHED;
        else {
            const int word = sk_find_field("data field", t->desc->direct_fields,
                                           t->desc->direct_words, f->name, err);
            if (word < 0)
                return word;
            f->meaning = BRT_CELL;
            f->index = (uint32_t)word;
        }
    }
    return 0;
}

static int schema_join_match(const struct brt_schema *s, struct brt_table *t,
                             struct sk_error *err) {
    if (sk_find_object(s->sw, SK_TABLE, t->name, &t->object, err))
        return -1;
    t->desc = t->object.desc->tables[t->object.index];
    int rc = schema_join_key(t, t->desc->keys, t->desc->n_keys, err);
    for (size_t i = 0; rc == 0 && i < t->n_actions; i++)
        rc = schema_join_action(t, &t->actions[i], err);
    return rc ? rc : schema_join_data(t, err);
}

static int schema_join_value_set(const struct brt_schema *s, struct brt_table *t,
                                 struct sk_error *err) {
    if (sk_find_object(s->sw, SK_VALUE_SET, t->name, &t->object, err))
        return -1;
    const struct sk_value_set_desc *d = &t->object.desc->value_sets[t->object.index];
    return schema_join_key(t, d->keys, d->n_keys, err);
}

static uint64_t schema_cells(const struct brt_table *t) {
    const struct sk_pipeline_desc *d = t->object.desc;
    return t->kind == BRT_COUNTER ? d->counters[t->object.index].size
           : t->kind == BRT_METER ? d->meters[t->object.index].size
                                  : d->registers[t->object.index].size;
}

static int schema_join_cells(const struct brt_schema *s, struct brt_table *t,
                             struct sk_error *err) {
    const enum sk_object_kind kind = t->kind == BRT_COUNTER ? SK_COUNTER
                                     : t->kind == BRT_METER ? SK_METER_OBJECT
                                                            : SK_REGISTER;
    if (sk_find_object(s->sw, kind, t->name, &t->object, err))
        return -1;
    if (t->size > schema_cells(t) || t->n_keys != (t->kind == BRT_PARAM ? 0 : 1))
        return sk_fail(err, "the schema's table '%s' is not the program's", t->name);
    for (size_t i = 0; i < t->n_data; i++) {
        t->data[i].meaning = kind == SK_REGISTER ? BRT_CELL : BRT_ATTACHED;
        t->data[i].index = (uint32_t)i;
    }
    return 0;
}

// The table of a selector's groups, or the one that says what a hash chooses in one.
static int schema_join_selector(const struct brt_schema *s, struct brt_table *t,
                                struct sk_error *err) {
    static const char ending[] = "_get_member";
    const bool chooses = t->kind == BRT_GET_MEMBER;
    char *name = sk_copy_text(t->name);
    const size_t n = strlen(name), end = sizeof ending - 1;
    if (chooses && n > end)
        name[n - end] = 0;
    const int rc = sk_find_object(s->sw, SK_SELECTOR, name, &t->object, err);
    free(name);
    if (rc == 0 && (t->n_keys != (chooses ? 2 : 1) || t->n_data < 1))
        return sk_fail(err, "the schema's table '%s' is not the program's", t->name);
    return rc;
}

// "PIPELINE.PARSER.$PORT_METADATA", "PIPELINE.snapshot.cfg"
static int schema_join_pipeline(const struct brt_schema *s, struct brt_table *t,
                                struct sk_error *err) {
    const struct sk_program_desc *d = sk_switch_program(s->sw);
    const size_t n = strcspn(t->name, ".");
    for (uint32_t i = 0; i < d->n_pipelines; i++)
        if (strlen(d->pipelines[i]->name) == n && memcmp(d->pipelines[i]->name, t->name, n) == 0)
            t->object = (struct sk_object){.pipeline = i, .desc = d->pipelines[i]};
    if (!t->object.desc || t->n_keys != (t->kind == BRT_SNAPSHOT ? 2 : 1) || t->n_data == 0)
        return sk_fail(err, "the schema's table '%s' is not the program's", t->name);
    return 0;
}

static int schema_hash_field(struct brt_field *f, const struct sk_hash_desc *d,
                             struct sk_error *err) {
    for (uint32_t i = 0; i < d->n_fields; i++)
        if (strcmp(d->fields[i].name, f->name) == 0) {
            f->index = i;
            return 0;
        }
    return sk_fail(err, "hash '%s' has no field '%s', which its schema has", d->name, f->name);
}

// "HASH.configure" and the two others.
static int schema_join_hash(const struct brt_schema *s, struct brt_table *t, struct sk_error *err) {
    char *name = sk_copy_text(t->name), *end = strrchr(name, '.');
    if (end)
        *end = 0;
    int rc = sk_find_object(s->sw, SK_HASH, name, &t->object, err);
    free(name);
    if (rc)
        return rc;
    const struct sk_hash_desc *d = &t->object.desc->hashes[t->object.index];
    const bool computes = t->kind == BRT_HASH_COMPUTE, configures = t->kind == BRT_HASH_FIELDS;
    for (size_t i = 0; rc == 0 && computes && i < t->n_keys; i++)
        rc = schema_hash_field(&t->keys[i], d, err);
    for (size_t i = 0; rc == 0 && configures && i < t->n_data; i++)
        rc = schema_hash_field(&t->data[i], d, err);
    return rc;
}

static int schema_join(const struct brt_schema *s, struct brt_table *t, struct sk_error *err) {
    t->object_name = t->name;
    switch (t->kind) {
    case BRT_MATCH:
        return schema_join_match(s, t, err);
    case BRT_VALUE_SET:
        return schema_join_value_set(s, t, err);
    case BRT_SELECTOR:
    case BRT_GET_MEMBER:
        return schema_join_selector(s, t, err);
    case BRT_COUNTER:
    case BRT_METER:
    case BRT_REGISTER:
    case BRT_PARAM:
        return schema_join_cells(s, t, err);
    case BRT_PORT_METADATA:
    case BRT_SNAPSHOT:
    case BRT_SNAPSHOT_TRIGGER:
    case BRT_SNAPSHOT_DATA:
    case BRT_SNAPSHOT_LIVENESS:
        return schema_join_pipeline(s, t, err);
    case BRT_HASH_FIELDS:
    case BRT_HASH_ALGORITHM:
    case BRT_HASH_COMPUTE:
        return schema_join_hash(s, t, err);
    default:
        return 0;
    }
}

// ---- tables ----

static int schema_kind(const char *type, enum brt_kind *kind, struct sk_error *err) {
    static const struct {
        const char *name;
        enum brt_kind kind;
    } kinds[] = {
        {"MatchAction_Direct", BRT_MATCH},
        {"MatchAction_Indirect", BRT_MATCH},
        {"MatchAction_Indirect_Selector", BRT_MATCH},
        {"Action", BRT_MATCH},
        {"Selector", BRT_SELECTOR},
        {"SelectorGetMember", BRT_GET_MEMBER},
        {"Register", BRT_REGISTER},
        {"RegisterParam", BRT_PARAM},
        {"Counter", BRT_COUNTER},
        {"Meter", BRT_METER},
        {"Lpf", BRT_METER},
        {"Wred", BRT_METER},
        {"ParserValueSet", BRT_VALUE_SET},
        {"PortMetadata", BRT_PORT_METADATA},
        {"DynHashConfigure", BRT_HASH_FIELDS},
        {"DynHashAlgorithm", BRT_HASH_ALGORITHM},
        {"DynHashCompute", BRT_HASH_COMPUTE},
        {"SnapshotCfg", BRT_SNAPSHOT},
        {"SnapshotTrigger", BRT_SNAPSHOT_TRIGGER},
        {"SnapshotData", BRT_SNAPSHOT_DATA},
        {"SnapshotLiveness", BRT_SNAPSHOT_LIVENESS},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(type, kinds[i].name) == 0) {
            *kind = kinds[i].kind;
            return 0;
        }
    return sk_fail(err, "the schema has tables of an unknown type, '%s'", type);
}

static int schema_read_table(const struct brt_schema *s, const json_t *o, struct brt_table *t,
                             struct sk_error *err) {
    t->id = (uint32_t)schema_number(o, "id");
    t->name = schema_string(o, "name");
    t->size = schema_number(o, "size");
    if (schema_kind(schema_string(o, "table_type"), &t->kind, err))
        return -1;
    schema_read_fields(json_object_get(o, "key"), &t->keys, &t->n_keys);
    schema_read_actions(json_object_get(o, "action_specs"), t);
    const json_t *data = json_object_get(o, "data");
    for (size_t i = 0; i < json_array_size(data); i++)
        schema_read_common(json_array_get(data, i), t);
    return schema_join(s, t, err);
}

static int schema_compare(const void *a, const void *b) {
    const uint32_t x = ((const struct brt_table *)a)->id, y = ((const struct brt_table *)b)->id;
    return (x > y) - (x < y);
}

static int schema_read(struct brt_schema *s, struct sk_error *err) {
    const json_t *tables = json_object_get(s->root, "tables"),
                 *learns = json_object_get(s->root, "learn_filters");
    s->tables = calloc(json_array_size(tables) + 1, sizeof *s->tables);
    s->states = calloc(json_array_size(tables) + 1, sizeof *s->states);
    s->copies = calloc(json_array_size(tables) + 1, sizeof *s->copies);
    s->learns = calloc(json_array_size(learns) + 1, sizeof *s->learns);
    if (!s->tables || !s->states || !s->copies || !s->learns)
        abort();
    int rc = 0;
    while (rc == 0 && s->n < json_array_size(tables)) {
        const json_t *o = json_array_get(tables, s->n);
        rc = schema_read_table(s, o, &s->tables[s->n++], err);
    }
    qsort(s->tables, s->n, sizeof *s->tables, schema_compare);
    for (; s->n_learns < json_array_size(learns); s->n_learns++) {
        const json_t *o = json_array_get(learns, s->n_learns);
        struct brt_learn *l = &s->learns[s->n_learns];
        l->id = (uint32_t)schema_number(o, "id");
        l->name = schema_string(o, "name");
        schema_read_fields(json_object_get(o, "fields"), &l->fields, &l->n);
    }
    return rc;
}

struct brt_schema *brt_schema_new(const struct sk_switch *sw, const char *text,
                                  struct sk_error *err) {
    struct brt_schema *s = calloc(1, sizeof *s);
    json_error_t why;
    if (!s)
        abort();
    s->sw = sw;
    // default values go up to 2^64 - 1, which is no integer to jansson; what is read here is exact
    s->root = json_loads(text, JSON_DECODE_INT_AS_REAL, &why);
    if (!s->root)
        sk_fail(err, "the program's schema cannot be read: %s", why.text);
    if (s->root && schema_read(s, err) == 0)
        return s;
    brt_schema_free(s);
    return NULL;
}

void brt_schema_free(struct brt_schema *s) {
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++) {
        struct brt_table *t = &s->tables[i];
        for (size_t k = 0; t->actions && k < t->n_actions; k++)
            free(t->actions[k].fields);
        free(t->actions);
        free(t->keys);
        for (size_t k = 0; k < t->n_data; k++)
            free(t->data[k].members);
        free(t->data);
        for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
            free(s->copies[i].of[pipe]);
    }
    for (size_t i = 0; i < s->n_learns; i++)
        free(s->learns[i].fields);
    free(s->tables);
    free(s->states);
    free(s->copies);
    free(s->learns);
    json_decref(s->root);
    free(s);
}

// ---- finding ----

const struct brt_table *brt_schema_table(const struct brt_schema *s, uint32_t id) {
    const struct brt_table key = {.id = id};
    return bsearch(&key, s->tables, s->n, sizeof key, schema_compare);
}

const struct brt_table *brt_schema_named(const struct brt_schema *s, const char *name) {
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->tables[i].name, name) == 0)
            return &s->tables[i];
    return NULL;
}

const struct brt_table *brt_schema_of(const struct brt_schema *s, const struct sk_table_desc *d) {
    for (size_t i = 0; i < s->n; i++)
        if (s->tables[i].desc == d)
            return &s->tables[i];
    return NULL;
}

void brt_schema_keep_scopes(struct brt_schema *s, struct sk_switch *sw,
                            const struct brt_schema *before) {
    for (size_t i = 0; i < s->n; i++) {
        const struct brt_table *was = brt_schema_named(before, s->tables[i].name);
        if (!was)
            continue;
        const struct brt_table_state *old = &before->states[was - before->tables];
        s->states[i].scope = old->scope;
        s->states[i].groups = old->groups;
        memcpy(s->states[i].group, old->group, sizeof old->group);
        s->states[i].single_gress = old->single_gress;
        s->states[i].single_parser = old->single_parser;
        s->states[i].parser_gress = old->parser_gress;
        if (s->tables[i].kind == BRT_VALUE_SET && !brt_values_set_parsers(sw, &s->tables[i], old))
            s->states[i].single_parser = false; // no memory: of all, as at the program's start
    }
}

struct brt_table_state *brt_schema_state(struct brt_schema *s, const struct brt_table *t) {
    return &s->states[t - s->tables];
}

uint64_t **brt_schema_copy(struct brt_schema *s, const struct brt_table *t, unsigned pipe) {
    return &s->copies[t - s->tables].of[pipe];
}

uint64_t brt_idle_time(const struct brt_idle_state *state, uint64_t now) {
    const uint64_t interval = (uint64_t)state->query_ms * 1000000;
    if (!state->enabled)
        return state->since;
    return interval ? state->since + (now - state->since) / interval * interval : now;
}

void brt_schema_forget(struct brt_schema *s, uint32_t client) {
    for (size_t i = 0; i < s->n; i++)
        if (s->states[i].idle.notifies && s->states[i].idle.client == client) {
            struct brt_idle_state *idle = &s->states[i].idle;
            const uint64_t at = brt_idle_time(idle, sk_switch_now(s->sw));
            *idle = (struct brt_idle_state){.notifies = true, .since = at};
        }
}

bool brt_schema_notifies(const struct brt_schema *s) {
    for (size_t i = 0; i < s->n; i++)
        if (s->states[i].idle.notifies && s->states[i].idle.enabled)
            return true;
    return false;
}

const json_t *brt_schema_stages(const struct brt_schema *s, const struct brt_table *t,
                                bool ingress) {
    const json_t *all =
        json_object_get(json_object_get(s->root, "silken_stages"), t->object.desc->name);
    return json_object_get(all, ingress ? "ingress" : "egress");
}

const struct brt_learn *brt_schema_learn(const struct brt_schema *s, const char *name) {
    for (size_t i = 0; i < s->n_learns; i++)
        if (strcmp(s->learns[i].name, name) == 0)
            return &s->learns[i];
    return NULL;
}

const struct brt_action *brt_table_action(const struct brt_table *t, uint32_t id) {
    for (size_t i = 0; i < t->n_actions; i++)
        if (t->actions[i].id == id)
            return &t->actions[i];
    return NULL;
}

const struct brt_action *brt_table_action_at(const struct brt_table *t, uint32_t index) {
    for (size_t i = 0; i < t->n_actions; i++)
        if (t->actions[i].index == index)
            return &t->actions[i];
    return NULL;
}

const struct brt_field *brt_find(const struct brt_field *fields, size_t n, uint32_t id) {
    for (size_t i = 0; i < n; i++)
        if (fields[i].id == id)
            return &fields[i];
    return NULL;
}

const struct brt_field *brt_find_meaning(const struct brt_field *fields, size_t n,
                                         enum brt_meaning meaning) {
    for (size_t i = 0; i < n; i++)
        if (fields[i].meaning == meaning)
            return &fields[i];
    return NULL;
}
