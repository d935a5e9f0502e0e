// SPDX-License-Identifier: Apache-2.0
#include "pcap/stf/parse_impl.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"

#define MAX_ERRORS 20

struct stf_block {
    struct stf_block *next;
};

// ---- memory: everything lives as long as the script ----

static void *stf_parse_keep(struct stf_script *s, size_t size) {
    struct stf_block *block = calloc(1, sizeof *block + size + 1);
    if (!block)
        abort(); // a test script that does not fit in memory
    block->next = s->blocks;
    s->blocks = block;
    return block + 1;
}

static const char *keep_text(struct stf_script *s, const char *text, size_t length) {
    char *copy = stf_parse_keep(s, length);
    memcpy(copy, text, length);
    return copy;
}

void stf_free(struct stf_script *s) {
    if (!s)
        return;
    for (struct stf_block *b = s->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(s->list);
    free(s);
}

void *stf_keep(struct parser *p, size_t size) {
    return stf_parse_keep(p->script, size);
}

const char *stf_keep_text(struct parser *p, const char *text, size_t length) {
    return keep_text(p->script, text, length);
}

// ---- errors ----

bool stf_fail(struct parser *p, const char *format, ...) {
    if (p->errors++ < MAX_ERRORS) {
        va_list ap;
        va_start(ap, format);
        fprintf(p->messages, "%s:%u: error: ", p->script->name, p->line);
        vfprintf(p->messages, format, ap);
        fputc('\n', p->messages);
        va_end(ap);
    }
    return false;
}

// ---- statements ----

const struct stf_statement *stf_find_id(const struct stf_script *s, const char *id) {
    for (size_t i = s->n; i-- > 0;)
        if (s->list[i].id && strcmp(s->list[i].id, id) == 0)
            return &s->list[i];
    return NULL;
}

static const struct {
    const char *word;
    enum stf_kind kind;
    bool (*parse)(struct parser *p, struct stf_statement *s);
} statements[] = {
    {"add", STF_ADD, stf_parse_add},
    {"setdefault", STF_SETDEFAULT, stf_parse_setdefault},
    {"remove", STF_REMOVE, stf_parse_remove},
    {"packet", STF_PACKET, stf_parse_packet},
    {"expect", STF_EXPECT, stf_parse_expect},
    {"no_packet", STF_NO_PACKET, stf_parse_bare},
    {"wait", STF_WAIT, stf_parse_bare},
    {"check_counter", STF_CHECK_COUNTER, stf_parse_check_counter},
    {"register_write", STF_REGISTER_WRITE, stf_parse_register_write},
    {"register_read", STF_REGISTER_READ, stf_parse_register_read},
    {"register_reset", STF_REGISTER_RESET, stf_parse_register_reset},
    {"value_set", STF_VALUE_SET, stf_parse_value_set},
    {"port_metadata", STF_PORT_METADATA, stf_parse_port_metadata},
    {"loopback", STF_LOOPBACK, stf_parse_loopback},
    {"mc_mgrp_create", STF_GROUP_CREATE, stf_parse_group_create},
    {"mc_node_create", STF_NODE_CREATE, stf_parse_node_create},
    {"mc_node_update", STF_NODE_UPDATE, stf_parse_node_update},
    {"mc_node_associate", STF_NODE_ASSOCIATE, stf_parse_node_associate},
    {"mc_prune", STF_PRUNE, stf_parse_prune},
    {"advance_time", STF_ADVANCE_TIME, stf_parse_advance_time},
    {"set_time", STF_SET_TIME, stf_parse_advance_time},
    {"meter_write", STF_METER_WRITE, stf_parse_meter_write},
    {"meter_set_rates", STF_METER_RATES, stf_parse_meter_set_rates},
    {"meter_array_set_rates", STF_METER_RATES, stf_parse_meter_array_set_rates},
    {"meter_get_rates", STF_METER_GET, stf_parse_cell},
    {"meter_reset", STF_METER_RESET, stf_parse_object},
    {"check_meter", STF_CHECK_METER, stf_parse_check_meter},
    {"counter_read", STF_COUNTER_READ, stf_parse_cell},
    {"counter_write", STF_COUNTER_WRITE, stf_parse_counter_write},
    {"counter_clear", STF_COUNTER_CLEAR, stf_parse_object},
    {"entry_write", STF_ENTRY_WRITE, stf_parse_entry_write},
    {"check_entry", STF_CHECK_ENTRY, stf_parse_check_entry},
    {"expect_idle", STF_EXPECT_IDLE, stf_parse_expect_idle},
    {"expect_active", STF_EXPECT_ACTIVE, stf_parse_expect_idle},
    {"no_idle", STF_NO_IDLE, stf_parse_bare},
    {"update_hit_state", STF_UPDATE_HIT_STATE, stf_parse_object},
    {"member", STF_MEMBER, stf_parse_member},
    {"member_remove", STF_MEMBER_REMOVE, stf_parse_member},
    {"group", STF_GROUP, stf_parse_group},
    {"group_remove", STF_GROUP_REMOVE, stf_parse_group},
    {"get_member", STF_GET_MEMBER, stf_parse_get_member},
    {"get_index", STF_GET_INDEX, stf_parse_get_member},
    {"value_set_remove", STF_VALUE_SET_REMOVE, stf_parse_value_set},
    {"value_set_clear", STF_VALUE_SET_CLEAR, stf_parse_register_reset},
    {"table_clear", STF_TABLE_CLEAR, stf_parse_register_reset},
    {"hash_fields", STF_HASH_FIELDS, stf_parse_hash_fields},
    {"hash_algorithm", STF_HASH_ALGORITHM, stf_parse_hash_values},
    {"hash_reset", STF_HASH_RESET, stf_parse_hash_fields},
    {"hash_compute", STF_HASH_COMPUTE, stf_parse_hash_values},
    {"key_mask", STF_KEY_MASK, stf_parse_key_mask},
    {"hint", STF_HINT, stf_parse_hint},
};

static void stf_parse_push(struct parser *p, const struct stf_statement *s) {
    struct stf_script *script = p->script;
    script->list = sk_grow(script->list, script->n, &p->room, sizeof *script->list);
    script->list[script->n++] = *s;
}

static void parse_statement(struct parser *p, const char *line) {
    p->at = line;
    if (stf_at_end(p))
        return;
    bool refused = stf_keyword(p, "refused");
    stf_skip_space(p);
    size_t n = strcspn(p->at, " \t\r\v\f");
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        if (strlen(statements[i].word) != n || strncasecmp(p->at, statements[i].word, n) != 0)
            continue;
        struct stf_statement s = {.kind = statements[i].kind, .line = p->line, .refused = refused};
        p->at += n;
        if (statements[i].parse(p, &s))
            stf_parse_push(p, &s);
        return;
    }
    const char *word = stf_tm_keyword(p->at, n);
    if (word) {
        struct stf_statement s = {.kind = STF_TM, .line = p->line, .name = word};
        p->at += n;
        if (stf_parse_words(p, &s))
            stf_parse_push(p, &s);
        return;
    }
    stf_fail(p, "there is no statement '%.*s'", (int)(n < 40 ? n : 40), p->at);
}

// ---- lines ----

static void cut_comment(char *line) {
    bool quoted = false;
    for (; *line; line++) {
        quoted ^= *line == '"';
        if (*line == '#' && !quoted) {
            *line = 0;
            return;
        }
    }
}

// Removes a '\' at the end (blanks may follow it); true when there was one.
static bool cut_continuation(char *line) {
    size_t n = strlen(line);
    while (n > 0 && isspace((unsigned char)line[n - 1]))
        n--;
    if (n == 0 || line[n - 1] != '\\')
        return false;
    line[n - 1] = 0;
    return true;
}

static void parse_lines(struct parser *p, char *text) {
    char *logical = stf_keep(p, strlen(text) + 1); // a statement over several lines, joined
    char *end_of_logical = logical;
    unsigned line_number = 0;
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        line_number++;
        if (end_of_logical == logical)
            p->line = line_number;
        cut_comment(line);
        bool more = cut_continuation(line);
        end_of_logical = stpcpy(end_of_logical, line);
        if (more && next) {
            *end_of_logical++ = ' ';
            continue;
        }
        parse_statement(p, logical);
        end_of_logical = logical;
    }
}

// The list does not move any more: removes can point at what they remove.
static void link_removes(struct stf_script *s) {
    size_t n = s->n;
    for (size_t i = 0; i < n; i++) {
        if (s->list[i].kind != STF_REMOVE)
            continue;
        s->n = i; // the last one above it with that id
        s->list[i].target = stf_find_id(s, s->list[i].name);
    }
    s->n = n;
}

struct stf_script *stf_parse(const char *name, const char *text, size_t length, FILE *messages) {
    struct stf_script *script = calloc(1, sizeof *script);
    if (!script)
        abort();
    script->name = keep_text(script, name, strlen(name));
    struct parser p = {.script = script, .line = 1, .messages = messages};
    char *copy = stf_parse_keep(script, length);
    memcpy(copy, text, length);
    if (memchr(text, 0, length))
        stf_fail(&p, "this is not text: it has a zero byte");
    else
        parse_lines(&p, copy);
    if (p.errors == 0 && script->n == 0)
        stf_fail(&p, "there is no statement in this script");
    if (p.errors > MAX_ERRORS)
        fprintf(messages, "%s: %u errors more\n", name, p.errors - MAX_ERRORS);
    if (p.errors > 0) {
        stf_free(script);
        return NULL;
    }
    link_removes(script);
    return script;
}
