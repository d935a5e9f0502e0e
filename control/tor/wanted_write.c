// SPDX-License-Identifier: Apache-2.0
//
// wanted_write: one object's text into calls of the control API.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/tables/attached.h"
#include "control/tor/wanted_impl.h"
#include "util.h"

#define WORDS_MOST 560 // a group of 512 ports and more

// ---- text ----
struct words {
    char *text; // that they are cut from
    char *list[WORDS_MOST];
    size_t n;
};

static void wanted_write_cut(struct words *w, const char *text) {
    char *rest = w->text = xstrdup(text), *word;
    w->n = 0;
    while ((word = strsep(&rest, " "))) {
        if (w->n == WORDS_MOST)
            ovs_abort(0, "more than %d words in: %s", WORDS_MOST, text);
        w->list[w->n++] = word;
    }
}

static uint64_t wanted_write_number(const char *text, const char *end) {
    char *rest;
    const unsigned long long n = strtoull(text, &rest, 0);
    if (rest == text || (end ? rest != end : *rest != '\0'))
        ovs_abort(0, "a number is missing in: %s", text);
    return n;
}

// The value of "name=value" if the word is that, or null.
static const char *wanted_write_value_of(const char *word, const char *name) {
    const size_t n = strlen(name);
    return strncmp(word, name, n) == 0 && word[n] == '=' ? word + n + 1 : NULL;
}

// "name=value" in two; the word is cut at its sign.
static struct sk_named_value wanted_write_named(char *word) {
    char *sign = strchr(word, '=');
    if (!sign)
        ovs_abort(0, "'name=value' is missing in: %s", word);
    *sign = '\0';
    return (struct sk_named_value){.name = word, .value = sign + 1};
}

static size_t wanted_write_ports(const char *text, uint16_t *list, size_t most) {
    size_t n = 0;
    while (*text) {
        const char *end = strchrnul(text, ',');
        if (n == most)
            ovs_abort(0, "more than %zu ports in one object", most);
        list[n++] = (uint16_t)wanted_write_number(text, end);
        text = *end ? end + 1 : end;
    }
    return n;
}

static int pre_failed(int rc, const char *object, struct sk_error *err) {
    return rc ? sk_fail(err, "%s: the replication engine refuses it: %s", object, strerror(-rc))
              : 0;
}

// ---- kinds ----
struct write {
    struct sk_switch *sw;
    const char *object;       // its text, for messages
    const struct words *name; // of the object
    const struct words *as;   // null: it is removed
    bool fresh;
    struct sk_error *err;
};

static uint64_t id_at(const struct write *w, size_t i) {
    return wanted_write_number(w->name->list[i], NULL);
}

static int wanted_write_entry(const struct write *w) {
    struct sk_named_value keys[WORDS_MOST], args[WORDS_MOST];
    struct sk_entry_spec e = {.table = w->name->list[1], .keys = keys, .args = args, .pipe = -1};
    for (size_t i = 2; i < w->name->n; i++) {
        const char *priority = wanted_write_value_of(w->name->list[i], "priority");
        if (priority) {
            e.has_priority = true;
            e.priority = (int64_t)wanted_write_number(priority, NULL);
        } else {
            keys[e.n_keys++] = wanted_write_named(w->name->list[i]);
        }
    }
    if (!w->as)
        return sk_control_entry_delete(w->sw, &e, w->err);
    e.member = wanted_write_value_of(w->as->list[0], "member");
    e.group = wanted_write_value_of(w->as->list[0], "group");
    e.action = e.member || e.group ? NULL : w->as->list[0];
    for (size_t i = 1; i < w->as->n; i++)
        args[e.n_args++] = wanted_write_named(w->as->list[i]);
    return (w->fresh ? sk_control_entry_add : sk_control_entry_modify)(w->sw, &e, w->err);
}

static int write_member(const struct write *w) {
    struct sk_named_value args[WORDS_MOST];
    const struct sk_named_value key = {.name = "$ACTION_MEMBER_ID", .value = w->name->list[2]};
    struct sk_entry_spec e = {
        .table = w->name->list[1], .keys = &key, .n_keys = 1, .args = args, .pipe = -1};
    if (!w->as)
        return sk_control_entry_delete(w->sw, &e, w->err);
    e.action = w->as->list[0];
    for (size_t i = 1; i < w->as->n; i++)
        args[e.n_args++] = wanted_write_named(w->as->list[i]);
    return (w->fresh ? sk_control_entry_add : sk_control_entry_modify)(w->sw, &e, w->err);
}

static int wanted_write_group(const struct write *w) {
    struct sk_group_member members[WORDS_MOST];
    struct sk_group_spec g = {
        .selector = w->name->list[1], .id = (uint32_t)id_at(w, 2), .members = members, .pipe = -1};
    if (!w->as)
        return sk_control_group_delete(w->sw, g.selector, g.id, -1, w->err);
    for (size_t i = 0; i < w->as->n && *w->as->list[i]; i++) {
        const char *down = strchr(w->as->list[i], '!');
        members[g.n++] = (struct sk_group_member){
            .member = (uint32_t)wanted_write_number(w->as->list[i], down), .up = !down};
    }
    return (w->fresh ? sk_control_group_add : sk_control_group_modify)(w->sw, &g, w->err);
}

static int write_node(const struct write *w) {
    const uint32_t node = (uint32_t)id_at(w, 1);
    uint16_t list[SK_PORTS], lag_list[SK_PRE_LAGS];
    uint8_t lags[SK_PRE_LAGS];
    uint64_t rid = 0;
    size_t n = 0, n_lags = 0;
    if (!w->as)
        return pre_failed(sk_pre_node_delete(w->sw, node), w->object, w->err);
    for (size_t i = 0; i < w->as->n; i++) {
        const char *v;
        if ((v = wanted_write_value_of(w->as->list[i], "rid")))
            rid = wanted_write_number(v, NULL);
        else if ((v = wanted_write_value_of(w->as->list[i], "ports")))
            n = wanted_write_ports(v, list, SK_PORTS);
        else if ((v = wanted_write_value_of(w->as->list[i], "lags")))
            n_lags = wanted_write_ports(v, lag_list, SK_PRE_LAGS);
        else
            ovs_abort(0, "wanted of a node: %s", w->as->list[i]);
    }
    for (size_t i = 0; i < n_lags; i++)
        lags[i] = (uint8_t)lag_list[i];
    return pre_failed(sk_pre_node_set_lags(w->sw, node, (uint16_t)rid, list, n, lags, n_lags),
                      w->object, w->err);
}

static const char *only(const struct write *w, const char *name) {
    const char *v = wanted_write_value_of(w->as->list[0], name);
    if (!v || w->as->n != 1)
        ovs_abort(0, "%s must be the only member of %s", name, w->object);
    return v;
}

static int write_lag(const struct write *w) {
    uint16_t list[SK_PORTS];
    const struct sk_pre_lag lag = {
        .ports = list, .n_ports = w->as ? wanted_write_ports(only(w, "ports"), list, SK_PORTS) : 0};
    return pre_failed(sk_pre_lag_set(w->sw, (uint8_t)id_at(w, 1), &lag), w->object, w->err);
}

static int write_prune(const struct write *w) {
    uint16_t list[SK_PORTS];
    const size_t n = w->as ? wanted_write_ports(only(w, "ports"), list, SK_PORTS) : 0;
    return pre_failed(sk_pre_prune_set(w->sw, (uint16_t)id_at(w, 1), list, n), w->object, w->err);
}

static int write_mcast(const struct write *w) {
    struct sk_pre_member members[WORDS_MOST];
    size_t n = 0;
    if (!w->as)
        return pre_failed(sk_pre_group_delete(w->sw, (uint16_t)id_at(w, 1)), w->object, w->err);
    for (size_t i = 0; i < w->as->n && *w->as->list[i]; i++) {
        const char *xid = strchr(w->as->list[i], ':');
        members[n++] = (struct sk_pre_member){
            .node = (uint32_t)wanted_write_number(w->as->list[i], xid),
            .l1_xid_valid = xid != NULL,
            .l1_xid = xid ? (uint16_t)wanted_write_number(xid + 1, NULL) : 0};
    }
    return pre_failed(sk_pre_group_set(w->sw, (uint16_t)id_at(w, 1), members, n), w->object,
                      w->err);
}

static int write_session(const struct write *w) {
    struct sk_mirror_session m = {.direction = SK_MIRROR_IN | SK_MIRROR_OUT};
    for (size_t i = 0; w->as && i < w->as->n; i++) {
        const char *v;
        m.enabled = true;
        if ((v = wanted_write_value_of(w->as->list[i], "port"))) {
            m.ucast_valid = true;
            m.ucast_port = (uint16_t)wanted_write_number(v, NULL);
        } else if ((v = wanted_write_value_of(w->as->list[i], "group"))) {
            m.mcast_a_valid = true;
            m.mcast_grp_a = (uint16_t)wanted_write_number(v, NULL);
        } else if ((v = wanted_write_value_of(w->as->list[i], "length"))) {
            m.max_pkt_len = (uint16_t)wanted_write_number(v, NULL);
        } else if ((v = wanted_write_value_of(w->as->list[i], "direction"))) {
            m.direction = strcmp(v, "in") == 0    ? SK_MIRROR_IN
                          : strcmp(v, "out") == 0 ? SK_MIRROR_OUT
                                                  : SK_MIRROR_IN | SK_MIRROR_OUT;
        } else {
            ovs_abort(0, "wanted of a mirror session: %s", w->as->list[i]);
        }
    }
    return sk_mirror_set(w->sw, (uint16_t)id_at(w, 1), &m)
               ? sk_fail(w->err, "%s: there is no such mirror session", w->object)
               : 0;
}

static int write_meter(const struct write *w) {
    struct sk_named_value values[WORDS_MOST];
    if (!w->as)
        return sk_control_meter_reset(w->sw, NULL, w->name->list[1], id_at(w, 2), -1, w->err);
    for (size_t i = 0; i < w->as->n; i++)
        values[i] = wanted_write_named(w->as->list[i]);
    return sk_control_meter_write(w->sw, NULL, w->name->list[1], id_at(w, 2), values, w->as->n, -1,
                                  w->err);
}

static const struct {
    const char *word;
    size_t words; // of its name, at least
    int (*write)(const struct write *w);
} kinds[TOR_KINDS] = {
    [TOR_KIND_SESSION] = {"session", 2, write_session},
    [TOR_KIND_METER] = {"meter", 3, write_meter},
    [TOR_KIND_LAG] = {"lag", 2, write_lag},
    [TOR_KIND_NODE] = {"node", 2, write_node},
    [TOR_KIND_MCAST] = {"mcast", 2, write_mcast},
    [TOR_KIND_PRUNE] = {"prune", 2, write_prune},
    [TOR_KIND_MEMBER] = {"member", 3, write_member},
    [TOR_KIND_GROUP] = {"group", 3, wanted_write_group},
    [TOR_KIND_ENTRY] = {"entry", 3, wanted_write_entry},
};

enum tor_kind tor_kind_of(const char *object) {
    const size_t n = strcspn(object, " ");
    for (int k = 0; k < TOR_KINDS; k++)
        if (strlen(kinds[k].word) == n && memcmp(kinds[k].word, object, n) == 0)
            return (enum tor_kind)k;
    ovs_abort(0, "unknown kind of object: %s", object);
}

int tor_write(struct sk_switch *sw, enum tor_kind kind, const char *object, const char *as,
              bool fresh, struct sk_error *err) {
    struct words name, words;
    wanted_write_cut(&name, object);
    if (name.n < kinds[kind].words)
        ovs_abort(0, "the text of a wanted object is incomplete: %s", object);
    if (as)
        wanted_write_cut(&words, as);
    const struct write w = {.sw = sw,
                            .object = object,
                            .name = &name,
                            .as = as ? &words : NULL,
                            .fresh = fresh,
                            .err = err};
    const int rc = kinds[kind].write(&w);
    free(name.text);
    if (as)
        free(words.text);
    return rc;
}
