// SPDX-License-Identifier: Apache-2.0
//
// interp_note: notes of what a pass does to a packet, bit by bit (ir.h, IR_NOTE).
#include "harness/interp/interp_impl.h"

void interp_note_to(struct interp *ip, struct interp_record *to) {
    ip->record = to;
}

// ---- places ----

// Before the packet, where the architecture, or ingress, put something.
static bool note_in_front(const struct interp_record *n, uint64_t at, uint64_t bytes) {
    return at + bytes <= n->frame;
}

// In what can be compared: the packet's first bytes. Behind its end there is the frame check
// sequence, which depends on all of it.
static bool note_in_packet(const struct interp_record *n, uint64_t at, uint64_t bytes) {
    const uint64_t end = n->length < INTERP_SEEN ? n->length : INTERP_SEEN;
    return at >= n->frame && at + bytes <= n->frame + end;
}

static void note_bit(struct interp_record *n, uint64_t bit) {
    const uint64_t at = bit / 8;
    for (unsigned k = 0; k < 2; k++)
        n->unfit |= at >= n->moment[k].from && at < n->moment[k].to;
    if (note_in_packet(n, at, 1))
        n->seen[at - n->frame] |= (uint8_t)(0x80u >> bit % 8);
    else if (!note_in_front(n, at, 1))
        n->unfit = true;
}

// ---- what is noted ----

static void note_header(struct run *r, struct interp_record *n, const struct ir_header *h) {
    const uint64_t at = r->buffer_at + r->cursor;
    // one that is neither in front nor in the packet is nobody's, whatever is looked at in it
    n->unfit |= !note_in_front(n, at, h->bits / 8) && !note_in_packet(n, at, h->bits / 8);
    for (size_t i = 0; i < h->fields.n; i++) {
        const struct ir_var *f = h->fields.v[i];
        for (unsigned b = 0; r->g->decides[f->id] && b < f->width; b++)
            note_bit(n, 8 * at + f->bit_offset + b);
    }
}

static void note_lookahead(struct run *r, struct interp_record *n, const struct ir_expr *x) {
    for (unsigned b = 0; b < x->width; b++)
        note_bit(n, 8 * (r->buffer_at + r->cursor) + x->lo + b);
}

// Where a header was extracted; beyond all packets: it was not.
static uint64_t note_extracted_at(const struct run *r, const struct ir_header *h) {
    const uint64_t end = r->header_at[h->id];
    return end ? r->buffer_at + end - h->bits / 8 : UINT32_MAX;
}

static void note_summed(struct run *r, struct interp_record *n, const struct ir_header *h) {
    const uint64_t at = note_extracted_at(r, h);
    n->unfit |= n->summed || !note_in_packet(n, at, h->bits / 8) || h->bits / 8 > 60;
    n->summed_at = at - n->frame;
    n->summed = h->bits / 8;
}

void interp_note(struct run *r, const struct ir_stmt *s) {
    struct interp_record *const n = r->ip->record;
    if (!n || (s->e && !interp_true(r, s->e)))
        return;
    const uint64_t at = r->buffer_at + r->cursor;
    switch (s->noted) {
    case IR_NOTED_HEADER:
        note_header(r, n, s->header);
        break;
    case IR_NOTED_LOOKAHEAD:
        for (size_t i = 0; i < s->args.n; i++)
            note_lookahead(r, n, s->args.v[i]);
        break;
    case IR_NOTED_TAKEN: {
        // a length that depends on bytes that are not there is not asked for: they were noted
        if (s->e2 && n->unfit)
            break;
        const uint64_t bytes = s->e2 ? interp_index(r, s->e2) / 8 : s->header->bits / 8;
        n->unfit |= bytes && (bytes > n->frame || !note_in_front(n, at, bytes));
        break;
    }
    case IR_NOTED_ORDER:
        n->unfit |= s->lo <= n->place || at < n->frame;
        n->place = s->lo;
        break;
    case IR_NOTED_REMOVED:
        n->unfit |= !note_in_front(n, note_extracted_at(r, s->header), 1);
        break;
    case IR_NOTED_SUMMED:
        note_summed(r, n, s->header);
        break;
    case IR_NOTED_VERIFIED:
        n->unfit |= r->sums[s->checksum->id].sum != 0xffff || !n->summed;
        break;
    case IR_NOTED_UNFIT:
        n->unfit = true;
        break;
    default:
        interp_fail("note", (int)s->noted, s->at);
    }
}

// ---- counts ----

static void note_add(struct interp_record *n, struct interp_note note) {
    if (n->n_notes == INTERP_NOTES)
        n->unfit = true;
    else
        n->notes[n->n_notes++] = note;
}

void interp_note_count(struct run *r, uint64_t *count) {
    if (r->ip->record)
        note_add(r->ip->record, (struct interp_note){.count = count, .more = 1});
}

void interp_note_bytes(struct run *r, uint64_t *bytes, uint64_t counted) {
    struct interp_record *const n = r->ip->record;
    if (!n)
        return;
    // a shorter packet with the same bits could count less than nothing
    const uint64_t least = n->length < INTERP_SEEN ? n->length : INTERP_SEEN;
    const int64_t more = (int64_t)counted - (int64_t)n->length;
    n->unfit |= counted == 0 || more + (int64_t)least < 0;
    note_add(n, (struct interp_note){.count = bytes, .more = more, .bytes = true});
}
