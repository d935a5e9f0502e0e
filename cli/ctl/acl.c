// SPDX-License-Identifier: Apache-2.0
//
// acl: access lists: their rules with counts, and which rule a packet would meet.
#include <stdio.h>
#include <string.h>

#include "cli/ctl/ctl_impl.h"
#include "base/json.h"

static void ctl_acl_print_list(const json_t *list) {
    size_t i;
    json_t *item;
    printf("%s", sk_json_text(list, "list"));
    json_array_foreach(json_object_get(list, "links"), i, item) {
        printf("%s%s", i ? ", " : ": packets from ", json_string_value(item));
    }
    printf("%s\n", json_array_size(json_object_get(list, "links")) ? "" : ": not used by any link");
    if (json_array_size(json_object_get(list, "rules")) > 0)
        printf("%5s %15s %15s %7s  rule\n", "", "packets", "bytes", "entries");
    json_array_foreach(json_object_get(list, "rules"), i, item) {
        printf("%5lld %15lld %15lld %7lld  %s%s\n", sk_json_number(item, "rule"),
               sk_json_number(item, "packets"), sk_json_number(item, "bytes"),
               sk_json_number(item, "entries"), sk_json_text(item, "text"),
               json_is_true(json_object_get(item, "unreachable")) ? "; no packet matches it" : "");
    }
}

static void print_lists(const json_t *lists) {
    size_t i;
    json_t *list;
    json_array_foreach(lists, i, list) {
        ctl_acl_print_list(list);
    }
}

static void print_rule(const json_t *result) {
    if (json_object_get(result, "rule"))
        printf("rule %lld: %s\n", sk_json_number(result, "rule"), sk_json_text(result, "text"));
    else
        printf("no rule matches: permitted\n");
}

// "acl test LIST FIELD=VALUE..."
static int ctl_acl_test(struct ctl *c) {
    json_t *request = c->request;
    ctl_op(c, "tor.acl.test");
    ctl_set_text(c, "list", ctl_next_word(c, "the name of a list"));
    c->request = json_object();
    ctl_take_members(c);
    json_object_set_new(request, "packet", c->request);
    c->request = request;
    return ctl_finish(c, print_rule);
}

int ctl_acl(struct ctl *c) {
    if (*c->words && ctl_is(*c->words, "test")) {
        c->words++;
        return ctl_acl_test(c);
    }
    ctl_op(c, "tor.acl");
    if (*c->words)
        ctl_set_text(c, "list", ctl_next_word(c, "the name of a list"));
    return ctl_finish(c, print_lists);
}
