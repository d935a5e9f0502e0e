// SPDX-License-Identifier: Apache-2.0
//
// p4rt_impl: what the files of the service share. p4rt.h lists them.
#ifndef SILKEN_P4RT_P4RT_IMPL_H
#define SILKEN_P4RT_P4RT_IMPL_H

#include "brt/change.h"
#include "p4rt/p4runtime.pb-c.h"
#include "p4rt/service.h"

#define P4RT_CLIENTS        64u
#define P4RT_ROLES          16u
#define P4RT_ROLE_BYTES     256u
#define P4RT_UNACKNOWLEDGED 1024u

__extension__ typedef unsigned __int128 p4rt_election;

struct p4rt_client {
    bool used, primary, has_election;
    struct brt_call stream;
    unsigned role; // in p4rt.roles
    p4rt_election election;
    bool full; // its stream has no room: nothing is sent until p4rt_stream_room()
};
struct p4rt_role {
    char *name;   // "" is the default role; null: not used
    bool elected; // there has been a primary, and 'highest' is its election id or higher
    p4rt_election highest;
};

struct p4rt_info;
struct p4rt_notes;

// A port that a member of a group watches.
struct p4rt_watch {
    uint32_t profile, group, member; // ids
    uint16_t port;
    bool wanted;    // false: none, and nothing else is said
    bool as_number; // the client wrote a number, not bytes
    bool up;        // when it was looked at last
};

struct p4rt {
    struct brt *b;
    struct p4rt_host host;
    struct p4rt_port_id ports[SK_PORTS]; // of the host
    size_t n_ports;
    uint64_t device;
    struct p4rt_info *info; // null: no program
    bool has_cookie;
    uint64_t cookie;
    struct p4rt_client clients[P4RT_CLIENTS];
    struct p4rt_role roles[P4RT_ROLES];
    struct p4rt_notes *notes; // metadata.c
    uint64_t lost, lists;     // messages; digest lists sent
    struct p4rt_told {
        struct sk_digest digest;
        uint64_t list, until; // until: ns since 1970; 0: acknowledged
    } told[P4RT_UNACKNOWLEDGED];
    size_t next_told;
    struct rpc_server *server;
    struct p4rt_watch *watches; // n_watches: watch.c
    size_t n_watches, watches_room;
    uint64_t watch_due; // when ports are looked at next
};

// ---- service.c
// A sentence in 'err', and the status.
enum rpc_status p4rt_fail(struct sk_error *err, enum rpc_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
enum rpc_status p4rt_no_memory(struct sk_error *err);
void p4rt_end(const struct brt_call *c, enum rpc_status status, const char *sentence);
void p4rt_end_unread(struct p4rt *p, const struct brt_call *c); // its message cannot be decoded

// ---- clients.c
// Who may write. 'election' null: not given.
enum rpc_status p4rt_may_write(const struct p4rt *p, uint64_t device, const char *role,
                               const P4__V1__Uint128 *election, struct sk_error *err);
enum rpc_status p4rt_check_device(const struct p4rt *p, uint64_t device, struct sk_error *err);
bool p4rt_has_primary(const struct p4rt *p);
// To all primary clients; what they do not take is lost, and counted.
void p4rt_tell(struct p4rt *p, const P4__V1__StreamMessageResponse *message);

// ---- prototext.c
// A message in text format, to be freed with protobuf_c_message_free_unpacked(). Null with a
// sentence.
ProtobufCMessage *p4rt_text_read(const ProtobufCMessageDescriptor *type, const char *text,
                                 struct sk_error *err);

// ---- info.c
struct p4rt_sets;
struct p4rt_profile {
    const P4__Config__V1__ActionProfile *info;
    const struct brt_table *members, *groups; // 'groups' null: it has no selector
    struct p4rt_sets *sets;                   // null: it has no selector
};
struct p4rt_table {
    const P4__Config__V1__Table *info;
    const struct brt_table *table;
    const struct p4rt_profile *profile; // null: entries have actions
    bool has_priority;
};
// A counter, meter or register.
struct p4rt_array {
    uint32_t id;
    const struct brt_table *table;
    const P4__Config__V1__P4DataTypeSpec *type; // of a register
};
// What a client wants of a digest.
struct p4rt_digest {
    bool on;
    int64_t max_timeout_ns, ack_timeout_ns;
    int32_t max_list_size; // 0: no limit
};
struct p4rt_info {
    P4__Config__V1__P4Info *message;
    struct p4rt_table *tables;
    struct p4rt_profile *profiles;
    struct p4rt_array *arrays;
    struct p4rt_digest *digests; // as in the message
    size_t n_tables, n_profiles, n_arrays;
};
struct p4rt_info *p4rt_info_new(const struct brt_schema *s, const char *text, struct sk_error *err);
void p4rt_info_free(struct p4rt_info *i); // null allowed
// Null: nothing has this id or name.
const struct p4rt_table *p4rt_info_table(const struct p4rt_info *i, uint32_t id);
const P4__Config__V1__Action *p4rt_info_action(const struct p4rt_info *i, uint32_t id);
const struct p4rt_table *p4rt_info_of(const struct p4rt_info *i, const struct sk_table_desc *d);
const struct p4rt_profile *p4rt_info_profile(const struct p4rt_info *i, uint32_t id);
const struct p4rt_array *p4rt_info_array(const struct p4rt_info *i, uint32_t id,
                                         enum brt_kind kind);
const P4__Config__V1__Digest *p4rt_info_digest(const struct p4rt_info *i, const char *name);

// ---- bytestring.c: big-endian bytes and words
// Of any length, if the value fits: else RPC_OUT_OF_RANGE with a sentence about 'what'.
enum rpc_status p4rt_words(const ProtobufCBinaryData *bytes, uint32_t width, bool is_signed,
                           const char *what, uint64_t *words, struct sk_error *err);
// The shortest that say it, in memory of 'm'; false when that is short.
bool p4rt_bytes(struct brt_memory *m, const uint64_t *words, uint32_t width, bool is_signed,
                ProtobufCBinaryData *out);

// ---- translate.c
struct p4rt_translation {
    uint32_t bits; // of a client's value
    bool is_port;
};
// False: values of this type are not translated. 'type' may be null.
bool p4rt_translation(const struct p4rt_info *i, const P4__Config__V1__P4NamedType *type,
                      struct p4rt_translation *out);
// A port by a client's number of it, and back. False: no port has it.
bool p4rt_port_from(const struct p4rt *p, uint64_t id, uint64_t *port);
uint64_t p4rt_port_number(const struct p4rt *p, uint64_t port);
// p4rt_words() and p4rt_bytes(), translated if the type is.
enum rpc_status p4rt_value(const struct p4rt *p, const P4__Config__V1__P4NamedType *type,
                           const ProtobufCBinaryData *bytes, uint32_t width, bool is_signed,
                           const char *what, uint64_t *words, struct sk_error *err);
bool p4rt_value_bytes(const struct p4rt *p, const P4__Config__V1__P4NamedType *type,
                      struct brt_memory *m, const uint64_t *words, uint32_t width, bool is_signed,
                      ProtobufCBinaryData *out);

// ---- entry.c
// The change of a table of the program in all pipes; its type is as of the update.
enum rpc_status p4rt_begin(struct p4rt *p, const struct brt_table *t, P4__V1__Update__Type type,
                           struct brt_change *c, struct sk_error *err);
// Key and priority into c; in memory of the scratch.
enum rpc_status p4rt_entry_key(struct p4rt *p, const struct p4rt_table *t,
                               const P4__V1__TableEntry *e, struct brt_change *c,
                               struct sk_error *err);
// Is the key one of all entries? Then it reads as a question after all of them.
bool p4rt_entry_names_none(const P4__V1__TableEntry *e);
enum rpc_status p4rt_action(struct p4rt *p, const struct brt_table *t, const P4__V1__Action *a,
                            struct brt_change *c, struct sk_error *err);
enum rpc_status p4rt_entry_change(struct p4rt *p, const struct p4rt_table *t,
                                  const P4__V1__TableEntry *e, struct brt_change *c,
                                  struct sk_error *err);
enum rpc_status p4rt_entry_counts(const struct p4rt_table *t, const P4__V1__CounterData *d,
                                  struct brt_change *c, struct sk_error *err);
enum rpc_status p4rt_entry_meter(const struct p4rt_table *t, const P4__V1__MeterConfig *config,
                                 struct brt_change *c, struct sk_error *err);
// In memory of the scratch; null when that is short.
P4__V1__Action *p4rt_action_message(struct p4rt *p, const struct brt_table *t, uint32_t action,
                                    const uint64_t *data);
bool p4rt_entry_key_message(struct p4rt *p, const struct p4rt_table *t, const struct sk_entry *e,
                            P4__V1__TableEntry *out);
bool p4rt_entry_action_message(struct p4rt *p, const struct p4rt_table *t, const struct sk_entry *e,
                               P4__V1__TableEntry *out);

// ---- cells.c
enum rpc_status p4rt_meter_spec(const P4__V1__MeterConfig *config, const struct sk_holder *holder,
                                struct sk_attached *out, struct sk_error *err);
// False: it is not configured.
bool p4rt_meter_message(const struct sk_meter_cell *cell, bool bytes, P4__V1__MeterConfig *out);
enum rpc_status p4rt_counter_change(struct p4rt *p, P4__V1__Update__Type type,
                                    const P4__V1__CounterEntry *e, struct brt_change *c,
                                    struct sk_error *err);
enum rpc_status p4rt_meter_change(struct p4rt *p, P4__V1__Update__Type type,
                                  const P4__V1__MeterEntry *e, struct brt_change *c,
                                  struct sk_error *err);
enum rpc_status p4rt_register_change(struct p4rt *p, P4__V1__Update__Type type,
                                     const P4__V1__RegisterEntry *e, struct brt_change *c,
                                     struct sk_error *err);

struct p4rt_answer;
enum rpc_status p4rt_cells_read(struct p4rt *p, struct p4rt_answer *answer, enum brt_kind kind,
                                uint32_t id, const P4__V1__Index *index, struct sk_error *err);

// ---- groups.c
enum rpc_status p4rt_member_change(struct p4rt *p, P4__V1__Update__Type type,
                                   const P4__V1__ActionProfileMember *e, struct brt_change *c,
                                   struct sk_error *err);
enum rpc_status p4rt_group_change(struct p4rt *p, P4__V1__Update__Type type,
                                  const P4__V1__ActionProfileGroup *e, struct brt_change *c,
                                  struct sk_error *err);
// Of a member's or a group's update, in a pause: what only the switch knows.
enum rpc_status p4rt_member_check(struct p4rt *p, const P4__V1__ActionProfileMember *e,
                                  const struct brt_change *c, struct sk_error *err);
enum rpc_status p4rt_group_check(struct p4rt *p, const P4__V1__ActionProfileGroup *e,
                                 const struct brt_change *c, struct sk_error *err);
enum rpc_status p4rt_members_read(struct p4rt *p, struct p4rt_answer *answer,
                                  const P4__V1__ActionProfileMember *e, struct sk_error *err);
// After a group's update: which ports its members watch; or 'exists' is false.
void p4rt_group_watches(struct p4rt *p, const P4__V1__ActionProfileGroup *e, bool exists);
enum rpc_status p4rt_groups_read(struct p4rt *p, struct p4rt_answer *answer,
                                 const P4__V1__ActionProfileGroup *e, struct sk_error *err);

// ---- watch.c
// What a client says in 'watch_port', or with 'bytes' null in 'watch'.
enum rpc_status p4rt_watch_read(const struct p4rt *p, const ProtobufCBinaryData *bytes,
                                int32_t number, struct p4rt_watch *out, struct sk_error *err);
void p4rt_watch_drop(struct p4rt *p, const struct p4rt_profile *profile, uint32_t group);
void p4rt_watch_add(struct p4rt *p, const struct p4rt_profile *profile, uint32_t group,
                    uint32_t member, const struct p4rt_watch *w);
const struct p4rt_watch *p4rt_watch_find(const struct p4rt *p, const struct p4rt_profile *profile,
                                         uint32_t group, uint32_t member); // or null
// As the client wrote it; false when memory is short.
bool p4rt_watch_bytes(struct p4rt *p, const struct p4rt_watch *w, ProtobufCBinaryData *bytes,
                      int32_t *number);
void p4rt_watch_clear(struct p4rt *p);
void p4rt_watch_poll(struct p4rt *p, uint64_t now_ns);

// ---- sets.c: sets of actions in entries of a table whose profile has a selector
struct p4rt_sets *p4rt_sets_new(void);    // of a profile
void p4rt_sets_free(struct p4rt_sets *s); // null allowed
struct p4rt_set;
// In memory of the scratch.
enum rpc_status p4rt_set_resolve(struct p4rt *p, const struct p4rt_table *t,
                                 const P4__V1__ActionProfileActionSet *asked, struct p4rt_set **out,
                                 struct sk_error *err);
uint32_t p4rt_set_size(const struct p4rt_set *s); // actions
// Is it what a set became? Clients do not see it.
bool p4rt_sets_have_member(const struct p4rt_profile *profile, uint64_t id);
bool p4rt_sets_have_group(const struct p4rt_profile *profile, uint64_t id);
// Null when memory is short.
P4__V1__ActionProfileActionSet *p4rt_set_message(struct p4rt *p, const struct p4rt_profile *profile,
                                                 uint32_t group);
// At the beginning of a pause.
void p4rt_sets_begin(const struct p4rt_info *info);
// In a pause: may clients write members and groups, and name them?
enum rpc_status p4rt_sets_may_name(struct p4rt *p, const struct p4rt_profile *profile,
                                   struct sk_error *err);
// In a pause: an update of an entry. 's' null: it has no set; 'old' null: there is no such entry.
enum rpc_status p4rt_sets_apply(struct p4rt *p, const struct p4rt_table *t, struct p4rt_set *s,
                                const struct sk_entry *old, struct brt_change *c,
                                struct sk_error *err);
void p4rt_sets_clear(const struct p4rt_info *info); // all entries, groups and members are gone
// The program changed, and profiles of the same name have what they had.
void p4rt_sets_keep(struct p4rt_info *now, struct p4rt_info *before); // each null allowed

// ---- replicas.c: in a pause
enum rpc_status p4rt_replicate(struct p4rt *p, P4__V1__Update__Type type,
                               const P4__V1__PacketReplicationEngineEntry *e, struct sk_error *err);
void p4rt_replicas_clear(struct p4rt *p);
enum rpc_status p4rt_replicas_read(struct p4rt *p, struct p4rt_answer *answer,
                                   const P4__V1__PacketReplicationEngineEntry *e,
                                   struct sk_error *err);

// ---- clear.c
// Tables, groups, members, cells, multicast groups and clone sessions become as the program has
// them at its start.
enum rpc_status p4rt_clear(struct p4rt *p, struct sk_error *err);

// ---- answer.c
// Entities on their way to a client: a message is sent whenever there are enough for one.
// False when it needs too much memory.
bool p4rt_answer_add(struct p4rt_answer *a, const P4__V1__Entity *e);
// From here on what packets change stands still; called before each thing that is read.
void p4rt_answer_pause(struct p4rt_answer *a);

// ---- metadata.c: what clients keep beside entries and groups
struct p4rt_note {
    uint64_t number; // controller_metadata
    ProtobufCBinaryData bytes;
};
// Of an entry of a table, or (table null) of a multicast group or clone session. False when there
// is too much.
bool p4rt_note_set(struct p4rt *p, const struct sk_table_desc *table, uint64_t which,
                   uint64_t number, const ProtobufCBinaryData *bytes);
void p4rt_note_get(const struct p4rt *p, const struct sk_table_desc *table, uint64_t which,
                   struct p4rt_note *out);
void p4rt_notes_clear(struct p4rt *p);
#define P4RT_NOTE_DEFAULT UINT64_MAX // the default entry

// ---- tell.c
enum rpc_status p4rt_digest_set(struct p4rt *p, P4__V1__Update__Type type,
                                const P4__V1__DigestEntry *e, struct sk_error *err);
enum rpc_status p4rt_digests_read(struct p4rt *p, struct p4rt_answer *answer,
                                  const P4__V1__DigestEntry *e, struct sk_error *err);
enum rpc_status p4rt_packet_out(struct p4rt *p, const P4__V1__PacketOut *packet,
                                struct sk_error *err);
enum rpc_status p4rt_digest_ack(struct p4rt *p, const P4__V1__DigestListAck *ack,
                                struct sk_error *err);

#endif
