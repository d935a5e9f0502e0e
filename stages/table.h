// SPDX-License-Identifier: Apache-2.0
//
// table: run-time match-action tables.
//
// A table maps a key to an entry; an entry names an action (by its index in the table's action
// list) and carries its data. Generated code builds the key, looks it up and runs the action; the
// control plane adds and deletes entries through the same object.
//
// Keys and action data have one form everywhere, "words": each field takes sk_words(width) 64-bit
// words, least significant word first, fields in declaration order. Unused high bits are zero.
//
// Match kinds follow tna-facts 4.12: all keys exact -> hash table; one lpm key (others exact) ->
// longest prefix wins; any ternary or range key -> smallest priority number wins, among equal ones
// the entry added first. A table without keys always misses.
//
// Action profiles (tna-facts 4.9). The members of a profile are the entries of a table too, with
// the member's id as key. Other tables' entries and a selector's groups (selector.h) refer to them;
// what is referred to cannot be deleted. References are counted by the writer; a lookup finds the
// member by its id when it needs it, so a changed member is changed for all.
//
// Concurrency: one writer at a time; lookups may run on another thread while an entry is added,
// changed or deleted, and see the entry before or after, never a mix. Memory of removed entries is
// freed by sk_table_quiesce(), which the owner calls when no lookup is under way.
#ifndef SILKEN_STAGES_TABLE_H
#define SILKEN_STAGES_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default) // compiled programs call these

// A table's key, and an action's data, have at most so many bytes, each field counted in whole
// ones.
#define SK_MAX_KEY_BYTES  512
#define SK_MAX_DATA_BYTES 512
// No field has more words than bytes.
#define SK_MAX_KEY_WORDS  SK_MAX_KEY_BYTES
#define SK_MAX_DATA_WORDS SK_MAX_DATA_BYTES

static inline unsigned sk_words(unsigned width) {
    return (width + 63) / 64;
}

enum sk_match { SK_EXACT, SK_TERNARY, SK_LPM, SK_RANGE };

struct sk_field_desc {
    const char *name;
    uint32_t width;
    uint8_t match; // enum sk_match; keys only
    bool is_signed;
};
struct sk_action_desc {
    const char *name; // fully qualified
    const struct sk_field_desc *params;
    uint32_t n_params;
    uint32_t data_words;
    bool table_only, default_only; // @tableonly, @defaultonly
    uint8_t refers;                // enum sk_refers
};
// In a table with an action profile or selector an entry names a member or a group: an "action"
// whose one parameter is the id. The program's own actions are for the default action and the
// program's own entries.
enum sk_refers { SK_REFERS_NOT, SK_REFERS_MEMBER, SK_REFERS_GROUP };
struct sk_const_entry {
    int64_t priority;
    const uint64_t *value, *mask; // key words; for range keys value = low end, mask = high end
    uint32_t action;
    const uint64_t *data;
    bool is_const;
};
struct sk_table_desc {
    const char *name;
    const struct sk_field_desc *keys;
    uint32_t n_keys, key_words;
    const struct sk_action_desc *const *actions;
    uint32_t n_actions;
    uint32_t default_action;
    const uint64_t *default_data;
    bool const_default, const_entries, hidden;
    uint64_t size; // entries at most
    const struct sk_const_entry *entries;
    uint32_t n_entries;
    uint8_t counter_type; // of the direct counter: 0 packets, 1 bytes, 2 both
    bool has_counter;
    uint8_t meter_kind; // enum sk_meter_kind of its direct meter or filter; 0: none
    bool meter_bytes;
    bool idle_timeout;
    uint32_t direct_words; // 64-bit words of direct register cells per entry
    const uint64_t *direct_initial;
    const struct sk_field_desc *direct_fields; // of each word: "pipe.Ingress.register.member"
    // Entries are found by this function of the key, not by the key; all keys are exact. Two keys
    // of one value cannot be in the table together: those of a proxy hash; where it puts fields
    // side by side there are none. Null: by the key.
    uint64_t (*proxy)(const uint64_t *key);
    bool key_masks;  // the control plane says which bits of the keys count; all keys are exact
    bool is_profile; // its entries are the members of an action profile: key $ACTION_MEMBER_ID
    const struct sk_table_desc *profile;     // whose members entries name, or null
    const struct sk_selector_desc *selector; // whose groups entries name, or null
};

struct sk_hits { // of an entry that is a branch of the program
    uint64_t hits, last;
};
// Counts a hit at the time 'now'. C compilers make of two plain stores side by side one of a
// vector, which takes longer to put together than to store twice.
#define SK_HIT(count, time, now)                                                                   \
    do {                                                                                           \
        (count)++;                                                                                 \
        __atomic_store_n(&(time), (now), __ATOMIC_RELAXED);                                        \
    } while (0)
// An entry's ageing. Packets do not touch it.
struct sk_idle {
    uint32_t ttl_ms;            // 0: the entry does not age
    bool idle;                  // it has been reported as idle
    bool hit;                   // its hit state
    uint16_t times;             // how many of its times it has been idle, of those looked at
    uint64_t hits_seen, active; // hits at the last look; when it was last matched then, in ns
    uint64_t hits_polled;       // hits when its hit state was last updated
};

struct sk_meter_cell;
// What every packet that matches touches stands last, at the start of a cache line: the key and the
// action data follow it there (table_impl.h).
struct sk_entry {
    int64_t priority;
    uint64_t sequence;               // order of adding, among equal priorities
    uint64_t *value, *mask;          // key words as given (mask: all ones for exact)
    const struct sk_hits *elsewhere; // hits counted outside, or null: read with the functions below
    struct sk_idle idle;             // the control plane's (control/tables/idle.h)
    uint32_t id;                     // unique in the table while the entry lives
    bool is_const;
    struct sk_meter_cell *meter; // of the direct meter or filter (meter.h), or null
    uint64_t *direct;            // direct register cells, twice: the pipe's, and those last seen
    // The direct counter as a controller last saw or set it, while packets go on counting (brt/).
    uint64_t seen_packets, seen_bytes;
    uint64_t packets, bytes; // direct counter; written by the pipe's thread only
    uint64_t *data;          // action data words
    uint64_t hits;
    uint64_t last_hit; // ns, 48 bits: when the latest packet that it matched entered its parser; 0:
                       // never
    uint32_t action;   // index in desc->actions
};
static inline uint64_t sk_entry_hits(const struct sk_entry *e) {
    return e->hits + (e->elsewhere ? e->elsewhere->hits : 0);
}
static inline uint64_t sk_entry_last_hit(const struct sk_entry *e) {
    return e->elsewhere && e->elsewhere->last ? e->elsewhere->last : e->last_hit;
}

// Errors of control-plane calls, negative.
enum sk_table_error {
    SK_OK = 0,
    SK_E_EXISTS = -1, // an entry with this key (and priority) exists
    SK_E_NOT_FOUND = -2,
    SK_E_FULL = -3,   // 'size' entries are in use
    SK_E_CONST = -4,  // const entries or const default action
    SK_E_ACTION = -5, // action not in the table's list, or not allowed in this place
    SK_E_KEY = -6,    // value beyond its width, mask of an exact key not full, prefix mask not
                      // contiguous, range low > high
    SK_E_DATA = -7,   // action data beyond its width
    SK_E_MEMORY = -8,
    SK_E_IN_USE = -9,       // something refers to it
    SK_E_NO_MEMBER = -10,   // there is no such member
    SK_E_NO_GROUP = -11,    // there is no such group
    SK_E_EMPTY = -12,       // a group that entries name must keep a member that is up
    SK_E_ACTIONS = -13,     // the members of a group must have the same action
    SK_E_COLLISION = -15,   // another entry's key has the same proxy hash
    SK_E_MASKED = -17,      // a bit of the key that the table's key mask leaves out
    SK_E_NOT_EMPTY = -18,   // its key mask can only change while it has no entries
    SK_E_PARSERS = -19,     // the value set is that of single parsers
    SK_E_GROUP_SIZE = -14,  // more members than the group may have, or than any group may have
    SK_E_FILLED = -20,      // it was filled as a whole
    SK_E_HAS_ENTRIES = -21, // only a table without entries can be filled
    SK_E_LINES = -16,       // the selector's memory has no free lines for the group
};
const char *sk_table_strerror(int error);

struct sk_table; // layout in table_impl.h, for generated code's inline lookups

// The tables that this thread makes from now on hash keys with secrets derived from this one, so
// that keys which meet in one bucket cannot be chosen from outside; 0, as at first: with a fixed
// hash, for runs that repeat. Results of lookups and the order of entries do not depend on it.
void sk_table_use_secret(uint64_t secret);
// 'desc' must outlive the table. Holds the const entries and default action afterwards.
struct sk_table *sk_table_new(const struct sk_table_desc *desc);
void sk_table_free(struct sk_table *t);
// Tells a table with an action profile where its members and groups are ('selector' may be null).
// Once, before anything else is done with the table; both must outlive it.
struct sk_selector;
void sk_table_attach(struct sk_table *t, struct sk_table *members, struct sk_selector *selector);
// For a selector: counts a reference by one of its groups to a member, or takes it back. The
// member's action into 'action' when that is not null. SK_E_NO_MEMBER when there is none.
int sk_table_hold(struct sk_table *members, uint32_t id, uint32_t *action);
void sk_table_release(struct sk_table *members, uint32_t id);
const struct sk_table_desc *sk_table_desc(const struct sk_table *t);

// 'key' has desc->key_words words. Returns the entry that matches, or null on a miss.
struct sk_entry *sk_table_lookup(const struct sk_table *t, const uint64_t *key);
// The entry that stands for the default action; never null.
struct sk_entry *sk_table_default(const struct sk_table *t);

// Control plane. 'value', 'mask' are key words ('mask' null: all exact); 'data' words of the
// action.
int sk_table_add(struct sk_table *t, const uint64_t *value, const uint64_t *mask, int64_t priority,
                 uint32_t action, const uint64_t *data);
// Brings what sk_table_add, _modify and _delete with this key look at first nearer, where that is
// known from the key alone. For lists of changes: each key's well before its change.
void sk_table_prefetch(const struct sk_table *t, const uint64_t *value);
// Fills a table without entries, or one that was filled before, as a whole: key i gets values[i],
// as the one parameter of the action. For large tables of small values: two or four bytes each,
// which equal tables share. Then it takes no single changes (SK_E_FILLED) until sk_table_clear, and
// counts no hits. SK_E_ACTION where sk_table_may_be_filled is false, SK_E_KEY when n is 0 or above
// the largest key, SK_E_DATA, SK_E_FULL, SK_E_HAS_ENTRIES, SK_E_MEMORY.
int sk_table_fill(struct sk_table *t, uint32_t action, const uint32_t *values, size_t n);
// What that would answer, with nothing changed (but for SK_E_MEMORY).
int sk_table_may_fill(const struct sk_table *t, uint32_t action, const uint32_t *values, size_t n);
// One exact key of at most 16 bits, nothing counted or metered or aged by entry, and an action with
// one parameter of at most 32 bits.
bool sk_table_may_be_filled(const struct sk_table_desc *d, uint32_t action);
// For generated code, once, before the table is filled: '*values' is where its numbers stand, from
// when it is first filled with all keys, and '*unfilled' is one more while it is not. Both must
// outlive all changes of the table.
void sk_table_tell_filled(struct sk_table *t, const void **values, unsigned *unfilled);
// The same of equal tables that are looked up in 'n' lanes: '*common' is their numbers while all of
// them are filled, with all keys, and equal, else null. 'of' is the writers', by lane.
struct sk_numbers; // stages/numbers.h
struct sk_lane_numbers {
    const struct sk_numbers **common, **of;
    unsigned n;
};
void sk_table_tell_lanes(struct sk_table *t, const struct sk_lane_numbers *lanes, unsigned lane);
bool sk_table_is_filled(const struct sk_table *t);
int sk_table_modify(struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                    int64_t priority, uint32_t action, const uint64_t *data);
int sk_table_delete(struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                    int64_t priority);
int sk_table_set_default(struct sk_table *t, uint32_t action, const uint64_t *data);
void sk_table_reset_default(struct sk_table *t);
// All but const entries; the default action as in the program. SK_E_IN_USE, with nothing changed,
// when an entry is a member that something refers to.
int sk_table_clear(struct sk_table *t);
// The same between packets; 'between' is called before each entry goes, and packets may pass
// meanwhile. What goes is freed at once.
int sk_table_clear_between(struct sk_table *t, void (*between)(void *aux), void *aux);
// What the calls above would answer, with nothing changed (but for SK_E_MEMORY).
int sk_table_may_modify(const struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                        int64_t priority, uint32_t action, const uint64_t *data);
int sk_table_may_delete(const struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                        int64_t priority);
int sk_table_may_set_default(const struct sk_table *t, uint32_t action, const uint64_t *data);
int sk_table_may_clear(const struct sk_table *t);
size_t sk_table_count(const struct sk_table *t); // of a value set, with those of single parsers
// Which bits of the key count, of a table with key masks: key words, all ones at first.
// SK_E_NOT_EMPTY while it has entries. Between packets only.
int sk_table_set_key_mask(struct sk_table *t, const uint64_t *mask);
const uint64_t *sk_table_key_mask(const struct sk_table *t);
// A value set is that of each of n parsers (0: of all again), each with room for 'size' values; an
// empty one only, and between packets. SK_E_PARSERS when it has values, or SK_E_MEMORY: nothing
// changed. From then on it takes none itself (SK_E_PARSERS), its parsers' do.
int sk_table_set_parsers(struct sk_table *t, unsigned n);
unsigned sk_table_n_parsers(const struct sk_table *t); // 0: it is that of all parsers
struct sk_table *sk_table_of_parser(const struct sk_table *t, unsigned parser);
// Calls 'fn' for every entry, in order of precedence for ternary tables; stops when it returns
// false.
void sk_table_each(const struct sk_table *t, bool (*fn)(void *aux, const struct sk_entry *e),
                   void *aux);
void sk_table_quiesce(struct sk_table *t);
// A part of the work on memory that no lookup sees: a larger hash's is cleared, an old one's given
// back. By the thread that changes the table, while packets go on; once after each change, from the
// first on. Without it the changes do that work, of which packets then wait for some.
void sk_table_tend(struct sk_table *t);
// Whether it is known when an entry, or the default action, was hit last. Not of what is the
// program's own for good and does not age.
bool sk_table_tells_last_hit(const struct sk_table_desc *d, bool def);
// Changes whenever a table, a group or anything else that a program looks at was changed, in any
// switch: who remembers what a program did remembers that beside it. Call sk_tables_changed after a
// change of something else that is looked at.
uint64_t sk_tables_generation(void);
void sk_tables_changed(void);
// The entry that sk_table_add made for this key, or null. Its counter, meter cell and 'idle' may be
// changed between packets; it is valid until the table changes.
// Of a table that was filled it is a copy of the value, as with sk_table_each; that of
// sk_table_lookup is valid until the next call.
struct sk_entry *sk_table_find(const struct sk_table *t, const uint64_t *value,
                               const uint64_t *mask, int64_t priority);
// The program counts the hits of its own entries in hits[i * apart], by their order in the
// description, and those of the default action, when it counts them, after them. 'hits' must
// outlive the table.
void sk_table_share_hits(struct sk_table *t, const struct sk_hits *hits, uint32_t apart);

#pragma GCC visibility pop

#endif
