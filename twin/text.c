// SPDX-License-Identifier: Apache-2.0
//
// text: a dump's text before JSON's parser sees it, and values as text.
//
// bfrt_python's dump() prints "-----" lines and returns the JSON; a shell that shows what it
// returned puts it into quotes, as Python writes a text, after "Out[N]: ". Python's numbers have
// any size, and JSON's parser takes 64 bits, so long ones become strings here.
#include <ctype.h>
#include <float.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "twin/items.h"

#define TEXT_DIGITS 18u   // that always fit 63 bits
#define TEXT_MOST   4096u // of a number; a longer one is the parser's error

struct text {
    const char *at, *end;
    char *out;
    size_t n, room;
    unsigned depth, values; // brackets that are open; values at depth 0
    bool quoted;            // within Python's quotes
};

static void clean_put(struct text *t, char c) {
    t->out = sk_grow_bytes(t->out, t->n, 1, &t->room);
    t->out[t->n++] = c;
}

static bool clean_begins(const struct text *t, const char *with) {
    const size_t n = strlen(with);
    return (size_t)(t->end - t->at) >= n && memcmp(t->at, with, n) == 0;
}

// What a shell prints, at the beginning of a line outside of values.
static void clean_skip_shell(struct text *t) {
    const bool line = clean_begins(t, "-----") || clean_begins(t, "In [");
    while (line && t->at < t->end && *t->at != '\n')
        t->at++;
    if (clean_begins(t, "Out[")) {
        const char *p = t->at + 4;
        while (p < t->end && isdigit((unsigned char)*p))
            p++;
        if (t->end - p >= 2 && p[0] == ']' && p[1] == ':')
            t->at = p + 2;
    }
}

// The next character, out of Python's quotes; false at their end, which is taken.
static bool clean_next(struct text *t, char *c) {
    if (t->quoted && *t->at == '\'') {
        t->at++;
        t->quoted = false;
        return false;
    }
    if (t->quoted && *t->at == '\\' && t->end - t->at > 1 && (t->at[1] == '\\' || t->at[1] == '\''))
        t->at++;
    *c = *t->at++;
    return true;
}

static void clean_string(struct text *t) {
    char c;
    clean_put(t, '"');
    while (t->at < t->end && clean_next(t, &c)) {
        clean_put(t, c);
        if (c == '"')
            return;
        if (c == '\\' && t->at < t->end && clean_next(t, &c))
            clean_put(t, c);
    }
}

static void clean_number(struct text *t, char first) {
    const char *p = t->at;
    while (p < t->end && isdigit((unsigned char)*p))
        p++;
    const size_t digits = (size_t)(p - t->at) + (first != '-');
    const bool real = p < t->end && (*p == '.' || *p == 'e' || *p == 'E');
    const bool large = digits > TEXT_DIGITS && digits <= TEXT_MOST && !real &&
                       (first == '-' ? *t->at : first) != '0';
    if (large)
        clean_put(t, '"');
    clean_put(t, first);
    while (t->at < p)
        clean_put(t, *t->at++);
    if (large)
        clean_put(t, '"');
    while (!large && t->at < t->end && (isalnum((unsigned char)*t->at) || strchr(".+-", *t->at)))
        clean_put(t, *t->at++);
}

// A value begins or ends, or is within one.
static void clean_value(struct text *t, char c) {
    if (t->depth == 0 && !isspace((unsigned char)c) && t->values++ > 0)
        clean_put(t, ',');
    if (c == '"') {
        clean_string(t);
    } else if (isdigit((unsigned char)c) || c == '-') {
        clean_number(t, c);
    } else {
        t->depth += c == '[' || c == '{';
        t->depth -= (c == ']' || c == '}') && t->depth > 0;
        clean_put(t, c);
    }
}

char *twin_text_clean(const char *text, size_t length, size_t *clean) {
    text = length ? text : ""; // null when there is nothing
    struct text t = {.at = text, .end = text + length};
    bool begins = true; // a line
    clean_put(&t, '[');
    while (t.at < t.end) {
        char c;
        if (begins && t.depth == 0 && !t.quoted)
            clean_skip_shell(&t);
        begins = false;
        if (t.at == t.end || !clean_next(&t, &c))
            continue;
        begins = c == '\n';
        if (c == '\'' && t.depth == 0 && !t.quoted)
            t.quoted = true;
        else if (isspace((unsigned char)c) && c)
            clean_put(&t, c);
        else
            clean_value(&t, c);
    }
    clean_put(&t, ']');
    *clean = t.n;
    clean_put(&t, 0);
    return t.out;
}

// ---- values as text ----

static void clean_of(FILE *out, const json_t *value);

static int clean_by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// In the order of their names, whichever way they were written.
static void clean_of_object(FILE *out, const json_t *value) {
    const char *key;
    json_t *member;
    size_t n = 0;
    const char **names = calloc(json_object_size(value) + 1, sizeof *names);
    if (!names)
        abort();
    json_object_foreach((json_t *)value, key, member) {
        names[n++] = key;
    }
    qsort(names, n, sizeof *names, clean_by_name);
    fputc('{', out);
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "%s%s=", i ? ", " : "", names[i]);
        clean_of(out, json_object_get(value, names[i]));
    }
    fputc('}', out);
    free(names);
}

// Control characters would change what a terminal shows.
static void clean_of_string(FILE *out, const json_t *value) {
    const unsigned char *s = (const unsigned char *)json_string_value(value);
    for (size_t i = 0; i < json_string_length(value); i++)
        fputc(s[i] < ' ' || s[i] == 0x7f ? '?' : s[i], out);
}

// On the wire they have 32 bits.
static void clean_of_real(FILE *out, double value) {
    const bool fits = value >= -(double)FLT_MAX && value <= (double)FLT_MAX;
    fprintf(out, "%.9g", fits ? (double)(float)value : value);
}

static void clean_of(FILE *out, const json_t *value) {
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        clean_of_object(out, value);
        break;
    case JSON_ARRAY:
        fputc('[', out);
        for (size_t i = 0; i < json_array_size(value); i++) {
            fputs(i ? ", " : "", out);
            clean_of(out, json_array_get(value, i));
        }
        fputc(']', out);
        break;
    case JSON_STRING:
        clean_of_string(out, value);
        break;
    case JSON_INTEGER:
        fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        break;
    case JSON_REAL:
        clean_of_real(out, json_real_value(value));
        break;
    default:
        fputs(json_is_true(value) ? "true" : json_is_false(value) ? "false" : "none", out);
    }
}

char *twin_text_of(const json_t *value) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        abort();
    clean_of(out, value);
    if (fclose(out))
        abort();
    return text;
}
