// SPDX-License-Identifier: Apache-2.0
//
// attached_entry: the calls of attached.h: names and keys to entries and cells, checked in every
// pipe before one of them is changed.
#include "control/tables/attached.h"

#include <stdio.h>
#include <string.h>

#include "control/tables/entry.h"
#include "control/tables/idle.h"
#include "control/tables/names.h"
#include "control/tables/pauses.h"

// ---- indirect meters ----------------------------------------------------------------------------

struct cells {
    struct sk_object object;
    const struct sk_meter_desc *desc;
    struct sk_holder holder;
    uint64_t from, to; // indices
    struct sk_meter_cell *array[SK_PIPES];
    unsigned pipes; // of 'array'
};

static int find_cells(struct sk_switch *sw, const char *name, uint64_t index, int pipe,
                      struct cells *c, struct sk_error *err) {
    int rc = sk_find_object(sw, SK_METER_OBJECT, name, &c->object, err);
    if (rc)
        return rc;
    const struct sk_meter_desc *d = c->desc = &c->object.desc->meters[c->object.index];
    c->holder = (struct sk_holder){.what = d->name, .meter_kind = d->kind, .meter_bytes = d->bytes};
    if (d->direct)
        return sk_fail(err, "'%s' is in the entries of table '%s'; name one by its key", d->name,
                       c->object.desc->tables[d->table]->name);
    if (index != SK_ALL_CELLS && index >= d->size)
        return sk_fail(err, "'%s' has %llu cells; there is no index %llu", d->name,
                       (unsigned long long)d->size, (unsigned long long)index);
    c->from = index == SK_ALL_CELLS ? 0 : index;
    c->to = index == SK_ALL_CELLS ? d->size : index + 1;
    c->pipes = 0;
    for (int i = 0; i < (int)SK_PIPES; i++)
        if (sk_object_in_pipe(sw, &c->object, (unsigned)i) && (pipe == -1 || pipe == i))
            c->array[c->pipes++] =
                c->object.desc->meter(sk_switch_pipe(sw, (unsigned)i), c->object.index);
    return c->pipes ? 0 : sk_fail(err, "pipe %d has no '%s'", pipe, d->name);
}

static int parse_all(const struct sk_holder *holder, const struct sk_named_value *values, size_t n,
                     struct sk_attached *a, struct sk_error *err) {
    *a = (struct sk_attached){0};
    for (size_t i = 0; i < n; i++) {
        int rc = sk_attached_parse(holder, values[i].name, values[i].value, a, err);
        if (rc)
            return rc;
    }
    return n > 0 ? 0 : sk_fail(err, "there is nothing to set");
}

// Before cell i.
static void attached_breathe(struct sk_pauses *pauses, uint64_t i) {
    if (i % SK_SLICE == 0)
        sk_pauses_breathe(pauses);
}

int sk_control_meter_write(struct sk_switch *sw, struct sk_pauses *pauses, const char *name,
                           uint64_t index, const struct sk_named_value *values, size_t n, int pipe,
                           struct sk_error *err) {
    struct cells c;
    struct sk_attached a;
    int rc = find_cells(sw, name, index, pipe, &c, err);
    if (rc)
        return rc;
    rc = parse_all(&c.holder, values, n, &a, err);
    for (unsigned p = 0; rc == 0 && p < c.pipes; p++)
        for (uint64_t i = c.from; rc == 0 && i < c.to; i++) {
            attached_breathe(pauses, i);
            rc = sk_attached_check(&c.holder, &a, &c.array[p][i], err);
        }
    if (rc) {
        sk_error_prefix(err, "'%s'", c.desc->name);
        return rc;
    }
    for (unsigned p = 0; p < c.pipes; p++)
        for (uint64_t i = c.from; i < c.to; i++) {
            attached_breathe(pauses, i);
            sk_attached_meter(&c.holder, &a, &c.array[p][i]);
        }
    return 0;
}

int sk_control_meter_reset(struct sk_switch *sw, struct sk_pauses *pauses, const char *name,
                           uint64_t index, int pipe, struct sk_error *err) {
    struct cells c;
    int rc = find_cells(sw, name, index, pipe, &c, err);
    for (unsigned p = 0; rc == 0 && p < c.pipes; p++)
        for (uint64_t i = c.from; i < c.to; i++) {
            attached_breathe(pauses, i);
            sk_meter_reset(&c.array[p][i]);
        }
    return rc;
}

int sk_control_meter_read(struct sk_switch *sw, const char *name, uint64_t index, int pipe,
                          struct sk_data *out, struct sk_error *err) {
    struct cells c;
    int rc = find_cells(sw, name, index == SK_ALL_CELLS ? index - 1 : index, pipe, &c, err);
    if (rc == 0)
        sk_attached_read(&c.holder, NULL, &c.array[0][index], 0, out);
    return rc;
}

static void attached_clear_cells(struct sk_pauses *pauses, struct sk_counter_cell *cells,
                                 uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        attached_breathe(pauses, i);
        cells[i] = (struct sk_counter_cell){0};
    }
}

int sk_control_counter_clear(struct sk_switch *sw, struct sk_pauses *pauses, const char *name,
                             struct sk_error *err) {
    struct sk_object o;
    int rc = sk_find_object(sw, SK_COUNTER, name, &o, err);
    if (rc)
        return rc;
    const struct sk_counter_desc *d = &o.desc->counters[o.index];
    if (d->direct)
        return sk_fail(err, "counter '%s' is in the entries of table '%s'", d->name,
                       o.desc->tables[d->table]->name);
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
        if (sk_object_in_pipe(sw, &o, pipe))
            attached_clear_cells(pauses, o.desc->counter(sk_switch_pipe(sw, pipe), o.index),
                                 d->size);
    return 0;
}

// ---- entries ------------------------------------------------------------------------------------

int sk_control_entry_write(struct sk_switch *sw, const struct sk_entry_spec *e,
                           const struct sk_named_value *values, size_t n, struct sk_error *err) {
    struct sk_found found;
    struct sk_attached a;
    int rc = sk_control_entry_find(sw, e, &found, err);
    if (rc)
        return rc;
    struct sk_holder holder = sk_holder_of_table(found.desc);
    rc = parse_all(&holder, values, n, &a, err);
    for (unsigned i = 0; rc == 0 && i < found.n; i++)
        rc = sk_attached_check(&holder, &a, found.entry[i]->meter, err);
    if (rc) {
        sk_error_prefix(err, "table '%s'", found.desc->name);
        return rc;
    }
    for (unsigned i = 0; i < found.n; i++)
        sk_attached_apply(&holder, &a, found.entry[i], i == 0, sk_switch_now(sw));
    return 0;
}

int sk_control_entry_read(struct sk_switch *sw, const struct sk_entry_spec *e, struct sk_data *out,
                          struct sk_error *err) {
    struct sk_found found;
    int rc = sk_control_entry_find(sw, e, &found, err);
    if (rc)
        return rc;
    struct sk_holder holder = sk_holder_of_table(found.desc);
    uint64_t now = sk_switch_now(sw);
    struct sk_entry sum = *found.entry[0]; // to read from, nothing else
    for (unsigned i = 1; i < found.n; i++) {
        const struct sk_entry *other = found.entry[i];
        bool hit = sum.idle.hit || other->idle.hit;
        uint64_t packets = sum.packets + other->packets, bytes = sum.bytes + other->bytes;
        struct sk_meter_cell *meter = sum.meter;
        if (sk_idle_left(other, now) > sk_idle_left(&sum, now))
            sum = *other;
        sum.packets = packets;
        sum.bytes = bytes;
        sum.meter = meter;
        sum.idle.hit = hit;
    }
    sk_attached_read(&holder, &sum, sum.meter, now, out);
    return 0;
}

// ---- owners -------------------------------------------------------------------------------------

static int attached_entry_owner(const struct sk_object *o, bool direct, uint32_t table,
                                const char **name, struct sk_error *err) {
    if (!direct)
        return sk_fail(err, "'%s' is not direct: it has cells with an index", sk_object_name(o));
    *name = o->desc->tables[table]->name;
    return 0;
}

int sk_control_counter_owner(const struct sk_switch *sw, const char *name, const char **table,
                             struct sk_error *err) {
    struct sk_object o;
    int rc = sk_find_object(sw, SK_COUNTER, name, &o, err);
    return rc ? rc
              : attached_entry_owner(&o, o.desc->counters[o.index].direct,
                                     o.desc->counters[o.index].table, table, err);
}

int sk_control_meter_owner(const struct sk_switch *sw, const char *name, const char **table,
                           struct sk_error *err) {
    struct sk_object o;
    int rc = sk_find_object(sw, SK_METER_OBJECT, name, &o, err);
    return rc ? rc
              : attached_entry_owner(&o, o.desc->meters[o.index].direct,
                                     o.desc->meters[o.index].table, table, err);
}
