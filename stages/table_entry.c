// SPDX-License-Identifier: Apache-2.0
//
// table_entry: what a table's writer does with one entry, whatever structure finds it: checks of
// what the control plane gives, the entry's memory, and what it refers to.
#include "stages/table_writer.h"

#include "stages/meter.h"
#include "stages/selector.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const char *sk_table_strerror(int error) {
    switch (error) {
    case SK_OK:
        return "no error";
    case SK_E_EXISTS:
        return "an entry with this key exists";
    case SK_E_NOT_FOUND:
        return "there is no entry with this key";
    case SK_E_FULL:
        return "the table is full";
    case SK_E_CONST:
        return "the program declares it constant";
    case SK_E_ACTION:
        return "the action is not one of this table's, or is not allowed here";
    case SK_E_KEY:
        return "the key does not fit the table's key fields";
    case SK_E_DATA:
        return "the action data does not fit the action's parameters";
    case SK_E_MEMORY:
        return "out of memory";
    case SK_E_IN_USE:
        return "an entry or a group still refers to it";
    case SK_E_NO_MEMBER:
        return "the action profile has no member with this id";
    case SK_E_NO_GROUP:
        return "the action selector has no group with this id";
    case SK_E_EMPTY:
        return "a group that an entry names must have a member that is up";
    case SK_E_ACTIONS:
        return "all members of a group must have the same action";
    case SK_E_MASKED:
        return "the key has bits set outside the table's key mask";
    case SK_E_NOT_EMPTY:
        return "its key mask can only change while the table has no entries";
    case SK_E_PARSERS:
        return "a controller has given each parser values of its own";
    case SK_E_COLLISION:
        return "the key has the same proxy hash as another entry";
    case SK_E_GROUP_SIZE:
        return "the group has more members than it may have";
    case SK_E_FILLED:
        return "the table was filled as a whole: fill it again, or clear it";
    case SK_E_HAS_ENTRIES:
        return "only a table without entries can be filled as a whole";
    case SK_E_LINES:
        return "the selector's memory has no lines left that the group fits into";
    default:
        return "unknown error";
    }
}

// --------------------------------------------------------------------------------------------
// Checks of what the control plane gives.

// True when the field's words hold no bit beyond its width.
static bool table_entry_fits(const uint64_t *v, uint32_t width) {
    return width % 64 == 0 || (v[sk_words(width) - 1] & ~sk_mask(width % 64)) == 0;
}

uint64_t sk_full_word(uint32_t width, uint32_t word) {
    return word + 1 < sk_words(width) || width % 64 == 0 ? ~UINT64_C(0) : sk_mask(width % 64);
}

int sk_prefix_length(const uint64_t *mask, uint32_t width) {
    uint32_t length = 0;
    while (length < width) {
        uint32_t bit = width - 1 - length;
        if (!(mask[bit / 64] >> bit % 64 & 1))
            break;
        length++;
    }
    for (uint32_t bit = 0; bit < width - length; bit++)
        if (mask[bit / 64] >> bit % 64 & 1)
            return -1;
    return (int)length;
}

int sk_compare_words(const uint64_t *a, const uint64_t *b, uint32_t words) {
    for (uint32_t i = words; i-- > 0;)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static bool key_field_ok(const struct sk_key_pos *k, const uint64_t *value, const uint64_t *mask) {
    value += k->word;
    mask += k->word;
    if (!table_entry_fits(value, k->width) || !table_entry_fits(mask, k->width))
        return false;
    switch (k->match) {
    case SK_EXACT:
        for (uint32_t w = 0; w < k->words; w++)
            if (mask[w] != sk_full_word(k->width, w))
                return false;
        return true;
    case SK_LPM:
        return sk_prefix_length(mask, k->width) >= 0;
    case SK_RANGE:
        return sk_compare_words(value, mask, k->words) <= 0;
    default:
        return true;
    }
}

int sk_canonical_key(const struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                     uint64_t *value_out, uint64_t *mask_out) {
    for (uint32_t i = 0; i < t->desc->n_keys; i++) {
        const struct sk_key_pos *k = &t->keys[i];
        for (uint32_t w = 0; w < k->words; w++) {
            uint64_t v = value[k->word + w];
            uint64_t m = k->match == SK_RANGE ? v : sk_full_word(k->width, w);
            value_out[k->word + w] = v;
            mask_out[k->word + w] = mask ? mask[k->word + w] : m;
        }
        if (!key_field_ok(k, value_out, mask_out))
            return SK_E_KEY;
        for (uint32_t w = 0; w < k->words && k->match != SK_RANGE; w++)
            value_out[k->word + w] &= mask_out[k->word + w];
    }
    return SK_OK;
}

static bool action_allowed(const struct sk_table *t, const struct sk_action_desc *a,
                           enum place_of_action place) {
    if (place == IN_DEFAULT)
        return !a->table_only;
    // entries of the control plane name members where there is a profile
    if (place == IN_ENTRY && t->desc->profile && !a->refers)
        return false;
    return !a->default_only;
}

int sk_check_action(const struct sk_table *t, uint32_t action, const uint64_t *data,
                    enum place_of_action place) {
    if (action >= t->desc->n_actions)
        return SK_E_ACTION;
    const struct sk_action_desc *a = t->desc->actions[action];
    if (!action_allowed(t, a, place))
        return SK_E_ACTION;
    uint32_t word = 0;
    for (uint32_t i = 0; i < a->n_params; i++) {
        if (!data || !table_entry_fits(data + word, a->params[i].width))
            return SK_E_DATA;
        word += sk_words(a->params[i].width);
    }
    return SK_OK;
}

// --------------------------------------------------------------------------------------------
// Entries.

struct node *sk_node_new(struct sk_table *t, const uint64_t *value, const uint64_t *mask,
                         uint32_t action, const uint64_t *data) {
    uint32_t words = t->desc->key_words, n_data = t->desc->actions[action]->data_words;
    uint32_t word = t->desc->proxy ? 1 : 0; // before all, and the data next: sk_entry_key
    size_t size = offsetof(struct node, e) + sizeof(struct sk_entry) +
                  (word + 2 * (size_t)words + n_data) * sizeof(uint64_t);
    size = (size + SK_NODE_ALIGN - 1) / SK_NODE_ALIGN * SK_NODE_ALIGN;
    // Not by aligned_alloc: it leaves small pieces free, and collects a million of them at once
    // when a later change frees something.
    void *memory = malloc(size + SK_NODE_ALIGN - _Alignof(max_align_t));
    if (!memory)
        return NULL;
    struct node *n =
        (struct node *)(((uintptr_t)memory + SK_NODE_ALIGN - 1) / SK_NODE_ALIGN * SK_NODE_ALIGN);
    memset(n, 0, size);
    n->memory = memory;
    n->e.action = action;
    n->e.value = (uint64_t *)(&n->e + 1) + (word ? 1 + n_data : 0);
    // a ternary lookup compares under the mask; the others do not read it
    bool mask_first = t->kind == SK_KIND_TERNARY;
    n->e.data = n->e.value + (mask_first ? 2 : 1) * words;
    n->e.mask = n->e.value + words + (mask_first || word ? 0 : n_data);
    if (word) {
        n->e.data = (uint64_t *)(&n->e + 1) + 1;
        n->e.data[-1] = t->desc->proxy(value);
    }
    if (words) {
        memcpy(n->e.value, value, words * sizeof *value);
        memcpy(n->e.mask, mask, words * sizeof *mask);
    }
    if (n_data)
        memcpy(n->e.data, data, n_data * sizeof *data);
    return n;
}

bool sk_node_init_direct(const struct sk_table *t, struct node *n) {
    uint32_t words = t->desc->direct_words;
    n->owns_direct = true;
    if (t->desc->meter_kind) {
        n->e.meter = calloc(1, sizeof *n->e.meter);
        if (!n->e.meter)
            return false;
    }
    if (!words)
        return true;
    n->e.direct = calloc(2 * (size_t)words, sizeof *n->e.direct);
    for (uint32_t i = 0; n->e.direct && t->desc->direct_initial && i < 2; i++)
        memcpy(n->e.direct + i * words, t->desc->direct_initial, words * sizeof *n->e.direct);
    return n->e.direct != NULL;
}

void sk_node_free(struct node *n) {
    if (!n)
        return;
    if (n->owns_direct) {
        free(n->e.direct);
        free(n->e.meter);
    }
    free(n->memory);
}

void sk_node_inherit(struct node *n, struct node *old) {
    n->place = old->place;
    old->place = NULL;
    n->e.sequence = old->e.sequence;
    n->e.id = old->e.id;
    n->e.priority = old->e.priority;
    n->e.packets = old->e.packets;
    n->e.bytes = old->e.bytes;
    n->e.seen_packets = old->e.seen_packets;
    n->e.seen_bytes = old->e.seen_bytes;
    n->e.hits = old->e.hits;
    n->e.last_hit = old->e.last_hit;
    n->e.elsewhere = old->e.elsewhere;
    n->e.idle = old->e.idle;
    n->held_by_entries = old->held_by_entries;
    n->held_by_groups = old->held_by_groups;
    n->e.direct = old->e.direct;
    n->e.meter = old->e.meter;
    n->owns_direct = old->owns_direct;
    old->owns_direct = false;
}

// --------------------------------------------------------------------------------------------
// References to members and groups.

struct node *sk_find_member(const struct sk_table *members, uint64_t id) {
    struct sk_entry *e = sk_lookup_member(members, id);
    return e ? table_writer_node_of(e) : NULL;
}

int sk_table_hold(struct sk_table *members, uint32_t id, uint32_t *action) {
    struct node *n = sk_find_member(members, id);
    if (!n)
        return SK_E_NO_MEMBER;
    n->held_by_groups++;
    if (action)
        *action = n->e.action;
    return SK_OK;
}

void sk_table_release(struct sk_table *members, uint32_t id) {
    struct node *n = sk_find_member(members, id);
    assert(n && n->held_by_groups > 0);
    n->held_by_groups--;
}

static uint8_t refers(const struct sk_table *t, uint32_t action) {
    return t->members ? t->desc->actions[action]->refers : SK_REFERS_NOT;
}

// What an action of an entry refers to is counted from here on.
int sk_entry_hold(struct sk_table *t, uint32_t action, const uint64_t *data) {
    struct node *n;
    switch (refers(t, action)) {
    case SK_REFERS_MEMBER:
        n = sk_find_member(t->members, data[0]);
        if (!n)
            return SK_E_NO_MEMBER;
        n->held_by_entries++;
        return SK_OK;
    case SK_REFERS_GROUP:
        return sk_selector_hold(t->selector, (uint32_t)data[0]);
    default:
        return SK_OK;
    }
}

void sk_entry_release(struct sk_table *t, uint32_t action, const uint64_t *data) {
    struct node *n;
    switch (refers(t, action)) {
    case SK_REFERS_MEMBER:
        n = sk_find_member(t->members, data[0]);
        assert(n && n->held_by_entries > 0);
        n->held_by_entries--;
        break;
    case SK_REFERS_GROUP:
        sk_selector_release(t->selector, (uint32_t)data[0]);
        break;
    default:
        break;
    }
}

bool sk_node_held(const struct node *n) {
    return n->held_by_entries || n->held_by_groups;
}

// Is there what the action refers to?
int sk_entry_may_hold(const struct sk_table *t, uint32_t action, const uint64_t *data) {
    switch (refers(t, action)) {
    case SK_REFERS_MEMBER:
        return sk_find_member(t->members, data[0]) ? SK_OK : SK_E_NO_MEMBER;
    case SK_REFERS_GROUP:
        return sk_selector_may_hold(t->selector, (uint32_t)data[0]);
    default:
        return SK_OK;
    }
}
