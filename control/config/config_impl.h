// SPDX-License-Identifier: Apache-2.0
//
// config_impl: the inside of a configuration, shared by its files. Nobody else includes it.
// config.h lists the files.
#ifndef SILKEN_CONTROL_CONFIG_CONFIG_IMPL_H
#define SILKEN_CONTROL_CONFIG_CONFIG_IMPL_H

#include "control/tables/bf_entry.h"
#include "control/config/config.h"
#include "control/tables/json_switch.h"
#include "control/tables/tm.h"

// One thing to write into the switch, in the order of the file's kinds.
enum sk_item_kind {
    ENTRY,
    MEMBER,
    DEFAULT,
    REGISTER,
    METER,
    COUNTER,
    VALUE_SET,
    NODE,
    GROUP,
    PRUNE,
    MEMBERS_GROUP,
    HASH,
    KEY_MASK,
    FILLED,
    TM,
};

struct sk_config_item {
    enum sk_item_kind kind;
    struct sk_at at;            // parents are kept too
    struct sk_entry_spec entry; // MEMBER, DEFAULT; its keys also VALUE_SET
    struct sk_bf_entry *bf;     // ENTRY
    const char *name;           // REGISTER, VALUE_SET
    uint64_t index;             // REGISTER; ids of the others
    uint16_t rid;
    uint16_t *ports;
    size_t n_ports;
    struct sk_pre_member *members;
    size_t n_members;
    struct sk_tm_item *tm;
    uint8_t *lags;
    size_t n_lags;
    struct sk_named_value *words; // REGISTER: its fields; a null name is the first word
    size_t n_words;               // METER: of its specification
    struct sk_counter_cell count; // COUNTER
    struct sk_group_spec group;   // MEMBERS_GROUP
    const char *const *texts;     // HASH: its fields; 'words' is the algorithm
    size_t n_texts;
};

struct sk_config_private {
    struct sk_json doc;
    json_t *root;
    struct sk_config_item *items;
    size_t n, room;
};

// ---- apply.c. 0, or negative with a sentence without a place ----
// Of a switch that has nothing of it yet.
int sk_item_apply(struct sk_switch *sw, const struct sk_config_item *item, struct sk_error *err);
// Of one that may have it, with other content: there it is as the item says.
int sk_item_set(struct sk_switch *sw, const struct sk_config_item *item, struct sk_error *err);
// Takes it back as far as that can be: entries, members, groups, nodes, sessions go; defaults,
// hashes, meters, queues are as the program has them; contents of registers and counters stay. 1
// when it was not there any more.
int sk_item_remove(struct sk_switch *sw, const struct sk_config_item *item, struct sk_error *err);

// programs.c: the section "programs".
void sk_config_read_programs(const struct sk_at *root, struct sk_config *c);

#endif
