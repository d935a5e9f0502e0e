// SPDX-License-Identifier: Apache-2.0
//
// mask: which bits of its keys a table looks at. stf.h lists the statement.
#include "control/tables/masks.h"
#include "pcap/stf/stf_impl.h"

// name; keys: FIELD:MASK
bool stf_parse_key_mask(struct parser *p, struct stf_statement *s) {
    s->name = stf_name(p, "a table's name");
    if (!s->name)
        return false;
    while (!stf_at_end(p)) {
        const char *field = stf_name(p, "a key field");
        if (!field || !stf_push_value(p, &s->keys, &s->n_keys, field))
            return field ? stf_fail(p, "':' is missing after '%s'", field) : false;
    }
    return true;
}

bool stf_run_key_mask(struct run *r, const struct stf_statement *s) {
    struct sk_error err;
    return stf_done(
        r, sk_control_key_mask_set(stf_switch(r), s->name, s->keys, s->n_keys, -1, &err), &err);
}
