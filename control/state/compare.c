// SPDX-License-Identifier: Apache-2.0
//
// compare: a switch's state against that of a file.
//
// An item is said by its identity: the members by which state.h says it, in the spelling that the
// walk writes. Both sides' identities as text are the key of an index; what else an item has are
// its facts.
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/memory.h"
#include "control/state/expect.h"

struct expectation {
    enum state_section section;
    json_t *item, *identity; // the first belongs to the document
    bool seen;
};

struct sk_expected_state {
    struct sk_json doc;
    char *name;
    json_t *root;
    json_t *index; // identity, as text -> place in the list
    bool given[STATE_SECTIONS];
    struct expectation *list;
    size_t n, room;
};

// ---- reading ------------------------------------------------------------------------------------

static char *identity_text(enum state_section s, const json_t *identity) {
    char *members = json_dumps(identity, JSON_COMPACT | JSON_SORT_KEYS), *text;
    if (!members || asprintf(&text, "%s%s", state_section_name(s), members) < 0)
        abort();
    free(members);
    return text;
}

static void state_compare_add(struct sk_expected_state *e, enum state_section s,
                              const struct sk_at *at, json_t *identity) {
    e->list = sk_grow(e->list, e->n, &e->room, sizeof *e->list);
    char *text = identity_text(s, identity);
    if (json_object_get(e->index, text))
        sk_at_fail(at, "it is listed twice");
    json_object_set_new(e->index, text, json_integer((json_int_t)e->n));
    e->list[e->n++] = (struct expectation){.section = s, .item = at->value, .identity = identity};
    free(text);
}

static void read_section(struct sk_expected_state *e, enum state_section s, const struct sk_at *at,
                         struct sk_switch *sw) {
    e->given[s] = at->value;
    size_t n = sk_at_length(at);
    for (size_t i = 0; i < n && !e->doc.failed; i++) {
        struct sk_at item = sk_at_item(at, i);
        json_t *identity = state_identity(&item, s, sw);
        if (identity)
            state_compare_add(e, s, &item, identity);
    }
}

static void state_compare_read_root(struct sk_expected_state *e, const struct sk_at *root,
                                    struct sk_switch *sw) {
    const char *keys[STATE_SECTIONS + 2] = {"silken_state"};
    if (!json_is_object(root->value))
        sk_at_fail(root, "a state must be a JSON object");
    for (int s = 0; s < STATE_SECTIONS; s++)
        keys[s + 1] = state_section_name((enum state_section)s);
    sk_at_keys(root, keys);
    struct sk_at version = sk_at_member(root, "silken_state");
    if (sk_at_number(&version, true, INT64_MAX) != 1)
        sk_at_fail(&version, "it must be 1");
    for (int s = 0; s < STATE_SECTIONS && !e->doc.failed; s++) {
        struct sk_at at = sk_at_member(root, state_section_name((enum state_section)s));
        read_section(e, (enum state_section)s, &at, sw);
    }
}

struct sk_expected_state *sk_expected_state_parse(const char *name, const char *text, size_t length,
                                                  struct sk_switch *sw, struct sk_error *err) {
    json_t *root = sk_json_parse(name, text, length, err);
    if (!root)
        return NULL;
    struct sk_expected_state *e = calloc(1, sizeof *e);
    if (!e || !(e->name = strdup(name)) || !(e->index = json_object()))
        abort();
    e->root = root;
    e->doc = (struct sk_json){.name = e->name, .text = text, .length = length, .err = err};
    state_compare_read_root(e, &(struct sk_at){.doc = &e->doc, .value = root}, sw);
    if (!e->doc.failed)
        return e;
    sk_expected_state_free(e);
    return NULL;
}

void sk_expected_state_free(struct sk_expected_state *e) {
    if (!e)
        return;
    for (size_t i = 0; i < e->n; i++)
        json_decref(e->list[i].identity);
    sk_json_release(&e->doc);
    free(e->list);
    json_decref(e->index);
    json_decref(e->root);
    free(e->name);
    free(e);
}

// ---- differences --------------------------------------------------------------------------------

#define HEX_DIGITS "0123456789abcdefABCDEF"

struct comparison {
    struct state_walk walk; // first: its address is ours
    struct sk_expected_state *e;
    json_t *otherwise; // register -> what its cells are that are not listed
    size_t show, differences;
    FILE *messages;
};

static void state_compare_put_text(FILE *out, const json_t *v) {
    char *text = v ? json_dumps(v, JSON_ENCODE_ANY) : NULL;
    fputs(json_is_string(v) ? json_string_value(v) : text ? text : "nothing", out);
    free(text);
}

static void put_label(FILE *out, enum state_section s, const json_t *identity) {
    static const char *const first[] = {"name", "table", "profile", "selector", "reason"};
    static const char *const then[] = {"pipe", "index", "id", "port", "key", "priority", "default"};
    fputs(state_section_name(s), out);
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        if (json_object_get(identity, first[i]))
            fprintf(out, " %s", json_string_value(json_object_get(identity, first[i])));
    for (size_t i = 0; i < sizeof then / sizeof *then; i++) {
        const json_t *v = json_object_get(identity, then[i]);
        if (!v)
            continue;
        fprintf(out, ", %s", then[i]);
        if (json_is_true(v))
            continue;
        fputc(' ', out);
        state_compare_put_text(out, v);
    }
}

static void state_compare_report(struct comparison *c, enum state_section s, const json_t *identity,
                                 const char *path, const json_t *expected, const json_t *found) {
    if (c->differences++ >= c->show)
        return;
    fprintf(c->messages, "%s: ", c->e->name);
    put_label(c->messages, s, identity);
    fprintf(c->messages, "%s%s: expected ", *path ? ", " : "", path);
    state_compare_put_text(c->messages, expected);
    fputs(", found ", c->messages);
    state_compare_put_text(c->messages, found);
    fputc('\n', c->messages);
}

static bool as_number(const json_t *v, uint64_t *out) {
    const char *text = json_string_value(v);
    char *end;
    if (json_is_integer(v)) {
        *out = (uint64_t)json_integer_value(v);
        return true;
    }
    if (!text || !strchr("-0123456789", *text) || !*text)
        return false;
    errno = 0;
    *out = *text == '-' ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
    return !*end && !errno;
}

// The digits of a hexadecimal number of any width, without zeros in front; null: it is none.
static const char *state_compare_hexadecimal(const json_t *v) {
    const char *text = json_string_value(v);
    if (!text || text[0] != '0' || (text[1] | 32) != 'x' || !text[2 + strspn(text + 2, "0")] ||
        text[strspn(text + 2, HEX_DIGITS) + 2])
        return NULL;
    return text + 2 + strspn(text + 2, "0");
}

static bool state_compare_same_value(const json_t *a, const json_t *b) {
    uint64_t x, y;
    if (json_equal(a, b) || (as_number(a, &x) && as_number(b, &y) && x == y))
        return true;
    const char *p = state_compare_hexadecimal(a),
               *q = state_compare_hexadecimal(b); // of more than 64 bits
    return p && q && strcasecmp(p, q) == 0;
}

static bool state_compare_is_zero(const json_t *v) {
    uint64_t x;
    return !v || (as_number(v, &x) && x == 0);
}

static void compare_value(struct comparison *c, const struct expectation *x, const char *path,
                          const json_t *expected, const json_t *found) {
    const char *key;
    json_t *value;
    if (!json_is_object(expected) || !json_is_object(found)) {
        bool same = strcmp(path, "action") == 0 && json_is_string(expected) && json_is_string(found)
                        ? sk_name_matches(json_string_value(found), json_string_value(expected))
                        : state_compare_same_value(expected, found);
        if (!same)
            state_compare_report(c, x->section, x->identity, path, expected, found);
        return;
    }
    char inner[256];
    json_object_foreach((json_t *)expected, key, value) {
        snprintf(inner, sizeof inner, "%s %s", path, key);
        compare_value(c, x, inner, value, json_object_get(found, key));
    }
    json_object_foreach((json_t *)found, key, value) {
        snprintf(inner, sizeof inner, "%s %s", path, key);
        if (!json_object_get(expected, key))
            state_compare_report(c, x->section, x->identity, inner, NULL, value);
    }
}

// The facts of an item without its identity; a new reference.
static json_t *facts(enum state_section s, const json_t *item) {
    json_t *out = json_object(), *value;
    const char *key;
    json_object_foreach((json_t *)item, key, value) {
        if (!state_is_identity(s, key))
            json_object_set(out, key, value);
    }
    return out;
}

// A register's cell that one side does not list.
static void compare_cell(struct comparison *c, const struct expectation *x, const json_t *expected,
                         const json_t *found) {
    static const char *const key = "value";
    json_t *zero = json_is_object(expected ? expected : found) ? json_object() : json_integer(0);
    const json_t *of = expected ? expected : found;
    const char *word;
    json_t *ignored;
    if (json_is_object(zero))
        json_object_foreach((json_t *)of, word, ignored) {
            json_object_set_new(zero, word, json_integer(0));
        }
    compare_value(c, x, key, expected ? expected : zero, found ? found : zero);
    json_decref(zero);
}

static const json_t *expected_otherwise(const struct comparison *c, const json_t *identity) {
    json_t *name = json_pack("{s:O}", "name", json_object_get(identity, "name"));
    char *text = identity_text(STATE_REGISTERS, name);
    const json_t *at = json_object_get(c->e->index, text);
    json_decref(name);
    free(text);
    return at ? json_object_get(c->e->list[json_integer_value(at)].item, "otherwise") : NULL;
}

static void unexpected(struct comparison *c, enum state_section s, const json_t *item,
                       json_t *identity) {
    const struct expectation x = {.section = s, .identity = identity};
    if (s == STATE_REGISTERS && json_object_get(item, "value")) {
        compare_cell(c, &x, expected_otherwise(c, identity), json_object_get(item, "value"));
        return;
    }
    json_t *all = facts(s, item);
    state_compare_report(c, s, identity, "", NULL, all);
    json_decref(all);
}

static void compare_item(struct state_walk *walk, enum state_section s, json_t *item) {
    struct comparison *c = (struct comparison *)walk;
    const char *key;
    json_t *value, *identity = json_object();
    if (!c->e->given[s]) {
        json_decref(identity);
        return;
    }
    json_object_foreach(item, key, value) {
        if (state_is_identity(s, key))
            json_object_set(identity, key, value);
    }
    if (json_object_get(item, "otherwise"))
        json_object_set(c->otherwise, json_string_value(json_object_get(item, "name")),
                        json_object_get(item, "otherwise"));
    char *text = identity_text(s, identity);
    const json_t *at = json_object_get(c->e->index, text);
    free(text);
    if (at) {
        struct expectation *x = &c->e->list[json_integer_value(at)];
        x->seen = true;
        json_object_foreach(x->item, key, value) {
            if (!state_is_identity(s, key))
                compare_value(c, x, key, value, json_object_get(item, key));
        }
    } else {
        unexpected(c, s, item, identity);
    }
    json_decref(identity);
}

// What is expected and not listed, because it is zero, or not there.
static void state_compare_missing(struct comparison *c, const struct expectation *x) {
    const json_t *value = json_object_get(x->item, "value");
    const char *key;
    json_t *fact;
    if (x->section == STATE_REGISTERS && value) {
        const char *name = json_string_value(json_object_get(x->identity, "name"));
        compare_cell(c, x, value, json_object_get(c->otherwise, name));
        return;
    }
    json_t *all = facts(x->section, x->item);
    bool zero = x->section <= STATE_HITS || x->section == STATE_DROPS;
    json_object_foreach(all, key, fact) {
        zero = zero && state_compare_is_zero(fact);
    }
    if (!zero)
        state_compare_report(c, x->section, x->identity, "", all, NULL);
    json_decref(all);
}

size_t sk_expected_state_compare(struct sk_expected_state *e, struct sk_switch *sw, size_t show,
                                 FILE *messages) {
    struct comparison c = {.walk = {.sw = sw, .item = compare_item},
                           .e = e,
                           .otherwise = json_object(),
                           .show = show,
                           .messages = messages};
    state_walk(&c.walk);
    for (size_t i = 0; i < e->n; i++)
        if (!e->list[i].seen)
            state_compare_missing(&c, &e->list[i]);
    json_decref(c.otherwise);
    return c.differences;
}
