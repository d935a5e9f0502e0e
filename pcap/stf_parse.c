// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "pcap/stf_impl.h"

#define MAX_ERRORS 20

struct stf_block {
    struct stf_block *next;
};

struct parser {
    struct stf_script *script;
    const char *at; // in the current line, which ends with a zero
    unsigned line;
    size_t room;
    unsigned errors;
    FILE *messages;
};

// ---- memory: everything lives as long as the script ----

static void *keep(struct stf_script *s, size_t size) {
    struct stf_block *block = calloc(1, sizeof *block + size + 1);
    if (!block)
        abort(); // a test script that does not fit in memory
    block->next = s->blocks;
    s->blocks = block;
    return block + 1;
}

static const char *keep_text(struct stf_script *s, const char *text, size_t length) {
    char *copy = keep(s, length);
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

// ---- errors ----

static bool fail(struct parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(struct parser *p, const char *format, ...) {
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

// ---- words ----

static char skip_space(struct parser *p) {
    while (isspace((unsigned char)*p->at))
        p->at++;
    return *p->at;
}

static bool at_end(struct parser *p) {
    return skip_space(p) == 0;
}

static bool end(struct parser *p) {
    return at_end(p) || fail(p, "the statement should end before '%.20s'", p->at);
}

static bool take(struct parser *p, char c) {
    if (skip_space(p) != c)
        return false;
    p->at++;
    return true;
}

static size_t name_length(const char *s) {
    size_t n = 0;
    while (isalnum((unsigned char)s[n]) || (s[n] && strchr("_.$@", s[n])) || s[n] == '[') {
        // an index or a slice, whose ':' is part of the name
        size_t inside = s[n] == '[' ? strspn(s + n + 1, "0123456789:") : 0;
        if (s[n] == '[' && s[n + 1 + inside] != ']')
            break;
        n += s[n] == '[' ? inside + 2 : 1;
        if (s[n] == '(' && s[n + 1] == ')' && n >= 7 && memcmp(s + n - 7, "isValid", 7) == 0)
            n += 2;
    }
    return n;
}

// A name, quoted or not; null with an error when there is none.
static const char *name(struct parser *p, const char *what) {
    bool quoted = skip_space(p) == '"';
    const char *start = p->at + quoted;
    size_t n = quoted ? strcspn(start, "\"") : name_length(start);
    if (n == 0 || (quoted && start[n] != '"')) {
        fail(p, at_end(p) ? "%s is missing" : "%s is missing before '%.20s'", what, p->at);
        return NULL;
    }
    p->at = start + n + quoted;
    return keep_text(p->script, start, n);
}

static const char *value(struct parser *p, const char *what) {
    skip_space(p);
    size_t n = strcspn(p->at, " \t\r\v\f,)");
    if (n == 0) {
        fail(p, "a value is missing for %s", what);
        return NULL;
    }
    const char *text = keep_text(p->script, p->at, n);
    p->at += n;
    return text;
}

static bool number(struct parser *p, const char *what, uint64_t max, uint64_t *out) {
    skip_space(p);
    char *after;
    bool hex = p->at[0] == '0' && (p->at[1] == 'x' || p->at[1] == 'X');
    unsigned long long v =
        isdigit((unsigned char)*p->at) ? strtoull(p->at, &after, hex ? 16 : 10) : 0;
    if (!isdigit((unsigned char)*p->at) || isalnum((unsigned char)*after))
        return fail(p, "%s must be a number, not '%.20s'", what, p->at);
    if (v > max)
        return fail(p, "%s is %llu; it must be at most %llu", what, v, (unsigned long long)max);
    p->at = after;
    *out = v;
    return true;
}

static bool port(struct parser *p, uint16_t *out) {
    uint64_t v;
    if (!number(p, "the port", SK_PORTS - 1, &v))
        return false;
    *out = (uint16_t)v;
    return true;
}

// ---- lists ----

static bool push_value(struct parser *p, struct sk_named_value **list, size_t *n,
                       const char *field) {
    const char *text = field && take(p, ':') ? value(p, field) : NULL;
    if (!text)
        return false;
    struct sk_named_value *grown = keep(p->script, (*n + 1) * sizeof *grown);
    if (*n > 0)
        memcpy(grown, *list, *n * sizeof *grown);
    grown[*n] = (struct sk_named_value){field, text};
    *list = grown;
    (*n)++;
    return true;
}

// "ARG:VALUE, ...)"; 'comma': something stands before it already.
static bool more_arguments(struct parser *p, struct stf_statement *s, bool comma) {
    const char *what = s->action ? s->action : s->member ? "member" : "group";
    while (!take(p, ')')) {
        if ((comma || s->n_args > 0) && !take(p, ','))
            return fail(p, "',' or ')' is missing in the arguments of '%s'", what);
        const char *arg = name(p, "an argument's name");
        if (!arg)
            return false;
        if (skip_space(p) != ':')
            return fail(p, "':' is missing after argument '%s' of '%s'", arg, what);
        if (!push_value(p, &s->args, &s->n_args, arg))
            return false;
    }
    return true;
}

// After the action's name: "(ARG:VALUE, ...)", which may be left out.
static bool arguments(struct parser *p, struct stf_statement *s) {
    return !take(p, '(') || more_arguments(p, s, false);
}

static bool ports(struct parser *p, struct stf_statement *s) {
    s->ports = keep(p->script, strlen(p->at) * sizeof *s->ports);
    while (!at_end(p) && *p->at != '|')
        if (!port(p, &s->ports[s->n_ports++]))
            return false;
    return s->n_ports > 0 || *p->at == '|' || fail(p, "a port is missing");
}

// After a node's ports: "| LAG ...", which may be left out.
static bool lags(struct parser *p, struct stf_statement *s) {
    uint64_t v;
    if (!take(p, '|'))
        return end(p);
    s->lags = keep(p->script, strlen(p->at) + 1);
    while (!at_end(p)) {
        if (!number(p, "the LAG", SK_PRE_LAGS - 1, &v))
            return false;
        s->lags[s->n_lags++] = (uint8_t)v;
    }
    return s->n_lags > 0 || fail(p, "a LAG is missing");
}

static bool hex(struct parser *p, struct stf_statement *s, bool expectation) {
    s->nibbles = keep(p->script, strlen(p->at));
    while (!at_end(p)) {
        char c = *p->at++;
        if (expectation && c == '$') {
            s->exact_length = true;
            return end(p);
        }
        const char *digits = "0123456789abcdef";
        const char *digit = strchr(digits, tolower((unsigned char)c));
        if (!digit && !(expectation && c == '*'))
            return fail(p, "'%c' is no hexadecimal digit%s", c,
                        c == '*' ? "; only expect has don't-care digits" : "");
        s->nibbles[s->n_nibbles++] = digit ? (uint8_t)(digit - digits) : STF_ANY_NIBBLE;
    }
    return true;
}

static bool even_hex(struct parser *p, struct stf_statement *s) {
    return s->n_nibbles % 2 == 0 || fail(p, "the last byte has only one digit");
}

// ---- statements ----

static bool priority(struct parser *p, struct stf_statement *s) {
    size_t digits = strspn(p->at, "0123456789");
    if (digits == 0 || !isspace((unsigned char)p->at[digits]))
        return true;
    uint64_t v;
    s->has_priority = true;
    bool good = number(p, "the priority", SK_MAX_PRIORITY, &v);
    s->priority = good ? (int64_t)v : 0;
    return good;
}

// After the action's name "member" or "group": "(ID)", which is no list of arguments.
static bool reference(struct parser *p, struct stf_statement *s) {
    bool member = strcmp(s->action, "member") == 0;
    if ((!member && strcmp(s->action, "group") != 0) || skip_space(p) != '(')
        return false;
    const char *inside = p->at + 1;
    size_t n = strcspn(inside, ":,)");
    if (inside[n] == ':' || !inside[n] || n == strspn(inside, " \t"))
        return false;
    p->at++;
    const char *id = value(p, s->action);
    *(member ? &s->member : &s->group) = id;
    s->action = NULL;
    return true;
}

// An action with its arguments, member(ID) or group(ID), which may have the arguments that are not
// the action's, "$ENTRY_TTL".
static bool action_or_reference(struct parser *p, struct stf_statement *s) {
    return reference(p, s) ? more_arguments(p, s, true) : arguments(p, s);
}

// name, priority, keys, action, args, id; or member, group
static bool parse_add(struct parser *p, struct stf_statement *s) {
    s->name = name(p, "a table's name");
    if (!s->name)
        return false;
    skip_space(p);
    if (!priority(p, s))
        return false;
    for (;;) {
        const char *word = name(p, "an action");
        if (!word)
            return false;
        if (skip_space(p) != ':') {
            s->action = word;
            break;
        }
        if (!push_value(p, &s->keys, &s->n_keys, word))
            return false;
    }
    if (!action_or_reference(p, s))
        return false;
    if (take(p, '='))
        s->id = name(p, "the entry's id");
    return (s->id || at_end(p) || end(p)) && end(p);
}

// name, action, args
static bool parse_setdefault(struct parser *p, struct stf_statement *s) {
    s->name = name(p, "a table's name");
    s->action = s->name ? name(p, "an action") : NULL;
    return s->action && action_or_reference(p, s) && end(p);
}

static const struct stf_statement *find_id(const struct stf_script *s, const char *id) {
    for (size_t i = s->n; i-- > 0;)
        if (s->list[i].id && strcmp(s->list[i].id, id) == 0)
            return &s->list[i];
    return NULL;
}

// id
static bool parse_remove(struct parser *p, struct stf_statement *s) {
    s->id = name(p, "'all' or an entry's id");
    if (!s->id || !end(p))
        return false;
    const char *id = s->id;
    s->id = NULL; // it is the ADD that has it
    s->name = id;
    if (strcasecmp(id, "all") == 0) {
        s->kind = STF_REMOVE_ALL;
        return true;
    }
    return find_id(p->script, id) || fail(p, "no add statement above has the id '%s'", id);
}

// port, nibbles
static bool parse_packet(struct parser *p, struct stf_statement *s) {
    if (!port(p, &s->port) || !hex(p, s, false) || !even_hex(p, s))
        return false;
    return s->n_nibbles > 0 || fail(p, "the packet has no bytes");
}

// port, nibbles, exact_length
static bool parse_expect(struct parser *p, struct stf_statement *s) {
    if (!port(p, &s->port) || !hex(p, s, true))
        return false;
    return !s->exact_length || even_hex(p, s);
}

static bool parse_bare(struct parser *p, struct stf_statement *s) {
    (void)s;
    return end(p);
}

static bool operator(struct parser *p, enum stf_op *op) {
    static const struct {
        const char *text;
        enum stf_op op;
    } ops[] = {{"==", STF_EQ}, {"!=", STF_NE}, {"<=", STF_LE}, {">=", STF_GE},
               {"=", STF_EQ},  {"<", STF_LT},  {">", STF_GT}};
    skip_space(p);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        size_t n = strlen(ops[i].text);
        if (strncmp(p->at, ops[i].text, n) == 0) {
            p->at += n;
            *op = ops[i].op;
            return true;
        }
    }
    return fail(p, "a comparison is missing before '%.20s': ==, !=, <, <=, > or >=", p->at);
}

// "(INDEX)" or "INDEX"
static bool index_of(struct parser *p, struct stf_statement *s) {
    bool parenthesis = take(p, '(');
    if (!number(p, "the index", UINT64_MAX, &s->index))
        return false;
    return !parenthesis || take(p, ')') || fail(p, "')' is missing after the index");
}

// An index, and not the priority or a key of an entry?
static bool index_follows(struct parser *p) {
    if (skip_space(p) == '(')
        return true;
    const char *after = p->at + strspn(p->at, "0123456789xXabcdefABCDEF");
    if (!isdigit((unsigned char)*p->at))
        return false;
    return !strchr(after, ':');
}

static bool keyword(struct parser *p, const char *word) {
    skip_space(p);
    size_t n = strlen(word);
    if (strncasecmp(p->at, word, n) != 0 || isalnum((unsigned char)p->at[n]))
        return false;
    p->at += n;
    return true;
}

// name, index, bytes, op, number
static bool parse_check_counter(struct parser *p, struct stf_statement *s) {
    s->name = name(p, "a counter's name");
    if (!s->name)
        return false;
    if (!index_follows(p))
        return stf_parse_entry_counter(p, s);
    if (!index_of(p, s))
        return false;
    s->bytes = keyword(p, "bytes");
    if (!s->bytes)
        keyword(p, "packets");
    return operator(p, &s->op) && number(p, "the count", UINT64_MAX, &s->number) && end(p);
}

// A register's cell: by index, or by the key of the entry that a direct register belongs to.
static bool register_cell(struct parser *p, struct stf_statement *s) {
    s->name = name(p, "a register's name");
    if (!s->name)
        return false;
    if (index_follows(p) || !strchr(p->at, ':'))
        return index_of(p, s);
    return stf_parse_entry(p, s);
}

// name, index or keys, field, value
static bool parse_register_write(struct parser *p, struct stf_statement *s) {
    if (!register_cell(p, s))
        return false;
    skip_space(p);
    size_t n = name_length(p->at);
    if (p->at[n] == '=' && n > 0) {
        s->field = name(p, "a field");
        p->at++;
    }
    s->value = value(p, "the register");
    return s->value && end(p);
}

// name, index, field, op, value, number (the pipe)
static bool parse_register_read(struct parser *p, struct stf_statement *s) {
    if (!register_cell(p, s))
        return false;
    if (!strchr("=!<>", skip_space(p)) && !(s->field = name(p, "a field")))
        return false;
    if (!operator(p, &s->op))
        return false;
    s->value = value(p, "the register");
    if (!s->value)
        return false;
    return (!keyword(p, "pipe") || number(p, "the pipe", SK_PIPES - 1, &s->number)) && end(p);
}

// name
static bool parse_register_reset(struct parser *p, struct stf_statement *s) {
    s->name = name(p, "a register's name");
    return s->name && end(p);
}

static bool fields(struct parser *p, struct stf_statement *s) {
    while (!at_end(p)) {
        const char *field = name(p, "a field");
        if (!field)
            return false;
        if (skip_space(p) != ':')
            return fail(p, "':' is missing after field '%s'", field);
        if (!push_value(p, &s->keys, &s->n_keys, field))
            return false;
    }
    return true;
}

// name, keys
static bool parse_value_set(struct parser *p, struct stf_statement *s) {
    s->name = name(p, "a value set's name");
    return s->name && fields(p, s);
}

// port, and nibbles or keys
static bool parse_port_metadata(struct parser *p, struct stf_statement *s) {
    if (!port(p, &s->port))
        return false;
    if (strchr(p->at, ':'))
        return fields(p, s);
    if (!hex(p, s, false))
        return false;
    return s->n_nibbles == 16 || s->n_nibbles == 32 ||
           fail(p, "port metadata is 8 bytes, or 16 on a Tofino 2");
}

// port
static bool parse_loopback(struct parser *p, struct stf_statement *s) {
    return port(p, &s->port) && end(p);
}

// index
static bool parse_group_create(struct parser *p, struct stf_statement *s) {
    return number(p, "the group", UINT16_MAX, &s->index) && end(p);
}

// index (rid), ports
static bool parse_node_create(struct parser *p, struct stf_statement *s) {
    return number(p, "the replication id", UINT16_MAX, &s->index) && ports(p, s) && lags(p, s);
}

// index (node), ports
static bool parse_node_update(struct parser *p, struct stf_statement *s) {
    return number(p, "the node", UINT32_MAX, &s->index) && ports(p, s) && lags(p, s);
}

// index (group), number (node), has_priority: priority is the exclusion id
static bool parse_node_associate(struct parser *p, struct stf_statement *s) {
    uint64_t xid = 0;
    if (!number(p, "the group", UINT16_MAX, &s->index) ||
        !number(p, "the node", UINT32_MAX, &s->number))
        return false;
    s->has_priority = !at_end(p);
    if (s->has_priority && !number(p, "the exclusion id", UINT16_MAX, &xid))
        return false;
    s->priority = (int64_t)xid;
    return end(p);
}

// index (exclusion id), ports
static bool parse_prune(struct parser *p, struct stf_statement *s) {
    return number(p, "the exclusion id", 287, &s->index) && ports(p, s) && end(p);
}

// words
static bool parse_words(struct parser *p, struct stf_statement *s) {
    s->words = keep(p->script, (strlen(p->at) + 1) * sizeof *s->words);
    while (!at_end(p)) {
        size_t n = strcspn(p->at, " \t\r\v\f");
        s->words[s->n_words++] = keep_text(p->script, p->at, n);
        p->at += n;
    }
    return true;
}

// ---- for the statements in other files ----

bool stf_fail(struct parser *p, const char *format, ...) {
    char text[256];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    return fail(p, "%s", text);
}

const char *stf_name(struct parser *p, const char *what) {
    return name(p, what);
}

const char *stf_value(struct parser *p, const char *what) {
    return value(p, what);
}

bool stf_number(struct parser *p, const char *what, uint64_t max, uint64_t *out) {
    return number(p, what, max, out);
}

bool stf_keyword(struct parser *p, const char *word) {
    return keyword(p, word);
}

bool stf_take(struct parser *p, char c) {
    return take(p, c);
}

bool stf_end(struct parser *p) {
    return end(p);
}

bool stf_at_end(struct parser *p) {
    return at_end(p);
}

bool stf_operator(struct parser *p, enum stf_op *op) {
    return operator(p, op);
}

const char *stf_rest(struct parser *p) {
    skip_space(p);
    return p->at;
}

bool stf_push_value(struct parser *p, struct sk_named_value **list, size_t *n, const char *field) {
    return push_value(p, list, n, field);
}

bool stf_arguments(struct parser *p, struct stf_statement *s) {
    return arguments(p, s);
}

void *stf_keep(struct parser *p, size_t size) {
    return keep(p->script, size);
}

bool stf_priority(struct parser *p, struct stf_statement *s) {
    skip_space(p);
    return priority(p, s);
}

static const struct {
    const char *word;
    enum stf_kind kind;
    bool (*parse)(struct parser *p, struct stf_statement *s);
} statements[] = {
    {"add", STF_ADD, parse_add},
    {"setdefault", STF_SETDEFAULT, parse_setdefault},
    {"remove", STF_REMOVE, parse_remove},
    {"packet", STF_PACKET, parse_packet},
    {"expect", STF_EXPECT, parse_expect},
    {"no_packet", STF_NO_PACKET, parse_bare},
    {"wait", STF_WAIT, parse_bare},
    {"check_counter", STF_CHECK_COUNTER, parse_check_counter},
    {"register_write", STF_REGISTER_WRITE, parse_register_write},
    {"register_read", STF_REGISTER_READ, parse_register_read},
    {"register_reset", STF_REGISTER_RESET, parse_register_reset},
    {"value_set", STF_VALUE_SET, parse_value_set},
    {"port_metadata", STF_PORT_METADATA, parse_port_metadata},
    {"loopback", STF_LOOPBACK, parse_loopback},
    {"mc_mgrp_create", STF_GROUP_CREATE, parse_group_create},
    {"mc_node_create", STF_NODE_CREATE, parse_node_create},
    {"mc_node_update", STF_NODE_UPDATE, parse_node_update},
    {"mc_node_associate", STF_NODE_ASSOCIATE, parse_node_associate},
    {"mc_prune", STF_PRUNE, parse_prune},
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
    {"no_idle", STF_NO_IDLE, parse_bare},
    {"update_hit_state", STF_UPDATE_HIT_STATE, stf_parse_object},
    {"member", STF_MEMBER, stf_parse_member},
    {"member_remove", STF_MEMBER_REMOVE, stf_parse_member},
    {"group", STF_GROUP, stf_parse_group},
    {"group_remove", STF_GROUP_REMOVE, stf_parse_group},
    {"get_member", STF_GET_MEMBER, stf_parse_get_member},
    {"value_set_remove", STF_VALUE_SET_REMOVE, parse_value_set},
    {"value_set_clear", STF_VALUE_SET_CLEAR, parse_register_reset},
    {"table_clear", STF_TABLE_CLEAR, parse_register_reset},
};

static void push(struct parser *p, const struct stf_statement *s) {
    struct stf_script *script = p->script;
    if (script->n == p->room) {
        p->room = p->room ? 2 * p->room : 64;
        script->list = realloc(script->list, p->room * sizeof *script->list);
        if (!script->list)
            abort();
    }
    script->list[script->n++] = *s;
}

static void parse_statement(struct parser *p, const char *line) {
    p->at = line;
    if (at_end(p))
        return;
    bool refused = keyword(p, "refused");
    skip_space(p);
    size_t n = strcspn(p->at, " \t\r\v\f");
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        if (strlen(statements[i].word) != n || strncasecmp(p->at, statements[i].word, n) != 0)
            continue;
        struct stf_statement s = {.kind = statements[i].kind, .line = p->line, .refused = refused};
        p->at += n;
        if (statements[i].parse(p, &s))
            push(p, &s);
        return;
    }
    const char *word = stf_tm_keyword(p->at, n);
    if (word) {
        struct stf_statement s = {.kind = STF_TM, .line = p->line, .name = word};
        p->at += n;
        if (parse_words(p, &s))
            push(p, &s);
        return;
    }
    fail(p, "there is no statement '%.*s'", (int)(n < 40 ? n : 40), p->at);
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
    char *logical = keep(p->script, strlen(text) + 1); // a statement over several lines, joined
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
        s->list[i].target = find_id(s, s->list[i].name);
    }
    s->n = n;
}

struct stf_script *stf_parse(const char *name, const char *text, size_t length, FILE *messages) {
    struct stf_script *script = calloc(1, sizeof *script);
    if (!script)
        abort();
    script->name = keep_text(script, name, strlen(name));
    struct parser p = {.script = script, .line = 1, .messages = messages};
    char *copy = keep(script, length);
    memcpy(copy, text, length);
    if (memchr(text, 0, length))
        fail(&p, "this is no text: it has a zero byte");
    else
        parse_lines(&p, copy);
    if (p.errors == 0 && script->n == 0)
        fail(&p, "there is no statement in this script");
    if (p.errors > MAX_ERRORS)
        fprintf(messages, "%s: %u errors more\n", name, p.errors - MAX_ERRORS);
    if (p.errors > 0) {
        stf_free(script);
        return NULL;
    }
    link_removes(script);
    return script;
}
