// SPDX-License-Identifier: Apache-2.0
#include "cli/p4info.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/new_file.h"
#include "p4rt/p4rt.h"

bool p4info_begin(struct p4info_text *t, struct compile_options *opt) {
    *t = (struct p4info_text){.fd = -1, .path = opt->p4info};
    if (opt->p4info)
        return true;
    t->fd = new_file_in_memory(t->memory);
    if (t->fd < 0) {
        fprintf(stderr, "silken build: cannot make a file in memory: %s\n", strerror(errno));
        return false;
    }
    t->path = opt->p4info = t->memory;
    return true;
}

bool p4info_write(const struct p4info_text *t, const char *binary) {
    struct sk_error err = {{0}};
    size_t length, n = 0;
    char *const text = sk_read_file(t->path, &length, &err);
    uint8_t *const bytes = text ? p4rt_info_binary(text, &n, &err) : NULL;
    const char *const why = bytes ? new_file_put(binary, bytes, n) : err.text;
    if (why)
        fprintf(stderr, "silken build: cannot write %s: %s\n", binary, why);
    free(text);
    free(bytes);
    return !why;
}

void p4info_end(struct p4info_text *t) {
    if (t->fd >= 0)
        close(t->fd);
}
