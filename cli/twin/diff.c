// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/twin/twin.h"
#include "twin/twin.h"

int twin_run_diff(const struct twin_words *w) {
    struct sk_error err;
    const struct twin_diff_options opt = {.json = w->json,
                                          .everything = w->everything,
                                          .ignore = w->ignore.items,
                                          .n_ignore = w->ignore.n,
                                          .out = stdout};
    struct twin_side *a = twin_side_read(w->words[0], &err),
                     *b = a ? twin_side_read(w->words[1], &err) : NULL;
    const int64_t n = b ? twin_diff(a, b, &opt, &err) : -1;
    twin_side_free(a);
    twin_side_free(b);
    if (n < 0) {
        fprintf(stderr, "silken twin: %s\n", err.text);
        return EXIT_UNUSABLE;
    }
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "silken twin: cannot write: %s\n", strerror(errno));
        return EXIT_UNUSABLE;
    }
    return n ? EXIT_FAILED : EXIT_GOOD;
}
