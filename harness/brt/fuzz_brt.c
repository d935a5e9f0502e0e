// SPDX-License-Identifier: Apache-2.0
//
// fuzz_brt: calls of BF Runtime's clients, without a network: the fuzzer's bytes as messages, or
// messages made of them with ids of the program's tables, so that keys, actions and data meet what
// they are checked against. A call must end exactly once, and what is sent must be a message.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "brt/brt_impl.h"
#include "brt/fixed/fixed.h"
#include "brt/package.h"
#include "harness/brt/fuzz_calls.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST_UPDATES     4u
#define MOST_FIELDS      6u
#define MOST_BYTES       20u
#define SNAPSHOT_TURN_NS UINT64_C(2000000000)

// ---- the switch ----

// Programs are taken or not, by their length, and never compile.
static int fuzz_compile(void *aux, const struct brt_sent *sent, size_t n, struct sk_error *err) {
    unsigned pipes = 0;
    size_t bytes = 0;
    (void)aux;
    for (size_t i = 0; i < n; i++) {
        if (!*sent[i].name || strchr(sent[i].name, '/') || memchr(sent[i].text, 0, sent[i].n))
            abort();
        for (size_t k = 0; k < sent[i].n_profiles; k++) {
            if (pipes & sent[i].profiles[k].pipes)
                abort();
            pipes |= sent[i].profiles[k].pipes;
        }
        bytes += sent[i].n;
    }
    if (n < 1 || n > SK_PIPES || (n > 1 && pipes != (1u << SK_PIPES) - 1))
        abort();
    return bytes % 3 ? 0 : sk_fail(err, "another program is being compiled");
}

static int fuzz_compiled(void *aux, struct sk_switch **sw, struct brt_description *described,
                         struct sk_error *err) {
    (void)aux;
    (void)sw;
    (void)described;
    return sk_fail(err, "it does not compile");
}

static void fuzz_forget(void *aux) {
    (void)aux;
}

// A snapshot catches at once.
static int fuzz_check(void *aux, const struct brt_snapshot_field *fields, size_t n,
                      struct sk_error *err) {
    (void)aux;
    for (size_t i = 0; i < n; i++)
        if (!strstr(fields[i].value, " &&& 0x"))
            abort();
    return n <= BRT_SNAPSHOT_FIELDS ? 0 : sk_fail(err, "too many fields");
}

static bool is_armed;
static int fuzz_arm(void *aux, uint8_t pipes, const struct brt_snapshot_field *fields, size_t n,
                    struct sk_error *err) {
    if (is_armed || !pipes)
        abort();
    is_armed = true;
    return fuzz_check(aux, fields, n, err);
}

static int fuzz_look(void *aux, char **text) {
    (void)aux;
    if (!is_armed)
        abort();
    *text = strdup("{\"event\":\"ingress\",\"packet\":1,\"pass\":1,\"in\":\"switch\",\"port\":1}\n"
                   "{\"event\":\"extract\",\"packet\":1,\"pass\":1,\"in\":\"ingress\",\"name\":"
                   "\"hdr.ethernet\",\"fields\":{\"dst_addr\":\"0x7\",\"ether_type\":\"0x9000\"}}\n"
                   "{\"event\":\"table\",\"packet\":1,\"pass\":1,\"in\":\"ingress\",\"name\":"
                   "\"pipe.Ingress.forward\",\"hit\":true}\n");
    return *text ? 0 : -1;
}

static void fuzz_drop(void *aux) {
    (void)aux;
    is_armed = false;
}

static struct brt *fuzz_service(void) {
    static struct brt *b;
    struct sk_error err;
    char error[256];
    if (b)
        return b;
    static struct sk_program *p;
    p = fuzz_program();
    struct sk_switch *sw =
        sk_switch_new(p, &(struct sk_switch_options){.tx = sk_tx_nowhere}, error, sizeof error);
    char *schema = fuzz_description(false);
    b = brt_new(&(struct brt_host){.compile_programs = fuzz_compile,
                                   .compiled_programs = fuzz_compiled,
                                   .forget_programs = fuzz_forget,
                                   .snapshot_check = fuzz_check,
                                   .snapshot_arm = fuzz_arm,
                                   .snapshot_look = fuzz_look,
                                   .snapshot_drop = fuzz_drop});
    const struct brt_description d = {"everything", schema, "control c() {}"};
    if (!sw || brt_run_programs(b, sw, &d, 1, &err))
        abort();
    free(schema);
    return b;
}

// ---- calls ----

static void fuzz_end(void *call, enum rpc_status status, const char *message,
                     const uint8_t *details, size_t length) {
    struct fuzz_call *c = call;
    (void)message;
    c->ended++;
    if (!details)
        return;
    Google__Rpc__Status *s = google__rpc__status__unpack(NULL, length, details);
    if (!s || s->code != (int)status || s->n_details == 0)
        abort();
    google__rpc__status__free_unpacked(s, NULL);
}

static const struct brt_carrier carrier = {
    .send = fuzz_send, .give = fuzz_give, .end = fuzz_end, .metadata = fuzz_metadata};

// ---- messages out of bytes ----

// Mostly as many bytes as the field takes.
static ProtobufCBinaryData fuzz_value(struct fuzz_input *in, const struct brt_field *f) {
    const uint8_t kind = fuzz_byte(in);
    const size_t right = f ? (f->width + 7) / 8 : 1;
    ProtobufCBinaryData out = {.len = kind % 16 == 0 ? kind / 16 : right};
    out.data = fuzz_take(in, out.len + 1);
    for (size_t i = 0; i < out.len && i < MOST_BYTES; i++)
        out.data[out.len - 1 - i] = kind & 64 ? fuzz_byte(in) : (uint8_t)(i == 0 ? kind % 8 : 0);
    return out;
}

static BfrtProto__KeyField *fuzz_key_field(struct fuzz_input *in, const struct brt_field *f) {
    BfrtProto__KeyField *k = FUZZ_NEW(in, BfrtProto__KeyField, BFRT_PROTO__KEY_FIELD__INIT);
    k->field_id = f ? f->id : fuzz_byte(in);
    k->match_type_case = (BfrtProto__KeyField__MatchTypeCase)(2 + fuzz_byte(in) % 5);
    switch (k->match_type_case) {
    case BFRT_PROTO__KEY_FIELD__MATCH_TYPE_EXACT:
        k->exact = FUZZ_NEW(in, BfrtProto__KeyField__Exact, BFRT_PROTO__KEY_FIELD__EXACT__INIT);
        k->exact->value = fuzz_value(in, f);
        break;
    case BFRT_PROTO__KEY_FIELD__MATCH_TYPE_TERNARY:
        k->ternary =
            FUZZ_NEW(in, BfrtProto__KeyField__Ternary, BFRT_PROTO__KEY_FIELD__TERNARY__INIT);
        k->ternary->value = fuzz_value(in, f);
        k->ternary->mask = fuzz_value(in, f);
        break;
    case BFRT_PROTO__KEY_FIELD__MATCH_TYPE_LPM:
        k->lpm = FUZZ_NEW(in, BfrtProto__KeyField__LPM, BFRT_PROTO__KEY_FIELD__LPM__INIT);
        k->lpm->value = fuzz_value(in, f);
        k->lpm->prefix_len = (int8_t)fuzz_byte(in);
        break;
    case BFRT_PROTO__KEY_FIELD__MATCH_TYPE_RANGE:
        k->range = FUZZ_NEW(in, BfrtProto__KeyField__Range, BFRT_PROTO__KEY_FIELD__RANGE__INIT);
        k->range->low = fuzz_value(in, f);
        k->range->high = fuzz_value(in, f);
        break;
    default:
        k->optional =
            FUZZ_NEW(in, BfrtProto__KeyField__Optional, BFRT_PROTO__KEY_FIELD__OPTIONAL__INIT);
        k->optional->value = fuzz_value(in, f);
    }
    return k;
}

static BfrtProto__DataField *fuzz_datum(struct fuzz_input *in, const struct brt_field *f) {
    BfrtProto__DataField *d = FUZZ_NEW(in, BfrtProto__DataField, BFRT_PROTO__DATA_FIELD__INIT);
    d->field_id = f ? f->id : fuzz_byte(in);
    switch (f && f->type == BRT_STREAM ? 0 : fuzz_byte(in) % 5) {
    case 0:
        d->value_case = BFRT_PROTO__DATA_FIELD__VALUE_STREAM;
        d->stream = fuzz_value(in, f);
        break;
    case 1:
        d->value_case = BFRT_PROTO__DATA_FIELD__VALUE_FLOAT_VAL;
        d->float_val = (float)(int8_t)fuzz_byte(in) * (float)fuzz_byte(in);
        break;
    case 2:
        d->value_case = BFRT_PROTO__DATA_FIELD__VALUE_STR_VAL;
        d->str_val = (char *[]){"x", "RATE", "INGRESS", "EGRESS"}[fuzz_byte(in) % 4];
        break;
    case 3:
        d->value_case = BFRT_PROTO__DATA_FIELD__VALUE_BOOL_VAL;
        d->bool_val = fuzz_byte(in) & 1;
        break;
    default:
        break;
    }
    return d;
}

static const struct brt_field *fuzz_choose(struct fuzz_input *in, const struct brt_field *fields,
                                           size_t n, size_t i) {
    const uint8_t other = fuzz_byte(in);
    return n == 0 || other == 255 ? NULL : &fields[(other < 200 ? i : other) % n];
}

static void fuzz_key(struct fuzz_input *in, const struct brt_table *t, BfrtProto__TableEntry *e) {
    BfrtProto__TableKey *key = FUZZ_NEW(in, BfrtProto__TableKey, BFRT_PROTO__TABLE_KEY__INIT);
    const size_t n = fuzz_byte(in) % MOST_FIELDS;
    key->fields = fuzz_take(in, MOST_FIELDS * sizeof *key->fields);
    while (key->n_fields < n) {
        const struct brt_field *f = t ? fuzz_choose(in, t->keys, t->n_keys, key->n_fields) : NULL;
        key->fields[key->n_fields++] = fuzz_key_field(in, f);
    }
    e->value_case = BFRT_PROTO__TABLE_ENTRY__VALUE_KEY;
    e->key = key;
}

static void fuzz_data(struct fuzz_input *in, const struct brt_table *t, BfrtProto__TableEntry *e) {
    BfrtProto__TableData *d = FUZZ_NEW(in, BfrtProto__TableData, BFRT_PROTO__TABLE_DATA__INIT);
    const size_t n = fuzz_byte(in) % MOST_FIELDS;
    const struct brt_action *a =
        t && t->n_actions ? &t->actions[fuzz_byte(in) % t->n_actions] : NULL;
    d->action_id = a ? a->id : 0;
    d->fields = fuzz_take(in, MOST_FIELDS * sizeof *d->fields);
    for (size_t i = 0; i < n; i++) {
        const struct brt_field *f = a && i < a->n ? fuzz_choose(in, a->fields, a->n, i)
                                    : t           ? fuzz_choose(in, t->data, t->n_data, i)
                                                  : NULL;
        d->fields[d->n_fields++] = fuzz_datum(in, f);
    }
    e->data = d;
}

static const struct brt_table *fuzz_table(struct fuzz_input *in) {
    static const char *const names[] = {"pipe.Ingress.forward",
                                        "pipe.Ingress.filter",
                                        "pipe.Ingress.prefixes",
                                        "pipe.Ingress.profile",
                                        "pipe.Ingress.profiled",
                                        "pipe.Ingress.members",
                                        "pipe.Ingress.selected",
                                        "pipe.Ingress.selector",
                                        "pipe.IngressParser.types",
                                        "pipe.Ingress.pairs",
                                        "pipe.Ingress.counts",
                                        "pipe.Ingress.of_bytes",
                                        "pipe.Ingress.average",
                                        "pipe.Ingress.early",
                                        "pipe.Ingress.flags",
                                        "pipe.Ingress.step",
                                        "pipe.snapshot.cfg",
                                        "pipe.snapshot.ingress_trigger",
                                        "pipe.snapshot.ingress_data",
                                        "pipe.snapshot.ingress_liveness",
                                        "none"};
    return brt_schema_named(brt_served(fuzz_service()),
                            names[fuzz_byte(in) % (sizeof names / sizeof *names)]);
}

static BfrtProto__Mode *fuzz_mode(struct fuzz_input *in) {
    BfrtProto__Mode *m = FUZZ_NEW(in, BfrtProto__Mode, BFRT_PROTO__MODE__INIT);
    const uint8_t kind = fuzz_byte(in);
    if (kind < 64)
        return NULL;
    m->scope_case = (BfrtProto__Mode__ScopeCase)(kind % 3);
    if (m->scope_case == BFRT_PROTO__MODE__SCOPE_USER_DEFINED)
        m->user_defined = fuzz_byte(in) | (uint64_t)fuzz_byte(in) << 8;
    else
        m->predef = (BfrtProto__Mode__PredefinedMode)(fuzz_byte(in) % 3);
    return m;
}

static BfrtProto__DynKeyMask *fuzz_masks(struct fuzz_input *in, const struct brt_table *t) {
    BfrtProto__DynKeyMask *m = FUZZ_NEW(in, BfrtProto__DynKeyMask, BFRT_PROTO__DYN_KEY_MASK__INIT);
    m->fields = fuzz_take(in, sizeof *m->fields);
    m->fields[0] = FUZZ_NEW(in, BfrtProto__KeyFieldMask, BFRT_PROTO__KEY_FIELD_MASK__INIT);
    const struct brt_field *f = t ? fuzz_choose(in, t->keys, t->n_keys, 0) : NULL;
    m->fields[0]->field_id = f ? f->id : 1;
    m->fields[0]->mask = fuzz_value(in, f);
    m->n_fields = 1;
    return m;
}

static void fuzz_attribute(struct fuzz_input *in, BfrtProto__Entity *entity) {
    BfrtProto__TableAttribute *a =
        FUZZ_NEW(in, BfrtProto__TableAttribute, BFRT_PROTO__TABLE_ATTRIBUTE__INIT);
    const struct brt_table *t = fuzz_table(in);
    a->table_id = t ? t->id : 1;
    entity->entity_case = BFRT_PROTO__ENTITY__ENTITY_TABLE_ATTRIBUTE;
    entity->table_attribute = a;
    switch (fuzz_byte(in) % 4) {
    case 0:
        a->entry_scope = FUZZ_NEW(in, BfrtProto__EntryScope, BFRT_PROTO__ENTRY_SCOPE__INIT);
        a->entry_scope->pipe_scope = fuzz_mode(in);
        a->entry_scope->gress_scope = fuzz_mode(in);
        a->entry_scope->prsr_scope = fuzz_mode(in);
        a->attribute_case = BFRT_PROTO__TABLE_ATTRIBUTE__ATTRIBUTE_ENTRY_SCOPE;
        break;
    case 1:
        a->idle_table = FUZZ_NEW(in, BfrtProto__IdleTable, BFRT_PROTO__IDLE_TABLE__INIT);
        a->idle_table->enable = fuzz_byte(in) & 1;
        a->idle_table->idle_table_mode = (BfrtProto__IdleTable__IdleTableMode)(fuzz_byte(in) % 3);
        a->attribute_case = BFRT_PROTO__TABLE_ATTRIBUTE__ATTRIBUTE_IDLE_TABLE;
        break;
    case 2:
        a->dyn_key_mask = fuzz_masks(in, t);
        a->attribute_case = BFRT_PROTO__TABLE_ATTRIBUTE__ATTRIBUTE_DYN_KEY_MASK;
        break;
    default:
        break;
    }
}

static void fuzz_operation(struct fuzz_input *in, BfrtProto__Entity *entity) {
    static char *const names[] = {"Sync", "SyncCounters", "SyncRegisters", "UpdateHitState", ""};
    BfrtProto__TableOperation *o =
        FUZZ_NEW(in, BfrtProto__TableOperation, BFRT_PROTO__TABLE_OPERATION__INIT);
    const struct brt_table *t = fuzz_table(in);
    o->table_id = t ? t->id : 1;
    o->table_operations_type = names[fuzz_byte(in) % (sizeof names / sizeof *names)];
    entity->entity_case = BFRT_PROTO__ENTITY__ENTITY_TABLE_OPERATION;
    entity->table_operation = o;
}

// ---- tables that every switch has ----

static BfrtProto__DataField *fuzz_fixed_list(struct fuzz_input *in, const struct fixed_field *f) {
    BfrtProto__DataField *d = FUZZ_NEW(in, BfrtProto__DataField, BFRT_PROTO__DATA_FIELD__INIT);
    const size_t n = fuzz_byte(in) % MOST_FIELDS;
    if (f->type == FIXED_BOOL) {
        d->value_case = BFRT_PROTO__DATA_FIELD__VALUE_BOOL_ARR_VAL;
        d->bool_arr_val =
            FUZZ_NEW(in, BfrtProto__DataField__BoolArray, BFRT_PROTO__DATA_FIELD__BOOL_ARRAY__INIT);
        d->bool_arr_val->val = fuzz_take(in, MOST_FIELDS * sizeof *d->bool_arr_val->val);
        while (d->bool_arr_val->n_val < n)
            d->bool_arr_val->val[d->bool_arr_val->n_val++] = fuzz_byte(in) & 1;
        return d;
    }
    d->value_case = BFRT_PROTO__DATA_FIELD__VALUE_INT_ARR_VAL;
    d->int_arr_val =
        FUZZ_NEW(in, BfrtProto__DataField__IntArray, BFRT_PROTO__DATA_FIELD__INT_ARRAY__INIT);
    d->int_arr_val->val = fuzz_take(in, MOST_FIELDS * sizeof *d->int_arr_val->val);
    while (d->int_arr_val->n_val < n) {
        const uint8_t value = fuzz_byte(in);
        d->int_arr_val->val[d->int_arr_val->n_val++] = value < 250 ? value % 8 : UINT32_MAX;
    }
    return d;
}

static const char *fuzz_fixed_choice(struct fuzz_input *in, const struct fixed_field *f) {
    size_t n = 0;
    while (f->choices[n])
        n++;
    return f->choices[fuzz_byte(in) % n];
}

static BfrtProto__DataField *fuzz_fixed_datum(struct fuzz_input *in, const struct fixed_field *f) {
    const struct brt_field as = {
        .id = f->id, .type = f->type == FIXED_STRING ? BRT_STRING : BRT_STREAM, .width = f->width};
    BfrtProto__DataField *d =
        f->repeated && fuzz_byte(in) < 240 ? fuzz_fixed_list(in, f) : fuzz_datum(in, &as);
    d->field_id = f->id;
    if (f->type == FIXED_BOOL && !f->repeated) {
        d->value_case = BFRT_PROTO__DATA_FIELD__VALUE_BOOL_VAL;
        d->bool_val = fuzz_byte(in) & 1;
    }
    if (d->value_case == BFRT_PROTO__DATA_FIELD__VALUE_STR_VAL && f->choices)
        d->str_val = (char *)fuzz_fixed_choice(in, f);
    return d;
}

static void fuzz_fixed(struct fuzz_input *in, BfrtProto__TableEntry *e) {
    size_t n;
    const struct fixed_table *list =
        fixed_family(fuzz_service(), fuzz_byte(in) % FIXED_FAMILIES, &n);
    const struct fixed_table *t = &list[fuzz_byte(in) % n];
    const uint8_t parts = fuzz_byte(in);
    BfrtProto__TableKey *key = FUZZ_NEW(in, BfrtProto__TableKey, BFRT_PROTO__TABLE_KEY__INIT);
    BfrtProto__TableData *data = FUZZ_NEW(in, BfrtProto__TableData, BFRT_PROTO__TABLE_DATA__INIT);
    e->table_id = t->id;
    e->is_default_entry = parts % 16 == 0;
    e->table_flags = FUZZ_NEW(in, BfrtProto__TableFlags, BFRT_PROTO__TABLE_FLAGS__INIT);
    e->table_flags->mod_del = parts & 1;
    key->fields = fuzz_take(in, MOST_FIELDS * sizeof *key->fields);
    for (size_t i = 0; i < t->n_keys; i++) {
        const struct brt_field as = {.id = t->keys[i].id,
                                     .width = t->keys[i].width ? t->keys[i].width : 24u};
        BfrtProto__KeyField *k = fuzz_key_field(in, &as);
        key->fields[key->n_fields++] = k;
        if (t->keys[i].choices && k->match_type_case == BFRT_PROTO__KEY_FIELD__MATCH_TYPE_EXACT) {
            const char *text = fuzz_fixed_choice(in, &t->keys[i]);
            k->exact->value = (ProtobufCBinaryData){strlen(text), (uint8_t *)text};
        }
    }
    if (t->by_pipe) {
        e->entry_tgt = FUZZ_NEW(in, BfrtProto__TargetDevice, BFRT_PROTO__TARGET_DEVICE__INIT);
        const uint8_t pipe = fuzz_byte(in) % 6;
        e->entry_tgt->pipe_id = pipe < 5 ? pipe : BRT_ALL_PIPES;
    }
    data->action_id = t->n_actions ? t->actions[fuzz_byte(in) % t->n_actions].id : 0;
    data->fields = fuzz_take(in, MOST_FIELDS * sizeof *data->fields);
    for (size_t i = fuzz_byte(in) % MOST_FIELDS; i > 0 && t->n_data; i--)
        data->fields[data->n_fields++] = fuzz_fixed_datum(in, &t->data[fuzz_byte(in) % t->n_data]);
    if (parts & 32) {
        e->value_case = BFRT_PROTO__TABLE_ENTRY__VALUE_KEY;
        e->key = key;
    }
    if (parts & 64)
        e->data = data;
}

static BfrtProto__Entity *fuzz_entity(struct fuzz_input *in) {
    BfrtProto__Entity *entity = FUZZ_NEW(in, BfrtProto__Entity, BFRT_PROTO__ENTITY__INIT);
    BfrtProto__TableEntry *e = FUZZ_NEW(in, BfrtProto__TableEntry, BFRT_PROTO__TABLE_ENTRY__INIT);
    const uint8_t kind = fuzz_byte(in);
    if (kind >= 224) {
        kind >= 240 ? fuzz_attribute(in, entity) : fuzz_operation(in, entity);
        return entity;
    }
    entity->entity_case = BFRT_PROTO__ENTITY__ENTITY_TABLE_ENTRY;
    entity->table_entry = e;
    if (kind >= 176) {
        fuzz_fixed(in, e);
        return entity;
    }
    const struct brt_table *t = fuzz_table(in);
    const uint8_t parts = fuzz_byte(in);
    e->table_id = t ? t->id : 1;
    e->is_default_entry = parts % 8 == 0;
    if (kind < 32) {
        e->entry_tgt = FUZZ_NEW(in, BfrtProto__TargetDevice, BFRT_PROTO__TARGET_DEVICE__INIT);
        e->entry_tgt->pipe_id = kind % 8 ? kind % 8 : BRT_ALL_PIPES;
    }
    if (parts & 16)
        fuzz_key(in, t, e);
    if (parts & 32)
        fuzz_data(in, t, e);
    return entity;
}

// ---- one call after the other ----

static void fuzz_write(struct fuzz_input *in, struct brt_bytes *out) {
    const size_t n = 1 + fuzz_byte(in) % MOST_UPDATES;
    for (size_t i = 0; i < n; i++) {
        BfrtProto__Update update = BFRT_PROTO__UPDATE__INIT;
        update.type = (BfrtProto__Update__Type)(fuzz_byte(in) % 8);
        update.entity = fuzz_entity(in);
        brt_append(out, 3, &update.base);
    }
}

static void fuzz_read(struct fuzz_input *in, struct brt_bytes *out) {
    const size_t n = 1 + fuzz_byte(in) % MOST_UPDATES;
    for (size_t i = 0; i < n; i++)
        brt_append(out, 3, &fuzz_entity(in)->base);
}

// A program that a client sends: mostly a good package, or with one byte changed, or cut.
static void fuzz_config(struct fuzz_input *in, struct brt_bytes *out) {
    BfrtProto__ForwardingPipelineConfig config = BFRT_PROTO__FORWARDING_PIPELINE_CONFIG__INIT;
    BfrtProto__ForwardingPipelineConfig__Profile profile =
        BFRT_PROTO__FORWARDING_PIPELINE_CONFIG__PROFILE__INIT;
    BfrtProto__ForwardingPipelineConfig__Profile *profiles[] = {&profile, &profile};
    const uint8_t action = fuzz_byte(in) % 7, parts = fuzz_byte(in);
    uint32_t scope[] = {fuzz_byte(in) % 6, fuzz_byte(in) % 6};
    size_t n = fuzz_byte(in), length;
    n = n < (size_t)(in->end - in->at) ? n : (size_t)(in->end - in->at);
    uint8_t *package = brt_package_write(in->at, n, &length);
    in->at += n;
    if (parts & 1)
        package[fuzz_byte(in) % length] ^= 1;
    if (parts & 2)
        length = fuzz_byte(in) % length;
    config.p4_name = parts & 4 ? "../x" : "x";
    profile.profile_name = "pipe";
    profile.pipe_scope = scope;
    profile.n_pipe_scope = parts >> 3 & 1 ? 2 : 0;
    profile.binary.data = package;
    profile.binary.len = length;
    config.profiles = profiles;
    config.n_profiles = 1 + (parts >> 4 & 1);
    brt_append(out, 6, &config.base);
    if (parts & 32) { // and another one in the other pipes
        uint32_t others[SK_PIPES];
        profile.pipe_scope = others;
        profile.n_pipe_scope = 0;
        for (uint32_t pipe = 0; pipe < SK_PIPES; pipe++)
            if (pipe != scope[0] && pipe != scope[1])
                others[profile.n_pipe_scope++] = pipe;
        config.p4_name = parts & 64 ? "x" : "y";
        brt_append(out, 6, &config.base);
    }
    free(package);
    out->bytes = realloc(out->bytes, out->n + 2);
    if (!out->bytes)
        abort();
    out->bytes[out->n++] = 3 << 3;
    out->bytes[out->n++] = action;
    out->room = out->n;
}

static const struct {
    void (*call)(struct brt *b, const struct brt_call *c, const uint8_t *bytes, size_t length);
    void (*make)(struct fuzz_input *in, struct brt_bytes *out); // null: the bytes themselves
    const ProtobufCMessageDescriptor *answer;
    bool stream;
} calls[] = {
    {brt_write, fuzz_write, &bfrt_proto__write_response__descriptor, false},
    {brt_read, fuzz_read, &bfrt_proto__read_response__descriptor, false},
    {brt_write, NULL, &bfrt_proto__write_response__descriptor, false},
    {brt_read, NULL, &bfrt_proto__read_response__descriptor, false},
    {brt_set_config, NULL, &bfrt_proto__set_forwarding_pipeline_config_response__descriptor, false},
    {brt_get_config, NULL, &bfrt_proto__get_forwarding_pipeline_config_response__descriptor, false},
    {brt_stream_message, NULL, &bfrt_proto__stream_message_response__descriptor, true},
    {brt_set_config, fuzz_config, &bfrt_proto__set_forwarding_pipeline_config_response__descriptor,
     false},
};

static void fuzz_one(struct fuzz_input *in, struct brt *b) {
    static const uint8_t program[] = "\x2a\x0a"
                                     "everything",
                         of_read[] = "\x22\x0a"
                                     "everything",
                         whole_or_not[] = "\x20\x01";
    const uint8_t kind = fuzz_byte(in);
    const size_t i = kind % (sizeof calls / sizeof *calls);
    struct fuzz_call call = {.answer = calls[i].answer, .error_in_response = kind & 128};
    struct brt_bytes made = {0};
    const uint8_t *bytes = in->at;
    size_t length = fuzz_byte(in);
    if (calls[i].make) {
        calls[i].make(in, &made);
        made.bytes = realloc(made.bytes, made.n + 14);
        if (!made.bytes)
            abort();
        memcpy(made.bytes + made.n, calls[i].make != fuzz_read ? program : of_read, 12);
        memcpy(made.bytes + made.n + 12, whole_or_not, 2);
        bytes = made.bytes;
        length = made.n + (i == 0 && kind & 64 ? 14 : 12);
    } else {
        bytes = in->at;
        length = length < (size_t)(in->end - in->at) ? length : (size_t)(in->end - in->at);
        in->at += length;
    }
    calls[i].call(b, &(struct brt_call){&carrier, &call}, bytes, length);
    brt_start_turn(b);
    if (call.ended != 1 && !(calls[i].stream && call.ended == 0))
        abort();
    brt_stream_over(b, &call);
    free(made.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static uint64_t now;
    struct brt *b = fuzz_service();
    struct fuzz_input in = {.at = data, .end = data + size};
    brt_memory_init(&in.memory, BRT_SCRATCH_BYTES);
    while (in.at < in.end) {
        fuzz_one(&in, b);
        brt_snapshot_turn(b, now += SNAPSHOT_TURN_NS);
    }
    brt_memory_free(&in.memory);
    return 0;
}
