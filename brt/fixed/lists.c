// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "brt/fixed/fixed.h"

// The field whose values name the elements of this one's group.
static size_t lists_first(const struct fixed_table *t, size_t field) {
    size_t first = 0;
    while (t->data[first].group != t->data[field].group)
        first++;
    return first;
}

// A list that a message does not have, beside one of its group that it has, is all zero.
static enum brt_code lists_complete(struct brt_memory *m, const struct fixed_table *t,
                                    struct fixed_entry *e, size_t field, struct sk_error *err) {
    struct fixed_value *v = &e->data[field];
    const size_t first = lists_first(t, field);
    const struct fixed_value *names = &e->data[first];
    if (first == field || (!v->given && !names->given))
        return BRT_OK;
    if (!v->given && !fixed_list(m, v, names->n))
        return brt_fail(err, BRT_NO_SYS_RESOURCES, "the entry needs too much memory");
    if (!names->given || names->n != v->n)
        return brt_fail(err, BRT_INVALID_ARG, "'%s' has %zu values and '%s' has %zu",
                        t->data[first].name, names->n, t->data[field].name, v->n);
    return BRT_OK;
}

enum brt_code fixed_check_lists(struct brt_memory *m, const struct fixed_table *t,
                                struct fixed_entry *e, struct sk_error *err) {
    enum brt_code code = BRT_OK;
    for (size_t i = 0; code == BRT_OK && i < t->n_data; i++)
        if (t->data[i].group)
            code = lists_complete(m, t, e, i, err);
    return code;
}

static size_t lists_place(const struct fixed_value *v, uint32_t name) {
    size_t at = 0;
    while (at < v->n && v->list[at] != name)
        at++;
    return at;
}

// The elements of one list without those whose names are in 'by'.
static bool lists_without(struct brt_memory *m, const struct fixed_value *all_names,
                          const struct fixed_value *by, struct fixed_value *v) {
    const struct fixed_value old = *v, names = *all_names; // which may be 'v'

    size_t n = 0;
    if (!fixed_list(m, v, old.n))
        return false;
    for (size_t i = 0; i < old.n; i++)
        if (lists_place(by, names.list[i]) == by->n)
            v->list[n++] = old.list[i];
    v->n = n;
    return true;
}

static bool lists_with(struct brt_memory *m, const struct fixed_value *more,
                       struct fixed_value *v) {
    const struct fixed_value old = *v;
    if (!fixed_list(m, v, old.n + more->n))
        return false;
    if (old.n)
        memcpy(v->list, old.list, old.n * sizeof *v->list);
    if (more->n)
        memcpy(v->list + old.n, more->list, more->n * sizeof *v->list);
    return true;
}

// Each named element is there, or none is.
static enum brt_code lists_check(const struct fixed_field *f, const struct fixed_value *names,
                                 const struct fixed_value *by, bool removes, struct sk_error *err) {
    for (size_t i = 0; i < by->n; i++) {
        const bool there = lists_place(names, by->list[i]) < names->n;
        if (removes && !there)
            return brt_fail(err, BRT_OBJECT_NOT_FOUND, "the entry does not have '%s' %u", f->name,
                            by->list[i]);
        if (!removes && there)
            return brt_fail(err, BRT_ALREADY_EXISTS, "the entry has '%s' %u already", f->name,
                            by->list[i]);
    }
    return BRT_OK;
}

enum brt_code fixed_increment(struct brt_memory *m, const struct fixed_table *t,
                              struct fixed_entry *e, const struct fixed_entry *by, bool removes,
                              struct sk_error *err) {
    for (size_t i = t->n_data; i-- > 0;) { // the names of a group stand first: they go last
        const struct fixed_value *more = &by->data[i];
        const size_t first = t->data[i].group ? lists_first(t, i) : i;
        if (!t->data[i].group && more->given)
            return brt_fail(err, BRT_NOT_SUPPORTED, "field '%s' cannot be added to",
                            t->data[i].name);
        if (!t->data[i].group || !more->given)
            continue;
        const enum brt_code code =
            lists_check(&t->data[first], &e->data[first], &by->data[first], removes, err);
        if (code)
            return code;
        if (removes ? !lists_without(m, &e->data[first], &by->data[first], &e->data[i])
                    : !lists_with(m, more, &e->data[i]))
            return brt_fail(err, BRT_NO_SYS_RESOURCES, "the entry needs too much memory");
    }
    return BRT_OK;
}
