// SPDX-License-Identifier: Apache-2.0
//
// json: reading a JSON document against what it should look like.
//
// A cursor knows the value it stands on and the way there, so that an error can say where: the path
// ("entries[3].key.dst_addr") and the line, which is found by walking the text again. The first
// error is kept, later ones are ignored, and reading functions return something harmless after one:
// a reader checks once, at the end.
#ifndef SILKEN_BASE_JSON_H
#define SILKEN_BASE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct sk_json {
    const char *name, *text; // of the document; text null: no lines
    size_t length;
    struct sk_error *err;
    bool failed;
    struct sk_json_block *blocks; // memory that lives as long as the document
};

struct sk_at {
    struct sk_json *doc;
    json_t *value; // null: not there
    const struct sk_at *parent;
    const char *key; // in the parent, or null: 'index'
    size_t index;
};

// Parses a text, in which no key of an object is there twice. Null after an error with its place.
json_t *sk_json_parse(const char *name, const char *text, size_t length, struct sk_error *err);

// What is wrong with a text, valid as long as the error.
const char *sk_json_why(const json_error_t *error);

void *sk_json_keep(struct sk_json *doc, size_t size); // zeroed
void sk_json_release(struct sk_json *doc);

// Fails the document at this place, unless it has failed before.
void sk_at_fail(const struct sk_at *at, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// Writes path and line ("f.json:12: entries[3]") for messages of others.
void sk_at_place(const struct sk_at *at, char *out, size_t size);

// An object that has no other keys than these (a null ends the list). A value that is not there is
// left alone.
void sk_at_keys(const struct sk_at *at, const char *const *keys);
struct sk_at sk_at_member(const struct sk_at *at, const char *key);
struct sk_at sk_at_item(const struct sk_at *at, size_t index);
// Length of an array; 0 when it is not there.
size_t sk_at_length(const struct sk_at *at);

// 'must': an error when it is not there; else null or 0. A string with a zero byte or a control
// character (of a terminal, an end of a line, a direction of writing) is an error.
const char *sk_at_string(const struct sk_at *at, bool must);
uint64_t sk_at_number(const struct sk_at *at, bool must, uint64_t max);
uint64_t sk_at_between(const struct sk_at *at, bool must, uint64_t min, uint64_t max);
double sk_at_fraction(const struct sk_at *at);  // 0 to 1
const char *sk_at_text(const struct sk_at *at); // number, bool or string, as text
const char *const *sk_at_strings(const struct sk_at *at, size_t *n); // array of strings

// ---- what an object has under a key, of replies that are printed: "", 0 and false when it has
// none of that kind ----
static inline const char *sk_json_text(const json_t *object, const char *key) {
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}
static inline long long sk_json_number(const json_t *object, const char *key) {
    return json_integer_value(json_object_get(object, key));
}
static inline bool sk_json_is(const json_t *object, const char *key) {
    return json_is_true(json_object_get(object, key));
}

#endif
