// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- memory ----

struct sk_json_block {
    struct sk_json_block *next;
};

const char *sk_json_why(const json_error_t *error) {
    switch (json_error_code(error)) {
    case json_error_null_character:
    case json_error_null_byte_in_key:
        return "a string has no zero byte (\\u0000)";
    default:
        return error->text;
    }
}

json_t *sk_json_parse(const char *name, const char *text, size_t length, struct sk_error *err) {
    json_error_t where;
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { // some editors write one
        sk_fail(err, "%s:1:1: JSON must not start with a byte order mark: save it without one",
                name);
        return NULL;
    }
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &where);
    if (!root)
        sk_fail(err, "%s:%d:%d: %s", name, where.line > 0 ? where.line : 1,
                where.column > 0 ? where.column : 1, sk_json_why(&where));
    return root;
}

void *sk_json_keep(struct sk_json *doc, size_t size) {
    struct sk_json_block *block = calloc(1, sizeof *block + size + 1);
    if (!block)
        abort(); // a configuration that does not fit in memory
    block->next = doc->blocks;
    doc->blocks = block;
    return block + 1;
}

void sk_json_release(struct sk_json *doc) {
    for (struct sk_json_block *b = doc->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    doc->blocks = NULL;
}

// ---- the line of a place: a second walk over text that is known to be JSON ----

struct scan {
    const char *at, *end;
};

static void skip_space(struct scan *s) {
    while (s->at < s->end && isspace((unsigned char)*s->at))
        s->at++;
}

static void skip_string(struct scan *s) {
    for (s->at++; s->at < s->end && *s->at != '"'; s->at++)
        s->at += *s->at == '\\';
    s->at++;
}

static void skip_value(struct scan *s) {
    int depth = 0;
    do {
        skip_space(s);
        if (s->at >= s->end)
            return;
        if (*s->at == '"') {
            skip_string(s);
            continue;
        }
        depth += *s->at == '{' || *s->at == '[';
        depth -= *s->at == '}' || *s->at == ']';
        if (strchr("{}[],:", *s->at))
            s->at++;
        else
            while (s->at < s->end && !isspace((unsigned char)*s->at) && !strchr("{}[],:", *s->at))
                s->at++;
    } while (depth > 0);
}

// From the start of a container to its member or item. False when it is not found, which leaves the
// scan at the container's end.
static bool json_enter(struct scan *s, const char *key, size_t index) {
    skip_space(s);
    s->at++; // the bracket
    for (size_t i = 0;; i++) {
        skip_space(s);
        if (s->at >= s->end || *s->at == '}' || *s->at == ']')
            return false;
        const char *name = s->at + 1;
        if (key) {
            skip_string(s);
            size_t length = (size_t)(s->at - name) - 1;
            skip_space(s);
            s->at++; // the colon
            skip_space(s);
            if (length == strlen(key) && memcmp(name, key, length) == 0)
                return true;
        } else if (i == index) {
            return true;
        }
        skip_value(s);
        skip_space(s);
        s->at += s->at < s->end && *s->at == ',';
    }
}

static void locate(struct scan *s, const struct sk_at *at) {
    if (!at->parent) {
        skip_space(s);
        return;
    }
    locate(s, at->parent);
    struct scan container = *s;
    if (!json_enter(s, at->key, at->index))
        *s = container; // a missing member: the line where it could be
}

static unsigned json_line_of(const struct sk_at *at) {
    struct scan s = {at->doc->text, at->doc->text + at->doc->length};
    locate(&s, at);
    unsigned line = 1;
    for (const char *c = at->doc->text; c < s.at && c < s.end; c++)
        line += *c == '\n';
    return line;
}

static size_t json_put_path(const struct sk_at *at, char *out, size_t size) {
    if (!at->parent)
        return 0;
    size_t used = json_put_path(at->parent, out, size);
    if (used >= size)
        return used;
    int n = at->key ? snprintf(out + used, size - used, "%s%s", used ? "." : "", at->key)
                    : snprintf(out + used, size - used, "[%zu]", at->index);
    return used + (size_t)n;
}

void sk_at_place(const struct sk_at *at, char *out, size_t size) {
    int used = 0;
    if (at->doc->text)
        used = snprintf(out, size, "%s:%u: ", at->doc->name, json_line_of(at));
    if ((size_t)used >= size)
        return;
    if (json_put_path(at, out + used, size - (size_t)used) == 0)
        snprintf(out + used, size - (size_t)used, "the whole");
}

void sk_at_fail(const struct sk_at *at, const char *format, ...) {
    if (at->doc->failed)
        return;
    char place[192], what[256];
    va_list ap;
    va_start(ap, format);
    vsnprintf(what, sizeof what, format, ap);
    va_end(ap);
    at->doc->failed = true;
    if (!at->parent && !at->doc->text) { // a request as a whole needs no place
        sk_fail(at->doc->err, "%s", what);
        return;
    }
    sk_at_place(at, place, sizeof place);
    sk_fail(at->doc->err, "%s: %s", place, what);
}

// ---- reading ----

static const char *json_type_name(const json_t *v) {
    static const char *const names[] = {
        "an object", "an array", "a string", "a number", "a number with a fraction",
        "true",      "false",    "null"};
    return names[json_typeof(v)];
}

// False, with an error, when the value is there and not of this type.
static bool json_is_type(const struct sk_at *at, json_type type, bool must, const char *wanted) {
    if (!at->value) {
        if (must)
            sk_at_fail(at, "it is missing");
        return false;
    }
    if (json_typeof(at->value) == type)
        return true;
    sk_at_fail(at, "it must be %s, not %s", wanted, json_type_name(at->value));
    return false;
}

void sk_at_keys(const struct sk_at *at, const char *const *keys) {
    if (!json_is_type(at, JSON_OBJECT, false, "an object"))
        return;
    const char *key;
    json_t *value;
    json_object_foreach(at->value, key, value) {
        const char *const *k = keys;
        while (*k && strcmp(*k, key) != 0)
            k++;
        if (*k)
            continue;
        struct sk_at place = sk_at_member(at, key);
        char known[160] = "";
        for (k = keys; *k; k++)
            snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s",
                     k == keys ? "" : ", ", *k);
        sk_at_fail(&place, "unknown key; the keys are: %s", known);
    }
}

struct sk_at sk_at_member(const struct sk_at *at, const char *key) {
    json_t *value = json_is_object(at->value) ? json_object_get(at->value, key) : NULL;
    return (struct sk_at){at->doc, value, at, key, 0};
}

struct sk_at sk_at_item(const struct sk_at *at, size_t index) {
    return (struct sk_at){at->doc, json_array_get(at->value, index), at, NULL, index};
}

size_t sk_at_length(const struct sk_at *at) {
    return json_is_type(at, JSON_ARRAY, false, "an array") ? json_array_size(at->value) : 0;
}

// Of UTF-8 text: the first character that controls a terminal or the direction of what is around
// it, or ends a line; 0 when the text has no such
// character. Printed, such a character can change or hide the text around it.
static uint32_t json_control_character(const char *text) {
    const unsigned char *s = (const unsigned char *)text;
    for (; *s; s++) {
        if (*s < 0x20 || *s == 0x7f)
            return *s;
        if (s[0] == 0xc2 && s[1] < 0xa0)
            return s[1];
        if (s[0] != 0xe2 || (s[1] != 0x80 && s[1] != 0x81))
            continue;
        const uint32_t c = 0x2000u + (uint32_t)(s[1] & 0x3f) * 64u + (s[2] & 0x3fu);
        if ((c >= 0x200e && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
            (c >= 0x2066 && c <= 0x2069))
            return c;
    }
    return 0;
}

const char *sk_at_string(const struct sk_at *at, bool must) {
    if (!json_is_type(at, JSON_STRING, must, "a string"))
        return must ? "" : NULL;
    const char *s = json_string_value(at->value);
    if (strlen(s) != json_string_length(at->value) || (must && *s == 0))
        sk_at_fail(at, *s ? "it contains a zero byte" : "it is empty");
    const uint32_t control = json_control_character(s);
    if (control)
        sk_at_fail(at, "it contains the control character U+%04X", (unsigned)control);
    return s;
}

uint64_t sk_at_between(const struct sk_at *at, bool must, uint64_t min, uint64_t max) {
    if (!json_is_type(at, JSON_INTEGER, must, "a whole number"))
        return 0;
    json_int_t v = json_integer_value(at->value);
    if (v < 0 || (uint64_t)v < min || (uint64_t)v > max) {
        sk_at_fail(at, "it is %lld; it must be %llu to %llu", (long long)v, (unsigned long long)min,
                   (unsigned long long)max);
        return 0;
    }
    return (uint64_t)v;
}

uint64_t sk_at_number(const struct sk_at *at, bool must, uint64_t max) {
    return sk_at_between(at, must, 0, max);
}

double sk_at_fraction(const struct sk_at *at) {
    if (!at->value)
        return 0;
    double v = json_number_value(at->value);
    if (!json_is_number(at->value) || !(v >= 0 && v <= 1)) {
        sk_at_fail(at, "it must be a number from 0 to 1");
        return 0;
    }
    return v;
}

const char *sk_at_text(const struct sk_at *at) {
    if (json_is_integer(at->value)) {
        char *text = sk_json_keep(at->doc, 32);
        snprintf(text, 32, "%lld", (long long)json_integer_value(at->value));
        return text;
    }
    if (json_is_boolean(at->value))
        return json_is_true(at->value) ? "true" : "false";
    if (json_is_real(at->value)) {
        sk_at_fail(at, "it must be a whole number or a string");
        return "";
    }
    return json_is_type(at, JSON_STRING, true, "a number or a string") ? sk_at_string(at, true)
                                                                       : "";
}

const char *const *sk_at_strings(const struct sk_at *at, size_t *n) {
    *n = sk_at_length(at);
    const char **list = sk_json_keep(at->doc, *n * sizeof *list);
    for (size_t i = 0; i < *n; i++) {
        struct sk_at item = sk_at_item(at, i);
        list[i] = sk_at_string(&item, true);
    }
    return list;
}
