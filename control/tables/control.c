// SPDX-License-Identifier: Apache-2.0
//
// Each call resolves names and values first, into a 'struct change', and then applies it to every
// pipe concerned; a pipe that refuses makes the ones before it take the change back.
#include "control/tables/control.h"

#include <stdlib.h>
#include <string.h>

#include "control/tables/attached.h"
#include "control/tables/entry.h"
#include "control/tables/names.h"
#include "control/tables/pauses.h"
#include "control/tables/values.h"

static struct sk_table *control_table_in(struct sk_switch *sw, const struct sk_object *o,
                                         unsigned pipe) {
    struct sk_pipe *state = sk_switch_pipe(sw, pipe);
    return o->kind == SK_VALUE_SET ? o->desc->value_set(state, o->index)
                                   : o->desc->table(state, o->index);
}

// ---- resolving an entry ----

struct change {
    struct sk_switch *sw;
    struct sk_object object;
    const struct sk_table_desc *desc; // null for a value set
    struct sk_pipe_list pipes;
    uint64_t value[SK_MAX_KEY_WORDS], mask[SK_MAX_KEY_WORDS], data[SK_MAX_DATA_WORDS];
    int64_t priority;
    uint32_t action;
    struct sk_attached attached; // counts, meter specification, TTL
    struct sk_pauses *pauses;    // of what changes many entries; or null
};

static uint32_t word_offset(const struct sk_field_desc *fields, uint32_t index) {
    uint32_t words = 0;
    for (uint32_t i = 0; i < index; i++)
        words += sk_words(fields[i].width);
    return words;
}

static int resolve_key(const struct sk_field_desc *fields, uint32_t n_fields,
                       const struct sk_named_value *keys, size_t n_keys, struct change *c,
                       struct sk_error *err) {
    bool given[SK_MAX_KEY_WORDS] = {false};
    for (size_t k = 0; k < n_keys; k++) {
        int i = sk_find_field("key field", fields, n_fields, keys[k].name, err);
        if (i < 0)
            return i;
        if (given[i])
            return sk_fail(err, "key field '%s' is given twice", fields[i].name);
        given[i] = true;
        uint32_t at = word_offset(fields, (uint32_t)i);
        int rc = sk_key_parse(keys[k].value, &fields[i], c->value + at, c->mask + at, err);
        if (rc) {
            sk_error_prefix(err, "key field '%s'", fields[i].name);
            return rc;
        }
    }
    for (uint32_t i = 0; i < n_fields; i++) {
        uint32_t at = word_offset(fields, i);
        if (!given[i] && !sk_key_any(&fields[i], c->value + at, c->mask + at))
            return sk_fail(err, "key field '%s' is missing; an exact key must be given",
                           fields[i].name);
    }
    return 0;
}

static int resolve_args(const struct sk_action_desc *a, const struct sk_entry_spec *e,
                        uint64_t *data, struct sk_error *err) {
    bool given[SK_MAX_DATA_WORDS] = {false};
    for (size_t k = 0; k < e->n_args; k++) {
        if (sk_is_attached_name(e->args[k].name))
            continue;
        int i = sk_find_field("argument", a->params, a->n_params, e->args[k].name, err);
        if (i >= 0 && given[i])
            i = sk_fail(err, "argument '%s' is given twice", a->params[i].name);
        int rc = i < 0 ? i
                       : sk_value_parse(e->args[k].value, &a->params[i],
                                        data + word_offset(a->params, (uint32_t)i), err);
        if (rc) {
            sk_error_prefix(err, i < 0 ? "action '%s'" : "action '%s', argument '%s'", a->name,
                            i < 0 ? "" : a->params[i].name);
            return rc;
        }
        given[i] = true;
    }
    for (uint32_t i = 0; i < a->n_params; i++)
        if (!given[i])
            return sk_fail(err, "action '%s': argument '%s' is missing", a->name,
                           a->params[i].name);
    return 0;
}

// The entry names a member or a group.
static int resolve_reference(const struct sk_entry_spec *e, struct change *c,
                             struct sk_error *err) {
    static const char *const what[] = {"", "member", "group"};
    uint8_t refers = e->member ? SK_REFERS_MEMBER : SK_REFERS_GROUP;
    if ((e->member && e->group) || e->action)
        return sk_fail(err, "an entry has an action, a member or a group");
    for (size_t k = 0; k < e->n_args; k++)
        if (!sk_is_attached_name(e->args[k].name))
            return sk_fail(err, "the arguments are in the %s, so an entry cannot give '%s'",
                           what[refers], e->args[k].name);
    for (uint32_t i = 0; i < c->desc->n_actions; i++)
        if (c->desc->actions[i]->refers == refers) {
            c->action = i;
            int rc = sk_value_parse(e->member ? e->member : e->group,
                                    &c->desc->actions[i]->params[0], c->data, err);
            if (rc)
                sk_error_prefix(err, "%s", what[refers]);
            return rc;
        }
    return sk_fail(err, "it has no action %s, so an entry cannot name a %s",
                   e->member ? "profile" : "selector", what[refers]);
}

static int resolve_action(const struct sk_entry_spec *e, struct change *c, struct sk_error *err) {
    if (e->member || e->group)
        return resolve_reference(e, c, err);
    if (!e->action)
        return sk_fail(err, "an action is missing");
    int i = sk_find_action(c->desc, e->action, err);
    if (i < 0)
        return i;
    c->action = (uint32_t)i;
    return resolve_args(c->desc->actions[i], e, c->data, err);
}

// Arguments whose name starts with '$'.
static int resolve_attached(const struct sk_entry_spec *e, struct change *c, struct sk_error *err) {
    const struct sk_holder holder = sk_holder_of_table(c->desc);
    int rc = 0;
    for (size_t k = 0; rc == 0 && k < e->n_args; k++)
        if (sk_is_attached_name(e->args[k].name))
            rc = sk_attached_parse(&holder, e->args[k].name, e->args[k].value, &c->attached, err);
    return rc;
}

static bool control_takes_priority(const struct sk_table_desc *desc) {
    for (uint32_t i = 0; i < desc->n_keys; i++)
        if (desc->keys[i].match == SK_TERNARY || desc->keys[i].match == SK_RANGE)
            return true;
    return false;
}

static int resolve_priority(const struct sk_entry_spec *e, struct change *c, struct sk_error *err) {
    if (e->has_priority && !control_takes_priority(c->desc))
        return sk_fail(err, "it has no ternary or range key, so an entry takes no priority");
    if (e->has_priority && (e->priority < 0 || e->priority > SK_MAX_PRIORITY))
        return sk_fail(err, "priority %lld is out of range; it is 0 to %u", (long long)e->priority,
                       (unsigned)SK_MAX_PRIORITY);
    c->priority = e->has_priority ? e->priority : 0;
    return 0;
}

static int resolve_table(struct sk_switch *sw, const char *name, int pipe, struct change *c,
                         struct sk_error *err) {
    memset(c, 0, sizeof *c);
    c->sw = sw;
    int rc = name ? sk_find_object(sw, SK_TABLE, name, &c->object, err)
                  : sk_fail(err, "a table name is missing");
    if (rc)
        return rc;
    c->desc = c->object.desc->tables[c->object.index];
    return sk_find_pipes(sw, &c->object, pipe, &c->pipes, err);
}

enum parts { WITH_KEY = 1, WITH_ACTION = 2 };

static int control_resolve(struct sk_switch *sw, const struct sk_entry_spec *e, unsigned parts,
                           struct change *c, struct sk_error *err) {
    int rc = resolve_table(sw, e->table, e->pipe, c, err);
    if (rc)
        return rc;
    if (parts & WITH_KEY) {
        rc = resolve_key(c->desc->keys, c->desc->n_keys, e->keys, e->n_keys, c, err);
        if (rc == 0)
            rc = resolve_priority(e, c, err);
    }
    if (rc == 0 && parts & WITH_ACTION)
        rc = resolve_action(e, c, err);
    if (rc == 0 && parts & WITH_ACTION)
        rc = resolve_attached(e, c, err);
    if (rc)
        sk_error_prefix(err, "table '%s'", c->desc->name);
    return rc;
}

// ---- applying it ----

static int table_failure(const struct change *c, int code, struct sk_error *err) {
    const char *name = sk_object_name(&c->object);
    if (code == SK_E_ACTION && c->desc && c->desc->profile)
        return sk_fail(
            err, "table '%s': an entry names a member of action profile '%s'%s, not an action",
            name, c->desc->profile->name, c->desc->selector ? " or a group" : "");
    if (code == SK_E_ACTION && c->desc)
        return sk_fail(err, "table '%s': action '%s' is not allowed here", name,
                       c->desc->actions[c->action]->name);
    if (code == SK_E_FULL)
        return sk_fail(
            err, "table '%s' is full: it holds %llu entries", name,
            (unsigned long long)(c->desc ? c->desc->size
                                         : c->object.desc->value_sets[c->object.index].size));
    return sk_fail(err, "table '%s': %s", name, sk_table_strerror(code));
}

static int add_everywhere(const struct change *c, struct sk_error *err) {
    for (unsigned i = 0; i < c->pipes.n; i++) {
        struct sk_table *t = control_table_in(c->sw, &c->object, c->pipes.list[i]);
        int code = sk_table_add(t, c->value, c->mask, c->priority, c->action, c->data);
        sk_table_quiesce(t);
        if (code == SK_OK)
            continue;
        while (i-- > 0) {
            t = control_table_in(c->sw, &c->object, c->pipes.list[i]);
            sk_table_delete(t, c->value, c->mask, c->priority);
            sk_table_quiesce(t);
        }
        return table_failure(c, code, err);
    }
    return 0;
}

// ---- what hangs on entries ----

struct any_priority {
    const struct change *change;
    struct sk_table *table;
    unsigned n;
    int64_t priority;
};

static bool same_key_any_priority(void *aux, const struct sk_entry *e) {
    struct any_priority *a = aux;
    // found at its own priority and with the key that is meant: it is that one
    if (sk_table_find(a->table, a->change->value, a->change->mask, e->priority) == e) {
        a->n++;
        a->priority = e->priority;
    }
    return a->n < 2;
}

static int find_entries(const struct change *c, struct sk_found *out, struct sk_error *err) {
    *out = (struct sk_found){.desc = c->desc};
    for (unsigned i = 0; i < c->pipes.n; i++) {
        struct sk_table *t = control_table_in(c->sw, &c->object, c->pipes.list[i]);
        out->entry[out->n] = sk_table_find(t, c->value, c->mask, c->priority);
        if (!out->entry[out->n++])
            return table_failure(c, SK_E_NOT_FOUND, err);
    }
    return 0;
}

// Without a priority given, the one entry that has the key.
static int find_priority(struct change *c, struct sk_error *err) {
    struct sk_table *t = control_table_in(c->sw, &c->object, c->pipes.list[0]);
    struct any_priority a = {.change = c, .table = t, .priority = c->priority};
    sk_table_each(t, same_key_any_priority, &a);
    c->priority = a.priority;
    return a.n < 2 ? 0
                   : sk_fail(err,
                             "table '%s' has entries with this key at several priorities; give the "
                             "priority",
                             c->desc->name);
}

int sk_control_entry_find(struct sk_switch *sw, const struct sk_entry_spec *e, struct sk_found *out,
                          struct sk_error *err) {
    struct change c;
    int rc = control_resolve(sw, e, e->n_keys ? WITH_KEY : 0, &c, err);
    if (rc)
        return rc;
    if (e->n_keys && !e->has_priority && control_takes_priority(c.desc))
        rc = find_priority(&c, err);
    if (e->n_keys)
        return rc ? rc : find_entries(&c, out, err);
    *out = (struct sk_found){.desc = c.desc, .n = c.pipes.n};
    for (unsigned i = 0; i < c.pipes.n; i++)
        out->entry[i] = sk_table_default(control_table_in(sw, &c.object, c.pipes.list[i]));
    return 0;
}

static int control_check_attached(const struct change *c, const struct sk_found *f,
                                  struct sk_error *err) {
    const struct sk_holder holder = sk_holder_of_table(c->desc);
    int rc = 0;
    for (unsigned i = 0; rc == 0 && i < f->n; i++)
        rc = sk_attached_check(&holder, &c->attached, f->entry[i]->meter, err);
    if (rc)
        sk_error_prefix(err, "table '%s'", c->desc->name);
    return rc;
}

// After control_check_attached; finds the entries again, as a change makes new ones.
static void apply_attached(const struct change *c) {
    const struct sk_holder holder = sk_holder_of_table(c->desc);
    struct sk_found f;
    if (!c->attached.given || find_entries(c, &f, NULL))
        return;
    for (unsigned i = 0; i < f.n; i++)
        sk_attached_apply(&holder, &c->attached, f.entry[i], i == 0, sk_switch_now(c->sw));
}

int sk_control_entry_add(struct sk_switch *sw, const struct sk_entry_spec *e,
                         struct sk_error *err) {
    struct change c;
    struct sk_meter_cell none = {0};
    struct sk_entry fresh = {.meter = &none};
    int rc = control_resolve(sw, e, WITH_KEY | WITH_ACTION, &c, err);
    if (rc == 0)
        rc = control_check_attached(&c, &(struct sk_found){.entry = {&fresh}, .n = 1}, err);
    if (rc == 0)
        rc = add_everywhere(&c, err);
    if (rc == 0)
        apply_attached(&c);
    return rc;
}

static int control_fill_failure(const struct change *c, int code, size_t n, struct sk_error *err) {
    if (code == SK_E_ACTION)
        return sk_fail(err,
                       "table '%s' cannot be filled as a whole with action '%s': that takes one "
                       "exact key of at most 16 bits, one argument of at most 32, and nothing "
                       "that is counted, metered or aged by entry",
                       c->desc->name, c->desc->actions[c->action]->name);
    if (code == SK_E_KEY)
        return sk_fail(err, "table '%s' has no %zu keys", c->desc->name, n);
    return table_failure(c, code, err);
}

int sk_control_table_fill(struct sk_switch *sw, const char *table, const char *action,
                          const uint32_t *values, size_t n, int pipe, struct sk_error *err) {
    struct change c;
    int rc = resolve_table(sw, table, pipe, &c, err);
    int i = rc ? rc : sk_find_action(c.desc, action, err);
    if (i < 0)
        return i;
    c.action = (uint32_t)i;
    int code = SK_OK;
    for (unsigned p = 0; p < c.pipes.n && !code; p++)
        code = sk_table_may_fill(control_table_in(sw, &c.object, c.pipes.list[p]), c.action, values,
                                 n);
    for (unsigned p = 0; p < c.pipes.n && !code; p++) {
        struct sk_table *t = control_table_in(sw, &c.object, c.pipes.list[p]);
        code = sk_table_fill(t, c.action, values, n);
        sk_table_quiesce(t);
    }
    return code ? control_fill_failure(&c, code, n, err) : 0;
}

static int control_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

// Whether all are digits.
static bool control_read_values(const char *digits, unsigned each, uint32_t *values, size_t n) {
    for (size_t i = 0; i < n; i++) {
        values[i] = 0;
        for (unsigned k = 0; k < each; k++) {
            int digit = control_digit(*digits++);
            if (digit < 0)
                return false;
            values[i] = values[i] << 4 | (uint32_t)digit;
        }
    }
    return true;
}

int sk_control_table_fill_text(struct sk_switch *sw, const char *table, const char *action,
                               const char *digits, int pipe, struct sk_error *err) {
    struct change c;
    int rc = resolve_table(sw, table, pipe, &c, err);
    int i = rc ? rc : sk_find_action(c.desc, action, err);
    if (i < 0)
        return i;
    c.action = (uint32_t)i;
    if (!sk_table_may_be_filled(c.desc, c.action))
        return control_fill_failure(&c, SK_E_ACTION, 0, err);
    const unsigned each = (c.desc->actions[i]->params[0].width + 3) / 4;
    const size_t length = strlen(digits), n = length / each;
    if (length == 0 || length % each)
        return sk_fail(err, "table '%s': %zu digits are not values of %u digits each", c.desc->name,
                       length, each);
    uint32_t *values = malloc(n * sizeof *values);
    if (!values)
        return sk_fail(err, "out of memory");
    rc =
        control_read_values(digits, each, values, n)
            ? sk_control_table_fill(sw, table, action, values, n, pipe, err)
            : sk_fail(err, "table '%s': its values are not hexadecimal digits alone", c.desc->name);
    free(values);
    return rc;
}

// Pipes written one by one may differ: every pipe is asked before one is changed.
typedef int ask_fn(const struct change *c, struct sk_table *t);

static int change_everywhere(const struct change *c, ask_fn *may, ask_fn *apply,
                             struct sk_error *err) {
    for (unsigned i = 0; i < c->pipes.n; i++) {
        int code = may(c, control_table_in(c->sw, &c->object, c->pipes.list[i]));
        if (code)
            return table_failure(c, code, err);
    }
    for (unsigned i = 0; i < c->pipes.n; i++) {
        struct sk_table *t = control_table_in(c->sw, &c->object, c->pipes.list[i]);
        int code = apply(c, t);
        sk_table_quiesce(t);
        if (code)
            return table_failure(c, code, err);
    }
    return 0;
}

static int control_may_modify(const struct change *c, struct sk_table *t) {
    return sk_table_may_modify(t, c->value, c->mask, c->priority, c->action, c->data);
}

static int modify(const struct change *c, struct sk_table *t) {
    return sk_table_modify(t, c->value, c->mask, c->priority, c->action, c->data);
}

int sk_control_entry_modify(struct sk_switch *sw, const struct sk_entry_spec *e,
                            struct sk_error *err) {
    struct change c;
    int rc = control_resolve(sw, e, WITH_KEY | WITH_ACTION, &c, err);
    struct sk_found found;
    if (rc == 0 && c.attached.given)
        rc = find_entries(&c, &found, err);
    if (rc == 0 && c.attached.given)
        rc = control_check_attached(&c, &found, err);
    if (rc == 0)
        rc = change_everywhere(&c, control_may_modify, modify, err);
    if (rc == 0)
        apply_attached(&c);
    return rc;
}

static int control_may_delete(const struct change *c, struct sk_table *t) {
    return sk_table_may_delete(t, c->value, c->mask, c->priority);
}

static int control_delete(const struct change *c, struct sk_table *t) {
    return sk_table_delete(t, c->value, c->mask, c->priority);
}

int sk_control_entry_delete(struct sk_switch *sw, const struct sk_entry_spec *e,
                            struct sk_error *err) {
    struct change c;
    int rc = control_resolve(sw, e, WITH_KEY, &c, err);
    return rc ? rc : change_everywhere(&c, control_may_delete, control_delete, err);
}

static int may_set_default(const struct change *c, struct sk_table *t) {
    return sk_table_may_set_default(t, c->action, c->data);
}

static int control_set_default(const struct change *c, struct sk_table *t) {
    return sk_table_set_default(t, c->action, c->data);
}

int sk_control_default_set(struct sk_switch *sw, const struct sk_entry_spec *e,
                           struct sk_error *err) {
    struct change c;
    int rc = control_resolve(sw, e, WITH_ACTION, &c, err);
    if (rc == 0 && c.attached.given)
        return sk_fail(err, "table '%s': a default action has no '$' arguments", c.desc->name);
    if (rc == 0 && c.desc->const_default)
        rc = sk_fail(err, "table '%s': its default action is const", c.desc->name);
    return rc ? rc : change_everywhere(&c, may_set_default, control_set_default, err);
}

static int may_reset(const struct change *c, struct sk_table *t) {
    (void)c;
    (void)t;
    return SK_OK;
}

static int control_reset_default(const struct change *c, struct sk_table *t) {
    if (!c->desc->const_default)
        sk_table_reset_default(t);
    return SK_OK;
}

int sk_control_default_reset(struct sk_switch *sw, const char *table, int pipe,
                             struct sk_error *err) {
    struct change c;
    int rc = resolve_table(sw, table, pipe, &c, err);
    return rc ? rc : change_everywhere(&c, may_reset, control_reset_default, err);
}

static int may_clear(const struct change *c, struct sk_table *t) {
    (void)c;
    return sk_table_may_clear(t);
}

static int control_clear(const struct change *c, struct sk_table *t) {
    return sk_table_clear_between(t, sk_pauses_between, c->pauses);
}

int sk_control_table_clear(struct sk_switch *sw, struct sk_pauses *pauses, const char *table,
                           int pipe, struct sk_error *err) {
    struct change c;
    int rc = resolve_table(sw, table, pipe, &c, err);
    c.pauses = pauses;
    return rc ? rc : change_everywhere(&c, may_clear, control_clear, err);
}

// ---- counters ----

static int find_counter(struct sk_switch *sw, const char *name, uint64_t index,
                        struct sk_counter_cell *cells[SK_PIPES], struct sk_pipe_list *pipes,
                        const struct sk_counter_desc **desc, struct sk_error *err) {
    struct sk_object o;
    int rc = sk_find_object(sw, SK_COUNTER, name, &o, err);
    if (rc)
        return rc;
    const struct sk_counter_desc *d = *desc = &o.desc->counters[o.index];
    if (d->direct)
        return sk_fail(err, "counter '%s' is in the entries of table '%s'; name one by its key",
                       d->name, o.desc->tables[d->table]->name);
    if (index >= d->size)
        return sk_fail(err, "counter '%s' has %llu cells; there is no index %llu", d->name,
                       (unsigned long long)d->size, (unsigned long long)index);
    rc = sk_find_pipes(sw, &o, -1, pipes, err);
    for (unsigned i = 0; rc == 0 && i < pipes->n; i++)
        cells[i] = o.desc->counter(sk_switch_pipe(sw, pipes->list[i]), o.index) + index;
    return rc;
}

int sk_control_counter_read(struct sk_switch *sw, const char *name, uint64_t index,
                            struct sk_counter_cell *sum, struct sk_error *err) {
    struct sk_counter_cell *cells[SK_PIPES];
    struct sk_pipe_list pipes;
    const struct sk_counter_desc *d;
    int rc = find_counter(sw, name, index, cells, &pipes, &d, err);
    if (rc)
        return rc;
    *sum = (struct sk_counter_cell){0};
    for (unsigned i = 0; i < pipes.n; i++) {
        sum->packets += cells[i]->packets;
        sum->bytes += cells[i]->bytes;
    }
    return 0;
}

int sk_control_counter_write(struct sk_switch *sw, const char *name, uint64_t index,
                             const struct sk_counter_cell *value, struct sk_error *err) {
    struct sk_counter_cell *cells[SK_PIPES];
    struct sk_pipe_list pipes;
    const struct sk_counter_desc *d;
    int rc = find_counter(sw, name, index, cells, &pipes, &d, err);
    if (rc)
        return rc;
    if ((d->type == 0 && value->bytes) || (d->type == 1 && value->packets))
        return sk_fail(err, "counter '%s' counts %s only", d->name, d->type ? "bytes" : "packets");
    // what is read is the sum: the first pipe takes the value, the others start from zero
    for (unsigned i = 0; rc == 0 && i < pipes.n; i++)
        *cells[i] = i == 0 ? *value : (struct sk_counter_cell){0};
    return rc;
}

// ---- value sets ----

static int resolve_value_set(struct sk_switch *sw, const char *name, struct change *c,
                             struct sk_error *err) {
    *c = (struct change){.sw = sw};
    int rc = sk_find_object(sw, SK_VALUE_SET, name, &c->object, err);
    return rc ? rc : sk_find_pipes(sw, &c->object, -1, &c->pipes, err);
}

static int resolve_set_key(struct sk_switch *sw, const char *name,
                           const struct sk_named_value *keys, size_t n_keys, struct change *c,
                           struct sk_error *err) {
    int rc = resolve_value_set(sw, name, c, err);
    if (rc)
        return rc;
    const struct sk_value_set_desc *d = &c->object.desc->value_sets[c->object.index];
    rc = resolve_key(d->keys, d->n_keys, keys, n_keys, c, err);
    if (rc)
        sk_error_prefix(err, "value set '%s'", d->name);
    return rc;
}

int sk_control_value_set_add(struct sk_switch *sw, const char *name,
                             const struct sk_named_value *keys, size_t n_keys,
                             struct sk_error *err) {
    struct change c;
    int rc = resolve_set_key(sw, name, keys, n_keys, &c, err);
    return rc ? rc : add_everywhere(&c, err);
}

int sk_control_value_set_delete(struct sk_switch *sw, const char *name,
                                const struct sk_named_value *keys, size_t n_keys,
                                struct sk_error *err) {
    struct change c;
    int rc = resolve_set_key(sw, name, keys, n_keys, &c, err);
    return rc ? rc : change_everywhere(&c, control_may_delete, control_delete, err);
}

int sk_control_value_set_clear(struct sk_switch *sw, const char *name, struct sk_error *err) {
    struct change c;
    int rc = resolve_value_set(sw, name, &c, err);
    return rc ? rc : change_everywhere(&c, may_clear, control_clear, err);
}
