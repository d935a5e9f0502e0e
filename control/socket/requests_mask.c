// SPDX-License-Identifier: Apache-2.0
//
// requests_mask: key masks of tables (masks.h), as requests.
#include "control/tables/masks.h"
#include "control/socket/requests_impl.h"

json_t *sk_request_key_mask(const struct request *r) {
    static const char *const keys[] = {"op", "table", "pipe", NULL};
    struct sk_key_mask_view view;
    sk_at_keys(r->at, keys);
    const char *table = sk_member_string(r, "table");
    int pipe = sk_at_pipe(r->at);
    if (!good(r))
        return NULL;
    if (sk_control_key_mask(r->sw, table, pipe, &view, r->err))
        return requests_failed(r);
    json_t *masks = json_object();
    const uint64_t *words = view.words;
    for (uint32_t i = 0; i < view.desc->n_keys; i++) {
        const struct sk_field_desc f = {.width = view.desc->keys[i].width};
        json_object_set_new(masks, view.desc->keys[i].name, sk_value_text(&f, words));
        words += sk_words(f.width);
    }
    return json_pack("{s:o}", "masks", masks);
}

json_t *sk_request_key_mask_set(const struct request *r) {
    static const char *const keys[] = {"op", "table", "masks", "pipe", NULL};
    sk_at_keys(r->at, keys);
    const char *table = sk_member_string(r, "table");
    struct sk_at at = sk_at_member(r->at, "masks");
    size_t n;
    struct sk_named_value *masks = sk_at_values(&at, &n);
    int pipe = sk_at_pipe(r->at);
    return good(r) ? requests_done(r, sk_control_key_mask_set(r->sw, table, masks, n, pipe, r->err))
                   : NULL;
}
