// SPDX-License-Identifier: Apache-2.0
#include "compiler/describe/schema_impl.h"

#include <string.h>

#define BASE_MASK 0xffffffu

// Prefixes of the identifiers, as controllers of the chip know them. An object that P4Runtime has
// no message for has no prefix there.
static const struct {
    uint32_t bfrt, p4info;
} prefixes[SCHEMA_KINDS] = {
    [SCHEMA_ACTION] = {0x01, 0x01},      [SCHEMA_TABLE] = {0x02, 0x02},
    [SCHEMA_VALUE_SET] = {0xfe, 0x03},   [SCHEMA_PROFILE] = {0x81, 0x11},
    [SCHEMA_SELECTOR] = {0x82, 0x11},    [SCHEMA_GET_MEMBER] = {0x9a, 0},
    [SCHEMA_COUNTER] = {0x83, 0x12},     [SCHEMA_DIRECT_COUNTER] = {0x84, 0x13},
    [SCHEMA_METER] = {0x85, 0x14},       [SCHEMA_DIRECT_METER] = {0x86, 0x15},
    [SCHEMA_WRED] = {0x87, 0},           [SCHEMA_LPF] = {0x89, 0},
    [SCHEMA_REGISTER] = {0x8b, 0x16},    [SCHEMA_REGISTER_PARAM] = {0x8d, 0},
    [SCHEMA_DIGEST] = {0x8e, 0x17},      [SCHEMA_PORT_METADATA] = {0x90, 0x90},
    [SCHEMA_HASH] = {0x95, 0},           [SCHEMA_HASH_COMPUTE] = {0x96, 0},
    [SCHEMA_HASH_ALGORITHM] = {0x97, 0}, [SCHEMA_CONTROLLER_HEADER] = {0, 0x04},
    [SCHEMA_SNAPSHOT] = {0x91, 0},       [SCHEMA_SNAPSHOT_TRIGGER] = {0x92, 0},
    [SCHEMA_SNAPSHOT_DATA] = {0x93, 0},  [SCHEMA_SNAPSHOT_LIVENESS] = {0x94, 0},
};

// Bob Jenkins, "A hash function for hash table lookup", one-at-a-time.
static uint32_t one_at_a_time(const char *s) {
    uint32_t h = 0;
    for (const unsigned char *p = (const unsigned char *)s; *p; p++) {
        h += *p;
        h += h << 10;
        h ^= h >> 6;
    }
    h += h << 3;
    h ^= h >> 11;
    return h + (h << 15);
}

static struct schema_id **schema_bucket(const struct schema_ids *ids, enum schema_kind kind,
                                        uint32_t base) {
    return &ids->buckets[(base + (uint32_t)kind * 0x9e3779b1u) & (ids->n_buckets - 1)];
}

static void put_id(struct schema_ids *ids, struct schema_id *id) {
    struct schema_id **const b = schema_bucket(ids, id->kind, id->base);
    id->next = *b;
    *b = id;
}

static void grow_ids(struct schema_ids *ids) {
    const struct schema_ids old = *ids;
    ids->n_buckets = old.n_buckets ? 2 * old.n_buckets : 64;
    ids->buckets = ARENA_ARRAY(ids->a, struct schema_id *, ids->n_buckets);
    for (size_t i = 0; i < old.n_buckets; i++)
        for (struct schema_id *id = old.buckets[i], *next; id; id = next) {
            next = id->next;
            put_id(ids, id);
        }
}

static const struct schema_id *schema_id_at(const struct schema_ids *ids, enum schema_kind kind,
                                            uint32_t base) {
    struct schema_id *id = ids->n_buckets ? *schema_bucket(ids, kind, base) : NULL;
    while (id && (id->kind != kind || id->base != base))
        id = id->next;
    return id;
}

// Nothing is ever taken away: a name that has a number is found before the first free one.
uint32_t schema_base(struct schema_ids *ids, enum schema_kind kind, const char *name) {
    const struct schema_id *there = NULL;
    uint32_t base = one_at_a_time(name) & BASE_MASK;
    while (base == 0 || ((there = schema_id_at(ids, kind, base)) && strcmp(there->name, name) != 0))
        base = (base + 1) & BASE_MASK;
    if (there)
        return base;
    if (ids->n == ids->n_buckets)
        grow_ids(ids);
    struct schema_id *const id = ARENA_NEW(ids->a, struct schema_id);
    *id = (struct schema_id){.kind = kind, .base = base, .name = name};
    put_id(ids, id);
    ids->n++;
    return base;
}

uint32_t schema_bfrt_id(struct schema_ids *ids, enum schema_kind kind, const char *name) {
    return prefixes[kind].bfrt << 24 | (name ? schema_base(ids, kind, name) : 0);
}

uint32_t schema_p4info_id(struct schema_ids *ids, enum schema_kind kind, const char *name) {
    return prefixes[kind].p4info << 24 | schema_base(ids, kind, name);
}

const char *schema_local(const struct ir_pipeline *p, const char *name) {
    size_t n = strlen(p->name);
    return strncmp(name, p->name, n) == 0 && name[n] == '.' ? name + n + 1 : name;
}

const char *schema_alias(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

uint64_t schema_table_size(const struct ir_table *t) {
    return t->size ? t->size : CHIP_TABLE_SIZE;
}
