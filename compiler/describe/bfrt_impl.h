// SPDX-License-Identifier: Apache-2.0
//
// bfrt_impl: what the files of the BF Runtime schema share: match tables (bfrt_table.c), snapshots
// (bfrt_snapshot.c) and everything else (bfrt.c).
#ifndef SILKEN_COMPILER_DESCRIBE_BFRT_IMPL_H
#define SILKEN_COMPILER_DESCRIBE_BFRT_IMPL_H

#include "compiler/base/json_out.h"
#include "compiler/describe/schema_impl.h"

// Identifiers of the fields that BF Runtime itself gives, the same in every program.
enum {
    ID_MATCH_PRIORITY = 65537,
    ID_MEMBER = 65539,
    ID_GROUP = 65540,
    ID_ENTRY_TTL = 65543,
    ID_HIT_STATE = 65544,
    ID_METER_KBPS = 65545, // four: committed and peak rate, their bursts
    ID_METER_PPS = 65549,
    ID_COUNTER_BYTES = 65553,
    ID_COUNTER_PKTS = 65554,
    ID_METER_INDEX = 65555,
    ID_COUNTER_INDEX = 65556,
    ID_REGISTER_INDEX = 65557,
    ID_LPF_INDEX = 65560,
    ID_WRED_INDEX = 65561,
    ID_GET_MEMBER = 65562,
    ID_GET_GROUP = 65563,
    ID_MEMBER_STATUS = 65564,
    ID_MAX_GROUP_SIZE = 65565,
    ID_ADT_OFFSET = 65566,
    ID_LPF = 65567,  // four
    ID_WRED = 65571, // four
    ID_INGRESS_PORT = 65575,
    ID_DEFAULT_FIELD = 65576,
    ID_HASH_VALUE = 65583,
    ID_SNAPSHOT_STAGE = 65585, // the last one's number follows it
    ID_SNAPSHOT_ENABLE = 65587,
    ID_SNAPSHOT_STATE = 65588,
    ID_SNAPSHOT_TIMER_ENABLE = 65589,
    ID_SNAPSHOT_TIMER_TRIGGER = 65590,
    ID_SNAPSHOT_TIMER_USECS = 65591,
    ID_SNAPSHOT_TABLES = 65594,
    ID_SNAPSHOT_BEFORE = 65597,
    ID_SNAPSHOT_MODE = 65598,
    ID_SNAPSHOT_HERE = 65599,
    ID_SNAPSHOT_NEXT = 65601,
    ID_SNAPSHOT_TABLE = 65609,
    ID_SNAPSHOT_HANDLE = 65612,
    ID_SNAPSHOT_HIT = 65613,
    ID_SNAPSHOT_INHIBITED = 65614,
    ID_SNAPSHOT_EXECUTED = 65615,
    ID_SNAPSHOT_FIELD = 65616,
    ID_SNAPSHOT_STAGES = 65617,
    ID_SNAPSHOT_THREAD = 65618,
    ID_SNAPSHOT_CAPTURES = 65619, // three: ingress, egress, ghost
};
#define PORTS         288u        // entries of the port metadata table
#define SNAPSHOT_MASK 0x8000u     // between a trigger's field and its mask
#define ADT_OFFSET    0xdeadbeefu // what the chip's schema says before an offset is known

struct bfrt {
    struct json_out *j;
    struct arena *a;
    const struct ir_pipeline *p, *first; // the one that is described, the program's first
    struct schema_ids ids;
};

// ---- bfrt.c: pieces
void bfrt_type_bytes(struct bfrt *b, unsigned width);
void bfrt_type_named(struct bfrt *b, const char *type, const uint64_t *dflt);
void bfrt_annotation(struct bfrt *b, const char *name, const char *value);
void bfrt_id_name(struct bfrt *b, uint32_t id, const char *name);
void bfrt_begin_plain(struct bfrt *b, enum schema_kind kind, const char *name, const char *type,
                      uint64_t size);
// What every field begins with, up to its type or what else it has.
void bfrt_field_head(struct bfrt *b, uint32_t id, const char *name, bool repeated);
// A data field of a type that needs no width.
void bfrt_plain_field(struct bfrt *b, bool mandatory, uint32_t id, const char *name,
                      const char *type, const uint64_t *dflt);
// What entries and cells hold.
void bfrt_counter_fields(struct bfrt *b, const struct ir_counter *c);
void bfrt_register_fields(struct bfrt *b, const struct ir_register *r, uint32_t first_id);
void bfrt_meter_fields(struct bfrt *b, const struct ir_meter *m);
void bfrt_ageing_fields(struct bfrt *b);

// What stands around the fields of a table, and of a data field.
void bfrt_begin_table(struct bfrt *b, enum schema_kind kind, const char *name, const char *type,
                      uint64_t size);
void bfrt_end_table(struct bfrt *b, const char *operation, const char *attribute);
void bfrt_one_key(struct bfrt *b, uint32_t id, const char *name, const char *type);
void bfrt_begin_single(struct bfrt *b, bool mandatory, bool read_only);
void bfrt_end_single(struct bfrt *b);

// ---- bfrt_snapshot.c
// The tables of a pipeline's snapshots; 'stages' are those of its gresses.
void bfrt_snapshots(struct bfrt *b, const struct schema_stages *stages);
// What these say of the stages, for the switch itself: members of an object.
void bfrt_snapshot_stages(struct bfrt *b, const struct schema_stages *stages);

// ---- bfrt_table.c
void bfrt_match_table(struct bfrt *b, const struct ir_table *t);
void bfrt_action_specs(struct bfrt *b, const struct ir_table_action *actions, size_t n);

#endif
