// SPDX-License-Identifier: Apache-2.0
//
// fuzz_layout: any bytes as the file of a layout. What is taken is written again as it was, byte
// for byte, and its keys have their ranks; what is refused says why and leaves nothing.
//
// The digest of the text is put in its place at the end, since no input would guess it: the input's
// last byte says whether.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "hosts/libra/layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t fuzz_layout_sign(char *text, size_t length) {
    uint64_t digest = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < length; i++)
        digest = (digest ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
    return length + (size_t)sprintf(text + length, "digest %016" PRIx64 "\n", digest);
}

static void fuzz_layout_check(const struct libra_layout *layout, const char *text, size_t length) {
    char *again = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&again, &n);

    if (!out || !libra_layout_write(layout, out) || fclose(out) != 0)
        abort();
    if (n != length || memcmp(again, text, n) != 0)
        abort();
    for (size_t i = 0; i < layout->n; i++)
        if (libra_layout_rank(layout, layout->keys[i]) != (int64_t)i)
            abort();
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct libra_layout layout;
    struct sk_error err = {""};
    char *text = calloc(size + 64, 1);
    size_t length = size;

    if (!text)
        return 0;
    memcpy(text, data, size);
    if (size > 0 && data[size - 1] != '\n')
        length = fuzz_layout_sign(text, size - 1);
    if (libra_layout_parse(&layout, text, length, &err) == 0)
        fuzz_layout_check(&layout, text, length);
    else if (err.text[0] == 0 || layout.keys || layout.n)
        abort();
    libra_layout_clear(&layout);
    free(text);
    return 0;
}
