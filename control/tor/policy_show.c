// SPDX-License-Identifier: Apache-2.0
//
// policy_show: requests.
//
//     {"op": "tor.acl", "list": "guests"}       rules with their counts; without "list" of all
//                                               lists:
//         [{"list": "guests", "group": 1, "links": ["a"], "rules": [
//             {"rule": 0, "text": "deny ipv4 ...", "entries": 1, "packets": 7, "bytes": 448,
//             "unreachable": true}]}]
//     {"op": "tor.acl.test", "list": "guests", "packet": {"from": "10.0.0.1", "protocol": "tcp",
//         ...}}
//         {"rule": 3, "action": "deny", "text": "..."}; without "rule" when none takes it: it may
//         pass
#include <stdlib.h>
#include <string.h>

#include "control/tables/attached.h"
#include "control/tor/policy_impl.h"
#include "util.h"

static const char *const actions[] = {"permit", "deny", "copy", "mirror"};

// ---- counts ----

#define KEYS 16
struct counts {
    struct sk_switch *sw;
    uint64_t packets, bytes;
};

// "entry TABLE field=value... priority=N"
static void policy_show_add_counts(void *aux, const char *object, const char *action) {
    struct counts *sum = aux;
    struct sk_named_value keys[KEYS];
    struct sk_entry_spec e = {.keys = keys, .pipe = -1};
    struct sk_data data;
    struct sk_error err;
    char *text = xstrdup(object), *rest = text, *word;
    (void)action;
    for (size_t i = 0; (word = strsep(&rest, " ")); i++) {
        char *value = strchr(word, '=');
        if (i == 1)
            e.table = word;
        if (!value)
            continue;
        *value++ = '\0';
        if (strcmp(word, "priority") == 0) {
            e.has_priority = true;
            e.priority = (int64_t)strtoull(value, NULL, 10);
        } else {
            keys[e.n_keys++] = (struct sk_named_value){word, value};
        }
    }
    // one that is not written yet has no counts
    if (sk_control_entry_read(sum->sw, &e, &data, &err) == 0) {
        const char *packets = sk_data_find(&data, "$COUNTER_SPEC_PKTS"),
                   *bytes = sk_data_find(&data, "$COUNTER_SPEC_BYTES");
        sum->packets += packets ? strtoull(packets, NULL, 0) : 0;
        sum->bytes += bytes ? strtoull(bytes, NULL, 0) : 0;
    }
    free(text);
}

// ---- lists ----

static const struct placed_list *placed_list(const struct policy *p, const char *name) {
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->lists[i].name, name) == 0)
            return &p->lists[i];
    return NULL;
}

static json_t *show_rule(struct tor *t, const struct tor_acl *acl, const struct placed *rule) {
    struct counts sum = {.sw = t->host.sw};
    policy_each_entry(rule, policy_show_add_counts, &sum);
    char *words = policy_words(t->section, &acl->rules[rule->rule]);
    json_t *r = json_pack("{s:I, s:s, s:I, s:I, s:I}", "rule", (json_int_t)rule->rule, "text",
                          words, "entries", (json_int_t)rule->entries, "packets",
                          (json_int_t)sum.packets, "bytes", (json_int_t)sum.bytes);
    free(words);
    return r;
}

static json_t *show_list(struct tor *t, const struct policy *p, uint32_t index) {
    const struct tor_acl *acl = &t->section->acls[index];
    const struct placed_list *l = placed_list(p, acl->name);
    struct policy_classifier *c = policy_classifier_new(acl);
    unsigned lookups = POLICY_LOOKUPS;
    json_t *rules = json_array(), *links = json_array();
    for (size_t i = 0; i < l->n; i++) {
        uint32_t by;
        if (l->rules[i].dying)
            continue;
        json_t *rule = show_rule(t, acl, &l->rules[i]);
        if (policy_unreachable(c, l->rules[i].rule, &by, &lookups))
            json_object_set_new(rule, "unreachable", json_true());
        json_array_append_new(rules, rule);
    }
    for (size_t i = 0; i < t->section->n_links; i++)
        if (t->section->links[i].acl == index)
            json_array_append_new(links, json_string(t->section->links[i].name));
    policy_classifier_free(c);
    return json_pack("{s:s, s:I, s:o, s:o}", "list", acl->name, "group", (json_int_t)l->group,
                     "links", links, "rules", rules);
}

// The list that the request names; TOR_NONE, with a sentence: there is none.
static uint32_t named_list(const struct tor *t, json_t *request, struct sk_error *err) {
    const char *name = json_string_value(json_object_get(request, "list"));
    for (uint32_t i = 0; name && i < t->section->n_acls; i++)
        if (strcmp(t->section->acls[i].name, name) == 0)
            return i;
    sk_fail(err, name ? "there is no access list '%.63s'" : "list: it must be the name of a list",
            name);
    return TOR_NONE;
}

static json_t *policy_show_show(struct tor *t, const struct policy *p, json_t *request,
                                struct sk_error *err) {
    const uint32_t only = json_object_get(request, "list") ? named_list(t, request, err) : TOR_NONE;
    if (err->text[0])
        return NULL;
    json_t *lists = json_array();
    if (t->host.pause)
        t->host.pause(t->host.aux);
    for (uint32_t i = 0; i < t->section->n_acls; i++)
        if (only == TOR_NONE || only == i)
            json_array_append_new(lists, show_list(t, p, i));
    if (t->host.resume)
        t->host.resume(t->host.aux);
    return lists;
}

static json_t *policy_show_test(struct tor *t, json_t *request, struct sk_error *err) {
    const uint32_t list = named_list(t, request, err);
    struct tor_rule packet;
    if (list == TOR_NONE ||
        tor_section_packet(t->section, json_object_get(request, "packet"), &packet, err))
        return NULL;
    const struct tor_acl *acl = &t->section->acls[list];
    struct policy_classifier *c = policy_classifier_new(acl);
    const uint32_t rule = policy_classify(c, &packet);
    policy_classifier_free(c);
    if (rule == TOR_NONE)
        return json_pack("{s:s}", "action", "permit");
    char *words = policy_words(t->section, &acl->rules[rule]);
    json_t *result = json_pack("{s:I, s:s, s:s}", "rule", (json_int_t)rule, "action",
                               actions[acl->rules[rule].action], "text", words);
    free(words);
    return result;
}

json_t *policy_request(struct tor *t, struct policy *p, const char *op, json_t *request,
                       struct sk_error *err) {
    if (strcmp(op, "tor.acl") == 0)
        return policy_show_show(t, p, request, err);
    return strcmp(op, "tor.acl.test") == 0 ? policy_show_test(t, request, err) : NULL;
}
