// SPDX-License-Identifier: Apache-2.0
//
// schema: a program's description for controllers (compiler/describe/schema.h, the same text that
// clients get), read once and joined with what the running switch has: which table, key field,
// action and argument an id means, so that a call needs no names.
#ifndef SILKEN_BRT_SCHEMA_H
#define SILKEN_BRT_SCHEMA_H

#include <jansson.h>

#include "control/tables/names.h"

enum brt_kind {
    BRT_MATCH, // a match table, or the members of an action profile
    BRT_SELECTOR,
    BRT_GET_MEMBER,
    BRT_REGISTER,
    BRT_PARAM, // of register actions
    BRT_COUNTER,
    BRT_METER, // and filters
    BRT_VALUE_SET,
    BRT_PORT_METADATA,
    BRT_HASH_FIELDS, // what a hash is made of: its table "configure"
    BRT_HASH_ALGORITHM,
    BRT_HASH_COMPUTE,
    BRT_SNAPSHOT, // ranges of stages: the table "cfg"
    BRT_SNAPSHOT_TRIGGER,
    BRT_SNAPSHOT_DATA,
    BRT_SNAPSHOT_LIVENESS,
};

enum brt_type { BRT_STREAM, BRT_FLOAT, BRT_STRING, BRT_BOOL };

// What a field stands for.
enum brt_meaning {
    BRT_KEY,      // field 'index' of the table's key
    BRT_PRIORITY, // $MATCH_PRIORITY
    BRT_ARGUMENT, // parameter 'index' of the action
    BRT_MEMBER,   // $ACTION_MEMBER_ID of an entry
    BRT_GROUP,    // $SELECTOR_GROUP_ID
    BRT_ATTACHED, // counts, meter specification, ageing (control/tables/attached.h), by its name
    BRT_CELL,     // word 'index' of a register's cell, or of an entry's direct registers
    BRT_OTHER,
};
struct brt_field {
    uint32_t id;
    const char *name;
    enum brt_type type;
    uint32_t width; // bits of a BRT_STREAM
    bool repeated, read_only;
    bool has_default;
    uint64_t dflt; // of a number
    enum brt_meaning meaning;
    uint32_t index;
    uint32_t word;             // where its words begin, of BRT_KEY and BRT_ARGUMENT
    struct brt_field *members; // of a container
    size_t n_members;
};
struct brt_action {
    uint32_t id;
    const char *name;
    uint32_t index; // in the table's list of actions
    struct brt_field *fields;
    size_t n;
};
struct brt_table {
    uint32_t id;
    const char *name;
    enum brt_kind kind;
    uint64_t size;
    struct sk_object object;          // of what has entries, groups, values or cells
    const struct sk_table_desc *desc; // of BRT_MATCH
    const char *object_name;          // what the switch calls it
    struct brt_field *keys, *data;    // 'data': those that belong to no action
    size_t n_keys, n_data;
    struct brt_action *actions;
    size_t n_actions;
};
struct brt_learn {
    uint32_t id;
    const char *name;
    struct brt_field *fields;
    size_t n;
};

// What clients set on a table with attributes.
enum brt_scope { BRT_SCOPE_ALL, BRT_SCOPE_SINGLE, BRT_SCOPE_GROUPS };
struct brt_idle_state {
    bool enabled, notifies;
    uint32_t client; // who is notified
    uint32_t query_ms, min_ms, max_ms;
    // In the switch's time: when ageing was switched on with this interval, or off; 0: it never was
    // on.
    uint64_t since;
};
struct brt_table_state {
    enum brt_scope scope;
    uint64_t groups;                  // as it was given: sets of pipes, one a byte
    uint8_t group[SK_PIPES];          // the set that each pipe is in
    bool single_gress, single_parser; // of a value set
    uint32_t parser_gress;            // as it was given with the parsers' scope
    struct brt_idle_state idle;
};

struct brt_schema;
// 'text' is the description of the program that 'sw' runs. Null with a sentence. The caller frees
// it; it is valid as long as 'sw' runs that program.
struct brt_schema *brt_schema_new(const struct sk_switch *sw, const char *text,
                                  struct sk_error *err);
void brt_schema_free(struct brt_schema *s); // null allowed
// Null: there is none.
const struct brt_table *brt_schema_table(const struct brt_schema *s, uint32_t id);
const struct brt_table *brt_schema_named(const struct brt_schema *s, const char *name);
// The match table that the switch describes so; null: there is none.
const struct brt_table *brt_schema_of(const struct brt_schema *s, const struct sk_table_desc *d);
struct brt_table_state *brt_schema_state(struct brt_schema *s, const struct brt_table *t);
// Where a table's copy of one pipe's cells is (copy.c); it is freed with the schema.
uint64_t **brt_schema_copy(struct brt_schema *s, const struct brt_table *t, unsigned pipe);
// Tables of the same name have their entries in the same pipes (and parsers) as before; those of
// 's' are empty and see no packets.
void brt_schema_keep_scopes(struct brt_schema *s, struct sk_switch *sw,
                            const struct brt_schema *before);
// Up to when entries have aged: to the last whole ttl_query_interval, as the chip's sweeps find
// them; of a table that is polled, and has none, to 'now'; to when ageing was switched off.
uint64_t brt_idle_time(const struct brt_idle_state *state, uint64_t now);
void brt_schema_forget(struct brt_schema *s, uint32_t client); // it is notified no more
// Does a table notify a client of idle entries?
bool brt_schema_notifies(const struct brt_schema *s);
// Which stages the tables and fields of the snapshot table's pipeline are in, of one gress
// (compiler/describe/bfrt_snapshot.c); null: nothing is known.
const json_t *brt_schema_stages(const struct brt_schema *s, const struct brt_table *t,
                                bool ingress);
const struct brt_learn *brt_schema_learn(const struct brt_schema *s, const char *name);
const struct brt_action *brt_table_action(const struct brt_table *t, uint32_t id);
const struct brt_action *brt_table_action_at(const struct brt_table *t, uint32_t index);
const struct brt_field *brt_find(const struct brt_field *fields, size_t n, uint32_t id);
const struct brt_field *brt_find_meaning(const struct brt_field *fields, size_t n,
                                         enum brt_meaning meaning);

#endif
