// SPDX-License-Identifier: Apache-2.0
//
// snapshot_read: snapshots as messages: ranges, triggers, what was caught, up to where a field is
// in a container.
#include <stdlib.h>
#include <string.h>

#include "brt/snapshot.h"

#define SNAPSHOT_NO_TABLE "NO_NEXT_TABLE"

// Of one entry.
struct snapshot_out {
    struct brt *b;
    const struct brt_table *table;
    const BfrtProto__TableData *wanted;
    BfrtProto__TableData *data;
    BfrtProto__DataField *fields;
    bool good; // memory was enough
};

// ---- pieces ----

static bool snapshot_begin_data(struct snapshot_out *o) {
    const size_t n = o->table->n_data + 1;
    o->data = brt_take(&o->b->scratch, sizeof *o->data);
    o->fields = brt_take(&o->b->scratch, n * sizeof *o->fields);
    BfrtProto__DataField **list = brt_take(&o->b->scratch, n * sizeof *list);
    o->good = o->data && o->fields && list;
    if (!o->good)
        return false;
    bfrt_proto__table_data__init(o->data);
    o->data->fields = list;
    return true;
}

// The next field of the answer; null: it is not wanted.
static BfrtProto__DataField *snapshot_next(struct snapshot_out *o, const struct brt_field *f) {
    if (!brt_is_wanted(o->wanted, f->id))
        return NULL;
    BfrtProto__DataField *out = &o->fields[o->data->n_fields];
    bfrt_proto__data_field__init(out);
    out->field_id = f->id;
    o->data->fields[o->data->n_fields++] = out;
    return out;
}

static void snapshot_put_bool(BfrtProto__DataField *out, bool value) {
    if (!out)
        return;
    out->value_case = BFRT_PROTO__DATA_FIELD__VALUE_BOOL_VAL;
    out->bool_val = value;
}

// 'text' must last as long as the answer.
static void snapshot_put_text(BfrtProto__DataField *out, const char *text) {
    if (!out)
        return;
    out->value_case = BFRT_PROTO__DATA_FIELD__VALUE_STR_VAL;
    out->str_val = (char *)text;
}

static void snapshot_put_words(struct snapshot_out *o, BfrtProto__DataField *out,
                               const struct brt_field *f, const uint64_t *words) {
    if (!out)
        return;
    out->value_case = BFRT_PROTO__DATA_FIELD__VALUE_STREAM;
    o->good = o->good && brt_stream(&o->b->scratch, words, f->width, &out->stream);
}

static void snapshot_put_list(struct snapshot_out *o, BfrtProto__DataField *out,
                              const uint32_t *numbers, size_t n) {
    BfrtProto__DataField__IntArray *list = out ? brt_take(&o->b->scratch, sizeof *list) : NULL;
    uint32_t *copy = list ? brt_take(&o->b->scratch, (n + 1) * sizeof *copy) : NULL;
    o->good = o->good && (!out || copy);
    if (!copy)
        return;
    bfrt_proto__data_field__int_array__init(list);
    if (n)
        memcpy(copy, numbers, n * sizeof *copy);
    list->val = copy;
    list->n_val = n;
    out->value_case = BFRT_PROTO__DATA_FIELD__VALUE_INT_ARR_VAL;
    out->int_arr_val = list;
}

// ---- ranges and triggers ----

static void snapshot_cfg_field(struct snapshot_out *o, const struct brt_snapshot *s,
                               const struct brt_field *f) {
    const uint64_t timer = s->timer_us;
    // pipes that caught nothing are left out, as by the chip's driver
    const bool captures = strcmp(f->name, "ingress_capture") == 0;
    if (f->read_only && !(captures && s->full))
        return;
    BfrtProto__DataField *out = snapshot_next(o, f);
    if (strcmp(f->name, "thread") == 0 || strcmp(f->name, "ingress_trigger_mode") == 0)
        snapshot_put_text(out, "INGRESS");
    else if (strcmp(f->name, "timer_enable") == 0)
        snapshot_put_bool(out, s->has_timer);
    else if (strcmp(f->name, "timer_value_usecs") == 0)
        snapshot_put_words(o, out, f, &timer);
    else
        snapshot_put_list(o, out, (const uint32_t[]){s->full_pipe}, 1);
}

static void snapshot_states(struct snapshot_out *o, const struct brt_snapshot *s,
                            BfrtProto__DataField *out) {
    static const char *const states[] = {"PASSIVE", "ARMED", "FULL"};
    BfrtProto__DataField__StrArray *list = out ? brt_take(&o->b->scratch, sizeof *list) : NULL;
    char **texts = list ? brt_take(&o->b->scratch, SK_PIPES * sizeof *texts) : NULL;
    o->good = o->good && (!out || texts);
    if (!texts)
        return;
    bfrt_proto__data_field__str_array__init(list);
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++) {
        const bool here = s->pipe < 0 || (unsigned)s->pipe == pipe;
        const unsigned state = !here || !s->enabled ? 0 : !s->full ? 1 : 2 * (s->full_pipe == pipe);
        texts[pipe] = (char *)states[state];
    }
    list->val = texts;
    list->n_val = SK_PIPES;
    out->value_case = BFRT_PROTO__DATA_FIELD__VALUE_STR_ARR_VAL;
    out->str_arr_val = list;
}

static void snapshot_trigger_fields(struct snapshot_out *o, const struct brt_snapshot *s) {
    const struct brt_table *t = o->table;
    for (size_t i = 0; i < t->n_data; i++) {
        if (strcmp(t->data[i].name, "enable") == 0)
            snapshot_put_bool(snapshot_next(o, &t->data[i]), s->enabled);
        else if (strcmp(t->data[i].name, "trigger_state") == 0)
            snapshot_states(o, s, snapshot_next(o, &t->data[i]));
    }
    for (size_t i = 0; i < s->n_matches; i++) {
        const struct snapshot_match *m = &s->matches[i];
        const struct brt_field *mask = m->field + 1;
        snapshot_put_words(o, snapshot_next(o, m->field), m->field, m->value);
        snapshot_put_words(o, snapshot_next(o, mask), mask, m->mask);
    }
}

// ---- what was caught ----

static const char *snapshot_name(const json_t *o) {
    const char *name = json_string_value(json_object_get(o, "name"));
    return name ? name : "";
}

static uint32_t snapshot_stage_of(const json_t *o, const char *member) {
    return (uint32_t)json_number_value(json_object_get(o, member));
}

static const json_t *snapshot_named(const json_t *list, const char *name) {
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(snapshot_name(json_array_get(list, i)), name) == 0)
            return json_array_get(list, i);
    return NULL;
}

// The event of a kind with this name.
static const json_t *snapshot_event(const struct brt_snapshot *s, const char *kind,
                                    const char *name, size_t length) {
    for (size_t i = 0; i < json_array_size(s->events); i++) {
        const json_t *e = json_array_get(s->events, i);
        const char *is = json_string_value(json_object_get(e, "event"));
        if (is && strcmp(is, kind) == 0 && strncmp(snapshot_name(e), name, length) == 0 &&
            snapshot_name(e)[length] == 0)
            return e;
    }
    return NULL;
}

// The table that the packet looked up next, after those of this stage.
static const char *snapshot_next_table(const struct brt_snapshot *s, const json_t *tables,
                                       uint32_t stage) {
    for (size_t i = 0; i < json_array_size(s->events); i++) {
        const json_t *e = json_array_get(s->events, i), *t;
        const char *is = json_string_value(json_object_get(e, "event"));
        if (is && strcmp(is, "table") == 0 && (t = snapshot_named(tables, snapshot_name(e))) &&
            snapshot_stage_of(t, "first") > stage)
            return snapshot_name(t);
    }
    return SNAPSHOT_NO_TABLE;
}

static BfrtProto__ContainerArray__Container *snapshot_table(struct snapshot_out *o,
                                                            const struct brt_field *f,
                                                            const char *name, const json_t *event) {
    BfrtProto__ContainerArray__Container *out = brt_take(&o->b->scratch, sizeof *out);
    BfrtProto__DataField *fields = brt_take(&o->b->scratch, f->n_members * sizeof *fields);
    BfrtProto__DataField **list = brt_take(&o->b->scratch, (f->n_members + 1) * sizeof *list);
    o->good = o->good && out && fields && list;
    if (!o->good)
        return NULL;
    bfrt_proto__container_array__container__init(out);
    out->val = list;
    for (size_t i = 0; i < f->n_members; i++) {
        const struct brt_field *m = &f->members[i];
        if (m->type == BRT_STREAM) // the entry's handle, which the trace does not know
            continue;
        bfrt_proto__data_field__init(&fields[i]);
        fields[i].field_id = m->id;
        if (m->type == BRT_STRING)
            snapshot_put_text(&fields[i], name);
        else if (strcmp(m->name, "table_hit") == 0)
            snapshot_put_bool(&fields[i], json_is_true(json_object_get(event, "hit")));
        else
            snapshot_put_bool(&fields[i], (strcmp(m->name, "table_executed") == 0) == (event != 0));
        list[out->n_val++] = &fields[i];
    }
    return out;
}

// The tables of the stage that clients know.
static void snapshot_tables(struct snapshot_out *o, const struct brt_snapshot *s,
                            const json_t *tables, uint32_t stage, const struct brt_field *f) {
    const size_t n = json_array_size(tables);
    BfrtProto__ContainerArray all = BFRT_PROTO__CONTAINER_ARRAY__INIT;
    BfrtProto__DataField *out = snapshot_next(o, f);
    all.container = out ? brt_take(&o->b->scratch, (n + 1) * sizeof *all.container) : NULL;
    o->good = o->good && (!out || all.container);
    for (size_t i = 0; o->good && out && i < n; i++) {
        const json_t *t = json_array_get(tables, i);
        const char *name = snapshot_name(t);
        if (stage < snapshot_stage_of(t, "first") || stage > snapshot_stage_of(t, "last") ||
            !brt_schema_named(brt_served(o->b), name))
            continue;
        all.container[all.n_container++] =
            snapshot_table(o, f, name, snapshot_event(s, "table", name, strlen(name)));
    }
    if (!o->good || !out)
        return;
    out->value_case = BFRT_PROTO__DATA_FIELD__VALUE_CONTAINER_ARR_VAL;
    out->container_arr_val.len = bfrt_proto__container_array__get_packed_size(&all);
    out->container_arr_val.data = brt_take(&o->b->scratch, out->container_arr_val.len + 1);
    o->good = out->container_arr_val.data;
    if (o->good)
        bfrt_proto__container_array__pack(&all, out->container_arr_val.data);
}

static unsigned snapshot_digit(char c) {
    return c >= '0' && c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a') + 10u;
}

// "0x1f" as the bytes of a field.
static void snapshot_put_hex(struct snapshot_out *o, BfrtProto__DataField *out,
                             const struct brt_field *f, const char *text) {
    if (!out)
        return;
    const size_t n = (f->width + 7) / 8, digits = strlen(text);
    uint8_t *bytes = brt_take(&o->b->scratch, n + 1);
    o->good = o->good && bytes;
    for (size_t i = 0; bytes && i < digits - 2 && i < 2 * n; i++)
        bytes[n - 1 - i / 2] |= (uint8_t)(snapshot_digit(text[digits - 1 - i]) << (i % 2 ? 4 : 0));
    out->value_case = BFRT_PROTO__DATA_FIELD__VALUE_STREAM;
    out->stream.data = bytes;
    out->stream.len = bytes ? n : 0;
}

// A field of a header as the parser found it, unless an earlier stage may have written it or the
// chip would not have it in a container here.
static void snapshot_header_field(struct snapshot_out *o, const struct brt_snapshot *s,
                                  const json_t *fields, uint32_t stage, const struct brt_field *f) {
    const char *dot = strrchr(f->name, '.');
    const json_t *at = snapshot_named(fields, f->name);
    const bool valid = dot && strcmp(dot, ".$valid") == 0;
    const json_t *written = json_object_get(at, "written");
    if (!dot || (written && (uint32_t)json_number_value(written) < stage))
        return;
    const json_t *extract = snapshot_event(s, "extract", f->name, (size_t)(dot - f->name));
    if (valid) {
        snapshot_put_words(o, snapshot_next(o, f), f, (const uint64_t[]){extract != NULL, 0});
        return;
    }
    const char *text =
        json_string_value(json_object_get(json_object_get(extract, "fields"), dot + 1));
    if (!text || strncmp(text, "0x", 2) != 0 || !json_object_get(at, "first") ||
        stage < snapshot_stage_of(at, "first") || stage > snapshot_stage_of(at, "last"))
        return;
    snapshot_put_hex(o, snapshot_next(o, f), f, text);
}

static void snapshot_data_fields(struct snapshot_out *o, const struct brt_snapshot *s,
                                 uint32_t stage) {
    const json_t *stages =
        brt_schema_stages(brt_served(o->b), o->table, snapshot_is_ingress(o->table));
    const json_t *tables = json_object_get(stages, "tables");
    for (size_t i = 0; i < o->table->n_data; i++) {
        const struct brt_field *f = &o->table->data[i];
        if (strcmp(f->name, "prev_stage_trigger") == 0)
            snapshot_put_bool(snapshot_next(o, f), stage > s->start);
        else if (strcmp(f->name, "timer_trigger") == 0)
            snapshot_put_bool(snapshot_next(o, f), s->by_timer && stage == s->start);
        else if (strcmp(f->name, "local_stage_trigger") == 0)
            snapshot_put_bool(snapshot_next(o, f), !s->by_timer && stage == s->start);
        else if (strcmp(f->name, "next_table_name") == 0)
            snapshot_put_text(snapshot_next(o, f), snapshot_next_table(s, tables, stage));
        else if (strcmp(f->name, "table_info") == 0)
            snapshot_tables(o, s, tables, stage, f);
        else
            snapshot_header_field(o, s, json_object_get(stages, "fields"), stage, f);
    }
}

// ---- entries ----

struct snapshot_reading {
    struct snapshot_out out;
    const BfrtProto__TableEntry *asked;
    int pipe;
    bool key_only;
    brt_emit *emit;
    void *aux;
    size_t n; // entries given
};

// Keys of one or two stages.
static bool snapshot_key_message(struct snapshot_out *o, const uint32_t *stages,
                                 BfrtProto__TableEntry *e) {
    const size_t n = o->table->n_keys;
    BfrtProto__TableKey *key = brt_take(&o->b->scratch, sizeof *key);
    BfrtProto__KeyField *fields = brt_take(&o->b->scratch, n * sizeof *fields);
    BfrtProto__KeyField **list = brt_take(&o->b->scratch, n * sizeof *list);
    BfrtProto__KeyField__Exact *exact = brt_take(&o->b->scratch, n * sizeof *exact);
    if (!key || !fields || !list || !exact)
        return false;
    bfrt_proto__table_key__init(key);
    key->fields = list;
    key->n_fields = n;
    e->value_case = BFRT_PROTO__TABLE_ENTRY__VALUE_KEY;
    e->key = key;
    for (size_t i = 0; i < n; i++) {
        const uint64_t stage = stages[i];
        bfrt_proto__key_field__init(&fields[i]);
        bfrt_proto__key_field__exact__init(&exact[i]);
        fields[i].field_id = o->table->keys[i].id;
        fields[i].match_type_case = BFRT_PROTO__KEY_FIELD__MATCH_TYPE_EXACT;
        fields[i].exact = &exact[i];
        list[i] = &fields[i];
        if (!brt_stream(&o->b->scratch, &stage, o->table->keys[i].width, &exact[i].value))
            return false;
    }
    return true;
}

// False: no more is wanted, or memory is short.
static bool snapshot_give(struct snapshot_reading *r, const struct brt_snapshot *s,
                          uint32_t stage) {
    BfrtProto__TableEntry e = BFRT_PROTO__TABLE_ENTRY__INIT;
    struct snapshot_out *o = &r->out;
    const uint32_t stages[2] = {stage, s->end};
    e.table_id = o->table->id;
    if (!snapshot_begin_data(o))
        return false;
    if (o->table->kind == BRT_SNAPSHOT)
        for (size_t i = 0; i < o->table->n_data; i++)
            snapshot_cfg_field(o, s, &o->table->data[i]);
    else if (o->table->kind == BRT_SNAPSHOT_TRIGGER)
        snapshot_trigger_fields(o, s);
    else
        snapshot_data_fields(o, s, stage);
    o->good = o->good && snapshot_key_message(o, stages, &e);
    e.data = r->key_only ? NULL : o->data;
    r->n++;
    return o->good && r->emit(r->aux, &e);
}

static bool snapshot_concerns(const struct snapshot_reading *r, const struct brt_snapshot *s) {
    return s->pipeline == r->out.table->object.pipeline &&
           (r->pipe < 0 || s->pipe < 0 || r->pipe == s->pipe) &&
           (r->out.table->kind == BRT_SNAPSHOT ||
            (snapshot_is_ingress(r->out.table) &&
             (r->out.table->kind == BRT_SNAPSHOT_TRIGGER
                  ? s->has_trigger
                  : s->full && (unsigned)r->pipe == s->full_pipe)));
}

// Of the oldest first, as they were made.
static bool snapshot_give_from(struct snapshot_reading *r, const struct brt_snapshot *s,
                               const struct brt_snapshot_change *key, uint32_t handle) {
    if (!s)
        return true;
    if (!snapshot_give_from(r, s->next, key, handle))
        return false;
    if (!snapshot_concerns(r, s) || (handle && s->handle != handle))
        return true;
    if (r->out.table->kind != BRT_SNAPSHOT_DATA)
        return (key &&
                (key->start != s->start || (key->end != UINT32_MAX && key->end != s->end))) ||
               snapshot_give(r, s, s->start);
    for (uint32_t stage = s->start; stage <= s->end; stage++)
        if ((!key || key->start == stage) && !snapshot_give(r, s, stage))
            return false;
    return true;
}

static enum brt_code snapshot_read_live(struct snapshot_reading *r, struct sk_error *err) {
    const struct brt_table *t = r->out.table;
    const BfrtProto__TableKey *key =
        r->asked->value_case == BFRT_PROTO__TABLE_ENTRY__VALUE_KEY ? r->asked->key : NULL;
    BfrtProto__TableEntry e = BFRT_PROTO__TABLE_ENTRY__INIT;
    uint32_t stages[64];
    size_t n = 0;
    if (!key || key->n_fields != 1 || key->fields[0]->field_id != t->keys[0].id ||
        key->fields[0]->match_type_case != BFRT_PROTO__KEY_FIELD__MATCH_TYPE_EXACT)
        return brt_fail(err, BRT_INVALID_ARG, "table '%s' is read with its key field '%s'", t->name,
                        t->keys[0].name);
    const ProtobufCBinaryData *name = &key->fields[0]->exact->value;
    const json_t *list = json_object_get(
        brt_schema_stages(brt_served(r->out.b), t, snapshot_is_ingress(t)), "fields");
    const json_t *field = NULL;
    for (size_t i = 0; i < json_array_size(list) && !field; i++) {
        const char *known = snapshot_name(json_array_get(list, i));
        if (strlen(known) == name->len && memcmp(known, name->data, name->len) == 0)
            field = json_array_get(list, i);
    }
    if (!field)
        return brt_fail(err, BRT_OBJECT_NOT_FOUND, "no stage has a field of this name");
    for (uint32_t k = snapshot_stage_of(field, "first");
         json_object_get(field, "last") && k <= snapshot_stage_of(field, "last") && n < 64; k++)
        stages[n++] = k;
    if (!snapshot_begin_data(&r->out))
        return BRT_NO_SYS_RESOURCES;
    snapshot_put_list(&r->out, snapshot_next(&r->out, &t->data[0]), stages, n);
    e.table_id = t->id;
    e.value_case = BFRT_PROTO__TABLE_ENTRY__VALUE_KEY;
    e.key = r->asked->key;
    e.data = r->key_only ? NULL : r->out.data;
    if (!r->out.good)
        return BRT_NO_SYS_RESOURCES;
    r->emit(r->aux, &e);
    return BRT_OK;
}

enum brt_code brt_snapshot_read(struct brt *b, struct brt_change *question,
                                const BfrtProto__TableEntry *asked, const struct brt_target *target,
                                bool key_only, brt_emit *emit, void *aux, struct sk_error *err) {
    const struct brt_table *t = question->table;
    struct snapshot_reading r = {.out = {.b = b, .table = t, .wanted = asked->data, .good = true},
                                 .asked = asked,
                                 .pipe = target->pipe,
                                 .key_only = key_only,
                                 .emit = emit,
                                 .aux = aux};
    const bool has_key = asked->value_case == BFRT_PROTO__TABLE_ENTRY__VALUE_KEY &&
                         asked->key->n_fields > 0,
               by_handle = asked->value_case == BFRT_PROTO__TABLE_ENTRY__VALUE_HANDLE_ID;
    enum brt_code code = BRT_OK;
    if (asked->is_default_entry)
        return brt_fail(err, BRT_NOT_SUPPORTED, "table '%s' has no default entry", t->name);
    if (t->kind == BRT_SNAPSHOT_LIVENESS)
        code = snapshot_read_live(&r, err);
    else if (t->kind == BRT_SNAPSHOT_DATA && target->pipe < 0)
        return brt_fail(err, BRT_INVALID_ARG, "table '%s' is read of one pipe", t->name);
    else {
        if (has_key)
            code = brt_snapshot_key(b, asked->key, target, question, err);
        if (code == BRT_OK)
            snapshot_give_from(&r, b->now.snapshots ? b->now.snapshots->first : NULL,
                               has_key ? question->snapshot : NULL,
                               by_handle ? asked->handle_id : 0);
        if (code == BRT_OK && r.out.good && r.n == 0 && (has_key || by_handle))
            return brt_fail(err, BRT_OBJECT_NOT_FOUND, "table '%s': there is no such entry",
                            t->name);
    }
    if (!r.out.good)
        return brt_fail(err, BRT_NO_SYS_RESOURCES, "an entry needs too much memory");
    return code;
}

enum brt_code brt_snapshot_handle(struct brt *b, struct brt_change *question,
                                  const BfrtProto__TableKey *key, const struct brt_target *target,
                                  uint32_t *handle, struct sk_error *err) {
    const struct brt_table *t = question->table;
    if (t->kind != BRT_SNAPSHOT && t->kind != BRT_SNAPSHOT_TRIGGER)
        return brt_fail(err, BRT_NOT_SUPPORTED, "table '%s' has no handles", t->name);
    const enum brt_code code = brt_snapshot_key(b, key, target, question, err);
    if (code)
        return code;
    const struct brt_snapshot *s =
        snapshot_find(b, t, target->pipe, question->snapshot->start, question->snapshot->end);
    if (!s || (t->kind == BRT_SNAPSHOT_TRIGGER && !s->has_trigger))
        return brt_fail(err, BRT_OBJECT_NOT_FOUND, "table '%s': there is no such entry", t->name);
    *handle = s->handle;
    return BRT_OK;
}

uint32_t brt_snapshot_count(const struct brt *b, const struct brt_table *t) {
    uint32_t n = 0;
    for (const struct brt_snapshot *s = b->now.snapshots ? b->now.snapshots->first : NULL; s;
         s = s->next)
        n += s->pipeline == t->object.pipeline && (t->kind == BRT_SNAPSHOT || s->has_trigger);
    return n;
}
