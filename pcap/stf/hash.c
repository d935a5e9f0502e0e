// SPDX-License-Identifier: Apache-2.0
//
// hash: statements that change hashes. stf.h lists them.
#include <string.h>

#include "control/tables/hashes.h"
#include "control/tables/values.h"
#include "pcap/stf/stf_impl.h"

// name, keys: the fields in 'value', in their order
bool stf_parse_hash_fields(struct parser *p, struct stf_statement *s) {
    s->name = stf_name(p, "a hash's name");
    if (!s->name)
        return false;
    if (s->kind == STF_HASH_RESET)
        return stf_end(p);
    s->keys = stf_keep(p, (strlen(stf_rest(p)) + 1) * sizeof *s->keys);
    while (!stf_at_end(p)) {
        const char *field = stf_value(p, "a field");
        if (!field)
            return false;
        s->keys[s->n_keys++] = (struct sk_named_value){NULL, field};
    }
    return true;
}

static bool pairs(struct parser *p, struct stf_statement *s) {
    while (!stf_at_end(p) && !strchr("=!<>", *stf_rest(p))) {
        const char *field = stf_name(p, "a name");
        if (!field || !stf_push_value(p, &s->keys, &s->n_keys, field))
            return field ? stf_fail(p, "':' is missing after '%s'", field) : false;
    }
    return true;
}

// name, keys: FIELD:VALUE; op, value: what a computation gives
bool stf_parse_hash_values(struct parser *p, struct stf_statement *s) {
    s->name = stf_name(p, "a hash's name");
    if (!s->name || !pairs(p, s))
        return false;
    if (s->kind == STF_HASH_ALGORITHM)
        return stf_end(p);
    if (!stf_operator(p, &s->op))
        return false;
    s->value = stf_value(p, "the hash");
    return s->value && stf_end(p);
}

// ---- running ----------------------------------------------------------------------------------

bool stf_run_hash_fields(struct run *r, const struct stf_statement *s) {
    struct sk_error err;
    const char *fields[8 * SK_HASH_MAX_BYTES];
    if (s->n_keys > sizeof fields / sizeof *fields)
        return stf_unusable(r, "that many fields cannot be hashed");
    for (size_t i = 0; i < s->n_keys; i++)
        fields[i] = s->keys[i].value;
    return stf_done(r, sk_control_hash_fields(stf_switch(r), s->name, fields, s->n_keys, -1, &err),
                    &err);
}

bool stf_run_hash_algorithm(struct run *r, const struct stf_statement *s) {
    struct sk_error err;
    return stf_done(
        r, sk_control_hash_algorithm(stf_switch(r), s->name, s->keys, s->n_keys, -1, &err), &err);
}

bool stf_run_hash_reset(struct run *r, const struct stf_statement *s) {
    struct sk_error err;
    return stf_done(r, sk_control_hash_reset(stf_switch(r), s->name, -1, &err), &err);
}

bool stf_run_hash_compute(struct run *r, const struct stf_statement *s) {
    struct sk_hash_view view;
    struct sk_error err;
    uint64_t got[2], expected[2] = {0, 0};
    char text[2][64];
    if (!stf_done(r, sk_control_hash_view(stf_switch(r), s->name, -1, &view, &err), &err))
        return false;
    const struct sk_field_desc f = {.width = view.desc->width};
    if (!stf_done(r, sk_value_parse(s->value, &f, expected, &err), &err) ||
        !stf_done(
            r, sk_control_hash_compute(stf_switch(r), s->name, s->keys, s->n_keys, -1, got, &err),
            &err))
        return false;
    int order = got[1] != expected[1]   ? (got[1] < expected[1] ? -1 : 1)
                : got[0] != expected[0] ? (got[0] < expected[0] ? -1 : 1)
                                        : 0;
    sk_value_format(text[0], sizeof text[0], &f, got);
    sk_value_format(text[1], sizeof text[1], &f, expected);
    if (!stf_holds(order, s->op))
        stf_differs(r, "hash %s is %s, expected %s %s", s->name, text[0], stf_op_text[s->op],
                    text[1]);
    return true;
}
