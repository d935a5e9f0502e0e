// SPDX-License-Identifier: Apache-2.0
//
// state_impl: what the files of a state share. state.h lists the files.
#ifndef SILKEN_CONTROL_STATE_STATE_IMPL_H
#define SILKEN_CONTROL_STATE_STATE_IMPL_H

#include "control/tables/names.h"
#include "control/tables/pauses.h"
#include "control/state/state.h"

#define SK_STATE_SECTIONS(X)                                                                       \
    X(REGISTERS, "registers")                                                                      \
    X(COUNTERS, "counters")                                                                        \
    X(HITS, "hits")                                                                                \
    X(ENTRIES, "entries")                                                                          \
    X(MEMBERS, "members")                                                                          \
    X(GROUPS, "groups")                                                                            \
    X(SELECTOR_BITS, "selector_bits")                                                              \
    X(DEFAULTS, "defaults")                                                                        \
    X(VALUE_SETS, "value_sets")                                                                    \
    X(METERS, "meters")                                                                            \
    X(METER_STATES, "meter_states")                                                                \
    X(AGEING, "ageing")                                                                            \
    X(DROPS, "drops")                                                                              \
    X(PORTS, "ports")                                                                              \
    X(SWITCH, "switch")
enum state_section {
#define STATE_ENUM(name, text) STATE_##name,
    SK_STATE_SECTIONS(STATE_ENUM)
#undef STATE_ENUM
        STATE_SECTIONS
};
const char *state_section_name(enum state_section s);

// Is told each item, in order; all of a section come together, and sections in the order of the
// list.
struct state_walk {
    struct sk_switch *sw;
    uint64_t now;             // the switch's, when the latest slice was copied
    struct sk_pauses *pauses; // around reads of what packets change; or null
    void (*item)(struct state_walk *w, enum state_section s, json_t *item); // borrowed
};
void state_walk(struct state_walk *w);

void state_item(struct state_walk *w, enum state_section s, json_t *item); // takes the reference
json_t *state_number(uint64_t v);
// A number when it is written as one, else text.
json_t *state_value(const struct sk_field_desc *f, const uint64_t *words);
// All objects of a kind in the order of their names; the caller frees the list.
struct sk_object *state_objects(const struct sk_switch *sw, enum sk_object_kind kind, size_t *n);
struct sk_holder;
struct sk_meter_cell;
json_t *state_meter_spec(const struct sk_holder *holder, const struct sk_meter_cell *cell);
// Whether it is configured and a packet was there since; then what that left, into an item.
bool state_meter_ran(const struct sk_holder *holder, const struct sk_meter_cell *cell);
void state_meter(json_t *item, const struct sk_holder *holder, const struct sk_meter_cell *cell);
// Value of a register's cell: 'names' null for one word.
json_t *state_words(const struct sk_field_desc *fields, const char *const *names, uint32_t n,
                    const uint64_t *words);

// ---- tables.c
void state_direct_registers(struct state_walk *w);
void state_direct_counters(struct state_walk *w);
void state_direct_meters(struct state_walk *w);
void state_direct_meter_states(struct state_walk *w);
void state_hits(struct state_walk *w);
void state_entries(struct state_walk *w);
void state_members(struct state_walk *w);
void state_defaults(struct state_walk *w);
void state_value_sets(struct state_walk *w);
void state_ageing(struct state_walk *w);
bool state_takes_priority(const struct sk_table_desc *d);
json_t *state_key(const struct sk_table_desc *d, const uint64_t *value, const uint64_t *mask);
// A direct register's name is that of its first word's field without the last component.
size_t state_register_length(const char *field);
uint32_t state_register_words(const struct sk_table_desc *d, uint32_t first);

// ---- groups.c
void state_groups(struct state_walk *w);
void state_selector_bits(struct state_walk *w);

#endif
