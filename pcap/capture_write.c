// SPDX-License-Identifier: Apache-2.0
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pcap/capture.h"

#define MAGIC_NS     0xa1b23c4du
#define SNAPLEN      65535u
#define LINK_ETHER   1u
#define NS_PER_S     UINT64_C(1000000000)
#define WRITE_BUFFER (256u << 10)

struct capture_writer {
    FILE *file;
    char *path;
};

static int failed(const struct capture_writer *w, struct sk_error *err) {
    return sk_fail(err, "cannot write %s: %s", w->path, strerror(errno));
}

struct capture_writer *capture_create(const char *path, struct sk_error *err) {
    const uint32_t head[] = {htole32(MAGIC_NS),
                             htole32(2 | 4 << 16), // version 2.4
                             0,
                             0,
                             htole32(SNAPLEN),
                             htole32(LINK_ETHER)};
    struct capture_writer *w = calloc(1, sizeof *w);
    if (!w || !(w->path = strdup(path)))
        abort();
    w->file = fopen(path, "wbe");
    if (w->file && setvbuf(w->file, NULL, _IOFBF, WRITE_BUFFER) == 0 &&
        fwrite(head, sizeof head, 1, w->file) == 1)
        return w;
    failed(w, err);
    if (w->file)
        fclose(w->file);
    free(w->path);
    free(w);
    return NULL;
}

int capture_write(struct capture_writer *w, uint64_t time_ns, const uint8_t *bytes, uint32_t length,
                  struct sk_error *err) {
    const uint32_t head[] = {htole32((uint32_t)(time_ns / NS_PER_S)),
                             htole32((uint32_t)(time_ns % NS_PER_S)), htole32(length),
                             htole32(length)};
    if (fwrite(head, sizeof head, 1, w->file) != 1 || fwrite(bytes, 1, length, w->file) != length)
        return failed(w, err);
    return 0;
}

int capture_finish(struct capture_writer *w, struct sk_error *err) {
    if (!w)
        return 0;
    int rc = fclose(w->file) ? failed(w, err) : 0;
    free(w->path);
    free(w);
    return rc;
}
