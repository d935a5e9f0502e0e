// SPDX-License-Identifier: Apache-2.0
//
// objects: besides the sections of their own, how entries name these objects (bf_entry.h).
#include <string.h>

#include "control/tables/attached.h"
#include "control/schema/schema_impl.h"

struct sections {
    const struct sk_switch *sw;
    json_t *defs;
};

static json_t *def(const struct sections *s, const char *name) {
    return json_object_get(s->defs, name);
}

static void schema_objects_append(json_t *list, const json_t *more) {
    json_array_extend(list, (json_t *)more);
}

// An index, by its name in the key of an entry.
static json_t *schema_objects_index_key(const char *name, uint64_t size) {
    json_t *index = json_pack("{s:s, s:i, s:I}", "type", "integer", "minimum", 0, "maximum",
                              (json_int_t)(size ? size - 1 : 0));
    return json_pack("{s:s, s:b, s:[s], s:{s:o}}", "type", "object", "additionalProperties", 0,
                     "required", name, "properties", name, index);
}

// Entries whose key has 'index' and whose table is one of the names are like 'properties' (taken
// over).
static void cell_entries(const struct sections *s, const char *index, const json_t *names,
                         json_t *properties) {
    static const char *const others[] = {"priority", "action", "args", "member", "group"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        json_object_set_new(properties, others[i], json_false());
    json_t *then = json_pack("{s:o, s:[s]}", "properties", properties, "required", "data");
    json_t *rule = schema_when("table", json_copy((json_t *)names), then);
    json_object_set_new(json_object_get(json_object_get(rule, "if"), "properties"), "key",
                        json_pack("{s:[s]}", "required", index));
    schema_add(def(s, "entry"), rule);
}

// An entry with that index in its key names one of these.
static void only_these(const struct sections *s, const char *index, json_t *names) {
    schema_add(def(s, "entry"), json_pack("{s:{s:{s:{s:[s]}}, s:[s]}, s:{s:{s:{s:o}}}}", "if",
                                          "properties", "key", "required", index, "required", "key",
                                          "then", "properties", "table", "enum", names));
}

// The section's items name one of these, and with it are like 'then'.
static void section_item(const struct sections *s, const char *section, const char *member,
                         const json_t *names, json_t *then) {
    schema_add(def(s, section), schema_when(member, json_copy((json_t *)names), then));
}

static void section_names(const struct sections *s, const char *section, const char *member,
                          json_t *names) {
    schema_add(def(s, section), json_pack("{s:{s:{s:o}}}", "properties", member, "enum", names));
}

static json_t *schema_objects_of(json_t *properties) {
    return json_pack("{s:s, s:b, s:o}", "type", "object", "additionalProperties", 0, "properties",
                     properties);
}

static json_t *schema_objects_cell_index(uint64_t size) {
    return json_pack("{s:i, s:I}", "minimum", 0, "maximum", (json_int_t)(size ? size - 1 : 0));
}

// ---- registers ----------------------------------------------------------------------------------

static const char *schema_objects_word_at(const void *list, size_t i) {
    static const char *const plain[] = {"f1", "f2"};
    const struct sk_register_desc *d = list;
    return d->word_names[i] ? d->word_names[i] : plain[i];
}

// Fields as {"first": 1} and, in entries, also as {"Ingress.reg.first": 1}.
static json_t *register_fields(const struct sk_register_desc *d, const json_t *registers) {
    const struct sk_field_desc f = sk_register_field(d);
    const struct sk_name_list words = {"field", d->wide ? 1 : d->words, schema_objects_word_at, d};
    json_t *value = schema_value(&f), *properties = json_object(), *name, *word;
    for (size_t i = 0; i < words.n; i++) {
        json_t *names = schema_names(&words, i);
        size_t k, w;
        schema_put(properties, names, value);
        json_array_foreach(names, w, word) {
            json_array_foreach(registers, k, name) {
                char path[512];
                snprintf(path, sizeof path, "%s.%s", json_string_value(name),
                         json_string_value(word));
                json_object_set(properties, path, value);
            }
        }
        json_decref(names);
    }
    json_decref(value);
    return schema_objects_of(properties);
}

// All names that end so, also those that other registers share: with a register's field after it,
// the name stands for the register that the entry names.
static json_t *all_suffixes(const char *full) {
    json_t *list = json_array();
    for (const char *name = full; name; name = strchr(name, '.') ? strchr(name, '.') + 1 : NULL)
        json_array_append_new(list, json_string(name));
    return list;
}

// Entries without a key.
static void param_entries(const struct sections *s, const json_t *names,
                          const struct sk_field_desc *f) {
    json_t *then =
        json_pack("{s:{s:{s:b, s:{s:o}}}, s:[s]}", "properties", "data", "additionalProperties", 0,
                  "properties", "value", schema_value(f), "required", "data");
    json_t *rule = schema_when("table", json_copy((json_t *)names), then);
    json_object_set_new(json_object_get(rule, "if"), "not", schema_text("{'required': ['key']}"));
    schema_add(def(s, "entry"), rule);
}

static void schema_objects_registers(const struct sections *s) {
    json_t *all = json_array(), *params = json_array();
    struct sk_object o;
    for (size_t i = 0; sk_object_at(s->sw, SK_REGISTER, i, &o); i++) {
        const struct sk_register_desc *d = &o.desc->registers[o.index];
        const struct sk_field_desc f = sk_register_field(d);
        json_t *names = schema_object_names(s->sw, &o), *paths = all_suffixes(d->name);
        json_t *fields = register_fields(d, paths);
        json_t *value = json_pack("{s:[o, O]}", "anyOf", schema_value(&f), fields);
        json_object_set_new(fields, "minProperties", json_integer(1));
        section_item(s, "register", "name", names,
                     json_pack("{s:{s:o, s:o}}", "properties", "index",
                               schema_objects_cell_index(d->size), "value", value));
        if (d->is_param) {
            schema_objects_append(params, names);
            param_entries(s, names, &f);
        } else {
            cell_entries(s, "$REGISTER_INDEX", names,
                         json_pack("{s:o, s:O}", "key",
                                   schema_objects_index_key("$REGISTER_INDEX", d->size), "data",
                                   fields));
        }
        schema_objects_append(all, names);
        json_decref(fields);
        json_decref(paths);
        json_decref(names);
    }
    section_names(s, "register", "name", json_copy(all));
    only_these(s, "$REGISTER_INDEX", all);
    json_object_set_new(s->defs, "params", json_pack("{s:o}", "enum", params));
}

// ---- counters and meters ------------------------------------------------------------------------

static void schema_objects_counters(const struct sections *s) {
    json_t *all = json_array();
    struct sk_object o;
    for (size_t i = 0; sk_object_at(s->sw, SK_COUNTER, i, &o); i++) {
        const struct sk_counter_desc *d = &o.desc->counters[o.index];
        json_t *data = json_object(), *item = json_object();
        if (d->direct) {
            json_decref(data);
            json_decref(item);
            continue;
        }
        json_t *names = schema_object_names(s->sw, &o);
        if (d->type != 1)
            json_object_set_new(data, "$COUNTER_SPEC_PKTS",
                                schema_text("{'$ref': '#/$defs/value'}"));
        else
            json_object_set_new(item, "packets", json_pack("{s:i}", "maximum", 0));
        if (d->type != 0)
            json_object_set_new(data, "$COUNTER_SPEC_BYTES",
                                schema_text("{'$ref': '#/$defs/value'}"));
        else
            json_object_set_new(item, "bytes", json_pack("{s:i}", "maximum", 0));
        json_object_set_new(item, "index", schema_objects_cell_index(d->size));
        section_item(s, "counter", "name", names, json_pack("{s:o}", "properties", item));
        cell_entries(s, "$COUNTER_INDEX", names,
                     json_pack("{s:o, s:o, s:b}", "key",
                               schema_objects_index_key("$COUNTER_INDEX", d->size), "data",
                               schema_objects_of(data), "pipe", 0));
        schema_objects_append(all, names);
        json_decref(names);
    }
    section_names(s, "counter", "name", json_copy(all));
    only_these(s, "$COUNTER_INDEX", all);
}

// "$METER_SPEC_CIR_KBPS", the same without '$', "CIR_KBPS", and the last two in small letters.
static void put_spec(void *properties, const char *name, const char *brief) {
    const char *const forms[] = {name, name + 1, brief};
    for (size_t i = 0; i < 3; i++) {
        char small[64];
        size_t n = 0;
        for (; forms[i][n] && n + 1 < sizeof small; n++)
            small[n] =
                (char)(forms[i][n] >= 'A' && forms[i][n] <= 'Z' ? forms[i][n] + 32 : forms[i][n]);
        small[n] = 0;
        json_object_set_new(properties, forms[i], schema_text("{'$ref': '#/$defs/value'}"));
        json_object_set_new(properties, small, schema_text("{'$ref': '#/$defs/value'}"));
    }
}

static void schema_objects_meters(const struct sections *s) {
    static const char *const indices[] = {"", "$METER_INDEX", "$LPF_INDEX", "$WRED_INDEX"};
    json_t *all = json_array();
    struct sk_object o;
    for (size_t i = 0; sk_object_at(s->sw, SK_METER_OBJECT, i, &o); i++) {
        const struct sk_meter_desc *d = &o.desc->meters[o.index];
        const struct sk_holder holder = {
            .what = d->name, .meter_kind = d->kind, .meter_bytes = d->bytes};
        if (d->direct)
            continue;
        json_t *names = schema_object_names(s->sw, &o), *spec = json_object();
        sk_attached_each(&holder, put_spec, spec);
        spec = schema_objects_of(spec);
        json_object_set_new(spec, "minProperties", json_integer(1));
        section_item(s, "meter", "name", names,
                     json_pack("{s:{s:{s:[{s:s}, o]}, s:O}}", "properties", "index", "anyOf",
                               "const", "all", schema_objects_cell_index(d->size), "spec", spec));
        cell_entries(s, indices[d->kind], names,
                     json_pack("{s:o, s:o}", "key",
                               schema_objects_index_key(indices[d->kind], d->size), "data", spec));
        schema_objects_append(all, names);
        json_decref(names);
    }
    section_names(s, "meter", "name", json_copy(all));
    for (size_t i = 1; i < sizeof indices / sizeof *indices; i++)
        only_these(s, indices[i], json_copy(all));
    json_decref(all);
}

// ---- the rest -----------------------------------------------------------------------------------

static void selectors(const struct sections *s) {
    json_t *all = json_array();
    struct sk_object o;
    for (size_t i = 0; sk_object_at(s->sw, SK_SELECTOR, i, &o); i++) {
        const struct sk_selector_desc *d = o.desc->selectors[o.index];
        json_t *names = schema_object_names(s->sw, &o);
        json_t *size = json_pack("{s:I}", "maximum", (json_int_t)d->max_group_size);
        section_item(s, "group", "selector", names,
                     json_pack("{s:{s:o, s:{s:I}}}", "properties", "max_size", size, "members",
                               "maxItems", (json_int_t)d->max_group_size));
        json_t *data =
            schema_text("{'$ACTION_MEMBER_ID': {'type': 'array', 'items': {'$ref': '#/$defs/u32'}},"
                        " '$ACTION_MEMBER_STATUS': {'type': 'array', 'items': {'type': 'boolean'}},"
                        " '$MAX_GROUP_SIZE': {'$ref': '#/$defs/u32'}}");
        json_t *key = schema_objects_index_key("$SELECTOR_GROUP_ID", (uint64_t)UINT32_MAX + 1);
        cell_entries(s, "$SELECTOR_GROUP_ID", names,
                     json_pack("{s:o, s:o}", "key", key, "data", schema_objects_of(data)));
        schema_objects_append(all, names);
        json_decref(names);
    }
    section_names(s, "group", "selector", json_copy(all));
    only_these(s, "$SELECTOR_GROUP_ID", all);
}

// Returns the names of all.
static json_t *schema_objects_value_sets(const struct sections *s) {
    json_t *all = json_array();
    struct sk_object o;
    for (size_t i = 0; sk_object_at(s->sw, SK_VALUE_SET, i, &o); i++) {
        const struct sk_value_set_desc *d = &o.desc->value_sets[o.index];
        json_t *names = schema_object_names(s->sw, &o);
        json_t *key = schema_keys(d->keys, d->n_keys, false);
        section_item(s, "value_set", "name", names,
                     json_pack("{s:{s:O}}", "properties", "key", key));
        // in entries, where no table has the name
        json_t *rule = schema_when("table", json_copy(names),
                                   json_pack("{s:{s:o}}", "properties", "key", key));
        json_object_set_new(json_object_get(rule, "if"), "not",
                            schema_text("{'anyOf': [{'required': ['action']}, {'required': "
                                        "['member']}, {'required': ['group']}, {'required': "
                                        "['data']}]}"));
        schema_add(def(s, "entry"), rule);
        schema_objects_append(all, names);
        json_decref(names);
    }
    section_names(s, "value_set", "name", json_copy(all));
    return all;
}

static void schema_objects_hashes(const struct sections *s) {
    json_t *all = json_array();
    struct sk_object o;
    for (size_t i = 0; sk_object_at(s->sw, SK_HASH, i, &o); i++) {
        json_t *names = schema_object_names(s->sw, &o);
        schema_objects_append(all, names);
        json_decref(names);
    }
    section_names(s, "hash", "name", all);
}

static void schema_objects_port_metadata(const struct sections *s) {
    const struct sk_program_desc *p = sk_switch_program(s->sw);
    json_t *forms = schema_text("[{'$ref': '#/$defs/value'}]");
    for (uint32_t i = 0; i < p->n_pipelines; i++) {
        const struct sk_pipeline_desc *d = p->pipelines[i];
        json_t *fields = json_object();
        for (uint32_t k = 0; k < d->n_port_fields; k++) {
            json_t *names = schema_field_names(d->port_fields, d->n_port_fields, k),
                   *value = schema_value(&d->port_fields[k]);
            schema_put(fields, names, value);
            json_decref(names);
            json_decref(value);
        }
        json_array_append_new(forms, schema_objects_of(fields));
    }
    json_object_set_new(s->defs, "port_metadata", json_pack("{s:o}", "anyOf", forms));
}

// What an entry without an index in its key can name.
static void plain_entries(const struct sections *s, json_t *sets) {
    json_t *names = json_array();
    struct sk_object o;
    for (size_t i = 0; sk_object_at(s->sw, SK_TABLE, i, &o); i++) {
        json_t *own = schema_object_names(s->sw, &o);
        schema_objects_append(names, own);
        json_decref(own);
    }
    json_array_extend(names, sets);
    json_decref(sets);
    schema_add(def(s, "entry"),
               json_pack("{s:{s:{s:{s:{s:s}}}}, s:{s:{s:{s:[{s:o}, {s:s}, {s:s}]}}}}", "if",
                         "properties", "key", "not", "$ref", "#/$defs/cell_key", "then",
                         "properties", "table", "anyOf", "enum", names, "$ref", "#/$defs/params",
                         "pattern", "(^|\\.)\\$PORT_METADATA$"));
}

void schema_add_objects(json_t *defs, const struct sk_switch *sw) {
    const struct sections s = {sw, defs};
    schema_objects_registers(&s);
    schema_objects_counters(&s);
    schema_objects_meters(&s);
    selectors(&s);
    schema_objects_hashes(&s);
    schema_objects_port_metadata(&s);
    plain_entries(&s, schema_objects_value_sets(&s));
}
