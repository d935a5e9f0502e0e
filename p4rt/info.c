// SPDX-License-Identifier: Apache-2.0
//
// The program's P4Info, joined with the tables that BF Runtime's description names: an object has
// the same number there, after another first byte (compiler/describe/schema.c).
#include <stdlib.h>
#include <string.h>

#include "p4rt/p4rt_impl.h"

#define INFO_NUMBER 0xffffffu

static void *info_list(size_t n, size_t size) {
    void *list = calloc(n + 1, size);
    if (!list)
        abort();
    return list;
}

// P4Info names an object without its pipeline.
static bool info_is_called(const char *full, const char *name) {
    const char *dot = strchr(full, '.');
    return strcmp(full, name) == 0 || (dot && strcmp(dot + 1, name) == 0);
}

static const struct brt_table *info_find(const struct brt_schema *s, unsigned prefix,
                                         const P4__Config__V1__Preamble *of, struct sk_error *err) {
    const struct brt_table *t =
        brt_schema_table(s, (uint32_t)prefix << 24 | (of->id & INFO_NUMBER));
    if (t && info_is_called(t->name, of->name))
        return t;
    sk_fail(err, "the program's P4Info has '%s', and its BF Runtime description does not",
            of->name);
    return NULL;
}

const P4__Config__V1__Action *p4rt_info_action(const struct p4rt_info *i, uint32_t id) {
    const P4__Config__V1__P4Info *m = i->message;
    for (size_t k = 0; k < m->n_actions; k++)
        if (m->actions[k]->preamble->id == id)
            return m->actions[k];
    return NULL;
}

// ---- tables ----

// An action has one id in both descriptions.
static int info_check_action(const struct p4rt_info *i, const struct brt_table *has, uint32_t id,
                             struct sk_error *err) {
    const P4__Config__V1__Action *info = p4rt_info_action(i, id);
    const struct brt_action *a = brt_table_action(has, id);
    if (info && a && a->n == info->n_params && info_is_called(a->name, info->preamble->name))
        return 0;
    return sk_fail(err, "action %u of table '%s' differs between the two descriptions", id,
                   has->name);
}

static int info_join_table(struct p4rt_info *i, const struct brt_schema *s, struct p4rt_table *t,
                           struct sk_error *err) {
    const P4__Config__V1__Table *info = t->info;
    t->table = info_find(s, 0x02, info->preamble, err);
    if (!t->table)
        return -1;
    for (size_t k = 0; info->implementation_id && k < i->n_profiles; k++)
        if (i->profiles[k].info->preamble->id == info->implementation_id)
            t->profile = &i->profiles[k];
    t->has_priority =
        t->table->n_keys > 0 && t->table->keys[t->table->n_keys - 1].meaning == BRT_PRIORITY;
    if (t->table->n_keys - t->has_priority != info->n_match_fields)
        return sk_fail(err, "the key of table '%s' differs between the two descriptions",
                       t->table->name);
    // those of a profile's members are the profile's, and a default action may be neither's
    for (size_t k = 0; !t->profile && k < info->n_action_refs; k++)
        if (info_check_action(i, t->table, info->action_refs[k]->id, err))
            return -1;
    return 0;
}

static int info_join_profile(const struct p4rt_info *i, const struct brt_schema *s,
                             struct p4rt_profile *p, struct sk_error *err) {
    p->members = info_find(s, 0x81, p->info->preamble, err);
    for (size_t k = 0; p->members && k < i->message->n_tables; k++) {
        const P4__Config__V1__Table *info = i->message->tables[k];
        if (info->implementation_id != p->info->preamble->id)
            continue;
        const struct brt_table *t = info_find(s, 0x02, info->preamble, err);
        if (!t)
            return -1;
        if (t->desc->selector)
            p->groups = brt_schema_named(s, t->desc->selector->name);
    }
    p->sets = p->groups ? p4rt_sets_new() : NULL;
    return p->members ? 0 : -1;
}

// ---- arrays ----

static int info_join_array(struct p4rt_info *i, const struct brt_schema *s, unsigned prefix,
                           const P4__Config__V1__Preamble *of,
                           const P4__Config__V1__P4DataTypeSpec *type, struct sk_error *err) {
    struct p4rt_array *a = &i->arrays[i->n_arrays];
    a->id = of->id;
    a->type = type;
    a->table = info_find(s, prefix, of, err);
    i->n_arrays += a->table != NULL;
    return a->table ? 0 : -1;
}

static int info_join_arrays(struct p4rt_info *i, const struct brt_schema *s, struct sk_error *err) {
    const P4__Config__V1__P4Info *m = i->message;
    int rc = 0;
    i->arrays = info_list(m->n_counters + m->n_meters + m->n_registers, sizeof *i->arrays);
    for (size_t k = 0; rc == 0 && k < m->n_counters; k++)
        rc = info_join_array(i, s, 0x83, m->counters[k]->preamble, NULL, err);
    for (size_t k = 0; rc == 0 && k < m->n_meters; k++)
        rc = info_join_array(i, s, 0x85, m->meters[k]->preamble, NULL, err);
    for (size_t k = 0; rc == 0 && k < m->n_registers; k++)
        rc =
            info_join_array(i, s, 0x8b, m->registers[k]->preamble, m->registers[k]->type_spec, err);
    return rc;
}

static int info_join(struct p4rt_info *i, const struct brt_schema *s, struct sk_error *err) {
    const P4__Config__V1__P4Info *m = i->message;
    i->profiles = info_list(m->n_action_profiles, sizeof *i->profiles);
    i->tables = info_list(m->n_tables, sizeof *i->tables);
    i->digests = info_list(m->n_digests, sizeof *i->digests);
    int rc = info_join_arrays(i, s, err);
    for (; rc == 0 && i->n_profiles < m->n_action_profiles; i->n_profiles++) {
        i->profiles[i->n_profiles].info = m->action_profiles[i->n_profiles];
        rc = info_join_profile(i, s, &i->profiles[i->n_profiles], err);
    }
    while (rc == 0 && i->n_tables < m->n_tables) {
        struct p4rt_table *t = &i->tables[i->n_tables];
        t->info = m->tables[i->n_tables++];
        rc = info_join_table(i, s, t, err);
    }
    return rc;
}

struct p4rt_info *p4rt_info_new(const struct brt_schema *s, const char *text,
                                struct sk_error *err) {
    struct p4rt_info *i = info_list(1, sizeof *i);
    i->message =
        (P4__Config__V1__P4Info *)p4rt_text_read(&p4__config__v1__p4_info__descriptor, text, err);
    if (i->message && info_join(i, s, err) == 0)
        return i;
    p4rt_info_free(i);
    return NULL;
}

uint8_t *p4rt_info_binary(const char *p4info, size_t *n, struct sk_error *err) {
    ProtobufCMessage *const m = p4rt_text_read(&p4__config__v1__p4_info__descriptor, p4info, err);
    if (!m)
        return NULL;
    *n = protobuf_c_message_get_packed_size(m);
    uint8_t *const bytes = malloc(*n + 1);
    if (!bytes)
        abort();
    protobuf_c_message_pack(m, bytes);
    protobuf_c_message_free_unpacked(m, NULL);
    return bytes;
}

void p4rt_info_free(struct p4rt_info *i) {
    if (!i)
        return;
    for (size_t k = 0; i->profiles && k < i->message->n_action_profiles; k++)
        p4rt_sets_free(i->profiles[k].sets);
    free(i->tables);
    free(i->profiles);
    free(i->arrays);
    free(i->digests);
    if (i->message)
        p4__config__v1__p4_info__free_unpacked(i->message, NULL);
    free(i);
}

// ---- finding ----

const struct p4rt_table *p4rt_info_table(const struct p4rt_info *i, uint32_t id) {
    for (size_t k = 0; k < i->n_tables; k++)
        if (i->tables[k].info->preamble->id == id)
            return &i->tables[k];
    return NULL;
}

const struct p4rt_table *p4rt_info_of(const struct p4rt_info *i, const struct sk_table_desc *d) {
    for (size_t k = 0; k < i->n_tables; k++)
        if (i->tables[k].table->desc == d)
            return &i->tables[k];
    return NULL;
}

const struct p4rt_profile *p4rt_info_profile(const struct p4rt_info *i, uint32_t id) {
    for (size_t k = 0; k < i->n_profiles; k++)
        if (i->profiles[k].info->preamble->id == id)
            return &i->profiles[k];
    return NULL;
}

const struct p4rt_array *p4rt_info_array(const struct p4rt_info *i, uint32_t id,
                                         enum brt_kind kind) {
    for (size_t k = 0; k < i->n_arrays; k++)
        if (i->arrays[k].id == id && i->arrays[k].table->kind == kind)
            return &i->arrays[k];
    return NULL;
}

const P4__Config__V1__Digest *p4rt_info_digest(const struct p4rt_info *i, const char *name) {
    for (size_t k = 0; k < i->message->n_digests; k++)
        if (info_is_called(name, i->message->digests[k]->preamble->name))
            return i->message->digests[k];
    return NULL;
}
