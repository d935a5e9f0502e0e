// SPDX-License-Identifier: Apache-2.0
//
// read: dumps into tables of items, and the files of a folder.
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "twin/items.h"

#define READ_PIPE "pipe."

static const char *side_without_pipe(const char *name) {
    return strncmp(name, READ_PIPE, sizeof READ_PIPE - 1) == 0 ? name + sizeof READ_PIPE - 1 : name;
}

// A dump that is being read.
struct side_dump {
    struct twin_side *side;
    size_t source, number; // of its last item
    enum twin_form form;
};

static struct twin_table *side_table(struct side_dump *d, const char *name) {
    struct twin_side *s = d->side;
    const json_t *place = json_object_get(s->places, name);
    if (place)
        return &s->tables[json_integer_value(place)];
    json_object_set_new(s->places, name, json_integer((json_int_t)s->n_tables));
    s->tables = sk_grow(s->tables, s->n_tables, &s->room_tables, sizeof *s->tables);
    s->tables[s->n_tables] =
        (struct twin_table){.name = sk_copy_text(name), .form = d->form, .source = d->source};
    return &s->tables[s->n_tables++];
}

// Takes both references.
static void side_add(struct side_dump *d, struct twin_table *t, struct twin_item item) {
    item.source = d->source;
    item.number = ++d->number;
    t->has_default |= item.is_default;
    t->items = sk_grow(t->items, t->n, &t->room, sizeof *t->items);
    t->items[t->n++] = item;
}

// ---- entries ----

// A key's field: {"value":, "mask":} and the like are what a shell writes as a list.
static json_t *side_match(const json_t *value) {
    static const char *const pairs[][2] = {
        {"value", "mask"}, {"value", "prefix_len"}, {"value", "is_valid"}, {"low", "high"}};
    const size_t n = json_object_size(value);
    json_t *first = json_object_get(value, "value");
    if (n == 1 && first)
        return json_incref(first);
    for (size_t i = 0; n == 2 && i < sizeof pairs / sizeof *pairs; i++) {
        json_t *one = json_object_get(value, pairs[i][0]),
               *two = json_object_get(value, pairs[i][1]);
        if (one && two)
            return json_pack("[O, O]", one, two);
    }
    return json_incref((json_t *)value);
}

static char *side_entry_key(const json_t *key, bool is_default, const json_t *pipe) {
    json_t *all = json_object();
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)key, name, value) {
        json_object_set_new(all, side_without_pipe(name), side_match(value));
    }
    // of a table without a key the one entry is its default
    const bool only = is_default || json_object_size(all) == 0;
    if (pipe)
        json_object_set(all, "pipe", (json_t *)pipe);
    char *text = twin_text_of(all), *out;
    text[strlen(text) - 1] = 0; // its bracket
    if (asprintf(&out, "%s%s%s", only ? "default" : "", only && pipe ? ", " : "", text + 1) < 0)
        abort();
    free(text);
    json_decref(all);
    return out;
}

static void side_set_action(json_t *fields, const json_t *action) {
    if (json_is_string(action))
        json_object_set_new(fields, "action",
                            json_string(side_without_pipe(json_string_value(action))));
}

// An entry's "data": its fields, and with them what the Python client puts among them.
static json_t *side_data(const struct sk_at *entry, bool *is_default) {
    json_t *fields = json_object(), *value;
    const char *name;
    json_object_foreach(json_object_get(entry->value, "data"), name, value) {
        if (strcmp(name, "is_default_entry") == 0)
            *is_default |= json_is_true(value);
        else if (strcmp(name, "action_name") == 0)
            side_set_action(fields, value);
        else
            json_object_set(fields, name, value);
    }
    side_set_action(fields, json_object_get(entry->value, "action"));
    return fields;
}

static void side_entry(struct side_dump *d, const struct sk_at *entry) {
    static const char *const members[] = {"table_name", "pipe", "default", "action",
                                          "key",        "data", NULL};
    sk_at_keys(entry, members);
    const struct sk_at name = sk_at_member(entry, "table_name"), pipe = sk_at_member(entry, "pipe"),
                       key = sk_at_member(entry, "key"), data = sk_at_member(entry, "data");
    const char *table = sk_at_string(&name, true);
    sk_at_number(&pipe, false, UINT16_MAX);
    if ((key.value && !json_is_object(key.value) && !json_is_null(key.value)) ||
        (data.value && !json_is_object(data.value) && !json_is_null(data.value)))
        sk_at_fail(entry, "\"key\" and \"data\" are objects");
    if (entry->doc->failed)
        return;
    bool is_default = sk_json_is(entry->value, "default");
    json_t *fields = side_data(entry, &is_default);
    const json_t *k = json_is_object(key.value) ? key.value : NULL;
    side_add(d, side_table(d, side_without_pipe(table)),
             (struct twin_item){.key = side_entry_key(k, is_default, pipe.value),
                                .fields = fields,
                                .is_default = is_default || json_object_size(k) == 0,
                                .is_register = json_object_get(k, "$REGISTER_INDEX") != NULL});
}

static void side_entries(struct side_dump *d, const struct sk_at *list) {
    const size_t n = sk_at_length(list);
    for (size_t i = 0; i < n && !list->doc->failed; i++) {
        const struct sk_at entry = sk_at_item(list, i);
        side_entry(d, &entry);
    }
}

// Of twin_dump().
static void side_own(struct side_dump *d, const struct sk_at *at) {
    static const char *const members[] = {"silken_twin", "program", "table",
                                          "entries",     "unread",  NULL};
    sk_at_keys(at, members);
    d->form = TWIN_OWN;
    const struct sk_at version = sk_at_member(at, "silken_twin"), name = sk_at_member(at, "table"),
                       unread = sk_at_member(at, "unread"), entries = sk_at_member(at, "entries");
    sk_at_between(&version, true, 1, 1);
    const char *table = sk_at_string(&name, true), *why = sk_at_string(&unread, false);
    if (at->doc->failed)
        return;
    struct twin_table *t = side_table(d, side_without_pipe(table));
    if (why && !t->unread)
        t->unread = sk_copy_text(why);
    side_entries(d, &entries);
}

// ---- state ----

// By these members an item is known; the first four name what has it.
static const char *const side_names[] = {"name", "table", "profile", "selector"};
static const char *const side_identity[] = {"name",     "table",   "profile", "selector",
                                            "pipe",     "index",   "key",     "id",
                                            "priority", "default", "reason",  "port"};

static bool side_is_identity(const char *member) {
    for (size_t i = 0; i < sizeof side_identity / sizeof *side_identity; i++)
        if (strcmp(member, side_identity[i]) == 0)
            return true;
    return false;
}

// {"port": 1} of "args" becomes "args.port".
static void side_fields_of(json_t *fields, const char *member, json_t *value) {
    const char *name;
    json_t *inner;
    char *path;
    if (!json_is_object(value)) {
        json_object_set_new(fields, member,
                            json_is_string(value)
                                ? json_string(side_without_pipe(json_string_value(value)))
                                : json_incref(value));
        return;
    }
    json_object_foreach(value, name, inner) {
        if (asprintf(&path, "%s.%s", member, name) < 0)
            abort();
        json_object_set(fields, path, inner);
        free(path);
    }
}

static void side_state_item(struct side_dump *d, const char *section, const struct sk_at *at) {
    const char *member, *of = "";
    json_t *value, *key = json_object(), *fields = json_object();
    if (!json_is_object(at->value))
        sk_at_fail(at, "this is not an object");
    json_object_foreach(at->value, member, value) {
        bool named = false;
        for (size_t i = 0; i < sizeof side_names / sizeof *side_names; i++)
            named |= strcmp(member, side_names[i]) == 0;
        if (named && json_is_string(value))
            of = side_without_pipe(json_string_value(value));
        else if (side_is_identity(member))
            json_object_set(key, member, value);
        else
            side_fields_of(fields, member, value);
    }
    char *name, *text = twin_text_of(key);
    if (asprintf(&name, "%s%s%s", section, *of ? " " : "", of) < 0)
        abort();
    text[strlen(text) - 1] = 0;
    char *inner = sk_copy_text(text[1]                                   ? text + 1
                               : json_object_get(at->value, "otherwise") ? "all other cells"
                                                                         : "default");
    free(text);
    json_decref(key);
    if (at->doc->failed) {
        free(inner);
        json_decref(fields);
    } else {
        side_add(d, side_table(d, name), (struct twin_item){.key = inner, .fields = fields});
    }
    free(name);
}

static void side_state(struct side_dump *d, const struct sk_at *at) {
    const struct sk_at version = sk_at_member(at, "silken_state");
    const char *section;
    json_t *value;
    d->form = TWIN_STATE;
    sk_at_between(&version, true, 1, 1);
    json_object_foreach(at->value, section, value) {
        if (strcmp(section, "silken_state") == 0 || at->doc->failed)
            continue;
        const struct sk_at list = sk_at_member(at, section);
        if (json_is_object(value)) // the switch's own counts
            side_state_item(d, section, &list);
        const size_t n = json_is_object(value) ? 0 : sk_at_length(&list);
        for (size_t i = 0; i < n && !at->doc->failed; i++) {
            const struct sk_at item = sk_at_item(&list, i);
            side_state_item(d, section, &item);
        }
    }
}

// ---- texts ----

static void side_value(struct side_dump *d, const struct sk_at *at) {
    d->form = TWIN_SHELL;
    if (json_object_get(at->value, "silken_twin"))
        side_own(d, at);
    else if (json_object_get(at->value, "silken_state"))
        side_state(d, at);
    else if (json_object_get(at->value, "table_name"))
        side_entry(d, at);
    else if (json_is_array(at->value))
        side_entries(d, at);
    else
        sk_at_fail(at, "this is not a dump of tables: it has neither \"table_name\" nor "
                       "\"silken_twin\" nor \"silken_state\"");
    d->side->has[d->form] = true;
}

int twin_read_text(struct twin_side *s, const char *name, const char *text, size_t length,
                   struct sk_error *err) {
    size_t n;
    char *clean = twin_text_clean(text, length, &n);
    json_t *root = sk_json_parse(name, clean, n, err);
    struct sk_json doc = {.name = name, .text = clean, .length = n, .err = err, .failed = !root};
    s->sources = sk_grow(s->sources, s->n_sources, &s->room_sources, sizeof *s->sources);
    s->sources[s->n_sources++] = sk_copy_text(name);
    struct side_dump d = {.side = s, .source = s->n_sources - 1};
    const struct sk_at all = {.doc = &doc, .value = root};
    if (root && json_array_size(root) == 0)
        sk_at_fail(&all, "the file is empty");
    for (size_t i = 0; root && i < json_array_size(root) && !doc.failed; i++) {
        const struct sk_at at = {
            .doc = &doc, .value = json_array_get(root, i), .parent = &all, .index = i};
        side_value(&d, &at);
    }
    sk_json_release(&doc);
    json_decref(root);
    free(clean);
    return doc.failed ? -1 : 0;
}

static int side_by_key(const void *a, const void *b) {
    const struct twin_item *x = a, *y = b;
    const int by = strverscmp(x->key, y->key);
    return by ? by : x->number < y->number ? -1 : x->number > y->number;
}

static int side_by_name(const void *a, const void *b) {
    const struct twin_table *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static int side_captures_by_name(const void *a, const void *b) {
    const struct twin_capture *x = a, *y = b;
    return strcmp(x->name, y->name);
}

int twin_read_end(struct twin_side *s, struct sk_error *err) {
    for (size_t i = 0; i < s->n_tables; i++) {
        struct twin_table *t = &s->tables[i];
        if (t->n)
            qsort(t->items, t->n, sizeof *t->items, side_by_key);
        for (size_t k = 1; k < t->n; k++) {
            const struct twin_item *a = &t->items[k - 1], *b = &t->items[k];
            if (strcmp(a->key, b->key) == 0)
                return sk_fail(
                    err, "%s: entry %zu: table '%s' has the key %s already in entry %zu of %s",
                    s->sources[b->source], b->number, t->name, b->key, a->number,
                    s->sources[a->source]);
        }
    }
    if (s->n_tables)
        qsort(s->tables, s->n_tables, sizeof *s->tables, side_by_name);
    if (s->n_captures)
        qsort(s->captures, s->n_captures, sizeof *s->captures, side_captures_by_name);
    for (size_t i = 1; i < s->n_captures; i++)
        if (strcmp(s->captures[i].name, s->captures[i - 1].name) == 0)
            return sk_fail(err, "%s and %s: both are the capture '%s'", s->captures[i - 1].path,
                           s->captures[i].path, s->captures[i].name);
    return 0;
}

// ---- files ----

// Where the name's ending of this list begins; or null.
static const char *side_ending(const char *name, const char *const *endings) {
    const size_t n = strlen(name);
    for (; *endings; endings++) {
        const size_t length = strlen(*endings);
        if (n > length && strcmp(name + n - length, *endings) == 0)
            return name + n - length;
    }
    return NULL;
}

static int side_file(struct twin_side *s, const char *path, const char *name,
                     struct sk_error *err) {
    static const char *const dumps[] = {".json", ".txt", ".dump", NULL};
    static const char *const captures[] = {".pcap",      ".pcapng", ".cap", ".pcap.gz",
                                           ".pcapng.gz", ".cap.gz", NULL};
    const char *ending = side_ending(name, captures);
    if (ending) {
        s->captures = sk_grow(s->captures, s->n_captures, &s->room_captures, sizeof *s->captures);
        char *base = sk_copy_text(name);
        base[ending - name] = 0;
        s->captures[s->n_captures++] = (struct twin_capture){base, sk_copy_text(path)};
        return 0;
    }
    if (!side_ending(name, dumps)) {
        s->others = sk_grow(s->others, s->n_others, &s->room_others, sizeof *s->others);
        s->others[s->n_others++] = sk_copy_text(name);
        return 0;
    }
    size_t length;
    char *text = sk_read_file(path, &length, err);
    const int rc = text ? twin_read_text(s, path, text, length, err) : -1;
    free(text);
    return rc;
}

static int side_folder(struct twin_side *s, const char *path, struct sk_error *err) {
    struct dirent **list;
    int rc = 0;
    const int n = scandir(path, &list, NULL, alphasort);
    if (n < 0)
        return sk_fail(err, "cannot read %s: %s", path, strerror(errno));
    for (int i = 0; i < n; i++) {
        char *file;
        if (asprintf(&file, "%s/%s", path, list[i]->d_name) < 0)
            abort();
        if (rc == 0 && list[i]->d_name[0] != '.')
            rc = side_file(s, file, list[i]->d_name, err);
        free(file);
        free(list[i]);
    }
    free(list);
    if (rc == 0 && s->n_sources + s->n_captures == 0)
        rc = sk_fail(err, "%s has neither dumps (.json, .txt, .dump) nor captures", path);
    return rc;
}

struct twin_side *twin_side_new(const char *path) {
    struct twin_side *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    s->path = sk_copy_text(path);
    s->places = json_object();
    return s;
}

struct twin_side *twin_side_read(const char *path, struct sk_error *err) {
    struct stat st;
    struct twin_side *s = twin_side_new(path);
    const char *slash = strrchr(path, '/');
    int rc = stat(path, &st) ? sk_fail(err, "cannot read %s: %s", path, strerror(errno)) : 0;
    if (rc == 0 && S_ISDIR(st.st_mode))
        rc = side_folder(s, path, err);
    else if (rc == 0)
        rc = side_file(s, path, slash ? slash + 1 : path, err);
    if (rc == 0 && s->n_sources + s->n_captures == 0)
        rc = sk_fail(err, "%s is neither a dump (.json, .txt, .dump) nor a capture", path);
    // single captures are compared whatever their names are
    if (rc == 0 && !S_ISDIR(st.st_mode) && s->n_captures)
        strcpy(s->captures[0].name, "");
    if (rc == 0)
        rc = twin_read_end(s, err);
    if (rc == 0)
        return s;
    twin_side_free(s);
    return NULL;
}

void twin_side_free(struct twin_side *s) {
    if (!s)
        return;
    for (size_t i = 0; i < s->n_tables; i++) {
        for (size_t k = 0; k < s->tables[i].n; k++) {
            free(s->tables[i].items[k].key);
            json_decref(s->tables[i].items[k].fields);
        }
        free(s->tables[i].items);
        free(s->tables[i].name);
        free(s->tables[i].unread);
    }
    for (size_t i = 0; i < s->n_captures; i++) {
        free(s->captures[i].name);
        free(s->captures[i].path);
    }
    for (size_t i = 0; i < s->n_sources; i++)
        free(s->sources[i]);
    for (size_t i = 0; i < s->n_others; i++)
        free(s->others[i]);
    json_decref(s->places);
    free(s->tables);
    free(s->captures);
    free(s->sources);
    free(s->others);
    free(s->path);
    free(s);
}
