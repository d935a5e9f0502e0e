// SPDX-License-Identifier: Apache-2.0
//
// profiles: the groups of action selectors by name. Members are entries of their profile's table:
// control.c.
#include <stdlib.h>
#include <string.h>

#include "control/tables/control.h"
#include "control/tables/names.h"

struct target {
    struct sk_switch *sw;
    struct sk_object object;
    struct sk_pipe_list pipes;
};

static int profiles_find(struct sk_switch *sw, const char *name, int pipe, struct target *t,
                         struct sk_error *err) {
    *t = (struct target){.sw = sw};
    int rc = sk_find_object(sw, SK_SELECTOR, name, &t->object, err);
    return rc ? rc : sk_find_pipes(sw, &t->object, pipe, &t->pipes, err);
}

static struct sk_selector *profiles_selector_in(const struct target *t, unsigned i) {
    return t->object.desc->selector(sk_switch_pipe(t->sw, t->pipes.list[i]), t->object.index);
}

static int failure(const struct target *t, uint32_t id, int code, struct sk_error *err) {
    const struct sk_selector_desc *d = t->object.desc->selectors[t->object.index];
    const char *why = sk_table_strerror(code);
    if (code == SK_E_FULL)
        return sk_fail(err, "selector '%s' is full: it holds %u groups", d->name, d->n_groups);
    if (code == SK_E_EXISTS)
        why = "it exists already";
    else if (code == SK_E_NO_GROUP)
        why = "there is no such group";
    else if (code == SK_E_IN_USE)
        why = "an entry still refers to it";
    return sk_fail(err, "selector '%s', group %u: %s", d->name, id, why);
}

int sk_control_group_add(struct sk_switch *sw, const struct sk_group_spec *g,
                         struct sk_error *err) {
    struct target t;
    int rc = profiles_find(sw, g->selector, g->pipe, &t, err);
    for (unsigned i = 0; rc == 0 && i < t.pipes.n; i++) {
        int code =
            sk_selector_add(profiles_selector_in(&t, i), g->id, g->max_size, g->members, g->n);
        if (code == SK_OK)
            continue;
        while (i-- > 0) {
            sk_selector_delete(profiles_selector_in(&t, i), g->id);
            sk_selector_quiesce(profiles_selector_in(&t, i));
        }
        return failure(&t, g->id, code, err);
    }
    return rc;
}

// Each pipe's group before the change is taken back from a copy when a later pipe refuses.
static int modify_from(const struct target *t, const struct sk_group_spec *g, unsigned i) {
    struct sk_selector *s = profiles_selector_in(t, i);
    const struct sk_group *old = sk_selector_find(s, g->id);
    uint32_t old_size = old ? old->max_size : 0;
    int code = sk_selector_modify(s, g->id, g->max_size, g->members, g->n);
    if (code == SK_OK && i + 1 < t->pipes.n) {
        code = modify_from(t, g, i + 1);
        if (code) // 'old' is retired, and there until the selector is quiet
            sk_selector_modify(s, g->id, old_size, old->members, old->n);
    }
    sk_selector_quiesce(s);
    return code;
}

int sk_control_group_modify(struct sk_switch *sw, const struct sk_group_spec *g,
                            struct sk_error *err) {
    struct target t;
    int rc = profiles_find(sw, g->selector, g->pipe, &t, err), code = 0;
    for (unsigned i = 0; rc == 0 && code == 0 && i < t.pipes.n; i++)
        code = sk_selector_may_modify(profiles_selector_in(&t, i), g->id, g->max_size, g->members,
                                      g->n);
    if (rc == 0 && code == 0)
        code = modify_from(&t, g, 0);
    return code ? failure(&t, g->id, code, err) : rc;
}

// Every pipe is asked before one is changed.
int sk_control_group_delete(struct sk_switch *sw, const char *selector, uint32_t id, int pipe,
                            struct sk_error *err) {
    struct target t;
    int rc = profiles_find(sw, selector, pipe, &t, err);
    for (unsigned i = 0; rc == 0 && i < t.pipes.n; i++) {
        int code = sk_selector_may_delete(profiles_selector_in(&t, i), id);
        if (code)
            rc = failure(&t, id, code, err);
    }
    for (unsigned i = 0; rc == 0 && i < t.pipes.n; i++) {
        sk_selector_delete(profiles_selector_in(&t, i), id);
        sk_selector_quiesce(profiles_selector_in(&t, i));
    }
    return rc;
}

bool sk_control_group_exists(struct sk_switch *sw, const char *selector, uint32_t id, int pipe) {
    struct target t;
    if (profiles_find(sw, selector, pipe, &t, NULL))
        return false;
    for (unsigned i = 0; i < t.pipes.n; i++)
        if (sk_selector_find(profiles_selector_in(&t, i), id))
            return true;
    return false;
}

int sk_control_group_clear(struct sk_switch *sw, const char *selector, int pipe,
                           struct sk_error *err) {
    struct target t;
    int rc = profiles_find(sw, selector, pipe, &t, err);
    for (unsigned i = 0; rc == 0 && i < t.pipes.n; i++)
        if (sk_selector_may_clear(profiles_selector_in(&t, i)))
            rc = sk_fail(err, "selector '%s': entries still refer to its groups",
                         sk_object_name(&t.object));
    for (unsigned i = 0; rc == 0 && i < t.pipes.n; i++) {
        sk_selector_clear(profiles_selector_in(&t, i));
        sk_selector_quiesce(profiles_selector_in(&t, i));
    }
    return rc;
}

int sk_control_get_index(struct sk_switch *sw, const char *selector, uint32_t id, uint32_t member,
                         int pipe, uint32_t *index, struct sk_error *err) {
    struct target t;
    int rc = profiles_find(sw, selector, pipe, &t, err);
    if (rc)
        return rc;
    if (t.object.desc->selectors[t.object.index]->lines == 0)
        return sk_fail(err, "selector '%s': the program has no action on it",
                       sk_object_name(&t.object));
    const struct sk_group *g = sk_selector_find(profiles_selector_in(&t, 0), id);
    if (!g)
        return failure(&t, id, SK_E_NO_GROUP, err);
    for (uint32_t i = 0; i < g->n; i++)
        if (g->members[i].member == member) {
            *index = g->index[i];
            return 0;
        }
    return sk_fail(err, "selector '%s', group %u: member %u is not in it",
                   sk_object_name(&t.object), id, member);
}

int sk_control_get_member(struct sk_switch *sw, const char *selector, uint32_t id, uint64_t hash,
                          int pipe, uint32_t *member, struct sk_error *err) {
    struct target t;
    int rc = profiles_find(sw, selector, pipe, &t, err);
    if (rc)
        return rc;
    if (!sk_selector_find(profiles_selector_in(&t, 0), id))
        return failure(&t, id, SK_E_NO_GROUP, err);
    if (!sk_selector_choose(profiles_selector_in(&t, 0), id, hash, member))
        return sk_fail(err, "selector '%s', group %u: none of its members is up",
                       sk_object_name(&t.object), id);
    return 0;
}
