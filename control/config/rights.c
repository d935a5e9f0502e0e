// SPDX-License-Identifier: Apache-2.0
#include "control/config/rights.h"

#define LONGEST_COMPILATION 86400u // seconds
#define LEAST_MEMORY        256u   // MiB, less than the C compiler needs for any program
#define MOST_MEMORY         (UINT64_C(1) << 20)

void sk_config_read_requests(const struct sk_at *root, struct sk_config *c) {
    static const char *const keys[] = {"compile_seconds", "compile_memory", NULL};
    struct sk_config_requests *q = &c->requests;
    const struct sk_at at = sk_at_member(root, "requests");
    sk_at_keys(&at, keys);
    const struct sk_at seconds = sk_at_member(&at, "compile_seconds"),
                       memory = sk_at_member(&at, "compile_memory");
    q->compile_seconds =
        seconds.value ? sk_at_between(&seconds, true, 1, LONGEST_COMPILATION) : SK_COMPILE_SECONDS;
    q->compile_memory =
        memory.value ? sk_at_between(&memory, true, LEAST_MEMORY, MOST_MEMORY) : SK_COMPILE_MEMORY;
}
