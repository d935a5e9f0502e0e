// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target: steps of a filter as the control socket takes them, 8 bytes each, then a frame.
// A filter that is taken must end and read nothing outside of the frame; of a whole frame and of
// a cut one.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "filter/filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FRAME 128u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct sk_error err = {""};
    struct sk_json doc = {.name = "request", .err = &err};
    json_t *list = json_array();
    size_t n = size ? data[0] % 64u : 0;
    for (size_t i = 1; n && i + 8 <= size; i += 8, n--) {
        uint16_t code;
        uint32_t k;
        memcpy(&code, data + i, 2);
        memcpy(&k, data + i + 4, 4);
        json_array_append_new(
            list, json_pack("[i,i,i,I]", code, data[i + 2], data[i + 3], (json_int_t)k));
    }
    const struct sk_at at = {.doc = &doc, .value = list};
    struct sk_filter *f = sk_filter_of_json(&at);
    if (!f && !(doc.failed && err.text[0]))
        abort();
    if (f) {
        // of its own size, so that what is read beyond it is seen
        const size_t length = size < FRAME ? size : FRAME;
        uint8_t *frame = malloc(length);
        memcpy(frame, data + size - length, length);
        sk_filter_matches(f, frame, (uint32_t)length, (uint32_t)length);
        sk_filter_matches(f, frame, (uint32_t)length, (uint32_t)length + 10);
        free(frame);
    }
    sk_filter_free(f);
    json_decref(list);
    return 0;
}
