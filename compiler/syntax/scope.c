// SPDX-License-Identifier: Apache-2.0
//
// scope: an open-addressing map that never forgets a name, and an undo log.
#include "compiler/syntax/scope.h"

#include <string.h>

struct entry {
    const char *name; // null: free slot
    size_t length;
    enum scope_kind now, top;
};

struct undo {
    uint32_t entry; // its index
    enum scope_kind before;
};

struct scope {
    struct arena *a;
    VEC(struct entry) entries; // in order of first declaration
    uint32_t *slots;           // index + 1 into 'entries'; 0 = free
    size_t n_slots;            // a power of two
    VEC(struct undo) log;
    uint32_t depth;
};

struct scope *scope_new(struct arena *a) {
    struct scope *s = ARENA_NEW(a, struct scope);
    s->a = a;
    s->n_slots = 256;
    s->slots = ARENA_ARRAY(a, uint32_t, s->n_slots);
    return s;
}

static uint64_t scope_hash(const char *name, size_t length) {
    uint64_t h = 0xcbf29ce484222325u; // FNV-1a
    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)name[i]) * 0x100000001b3u;
    return h;
}

// The slot of 'name', or the free slot where it belongs.
static uint32_t *scope_find_slot(const struct scope *s, const char *name, size_t length) {
    size_t mask = s->n_slots - 1;
    for (size_t i = scope_hash(name, length) & mask;; i = (i + 1) & mask) {
        uint32_t *slot = &s->slots[i];
        if (*slot == 0)
            return slot;
        const struct entry *e = &s->entries.v[*slot - 1];
        if (e->length == length && memcmp(e->name, name, length) == 0)
            return slot;
    }
}

static void grow_slots(struct scope *s) {
    s->n_slots *= 2;
    s->slots = ARENA_ARRAY(s->a, uint32_t, s->n_slots);
    for (size_t i = 0; i < s->entries.n; i++)
        *scope_find_slot(s, s->entries.v[i].name, s->entries.v[i].length) = (uint32_t)i + 1;
}

static uint32_t scope_find_or_add(struct scope *s, const char *name, size_t length) {
    uint32_t *slot = scope_find_slot(s, name, length);
    if (*slot != 0)
        return *slot - 1;
    struct entry e = {.name = arena_strndup(s->a, name, length), .length = length};
    VEC_PUSH(s->a, &s->entries, e);
    *slot = (uint32_t)s->entries.n;
    if (s->entries.n * 2 > s->n_slots)
        grow_slots(s);
    return (uint32_t)s->entries.n - 1;
}

void scope_declare(struct scope *s, const char *name, size_t length, enum scope_kind kind) {
    uint32_t i = scope_find_or_add(s, name, length);
    struct entry *e = &s->entries.v[i];
    if (s->depth == 0) {
        e->now = e->top = kind;
        return;
    }
    struct undo u = {.entry = i, .before = e->now};
    VEC_PUSH(s->a, &s->log, u);
    e->now = kind;
}

static const struct entry *scope_find(const struct scope *s, const char *name, size_t length) {
    uint32_t slot = *scope_find_slot(s, name, length);
    return slot ? &s->entries.v[slot - 1] : NULL;
}

enum scope_kind scope_lookup(const struct scope *s, const char *name, size_t length) {
    const struct entry *e = scope_find(s, name, length);
    return e ? e->now : SCOPE_UNKNOWN;
}

enum scope_kind scope_lookup_top(const struct scope *s, const char *name, size_t length) {
    const struct entry *e = scope_find(s, name, length);
    return e ? e->top : SCOPE_UNKNOWN;
}

struct scope_mark scope_enter(struct scope *s) {
    struct scope_mark mark = {.log = (uint32_t)s->log.n, .depth = s->depth++};
    return mark;
}

void scope_leave(struct scope *s, struct scope_mark mark) {
    if (mark.depth >= s->depth)
        return; // an outer mark was left already
    while (s->log.n > mark.log) {
        struct undo u = s->log.v[--s->log.n];
        s->entries.v[u.entry].now = u.before;
    }
    s->depth = mark.depth;
}

uint32_t scope_depth(const struct scope *s) {
    return s->depth;
}
