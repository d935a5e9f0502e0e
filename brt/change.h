// SPDX-License-Identifier: Apache-2.0
//
// change: updates of the program's tables with ids and bytes resolved, checked and applied between
// packets. BF Runtime and P4Runtime read them out of their own messages, and write with the same
// functions.
//
// Calls are served one after the other: at its end, a call releases its memory of the request and
// of the scratch area.
#ifndef SILKEN_BRT_CHANGE_H
#define SILKEN_BRT_CHANGE_H

#include "brt/bfruntime.pb-c.h"
#include "brt/brt.h"
#include "brt/memory.h"
#include "brt/schema.h"
#include "brt/status.h"
#include "control/tables/attached.h"
#include "control/tables/hashes.h"
#include "control/tables/pauses.h"

struct fixed_table;
struct fixed_entry;

// ---- what the service has
struct sk_switch *brt_switch(const struct brt *b); // null: no program yet
// Null: no program yet, or several.
struct brt_schema *brt_program_schema(const struct brt *b);
struct brt_memory *brt_request_memory(struct brt *b);
struct brt_memory *brt_scratch_memory(struct brt *b); // of one update or entry

// ---- target of an update or a read
struct brt_target {
    int pipe;               // -1: all
    uint32_t gress, parser; // 0xff: both, all
};
// An update of a match table or a value set, or a question after an entry, with ids and bytes
// resolved. Words are in memory of the scratch.
struct brt_change {
    const struct brt_table *table;
    BfrtProto__Update__Type type;
    struct sk_pipe_list pipes;
    bool names_pipe; // its target is one pipe, not all
    bool has_key, is_default, has_action;
    bool same_action; // the entry has 'action' already, and keeps its arguments
    bool reset_ttl, reset_stats;
    int64_t priority;
    uint32_t action;
    uint64_t *value, *mask, *data;
    struct sk_attached attached;
    uint64_t *direct; // new values of direct register cells
    bool *has_direct; // which of them are given
    // of a table of cells; a register's value is in 'data', the others' specification in 'attached'
    uint64_t index;
    unsigned parser; // of a value set that has values for each parser
    struct sk_counter_cell counts;
    // of a table of groups, whose number is 'index'
    uint32_t max_size, n_members; // 0: not given
    bool has_members, has_offset;
    uint32_t offset; // $ADT_OFFSET
    struct sk_group_member *members;
    // of a port's metadata
    uint8_t metadata[SK_RESUBMIT_BYTES], metadata_given[SK_RESUBMIT_BYTES];
    // of a hash's fields or algorithm; none: as the program has it
    struct sk_hash_slice *slices;
    size_t n_slices;
    struct sk_named_value *values;
    size_t n_values;
    // of a snapshot's range or trigger
    struct brt_snapshot_change *snapshot;
    // in place of an entry
    const BfrtProto__TableAttribute *attribute;
    const char *operation;
    uint32_t client; // whose call it is
    // of a table that every switch has (brt/fixed/fixed.h), in place of 'table' and all that is its
    const struct fixed_table *fixed;
    struct fixed_entry *entry;
    bool removes; // MODIFY_INC takes away
};
// ---- entry.c
struct sk_table *brt_table_in(const struct brt *b, const struct brt_table *t, unsigned pipe);

uint32_t brt_key_words(const struct brt_table *t); // of a table with entries

// ---- cells.c
// Cells [from, to) of one pipe, 'brt_cell_bytes' each, copied and put back as they were.
size_t brt_cell_bytes(const struct brt_table *t);
void brt_cells_copy(struct brt *b, const struct brt_table *t, unsigned pipe, uint64_t from,
                    uint64_t to, void *cells);
void brt_cells_put(struct brt *b, const struct brt_table *t, unsigned pipe, uint64_t from,
                   uint64_t to, const void *cells);
// ---- copy.c: what the driver has of counts and cells
bool brt_has_copy(const struct brt_table *t); // a table of cells
// Makes a table's copy of one pipe; false when there is no memory for it.
bool brt_copy_make(struct brt *b, const struct brt_table *t, unsigned pipe);
// Cells [from, to) of the copy, two words each; put: if it was made.
void brt_copy_get(struct brt *b, const struct brt_table *t, unsigned pipe, uint64_t from,
                  uint64_t to, uint64_t *out);
void brt_copy_put(struct brt *b, const struct brt_table *t, unsigned pipe, uint64_t from,
                  uint64_t to, const uint64_t *cells);
// In a pause: a cell, or what packets change of an entry, as it is.
void brt_copy_cell(struct brt *b, const struct brt_table *t, unsigned pipe, uint64_t index);
#define BRT_COPY_COUNTS 1u
#define BRT_COPY_DIRECT 2u
void brt_copy_entry(const struct sk_table_desc *d, struct sk_entry *e, unsigned what);
// All of the table in the pipes of the change, in a pause and others.
enum brt_code brt_copy_table(struct brt *b, const struct brt_change *c, unsigned what,
                             struct sk_error *err);
// ---- groups.c
struct sk_selector *brt_selector_in(const struct brt *b, const struct brt_table *t, unsigned pipe);
// ---- apply.c: in a pause, but for the first two
// What applying the change looks at first is brought nearer.
void brt_prefetch(struct brt *b, const struct brt_change *c);
// After the pause in which it was applied: work that packets need not wait for (sk_table_tend).
void brt_tend(struct brt *b, const struct brt_change *c);
enum brt_code brt_apply(struct brt *b, const struct brt_change *c, bool *existed,
                        struct sk_error *err);

// ---- undo.c
// Saves what a change is to change: in a pause, before brt_apply. In memory of the request; 'c' and
// what it points to must last as long as the log. False when memory is short.
struct brt_undo;
bool brt_undo_save(struct brt *b, struct brt_undo **log, const struct brt_change *c);
// Puts everything back, the newest first, in pauses of its own. An entry that is put back has
// another handle, and stands after those of the same priority.
enum brt_code brt_undo_all(struct brt *b, const struct brt_undo *log, struct sk_error *err);
// The same within the pause that the caller has begun: packets see nothing of what is put back.
enum brt_code brt_undo_paused(struct brt *b, const struct brt_undo *log, struct sk_error *err);

// ---- write.c
// The pauses of all calls, so that one after the other leaves packets half of the time.
struct sk_pauses *brt_pauses(struct brt *b, bool writes);
enum brt_code brt_resolve(struct brt *b, uint32_t table_id, const struct brt_target *target,
                          struct brt_change *c, struct sk_error *err);
// ---- service.c
// A growing buffer; 'full' once it would have passed BRT_REPLY_BYTES.
struct brt_bytes {
    uint8_t *bytes;
    size_t n, room;
    bool full;
};
void brt_append(struct brt_bytes *out, uint32_t field, const ProtobufCMessage *message);

#endif
