// SPDX-License-Identifier: Apache-2.0
//
// Bytes and numbers that clients write with an entry and read back, which the switch does not look
// at. An entry is known by its table and the number of its adding, which no other gets; what
// belongs to an entry that somebody else deleted stays until the program changes, within the limit.
#include <stdlib.h>
#include <string.h>

#include "p4rt/p4rt_impl.h"

#define NOTES_BYTES   ((size_t)64 << 20) // of all, with what each costs
#define NOTES_BUCKETS 4096u

struct notes_one {
    struct notes_one *next;
    const struct sk_table_desc *table;
    uint64_t which, number;
    size_t n;
    uint8_t bytes[];
};
struct p4rt_notes {
    size_t used;
    struct notes_one *buckets[NOTES_BUCKETS];
};

static struct notes_one **notes_find(struct p4rt_notes *notes, const struct sk_table_desc *table,
                                     uint64_t which) {
    const uint64_t mixed = (which ^ (uintptr_t)table) * UINT64_C(0x9e3779b97f4a7c15);
    struct notes_one **at = &notes->buckets[mixed >> 52];
    while (*at && ((*at)->table != table || (*at)->which != which))
        at = &(*at)->next;
    return at;
}

static void notes_drop(struct p4rt_notes *notes, struct notes_one **at) {
    struct notes_one *gone = *at;
    *at = gone->next;
    notes->used -= sizeof *gone + gone->n;
    free(gone);
}

bool p4rt_note_set(struct p4rt *p, const struct sk_table_desc *table, uint64_t which,
                   uint64_t number, const ProtobufCBinaryData *bytes) {
    const size_t n = bytes ? bytes->len : 0;
    if (!p->notes && (n || number) && !(p->notes = calloc(1, sizeof *p->notes)))
        abort();
    if (!p->notes)
        return true;
    struct notes_one **at = notes_find(p->notes, table, which);
    if (*at)
        notes_drop(p->notes, at);
    if (!n && !number)
        return true;
    if (sizeof(struct notes_one) + n > NOTES_BYTES - p->notes->used)
        return false;
    struct notes_one *one = malloc(sizeof *one + n);
    if (!one)
        abort();
    *one =
        (struct notes_one){.next = *at, .table = table, .which = which, .number = number, .n = n};
    if (n)
        memcpy(one->bytes, bytes->data, n);
    p->notes->used += sizeof *one + n;
    *at = one;
    return true;
}

void p4rt_note_get(const struct p4rt *p, const struct sk_table_desc *table, uint64_t which,
                   struct p4rt_note *out) {
    struct notes_one *one = p->notes ? *notes_find(p->notes, table, which) : NULL;
    *out = (struct p4rt_note){.number = 0};
    if (one)
        *out =
            (struct p4rt_note){.number = one->number, .bytes = {.data = one->bytes, .len = one->n}};
}

void p4rt_notes_clear(struct p4rt *p) {
    for (size_t i = 0; p->notes && i < NOTES_BUCKETS; i++)
        while (p->notes->buckets[i])
            notes_drop(p->notes, &p->notes->buckets[i]);
    free(p->notes);
    p->notes = NULL;
}
