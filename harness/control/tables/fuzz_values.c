// SPDX-License-Identifier: Apache-2.0
//
// fuzz_values: any text as a key of a field of any width and kind; what is taken must be within the
// field and come back the same from its printed form.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/tables/values.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_width(const struct sk_field_desc *f, const uint64_t *words) {
    if (f->width % 64 && words[sk_words(f->width) - 1] >> f->width % 64)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 3)
        return 0;
    const struct sk_field_desc f = {.width = 1 + (data[0] | (data[1] & 15u) << 8),
                                    .match = data[2] % 4,
                                    .is_signed = data[2] & 4};
    uint64_t value[SK_MAX_KEY_WORDS], mask[SK_MAX_KEY_WORDS], value2[SK_MAX_KEY_WORDS],
        mask2[SK_MAX_KEY_WORDS];
    struct sk_error err = {""};
    char *text = strndup((const char *)data + 3, size - 3);
    if (sk_key_parse(text, &f, value, mask, &err) == 0) {
        check_width(&f, value);
        check_width(&f, mask);
        char printed[4096];
        if (sk_key_format(printed, sizeof printed, &f, value, mask) >= sizeof printed ||
            sk_key_parse(printed, &f, value2, mask2, &err) ||
            memcmp(value, value2, sk_words(f.width) * 8) != 0 ||
            memcmp(mask, mask2, sk_words(f.width) * 8) != 0)
            abort();
    } else if (!err.text[0]) {
        abort();
    }
    free(text);
    return 0;
}
