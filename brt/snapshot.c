// SPDX-License-Identifier: Apache-2.0
#include "brt/snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define SNAPSHOT_LOOK_NS UINT64_C(10000000)
#define SNAPSHOT_WAIT_NS UINT64_C(1000000000) // before what has failed is tried again
#define SNAPSHOT_PREFIX  "trig."
#define SNAPSHOT_MASKS   0x8000u // what a field's mask has more in its number

bool brt_is_snapshot(const struct brt_table *t) {
    return t && (t->kind == BRT_SNAPSHOT || t->kind == BRT_SNAPSHOT_TRIGGER ||
                 t->kind == BRT_SNAPSHOT_DATA || t->kind == BRT_SNAPSHOT_LIVENESS);
}

bool snapshot_is_ingress(const struct brt_table *t) {
    return strstr(t->name, ".snapshot.ingress_") != NULL;
}

// The schema says it as the default of a range's end, and as the size of the other tables.
uint32_t snapshot_stages(const struct brt_table *t) {
    return (uint32_t)t->size;
}

struct brt_snapshot *snapshot_find(const struct brt *b, const struct brt_table *t, int pipe,
                                   uint32_t start, uint32_t end) {
    struct brt_snapshot *s = b->now.snapshots ? b->now.snapshots->first : NULL;
    while (s &&
           (s->pipeline != t->object.pipeline || s->start != start ||
            (end != UINT32_MAX && s->end != end) || (pipe >= 0 && s->pipe >= 0 && s->pipe != pipe)))
        s = s->next;
    return s;
}

// ---- what an update says ----

static enum brt_code snapshot_stage(const BfrtProto__KeyField *k, struct brt_change *c,
                                    struct sk_error *err) {
    const struct brt_field *f = brt_find(c->table->keys, c->table->n_keys, k->field_id);
    uint64_t stage = 0;
    if (!f)
        return brt_fail(err, BRT_OBJECT_NOT_FOUND, "there is no key field with id %u", k->field_id);
    if (k->match_type_case != BFRT_PROTO__KEY_FIELD__MATCH_TYPE_EXACT)
        return brt_fail(err, BRT_INVALID_ARG, "key field '%s' is exact", f->name);
    const enum brt_code code = brt_words(&k->exact->value, f, &stage, err);
    if (code)
        return code;
    if (stage >= snapshot_stages(c->table))
        return brt_fail(err, BRT_INVALID_ARG, "there is no stage %" PRIu64 ", only 0 to %u", stage,
                        snapshot_stages(c->table) - 1);
    if (f != c->table->keys)
        c->snapshot->end = (uint32_t)stage;
    else
        c->snapshot->start = (uint32_t)stage;
    return BRT_OK;
}

enum brt_code brt_snapshot_key(struct brt *b, const BfrtProto__TableKey *key,
                               const struct brt_target *target, struct brt_change *c,
                               struct sk_error *err) {
    enum brt_code code = BRT_OK;
    c->snapshot = brt_take(&b->scratch, sizeof *c->snapshot);
    if (!c->snapshot)
        return brt_fail(err, BRT_NO_SYS_RESOURCES, "the update needs too much memory");
    c->snapshot->pipe = target->pipe;
    c->snapshot->end = c->table->kind == BRT_SNAPSHOT ? snapshot_stages(c->table) - 1 : UINT32_MAX;
    for (size_t i = 0; key && code == BRT_OK && i < key->n_fields; i++)
        code = snapshot_stage(key->fields[i], c, err);
    if (code == BRT_OK && c->snapshot->end < c->snapshot->start)
        code = brt_fail(err, BRT_INVALID_ARG, "stage %u is before stage %u", c->snapshot->end,
                        c->snapshot->start);
    if (code == BRT_OK && key && c->table->n_keys == 1 && key->n_fields != 1)
        code = brt_fail(err, BRT_INVALID_ARG, "the key of table '%s' is its field '%s'",
                        c->table->name, c->table->keys[0].name);
    return code;
}

static enum brt_code snapshot_wants_text(const BfrtProto__DataField *d, const struct brt_field *f,
                                         const char *only, struct sk_error *err) {
    if (d->value_case != BFRT_PROTO__DATA_FIELD__VALUE_STR_VAL)
        return brt_fail(err, BRT_INVALID_ARG, "field '%s' takes a text", f->name);
    if (strcmp(d->str_val, only) == 0)
        return BRT_OK;
    for (const char *const *known =
             (const char *const[]){"INGRESS", "EGRESS", "GHOST", "INGRESS_GHOST", "ANY", NULL};
         *known; known++)
        if (strcmp(d->str_val, *known) == 0)
            return brt_fail(err, BRT_NOT_IMPLEMENTED, "snapshots are of ingress: field '%s' is %s",
                            f->name, only);
    return brt_fail(err, BRT_INVALID_ARG, "field '%s' cannot be this", f->name);
}

static enum brt_code snapshot_bool(const BfrtProto__DataField *d, const struct brt_field *f,
                                   bool *out, struct sk_error *err) {
    if (d->value_case != BFRT_PROTO__DATA_FIELD__VALUE_BOOL_VAL)
        return brt_fail(err, BRT_INVALID_ARG, "field '%s' takes a bool", f->name);
    *out = d->bool_val;
    return BRT_OK;
}

static enum brt_code snapshot_cfg_datum(const BfrtProto__DataField *d, const struct brt_field *f,
                                        struct brt_snapshot_change *s, struct sk_error *err) {
    uint64_t number = 0;
    if (strcmp(f->name, "thread") == 0) {
        s->has_thread = true;
        return snapshot_wants_text(d, f, "INGRESS", err);
    }
    if (strcmp(f->name, "ingress_trigger_mode") == 0)
        return snapshot_wants_text(d, f, "INGRESS", err);
    if (strcmp(f->name, "timer_enable") == 0) {
        s->has_timer_enable = true;
        return snapshot_bool(d, f, &s->enables_timer, err);
    }
    const enum brt_code code = brt_number(d, f, &number, err);
    s->has_timer = true;
    s->timer_us = (uint32_t)number;
    return code;
}

// The match of a field, made when its value or its mask is the first to be said.
static struct snapshot_match *snapshot_match_of(struct brt_snapshot_change *s,
                                                const struct brt_field *value) {
    for (size_t i = 0; i < s->n_matches; i++)
        if (s->matches[i].field == value)
            return &s->matches[i];
    s->matches[s->n_matches] = (struct snapshot_match){.field = value};
    return &s->matches[s->n_matches++];
}

static enum brt_code snapshot_trigger_datum(const BfrtProto__DataField *d,
                                            const struct brt_table *t, const struct brt_field *f,
                                            struct brt_snapshot_change *s, struct sk_error *err) {
    if (strcmp(f->name, "enable") == 0) {
        s->has_enable = true;
        return snapshot_bool(d, f, &s->enables, err);
    }
    if (d->value_case != BFRT_PROTO__DATA_FIELD__VALUE_STREAM || f->width > 128)
        return brt_fail(err, BRT_INVALID_ARG, "field '%s' takes bytes, at most 16", f->name);
    const bool is_mask = f->id >= SNAPSHOT_MASKS;
    const struct brt_field *value =
        is_mask ? brt_find(t->data, t->n_data, f->id - SNAPSHOT_MASKS) : f;
    struct snapshot_match *m = snapshot_match_of(s, value);
    return brt_words(&d->stream, f, is_mask ? m->mask : m->value, err);
}

static enum brt_code snapshot_data(struct brt *b, const BfrtProto__TableData *data,
                                   struct brt_change *c, struct sk_error *err) {
    struct brt_snapshot_change *s = c->snapshot;
    enum brt_code code = BRT_OK;
    const size_t n = data ? data->n_fields : 0;
    s->matches = brt_take(&b->scratch, (n + 1) * sizeof *s->matches);
    if (!s->matches)
        return brt_fail(err, BRT_NO_SYS_RESOURCES, "the update needs too much memory");
    for (size_t i = 0; code == BRT_OK && i < n; i++) {
        const BfrtProto__DataField *d = data->fields[i];
        const struct brt_field *f = brt_find(c->table->data, c->table->n_data, d->field_id);
        if (!f)
            code = brt_fail(err, BRT_OBJECT_NOT_FOUND, "there is no data field with id %u",
                            d->field_id);
        else if (f->read_only)
            code = brt_fail(err, BRT_INVALID_ARG, "field '%s' is only read", f->name);
        else if (c->table->kind == BRT_SNAPSHOT)
            code = snapshot_cfg_datum(d, f, s, err);
        else
            code = snapshot_trigger_datum(d, c->table, f, s, err);
    }
    return code;
}

enum brt_code brt_snapshot_change(struct brt *b, const BfrtProto__TableEntry *e,
                                  const struct brt_target *target, struct brt_change *c,
                                  struct sk_error *err) {
    const bool deletes = c->type == BFRT_PROTO__UPDATE__TYPE__DELETE;
    if (c->is_default)
        return brt_fail(err, BRT_NOT_SUPPORTED, "table '%s' has no default entry", c->table->name);
    if (c->table->kind == BRT_SNAPSHOT_DATA || c->table->kind == BRT_SNAPSHOT_LIVENESS)
        return brt_fail(err, BRT_NOT_SUPPORTED, "table '%s' is only read", c->table->name);
    if (!deletes && c->type != BFRT_PROTO__UPDATE__TYPE__INSERT &&
        c->type != BFRT_PROTO__UPDATE__TYPE__MODIFY)
        return brt_fail(err, c->type ? BRT_NOT_SUPPORTED : BRT_INVALID_ARG,
                        "table '%s' does not take updates of this type", c->table->name);
    if (!b->host.snapshot_arm)
        return brt_not_served(c->table, "a snapshot", err);
    if (!deletes && c->table->kind == BRT_SNAPSHOT_TRIGGER && !snapshot_is_ingress(c->table))
        return brt_not_served(c->table, "a snapshot of egress", err);
    c->has_key = e->value_case == BFRT_PROTO__TABLE_ENTRY__VALUE_KEY && e->key->n_fields > 0;
    if (!deletes && !c->has_key && c->table->n_keys == 1)
        return brt_fail(err, BRT_INVALID_ARG, "the key is missing");
    enum brt_code code = brt_snapshot_key(b, c->has_key ? e->key : NULL, target, c, err);
    if (code == BRT_OK && !deletes)
        code = snapshot_data(b, e->data, c, err);
    if (code == BRT_OK && c->type == BFRT_PROTO__UPDATE__TYPE__INSERT &&
        c->table->kind == BRT_SNAPSHOT && !c->snapshot->has_thread)
        code = brt_fail(err, BRT_INVALID_ARG, "field 'thread' is missing");
    return code;
}

// ---- what the host is told of a trigger ----

struct snapshot_fields {
    struct brt_snapshot_field list[BRT_SNAPSHOT_FIELDS];
    char texts[BRT_SNAPSHOT_FIELDS][80];
    size_t n;
};

// At most BRT_SNAPSHOT_FIELDS of them; one without mask says nothing.
static void snapshot_fields_of(struct snapshot_fields *f, const struct snapshot_match *matches,
                               size_t n) {
    f->n = 0;
    for (size_t i = 0; i < n && f->n < BRT_SNAPSHOT_FIELDS; i++) {
        const struct snapshot_match *m = &matches[i];
        if (!(m->mask[0] | m->mask[1]))
            continue;
        snprintf(f->texts[f->n], sizeof f->texts[f->n],
                 "0x%" PRIx64 "%016" PRIx64 " &&& 0x%" PRIx64 "%016" PRIx64,
                 m->value[1] & m->mask[1], m->value[0] & m->mask[0], m->mask[1], m->mask[0]);
        f->list[f->n] =
            (struct brt_snapshot_field){m->field->name + strlen(SNAPSHOT_PREFIX), f->texts[f->n]};
        f->n++;
    }
}

// ---- updates ----

// What it has caught, or is to catch, is of no use any more.
static void snapshot_disarm(struct brt *b, struct brt_snapshot *s) {
    struct brt_snapshots *all = b->now.snapshots;
    if (all->armed == s) {
        all->armed = NULL;
        all->drops = true;
    }
    json_decref(s->events);
    s->events = NULL;
    s->full = false;
}

static void snapshot_drop_trigger(struct brt *b, struct brt_snapshot *s) {
    snapshot_disarm(b, s);
    free(s->matches);
    s->matches = NULL;
    s->n_matches = 0;
    s->has_trigger = s->enabled = false;
}

static void snapshot_remove(struct brt *b, struct brt_snapshot *s) {
    struct brt_snapshot **at = &b->now.snapshots->first;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    snapshot_drop_trigger(b, s);
    free(s);
}

static enum brt_code snapshot_not_found(const struct brt_change *c, struct sk_error *err) {
    return brt_fail(err, BRT_OBJECT_NOT_FOUND, "table '%s': there is no such entry",
                    c->table->name);
}

static enum brt_code snapshot_delete(struct brt *b, const struct brt_change *c,
                                     struct sk_error *err) {
    const struct brt_snapshot_change *said = c->snapshot;
    const bool range = c->table->kind == BRT_SNAPSHOT;
    struct brt_snapshot *one =
        c->has_key ? snapshot_find(b, c->table, said->pipe, said->start, said->end) : NULL;
    if (c->has_key && (!one || (!range && !one->has_trigger)))
        return snapshot_not_found(c, err);
    struct brt_snapshot *next, *first = b->now.snapshots ? b->now.snapshots->first : NULL;
    for (struct brt_snapshot *s = first; range && s; s = s->next)
        if (s->has_trigger && s->pipeline == c->table->object.pipeline && (!one || one == s))
            return brt_fail(err, BRT_INVALID_ARG,
                            "table '%s': the snapshot's trigger is to be deleted first",
                            c->table->name);
    for (struct brt_snapshot *s = first; s; s = next) {
        next = s->next;
        if (s->pipeline != c->table->object.pipeline || (one && one != s) ||
            (said->pipe >= 0 && s->pipe >= 0 && said->pipe != s->pipe))
            continue;
        if (range)
            snapshot_remove(b, s);
        else if (snapshot_is_ingress(c->table))
            snapshot_drop_trigger(b, s);
    }
    return BRT_OK;
}

static bool snapshot_overlaps(const struct brt *b, const struct brt_change *c) {
    const struct brt_snapshot_change *said = c->snapshot;
    for (const struct brt_snapshot *s = b->now.snapshots->first; s; s = s->next)
        if (s->pipeline == c->table->object.pipeline && s->start <= said->end &&
            said->start <= s->end && (s->pipe < 0 || said->pipe < 0 || s->pipe == said->pipe))
            return true;
    return false;
}

static enum brt_code snapshot_apply_cfg(struct brt *b, const struct brt_change *c,
                                        struct sk_error *err) {
    const struct brt_snapshot_change *said = c->snapshot;
    struct brt_snapshot *s = snapshot_find(b, c->table, said->pipe, said->start, said->end);
    if (c->type == BFRT_PROTO__UPDATE__TYPE__MODIFY) {
        if (!s)
            return snapshot_not_found(c, err);
        s->timer_us = said->has_timer ? said->timer_us : s->timer_us;
        s->has_timer = said->has_timer_enable ? said->enables_timer : s->has_timer;
        return BRT_OK;
    }
    if (snapshot_overlaps(b, c))
        return brt_fail(err, BRT_ALREADY_EXISTS,
                        "table '%s': there is a snapshot with one of these stages", c->table->name);
    if (!(s = calloc(1, sizeof *s)))
        abort();
    *s = (struct brt_snapshot){.next = b->now.snapshots->first,
                               .pipeline = c->table->object.pipeline,
                               .handle = ++b->now.snapshots->handles,
                               .pipe = said->pipe,
                               .start = said->start,
                               .end = said->end,
                               .timer_us = said->timer_us,
                               .has_timer = said->enables_timer};
    b->now.snapshots->first = s;
    return BRT_OK;
}

static bool snapshot_another_waits(const struct brt *b, const struct brt_snapshot *one) {
    for (const struct brt_snapshot *s = b->now.snapshots->first; s; s = s->next)
        if (s != one && s->enabled && !s->full)
            return true;
    return false;
}

static void snapshot_put_match(struct brt_snapshot *s, const struct snapshot_match *m) {
    for (size_t i = 0; i < s->n_matches; i++)
        if (s->matches[i].field == m->field) {
            s->matches[i] = *m;
            return;
        }
    s->matches = sk_resize(s->matches, s->n_matches + 1, sizeof *s->matches);
    s->matches[s->n_matches++] = *m;
}

// With what an update says, of which some may be said already.
static size_t snapshot_count(const struct brt_snapshot *s, const struct brt_snapshot_change *said) {
    size_t n = s->n_matches;
    for (size_t i = 0; i < said->n_matches; i++) {
        size_t k = 0;
        while (k < s->n_matches && s->matches[k].field != said->matches[i].field)
            k++;
        n += k == s->n_matches;
    }
    return n;
}

static enum brt_code snapshot_apply_trigger(struct brt *b, const struct brt_change *c,
                                            struct sk_error *err) {
    const struct brt_snapshot_change *said = c->snapshot;
    struct brt_snapshot *s = snapshot_find(b, c->table, said->pipe, said->start, UINT32_MAX);
    if (!s)
        return brt_fail(err, BRT_OBJECT_NOT_FOUND, "no snapshot begins at stage %u", said->start);
    if (c->type == BFRT_PROTO__UPDATE__TYPE__INSERT && s->has_trigger)
        return brt_fail(err, BRT_ALREADY_EXISTS, "table '%s': the entry exists already",
                        c->table->name);
    if (c->type == BFRT_PROTO__UPDATE__TYPE__MODIFY && !s->has_trigger)
        return snapshot_not_found(c, err);
    if (said->enables && snapshot_another_waits(b, s))
        return brt_fail(err, BRT_NO_SPACE, "one snapshot waits for a packet at a time");
    if (snapshot_count(s, said) > BRT_SNAPSHOT_FIELDS)
        return brt_fail(err, BRT_NO_SPACE, "a trigger has at most %u fields", BRT_SNAPSHOT_FIELDS);
    struct snapshot_fields f;
    snapshot_fields_of(&f, said->matches, said->n_matches);
    if (b->host.snapshot_check(b->host.aux, f.list, f.n, err))
        return BRT_INVALID_ARG;
    snapshot_disarm(b, s);
    s->has_trigger = true;
    s->enabled = said->has_enable ? said->enables : s->enabled;
    for (size_t i = 0; i < said->n_matches; i++)
        snapshot_put_match(s, &said->matches[i]);
    s->by_timer = s->has_timer && s->timer_us;
    s->timer_due = 0;
    b->snapshots_due = 0;
    return BRT_OK;
}

enum brt_code brt_snapshot_apply(struct brt *b, const struct brt_change *c, struct sk_error *err) {
    if (!b->now.snapshots && !(b->now.snapshots = calloc(1, sizeof *b->now.snapshots)))
        abort();
    if (c->type == BFRT_PROTO__UPDATE__TYPE__DELETE)
        return snapshot_delete(b, c, err);
    return c->table->kind == BRT_SNAPSHOT ? snapshot_apply_cfg(b, c, err)
                                          : snapshot_apply_trigger(b, c, err);
}

void brt_snapshots_free(struct brt *b, struct brt_running *p) {
    struct brt_snapshot *next;
    if (!p->snapshots)
        return;
    if (p->snapshots->armed || p->snapshots->drops)
        b->host.snapshot_drop(b->host.aux);
    for (struct brt_snapshot *s = p->snapshots->first; s; s = next) {
        next = s->next;
        json_decref(s->events);
        free(s->matches);
        free(s);
    }
    free(p->snapshots);
    p->snapshots = NULL;
}

// ---- with the host ----

static uint8_t snapshot_pipes(const struct brt *b, const struct brt_snapshot *s) {
    uint8_t pipes = 0;
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
        if ((s->pipe < 0 || (unsigned)s->pipe == pipe) &&
            sk_switch_program(b->now.sw)->pipelines[s->pipeline] ==
                sk_switch_pipeline(b->now.sw, pipe))
            pipes |= (uint8_t)(1u << pipe);
    return pipes;
}

// Who asks with the switch's own way of tracing meanwhile is first; the next turn tries again.
static void snapshot_arm(struct brt *b, struct brt_snapshot *s) {
    struct snapshot_fields f;
    struct sk_error err;
    snapshot_fields_of(&f, s->matches, s->by_timer ? 0 : s->n_matches);
    if (b->host.snapshot_arm(b->host.aux, snapshot_pipes(b, s), f.list, f.n, &err) == 0)
        b->now.snapshots->armed = s;
}

// The events of the packet's first pass through ingress, and in which pipe that was.
static void snapshot_fill(struct brt_snapshot *s, const char *text) {
    s->events = json_array();
    s->full = true;
    while (*text) {
        const size_t n = strcspn(text, "\n");
        json_t *event = json_loadb(text, n, 0, NULL);
        const char *in = json_string_value(json_object_get(event, "in")),
                   *kind = json_string_value(json_object_get(event, "event"));
        const bool first = json_integer_value(json_object_get(event, "pass")) == 1;
        if (first && kind && strcmp(kind, "ingress") == 0)
            s->full_pipe =
                sk_port_pipe((unsigned)json_integer_value(json_object_get(event, "port"))) %
                SK_PIPES;
        if (first && in && strcmp(in, "ingress") == 0)
            json_array_append(s->events, event);
        json_decref(event);
        text += n + (text[n] == '\n');
    }
}

// False: it has ended without a packet.
static bool snapshot_look(struct brt *b) {
    struct brt_snapshots *all = b->now.snapshots;
    char *text = NULL;
    const int rc = b->host.snapshot_look(b->host.aux, &text);
    if (rc > 0)
        return true;
    if (rc == 0)
        snapshot_fill(all->armed, text);
    free(text);
    // else the trace has ended, for instance with a port that was replaced: it is armed anew
    all->armed = NULL;
    b->host.snapshot_drop(b->host.aux);
    return rc == 0;
}

// A timer begins when somebody first looks after it was enabled.
static bool snapshot_is_due(struct brt_snapshot *s, uint64_t now_ns) {
    if (s->by_timer && !s->timer_due)
        s->timer_due = now_ns + s->timer_us * UINT64_C(1000);
    return !s->by_timer || now_ns >= s->timer_due;
}

void brt_snapshot_turn(struct brt *b, uint64_t now_ns) {
    struct brt_snapshots *all = b->now.snapshots;
    if (!all || brt_has_begun(b) || now_ns < b->snapshots_due)
        return;
    if (all->drops)
        b->host.snapshot_drop(b->host.aux);
    all->drops = false;
    b->snapshots_due = now_ns + SNAPSHOT_LOOK_NS;
    if (all->armed && !snapshot_look(b)) {
        b->snapshots_due = now_ns + SNAPSHOT_WAIT_NS;
        return;
    }
    for (struct brt_snapshot *s = all->first; s && !all->armed; s = s->next)
        if (s->enabled && !s->full && snapshot_is_due(s, now_ns))
            snapshot_arm(b, s);
}

bool brt_snapshot_waits(const struct brt *b) {
    const struct brt_snapshots *all = b->now.snapshots;
    if (!all || brt_has_begun(b))
        return false;
    for (const struct brt_snapshot *s = all->first; s; s = s->next)
        if (s->enabled && !s->full)
            return true;
    return all->drops;
}
