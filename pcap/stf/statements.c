// SPDX-License-Identifier: Apache-2.0
#include "pcap/stf/parse_impl.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// After the action's name "member" or "group": "(ID)", which is no list of arguments.
static bool reference(struct parser *p, struct stf_statement *s) {
    bool member = strcmp(s->action, "member") == 0;
    if ((!member && strcmp(s->action, "group") != 0) || stf_skip_space(p) != '(')
        return false;
    const char *inside = p->at + 1;
    size_t n = strcspn(inside, ":,)");
    if (inside[n] == ':' || !inside[n] || n == strspn(inside, " \t"))
        return false;
    p->at++;
    const char *id = stf_value(p, s->action);
    *(member ? &s->member : &s->group) = id;
    s->action = NULL;
    return true;
}

// An action with its arguments, member(ID) or group(ID), which may have the arguments that are not
// the action's, "$ENTRY_TTL".
static bool action_or_reference(struct parser *p, struct stf_statement *s) {
    return reference(p, s) ? stf_more_arguments(p, s, true) : stf_arguments(p, s);
}

// name, priority, keys, action, args, id; or member, group
static bool scope(struct parser *p, struct stf_statement *s) {
    s->has_pipe = stf_keyword(p, "pipe");
    return !s->has_pipe || stf_number(p, "the pipe", SK_PIPES - 1, &s->pipe);
}

bool stf_parse_add(struct parser *p, struct stf_statement *s) {
    s->name = stf_name(p, "a table's name");
    if (!s->name)
        return false;
    if (!stf_priority(p, s))
        return false;
    for (;;) {
        const char *word = stf_name(p, "an action");
        if (!word)
            return false;
        if (stf_skip_space(p) != ':') {
            s->action = word;
            break;
        }
        if (!stf_push_value(p, &s->keys, &s->n_keys, word))
            return false;
    }
    if (!action_or_reference(p, s) || !scope(p, s))
        return false;
    if (stf_take(p, '='))
        s->id = stf_name(p, "the entry's id");
    return (s->id || stf_at_end(p) || stf_end(p)) && stf_end(p);
}

// name, action, args
bool stf_parse_setdefault(struct parser *p, struct stf_statement *s) {
    s->name = stf_name(p, "a table's name");
    s->action = s->name ? stf_name(p, "an action") : NULL;
    return s->action && action_or_reference(p, s) && scope(p, s) && stf_end(p);
}

// id
bool stf_parse_remove(struct parser *p, struct stf_statement *s) {
    s->id = stf_name(p, "'all' or an entry's id");
    if (!s->id || !stf_end(p))
        return false;
    const char *id = s->id;
    s->id = NULL; // it is the ADD that has it
    s->name = id;
    if (strcasecmp(id, "all") == 0) {
        s->kind = STF_REMOVE_ALL;
        return true;
    }
    return stf_find_id(p->script, id) || stf_fail(p, "no add statement above has the id '%s'", id);
}

// port, nibbles
bool stf_parse_packet(struct parser *p, struct stf_statement *s) {
    if (!stf_port(p, &s->port) || !stf_hex(p, s, false) || !stf_even_hex(p, s))
        return false;
    return s->n_nibbles > 0 || stf_fail(p, "the packet has no bytes");
}

// port, nibbles, exact_length
bool stf_parse_expect(struct parser *p, struct stf_statement *s) {
    if (!stf_port(p, &s->port) || !stf_hex(p, s, true))
        return false;
    return !s->exact_length || stf_even_hex(p, s);
}

bool stf_parse_bare(struct parser *p, struct stf_statement *s) {
    (void)s;
    return stf_end(p);
}

// name, index, bytes, op, number
bool stf_parse_check_counter(struct parser *p, struct stf_statement *s) {
    s->name = stf_name(p, "a counter's name");
    if (!s->name)
        return false;
    if (!stf_index_follows(p))
        return stf_parse_entry_counter(p, s);
    if (!stf_index_of(p, s))
        return false;
    s->bytes = stf_keyword(p, "bytes");
    if (!s->bytes)
        stf_keyword(p, "packets");
    return stf_operator(p, &s->op) && stf_number(p, "the count", UINT64_MAX, &s->number) &&
           stf_end(p);
}

// A register's cell: by index, or by the key of the entry that a direct register belongs to.
static bool stf_statements_register_cell(struct parser *p, struct stf_statement *s) {
    s->name = stf_name(p, "a register's name");
    if (!s->name)
        return false;
    if (stf_index_follows(p) || !strchr(p->at, ':'))
        return stf_index_of(p, s);
    return stf_parse_entry(p, s);
}

// name, index or keys, field, value
bool stf_parse_register_write(struct parser *p, struct stf_statement *s) {
    if (!stf_statements_register_cell(p, s))
        return false;
    stf_skip_space(p);
    size_t n = stf_name_length(p->at);
    if (p->at[n] == '=' && n > 0) {
        s->field = stf_name(p, "a field");
        p->at++;
    }
    s->value = stf_value(p, "the register");
    return s->value && stf_end(p);
}

// name, index, field, op, value, number (the pipe)
bool stf_parse_register_read(struct parser *p, struct stf_statement *s) {
    if (!stf_statements_register_cell(p, s))
        return false;
    if (!strchr("=!<>", stf_skip_space(p)) && !(s->field = stf_name(p, "a field")))
        return false;
    if (!stf_operator(p, &s->op))
        return false;
    s->value = stf_value(p, "the register");
    if (!s->value)
        return false;
    return (!stf_keyword(p, "pipe") || stf_number(p, "the pipe", SK_PIPES - 1, &s->number)) &&
           stf_end(p);
}

// name
bool stf_parse_register_reset(struct parser *p, struct stf_statement *s) {
    s->name = stf_name(p, "a register's name");
    return s->name && stf_end(p);
}

static bool stf_statements_fields(struct parser *p, struct stf_statement *s) {
    while (!stf_at_end(p)) {
        const char *field = stf_name(p, "a field");
        if (!field)
            return false;
        if (stf_skip_space(p) != ':')
            return stf_fail(p, "':' is missing after field '%s'", field);
        if (!stf_push_value(p, &s->keys, &s->n_keys, field))
            return false;
    }
    return true;
}

// name, keys
bool stf_parse_value_set(struct parser *p, struct stf_statement *s) {
    s->name = stf_name(p, "a value set's name");
    return s->name && stf_statements_fields(p, s);
}

// port, and nibbles or keys
bool stf_parse_port_metadata(struct parser *p, struct stf_statement *s) {
    if (!stf_port(p, &s->port))
        return false;
    if (strchr(p->at, ':'))
        return stf_statements_fields(p, s);
    if (!stf_hex(p, s, false))
        return false;
    return s->n_nibbles == 16 || s->n_nibbles == 32 ||
           stf_fail(p, "port metadata is 8 bytes, or 16 on a Tofino 2");
}

// port
bool stf_parse_loopback(struct parser *p, struct stf_statement *s) {
    return stf_port(p, &s->port) && stf_end(p);
}

// index
bool stf_parse_group_create(struct parser *p, struct stf_statement *s) {
    return stf_number(p, "the group", UINT16_MAX, &s->index) && stf_end(p);
}

// index (rid), ports
bool stf_parse_node_create(struct parser *p, struct stf_statement *s) {
    return stf_number(p, "the replication id", UINT16_MAX, &s->index) && stf_ports(p, s) &&
           stf_lags(p, s);
}

// index (node), ports
bool stf_parse_node_update(struct parser *p, struct stf_statement *s) {
    return stf_number(p, "the node", UINT32_MAX, &s->index) && stf_ports(p, s) && stf_lags(p, s);
}

// index (group), number (node), has_priority: priority is the exclusion id
bool stf_parse_node_associate(struct parser *p, struct stf_statement *s) {
    uint64_t xid = 0;
    if (!stf_number(p, "the group", UINT16_MAX, &s->index) ||
        !stf_number(p, "the node", UINT32_MAX, &s->number))
        return false;
    s->has_priority = !stf_at_end(p);
    if (s->has_priority && !stf_number(p, "the exclusion id", UINT16_MAX, &xid))
        return false;
    s->priority = (int64_t)xid;
    return stf_end(p);
}

// index (exclusion id), ports
bool stf_parse_prune(struct parser *p, struct stf_statement *s) {
    return stf_number(p, "the exclusion id", 287, &s->index) && stf_ports(p, s) && stf_end(p);
}

// words
bool stf_parse_words(struct parser *p, struct stf_statement *s) {
    s->words = stf_keep(p, (strlen(p->at) + 1) * sizeof *s->words);
    while (!stf_at_end(p)) {
        size_t n = strcspn(p->at, " \t\r\v\f");
        s->words[s->n_words++] = stf_keep_text(p, p->at, n);
        p->at += n;
    }
    return true;
}
