// SPDX-License-Identifier: Apache-2.0
//
// requests_group: the groups of action selectors, as requests.
#include "control/socket/requests_impl.h"

void sk_describe_selector(const struct request *r, const struct sk_object *o, json_t *out) {
    const struct sk_selector_desc *d = o->desc->selectors[o->index];
    json_t *counts = json_array();
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
        if (sk_object_in_pipe(r->sw, o, pipe))
            json_array_append_new(counts,
                                  json_integer((json_int_t)sk_selector_count(
                                      o->desc->selector(sk_switch_pipe(r->sw, pipe), o->index))));
    json_object_set_new(out, "profile", json_string(d->profile->name));
    json_object_set_new(out, "mode", json_string(d->mode == SK_SELECT_FAIR ? "fair" : "resilient"));
    sk_set_number(out, "size", d->n_groups);
    sk_set_number(out, "max_group_size", d->max_group_size);
    json_object_set_new(out, "groups", counts);
}

struct dump {
    struct sk_pauses *pauses;
    const struct sk_selector *selector;
    json_t *groups;
    size_t at, from;
};

static bool dump_group(void *aux, const struct sk_group *g) {
    struct dump *d = aux;
    if (d->at++ < d->from)
        return true;
    json_t *members = json_array();
    for (uint32_t i = 0; i < g->n; i++) {
        json_t *m = json_pack("{s:I, s:b}", "member", (json_int_t)g->members[i].member, "up",
                              g->members[i].up);
        if (sk_selector_desc(d->selector)->lines) {
            sk_set_number(m, "index", g->index[i]);
            json_object_set_new(m, "live", json_boolean(sk_selector_bit(d->selector, g->index[i])));
        }
        json_array_append_new(members, m);
    }
    json_array_append_new(d->groups,
                          json_pack("{s:I, s:I, s:o}", "id", (json_int_t)g->id, "max_size",
                                    (json_int_t)g->max_size, "members", members));
    sk_pauses_breathe(d->pauses);
    return json_array_size(d->groups) < SK_PAGE;
}

json_t *sk_request_group_dump(const struct request *r) {
    static const char *const keys[] = {"op", "selector", "pipe", "from", NULL};
    struct sk_object o;
    unsigned pipe;
    sk_at_keys(r->at, keys);
    struct sk_at name = sk_at_member(r->at, "selector"), from = sk_at_member(r->at, "from");
    const char *selector = sk_at_string(&name, true);
    struct dump d = {.from = sk_at_number(&from, false, INT64_MAX)};
    int wanted = sk_at_pipe(r->at);
    if (!good(r))
        return NULL;
    if (sk_find_object(r->sw, SK_SELECTOR, selector, &o, r->err) ||
        !sk_request_pipe(r, &o, wanted, &pipe))
        return requests_failed(r);
    const struct sk_selector *s = o.desc->selector(sk_switch_pipe(r->sw, pipe), o.index);
    d.groups = json_array();
    d.selector = s;
    d.pauses = r->pauses;
    sk_pauses_begin(d.pauses); // for the bits that packets may change
    sk_selector_each(s, dump_group, &d);
    sk_pauses_end(d.pauses);
    json_t *result = json_pack("{s:s, s:i}", "name", sk_object_name(&o), "pipe", (int)pipe);
    sk_describe_selector(r, &o, result);
    size_t shown = json_array_size(d.groups);
    json_object_set_new(result, "list", d.groups);
    if (d.from + shown < sk_selector_count(s))
        sk_set_number(result, "next", d.from + shown);
    return result;
}

static json_t *requests_group_change(const struct request *r,
                                     int (*call)(struct sk_switch *, const struct sk_group_spec *,
                                                 struct sk_error *)) {
    struct sk_group_spec g;
    sk_at_group(r->at, SK_AT_ACTION | SK_AT_OP, &g);
    return good(r) ? requests_done(r, call(r->sw, &g, r->err)) : NULL;
}

json_t *sk_request_group_add(const struct request *r) {
    return requests_group_change(r, sk_control_group_add);
}

json_t *sk_request_group_modify(const struct request *r) {
    return requests_group_change(r, sk_control_group_modify);
}

json_t *sk_request_group_delete(const struct request *r) {
    struct sk_group_spec g;
    sk_at_group(r->at, SK_AT_OP, &g);
    return good(r)
               ? requests_done(r, sk_control_group_delete(r->sw, g.selector, g.id, g.pipe, r->err))
               : NULL;
}

json_t *sk_request_group_clear(const struct request *r) {
    static const char *const keys[] = {"op", "selector", "pipe", NULL};
    sk_at_keys(r->at, keys);
    struct sk_at name = sk_at_member(r->at, "selector");
    const char *selector = sk_at_string(&name, true);
    int pipe = sk_at_pipe(r->at);
    return good(r) ? requests_done(r, sk_control_group_clear(r->sw, selector, pipe, r->err)) : NULL;
}

json_t *sk_request_group_member(const struct request *r) {
    static const char *const keys[] = {"op", "selector", "id", "hash", "pipe", NULL};
    uint32_t member;
    sk_at_keys(r->at, keys);
    struct sk_at name = sk_at_member(r->at, "selector"), id = sk_at_member(r->at, "id"),
                 hash = sk_at_member(r->at, "hash");
    const char *selector = sk_at_string(&name, true);
    uint32_t group = (uint32_t)sk_at_number(&id, true, UINT32_MAX);
    uint64_t h = sk_at_number(&hash, true, INT64_MAX);
    int pipe = sk_at_pipe(r->at);
    if (!good(r))
        return NULL;
    if (sk_control_get_member(r->sw, selector, group, h, pipe, &member, r->err))
        return requests_failed(r);
    return json_pack("{s:I}", "member", (json_int_t)member);
}
