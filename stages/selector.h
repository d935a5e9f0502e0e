// SPDX-License-Identifier: Apache-2.0
//
// selector: the groups of an action selector (tna-facts 4.9).
//
// A group is a list of members of the selector's action profile, each with its status. A packet
// that hits an entry naming a group gets one of the members that are up, chosen by a hash that
// generated code computes over the table's 'selector' keys. A member may be listed several times:
// it gets as many shares.
//
// Rules (those of the open driver, pipe_mgr_select_tbl.c): all members of a group have the same
// action; a group that entries name keeps at least one member that is up and its action, and cannot
// be deleted; a group's own maximum size is at most the selector's. An entry can name a group only
// if a member of it is up.
//
// Choice. h is the hash, n the number of places in the group (up or down), and r(h) = the low 14
// bits of h when n is at most 120 (what one line of selector memory holds), else all of h mixed.
//   FAIR:       the (r(h) mod number of members up)-th of the members up.
//   RESILIENT:  place r(h) mod n if it is up; else a second and a third place by other mixes of h;
//               else, among all places up, the one whose mix with h is largest.
// The first try and FAIR are what the chip does with selector_enable_scramble off. RESILIENT asks
// places in an order that h alone decides, so when a member goes down only its own packets move,
// and they come back with it.
//
// Memory. The status above is what the control plane set. Where the program has actions on the
// selector (SelectorAction, or a register given to it), each place of a group also has a bit in the
// selector's memory (stages/selector_bits.h), which the control plane writes when it adds a member,
// removes one or changes its status, and the data plane when it likes; then "up" above is this bit
// alone. Each pipe has bits of its own. A group all of whose bits are 0 chooses nobody.
//
// Concurrency: as for tables (table.h). A group is replaced as a whole.
#ifndef SILKEN_STAGES_SELECTOR_H
#define SILKEN_STAGES_SELECTOR_H

#include "stages/table.h"

#pragma GCC visibility push(default) // compiled programs call these

// The "actions" of tables with a profile that name a member, a group.
extern const struct sk_action_desc sk_member_reference, sk_group_reference;

enum sk_selector_mode { SK_SELECT_FAIR, SK_SELECT_RESILIENT };

struct sk_selector_desc {
    const char *name;
    const struct sk_table_desc *profile; // whose members are in the groups
    uint8_t mode;                        // enum sk_selector_mode
    uint32_t max_group_size, n_groups;   // groups at most
    uint32_t hash_bits;                  // width of the hash
    uint32_t lines;                      // of its memory; 0: the data plane does not reach it
};

struct sk_group_member {
    uint32_t member; // $ACTION_MEMBER_ID
    bool up;         // $ACTION_MEMBER_STATUS
};
struct sk_group {
    uint32_t id, max_size;
    uint32_t n, n_up;
    uint32_t action; // of all its members, in the profile's list; of no meaning when n is 0
    struct sk_group_member *members; // n, in the order given
    uint32_t *up;                    // ids of the n_up members that are up, in the same order
    // Of a selector with memory, else null:
    uint32_t *index; // n: the bit of each member
    uint32_t *place; // n: where in the group it is
    uint32_t line;   // the group's first
    struct sk_group *next_retired;
    // Where a controller wants it in the chip's memory of actions; nothing follows from it here.
    bool has_offset;
    uint32_t offset;
};

struct sk_selector;

// 'members' is the profile's table; it must outlive the selector. Null when memory is short.
struct sk_selector *sk_selector_new(const struct sk_selector_desc *desc, struct sk_table *members);
void sk_selector_free(struct sk_selector *s); // null allowed
// Where its memory is: desc->lines * 128 cells of a byte, 'stride' bytes from one to the next.
// Before there are groups; the cells must outlive it. False when memory is short.
bool sk_selector_set_memory(struct sk_selector *s, void *cells, size_t stride);
// The bit at an index of the memory.
bool sk_selector_bit(const struct sk_selector *s, uint32_t index);
void sk_selector_set_bit(struct sk_selector *s, uint32_t index, bool up); // between packets
const struct sk_selector_desc *sk_selector_desc(const struct sk_selector *s);

// Control plane. 0 or an enum sk_table_error. 'max_size' 0: the selector's maximum (when added), as
// it is (when modified).
int sk_selector_add(struct sk_selector *s, uint32_t group, uint32_t max_size,
                    const struct sk_group_member *members, uint32_t n);
int sk_selector_modify(struct sk_selector *s, uint32_t group, uint32_t max_size,
                       const struct sk_group_member *members, uint32_t n);
// What modify would say.
int sk_selector_may_modify(struct sk_selector *s, uint32_t group, uint32_t max_size,
                           const struct sk_group_member *members, uint32_t n);
int sk_selector_delete(struct sk_selector *s, uint32_t group);
// Of a group that is there; modify keeps it.
void sk_selector_set_offset(struct sk_selector *s, uint32_t group, bool has_offset,
                            uint32_t offset);
int sk_selector_clear(struct sk_selector *s); // all groups, or none: SK_E_IN_USE
int sk_selector_may_delete(const struct sk_selector *s, uint32_t group); // what delete would say
int sk_selector_may_clear(const struct sk_selector *s);
const struct sk_group *sk_selector_find(const struct sk_selector *s, uint32_t group); // or null
size_t sk_selector_count(const struct sk_selector *s);
void sk_selector_each(const struct sk_selector *s, bool (*fn)(void *aux, const struct sk_group *g),
                      void *aux);
void sk_selector_quiesce(struct sk_selector *s);

// For tables: an entry names a group from here on, or no longer. SK_E_NO_GROUP, SK_E_EMPTY.
int sk_selector_may_hold(const struct sk_selector *s, uint32_t group);
int sk_selector_hold(struct sk_selector *s, uint32_t group);
void sk_selector_release(struct sk_selector *s, uint32_t group);

// The id of the member that a hash chooses in a group (the operation get_member); false when there
// is no such group or none of its members is up.
bool sk_selector_choose(const struct sk_selector *s, uint32_t group, uint64_t hash,
                        uint32_t *member);
// The same for generated code: the member's entry, or null.
struct sk_entry *sk_selector_pick(const struct sk_selector *s, uint32_t group, uint64_t hash);

#pragma GCC visibility pop

#endif
