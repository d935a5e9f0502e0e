// SPDX-License-Identifier: Apache-2.0
//
// dump: all tables of a server, one Read each. A table that is not alike in all pipes, or that is
// asked for by pipe, is read in each. What cannot be read keeps the server's sentence.
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "brt/status.pb-c.h"
#include "rpc/client.h"
#include "twin/items.h"
#include "twin/schema.h"

#define DUMP_CLIENT    1u // not subscribed: it names its program in each call
#define DUMP_ALL_PIPES 0xffffu
#define DUMP_PIPES     4u
#define DUMP_ANY       0xffu // gress, parser
#define DUMP_NAME      200u

// ---- a server at an address ----

// What a failed call is about: the last of its updates' errors, or the call's own sentence.
static void dump_sentence(const struct rpc_client_end *end, struct sk_error *err) {
    Google__Rpc__Status *s =
        end->details ? google__rpc__status__unpack(NULL, end->n_details, end->details) : NULL;
    BfrtProto__Error *last = NULL;
    if (s && s->n_details && s->details[s->n_details - 1]) {
        const ProtobufCBinaryData *v = &s->details[s->n_details - 1]->value;
        last = bfrt_proto__error__unpack(NULL, v->len, v->data);
    }
    if (last && last->message && *last->message)
        sk_fail(err, "%s", last->message);
    else
        sk_fail(err, "the call failed with status %d%s%s", (int)end->status,
                *end->message ? ": " : "", end->message);
    if (last)
        bfrt_proto__error__free_unpacked(last, NULL);
    if (s)
        google__rpc__status__free_unpacked(s, NULL);
}

static int dump_remote(void *aux, const char *method, const uint8_t *bytes, size_t length,
                       void (*message)(void *aux, const uint8_t *bytes, size_t length),
                       void *message_aux, struct sk_error *err) {
    struct rpc_client_end end;
    char path[64];
    snprintf(path, sizeof path, "/bfrt_proto.BfRuntime/%s", method);
    if (rpc_client_call(aux, path, bytes, length, message, message_aux, &end, err))
        return -1;
    if (end.status == RPC_OK)
        return 0;
    dump_sentence(&end, err);
    return 1;
}

struct twin_caller twin_remote(struct rpc_client *c) {
    return (struct twin_caller){.call = dump_remote, .aux = c};
}

// ---- the program ----

struct dump {
    const struct twin_caller *caller;
    struct twin_tables *out;
    const char *wanted; // program; or null
    struct sk_error *err;
    bool failed; // 'err' has a sentence
    bool seen;   // the program
    // of one Read
    const json_t *table;
    json_t *entries;
    int pipe;   // -1: all
    int scoped; // of the attribute: -1 not known, else whether entries are by pipe
};

static void dump_fail(struct dump *d, const char *why) {
    if (!d->failed)
        sk_fail(d->err, "%s", why);
    d->failed = true;
}

// Only names that can be a file's, each once: what follows makes files of them.
static void dump_add_schema(struct dump *d, const ProtobufCBinaryData *text) {
    size_t n;
    char *clean = twin_text_clean((const char *)text->data, text->len, &n);
    json_t *root = json_loadb(clean, n, JSON_REJECT_DUPLICATES, NULL),
           *list = json_object_get(json_array_get(root, 0), "tables");
    free(clean);
    if (!json_is_array(list))
        dump_fail(d, "the server's description of its tables is not to be understood");
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *table = json_array_get(list, i);
        const char *name = twin_schema_name(table);
        if (!twin_name_is_file(name) || twin_schema_table(d->out->schema, name)) {
            dump_fail(d, "the server has a table without a usable name of its own");
            break;
        }
        json_array_append(d->out->schema, table);
    }
    json_decref(root);
}

static void dump_see_config(void *aux, const uint8_t *bytes, size_t length) {
    struct dump *d = aux;
    BfrtProto__GetForwardingPipelineConfigResponse *r =
        bfrt_proto__get_forwarding_pipeline_config_response__unpack(NULL, length, bytes);
    if (!r) {
        dump_fail(d, "the server's reply is not to be understood");
        return;
    }
    if (r->n_config > 1 && !d->wanted)
        dump_fail(d, "the server runs several programs; --program chooses one");
    for (size_t i = 0; i < r->n_config && !d->seen && !d->failed; i++) {
        const BfrtProto__ForwardingPipelineConfig *c = r->config[i];
        if (d->wanted && strcmp(d->wanted, c->p4_name) != 0)
            continue;
        d->seen = true;
        d->out->program = sk_copy_text(c->p4_name);
        dump_add_schema(d, &c->bfruntime_info);
    }
    if (d->seen && r->non_p4_config && r->non_p4_config->bfruntime_info.len)
        dump_add_schema(d, &r->non_p4_config->bfruntime_info);
    bfrt_proto__get_forwarding_pipeline_config_response__free_unpacked(r, NULL);
}

static int dump_get_config(struct dump *d) {
    BfrtProto__GetForwardingPipelineConfigRequest r =
        BFRT_PROTO__GET_FORWARDING_PIPELINE_CONFIG_REQUEST__INIT;
    uint8_t bytes[64];
    r.client_id = DUMP_CLIENT;
    const size_t n = bfrt_proto__get_forwarding_pipeline_config_request__pack(&r, bytes);
    if (d->caller->call(d->caller->aux, "GetForwardingPipelineConfig", bytes, n, dump_see_config, d,
                        d->err))
        return -1;
    if (!d->failed && !d->seen)
        return sk_fail(d->err, "the server has no program%s%s", d->wanted ? " " : "",
                       d->wanted ? d->wanted : "");
    return d->failed ? -1 : 0;
}

// ---- tables ----

static void dump_see_entry(struct dump *d, const BfrtProto__TableEntry *e) {
    json_t *entry = twin_decode(d->table, e, d->err);
    if (!entry) {
        d->failed = true;
        return;
    }
    if (d->pipe >= 0)
        json_object_set_new(entry, "pipe", json_integer(d->pipe));
    json_array_append_new(d->entries, entry);
}

static void dump_see_scope(struct dump *d, const BfrtProto__TableAttribute *a) {
    const BfrtProto__Mode *m =
        a->attribute_case == BFRT_PROTO__TABLE_ATTRIBUTE__ATTRIBUTE_ENTRY_SCOPE && a->entry_scope
            ? a->entry_scope->pipe_scope
            : NULL;
    if (m)
        d->scoped = m->scope_case == BFRT_PROTO__MODE__SCOPE_USER_DEFINED ||
                    m->predef == BFRT_PROTO__MODE__PREDEFINED_MODE__SINGLE;
}

static void dump_see_reply(void *aux, const uint8_t *bytes, size_t length) {
    struct dump *d = aux;
    BfrtProto__ReadResponse *r =
        d->failed ? NULL : bfrt_proto__read_response__unpack(NULL, length, bytes);
    if (!r) {
        dump_fail(d, "the server's reply is not to be understood");
        return;
    }
    for (size_t i = 0; i < r->n_entities && !d->failed; i++) {
        const BfrtProto__Entity *e = r->entities[i];
        if (e->entity_case == BFRT_PROTO__ENTITY__ENTITY_TABLE_ENTRY)
            dump_see_entry(d, e->table_entry);
        else if (e->entity_case == BFRT_PROTO__ENTITY__ENTITY_TABLE_ATTRIBUTE)
            dump_see_scope(d, e->table_attribute);
    }
    bfrt_proto__read_response__free_unpacked(r, NULL);
}

// 0, 1 with the server's sentence, or -1.
static int dump_read(struct dump *d, BfrtProto__Entity *entity, int pipe) {
    BfrtProto__TargetDevice target = BFRT_PROTO__TARGET_DEVICE__INIT;
    BfrtProto__ReadRequest r = BFRT_PROTO__READ_REQUEST__INIT;
    target.pipe_id = pipe < 0 ? DUMP_ALL_PIPES : (uint32_t)pipe;
    target.direction = target.prsr_id = DUMP_ANY;
    r.target = &target;
    r.client_id = DUMP_CLIENT;
    r.p4_name = d->out->program;
    r.n_entities = 1;
    r.entities = &entity;
    const size_t n = bfrt_proto__read_request__get_packed_size(&r);
    uint8_t *bytes = malloc(n);
    if (!bytes)
        abort();
    bfrt_proto__read_request__pack(&r, bytes);
    d->pipe = pipe;
    const int rc = d->caller->call(d->caller->aux, "Read", bytes, n, dump_see_reply, d, d->err);
    free(bytes);
    return d->failed ? -1 : rc;
}

static int dump_read_entries(struct dump *d, int pipe) {
    BfrtProto__TableEntry e = BFRT_PROTO__TABLE_ENTRY__INIT;
    BfrtProto__TableFlags flags = BFRT_PROTO__TABLE_FLAGS__INIT;
    BfrtProto__Entity entity = BFRT_PROTO__ENTITY__INIT;
    flags.from_hw = true;
    e.table_id = twin_schema_id(d->table);
    e.table_flags = &flags;
    entity.entity_case = BFRT_PROTO__ENTITY__ENTITY_TABLE_ENTRY;
    entity.table_entry = &e;
    return dump_read(d, &entity, pipe);
}

// Whether entries are those of single pipes. A server that does not say it has none.
static int dump_read_scope(struct dump *d) {
    BfrtProto__TableAttribute a = BFRT_PROTO__TABLE_ATTRIBUTE__INIT;
    BfrtProto__EntryScope scope = BFRT_PROTO__ENTRY_SCOPE__INIT;
    BfrtProto__Entity entity = BFRT_PROTO__ENTITY__INIT;
    d->scoped = -1;
    if (!twin_schema_has(d->table, "attributes", "EntryScope"))
        return 0;
    a.table_id = twin_schema_id(d->table);
    a.attribute_case = BFRT_PROTO__TABLE_ATTRIBUTE__ATTRIBUTE_ENTRY_SCOPE;
    a.entry_scope = &scope;
    entity.entity_case = BFRT_PROTO__ENTITY__ENTITY_TABLE_ATTRIBUTE;
    entity.table_attribute = &a;
    return dump_read(d, &entity, -1) < 0 ? -1 : 0;
}

static int dump_table(struct dump *d) {
    struct sk_error why = {""};
    d->entries = json_array();
    int rc = dump_read_scope(d);
    if (rc == 0)
        rc = d->scoped == 1 ? 1 : dump_read_entries(d, -1);
    if (rc == 1 && d->scoped != 1)
        why = *d->err;
    // a chip may have fewer pipes
    for (int pipe = 0, all = rc; all == 1 && pipe < (int)DUMP_PIPES; pipe++) {
        const int one = dump_read_entries(d, pipe);
        if (one == 1 && pipe == 0 && !*why.text)
            why = *d->err;
        if (one < 0 || pipe == 0)
            rc = one;
        if (one)
            break;
    }
    if (rc < 0) {
        json_decref(d->entries);
        return -1;
    }
    json_t *table = rc ? json_pack("{s:s}", "unread", *why.text ? why.text : d->err->text)
                       : json_pack("{s:O}", "entries", d->entries);
    json_object_set_new(d->out->tables, twin_schema_name(d->table), table);
    json_decref(d->entries);
    return 0;
}

int twin_dump(const struct twin_caller *caller, const char *program, struct twin_tables *out,
              struct sk_error *err) {
    struct dump d = {.caller = caller, .out = out, .wanted = program, .err = err};
    *out = (struct twin_tables){.schema = json_array(), .tables = json_object()};
    int rc = dump_get_config(&d);
    for (size_t i = 0; rc == 0 && i < json_array_size(out->schema); i++) {
        d.table = json_array_get(out->schema, i);
        rc = dump_table(&d);
    }
    if (rc)
        twin_tables_free(out);
    return rc ? -1 : 0;
}

void twin_tables_free(struct twin_tables *t) {
    free(t->program);
    json_decref(t->schema);
    json_decref(t->tables);
    *t = (struct twin_tables){.program = NULL};
}

// ---- files ----

bool twin_name_is_file(const char *name) {
    const size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "._-$[]");
    return n > 0 && !name[n] && n < DUMP_NAME && name[0] != '.';
}

bool twin_tables_write(const struct twin_tables *t, const char *name, FILE *out) {
    const json_t *table = json_object_get(t->tables, name),
                 *entries = json_object_get(table, "entries");
    fputs("{\"silken_twin\": 1, \"program\": ", out);
    twin_decode_quote(t->program, out);
    fputs(", \"table\": ", out);
    twin_decode_quote(name, out);
    if (!entries) {
        fputs(", \"unread\": ", out);
        twin_decode_quote(sk_json_text(table, "unread"), out);
        fputs("}\n", out);
    } else {
        fputs(", \"entries\": [", out);
        for (size_t i = 0; i < json_array_size(entries); i++) {
            fputs(i ? ",\n" : "\n", out);
            twin_decode_print(json_array_get(entries, i), out);
        }
        fputs("\n]}\n", out);
    }
    return fflush(out) == 0 && !ferror(out);
}
