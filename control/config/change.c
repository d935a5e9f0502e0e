// SPDX-License-Identifier: Apache-2.0
#include "control/config/change.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/config/config_impl.h"

#define AT_ONCE 32u // items in a pause

// ---- what an item is, and what it says ----

static bool config_change_is_one_of(const char *const *list, const char *member) {
    for (; *list; list++)
        if (strcmp(*list, member) == 0)
            return true;
    return false;
}

// Whether a member says how the thing is, and not which one it is.
static bool is_content(enum sk_item_kind kind, const char *member) {
    static const char *const of_entry[] = {"action", "args", "data", "member", "group", NULL};
    static const char *const of_cell[] = {"value", "spec", "packets", "bytes", NULL};
    static const char *const which[] = {"id",  "port",   "table",    "name",    "pipe", "app",
                                        "key", "offset", "selector", "profile", NULL};
    switch (kind) {
    case ENTRY:
    case MEMBER:
    case DEFAULT:
        return config_change_is_one_of(of_entry, member);
    case REGISTER:
    case METER:
    case COUNTER:
        return config_change_is_one_of(of_cell, member);
    default:
        return !config_change_is_one_of(which, member);
    }
}

// A value set's key is all of it.
static char *config_change_identity(const struct sk_config_item *item) {
    const char *member;
    json_t *value, *which = json_object();
    json_object_set_new(which, " ", json_integer(item->kind));
    if (item->tm)
        json_object_set_new(which, " tm", json_integer(item->tm->kind));
    const bool one =
        item->tm && (item->tm->kind == SK_TM_GLOBAL || item->tm->kind == SK_TM_DEFLECT);
    if (item->bf)
        json_object_set_new(which, " bf", json_integer(item->bf->kind));
    json_object_foreach(one ? NULL : item->at.value, member, value) {
        if (!is_content(item->kind, member))
            json_object_set(which, member, value);
    }
    char *text = json_dumps(which, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(which);
    if (!text)
        abort();
    return text;
}

static bool same_content(const struct sk_config_item *a, const struct sk_config_item *b) {
    if (a->tm && a->tm->kind == SK_TM_GLOBAL)
        return a->tm->id == b->tm->id;
    return json_equal(a->at.value, b->at.value);
}

struct named {
    char *identity;
    const struct sk_config_item *item;
    size_t order;
    struct named *other; // of the same identity, in the other configuration
};
struct names {
    struct named *list, **sorted;
    size_t n;
};

static int by_identity(const void *a, const void *b) {
    const struct named *x = *(struct named *const *)a, *y = *(struct named *const *)b;
    const int order = strcmp(x->identity, y->identity);
    return order ? order : x->order < y->order ? -1 : x->order > y->order;
}

// Whether the program has it, so that it is in pipes.
static bool is_of_program(const struct sk_config_item *item) {
    switch (item->kind) {
    case ENTRY:
        return item->bf->kind != SK_BF_PORT_METADATA;
    case NODE:
    case GROUP:
    case PRUNE:
    case TM:
        return false;
    default:
        return true;
    }
}
static bool is_of_switch(const struct sk_config_item *item) {
    return !is_of_program(item);
}

// 'wanted' null: all.
static struct names name_all(const struct sk_config *c,
                             bool (*wanted)(const struct sk_config_item *item)) {
    struct names names = {.n = 0};
    names.list = calloc(c->private->n + 1, sizeof *names.list);
    names.sorted = calloc(c->private->n + 1, sizeof *names.sorted);
    if (!names.list || !names.sorted)
        abort();
    for (size_t i = 0; i < c->private->n; i++) {
        const struct sk_config_item *item = &c->private->items[i];
        const size_t n = names.n;
        if (wanted && !wanted(item))
            continue;
        names.list[n] =
            (struct named){.identity = config_change_identity(item), .item = item, .order = i};
        names.sorted[names.n++] = &names.list[n];
    }
    qsort(names.sorted, names.n, sizeof *names.sorted, by_identity);
    return names;
}

static void free_names(struct names *names) {
    for (size_t i = 0; i < names->n; i++)
        free(names->list[i].identity);
    free(names->list);
    free(names->sorted);
}

// What is there twice (a register's cell that is written twice) has as many others.
static void config_change_pair(struct names *a, struct names *b) {
    for (size_t i = 0, j = 0; i < a->n && j < b->n;) {
        const int order = strcmp(a->sorted[i]->identity, b->sorted[j]->identity);
        if (order == 0) {
            a->sorted[i]->other = b->sorted[j];
            b->sorted[j]->other = a->sorted[i];
        }
        i += order <= 0;
        j += order >= 0;
    }
}

// ---- doing it, and taking it back ----

struct step {
    const struct sk_config_item *old, *new; // one may be null
};
struct work {
    struct sk_switch *sw;
    const struct sk_change_pause *pause;
    struct step *done;
    size_t n_done;
    unsigned in_pause;
};

// What an entry has beside its action (meter, counter, ageing, direct registers) stays when it is
// changed; what the new file does not give any more is to go.
static bool leaves_something(const struct sk_config_item *old, const struct sk_config_item *new) {
    const struct sk_entry_spec *a = &old->bf->entry, *b = &new->bf->entry;
    for (size_t i = 0; i < a->n_args; i++) {
        size_t k = 0;
        while (k < b->n_args && strcmp(a->args[i].name, b->args[k].name) != 0)
            k++;
        if (k == b->n_args && (a->args[i].name[0] == '$' || strchr(a->args[i].name, '.')))
            return true;
    }
    return false;
}

static int do_step(struct sk_switch *sw, const struct step *s, struct sk_error *err) {
    if (s->new && s->old && s->new->kind == ENTRY &&leaves_something(s->old, s->new)) {
        const int rc = sk_item_remove(sw, s->old, err);
        if (rc < 0)
            return rc;
    }
    return s->new ? sk_item_set(sw, s->new, err) : sk_item_remove(sw, s->old, err);
}

static int do_now(struct work *w, const struct sk_config_item *old,
                  const struct sk_config_item *new, struct sk_error *err) {
    const struct step s = {old, new};
    if (w->in_pause++ == 0)
        w->pause->pause(w->pause->aux);
    int rc = do_step(w->sw, &s, err);
    if (rc == 0)
        w->done[w->n_done++] = s;
    rc = rc < 0 ? rc : 0;
    if (w->in_pause == AT_ONCE) {
        w->pause->resume(w->pause->aux);
        w->in_pause = 0;
    }
    if (rc) {
        char place[192];
        sk_at_place(&(new ? new : old)->at, place, sizeof place);
        sk_error_prefix(err, "%s", place);
    }
    return rc;
}

static void config_change_let_go(struct work *w) {
    if (w->in_pause > 0)
        w->pause->resume(w->pause->aux);
    w->in_pause = 0;
}

static void config_change_take_back(struct work *w) {
    struct sk_error ignored;
    while (w->n_done > 0) {
        const size_t stop = w->n_done > AT_ONCE ? w->n_done - AT_ONCE : 0;
        w->pause->pause(w->pause->aux);
        while (w->n_done > stop) {
            const struct step *s = &w->done[--w->n_done];
            do_step(w->sw, &(struct step){s->new, s->old}, &ignored);
        }
        w->pause->resume(w->pause->aux);
    }
}

static int change_items(struct work *w, const struct names *from, const struct names *to,
                        struct sk_change_counts *counts, struct sk_error *err) {
    int rc = 0;
    // what names something goes before it, and comes after it
    for (size_t i = from->n; rc == 0 && i-- > 0;)
        if (!from->list[i].other) {
            rc = do_now(w, from->list[i].item, NULL, err);
            counts->removed++;
        }
    for (size_t i = 0; rc == 0 && i < to->n; i++) {
        const struct named *n = &to->list[i], *old = n->other;
        if (old && same_content(old->item, n->item))
            continue;
        rc = do_now(w, old ? old->item : NULL, n->item, err);
        *(old ? &counts->changed : &counts->added) += 1;
    }
    config_change_let_go(w);
    return rc;
}

// ---- what is no item: these cannot fail ----

static bool config_change_listed(const uint16_t *list, size_t n, uint16_t port) {
    for (size_t i = 0; i < n; i++)
        if (list[i] == port)
            return true;
    return false;
}

static void change_settings(const struct sk_config *from, const struct sk_config *to,
                            struct sk_switch *sw, struct sk_change_counts *counts) {
    for (size_t i = 0; i < from->n_loopback; i++)
        if (!config_change_listed(to->loopback, to->n_loopback, from->loopback[i])) {
            sk_switch_port_loopback(sw, from->loopback[i], false);
            counts->removed++;
        }
    for (size_t i = 0; i < to->n_loopback; i++)
        if (!config_change_listed(from->loopback, from->n_loopback, to->loopback[i])) {
            sk_switch_port_loopback(sw, to->loopback[i], true);
            counts->added++;
        }
    if (!sk_config_same(from, to, "faults")) {
        sk_switch_faults(sw, to->loss, to->fault_seed);
        counts->changed++;
    }
}

static int config_change_change(const struct sk_config *from, const struct sk_config *to,
                                struct sk_switch *sw,
                                bool (*wanted)(const struct sk_config_item *item),
                                const struct sk_change_pause *pause,
                                struct sk_change_counts *counts, struct sk_error *err) {
    struct names a = name_all(from, wanted), b = name_all(to, wanted);
    struct work w = {.sw = sw, .pause = pause};
    w.done = calloc(a.n + b.n + 1, sizeof *w.done);
    if (!w.done)
        abort();
    *counts = (struct sk_change_counts){0};
    config_change_pair(&a, &b);
    const int rc = change_items(&w, &a, &b, counts, err);
    if (rc) {
        config_change_take_back(&w);
    } else {
        pause->pause(pause->aux);
        change_settings(from, to, sw, counts);
        pause->resume(pause->aux);
    }
    free(w.done);
    free_names(&a);
    free_names(&b);
    return rc;
}

int sk_config_change(const struct sk_config *from, const struct sk_config *to, struct sk_switch *sw,
                     const struct sk_change_pause *pause, struct sk_change_counts *counts,
                     struct sk_error *err) {
    return config_change_change(from, to, sw, NULL, pause, counts, err);
}

int sk_config_change_rest(const struct sk_config *from, const struct sk_config *to,
                          struct sk_switch *sw, const struct sk_change_pause *pause,
                          struct sk_change_counts *counts, struct sk_error *err) {
    return config_change_change(from, to, sw, is_of_switch, pause, counts, err);
}

bool sk_config_has_copies(const struct sk_config *c) {
    for (size_t i = 0; i < c->private->n; i++) {
        const struct sk_config_item *item = &c->private->items[i];
        if (item->kind == NODE || item->kind == GROUP || item->kind == PRUNE ||
            (item->kind == TM && (item->tm->kind == SK_TM_MIRROR || item->tm->kind == SK_TM_LAG ||
                                  item->tm->kind == SK_TM_ECMP)))
            return true;
    }
    return false;
}

// ---- into a switch beside ----

// What is to go may not have been kept, or something may name it as long as that is not changed.
static void remove_old(const struct names *from, struct sk_switch *with) {
    struct sk_error ignored;
    for (size_t i = from->n; i-- > 0;)
        if (!from->list[i].other)
            sk_item_remove(with, from->list[i].item, &ignored);
}

static int set_new(const struct named *n, struct sk_switch *with, struct sk_error *err) {
    const struct sk_config_item *old = n->other ? n->other->item : NULL;
    struct sk_error ignored;
    char place[192];
    if (old && n->item->kind == ENTRY && leaves_something(old, n->item))
        sk_item_remove(with, old, &ignored);
    const int rc = sk_item_set(with, n->item, err);
    if (rc == 0)
        return 0;
    sk_at_place(&n->item->at, place, sizeof place);
    sk_error_prefix(err, "%s", place);
    return rc;
}

int sk_config_bring(const struct sk_config *from, const struct sk_config *to,
                    struct sk_switch *with, void (*keep)(void *aux), void *aux,
                    struct sk_error *err) {
    struct names a = name_all(from, is_of_program), b = name_all(to, is_of_program);
    bool *done = calloc(b.n + 1, sizeof *done);
    struct sk_error ignored;
    int rc = 0;
    if (!done)
        abort();
    config_change_pair(&a, &b);
    for (size_t i = 0; i < b.n; i++) // one that names what is not alike is not there yet
        if (b.list[i].other && same_content(b.list[i].other->item, b.list[i].item))
            done[i] = sk_item_set(with, b.list[i].item, &ignored) == 0;
    keep(aux);
    remove_old(&a, with);
    for (size_t i = 0; rc == 0 && i < b.n; i++)
        if (!done[i])
            rc = set_new(&b.list[i], with, err);
    remove_old(&a, with);
    free(done);
    free_names(&a);
    free_names(&b);
    return rc;
}

// ---- beforehand ----

int sk_config_try(const struct sk_config *c, const struct sk_program *program,
                  const struct sk_switch_options *opt, struct sk_error *err) {
    char error[256];
    struct sk_switch_options own = *opt;
    own.tx = sk_tx_nowhere;
    own.n_packets = 1;
    struct sk_switch *sw = sk_switch_new(program, &own, error, sizeof error);
    const int rc = sw ? sk_config_apply(c, sw, err) : sk_fail(err, "%s", error);
    sk_switch_free(sw);
    return rc;
}

bool sk_config_same(const struct sk_config *a, const struct sk_config *b, const char *member) {
    const json_t *x = json_object_get(a->private->root, member),
                 *y = json_object_get(b->private->root, member);
    return (!x && !y) || (x && y && json_equal(x, y));
}

const char *sk_config_fixed(const struct sk_config *from, const struct sk_config *to) {
    static const char *const members[] = {
        "pipes",          "lcores",    "cpus",          "cpu_port", "idle_sleep",
        "control_socket", "record",    "clock",         "metrics",  "daemon",
        "sampling",       "telemetry", "sessions",      "libra",    "job_service",
        "bfrt",           "p4runtime", "switchml_jobs", "page",     NULL};
    for (size_t i = 0; members[i]; i++)
        if (!sk_config_same(from, to, members[i]))
            return members[i];
    return NULL;
}
