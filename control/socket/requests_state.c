// SPDX-License-Identifier: Apache-2.0
//
// requests_state: the whole state at one moment, as text (state.h).
#include <stdlib.h>

#include "control/socket/requests_impl.h"
#include "control/state/state.h"

json_t *sk_request_state(const struct request *r) {
    static const char *const keys[] = {"op", NULL};
    char *text = NULL;
    size_t length;
    sk_at_keys(r->at, keys);
    if (!good(r))
        return NULL;
    FILE *out = open_memstream(&text, &length);
    if (!out || !sk_state_write(r->sw, out) || fclose(out))
        abort(); // out of memory
    json_t *result = json_object();
    json_object_set_new(result, "state", json_stringn(text, length));
    free(text);
    return result;
}
