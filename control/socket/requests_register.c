// SPDX-License-Identifier: Apache-2.0
#include "control/socket/requests_impl.h"

#include <stdio.h>

static const char *word_name(const struct sk_register_desc *d, uint32_t word) {
    static const char *const plain[] = {"f1", "f2"};
    return d->word_names[word] ? d->word_names[word] : plain[word];
}

static uint32_t fields_of(const struct sk_register_desc *d) {
    return d->wide ? 1 : d->words;
}

struct register_copy {
    uint64_t words[SK_PIPES][2];
};

static void copy_register(const struct request *r, const struct sk_object *o, uint64_t index,
                          struct register_copy *out) {
    const struct sk_register_desc *d = &o->desc->registers[o->index];
    const uint32_t n = d->wide || d->words > 1 ? 2 : 1;
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
        for (uint32_t k = 0; sk_object_in_pipe(r->sw, o, pipe) && k < n; k++)
            out->words[pipe][k] =
                o->desc->register_read(sk_switch_pipe(r->sw, pipe), o->index, index, k);
}

static json_t *requests_register_cell(const struct request *r, const struct sk_object *o,
                                      uint64_t index, const void *copy) {
    const struct sk_register_desc *d = &o->desc->registers[o->index];
    const struct register_copy *c = copy;
    const struct sk_field_desc f = sk_register_field(d);
    json_t *cell = json_object();
    sk_set_number(cell, "index", index);
    for (uint32_t word = 0; word < fields_of(d); word++) {
        json_t *values = json_array();
        for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
            if (sk_object_in_pipe(r->sw, o, pipe))
                json_array_append_new(values, sk_value_text(&f, c->words[pipe] + word));
        json_object_set_new(cell, word_name(d, word), values);
    }
    return cell;
}

json_t *sk_request_register_read(const struct request *r) {
    static const char *const keys[] = {"op", "name", "from", "count", NULL};
    struct sk_object o;
    struct page page;
    sk_at_keys(r->at, keys);
    const char *name = sk_member_string(r, "name");
    if (!good(r))
        return NULL;
    if (sk_find_object(r->sw, SK_REGISTER, name, &o, r->err))
        return requests_failed(r);
    const struct sk_register_desc *d = &o.desc->registers[o.index];
    if (!sk_read_page(r, d->size, &page))
        return NULL;
    struct register_copy copies[SK_PAGE];
    sk_pauses_begin(r->pauses);
    for (uint64_t i = page.from; i < page.to; i++)
        copy_register(r, &o, i, &copies[i - page.from]);
    sk_pauses_end(r->pauses);
    json_t *result =
        sk_cells_json(r, &o, &page, d->size, copies, sizeof *copies, requests_register_cell);
    json_t *fields = json_array(), *pipes = json_array();
    for (uint32_t word = 0; word < fields_of(d); word++)
        json_array_append_new(fields, json_string(word_name(d, word)));
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
        if (sk_object_in_pipe(r->sw, &o, pipe))
            json_array_append_new(pipes, json_integer(pipe));
    json_object_set_new(result, "fields", fields);
    json_object_set_new(result, "pipes", pipes);
    return result;
}

// All fields or none: the control API writes one at a time.
static int write_fields(const struct request *r, const char *name, uint64_t index, int pipe,
                        const struct sk_named_value *fields, size_t n) {
    uint64_t old[2][SK_PIPES];
    int rc = n > 2 ? sk_fail(r->err, "a register has at most two fields") : 0;
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = sk_control_register_read(r->sw, name, index, fields[i].name, old[i], r->err);
    size_t written = 0;
    for (; rc == 0 && written < n; written++)
        rc = sk_control_register_write(r->sw, name, index, fields[written].name,
                                       fields[written].value, pipe, r->err);
    if (rc == 0)
        return 0;
    // the first field was good and the second not: take the first back
    for (unsigned p = 0; written == 2 && p < SK_PIPES; p++) {
        char text[24];
        struct sk_error ignored;
        snprintf(text, sizeof text, "0x%llx", (unsigned long long)old[0][p]);
        if (pipe == -1 || pipe == (int)p)
            sk_control_register_write(r->sw, name, index, fields[0].name, text, (int)p, &ignored);
    }
    return rc;
}

json_t *sk_request_register_write(const struct request *r) {
    static const char *const keys[] = {"op", "name", "index", "value", "pipe", NULL};
    sk_at_keys(r->at, keys);
    const char *name = sk_member_string(r, "name");
    uint64_t index = sk_member_number(r, "index", true, INT64_MAX);
    int pipe = sk_at_pipe(r->at);
    struct sk_at value = sk_at_member(r->at, "value");
    struct sk_named_value plain = {NULL, NULL}, *fields = &plain;
    size_t n = 1;
    if (json_is_object(value.value))
        fields = sk_at_values(&value, &n);
    else
        plain.value = sk_at_text(&value);
    return good(r) ? requests_done(r, write_fields(r, name, index, pipe, fields, n)) : NULL;
}

// Of all pipes together.
static struct sk_counter_cell sum_counter(const struct request *r, const struct sk_object *o,
                                          uint64_t index) {
    struct sk_counter_cell sum = {0};
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++) {
        if (!sk_object_in_pipe(r->sw, o, pipe))
            continue;
        const struct sk_counter_cell *c =
            o->desc->counter(sk_switch_pipe(r->sw, pipe), o->index) + index;
        sum.packets += c->packets;
        sum.bytes += c->bytes;
    }
    return sum;
}

static json_t *counter_cell(const struct request *r, const struct sk_object *o, uint64_t index,
                            const void *copy) {
    const struct sk_counter_cell *c = copy;
    const uint8_t type = o->desc->counters[o->index].type;
    json_t *cell = json_object();
    (void)r;
    sk_set_number(cell, "index", index);
    if (type != 1)
        sk_set_number(cell, "packets", c->packets);
    if (type != 0)
        sk_set_number(cell, "bytes", c->bytes);
    return cell;
}

json_t *sk_request_counter_read(const struct request *r) {
    static const char *const keys[] = {"op", "name", "from", "count", NULL};
    struct sk_object o;
    struct page page;
    sk_at_keys(r->at, keys);
    const char *name = sk_member_string(r, "name");
    if (!good(r))
        return NULL;
    if (sk_find_object(r->sw, SK_COUNTER, name, &o, r->err))
        return requests_failed(r);
    uint64_t size = o.desc->counters[o.index].size;
    if (o.desc->counters[o.index].direct) {
        sk_fail(r->err, "counter '%s' is in the entries of table '%s'; name one by its key",
                sk_object_name(&o), o.desc->tables[o.desc->counters[o.index].table]->name);
        return requests_failed(r);
    }
    if (!sk_read_page(r, size, &page))
        return NULL;
    struct sk_counter_cell copies[SK_PAGE];
    sk_pauses_begin(r->pauses);
    for (uint64_t i = page.from; i < page.to; i++)
        copies[i - page.from] = sum_counter(r, &o, i);
    sk_pauses_end(r->pauses);
    return sk_cells_json(r, &o, &page, size, copies, sizeof *copies, counter_cell);
}
