// SPDX-License-Identifier: Apache-2.0
//
// fixed: the tables that every switch has, whatever program runs: multicast, mirror sessions,
// packet generators, ports and the device itself. Their names, ids, fields and types are those that
// the chip's driver publishes for a Tofino and a Tofino 2 (bf-drivers,
// src/bf_rt/bf_rt_*/bf_rt_*_tf[12].json).
//
// A table is a description (struct fixed_table) with a few functions over the switch (struct
// fixed_functions); what clients are told of it (fixed_text) and how messages are read and made
// follows from the description. An entry has numbers as its key and one value for each data field.
//
// Thread-safety: the control thread; changes are applied in a pause.
//
// Files:
//
//     fixed.c    updates and reads of any of these tables
//     value.c    values between messages and entries
//     text.c     the tables as JSON, for GetForwardingPipelineConfig
//     lists.c    lists of equal length in one entry, and their elements that are added and removed
//     pre.c      $pre.mgid, $pre.node, $pre.ecmp, $pre.lag, $pre.prune, $pre.port
//     mirror.c   $mirror.cfg
//     port.c     $PORT, $PORT_STAT, $PORT_HDL_INFO, $PORT_FP_IDX_INFO, $PORT_STR_INFO
//     pktgen.c   tf1.pktgen.*, tf2.pktgen.*: the packet generators
//     tm.c       tf1.tm.*, tf2.tm.*: the traffic manager
//     queues.c   of these, what is said of a queue
//     device.c   tf1.dev.device_configuration, tf2.dev.device_configuration
#ifndef SILKEN_BRT_FIXED_FIXED_H
#define SILKEN_BRT_FIXED_FIXED_H

#include "brt/brt_impl.h"

#define FIXED_KEYS 2u
#define FIXED_IDS  0xffu // the first byte of their tables' ids

struct fixed_saved; // an entry, or all of a table, as it was

enum fixed_type { FIXED_UINT, FIXED_INT, FIXED_BOOL, FIXED_STRING, FIXED_FLOAT, FIXED_BYTES };

struct fixed_field {
    uint32_t id;
    const char *name;
    enum fixed_type type;
    uint8_t width; // bits of a FIXED_UINT or FIXED_INT: 8, 16, 32 or 64; of FIXED_BYTES any
    bool repeated, mandatory, read_only;
    const char *const *choices; // of a FIXED_STRING, ended by null; null: any text
    bool is_enum;               // what clients are told that such a field is
    uint64_t otherwise;         // when a new entry does not say it; of choices the index
    const char *port_class;     // which kind of port number it is, for clients that print it
    // Repeated fields of one group have equally many values, which belong together; the first of
    // them names the element. 0: none.
    uint8_t group;
    // Of a table whose entries have one of its actions: whose own it is, a bit for each id; 0: it
    // is all actions'. 'stays': an action that a message gives leaves it, too.
    uint8_t actions;
    bool stays;
};

// The beginning of one; 'bits' is 0 where the type has a size of its own.
#define FIXED_FIELD(number, called, kind, bits)                                                    \
    .id = number, .name = called, .type = FIXED_##kind, .width = bits

struct fixed_action {
    uint32_t id;
    const char *name;
    bool served;
    const struct fixed_field *fields; // those that only this action has
    size_t n;
};

struct fixed_value {
    bool given;
    uint64_t number; // of choices the index
    uint64_t high;   // of bytes the bits from 64 on
    const char *text;
    uint32_t *list;
    size_t n;
};

struct fixed_entry {
    int pipe;        // of a table by pipe; -1: all
    uint32_t action; // of a table that chooses; 0: the message does not say it
    uint64_t key[FIXED_KEYS];
    char key_text[24]; // of a key that is any text; of choices the key is the index
    struct fixed_value *data;
    // Of what get found, what the values do not say; null where a client says the entry. 'set' puts
    // it back.
    const void *kept;
};

struct fixed_table;
struct fixed_functions {
    // Fills what the entry with this key says; lists and texts are in memory of 'm' or the
    // switch's. False: no such entry.
    bool (*get)(struct brt *b, struct brt_memory *m, struct fixed_entry *e);
    // The entry becomes this, all data given.
    enum brt_code (*set)(struct brt *b, const struct fixed_entry *e, struct sk_error *err);
    enum brt_code (*remove)(struct brt *b, const struct fixed_entry *e, struct sk_error *err);
    // The keys of all entries, ascending, in memory of 'm'; null when that is short.
    struct fixed_entry *(*keys)(struct brt *b, struct brt_memory *m, size_t *n);
};

struct fixed_table {
    uint32_t id;
    const char *name, *type;
    uint64_t size;
    const struct fixed_field *keys, *data;
    size_t n_keys, n_data;
    const struct fixed_action *actions;
    size_t n_actions;
    // Whether there can be an entry with this key; null: with any.
    enum brt_code (*check)(struct brt *b, const struct fixed_entry *e, struct sk_error *err);
    const char *attribute; // what it has of those; null: none
    // Tables whose lists name entries of this one, under the name of its key: an entry that is
    // deleted is removed from these first. Null if no table does.
    bool (*is_used)(const struct brt *b, const struct fixed_entry *e);
    uint32_t users[2]; // their ids; 0: no more
    // Null: the attribute is not served. A change leaves what its message does not have.
    BfrtProto__TableAttribute__AttributeCase attribute_case;
    enum brt_code (*set_attribute)(struct brt *b, const BfrtProto__TableAttribute *a,
                                   struct sk_error *err);
    bool (*get_attribute)(struct brt *b, struct brt_memory *m, BfrtProto__TableAttribute *out);
    // Entries are there from the start: to insert one is to change it, to delete it gives it back
    // its first values.
    bool always;
    // An entry has one of the actions. A message need not say which; one that does sets what it
    // does not say to 0, but for what stays.
    bool chooses;
    bool by_pipe;                     // its target can be one pipe; all: 'set' is called for each
    bool one_pipe;                    // and must be, unless all entries are deleted
    bool nested;                      // as JSON, data of its actions stand there as its own do
    bool lenient;                     // to delete an entry that is not there is no mistake
    bool increments;                  // elements of its lists can be added and removed
    struct fixed_functions functions; // without 'get': only listed; without 'set': only read
    const char *why;                  // it is only listed, for clients; may be null
};

// ---- fixed.c
// Null: the program's, or nobody's.
const struct fixed_table *fixed_table(const struct brt *b, uint32_t id);
const struct fixed_table *fixed_table_named(const struct brt *b, const char *name);
// The id of what the message names in the table; 0: nothing has this name.
uint32_t fixed_id(const struct fixed_table *t, const BfrtProto__ObjectId__TableObject *o);
// An update: resolves the message, with all data checked but for what needs the switch.
enum brt_code fixed_change(struct brt *b, const BfrtProto__TableEntry *e, int pipe,
                           struct brt_change *c, struct sk_error *err);
enum brt_code fixed_apply(struct brt *b, const struct brt_change *c, bool *existed,
                          struct sk_error *err);
// Saves what the change is about to change, in memory of the request; null when that is short.
struct fixed_saved *fixed_save(struct brt *b, const struct brt_change *c);
enum brt_code fixed_put_back(struct brt *b, const struct brt_change *c,
                             const struct fixed_saved *saved, struct sk_error *err);
enum brt_code fixed_attribute_change(const struct fixed_table *t,
                                     const BfrtProto__TableAttribute *a, struct sk_error *err);
// In memory of the scratch.
enum brt_code fixed_attribute(struct brt *b, const struct fixed_table *t,
                              const BfrtProto__TableAttribute *asked,
                              BfrtProto__TableAttribute *out, struct sk_error *err);
// Gives the entries that are asked for to 'emit', which says whether to go on; each is in memory of
// the scratch.
enum brt_code fixed_read(struct brt *b, const struct fixed_table *t, const BfrtProto__TableEntry *e,
                         int pipe, bool key_only,
                         bool (*emit)(void *aux, BfrtProto__TableEntry *out), void *aux,
                         struct sk_error *err);
enum brt_code fixed_usage(struct brt *b, const struct fixed_table *t, uint32_t *usage,
                          struct sk_error *err);

// ---- value.c
enum brt_code fixed_key(const struct fixed_table *t, const BfrtProto__TableKey *key,
                        struct fixed_entry *out, struct sk_error *err);
enum brt_code fixed_data(struct brt_memory *m, const struct fixed_table *t,
                         const BfrtProto__TableData *data, struct fixed_entry *out,
                         struct sk_error *err);
bool fixed_message(struct brt_memory *m, const struct fixed_table *t, const struct fixed_entry *e,
                   const BfrtProto__TableData *wanted, bool key_only, BfrtProto__TableEntry *out);
// A list of n numbers for a value, in memory of 'm'; null when that is short.
uint32_t *fixed_list(struct brt_memory *m, struct fixed_value *v, size_t n);

// ---- lists.c
enum brt_code fixed_check_lists(struct brt_memory *m, const struct fixed_table *t,
                                struct fixed_entry *e, struct sk_error *err);
// Adds the elements of 'by' to 'e', or removes them.
enum brt_code fixed_increment(struct brt_memory *m, const struct fixed_table *t,
                              struct fixed_entry *e, const struct fixed_entry *by, bool removes,
                              struct sk_error *err);

// ---- text.c
// The description of all fixed tables of this switch; the caller frees it.
char *fixed_text(const struct brt *b);

// ---- the tables: arrays of *n
const struct fixed_table *fixed_pre(size_t *n);
const struct fixed_table *fixed_mirror(bool tofino2, size_t *n);
#define FIXED_PORT_ID 0xff010001u // $PORT
// Is the port there, and its link up?
bool fixed_port_is_up(struct brt *b, uint16_t port);
const struct fixed_table *fixed_port(bool tofino2, size_t *n);
const struct fixed_table *fixed_device(bool tofino2, size_t *n);
const struct fixed_table *fixed_pktgen(bool tofino2, size_t *n);
const struct fixed_table *fixed_tm(bool tofino2, size_t *n);
enum { FIXED_FAMILIES = 6 };
// One of them, by its number.
const struct fixed_table *fixed_family(const struct brt *b, unsigned family, size_t *n);

#endif
