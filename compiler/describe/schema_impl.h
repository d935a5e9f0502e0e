// SPDX-License-Identifier: Apache-2.0
//
// schema_impl: what bfrt.c and p4info.c share: names and identifiers.
#ifndef SILKEN_COMPILER_DESCRIBE_SCHEMA_IMPL_H
#define SILKEN_COMPILER_DESCRIBE_SCHEMA_IMPL_H

#include "compiler/ir/target.h"
#include "compiler/base/json_out.h"
#include "compiler/describe/schema.h"

enum schema_kind {
    SCHEMA_ACTION,
    SCHEMA_TABLE,
    SCHEMA_VALUE_SET,
    SCHEMA_PROFILE,
    SCHEMA_SELECTOR,
    SCHEMA_GET_MEMBER,
    SCHEMA_COUNTER,
    SCHEMA_DIRECT_COUNTER,
    SCHEMA_METER,
    SCHEMA_DIRECT_METER,
    SCHEMA_WRED,
    SCHEMA_LPF,
    SCHEMA_REGISTER,
    SCHEMA_REGISTER_PARAM,
    SCHEMA_DIGEST,
    SCHEMA_PORT_METADATA,
    SCHEMA_HASH, // its table 'configure', which gives the other two their number
    SCHEMA_HASH_COMPUTE,
    SCHEMA_HASH_ALGORITHM,
    SCHEMA_CONTROLLER_HEADER,
    SCHEMA_SNAPSHOT, // its table 'cfg'; the others have its number
    SCHEMA_SNAPSHOT_TRIGGER,
    SCHEMA_SNAPSHOT_DATA,
    SCHEMA_SNAPSHOT_LIVENESS,
    SCHEMA_KINDS
};

// Identifiers given out so far. Those of a kind differ; a name asked for again gets its own again.
struct schema_id {
    enum schema_kind kind;
    uint32_t base;
    const char *name;
    struct schema_id *next; // in its bucket
};
struct schema_ids {
    struct arena *a;
    struct schema_id **buckets; // by kind and base; a power of two of them
    size_t n_buckets, n;
};
// The 24-bit part: Jenkins's one-at-a-time hash of the name, the next free number when taken.
uint32_t schema_base(struct schema_ids *ids, enum schema_kind kind, const char *name);
// With a null name only the prefix.
uint32_t schema_bfrt_id(struct schema_ids *ids, enum schema_kind kind, const char *name);
uint32_t schema_p4info_id(struct schema_ids *ids, enum schema_kind kind, const char *name);

// An action is named without its pipeline: pipelines with the same control share it.
const char *schema_local(const struct ir_pipeline *p, const char *name);
// The last component of a dotted name.
const char *schema_alias(const char *name);
// Entries of a table without 'size' (tna-facts 4.12).
uint64_t schema_table_size(const struct ir_table *t);

// ---- bfrt_hash.c: the tables of a hash that can be changed; of others nothing
void schema_bfrt_hash(struct json_out *j, struct arena *a, struct schema_ids *ids,
                      const struct ir_hash *h);

#endif
