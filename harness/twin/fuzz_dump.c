// SPDX-License-Identifier: Apache-2.0
//
// fuzz_dump: any bytes as a dump of tables. What is read is held against itself, which differs in
// nothing, and against a dump of another form; both are printed, too.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "twin/items.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct twin_side *fuzz_dump_side(const char *text, size_t length) {
    struct sk_error err = {""};
    struct twin_side *s = twin_side_new("side");
    if (twin_read_text(s, "fuzz", text, length, &err) == 0 && twin_read_end(s, &err) == 0)
        return s;
    if (!err.text[0] || strchr(err.text, '\n'))
        abort(); // refused without a word
    twin_side_free(s);
    return NULL;
}

static int64_t fuzz_dump_diff(const struct twin_side *a, const struct twin_side *b,
                              const struct twin_diff_options *with) {
    struct sk_error err;
    char *text = NULL;
    size_t n = 0;
    struct twin_diff_options opt = *with;
    opt.out = open_memstream(&text, &n);
    if (!opt.out)
        abort();
    const int64_t found = twin_diff(a, b, &opt, &err);
    if (fclose(opt.out) || found < 0 || n == 0)
        abort();
    free(text);
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char other[] =
        "[{\"table_name\": \"t\", \"key\": {\"a\": 1}, \"data\": {\"b\": 2}}]";
    struct twin_side *a = fuzz_dump_side((const char *)data, size),
                     *b = fuzz_dump_side((const char *)data, size),
                     *c = fuzz_dump_side(other, sizeof other - 1);
    if (!a != !b || !c)
        abort();
    if (a && fuzz_dump_diff(a, b, &(struct twin_diff_options){.everything = true}))
        abort();
    if (a && fuzz_dump_diff(a, c, &(struct twin_diff_options){.json = true}) !=
                 fuzz_dump_diff(c, a, &(struct twin_diff_options){.json = false}))
        abort();
    twin_side_free(a);
    twin_side_free(b);
    twin_side_free(c);
    return 0;
}
