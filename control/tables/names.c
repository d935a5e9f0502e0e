// SPDX-License-Identifier: Apache-2.0
#include "control/tables/names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

bool sk_is_number(const char *word) {
    word += *word == '-';
    bool hex = word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
    const char *digits = hex ? "0123456789abcdefABCDEF" : "0123456789";
    word += hex ? 2 : 0;
    return *word && strspn(word, digits) == strlen(word);
}

bool sk_name_matches(const char *full, const char *name) {
    size_t full_length = strlen(full), length = strlen(name);
    if (length == 0 || length > full_length || strcmp(full + full_length - length, name) != 0)
        return false;
    return length == full_length || full[full_length - length - 1] == '.';
}

// ---- spellings ----

// At a '[': "[3]" becomes "$3", "[7:4]" nothing. Returns how much of 'in' that was, 0 for neither.
static size_t plain_index(const char *in, char **out) {
    size_t digits = strspn(in + 1, "0123456789");
    if (digits > 0 && in[1 + digits] == ']') {
        **out = '$';
        memcpy(*out + 1, in + 1, digits);
        *out += digits + 1;
        return digits + 2;
    }
    size_t bounds = strspn(in + 1, "0123456789: ");
    return bounds > 0 && in[1 + bounds] == ']' ? bounds + 2 : 0;
}

// One spelling for all; false when it has no room.
static bool plain_spelling(const char *in, char *out, size_t size) {
    static const char valid[] = ".isValid()";
    if (strlen(in) >= size)
        return false;
    while (*in) {
        size_t used = *in == '[' ? plain_index(in, &out) : 0;
        if (strcmp(in, valid) == 0) {
            memcpy(out, ".$valid", 7);
            out += 7;
            used = sizeof valid - 1;
        }
        if (used == 0) {
            *out++ = *in;
            used = 1;
        }
        in += used;
    }
    *out = 0;
    return true;
}

// Whether plain_spelling() changes anything.
static bool control_names_is_plain(const char *name) {
    return !strchr(name, '[') && !strstr(name, ".isValid()");
}

static bool matches_respelled(const char *full, const char *name) {
    char plain_full[512], plain_name[512];
    if (control_names_is_plain(full) && control_names_is_plain(name))
        return sk_name_matches(full, name); // nearly always: programs look for names at run time
    return plain_spelling(full, plain_full, sizeof plain_full) &&
           plain_spelling(name, plain_name, sizeof plain_name) &&
           sk_name_matches(plain_full, plain_name);
}

// ---- search ----

struct listing {
    char text[320];
    size_t used;
    bool cut;
};

static void list_name(struct listing *l, const char *name) {
    int n =
        snprintf(l->text + l->used, sizeof l->text - l->used, "%s%s", l->used ? ", " : "", name);
    if (l->cut || l->used + (size_t)n >= sizeof l->text - 5) {
        l->text[l->used] = 0;
        if (!l->cut)
            memcpy(l->text + l->used, ", ...", 6);
        l->cut = true;
        l->used = strlen(l->text);
        return;
    }
    l->used += (size_t)n;
}

typedef bool control_names_way(const char *full, const char *name);

static bool control_names_equal(const char *full, const char *name) {
    return strcmp(full, name) == 0;
}

struct hits {
    size_t n, first;
};

static void control_names_hit(struct hits *h, size_t i) {
    if (h->n++ == 0)
        h->first = i;
}

static int control_names_ambiguous(const struct sk_name_list *names, const char *name,
                                   control_names_way *matches, struct sk_error *err) {
    struct listing candidates = {0};
    for (size_t i = 0; i < names->n; i++)
        if (matches(names->at(names->list, i), name))
            list_name(&candidates, names->at(names->list, i));
    return sk_fail(err, "%s name '%s' is ambiguous: %s", names->what, name, candidates.text);
}

// The first of three ways in which some name matches: as a whole, as a suffix, in another spelling.
// A whole one is a suffix, too. Null: none matches.
static control_names_way *control_names_search(const struct sk_name_list *names, const char *name,
                                               struct hits *found) {
    struct hits whole = {0}, suffix = {0};
    for (size_t i = 0; i < names->n; i++) {
        const char *full = names->at(names->list, i);
        if (!sk_name_matches(full, name))
            continue;
        control_names_hit(&suffix, i);
        if (control_names_equal(full, name))
            control_names_hit(&whole, i);
    }
    *found = whole.n ? whole : suffix;
    if (found->n)
        return whole.n ? control_names_equal : sk_name_matches;
    for (size_t i = 0; i < names->n; i++)
        if (matches_respelled(names->at(names->list, i), name))
            control_names_hit(found, i);
    return found->n ? matches_respelled : NULL;
}

static int not_found(const struct sk_name_list *names, const char *name, struct sk_error *err) {
    struct listing all = {0};
    for (size_t i = 0; i < names->n; i++)
        list_name(&all, names->at(names->list, i));
    if (names->n == 0)
        return sk_fail(err, "no %s '%s'; the program has none", names->what, name);
    return sk_fail(err, "no %s '%s'; the program has: %s", names->what, name, all.text);
}

int sk_find_name(const struct sk_name_list *names, const char *name, struct sk_error *err) {
    struct hits found;
    control_names_way *way = control_names_search(names, name, &found);
    if (!way)
        return not_found(names, name, err);
    return found.n == 1 ? (int)found.first : control_names_ambiguous(names, name, way, err);
}

// ---- objects ----

static const char *const kind_names[] = {"table",
                                         "register",
                                         "counter",
                                         "value set",
                                         "meter or filter",
                                         "selector",
                                         "hash that can be changed"};

static uint32_t count_objects(const struct sk_pipeline_desc *d, enum sk_object_kind kind) {
    switch (kind) {
    case SK_TABLE:
        return d->n_tables;
    case SK_REGISTER:
        return d->n_registers;
    case SK_COUNTER:
        return d->n_counters;
    case SK_METER_OBJECT:
        return d->n_meters;
    case SK_SELECTOR:
        return d->n_selectors;
    case SK_HASH:
        return d->n_hashes;
    default:
        return d->n_value_sets;
    }
}

const char *sk_object_name(const struct sk_object *o) {
    switch (o->kind) {
    case SK_TABLE:
        return o->desc->tables[o->index]->name;
    case SK_REGISTER:
        return o->desc->registers[o->index].name;
    case SK_COUNTER:
        return o->desc->counters[o->index].name;
    case SK_METER_OBJECT:
        return o->desc->meters[o->index].name;
    case SK_SELECTOR:
        return o->desc->selectors[o->index]->name;
    case SK_HASH:
        return o->desc->hashes[o->index].name;
    default:
        return o->desc->value_sets[o->index].name;
    }
}

bool sk_object_at(const struct sk_switch *sw, enum sk_object_kind kind, size_t i,
                  struct sk_object *object) {
    const struct sk_program_desc *program = sk_switch_program(sw);
    for (uint32_t p = 0; p < program->n_pipelines; p++) {
        uint32_t n = count_objects(program->pipelines[p], kind);
        if (i < n) {
            *object = (struct sk_object){kind, p, (uint32_t)i, program->pipelines[p]};
            return true;
        }
        i -= n;
    }
    return false;
}

struct objects {
    const struct sk_switch *sw;
    enum sk_object_kind kind;
};

static const char *object_name_at(const void *list, size_t i) {
    const struct objects *objects = list;
    struct sk_object o = {0};
    return sk_object_at(objects->sw, objects->kind, i, &o) ? sk_object_name(&o) : "";
}

// An object of this kind that the name could mean; null: there is none.
static const char *control_names_of_kind(const struct sk_switch *sw, enum sk_object_kind kind,
                                         const char *name) {
    struct sk_object o;
    for (size_t i = 0; sk_object_at(sw, kind, i, &o); i++)
        if (sk_name_matches(sk_object_name(&o), name) ||
            matches_respelled(sk_object_name(&o), name))
            return sk_object_name(&o);
    return NULL;
}

// A name of nothing of this kind may be that of a thing of another kind: the error says of which.
static int control_names_other_kind(const struct sk_switch *sw, enum sk_object_kind kind,
                                    const char *name, int rc, struct sk_error *err) {
    if (control_names_of_kind(sw, kind, name))
        return rc; // ambiguous
    for (size_t other = 0; other < sizeof kind_names / sizeof *kind_names; other++) {
        const char *full = control_names_of_kind(sw, (enum sk_object_kind)other, name);
        if (full)
            return sk_fail(err, "no %s '%s'; '%s' is a %s", kind_names[kind], name, full,
                           kind_names[other]);
    }
    return rc;
}

static struct sk_name_list control_names_objects(const struct objects *objects) {
    struct sk_object o;
    struct sk_name_list names = {kind_names[objects->kind], 0, object_name_at, objects};
    while (sk_object_at(objects->sw, objects->kind, names.n, &o))
        names.n++;
    return names;
}

int sk_find_object(const struct sk_switch *sw, enum sk_object_kind kind, const char *name,
                   struct sk_object *object, struct sk_error *err) {
    const struct objects objects = {sw, kind};
    const struct sk_name_list names = control_names_objects(&objects);
    int i = sk_find_name(&names, name, err);
    if (i < 0)
        return control_names_other_kind(sw, kind, name, i, err);
    sk_object_at(sw, kind, (size_t)i, object);
    return 0;
}

bool sk_has_object(const struct sk_switch *sw, enum sk_object_kind kind, const char *name,
                   struct sk_object *object) {
    const struct objects objects = {sw, kind};
    const struct sk_name_list names = control_names_objects(&objects);
    struct hits found;
    return control_names_search(&names, name, &found) && found.n == 1 &&
           sk_object_at(sw, kind, found.first, object);
}

bool sk_object_in_pipe(const struct sk_switch *sw, const struct sk_object *o, unsigned pipe) {
    return sk_switch_program(sw)->pipe_of[pipe] == o->pipeline;
}

int sk_find_pipes(const struct sk_switch *sw, const struct sk_object *o, int pipe,
                  struct sk_pipe_list *pipes, struct sk_error *err) {
    if (pipe < -1 || pipe >= (int)SK_PIPES)
        return sk_fail(err, "there is no pipe %d; pipes are 0 to %u, -1 is all", pipe,
                       SK_PIPES - 1);
    pipes->n = 0;
    for (unsigned i = 0; i < SK_PIPES; i++)
        if (sk_object_in_pipe(sw, o, i) && (pipe == -1 || pipe == (int)i))
            pipes->list[pipes->n++] = i;
    if (pipes->n == 0)
        return sk_fail(err, "pipe %d does not run '%s', which has '%s'", pipe, o->desc->name,
                       sk_object_name(o));
    return 0;
}

// ---- fields and actions ----

static const char *control_names_field_at(const void *list, size_t i) {
    return ((const struct sk_field_desc *)list)[i].name;
}

int sk_find_field(const char *what, const struct sk_field_desc *fields, uint32_t n,
                  const char *name, struct sk_error *err) {
    return sk_find_name(&(struct sk_name_list){what, n, control_names_field_at, fields}, name, err);
}

static const char *action_name_at(const void *list, size_t i) {
    return ((const struct sk_table_desc *)list)->actions[i]->name;
}

int sk_find_action(const struct sk_table_desc *table, const char *name, struct sk_error *err) {
    return sk_find_name(&(struct sk_name_list){"action", table->n_actions, action_name_at, table},
                        name, err);
}
