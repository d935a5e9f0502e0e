// SPDX-License-Identifier: Apache-2.0
#include "control/sessions/clear.h"

#include <stdio.h>

#include "control/tables/names.h"

#define CELLS_IN_A_PAUSE 256u

static const char *const slot_registers[] = {"seen.bitmap0", "seen.bitmap1"};
static const char *const cell_registers[] = {"tally0.cells", "tally1.cells"};
#define HALVES_TABLE   "lanes.number00.coarse"
#define ROCE_TABLE     "writes.writers"
#define KNOWN_CELLS    "known.cells"
#define OWNERS         "owner.owners"
#define OWNER_FRAGMENT "fragment"
#define RECORDS        "records.records"
#define RESTS          "records.rests"
#define WINDOW         512u                // records of a worker
#define LATER_NS       (UINT64_C(1) << 46) // of 48 bits of time: later than any packet came

static void clear_pause(const struct sessions_switch *s, bool on) {
    void (*fn)(void *) = on ? s->pause : s->resume;
    if (fn)
        fn(s->aux);
}

static bool clear_find(const struct sessions_switch *s, const char *name, struct sk_object *o) {
    return sk_has_object(s->sw, SK_REGISTER, name, o);
}

static uint32_t clear_size(const struct sessions_switch *s, const char *name) {
    struct sk_object o;
    return clear_find(s, name, &o) ? (uint32_t)o.desc->registers[o.index].size : 0;
}

// A program of 16-bit floats visits each of its slots four times in a pipe, and has a quarter of
// its cells for each time.
static uint32_t clear_quarters(const struct sessions_switch *s) {
    return sessions_are_halves(s) ? 4 : 1;
}

bool sessions_are_halves(const struct sessions_switch *s) {
    struct sk_object o;
    return sk_has_object(s->sw, SK_TABLE, HALVES_TABLE, &o);
}

bool sessions_are_roce(const struct sessions_switch *s) {
    struct sk_object o;
    return sk_has_object(s->sw, SK_TABLE, ROCE_TABLE, &o);
}

bool sessions_are_levels(const struct sessions_switch *s) {
    struct sk_object o;
    return clear_find(s, KNOWN_CELLS, &o);
}

uint32_t sessions_slots(const struct sessions_switch *s) {
    return clear_size(s, slot_registers[0]) / clear_quarters(s);
}

uint32_t sessions_aggregators(const struct sessions_switch *s) {
    return clear_size(s, OWNERS);
}

// ---- cells ----

static void clear_cell(const struct sessions_switch *s, const struct sk_object *o, unsigned pipe,
                       uint64_t index) {
    const struct sk_register_desc *d = &o->desc->registers[o->index];
    for (uint32_t word = 0; word < d->words; word++)
        o->desc->register_write(sk_switch_pipe(s->sw, pipe), o->index, index, word, 0);
}

static void clear_in_all_pipes(const struct sessions_switch *s, const struct sk_object *o,
                               uint64_t index) {
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
        if (sk_object_in_pipe(s->sw, o, pipe))
            clear_cell(s, o, pipe, index);
}

// Cells of a register in all pipes.
static void clear_cells(const struct sessions_switch *s, const char *name, uint64_t first,
                        uint64_t count) {
    struct sk_object o;
    if (!clear_find(s, name, &o))
        return;
    for (uint64_t i = 0; i < count; i++) {
        if (i % CELLS_IN_A_PAUSE == 0)
            clear_pause(s, true);
        clear_in_all_pipes(s, &o, first + i);
        if (i % CELLS_IN_A_PAUSE == CELLS_IN_A_PAUSE - 1 || i + 1 == count)
            clear_pause(s, false);
    }
}

void sessions_clear_slots(const struct sessions_switch *s, uint32_t first, uint32_t count) {
    const uint32_t slots = sessions_slots(s), quarters = clear_quarters(s);
    const bool roce = sessions_are_roce(s);
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned q = 0; q < quarters; q++)
            clear_cells(s, slot_registers[i], (uint64_t)q * slots + first, count);
        if (roce)
            clear_cells(s, cell_registers[i], 2 * (uint64_t)first, 2 * (uint64_t)count);
        for (unsigned q = 0; !roce && q < 2 * quarters; q++) // of both versions
            clear_cells(s, cell_registers[i], (uint64_t)q * slots + first, count);
    }
}

void sessions_clear_aggregators(const struct sessions_switch *s, uint32_t first, uint32_t count) {
    clear_cells(s, OWNERS, first, count);
}

static uint32_t clear_fragment_word(const struct sk_register_desc *d) {
    for (uint32_t i = 0; i < d->words; i++)
        if (d->word_names[i] && sk_name_matches(d->word_names[i], OWNER_FRAGMENT))
            return i;
    return 0;
}

// The job is in the upper eight bits of the owner's fragment, of which the first says that it is
// locked.
static void clear_job_in_pipe(const struct sessions_switch *s, const struct sk_object *o,
                              unsigned pipe, unsigned job, uint64_t first, uint64_t end) {
    struct sk_pipe *state = sk_switch_pipe(s->sw, pipe);
    const uint32_t word = clear_fragment_word(&o->desc->registers[o->index]);
    for (uint64_t i = first; i < end; i++)
        if ((o->desc->register_read(state, o->index, i, word) >> 24 & 0x7f) == job)
            clear_cell(s, o, pipe, i);
}

void sessions_clear_aggregators_of(const struct sessions_switch *s, unsigned job) {
    struct sk_object o;
    const uint64_t count = sessions_aggregators(s);
    if (!clear_find(s, OWNERS, &o))
        return;
    for (uint64_t first = 0, end; first < count; first = end) {
        end = first + CELLS_IN_A_PAUSE < count ? first + CELLS_IN_A_PAUSE : count;
        clear_pause(s, true);
        for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
            if (sk_object_in_pipe(s->sw, &o, pipe))
                clear_job_in_pipe(s, &o, pipe, job, first, end);
        clear_pause(s, false);
    }
}

// ---- Libra ----

// Register r of 16. Where floats are added, lanes take turns: lane r mod 2 has it.
static bool clear_find_cells(const struct sessions_switch *s, unsigned r, struct sk_object *o) {
    char lane[24], place[24];
    snprintf(lane, sizeof lane, "lane%u.cells%u", r % 2, r / 2);
    snprintf(place, sizeof place, "place%02u.cells", r);
    return clear_find(s, lane, o) || clear_find(s, place, o);
}

uint32_t sessions_cells(const struct sessions_switch *s) {
    struct sk_object o;
    return clear_find_cells(s, 0, &o) ? (uint32_t)o.desc->registers[o.index].size : 0;
}

uint32_t sessions_records(const struct sessions_switch *s) {
    return clear_size(s, RECORDS) / WINDOW;
}

// Row by row, so that it takes no more pauses than one register would.
void sessions_clear_cells(const struct sessions_switch *s, uint32_t first, uint32_t count) {
    struct sk_object registers[SESSIONS_PLACES];
    for (unsigned r = 0; r < SESSIONS_PLACES; r++)
        if (!clear_find_cells(s, r, &registers[r]))
            return;
    for (uint32_t i = 0; i < count; i++) {
        if (i % CELLS_IN_A_PAUSE == 0)
            clear_pause(s, true);
        for (unsigned r = 0; r < SESSIONS_PLACES; r++)
            clear_in_all_pipes(s, &registers[r], first + i);
        if (i % CELLS_IN_A_PAUSE == CELLS_IN_A_PAUSE - 1 || i + 1 == count)
            clear_pause(s, false);
    }
}

void sessions_clear_record(const struct sessions_switch *s, uint32_t worker) {
    clear_cells(s, RECORDS, (uint64_t)worker * WINDOW, WINDOW);
    clear_cells(s, RESTS, (uint64_t)worker * WINDOW, WINDOW);
}

// A record is twice the sequence number of the push, and 1 when it is done. Where integers are
// added, a push has one pass, and its record is the number.
bool sessions_adds(const struct sessions_switch *s, uint32_t worker) {
    struct sk_object o;
    bool adds = false;
    if (!clear_find(s, RESTS, &o) || !clear_find(s, RECORDS, &o))
        return false;
    clear_pause(s, true);
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
        for (uint64_t i = 0; i < WINDOW && sk_object_in_pipe(s->sw, &o, pipe); i++) {
            const uint64_t record = o.desc->register_read(sk_switch_pipe(s->sw, pipe), o.index,
                                                          (uint64_t)worker * WINDOW + i, 0);
            adds |= record != 0 && record % 2 == 0;
        }
    clear_pause(s, false);
    return adds;
}

bool sessions_under_way(const struct sessions_switch *s, uint64_t time) {
    clear_pause(s, true);
    const bool under_way = sk_switch_passes_since(s->sw, time);
    clear_pause(s, false);
    return under_way;
}

bool sessions_passes(const struct sessions_switch *s, uint64_t now) {
    return sessions_under_way(s, now + LATER_NS);
}
