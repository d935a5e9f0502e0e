// SPDX-License-Identifier: Apache-2.0
//
// profile: statements about members of action profiles and groups of selectors. stf.h lists them.
#include <string.h>

#include "control/tables/values.h"
#include "pcap/stf/stf_impl.h"

// name, keys: the member's id, action, args
bool stf_parse_member(struct parser *p, struct stf_statement *s) {
    s->name = stf_name(p, "an action profile's name");
    const char *id = s->name ? stf_value(p, "the member's id") : NULL;
    if (!id)
        return false;
    s->keys = stf_keep(p, sizeof *s->keys);
    *s->keys = (struct sk_named_value){"$ACTION_MEMBER_ID", id};
    s->n_keys = 1;
    if (s->kind == STF_MEMBER_REMOVE)
        return stf_end(p);
    s->action = stf_name(p, "an action");
    return s->action && stf_arguments(p, s) && stf_end(p);
}

// name, index: the group's id, number: its size or 0, members
bool stf_parse_group(struct parser *p, struct stf_statement *s) {
    s->name = stf_name(p, "an action selector's name");
    if (!s->name || !stf_number(p, "the group's id", UINT32_MAX, &s->index))
        return false;
    if (s->kind == STF_GROUP_REMOVE)
        return stf_end(p);
    s->members = stf_keep(p, strlen(stf_rest(p)) * sizeof *s->members);
    while (!stf_at_end(p)) {
        uint64_t member;
        if (stf_keyword(p, "max"))
            return stf_number(p, "the group's size", UINT32_MAX, &s->number) && stf_end(p);
        if (!stf_number(p, "a member's id", UINT32_MAX, &member))
            return false;
        bool colon = stf_take(p, ':');
        if (colon && !stf_keyword(p, "down"))
            return stf_fail(p, "a member is written ID or ID:down");
        s->members[s->n_members++] = (struct sk_group_member){(uint32_t)member, !colon};
    }
    return true;
}

// name, index: the group's id, value: the hash or member, op, number: the member or index expected
bool stf_parse_get_member(struct parser *p, struct stf_statement *s) {
    s->name = stf_name(p, "an action selector's name");
    if (!s->name || !stf_number(p, "the group's id", UINT32_MAX, &s->index))
        return false;
    bool index = s->kind == STF_GET_INDEX;
    s->value = stf_value(p, index ? "the member's id" : "the hash");
    return s->value && stf_operator(p, &s->op) &&
           stf_number(p, index ? "the index" : "the member's id", UINT32_MAX, &s->number) &&
           stf_end(p);
}

// ---- running ----------------------------------------------------------------------------------

// One that is there already is changed.
bool stf_run_member(struct run *r, const struct stf_statement *s) {
    struct sk_entry_spec e;
    struct sk_error err, first;
    if (!stf_entry_spec(r, s, s->name, &e))
        return false;
    if (sk_control_entry_add(stf_switch(r), &e, &first) == 0)
        return true;
    if (sk_control_entry_modify(stf_switch(r), &e, &err) == 0)
        return true;
    return stf_unusable(r, "%s", strstr(first.text, "exists") ? err.text : first.text);
}

bool stf_run_member_remove(struct run *r, const struct stf_statement *s) {
    struct sk_entry_spec e;
    struct sk_error err;
    return stf_entry_spec(r, s, s->name, &e) &&
           stf_done(r, sk_control_entry_delete(stf_switch(r), &e, &err), &err);
}

bool stf_run_group(struct run *r, const struct stf_statement *s) {
    struct sk_group_spec g = {.selector = s->name,
                              .id = (uint32_t)s->index,
                              .max_size = (uint32_t)s->number,
                              .members = s->members,
                              .n = (uint32_t)s->n_members,
                              .pipe = -1};
    struct sk_error err, first;
    if (sk_control_group_add(stf_switch(r), &g, &first) == 0)
        return true;
    if (sk_control_group_modify(stf_switch(r), &g, &err) == 0)
        return true;
    return stf_unusable(r, "%s", strstr(first.text, "exists") ? err.text : first.text);
}

bool stf_run_group_remove(struct run *r, const struct stf_statement *s) {
    struct sk_error err;
    return stf_done(
        r, sk_control_group_delete(stf_switch(r), s->name, (uint32_t)s->index, -1, &err), &err);
}

bool stf_run_get_member(struct run *r, const struct stf_statement *s) {
    const struct sk_field_desc f = {.width = 64};
    struct sk_error err;
    uint64_t hash;
    uint32_t got;
    if (!stf_done(r, sk_value_parse(s->value, &f, &hash, &err), &err) ||
        !stf_done(
            r,
            sk_control_get_member(stf_switch(r), s->name, (uint32_t)s->index, hash, -1, &got, &err),
            &err))
        return false;
    if (!stf_holds(got < s->number ? -1 : got > s->number, s->op))
        stf_differs(r, "hash %s chooses member %u of group %llu, expected %s %llu", s->value, got,
                    (unsigned long long)s->index, stf_op_text[s->op],
                    (unsigned long long)s->number);
    return true;
}

bool stf_run_get_index(struct run *r, const struct stf_statement *s) {
    const struct sk_field_desc f = {.width = 32};
    struct sk_error err;
    uint64_t member;
    uint32_t got;
    if (!stf_done(r, sk_value_parse(s->value, &f, &member, &err), &err) ||
        !stf_done(r,
                  sk_control_get_index(stf_switch(r), s->name, (uint32_t)s->index, (uint32_t)member,
                                       -1, &got, &err),
                  &err))
        return false;
    if (!stf_holds(got < s->number ? -1 : got > s->number, s->op))
        stf_differs(r, "member %s of group %llu is at index %u, expected %s %llu", s->value,
                    (unsigned long long)s->index, got, stf_op_text[s->op],
                    (unsigned long long)s->number);
    return true;
}
