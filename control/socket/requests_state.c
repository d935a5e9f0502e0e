// SPDX-License-Identifier: Apache-2.0
//
// requests_state: the whole state as text (state.h), in slices or in one pause.
#include <stdlib.h>

#include "control/socket/requests_impl.h"
#include "control/state/state.h"

static char *requests_state_text(const struct request *r, bool whole, size_t *length) {
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    if (whole)
        sk_pauses_begin(r->pauses);
    if (!out || !sk_state_write(r->sw, whole ? NULL : r->pauses, out) || fclose(out))
        abort(); // out of memory
    if (whole)
        sk_pauses_end(r->pauses);
    return text;
}

json_t *sk_request_state(const struct request *r) {
    static const char *const keys[] = {"op", "whole", NULL};
    size_t length;
    sk_at_keys(r->at, keys);
    const struct sk_at whole = sk_at_member(r->at, "whole");
    if (good(r) && whole.value && !json_is_boolean(whole.value))
        sk_at_fail(&whole, "it must be true or false");
    if (!good(r))
        return NULL;
    char *text = requests_state_text(r, json_is_true(whole.value), &length);
    json_t *result = json_object();
    json_object_set_new(result, "state", json_stringn(text, length));
    free(text);
    return result;
}
