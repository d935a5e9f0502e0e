// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/schema/schema_impl.h"

// ---- names --------------------------------------------------------------------------------------

struct spelling {
    json_t *out;
    bool (*means)(const void *aux, const char *name); // does 'name' mean what is spelled?
    const void *aux;
};

static void append_once(json_t *list, const char *name) {
    size_t i;
    json_t *have;
    json_array_foreach(list, i, have) {
        if (strcmp(json_string_value(have), name) == 0)
            return;
    }
    json_array_append_new(list, json_string(name));
}

static void suffixes(const struct spelling *s, const char *full) {
    for (const char *name = full; *name; name++)
        if ((name == full || name[-1] == '.') && s->means(s->aux, name))
            append_once(s->out, name);
}

// As people write it: h[1].f for h$1.f, h.isValid() for h.$valid, no bounds of a slice. Null when
// that is nothing else.
static char *respelled(const char *full) {
    size_t length = strlen(full), n = 0;
    char *out = calloc(2, length + 16);
    if (!out)
        abort();
    for (const char *in = full; *in;) {
        size_t digits = *in == '$' ? strspn(in + 1, "0123456789") : 0;
        size_t bounds = *in == '[' ? strspn(in + 1, "0123456789:") : 0;
        if (digits) {
            n += (size_t)sprintf(out + n, "[%.*s]", (int)digits, in + 1);
            in += digits + 1;
        } else if (strcmp(in, "$valid") == 0) {
            n += (size_t)sprintf(out + n, "isValid()");
            in += 6;
        } else if (bounds && in[bounds + 1] == ']' && !in[bounds + 2] && memchr(in, ':', bounds)) {
            in += bounds + 2;
        } else {
            out[n++] = *in++;
        }
    }
    if (strcmp(out, full) != 0)
        return out;
    free(out);
    return NULL;
}

static json_t *spellings(const struct spelling *s, const char *full) {
    char *other = respelled(full);
    suffixes(s, full);
    if (other)
        suffixes(s, other);
    free(other);
    return s->out;
}

struct in_list {
    const struct sk_name_list *names;
    size_t i;
};

static bool means_item(const void *aux, const char *name) {
    const struct in_list *l = aux;
    return sk_find_name(l->names, name, NULL) == (int)l->i;
}

json_t *schema_names(const struct sk_name_list *names, size_t i) {
    const struct in_list l = {names, i};
    return spellings(&(struct spelling){json_array(), means_item, &l}, names->at(names->list, i));
}

struct in_switch {
    const struct sk_switch *sw;
    const struct sk_object *o;
};

static bool means_object(const void *aux, const char *name) {
    const struct in_switch *s = aux;
    struct sk_object o;
    return sk_find_object(s->sw, s->o->kind, name, &o, NULL) == 0 && o.pipeline == s->o->pipeline &&
           o.index == s->o->index;
}

json_t *schema_object_names(const struct sk_switch *sw, const struct sk_object *o) {
    const struct in_switch s = {sw, o};
    return spellings(&(struct spelling){json_array(), means_object, &s}, sk_object_name(o));
}

static const char *schema_names_field_at(const void *list, size_t i) {
    return ((const struct sk_field_desc *)list)[i].name;
}

json_t *schema_field_names(const struct sk_field_desc *fields, uint32_t n, uint32_t i) {
    return schema_names(&(struct sk_name_list){"field", n, schema_names_field_at, fields}, i);
}

static const char *schema_names_action_at(const void *list, size_t i) {
    return ((const struct sk_table_desc *)list)->actions[i]->name;
}

json_t *schema_action_names(const struct sk_table_desc *d, uint32_t i) {
    return schema_names(&(struct sk_name_list){"action", d->n_actions, schema_names_action_at, d},
                        i);
}

// ---- values -------------------------------------------------------------------------------------

// A regular expression of one value of the field.
static char *one_value(const struct sk_field_desc *f) {
    const char *address = f->width == 48    ? "|[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}"
                          : f->width == 32  ? "|[0-9]{1,3}(\\.[0-9]{1,3}){3}"
                          : f->width == 128 ? "|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*"
                          : f->width == 1   ? "|true|false"
                                            : "";
    char *out;
    if (asprintf(&out, "(0[xX][0-9a-fA-F][0-9a-fA-F_]*|0[bB][01][01_]*|%s[0-9][0-9_]*%s)",
                 f->is_signed ? "-?" : "(-(?=0+$))?", address) < 0)
        abort();
    return out;
}

static json_t *schema_names_number(const struct sk_field_desc *f) {
    json_t *n = schema_text("{'type': 'integer'}");
    uint32_t bits = f->is_signed ? f->width - 1 : f->width;
    json_int_t most = bits < 63 ? ((json_int_t)1 << bits) - 1 : INT64_MAX;
    json_object_set_new(n, "minimum", json_integer(f->is_signed ? -most - 1 : 0));
    json_object_set_new(n, "maximum", json_integer(most));
    return n;
}

static json_t *schema_names_value_of(const struct sk_field_desc *f, char *pattern) {
    json_t *forms = json_array(), *text = schema_text("{'type': 'string'}");
    json_object_set_new(text, "pattern", json_sprintf("^\\s*(%s)\\s*$", pattern));
    json_array_append_new(forms, schema_names_number(f));
    json_array_append_new(forms, text);
    if (f->width == 1)
        json_array_append_new(forms, schema_text("{'type': 'boolean'}"));
    free(pattern);
    return json_pack("{s:o}", "anyOf", forms);
}

json_t *schema_value(const struct sk_field_desc *f) {
    return schema_names_value_of(f, one_value(f));
}

json_t *schema_key(const struct sk_field_desc *f) {
    char *one = one_value(f), *pattern;
    int n = 0;
    if (f->match == SK_EXACT)
        return schema_names_value_of(f, one);
    if (f->match == SK_RANGE)
        n = asprintf(&pattern, "\\*|%s|%s\\s*\\.\\.\\s*%s", one, one, one);
    else
        n = asprintf(&pattern,
                     "\\*|%s|%s\\s*&&&\\s*%s|%s\\s*/\\s*[0-9xXbBa-fA-F_]+|0[xX][0-9a-fA-F*_]+|"
                     "0[bB][01*_]+",
                     one, one, one, one);
    if (n < 0)
        abort();
    free(one);
    return schema_names_value_of(f, pattern);
}

json_t *schema_keys(const struct sk_field_desc *fields, uint32_t n, bool priority) {
    json_t *properties = json_object(), *all = json_array();
    for (uint32_t i = 0; i < n; i++) {
        json_t *names = schema_field_names(fields, n, i), *value = schema_key(&fields[i]);
        schema_put(properties, names, value);
        if (fields[i].match == SK_EXACT)
            json_array_append_new(all, schema_required(names));
        json_decref(names);
        json_decref(value);
    }
    if (priority)
        json_object_set_new(properties, "$MATCH_PRIORITY", schema_text("{'$ref': '#/$defs/u32'}"));
    return schema_object(properties, all);
}

// ---- pieces -------------------------------------------------------------------------------------

json_t *schema_object(json_t *properties, json_t *all) {
    json_t *schema = json_pack("{s:s, s:b, s:o}", "type", "object", "additionalProperties", 0,
                               "properties", properties);
    if (json_array_size(all))
        json_object_set(schema, "allOf", all);
    json_decref(all);
    return schema;
}

void schema_put(json_t *properties, const json_t *names, json_t *value) {
    size_t i;
    json_t *name;
    json_array_foreach(names, i, name) {
        json_object_set(properties, json_string_value(name), value);
    }
}

json_t *schema_required(const json_t *names) {
    json_t *any = json_array(), *name;
    size_t i;
    json_array_foreach(names, i, name) {
        json_array_append_new(any, json_pack("{s:[O]}", "required", name));
    }
    return json_pack("{s:o}", "anyOf", any);
}

json_t *schema_when(const char *member, json_t *names, json_t *then) {
    return json_pack("{s:{s:{s:{s:o}}, s:[s]}, s:o}", "if", "properties", member, "enum", names,
                     "required", member, "then", then);
}

void schema_add(json_t *def, json_t *schema) {
    if (!json_object_get(def, "allOf"))
        json_object_set_new(def, "allOf", json_array());
    json_array_append_new(json_object_get(def, "allOf"), schema);
}
