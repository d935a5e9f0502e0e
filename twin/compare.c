// SPDX-License-Identifier: Apache-2.0
//
// compare: the tables of two sides, each in the order of their names, and a table's items in the
// order of their keys.
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "twin/items.h"

#define COMPARE_NOTHING "-"

struct compare {
    struct twin_report *report;
    const struct twin_side *a, *b;
    const struct twin_diff_options *opt;
};

// What differs between a switch and itself a moment later. 'table' is a name, or with a space or a
// dot at its ends a part of one; null: any. 'field' null: all.
static const struct {
    const char *table, *field, *why;
} compare_may_differ[] = {
    {NULL, "$ENTRY_TTL", "times"},
    {NULL, "$ENTRY_HIT_STATE", "hit states"},
    {"$PORT_STAT", NULL, "port statistics"},
    {"$PORT", "$PORT_UP", "links"},
    {".tm.counter.", NULL, "what queues hold at a moment, and port statistics"},
    {"ports", NULL, "port statistics"},
    {"hits ", "last_hit", "times"},
    {"ageing ", "active", "times"},
    {"meter_states ", NULL, "times"},
};

static bool compare_is_table(const char *pattern, const char *table) {
    const size_t n = strlen(pattern);
    if (pattern[0] == '.')
        return strstr(table, pattern) != NULL;
    return pattern[n - 1] == ' ' ? strncmp(table, pattern, n) == 0 : strcmp(table, pattern) == 0;
}

// "port" and "Ingress.port" name the field "Ingress.port".
static bool compare_is_named(const char *name, const char *by) {
    const size_t n = strlen(name), length = strlen(by);
    return length > 0 && n >= length && strcmp(name + n - length, by) == 0 &&
           (n == length || strchr(". ", name[n - length - 1]));
}

// Why it is not compared, and 'what' it is then called; null: it is.
static const char *compare_why_not(const struct compare *c, const char *table, const char *field,
                                   const char **what) {
    for (size_t i = 0; i < c->opt->n_ignore; i++) {
        *what = c->opt->ignore[i];
        if (compare_is_named(table, *what) || compare_is_named(field, *what))
            return "ignored";
    }
    for (size_t i = 0;
         !c->opt->everything && i < sizeof compare_may_differ / sizeof *compare_may_differ; i++) {
        const char *t = compare_may_differ[i].table, *f = compare_may_differ[i].field;
        if ((t && !compare_is_table(t, table)) || (f && strcmp(f, field) != 0))
            continue;
        *what = f ? f : table;
        return compare_may_differ[i].why;
    }
    return NULL;
}

static void compare_texts(struct compare *c, const char *table, const char *key, const char *field,
                          const char *a, const char *b) {
    const char *what, *why = compare_why_not(c, table, field, &what);
    if (why)
        twin_report_skip(c->report, what, why, strcmp(a, b) != 0);
    else if (strcmp(a, b) != 0)
        twin_report_difference(c->report, table, key, field, a, b);
}

static char *compare_text(const json_t *value) {
    return value ? twin_text_of(value) : sk_copy_text(COMPARE_NOTHING);
}

static void compare_values(struct compare *c, const char *table, const char *key, const char *field,
                           const json_t *a, const json_t *b) {
    char *x = compare_text(a), *y = compare_text(b);
    compare_texts(c, table, key, field, x, y);
    free(x);
    free(y);
}

// A register's cell in each pipe.
static void compare_pipes(struct compare *c, const char *table, const char *key, const char *field,
                          const json_t *a, const json_t *b) {
    const size_t n = json_array_size(a), m = json_array_size(b);
    for (size_t i = 0; i < n || i < m; i++) {
        char *name;
        if (asprintf(&name, "%s in pipe %zu", field, i) < 0)
            abort();
        compare_values(c, table, key, name, json_array_get(a, i), json_array_get(b, i));
        free(name);
    }
}

static void compare_field(struct compare *c, const char *table, const struct twin_item *of,
                          const char *field, const json_t *a, const json_t *b) {
    if (of->is_register && (json_is_array(a) || !a) && (json_is_array(b) || !b))
        compare_pipes(c, table, of->key, field, a, b);
    else
        compare_values(c, table, of->key, field, a, b);
}

static void compare_items(struct compare *c, const char *table, const struct twin_item *a,
                          const struct twin_item *b) {
    const char *field;
    json_t *value;
    twin_report_count(c->report, false);
    json_object_foreach(a->fields, field, value) {
        compare_field(c, table, a, field, value, json_object_get(b->fields, field));
    }
    json_object_foreach(b->fields, field, value) {
        if (!json_object_get(a->fields, field))
            compare_field(c, table, b, field, NULL, value);
    }
}

// An item that one side has; the other's dump has the table.
static void compare_lone(struct compare *c, const struct twin_table *other, const char *table,
                         const struct twin_item *item, bool is_a) {
    twin_report_count(c->report, false);
    if (item->is_default && other && other->form == TWIN_SHELL && !other->has_default) {
        twin_report_skip(c->report, "default entries", "a shell's dump does not have them", -1);
        return;
    }
    char *text = twin_text_of(item->fields);
    compare_texts(c, table, item->key, "entry", is_a ? text : COMPARE_NOTHING,
                  is_a ? COMPARE_NOTHING : text);
    free(text);
}

// Either may be null: that side has no items of it.
static void compare_tables(struct compare *c, const struct twin_table *a,
                           const struct twin_table *b) {
    const char *name = a ? a->name : b->name;
    const size_t n = a ? a->n : 0, m = b ? b->n : 0;
    for (size_t i = 0, k = 0; i < n || k < m;) {
        const int by = i == n ? 1 : k == m ? -1 : strverscmp(a->items[i].key, b->items[k].key);
        if (by < 0)
            compare_lone(c, b, name, &a->items[i++], true);
        else if (by > 0)
            compare_lone(c, a, name, &b->items[k++], false);
        else
            compare_items(c, name, &a->items[i++], &b->items[k++]);
    }
}

// One of the two has no dump of the table.
static void compare_without(struct compare *c, const struct twin_table *t, bool is_a) {
    char *text;
    if (asprintf(&text, "a dump of %zu entries", t->n) < 0)
        abort();
    compare_texts(c, t->name, "all", "dump", is_a ? text : COMPARE_NOTHING,
                  is_a ? COMPARE_NOTHING : text);
    free(text);
}

static void compare_unread(struct compare *c, const struct twin_table *a,
                           const struct twin_table *b) {
    const char *side = a && a->unread ? "A" : "B", *why = a && a->unread ? a->unread : b->unread;
    char *what, *text;
    if (asprintf(&what, "table %s", (a ? a : b)->name) < 0 ||
        asprintf(&text, "not read from %s: %s", side, why) < 0)
        abort();
    twin_report_skip(c->report, what, text, -1);
    free(what);
    free(text);
}

static void compare_pair(struct compare *c, const struct twin_table *a,
                         const struct twin_table *b) {
    const struct twin_table *one = a ? a : b;
    // what a state does not list has nothing to say
    const bool sparse = one->form == TWIN_STATE;
    if ((a && a->unread) || (b && b->unread))
        compare_unread(c, a, b);
    else if ((a && b) || (sparse && c->a->has[TWIN_STATE] && c->b->has[TWIN_STATE]))
        compare_tables(c, a, b);
    else if (!sparse)
        compare_without(c, one, a != NULL);
}

static void compare_files(struct compare *c) {
    if (c->a->has[TWIN_STATE] != c->b->has[TWIN_STATE])
        twin_report_difference(c->report, "state", "all", "dump",
                               c->a->has[TWIN_STATE] ? "a dump of the state" : COMPARE_NOTHING,
                               c->b->has[TWIN_STATE] ? "a dump of the state" : COMPARE_NOTHING);
    const struct twin_side *sides[] = {c->a, c->b};
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < sides[s]->n_others; i++)
            twin_report_skip(c->report, sides[s]->others[i], "neither a dump nor a capture", -1);
}

int64_t twin_diff(const struct twin_side *a, const struct twin_side *b,
                  const struct twin_diff_options *opt, struct sk_error *err) {
    struct compare c = {.a = a, .b = b, .opt = opt};
    c.report = twin_report_begin(opt, a->path, b->path);
    for (size_t i = 0, k = 0; i < a->n_tables || k < b->n_tables;) {
        const int by = i == a->n_tables   ? 1
                       : k == b->n_tables ? -1
                                          : strcmp(a->tables[i].name, b->tables[k].name);
        const struct twin_table *x = by <= 0 ? &a->tables[i++] : NULL,
                                *y = by >= 0 ? &b->tables[k++] : NULL;
        compare_pair(&c, x, y);
    }
    compare_files(&c);
    const int rc = twin_captures(c.report, a, b, err);
    const int64_t n = twin_report_end(c.report);
    return rc ? -1 : n;
}
