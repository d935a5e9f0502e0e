// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "control/tables/attached.h"
#include "control/state/state_impl.h"
#include "control/tables/values.h"

#define MOST_EXACT (UINT64_C(1) << 53) // what every reader of JSON keeps exact

const char *state_section_name(enum state_section s) {
    static const char *const names[] = {
#define NAME(name, text) text,
        SK_STATE_SECTIONS(NAME)
#undef NAME
    };
    return names[s];
}

void state_item(struct state_walk *w, enum state_section s, json_t *item) {
    w->item(w, s, item);
    json_decref(item);
}

// ---- values -------------------------------------------------------------------------------------

json_t *state_number(uint64_t v) {
    return v < MOST_EXACT ? json_integer((json_int_t)v) : json_sprintf("%" PRIu64, v);
}

json_t *state_value(const struct sk_field_desc *f, const uint64_t *words) {
    char text[1400];
    sk_value_format(text, sizeof text, f, words);
    size_t digits = strspn(text + (*text == '-'), "0123456789");
    if (!text[digits + (*text == '-')] && digits < 16)
        return json_integer(strtoll(text, NULL, 10));
    return json_string(text);
}

// Of a register: a number where it fits, whatever the width.
static json_t *state_walk_cell_word(const struct sk_field_desc *f, const uint64_t *words) {
    if (f->is_signed || f->width > 64)
        return state_value(f, words);
    return state_number(words[0]);
}

json_t *state_words(const struct sk_field_desc *fields, const char *const *names, uint32_t n,
                    const uint64_t *words) {
    if (n == 1)
        return state_walk_cell_word(fields, words);
    json_t *value = json_object();
    for (uint32_t i = 0; i < n; i++)
        json_object_set_new(value, names[i], state_walk_cell_word(&fields[i], words + i));
    return value;
}

// ---- objects ------------------------------------------------------------------------------------

static int by_name(const void *a, const void *b) {
    const struct sk_object *x = a, *y = b;
    int order = strcmp(sk_object_name(x), sk_object_name(y));
    return order ? order : (x->pipeline > y->pipeline) - (x->pipeline < y->pipeline);
}

struct sk_object *state_objects(const struct sk_switch *sw, enum sk_object_kind kind, size_t *n) {
    struct sk_object o, *list;
    for (*n = 0; sk_object_at(sw, kind, *n, &o); ++*n)
        ;
    list = calloc(*n + 1, sizeof *list);
    if (!list)
        abort();
    for (size_t i = 0; i < *n; i++)
        sk_object_at(sw, kind, i, &list[i]);
    qsort(list, *n, sizeof *list, by_name);
    return list;
}

static json_t *cell_item(const struct sk_object *o, unsigned pipe, uint64_t index) {
    json_t *item = json_pack("{s:s, s:i}", "name", sk_object_name(o), "pipe", (int)pipe);
    json_object_set_new(item, "index", state_number(index));
    return item;
}

// Calls 'cells' for each object of a kind, in each pipe that has it.
static void state_walk_each_object(struct state_walk *w, enum sk_object_kind kind,
                                   void (*cells)(struct state_walk *w, const struct sk_object *o,
                                                 unsigned pipe)) {
    size_t n;
    struct sk_object *list = state_objects(w->sw, kind, &n);
    for (size_t i = 0; i < n; i++)
        for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
            if (sk_object_in_pipe(w->sw, &list[i], pipe))
                cells(w, &list[i], pipe);
    free(list);
}

static bool first_pipe(const struct state_walk *w, const struct sk_object *o, unsigned pipe) {
    for (unsigned i = 0; i < pipe; i++)
        if (sk_object_in_pipe(w->sw, o, i))
            return false;
    return true;
}

// ---- registers ----------------------------------------------------------------------------------

static json_t *register_value(const struct sk_register_desc *d, const uint64_t words[2]) {
    static const char *const plain[] = {"f1", "f2"};
    const struct sk_field_desc f = sk_register_field(d);
    const struct sk_field_desc fields[2] = {f, f};
    const char *names[2];
    for (unsigned i = 0; i < 2; i++)
        names[i] = d->word_names[i] ? d->word_names[i] : plain[i];
    return state_words(fields, names, d->wide ? 1 : d->words, words);
}

// One past the last cell of the slice.
static uint64_t slice_end(uint64_t from, uint64_t size) {
    return size - from < SK_SLICE ? size : from + SK_SLICE;
}

static uint32_t state_walk_words_of(const struct sk_register_desc *d) {
    return d->words > 1 || d->wide ? 2 : 1;
}

static void register_slice(struct state_walk *w, const struct sk_object *o, unsigned pipe,
                           uint64_t from) {
    const struct sk_register_desc *d = &o->desc->registers[o->index];
    struct sk_pipe *state = sk_switch_pipe(w->sw, pipe);
    const uint64_t to = slice_end(from, d->size);
    const uint32_t n = state_walk_words_of(d);
    uint64_t words[SK_SLICE][2];
    sk_pauses_begin(w->pauses);
    for (uint64_t index = from; index < to; index++)
        for (uint32_t k = 0; k < 2; k++)
            words[index - from][k] = k < n ? o->desc->register_read(state, o->index, index, k) : 0;
    sk_pauses_end(w->pauses);
    for (uint64_t index = from; index < to; index++) {
        const uint64_t *v = words[index - from];
        if (v[0] == d->initial[0] && v[1] == (n > 1 ? d->initial[1] : 0))
            continue;
        json_t *item = cell_item(o, pipe, index);
        json_object_set_new(item, "value", register_value(d, v));
        state_item(w, STATE_REGISTERS, item);
    }
}

static void state_walk_registers(struct state_walk *w, const struct sk_object *o, unsigned pipe) {
    const struct sk_register_desc *d = &o->desc->registers[o->index];
    const uint64_t initial[2] = {d->initial[0], state_walk_words_of(d) > 1 ? d->initial[1] : 0};
    if ((initial[0] || initial[1]) && first_pipe(w, o, pipe)) {
        json_t *item = json_pack("{s:s}", "name", d->name);
        json_object_set_new(item, "otherwise", register_value(d, initial));
        state_item(w, STATE_REGISTERS, item);
    }
    for (uint64_t from = 0; from < d->size; from += SK_SLICE)
        register_slice(w, o, pipe, from);
}

// ---- counters and meters ------------------------------------------------------------------------

static void counter_slice(struct state_walk *w, const struct sk_object *o, unsigned pipe,
                          uint64_t from) {
    const struct sk_counter_desc *d = &o->desc->counters[o->index];
    const struct sk_counter_cell *c = o->desc->counter(sk_switch_pipe(w->sw, pipe), o->index);
    const uint64_t to = slice_end(from, d->size);
    struct sk_counter_cell cells[SK_SLICE];
    sk_pauses_begin(w->pauses);
    memcpy(cells, c + from, (to - from) * sizeof *cells);
    sk_pauses_end(w->pauses);
    for (uint64_t index = from; index < to; index++) {
        const struct sk_counter_cell *cell = &cells[index - from];
        if (cell->packets == 0 && cell->bytes == 0)
            continue;
        json_t *item = cell_item(o, pipe, index);
        if (d->type != 1)
            json_object_set_new(item, "packets", state_number(cell->packets));
        if (d->type != 0)
            json_object_set_new(item, "bytes", state_number(cell->bytes));
        state_item(w, STATE_COUNTERS, item);
    }
}

static void state_walk_counters(struct state_walk *w, const struct sk_object *o, unsigned pipe) {
    const struct sk_counter_desc *d = &o->desc->counters[o->index];
    for (uint64_t from = 0; !d->direct && from < d->size; from += SK_SLICE)
        counter_slice(w, o, pipe, from);
}

json_t *state_meter_spec(const struct sk_holder *holder, const struct sk_meter_cell *cell) {
    struct sk_data data;
    json_t *spec = json_object();
    sk_attached_read(holder, NULL, cell, 0, &data);
    for (size_t i = 0; i < data.n; i++)
        json_object_set_new(spec, data.list[i].name, json_string(data.list[i].value));
    return spec;
}

bool state_meter_ran(const struct sk_holder *holder, const struct sk_meter_cell *cell) {
    if (!cell || !cell->configured)
        return false;
    return holder->meter_kind == SK_METER ? cell->started
           : holder->meter_kind == SK_LPF ? cell->lpf.f.started
                                          : cell->wred.f.started;
}

void state_meter(json_t *item, const struct sk_holder *holder, const struct sk_meter_cell *cell) {
    if (holder->meter_kind == SK_METER) {
        json_object_set_new(item, "committed", state_number(cell->meter.c));
        json_object_set_new(item, "peak", state_number(cell->meter.p));
        json_object_set_new(item, "last", state_number(cell->meter.last));
    } else {
        const struct sk_filter *f = holder->meter_kind == SK_LPF ? &cell->lpf.f : &cell->wred.f;
        json_object_set_new(item, "value", state_number(f->value));
        json_object_set_new(item, "last", state_number(f->last));
    }
}

static struct sk_holder holder_of(const struct sk_meter_desc *d) {
    return (struct sk_holder){.what = d->name, .meter_kind = d->kind, .meter_bytes = d->bytes};
}

// The specifications of the cells of one index: an item, or one for each pipe where they differ.
static void specs_at(struct state_walk *w, const struct sk_object *o, uint64_t index) {
    const struct sk_meter_desc *d = &o->desc->meters[o->index];
    const struct sk_holder holder = holder_of(d);
    json_t *spec[SK_PIPES] = {NULL};
    const json_t *first = NULL;
    bool alike = true;
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++) {
        if (!sk_object_in_pipe(w->sw, o, pipe))
            continue;
        const struct sk_meter_cell *c = o->desc->meter(sk_switch_pipe(w->sw, pipe), o->index);
        if (c[index].configured)
            spec[pipe] = state_meter_spec(&holder, &c[index]);
        first = first ? first : spec[pipe];
        alike = alike && spec[pipe] && json_equal(spec[pipe], first);
    }
    for (unsigned pipe = 0, written = 0; pipe < SK_PIPES; pipe++) {
        if (spec[pipe] && !(alike && written++)) {
            json_t *item = cell_item(o, pipe, index);
            if (alike)
                json_object_del(item, "pipe");
            json_object_set(item, "spec", spec[pipe]);
            state_item(w, STATE_METERS, item);
        }
        json_decref(spec[pipe]);
    }
}

static void state_walk_meters(struct state_walk *w) {
    size_t n;
    struct sk_object *list = state_objects(w->sw, SK_METER_OBJECT, &n);
    for (size_t i = 0; i < n; i++)
        for (uint64_t k = 0; k < list[i].desc->meters[list[i].index].size; k++)
            if (!list[i].desc->meters[list[i].index].direct)
                specs_at(w, &list[i], k);
    free(list);
}

static void meter_slice(struct state_walk *w, const struct sk_object *o, unsigned pipe,
                        uint64_t from) {
    const struct sk_meter_desc *d = &o->desc->meters[o->index];
    const struct sk_holder holder = holder_of(d);
    const struct sk_meter_cell *c = o->desc->meter(sk_switch_pipe(w->sw, pipe), o->index);
    const uint64_t to = slice_end(from, d->size);
    struct sk_meter_cell cells[SK_SLICE];
    sk_pauses_begin(w->pauses);
    memcpy(cells, c + from, (to - from) * sizeof *cells);
    sk_pauses_end(w->pauses);
    for (uint64_t index = from; index < to; index++) {
        const struct sk_meter_cell *cell = &cells[index - from];
        if (!state_meter_ran(&holder, cell))
            continue;
        json_t *item = cell_item(o, pipe, index);
        state_meter(item, &holder, cell);
        state_item(w, STATE_METER_STATES, item);
    }
}

static void state_walk_meter_states(struct state_walk *w, const struct sk_object *o,
                                    unsigned pipe) {
    const struct sk_meter_desc *d = &o->desc->meters[o->index];
    for (uint64_t from = 0; !d->direct && from < d->size; from += SK_SLICE)
        meter_slice(w, o, pipe, from);
}

// ---- the switch ---------------------------------------------------------------------------------

static void state_walk_drops(struct state_walk *w, const struct sk_switch_stats *stats) {
    for (unsigned r = 0; r < SK_DROP_COUNT; r++) {
        if (stats->drops[r] == 0)
            continue;
        json_t *item = json_pack("{s:s}", "reason", sk_drop_text((enum sk_drop_reason)r));
        json_object_set_new(item, "packets", state_number(stats->drops[r]));
        state_item(w, STATE_DROPS, item);
    }
}

static json_t *traffic(uint64_t packets, uint64_t bytes) {
    json_t *t = json_object();
    json_object_set_new(t, "packets", state_number(packets));
    json_object_set_new(t, "bytes", state_number(bytes));
    return t;
}

static void state_walk_ports(struct state_walk *w, const struct sk_port_stats *all) {
    for (uint16_t port = 0; port < SK_PORTS; port++) {
        const struct sk_port_stats s = all[port];
        uint64_t dropped = 0;
        json_t *reasons = json_object();
        for (unsigned r = 0; r < SK_DROP_COUNT; r++) {
            dropped += s.drops[r];
            if (s.drops[r])
                json_object_set_new(reasons, sk_drop_text((enum sk_drop_reason)r),
                                    state_number(s.drops[r]));
        }
        if (s.rx_packets + s.tx_packets + dropped == 0) {
            json_decref(reasons);
            continue;
        }
        json_t *item = json_pack("{s:i}", "port", (int)port);
        json_object_set_new(item, "received", traffic(s.rx_packets, s.rx_bytes));
        json_object_set_new(item, "sent", traffic(s.tx_packets, s.tx_bytes));
        json_object_set_new(item, "dropped", reasons);
        state_item(w, STATE_PORTS, item);
    }
}

static void totals(struct state_walk *w, const struct sk_switch_stats *s) {
    json_t *item = json_object();
    json_object_set_new(item, "received", state_number(s->rx_packets));
    json_object_set_new(item, "sent", state_number(s->tx_packets));
    json_object_set_new(item, "copies", state_number(s->copies));
    json_object_set_new(item, "recirculated", state_number(s->recirculated));
    json_object_set_new(item, "resubmitted", state_number(s->resubmitted));
    json_object_set_new(item, "mirrored", state_number(s->mirrored));
    json_object_set_new(item, "generated", state_number(s->generated));
    json_object_set_new(item, "digests", state_number(s->digests));
    state_item(w, STATE_SWITCH, item);
}

void state_walk(struct state_walk *w) {
    struct sk_switch_stats stats;
    struct sk_port_stats *of_ports = calloc(SK_PORTS, sizeof *of_ports);
    if (!of_ports)
        abort();
    sk_pauses_begin(w->pauses);
    sk_switch_stats(w->sw, &stats);
    for (uint16_t port = 0; port < SK_PORTS; port++)
        sk_switch_port_stats(w->sw, port, &of_ports[port]);
    sk_pauses_end(w->pauses);
    state_walk_each_object(w, SK_REGISTER, state_walk_registers);
    state_direct_registers(w);
    state_walk_each_object(w, SK_COUNTER, state_walk_counters);
    state_direct_counters(w);
    state_hits(w);
    state_entries(w);
    state_members(w);
    state_groups(w);
    state_selector_bits(w);
    state_defaults(w);
    state_value_sets(w);
    state_walk_meters(w);
    state_direct_meters(w);
    state_walk_each_object(w, SK_METER_OBJECT, state_walk_meter_states);
    state_direct_meter_states(w);
    state_ageing(w);
    state_walk_drops(w, &stats);
    state_walk_ports(w, of_ports);
    totals(w, &stats);
    free(of_ports);
}
