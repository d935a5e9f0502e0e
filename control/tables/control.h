// SPDX-License-Identifier: Apache-2.0
//
// control: reading and writing a running switch by the names the P4 source gives.
//
// The one in-process API that the configuration file, the runtime socket, `silken ctl`, packet
// scripts and tests use. A name may be fully qualified ("pipe.Ingress.forward") or any dotted
// suffix that is unique ("forward"); an ambiguous one is refused with the candidates named. Writes
// go to all pipes that have the object (tables are symmetric, tna-facts 1.2) unless a pipe is
// given; register reads return one value per pipe, counter reads the sum.
//
// Every call returns 0 or a negative code and, on failure, puts one sentence into the caller's
// 'struct sk_error'. A failed call changes nothing.
//
// Files:
//
//     control.c        the calls below: entries, defaults, counters, value sets
//     register.c       cells of registers
//     profiles.c       groups of action selectors
//     names.c          resolves names
//     values.c         field values between text and words
//     attached.c       counters, meters and ageing of an entry or a cell (attached_entry.c: by
//                      entry)
//     direct.c         cells of direct registers
//     entry.h          finds the entries that match a specification
//     masks.c          the bits of its keys that a table compares
//     hashes.c         hashes that are changed while the switch runs
//     pauses.c         reading what packets change, in slices (pauses.h)
//     idle.c           ageing of entries
//     port_metadata.c  the metadata before a port's packets
//     tm.c             mirror sessions, LAGs, queues, generators as JSON
//     bf_entry.c       entries as a BF Runtime controller writes them
//     json_switch.c    ports, entries and groups out of JSON
//     carry.c          a switch's state brought into a switch with a changed program (carry_impl.h)
#ifndef SILKEN_CONTROL_TABLES_CONTROL_H
#define SILKEN_CONTROL_TABLES_CONTROL_H

#include "base/error.h"
#include "pipeline/switch/switch.h"

struct sk_pauses;

// A key field or action argument as text, in the forms people and scripts write:
//   123  0x1f  0b101  -5  10.0.0.1  00:11:22:33:44:55  2001:db8::1
// and for keys also: value/prefix-length, value &&& mask, low..high, 0x**1f and 0b1**0 with
// don't-care digits, * (anything). The match kind of the field decides what is allowed.
struct sk_named_value {
    const char *name;
    const char *value;
};

// The priority of an entry is 0 to this, as BF Runtime's $MATCH_PRIORITY.
#define SK_MAX_PRIORITY UINT32_MAX

struct sk_entry_spec {
    const char *table;
    const struct sk_named_value *keys;
    size_t
        n_keys; // a ternary, lpm or range key left out matches anything; an exact one must be given
    bool has_priority;
    int64_t priority; // smaller wins
    const char *action;
    const struct sk_named_value *args;
    size_t n_args;
    // Instead of an action, in a table with an action profile or selector: the id of a member or a
    // group. The members themselves are the entries of the profile's table, which has the profile's
    // name and the key $ACTION_MEMBER_ID.
    const char *member, *group;
    int pipe; // -1: all
};
int sk_control_entry_add(struct sk_switch *sw, const struct sk_entry_spec *e, struct sk_error *err);
// Fills a table that has no entries, or was filled before, as a whole: key i gets values[i] as the
// one argument of the action (sk_table_fill). 'pipe' -1: all.
int sk_control_table_fill(struct sk_switch *sw, const char *table, const char *action,
                          const uint32_t *values, size_t n, int pipe, struct sk_error *err);
// The same with the values as text: for each the hexadecimal digits that its width takes, all of
// them, without anything between.
int sk_control_table_fill_text(struct sk_switch *sw, const char *table, const char *action,
                               const char *digits, int pipe, struct sk_error *err);
int sk_control_entry_modify(struct sk_switch *sw, const struct sk_entry_spec *e,
                            struct sk_error *err);
int sk_control_entry_delete(struct sk_switch *sw, const struct sk_entry_spec *e,
                            struct sk_error *err);
int sk_control_default_set(struct sk_switch *sw, const struct sk_entry_spec *e,
                           struct sk_error *err);
// As the program has it.
int sk_control_default_reset(struct sk_switch *sw, const char *table, int pipe,
                             struct sk_error *err);
// In a slice of 'pauses', which may be null, and in further ones: packets meet a table that
// empties.
int sk_control_table_clear(struct sk_switch *sw, struct sk_pauses *pauses, const char *table,
                           int pipe, struct sk_error *err);

// The groups of action selectors (stages/selector.h). 'max_size' 0: the selector's own maximum, or
// unchanged. Adding one that exists and modifying one that does not fail.
struct sk_group_spec {
    const char *selector;
    uint32_t id, max_size;
    const struct sk_group_member *members;
    uint32_t n;
    int pipe; // -1: all
};
int sk_control_group_add(struct sk_switch *sw, const struct sk_group_spec *g, struct sk_error *err);
int sk_control_group_modify(struct sk_switch *sw, const struct sk_group_spec *g,
                            struct sk_error *err);
int sk_control_group_delete(struct sk_switch *sw, const char *selector, uint32_t id, int pipe,
                            struct sk_error *err);
// In one of the pipes it names; false also when there is no such selector.
bool sk_control_group_exists(struct sk_switch *sw, const char *selector, uint32_t id, int pipe);
int sk_control_group_clear(struct sk_switch *sw, const char *selector, int pipe,
                           struct sk_error *err);
// Where in the memory of its selector a member of a group has its bit: the index at which a
// SelectorAction takes it up or down (stages/selector_bits.h); of the places of a member that is
// listed several times the first in the list. In one pipe, as below.
int sk_control_get_index(struct sk_switch *sw, const char *selector, uint32_t id, uint32_t member,
                         int pipe, uint32_t *index, struct sk_error *err);
// The member that a hash value chooses in a group ('<selector>_get_member' of BF Runtime), in one
// pipe: the first that has the selector when 'pipe' is -1.
int sk_control_get_member(struct sk_switch *sw, const char *selector, uint32_t id, uint64_t hash,
                          int pipe, uint32_t *member, struct sk_error *err);

// 'values' receives SK_PIPES values (0 for pipes that lack the register); 'field' null: first word.
// Of a value of 128 bits the low half.
int sk_control_register_read(struct sk_switch *sw, const char *name, uint64_t index,
                             const char *field, uint64_t values[SK_PIPES], struct sk_error *err);
// The same with both words of a value of 128 bits (sk_register_desc.wide), the low one first; the
// high word of others is 0.
int sk_control_register_read_words(struct sk_switch *sw, const char *name, uint64_t index,
                                   const char *field, uint64_t values[SK_PIPES][2],
                                   struct sk_error *err);
// What a register's fields are like, without a name.
struct sk_field_desc sk_register_field(const struct sk_register_desc *d);
int sk_control_register_write(struct sk_switch *sw, const char *name, uint64_t index,
                              const char *field, const char *value, int pipe, struct sk_error *err);
int sk_control_counter_read(struct sk_switch *sw, const char *name, uint64_t index,
                            struct sk_counter_cell *sum, struct sk_error *err);
int sk_control_counter_write(struct sk_switch *sw, const char *name, uint64_t index,
                             const struct sk_counter_cell *value, struct sk_error *err);
int sk_control_value_set_add(struct sk_switch *sw, const char *name,
                             const struct sk_named_value *keys, size_t n_keys,
                             struct sk_error *err);
int sk_control_value_set_delete(struct sk_switch *sw, const char *name,
                                const struct sk_named_value *keys, size_t n_keys,
                                struct sk_error *err);
int sk_control_value_set_clear(struct sk_switch *sw, const char *name, struct sk_error *err);

#endif
