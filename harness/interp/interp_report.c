// SPDX-License-Identifier: Apache-2.0
//
// interp_report: what an instrumented program says of a packet (compiler/instrument/instrument.h),
// and what only who runs it knows: keys whose undefined bits matter, packets that are too short.
#include "harness/interp/interp_impl.h"

static const enum sk_violation violation_of[] = {
#define SAME_NAME(name) [IR_VIOLATION_##name] = SK_VIOLATION_##name,
    IR_VIOLATIONS(SAME_NAME)
#undef SAME_NAME
};

void interp_on_report(struct interp *ip,
                      void (*fn)(void *aux, const struct interp_violation *violation), void *aux) {
    ip->on_report = fn;
    ip->report_aux = aux;
}

static void tell(const struct run *r, struct interp_violation v) {
    if (!v.at.line)
        v.at = r->at;
    if (r->ip->on_report)
        r->ip->on_report(r->ip->report_aux, &v);
}

void interp_report(struct run *r, const struct ir_stmt *s) {
    const struct ir_report *report = s->report;
    if (!interp_true(r, s->e))
        return;
    size_t i = 0;
    while (i < s->args.n && !interp_true(r, s->args.v[i]))
        i++;
    const uint64_t place = s->e3 ? interp_index(r, s->e3) : 0;
    tell(r, (struct interp_violation){
                .violation = violation_of[report->blames.v[i].violation],
                .name = report->blames.v[i].name,
                .at = s->at,
                .number = s->e2 ? interp_index(r, s->e2) : 0,
                .also = place ? &report->places->v.v[place - 1] : NULL,
            });
}

// --------------------------------------------------------------------------------------------
// The parser.

// The frame check sequence is a surprise once: a parser that comes into it goes on as if it were
// the packet's.
bool interp_is_there(struct run *r, uint64_t end, const char *doing, const char *name) {
    const uint64_t known = r->n_bytes - (r->in_fcs ? 0 : r->n_fcs);
    if (end <= known)
        return true;
    tell(r, (struct interp_violation){
                .violation = SK_VIOLATION_SHORT_PACKET,
                .name = name ? arena_printf(r->a, "%s %s", doing, name) : doing,
                .number = end - known,
            });
    r->in_fcs = true;
    return !interp_beyond(r, end);
}

void interp_too_many_states(struct run *r, const struct ir_state *st) {
    tell(r, (struct interp_violation){.violation = SK_VIOLATION_PARSER_LOOP,
                                      .name = st->name,
                                      .at = st->at,
                                      .number = SK_PARSER_MAX_STATES});
}

// --------------------------------------------------------------------------------------------
// Keys.

enum fits { NO, MAYBE, YES };

static big without(struct run *r, big x, big bits) {
    return big_sub(r->a, x, big_and(r->a, x, bits));
}

// 'x' and 'y' differ in no bit that is set in 'bits'.
static bool same_in(struct run *r, big x, big y, big bits) {
    return big_cmp(big_and(r->a, x, bits), big_and(r->a, y, bits)) == 0;
}

static enum fits key_fits(struct run *r, enum ir_match match, big key, big undefined, big value,
                          big mask) {
    if (match == IR_MATCH_RANGE) {
        const big least = without(r, key, undefined), most = big_or(r->a, key, undefined);
        if (big_cmp(most, value) < 0 || big_cmp(least, mask) > 0)
            return NO;
        return big_cmp(least, value) < 0 || big_cmp(most, mask) > 0 ? MAYBE : YES;
    }
    if (!same_in(r, key, value, without(r, mask, undefined)))
        return NO;
    return big_sign(big_and(r->a, mask, undefined)) ? MAYBE : YES;
}

// Whether the entry is found; '*doubtful' is the number, from 1 on, of the first key that leaves it
// open.
static enum fits entry_fits(struct run *r, const struct ir_table *t, const struct interp_entry *e,
                            const big *values, const big *undefined, unsigned *doubtful) {
    unsigned at = 0;
    *doubtful = 0;
    for (size_t i = 0; i < t->keys.n; i++) {
        const unsigned width = t->keys.v[i].expr->width;
        const enum fits f = key_fits(r, t->keys.v[i].match, values[i], undefined[i],
                                     interp_from_words(r->a, e->value + at, width),
                                     interp_from_words(r->a, e->mask + at, width));
        if (f == NO)
            return NO;
        if (f == MAYBE && !*doubtful)
            *doubtful = (unsigned)i + 1;
        at += interp_words(width);
    }
    return *doubtful ? MAYBE : YES;
}

// Entries from the one that wins over all others on: the first that fits for certain ends it, and
// an earlier one that may fit is what the undefined bits decide about.
unsigned interp_find_doubt(struct run *r, const struct ir_table *t, const big *values,
                           const big *undefined) {
    const struct interp_table *entries = &r->st->tables[t->id];
    bool *const seen = ARENA_ARRAY(r->a, bool, entries->n + 1);
    for (size_t n = 0; n < entries->n; n++) {
        size_t best = entries->n;
        unsigned doubtful;
        for (size_t i = 0; i < entries->n; i++)
            if (!seen[i] && (best == entries->n ||
                             interp_better(r, t, entries->entries[i], entries->entries[best])))
                best = i;
        seen[best] = true;
        const enum fits f = entry_fits(r, t, entries->entries[best], values, undefined, &doubtful);
        if (f != NO)
            return doubtful;
    }
    return 0;
}

void interp_doubts(struct run *r, const struct ir_table *t, const big *values) {
    big *const undefined = ARENA_ARRAY(r->a, big, t->keys.n + 1);
    bool some = false;
    for (size_t i = 0; i < t->key_defined.n; i++) {
        const unsigned width = t->keys.v[i].expr->width;
        const struct ir_expr *defined = t->key_defined.v[i];
        const big ones = big_not(r->a, big_shl(r->a, big_not(r->a, big_u64(r->a, 0)), width));
        if (!defined)
            undefined[i] = big_u64(r->a, 0);
        else if (defined->width < width)
            undefined[i] = interp_true(r, defined) ? big_u64(r->a, 0) : ones;
        else
            undefined[i] = without(r, ones, interp_eval(r, defined));
        some |= big_sign(undefined[i]) != 0;
    }
    if (t->doubtful)
        interp_set_u64(r, t->doubtful, some ? interp_find_doubt(r, t, values, undefined) : 0);
    interp_block(r, t->reports);
}
