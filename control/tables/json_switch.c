// SPDX-License-Identifier: Apache-2.0
#include "control/tables/json_switch.h"

#include <string.h>

uint16_t sk_at_port(const struct sk_at *at) {
    uint16_t port = (uint16_t)sk_at_number(at, true, SK_PORTS - 1);
    if (!sk_port_exists(port))
        sk_at_fail(
            at, "%u is not a device port: it would be port %u of pipe %u, and a pipe has %u ports",
            port, sk_port_local(port), sk_port_pipe(port), SK_PIPE_PORTS);
    return port;
}

uint16_t *sk_at_ports(const struct sk_at *at, size_t *n) {
    *n = sk_at_length(at);
    uint16_t *ports = sk_json_keep(at->doc, *n * sizeof *ports);
    bool seen[SK_PORTS] = {false};
    for (size_t i = 0; i < *n && !at->doc->failed; i++) {
        struct sk_at item = sk_at_item(at, i);
        ports[i] = sk_at_port(&item);
        if (seen[ports[i]])
            sk_at_fail(&item, "port %u is given twice", ports[i]);
        seen[ports[i]] = true;
    }
    return ports;
}

struct sk_named_value *sk_at_values(const struct sk_at *at, size_t *n) {
    *n = 0;
    if (at->value && !json_is_object(at->value))
        sk_at_fail(at, "it must be an object: {\"name\": value, ...}");
    struct sk_named_value *list = sk_json_keep(at->doc, json_object_size(at->value) * sizeof *list);
    const char *key;
    json_t *value;
    json_object_foreach(at->value, key, value) {
        struct sk_at member = sk_at_member(at, key);
        list[(*n)++] = (struct sk_named_value){key, sk_at_text(&member)};
    }
    return list;
}

int sk_at_pipe(const struct sk_at *at) {
    struct sk_at pipe = sk_at_member(at, "pipe");
    return pipe.value ? (int)sk_at_number(&pipe, true, SK_PIPES - 1) : -1;
}

// As BF Runtime writes it, the priority stands in the key.
static void json_switch_read_key(const struct sk_at *at, struct sk_entry_spec *e) {
    struct sk_at key = sk_at_member(at, "key"), priority = sk_at_member(at, "priority"),
                 in_key = sk_at_member(&key, "$MATCH_PRIORITY");
    const struct sk_at *p = in_key.value ? &in_key : &priority;
    struct sk_named_value *keys = sk_at_values(&key, &e->n_keys);
    if (in_key.value && priority.value)
        sk_at_fail(&priority, "the key has a \"$MATCH_PRIORITY\" already");
    e->has_priority = p->value;
    e->priority = (int64_t)sk_at_number(p, false, SK_MAX_PRIORITY);
    size_t n = 0;
    for (size_t i = 0; i < e->n_keys; i++)
        if (strcmp(keys[i].name, "$MATCH_PRIORITY") != 0)
            keys[n++] = keys[i];
    e->keys = keys;
    e->n_keys = n;
}

// The member or group that an entry names, of which BF Runtime's data has the id.
static const char *read_reference(const struct sk_at *at, const char *key, const struct sk_at *args,
                                  const char *name) {
    struct sk_at own = sk_at_member(at, key), in_data = sk_at_member(args, name);
    if (own.value && in_data.value)
        sk_at_fail(&own, "the data has a \"%s\" already", name);
    const struct sk_at *reference = own.value ? &own : &in_data;
    return reference->value ? sk_at_text(reference) : NULL;
}

static bool is_reference(const char *name) {
    return strcmp(name, "$ACTION_MEMBER_ID") == 0 || strcmp(name, "$SELECTOR_GROUP_ID") == 0;
}

static void read_action(const struct sk_at *at, struct sk_entry_spec *e) {
    struct sk_at action = sk_at_member(at, "action"), args = sk_at_member(at, "args"),
                 data = sk_at_member(at, "data");
    if (args.value && data.value)
        sk_at_fail(&data, "there are \"args\" already");
    const struct sk_at *given = data.value ? &data : &args;
    struct sk_named_value *list = sk_at_values(given, &e->n_args);
    size_t n = 0;
    e->member = read_reference(at, "member", given, "$ACTION_MEMBER_ID");
    e->group = read_reference(at, "group", given, "$SELECTOR_GROUP_ID");
    for (size_t i = 0; i < e->n_args; i++)
        if (!is_reference(list[i].name))
            list[n++] = list[i];
    e->args = list;
    e->n_args = n;
    bool refers = e->member || e->group;
    e->action = sk_at_string(&action, !refers);
    if ((e->member && e->group) || (refers && action.value))
        sk_at_fail(at, "it has \"action\", \"member\" or \"group\"");
}

void sk_at_entry(const struct sk_at *at, unsigned parts, struct sk_entry_spec *e) {
    const char *keys[11];
    size_t n = 0;
    if (parts & SK_AT_OP)
        keys[n++] = "op";
    keys[n++] = "table";
    keys[n++] = "pipe";
    if (parts & SK_AT_KEY)
        keys[n++] = "key", keys[n++] = "priority";
    if (parts & SK_AT_ACTION)
        keys[n++] = "action", keys[n++] = "args", keys[n++] = "data", keys[n++] = "member",
        keys[n++] = "group";
    keys[n] = NULL;
    sk_at_keys(at, keys);
    struct sk_at table = sk_at_member(at, "table");
    *e = (struct sk_entry_spec){.table = sk_at_string(&table, true), .pipe = sk_at_pipe(at)};
    if (parts & SK_AT_KEY)
        json_switch_read_key(at, e);
    if (parts & SK_AT_ACTION)
        read_action(at, e);
}

static struct sk_group_member read_group_member(const struct sk_at *at) {
    static const char *const keys[] = {"member", "up", NULL};
    if (!json_is_object(at->value))
        return (struct sk_group_member){(uint32_t)sk_at_number(at, true, UINT32_MAX), true};
    sk_at_keys(at, keys);
    struct sk_at member = sk_at_member(at, "member"), up = sk_at_member(at, "up");
    if (up.value && !json_is_boolean(up.value))
        sk_at_fail(&up, "it must be true or false");
    return (struct sk_group_member){(uint32_t)sk_at_number(&member, true, UINT32_MAX),
                                    !up.value || json_is_true(up.value)};
}

void sk_at_group(const struct sk_at *at, unsigned parts, struct sk_group_spec *g) {
    const char *keys[8];
    size_t n = 0, n_members = 0;
    if (parts & SK_AT_OP)
        keys[n++] = "op";
    keys[n++] = "selector", keys[n++] = "id", keys[n++] = "pipe";
    if (parts & SK_AT_ACTION)
        keys[n++] = "max_size", keys[n++] = "members";
    keys[n] = NULL;
    sk_at_keys(at, keys);
    struct sk_at selector = sk_at_member(at, "selector"), id = sk_at_member(at, "id"),
                 max_size = sk_at_member(at, "max_size"), members = sk_at_member(at, "members");
    *g = (struct sk_group_spec){.selector = sk_at_string(&selector, true),
                                .id = (uint32_t)sk_at_number(&id, true, UINT32_MAX),
                                .pipe = sk_at_pipe(at)};
    if (!(parts & SK_AT_ACTION))
        return;
    g->max_size = (uint32_t)sk_at_number(&max_size, false, UINT32_MAX);
    n_members = sk_at_length(&members);
    struct sk_group_member *list = sk_json_keep(at->doc, n_members * sizeof *list);
    for (size_t i = 0; i < n_members && !at->doc->failed; i++) {
        struct sk_at member = sk_at_item(&members, i);
        list[i] = read_group_member(&member);
    }
    g->members = list;
    g->n = (uint32_t)n_members;
}

uint8_t *sk_at_lags(const struct sk_at *at, size_t *n) {
    *n = sk_at_length(at);
    uint8_t *lags = sk_json_keep(at->doc, *n);
    bool seen[SK_PRE_LAGS] = {false};
    for (size_t i = 0; i < *n && !at->doc->failed; i++) {
        struct sk_at item = sk_at_item(at, i);
        lags[i] = (uint8_t)sk_at_number(&item, true, SK_PRE_LAGS - 1);
        if (seen[lags[i]])
            sk_at_fail(&item, "LAG %u is given twice", lags[i]);
        seen[lags[i]] = true;
    }
    return lags;
}

static struct sk_pre_member json_switch_read_member(const struct sk_at *at) {
    static const char *const keys[] = {"node", "ecmp", "xid", NULL};
    if (!json_is_object(at->value))
        return (struct sk_pre_member){.node = (uint32_t)sk_at_number(at, true, UINT32_MAX)};
    sk_at_keys(at, keys);
    struct sk_at node = sk_at_member(at, "node"), xid = sk_at_member(at, "xid"),
                 ecmp = sk_at_member(at, "ecmp");
    if (node.value && ecmp.value)
        sk_at_fail(at, "it is a node or an ECMP group, not both");
    return (struct sk_pre_member){
        .node = (uint32_t)sk_at_number(ecmp.value ? &ecmp : &node, true, UINT32_MAX),
        .ecmp = ecmp.value,
        .l1_xid_valid = xid.value,
        .l1_xid = (uint16_t)sk_at_number(&xid, false, UINT16_MAX)};
}

struct sk_pre_member *sk_at_members(const struct sk_at *at, size_t *n) {
    *n = sk_at_length(at);
    struct sk_pre_member *members = sk_json_keep(at->doc, *n * sizeof *members);
    for (size_t i = 0; i < *n; i++) {
        struct sk_at member = sk_at_item(at, i);
        members[i] = json_switch_read_member(&member);
    }
    return members;
}
