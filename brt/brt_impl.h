// SPDX-License-Identifier: Apache-2.0
//
// brt_impl: what the files of the service share. brt.h lists them.
#ifndef SILKEN_BRT_BRT_IMPL_H
#define SILKEN_BRT_BRT_IMPL_H

#include "brt/change.h"
#include "brt/service.h"
#include "brt/status.pb-c.h"

#define BRT_CLIENTS       64u
#define BRT_REQUEST_BYTES ((size_t)1 << 30) // a request as messages in memory
#define BRT_SCRATCH_BYTES ((size_t)64 << 20)
#define BRT_REPLY_BYTES   ((size_t)1 << 30)
#define BRT_ALL_PIPES     0xffffu

#define BRT_DEVICE_SETTINGS 5u

struct brt_client {
    bool used, bound;
    size_t program; // to which of now.programs it is bound
    bool shares;    // it is bound to the tables that every switch has, beside others
    uint32_t id;
    struct brt_call stream;
    bool learn, idle, active, ports;
    bool full; // it takes no more for now
};

// Of $pre.mgid's pre_device_config; not given: the driver's defaults.
struct brt_pre_limits {
    bool given;
    uint32_t before_yield, nodes, port_lags;
};

struct brt_program {
    struct brt_schema *schema;
    char *name, *schema_text;
    uint8_t *binary; // n_binary bytes: package.h
    size_t n_binary;
};

// What runs, and what clients have set beside the tables of its programs, which are in the order of
// sk_program_join().
struct brt_running {
    struct sk_switch *sw; // null: no program yet
    struct brt_program programs[SK_PIPES];
    size_t n;                                  // 0: no program yet
    uint64_t mirrors[SK_MIRROR_LAST / 64 + 1]; // sessions that are there, enabled or not
    struct brt_pre_limits pre_limits;
    uint8_t pktgen_sources[SK_PIPES][SK_PKTGEN_APPS]; // pipe_local_source_port, as written
    uint64_t has_metadata[SK_PORTS / 64];             // ports whose metadata a client has written
    struct brt_snapshots *snapshots;                  // snapshot.h; or null
};

struct brt_start;

struct brt {
    struct brt_host host;
    struct brt_start *start; // program.c; null: no client's program is being compiled or has begun
    struct brt_running now;  // what clients read and write
    size_t served;           // of now.programs: whose tables the call that is served is about
    struct brt_client clients[BRT_CLIENTS];
    struct sk_pauses pauses;
    struct brt_memory request, scratch; // of the call that is served; of one update or entry of it
    uint64_t lost;                      // notifications
    bool only_fixed;                    // the call that is served has no tables of a program
    bool tells_ports;                   // $PORT's attribute: clients are told of ports
    uint64_t ports_due;                 // ns: when they are looked at again
    uint64_t ports_up[SK_PORTS / 64];   // as of the last look
    uint64_t snapshots_due;             // ns: when the host is asked for a packet again
    bool device_is_set;
    uint64_t device[BRT_DEVICE_SETTINGS]; // of device_configuration
    struct fixed_port *ports;             // by number: what clients have said of them
    uint64_t *tm_bases;                   // tm.c: what counters of drops begin with; or null
    struct rpc_server *server;            // null: not on a socket
};

// The schema of the program that the call is about. Null when no program runs.
static inline struct brt_schema *brt_served(const struct brt *b) {
    return b->now.programs[b->served].schema;
}

// ---- service.c
// 'sw' runs what is described; *out is freed by brt_running_free(). -1 with a sentence.
int brt_running_new(struct brt_running *out, struct sk_switch *sw, const struct brt_description *d,
                    size_t n, struct sk_error *err);
// The metadata of a call that change what it does.
struct brt_wishes {
    bool error_in_response, ignore_not_found, has_deadline;
    uint64_t deadline; // of sk_clock_now()
};
struct brt_wishes brt_wishes(const struct brt_call *c);
// Ends the call: with one status, or with those of a list of updates.
void brt_end(const struct brt_call *c, enum brt_code code, const char *sentence);
void brt_end_unread(struct brt *b, const struct brt_call *c); // its message cannot be decoded
void brt_end_list(struct brt *b, const struct brt_call *c, const char *message,
                  const struct brt_result *results, size_t n);
bool brt_is_late(const struct brt_wishes *w);

void brt_service_free(struct brt *b); // all but the server

// ---- session.c
struct brt_client *brt_client(struct brt *b, uint32_t id); // null: not subscribed
// May the client read and write this program's tables? A code with a sentence.
enum brt_code brt_may(struct brt *b, uint32_t client, uint32_t device, const char *program,
                      struct sk_error *err);
// Where the programs of one are in another, by their names; SK_PIPES: nowhere.
struct brt_moved {
    size_t to[SK_PIPES];
};
void brt_moved(struct brt_moved *m, const struct brt_running *from, const struct brt_running *to);
// Clients stay bound to programs that have moved; the streams of others that are bound are
// cancelled.
void brt_rebind(struct brt *b, const struct brt_moved *moved);
// Index in p->programs; p->n when no program has that name.
size_t brt_program_named(const struct brt_running *p, const char *name);
// The program that this pipe of b->now runs.
size_t brt_program_of_pipe(const struct brt *b, unsigned pipe);

// ---- program.c
void brt_set_program(struct brt *b, const struct brt_call *c,
                     const BfrtProto__SetForwardingPipelineConfigRequest *r);
void brt_start_turn(struct brt *b);
// Its programs and snapshots; what else clients have set stays.
void brt_running_free(struct brt *b, struct brt_running *p);
// The switch that packets go through, which until a warm start ends is not b->now.sw.
struct sk_switch *brt_live(const struct brt *b);
bool brt_has_begun(const struct brt *b); // a warm start
void brt_start_drop(struct brt *b);
void brt_start_left(struct brt *b, uint32_t client); // it is no longer subscribed
void brt_start_free(struct brt *b);

// ---- snapshot.c, snapshot_read.c: brt/snapshot.h
bool brt_is_snapshot(const struct brt_table *t); // null allowed
// The stages of a key, or with a null key the whole range, into c->snapshot.
enum brt_code brt_snapshot_key(struct brt *b, const BfrtProto__TableKey *key,
                               const struct brt_target *target, struct brt_change *c,
                               struct sk_error *err);
enum brt_code brt_snapshot_change(struct brt *b, const BfrtProto__TableEntry *e,
                                  const struct brt_target *target, struct brt_change *c,
                                  struct sk_error *err);
enum brt_code brt_snapshot_apply(struct brt *b, const struct brt_change *c, struct sk_error *err);
void brt_snapshots_free(struct brt *b, struct brt_running *p);
// Arms what waits, and takes what was caught. Not in a pause.
void brt_snapshot_turn(struct brt *b, uint64_t now_ns);
bool brt_snapshot_waits(const struct brt *b); // for a turn at b->snapshots_due
// Gives the entries that are asked for to 'emit', which says whether to go on; each is in memory of
// the scratch.
typedef bool brt_emit(void *aux, BfrtProto__TableEntry *out);
enum brt_code brt_snapshot_read(struct brt *b, struct brt_change *question,
                                const BfrtProto__TableEntry *asked, const struct brt_target *target,
                                bool key_only, brt_emit *emit, void *aux, struct sk_error *err);
enum brt_code brt_snapshot_handle(struct brt *b, struct brt_change *question,
                                  const BfrtProto__TableKey *key, const struct brt_target *target,
                                  uint32_t *handle, struct sk_error *err);
uint32_t brt_snapshot_count(const struct brt *b, const struct brt_table *t);

// ---- notify.c
// Clients are told of ports that came up or went down since the last look, if they want that.
void brt_notify_ports(struct brt *b, uint64_t now_ns);
void brt_tell_start(struct brt *b, BfrtProto__SetForwardingPipelineConfigResponseType what);

struct fixed_saved;

enum brt_code brt_target(const BfrtProto__TargetDevice *device, struct brt_target *out,
                         struct sk_error *err);

// ---- value.c: big-endian bytes, as many as the width needs, and words
enum brt_code brt_words(const ProtobufCBinaryData *bytes, const struct brt_field *f,
                        uint64_t *words, struct sk_error *err);
void brt_bytes_of(const uint64_t *words, uint32_t width, uint8_t *bytes);
// In memory of 'm'; false when it is short.
bool brt_stream(struct brt_memory *m, const uint64_t *words, uint32_t width,
                ProtobufCBinaryData *out);
enum brt_code brt_number(const BfrtProto__DataField *d, const struct brt_field *f, uint64_t *out,
                         struct sk_error *err);
// As text for control/tables/attached.h.
enum brt_code brt_text(const BfrtProto__DataField *d, const struct brt_field *f, char *out,
                       size_t size, struct sk_error *err);
bool brt_field_of_text(struct brt_memory *m, const struct brt_field *f, const char *text,
                       BfrtProto__DataField *out);

// ---- entry.c
enum brt_code brt_entry_key(struct brt *b, const BfrtProto__TableKey *key, struct brt_change *c,
                            struct sk_error *err);
enum brt_code brt_entry_data(struct brt *b, const BfrtProto__TableData *data, struct brt_change *c,
                             struct sk_error *err);
bool brt_entry_key_message(struct brt_memory *m, const struct brt_table *t, const uint64_t *value,
                           const uint64_t *mask, int64_t priority, BfrtProto__TableEntry *out);
// ---- value_sets.c
// Its table in pipe i of the change; of a value set of single parsers, the parser's.
struct sk_table *brt_table_of(const struct brt *b, const struct brt_change *c, unsigned i);
// Its pipes and parser. A code when the target does not fit the scopes.
enum brt_code brt_resolve_values(struct brt *b, const struct brt_target *target,
                                 struct brt_change *c, struct sk_error *err);
// The scopes of gress and parsers into 'state'.
enum brt_code brt_values_scope(const BfrtProto__EntryScope *s, struct brt_table_state *state,
                               struct sk_error *err);
// Makes the switch's value set, which is empty, one of single parsers or of all, as 'state' says;
// false when memory is short. In a pause, or before packets.
bool brt_values_set_parsers(struct sk_switch *sw, const struct brt_table *t,
                            const struct brt_table_state *state);
// ---- cells.c
bool brt_has_cells(const struct brt_table *t);
enum brt_code brt_cell_check(const struct brt_table *t, uint64_t index, struct sk_error *err);
enum brt_code brt_cell_key(const BfrtProto__TableKey *key, struct brt_change *c,
                           struct sk_error *err);
enum brt_code brt_cell_change(struct brt *b, const BfrtProto__TableEntry *e, struct brt_change *c,
                              struct sk_error *err);
enum brt_code brt_cell_apply(struct brt *b, const struct brt_change *c, struct sk_error *err);
// There is a copy of the cells in each of its pipes, or no memory for it.
enum brt_code brt_cell_copies(struct brt *b, const struct brt_change *c, struct sk_error *err);
// The cell question->index of its pipes as the driver has it, in memory of the scratch; false when
// that is short. In a pause, if it is what packets change.
bool brt_cell_message(struct brt *b, const struct brt_change *question,
                      const BfrtProto__TableData *wanted, BfrtProto__TableEntry *out);

// What a field of a filter reads as that is not configured; null: of something else.
const char *brt_unconfigured(const struct brt_field *f);
// The key of a table with one field, into c->index.
enum brt_code brt_index_key(const BfrtProto__TableKey *key, struct brt_change *c,
                            struct sk_error *err);
// The key of a table with one field, in memory of 'm'.
bool brt_index_key_message(struct brt_memory *m, const struct brt_table *t, uint64_t index,
                           BfrtProto__TableEntry *out);

// ---- hashes.c
bool brt_has_hash(const struct brt_table *t);
enum brt_code brt_hash_change(struct brt *b, const BfrtProto__TableEntry *e, struct brt_change *c,
                              struct sk_error *err);
enum brt_code brt_hash_apply(struct brt *b, const struct brt_change *c, struct sk_error *err);
// The default entry, or the hash of a key; in memory of the scratch.
enum brt_code brt_hash_message(struct brt *b, const struct brt_change *question,
                               const BfrtProto__TableEntry *asked, BfrtProto__TableEntry *out,
                               struct sk_error *err);
// The hash in one pipe as it is, in memory of the request; null when that is short.
struct brt_hash_saved *brt_hash_save(struct brt *b, const struct brt_table *t, unsigned pipe);
void brt_hash_put_back(struct brt *b, const struct brt_table *t, unsigned pipe,
                       const struct brt_hash_saved *saved);

// ---- port_metadata.c
enum brt_code brt_port_metadata_change(struct brt *b, const BfrtProto__TableEntry *e,
                                       struct brt_change *c, struct sk_error *err);
enum brt_code brt_port_metadata_apply(struct brt *b, const struct brt_change *c, bool *existed,
                                      struct sk_error *err);
// All ports' bytes, in memory of the request; null when that is short.
struct brt_port_metadata_saved *brt_port_metadata_save(struct brt *b);
void brt_port_metadata_put_back(struct brt *b, const struct brt_port_metadata_saved *saved);
// The key of an entry that is there, into c->index.
enum brt_code brt_port_metadata_key(struct brt *b, const BfrtProto__TableKey *key,
                                    struct brt_change *c, struct sk_error *err);
// The next port with an entry, from 'port' on; SK_PORTS: no more.
uint64_t brt_port_metadata_next(const struct brt *b, const struct brt_table *t, uint64_t port);
bool brt_port_metadata_message(struct brt *b, const struct brt_table *t, uint64_t port,
                               const BfrtProto__TableData *wanted, BfrtProto__TableEntry *out);

// ---- groups.c
bool brt_has_groups(const struct brt_table *t);
enum brt_code brt_group_key(const BfrtProto__TableKey *key, struct brt_change *c,
                            struct sk_error *err);
enum brt_code brt_group_change(struct brt *b, const BfrtProto__TableEntry *e, struct brt_change *c,
                               struct sk_error *err);
enum brt_code brt_group_apply(struct brt *b, const struct brt_change *c, bool *existed,
                              struct sk_error *err);
bool brt_group_message(struct brt_memory *m, const struct brt_table *t, const struct sk_group *g,
                       const BfrtProto__TableData *wanted, BfrtProto__TableEntry *out);
// The member that a hash chooses in a group, both of them the key.
enum brt_code brt_get_member(struct brt *b, const struct brt_change *question,
                             const BfrtProto__TableKey *key, BfrtProto__TableEntry *out,
                             struct sk_error *err);

// ---- attributes.c
// Leaves of the pipes those that are in a set with this one, of a table with BRT_SCOPE_GROUPS.
void brt_scope_pipes(const struct brt_table_state *state, unsigned pipe, struct sk_pipe_list *out);
enum brt_code brt_attribute_apply(struct brt *b, const struct brt_change *c, struct sk_error *err);
// What question->attribute asks for, in memory of the scratch.
enum brt_code brt_attribute_message(struct brt *b, const struct brt_change *question,
                                    BfrtProto__TableAttribute *out, struct sk_error *err);
// What a table's meter of bytes adds to each packet's; null: it has none.
int32_t *brt_meter_more(const struct brt *b, const struct brt_table *t, unsigned pipe);
enum brt_code brt_operation_apply(struct brt *b, const struct brt_change *c, struct sk_error *err);

// ---- write.c, read.c
// Does a reader want this data field? It does when it names none.
bool brt_is_wanted(const BfrtProto__TableData *wanted, uint32_t id);
// The names of what this server does not serve yet, for a sentence.
enum brt_code brt_not_served(const struct brt_table *t, const char *what, struct sk_error *err);

#endif
