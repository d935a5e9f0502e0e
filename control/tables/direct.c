// SPDX-License-Identifier: Apache-2.0
#include "control/tables/direct.h"

#include <string.h>

#include "control/tables/entry.h"
#include "control/tables/names.h"
#include "control/tables/values.h"

// The fields of all direct registers are named REGISTER.WORD; those of one register are neighbours.
struct search {
    const char *name, *field;
    char found[256];
    bool ambiguous;
    struct sk_direct *out;
};

static size_t register_length(const char *field) {
    const char *dot = strrchr(field, '.');
    return dot ? (size_t)(dot - field) : strlen(field);
}

static void control_direct_look_at(struct search *s, const struct sk_table_desc *t, uint32_t word) {
    const struct sk_field_desc *f = &t->direct_fields[word];
    size_t n = register_length(f->name);
    char name[256];
    if (n >= sizeof name)
        return;
    memcpy(name, f->name, n);
    name[n] = 0;
    if (!sk_name_matches(name, s->name))
        return;
    if (s->found[0] && strcmp(s->found, name) != 0)
        s->ambiguous = true;
    bool wanted = s->field ? strcmp(f->name + n + 1, s->field) == 0 : !s->found[0];
    memcpy(s->found, name, n + 1);
    if (wanted)
        *s->out = (struct sk_direct){.table = t->name, .word = word, .field = f};
}

int sk_control_direct_find(const struct sk_switch *sw, const char *name, const char *field,
                           struct sk_direct *out, struct sk_error *err) {
    struct search s = {.name = name, .field = field, .out = out};
    struct sk_object table;
    *out = (struct sk_direct){0};
    for (size_t i = 0; sk_object_at(sw, SK_TABLE, i, &table); i++) {
        const struct sk_table_desc *t = table.desc->tables[table.index];
        for (uint32_t w = 0; w < t->direct_words; w++)
            control_direct_look_at(&s, t, w);
    }
    if (!s.found[0])
        return sk_fail(err, "no direct register '%s'", name);
    if (s.ambiguous)
        return sk_fail(err, "register name '%s' is ambiguous", name);
    return out->table ? 0 : sk_fail(err, "register '%s': no field '%s'", s.found, field);
}

int sk_control_direct_read(struct sk_switch *sw, const struct sk_entry_spec *e,
                           const struct sk_direct *d, uint64_t values[SK_PIPES],
                           struct sk_error *err) {
    struct sk_found found;
    int rc = sk_control_entry_find(sw, e, &found, err);
    for (unsigned i = 0; i < SK_PIPES; i++)
        values[i] = rc == 0 && i < found.n ? found.entry[i]->direct[d->word] : 0;
    return rc;
}

int sk_control_direct_write(struct sk_switch *sw, const struct sk_entry_spec *e,
                            const struct sk_direct *d, const char *value, struct sk_error *err) {
    struct sk_found found;
    uint64_t v = 0;
    int rc = sk_control_entry_find(sw, e, &found, err);
    if (rc == 0 && (rc = sk_value_parse(value, d->field, &v, err)))
        sk_error_prefix(err, "register '%s'", d->field->name);
    for (unsigned i = 0; rc == 0 && i < found.n; i++)
        found.entry[i]->direct[d->word] = v;
    return rc;
}
