// SPDX-License-Identifier: Apache-2.0
//
// requests_hash: hashes that can be changed (hashes.h), as requests.
#include "control/tables/hashes.h"
#include "control/socket/requests_impl.h"

#include <stdio.h>

static json_t *requests_hash_slice_text(const struct sk_hash_desc *d,
                                        const struct sk_hash_slice *s) {
    const struct sk_hash_field *f = &d->fields[s->field];
    return s->length == f->width
               ? json_string(f->name)
               : json_sprintf("%s[%u:%u]", f->name, s->start + s->length - 1, s->start);
}

static json_t *algorithm_json(const struct sk_hash_algorithm *a) {
    const char *name = sk_hash_algorithm_name(a);
    json_t *out = json_object();
    if (name) {
        json_object_set_new(out, "algorithm", json_string(name));
    } else {
        char text[3][24];
        const uint64_t v[3] = {a->coeff, a->init, a->xor_out};
        for (int i = 0; i < 3; i++)
            snprintf(text[i], sizeof text[i], "0x%llx", (unsigned long long)v[i]);
        json_object_set_new(out, "polynomial", json_string(text[0]));
        json_object_set_new(out, "hash_bit_width", json_integer(a->width));
        json_object_set_new(out, "reverse", json_boolean(a->reversed));
        json_object_set_new(out, "init", json_string(text[1]));
        json_object_set_new(out, "final_xor", json_string(text[2]));
    }
    if (a->kind == SK_HASH_CRC)
        json_object_set_new(out, "extend", json_boolean(a->extended));
    sk_set_number(out, "rotate", a->rotate);
    return out;
}

void sk_describe_hash(const struct request *r, const struct sk_object *o, json_t *out) {
    const struct sk_hash_desc *d = &o->desc->hashes[o->index];
    json_t *pipes = json_array(), *list = json_array();
    for (uint32_t i = 0; i < d->n_fields; i++)
        json_array_append_new(list, json_pack("{s:s, s:i}", "name", d->fields[i].name, "width",
                                              (int)d->fields[i].width));
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++) {
        if (!sk_object_in_pipe(r->sw, o, pipe))
            continue;
        const struct sk_dynhash *h = *o->desc->hash(sk_switch_pipe(r->sw, pipe), o->index);
        json_t *fields = json_array();
        for (uint32_t i = 0; h && i < h->n_slices; i++)
            json_array_append_new(fields, requests_hash_slice_text(d, &h->slices[i]));
        for (uint32_t i = 0; (!h || h->n_slices == 0) && i < d->n_fields; i++)
            json_array_append_new(fields, json_string(d->fields[i].name));
        json_array_append_new(pipes, json_pack("{s:i, s:b, s:o, s:o}", "pipe", (int)pipe, "changed",
                                               !!h, "fields", fields, "algorithm",
                                               algorithm_json(h ? &h->algorithm : &d->algorithm)));
    }
    sk_set_number(out, "width", d->width);
    json_object_set_new(out, "inputs", list);
    json_object_set_new(out, "pipes", pipes);
}

json_t *sk_request_hash_fields(const struct request *r) {
    static const char *const keys[] = {"op", "name", "fields", "pipe", NULL};
    sk_at_keys(r->at, keys);
    const char *name = sk_member_string(r, "name");
    struct sk_at at = sk_at_member(r->at, "fields");
    size_t n;
    const char *const *fields = sk_at_strings(&at, &n);
    int pipe = sk_at_pipe(r->at);
    return good(r) ? requests_done(r, sk_control_hash_fields(r->sw, name, fields, n, pipe, r->err))
                   : NULL;
}

json_t *sk_request_hash_algorithm(const struct request *r) {
    static const char *const keys[] = {"op", "name", "algorithm", "pipe", NULL};
    sk_at_keys(r->at, keys);
    const char *name = sk_member_string(r, "name");
    struct sk_at at = sk_at_member(r->at, "algorithm");
    size_t n;
    struct sk_named_value *values = sk_at_values(&at, &n);
    int pipe = sk_at_pipe(r->at);
    return good(r)
               ? requests_done(r, sk_control_hash_algorithm(r->sw, name, values, n, pipe, r->err))
               : NULL;
}

json_t *sk_request_hash_reset(const struct request *r) {
    static const char *const keys[] = {"op", "name", "pipe", NULL};
    sk_at_keys(r->at, keys);
    const char *name = sk_member_string(r, "name");
    int pipe = sk_at_pipe(r->at);
    return good(r) ? requests_done(r, sk_control_hash_reset(r->sw, name, pipe, r->err)) : NULL;
}

json_t *sk_request_hash_compute(const struct request *r) {
    static const char *const keys[] = {"op", "name", "values", "pipe", NULL};
    struct sk_hash_view view;
    uint64_t result[2];
    sk_at_keys(r->at, keys);
    const char *name = sk_member_string(r, "name");
    struct sk_at at = sk_at_member(r->at, "values");
    size_t n;
    struct sk_named_value *values = sk_at_values(&at, &n);
    int pipe = sk_at_pipe(r->at);
    if (!good(r))
        return NULL;
    if (sk_control_hash_view(r->sw, name, pipe, &view, r->err) ||
        sk_control_hash_compute(r->sw, name, values, n, pipe, result, r->err))
        return requests_failed(r);
    const struct sk_field_desc f = {.width = view.desc->width};
    return json_pack("{s:o}", "hash", sk_value_text(&f, result));
}
