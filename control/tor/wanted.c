// SPDX-License-Identifier: Apache-2.0
//
// An object that differs from what is in the switch stands in one of two lists of its kind: to be
// written, or to be removed. A flush removes entries first, since nothing refers to them and a full
// table needs the room; then it writes kind after kind; then it removes the rest, backwards.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/tor/wanted_impl.h"
#include "hash.h"
#include "openvswitch/hmap.h"
#include "openvswitch/list.h"
#include "util.h"

struct object {
    struct hmap_node node;
    struct ovs_list list; // of the changes, or of those refused; empty: it stands in none
    char *name;
    char *wanted;  // null: not wanted
    char *written; // null: not in the switch
    enum tor_set set;
    enum tor_kind kind;
    bool said;    // since the last tor_begin of its set
    bool refused; // stands in the list of those
};

struct tor_wanted {
    struct hmap objects;
    struct ovs_list writes[TOR_KINDS], removals[TOR_KINDS], refused;
    size_t waiting;
    bool beginning[TOR_SETS];
};

struct tor_wanted *tor_wanted_new(void) {
    struct tor_wanted *w = xzalloc(sizeof *w);
    hmap_init(&w->objects);
    for (int k = 0; k < TOR_KINDS; k++) {
        ovs_list_init(&w->writes[k]);
        ovs_list_init(&w->removals[k]);
    }
    ovs_list_init(&w->refused);
    return w;
}

static void wanted_forget(struct tor_wanted *w, struct object *o) {
    hmap_remove(&w->objects, &o->node);
    free(o->name);
    free(o->wanted);
    free(o->written);
    free(o);
}

void tor_wanted_free(struct tor_wanted *w) {
    struct object *o;
    if (!w)
        return;
    HMAP_FOR_EACH_POP(o, node, &w->objects) {
        free(o->name);
        free(o->wanted);
        free(o->written);
        free(o);
    }
    hmap_destroy(&w->objects);
    free(w);
}

static struct object *wanted_find(const struct tor_wanted *w, const char *name) {
    struct object *o;
    HMAP_FOR_EACH_WITH_HASH(o, node, hash_string(name, 0), &w->objects)
    if (strcmp(o->name, name) == 0)
        return o;
    return NULL;
}

// What waits is counted; those refused do not wait.
static void leave_list(struct tor_wanted *w, struct object *o) {
    if (ovs_list_is_empty(&o->list))
        return;
    ovs_list_remove(&o->list);
    ovs_list_init(&o->list);
    w->waiting -= !o->refused;
    o->refused = false;
}

static bool wanted_same(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static void enter_list(struct tor_wanted *w, struct object *o, struct ovs_list *list) {
    ovs_list_push_back(list, &o->list);
    w->waiting++;
}

// Puts an object into the list that it belongs to now, or forgets it.
static void wanted_settle(struct tor_wanted *w, struct object *o) {
    leave_list(w, o);
    if (!wanted_same(o->wanted, o->written))
        enter_list(w, o, o->wanted ? &w->writes[o->kind] : &w->removals[o->kind]);
    else if (!o->wanted)
        wanted_forget(w, o);
}

static void wanted_want(struct tor_wanted *w, enum tor_set set, const char *name, const char *as) {
    struct object *o = wanted_find(w, name);
    if (!o) {
        o = xzalloc(sizeof *o);
        o->name = xstrdup(name);
        o->kind = tor_kind_of(name);
        ovs_list_init(&o->list);
        hmap_insert(&w->objects, &o->node, hash_string(name, 0));
    }
    o->set = set;
    o->said = true;
    if (wanted_same(o->wanted, as))
        return;
    free(o->wanted);
    o->wanted = xstrdup(as);
    wanted_settle(w, o);
}

void tor_want(struct tor_wanted *w, enum tor_set set, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *text = xvasprintf(format, args);
    va_end(args);
    char *arrow = strstr(text, " -> ");
    if (!arrow)
        ovs_abort(0, "wanted without ' -> ': %s", text);
    *arrow = '\0';
    wanted_want(w, set, text, arrow + strlen(" -> "));
    free(text);
}

static void unwant(struct tor_wanted *w, struct object *o) {
    if (!o->wanted)
        return;
    free(o->wanted);
    o->wanted = NULL;
    wanted_settle(w, o);
}

void tor_unwant(struct tor_wanted *w, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *name = xvasprintf(format, args);
    va_end(args);
    struct object *o = wanted_find(w, name);
    free(name);
    if (o)
        unwant(w, o);
}

void tor_unwant_set(struct tor_wanted *w, enum tor_set set) {
    struct object *o, *next;
    HMAP_FOR_EACH_SAFE(o, next, node, &w->objects)
    if (o->set == set)
        unwant(w, o);
}

const char *tor_wanted_as(const struct tor_wanted *w, const char *name) {
    const struct object *o = wanted_find(w, name);
    return o ? o->wanted : NULL;
}

void tor_begin(struct tor_wanted *w, enum tor_set set) {
    struct object *o;
    if (w->beginning[set])
        ovs_abort(0, "set %d begins twice", set);
    w->beginning[set] = true;
    HMAP_FOR_EACH(o, node, &w->objects)
    if (o->set == set)
        o->said = false;
}

void tor_end(struct tor_wanted *w, enum tor_set set) {
    struct object *o, *next;
    if (!w->beginning[set])
        ovs_abort(0, "set %d ends without a beginning", set);
    w->beginning[set] = false;
    HMAP_FOR_EACH_SAFE(o, next, node, &w->objects)
    if (o->set == set && !o->said)
        unwant(w, o);
}

struct flush {
    struct tor_wanted *w;
    struct sk_switch *sw;
    size_t left;
    bool removed;
    void (*refused)(void *aux, const char *object, const char *why);
    void *aux;
};

// One write or removal. What the switch refuses is what it was; one that could not be removed is no
// longer known, so that it cannot be tried for ever.
static void wanted_change(struct flush *f, struct object *o) {
    struct sk_error err = {""};
    leave_list(f->w, o);
    int rc = tor_write(f->sw, o->kind, o->name, o->wanted, !o->written, &err);
    if (rc && f->refused)
        f->refused(f->aux, o->name, err.text);
    if (rc && o->wanted) {
        ovs_list_push_back(&f->w->refused, &o->list);
        o->refused = true;
        return;
    }
    f->removed |= !o->wanted;
    free(o->written);
    o->written = o->wanted ? xstrdup(o->wanted) : NULL;
    if (!o->wanted)
        wanted_forget(f->w, o);
}

static void work_off(struct flush *f, struct ovs_list *list) {
    while (f->left > 0 && !ovs_list_is_empty(list)) {
        f->left--;
        wanted_change(f, CONTAINER_OF(ovs_list_front(list), struct object, list));
    }
}

size_t tor_wanted_flush(struct tor_wanted *w, struct sk_switch *sw, size_t most,
                        void (*refused)(void *aux, const char *object, const char *why),
                        void *aux) {
    struct flush f = {.w = w, .sw = sw, .left = most, .refused = refused, .aux = aux};
    work_off(&f, &w->removals[TOR_KIND_ENTRY]);
    for (int k = 0; k < TOR_KINDS; k++)
        work_off(&f, &w->writes[k]);
    for (int k = TOR_KINDS - 1; k >= 0; k--)
        work_off(&f, &w->removals[k]);
    // there is room again, or nothing refers to it any more
    while (f.removed && !ovs_list_is_empty(&w->refused))
        wanted_settle(w, CONTAINER_OF(ovs_list_front(&w->refused), struct object, list));
    return w->waiting;
}

bool tor_wanted_waits(const struct tor_wanted *w) {
    return w->waiting > 0;
}

void tor_wanted_anew(struct tor_wanted *w) {
    struct object *o, *next;
    HMAP_FOR_EACH_SAFE(o, next, node, &w->objects) {
        free(o->written);
        o->written = NULL;
        wanted_settle(w, o);
    }
}

void tor_wanted_each(const struct tor_wanted *w,
                     void (*fn)(void *aux, enum tor_set set, const char *object, const char *as,
                                bool written),
                     void *aux) {
    const struct object *o;
    HMAP_FOR_EACH(o, node, &w->objects)
    if (o->wanted)
        fn(aux, o->set, o->name, o->wanted, wanted_same(o->wanted, o->written));
}
