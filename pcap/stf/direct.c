// SPDX-License-Identifier: Apache-2.0
//
// direct: register_read and register_write of direct registers, by their entry's key.
#include "control/tables/direct.h"
#include "control/tables/values.h"
#include "pcap/stf/stf_impl.h"

static bool stf_direct_find(struct run *r, const struct stf_statement *s, struct sk_direct *d,
                            struct sk_entry_spec *e) {
    struct sk_error err;
    return stf_done(r, sk_control_direct_find(stf_switch(r), s->name, s->field, d, &err), &err) &&
           stf_entry_spec(r, s, d->table, e);
}

bool stf_run_direct_write(struct run *r, const struct stf_statement *s) {
    struct sk_direct d;
    struct sk_entry_spec e;
    struct sk_error err;
    return stf_direct_find(r, s, &d, &e) &&
           stf_done(r, sk_control_direct_write(stf_switch(r), &e, &d, s->value, &err), &err);
}

bool stf_run_direct_read(struct run *r, const struct stf_statement *s) {
    uint64_t got[SK_PIPES], want;
    struct sk_direct d;
    struct sk_entry_spec e;
    struct sk_error err;
    if (!stf_direct_find(r, s, &d, &e) ||
        !stf_done(r, sk_control_direct_read(stf_switch(r), &e, &d, got, &err), &err) ||
        !stf_done(r, sk_value_parse(s->value, d.field, &want, &err), &err))
        return false;
    char text[80];
    sk_value_format(text, sizeof text, d.field, &got[s->number]);
    if (!stf_holds(stf_compare_words(got[s->number], want, d.field), s->op))
        stf_differs(r, "the entry's register %s, pipe %u is %s, expected %s %s", d.field->name,
                    (unsigned)s->number, text, stf_op_text[s->op], s->value);
    return true;
}
