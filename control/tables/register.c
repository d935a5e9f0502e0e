// SPDX-License-Identifier: Apache-2.0
//
// register: cells of registers by name, index and field (control.h).
#include <string.h>

#include "control/tables/control.h"
#include "control/tables/names.h"
#include "control/tables/values.h"

struct cell {
    struct sk_object object;
    const struct sk_register_desc *desc;
    uint32_t word;
    struct sk_pipe_list pipes;
};

static const char *word_name_at(const void *list, size_t i) {
    return ((const struct sk_register_desc *)list)->word_names[i];
}

// BF Runtime puts the register's name in front: "Ingress.reg.f1".
static const char *without_register(const struct sk_register_desc *d, const char *field) {
    char name[256];
    const char *dot = strrchr(field, '.');
    size_t length = dot ? (size_t)(dot - field) : sizeof name;
    if (length >= sizeof name)
        return field;
    memcpy(name, field, length);
    name[length] = 0;
    return sk_name_matches(d->name, name) ? dot + 1 : field;
}

static int find_word(const struct sk_register_desc *d, const char *field, struct sk_error *err) {
    if (!field)
        return 0;
    field = without_register(d, field);
    if (!d->word_names[0] || (d->words == 2 && !d->wide && !d->word_names[1])) {
        bool first = strcmp(field, "f1") == 0, second = strcmp(field, "f2") == 0;
        bool known = first || (second && d->words == 2 && !d->wide);
        return known ? second : sk_fail(err, "it has no field '%s'", field);
    }
    return sk_find_name(&(struct sk_name_list){"field", d->wide ? 1 : d->words, word_name_at, d},
                        field, err);
}

static int control_register_find_cell(struct sk_switch *sw, const char *name, uint64_t index,
                                      const char *field, int pipe, struct cell *cell,
                                      struct sk_error *err) {
    int rc = sk_find_object(sw, SK_REGISTER, name, &cell->object, err);
    if (rc)
        return rc;
    cell->desc = &cell->object.desc->registers[cell->object.index];
    if (index >= cell->desc->size)
        return sk_fail(err, "register '%s' has %llu cells; there is no index %llu",
                       cell->desc->name, (unsigned long long)cell->desc->size,
                       (unsigned long long)index);
    int word = find_word(cell->desc, field, err);
    if (word < 0) {
        sk_error_prefix(err, "register '%s'", cell->desc->name);
        return word;
    }
    cell->word = (uint32_t)word;
    return sk_find_pipes(sw, &cell->object, pipe, &cell->pipes, err);
}

int sk_control_register_read_words(struct sk_switch *sw, const char *name, uint64_t index,
                                   const char *field, uint64_t values[SK_PIPES][2],
                                   struct sk_error *err) {
    struct cell c;
    int rc = control_register_find_cell(sw, name, index, field, -1, &c, err);
    if (rc)
        return rc;
    memset(values, 0, SK_PIPES * sizeof *values);
    for (unsigned i = 0; i < c.pipes.n; i++) {
        unsigned pipe = c.pipes.list[i];
        for (uint32_t w = 0; w < (c.desc->wide ? 2 : 1); w++)
            values[pipe][w] = c.object.desc->register_read(sk_switch_pipe(sw, pipe), c.object.index,
                                                           index, c.word + w);
    }
    return 0;
}

int sk_control_register_read(struct sk_switch *sw, const char *name, uint64_t index,
                             const char *field, uint64_t values[SK_PIPES], struct sk_error *err) {
    uint64_t words[SK_PIPES][2];
    int rc = sk_control_register_read_words(sw, name, index, field, words, err);
    for (unsigned i = 0; rc == 0 && i < SK_PIPES; i++)
        values[i] = words[i][0];
    return rc;
}

struct sk_field_desc sk_register_field(const struct sk_register_desc *d) {
    return (struct sk_field_desc){.width = d->wide ? 2 * d->width : d->width,
                                  .is_signed = d->is_signed};
}

int sk_control_register_write(struct sk_switch *sw, const char *name, uint64_t index,
                              const char *field, const char *value, int pipe,
                              struct sk_error *err) {
    struct cell c;
    uint64_t words[2];
    int rc = control_register_find_cell(sw, name, index, field, pipe, &c, err);
    if (rc)
        return rc;
    const struct sk_field_desc f = sk_register_field(c.desc);
    rc = sk_value_parse(value, &f, words, err);
    if (rc) {
        sk_error_prefix(err, "register '%s'", c.desc->name);
        return rc;
    }
    for (unsigned i = 0; i < c.pipes.n; i++)
        for (uint32_t w = 0; w < sk_words(f.width); w++)
            c.object.desc->register_write(sk_switch_pipe(sw, c.pipes.list[i]), c.object.index,
                                          index, c.word + w, words[w]);
    return 0;
}
