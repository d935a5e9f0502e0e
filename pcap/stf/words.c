// SPDX-License-Identifier: Apache-2.0
#include "pcap/stf/parse_impl.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

char stf_skip_space(struct parser *p) {
    while (isspace((unsigned char)*p->at))
        p->at++;
    return *p->at;
}

bool stf_at_end(struct parser *p) {
    return stf_skip_space(p) == 0;
}

bool stf_end(struct parser *p) {
    return stf_at_end(p) || stf_fail(p, "the statement should end before '%.20s'", p->at);
}

bool stf_take(struct parser *p, char c) {
    if (stf_skip_space(p) != c)
        return false;
    p->at++;
    return true;
}

size_t stf_name_length(const char *s) {
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
const char *stf_name(struct parser *p, const char *what) {
    bool quoted = stf_skip_space(p) == '"';
    const char *start = p->at + quoted;
    size_t n = quoted ? strcspn(start, "\"") : stf_name_length(start);
    if (n == 0 || (quoted && start[n] != '"')) {
        stf_fail(p, stf_at_end(p) ? "%s is missing" : "%s is missing before '%.20s'", what, p->at);
        return NULL;
    }
    p->at = start + n + quoted;
    return stf_keep_text(p, start, n);
}

// How far a value goes on behind p->at when its mask or the end of its range stands apart, "0x40 &&&
// 0xf0", "1 .. 4"; 0: it does not.
static size_t operator_length(const struct parser *p) {
    static const char spaces[] = " \t\r\v\f";
    size_t space = strspn(p->at, spaces), n = 0;
    const char *op = p->at + space;
    if (strncmp(op, "&&&", 3) == 0)
        n = 3;
    else if (strncmp(op, "..", 2) == 0)
        n = 2;
    bool open = p->at[-1] == '&' || (p->at[-1] == '.' && p->at[-2] == '.');
    if (n == 0 && !open)
        return 0;
    const char *rest = op + n + strspn(op + n, spaces);
    size_t word = strcspn(rest, " \t\r\v\f,)");
    return word > 0 ? (size_t)(rest - p->at) + word : 0;
}

static const char *keep_without_space(struct parser *p, const char *start, size_t n) {
    char *text = stf_keep(p, n + 1), *to = text; // ends with 0
    for (size_t i = 0; i < n; i++)
        if (!isspace((unsigned char)start[i]))
            *to++ = start[i];
    return text;
}

const char *stf_value(struct parser *p, const char *what) {
    stf_skip_space(p);
    size_t n = strcspn(p->at, " \t\r\v\f,)");
    if (n == 0) {
        stf_fail(p, "a value is missing for %s", what);
        return NULL;
    }
    const char *start = p->at;
    size_t more;
    p->at += n;
    while ((more = operator_length(p)) > 0)
        p->at += more;
    return keep_without_space(p, start, (size_t)(p->at - start));
}

bool stf_number(struct parser *p, const char *what, uint64_t max, uint64_t *out) {
    stf_skip_space(p);
    char *after;
    bool hex = p->at[0] == '0' && (p->at[1] == 'x' || p->at[1] == 'X');
    unsigned long long v =
        isdigit((unsigned char)*p->at) ? strtoull(p->at, &after, hex ? 16 : 10) : 0;
    if (!isdigit((unsigned char)*p->at) || isalnum((unsigned char)*after))
        return stf_fail(p, "%s must be a number, not '%.20s'", what, p->at);
    if (v > max)
        return stf_fail(p, "%s is %llu; it must be at most %llu", what, v, (unsigned long long)max);
    p->at = after;
    *out = v;
    return true;
}

bool stf_port(struct parser *p, uint16_t *out) {
    uint64_t v;
    if (!stf_number(p, "the port", SK_PORTS - 1, &v))
        return false;
    *out = (uint16_t)v;
    return true;
}

// ---- lists ----

bool stf_push_value(struct parser *p, struct sk_named_value **list, size_t *n, const char *field) {
    const char *text = field && stf_take(p, ':') ? stf_value(p, field) : NULL;
    if (!text)
        return false;
    struct sk_named_value *grown = stf_keep(p, (*n + 1) * sizeof *grown);
    if (*n > 0)
        memcpy(grown, *list, *n * sizeof *grown);
    grown[*n] = (struct sk_named_value){field, text};
    *list = grown;
    (*n)++;
    return true;
}

// "ARG:VALUE, ...)"; 'comma': something stands before it already.
bool stf_more_arguments(struct parser *p, struct stf_statement *s, bool comma) {
    const char *what = s->action ? s->action : s->member ? "member" : "group";
    while (!stf_take(p, ')')) {
        if ((comma || s->n_args > 0) && !stf_take(p, ','))
            return stf_fail(p, "',' or ')' is missing in the arguments of '%s'", what);
        const char *arg = stf_name(p, "an argument's name");
        if (!arg)
            return false;
        if (stf_skip_space(p) != ':')
            return stf_fail(p, "':' is missing after argument '%s' of '%s'", arg, what);
        if (!stf_push_value(p, &s->args, &s->n_args, arg))
            return false;
    }
    return true;
}

// After the action's name: "(ARG:VALUE, ...)", which may be left out.
bool stf_arguments(struct parser *p, struct stf_statement *s) {
    return !stf_take(p, '(') || stf_more_arguments(p, s, false);
}

bool stf_ports(struct parser *p, struct stf_statement *s) {
    s->ports = stf_keep(p, strlen(p->at) * sizeof *s->ports);
    while (!stf_at_end(p) && *p->at != '|')
        if (!stf_port(p, &s->ports[s->n_ports++]))
            return false;
    return s->n_ports > 0 || *p->at == '|' || stf_fail(p, "a port is missing");
}

// After a node's ports: "| LAG ...", which may be left out.
bool stf_lags(struct parser *p, struct stf_statement *s) {
    uint64_t v;
    if (!stf_take(p, '|'))
        return stf_end(p);
    s->lags = stf_keep(p, strlen(p->at) + 1);
    while (!stf_at_end(p)) {
        if (!stf_number(p, "the LAG", SK_PRE_LAGS - 1, &v))
            return false;
        s->lags[s->n_lags++] = (uint8_t)v;
    }
    return s->n_lags > 0 || stf_fail(p, "a LAG is missing");
}

bool stf_hex(struct parser *p, struct stf_statement *s, bool expectation) {
    s->nibbles = stf_keep(p, strlen(p->at));
    while (!stf_at_end(p)) {
        char c = *p->at++;
        if (expectation && c == '$') {
            s->exact_length = true;
            return stf_end(p);
        }
        const char *digits = "0123456789abcdef";
        const char *digit = strchr(digits, tolower((unsigned char)c));
        if (!digit && !(expectation && c == '*'))
            return stf_fail(p, "'%c' is not a hexadecimal digit%s", c,
                            c == '*' ? "; only 'expect' takes don't-care digits" : "");
        s->nibbles[s->n_nibbles++] = digit ? (uint8_t)(digit - digits) : STF_ANY_NIBBLE;
    }
    return true;
}

bool stf_even_hex(struct parser *p, struct stf_statement *s) {
    return s->n_nibbles % 2 == 0 || stf_fail(p, "the last byte has only one digit");
}

bool stf_operator(struct parser *p, enum stf_op *op) {
    static const struct {
        const char *text;
        enum stf_op op;
    } ops[] = {{"==", STF_EQ}, {"!=", STF_NE}, {"<=", STF_LE}, {">=", STF_GE},
               {"=", STF_EQ},  {"<", STF_LT},  {">", STF_GT}};
    stf_skip_space(p);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        size_t n = strlen(ops[i].text);
        if (strncmp(p->at, ops[i].text, n) == 0) {
            p->at += n;
            *op = ops[i].op;
            return true;
        }
    }
    return stf_fail(p, "a comparison is missing before '%.20s': ==, !=, <, <=, > or >=", p->at);
}

// "(INDEX)" or "INDEX"
bool stf_index_of(struct parser *p, struct stf_statement *s) {
    bool parenthesis = stf_take(p, '(');
    if (!stf_number(p, "the index", UINT64_MAX, &s->index))
        return false;
    return !parenthesis || stf_take(p, ')') || stf_fail(p, "')' is missing after the index");
}

// An index, and not the priority or a key of an entry?
bool stf_index_follows(struct parser *p) {
    if (stf_skip_space(p) == '(')
        return true;
    const char *after = p->at + strspn(p->at, "0123456789xXabcdefABCDEF");
    if (!isdigit((unsigned char)*p->at))
        return false;
    return !strchr(after, ':');
}

bool stf_keyword(struct parser *p, const char *word) {
    stf_skip_space(p);
    size_t n = strlen(word);
    if (strncasecmp(p->at, word, n) != 0 || isalnum((unsigned char)p->at[n]))
        return false;
    p->at += n;
    return true;
}

bool stf_priority(struct parser *p, struct stf_statement *s) {
    stf_skip_space(p);
    size_t digits = strspn(p->at, "0123456789");
    if (digits == 0 || !isspace((unsigned char)p->at[digits]))
        return true;
    uint64_t v;
    s->has_priority = true;
    bool good = stf_number(p, "the priority", SK_MAX_PRIORITY, &v);
    s->priority = good ? (int64_t)v : 0;
    return good;
}

const char *stf_rest(struct parser *p) {
    stf_skip_space(p);
    return p->at;
}
