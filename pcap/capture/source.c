// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/memory.h"
#include "pcap/capture/capture_impl.h"

#define BUFFER      (256u << 10)
#define GZIP_INPUT  (64u << 10)
#define GZIP_WINDOW (16 + MAX_WBITS) // gzip, nothing else
#define LOOK_MS     100 // how often it looks whether it shall stop, where nothing comes

struct gzip {
    z_stream z;
    bool between; // a member has ended
    uint8_t input[GZIP_INPUT];
};

static int source_fail(struct source *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static int source_fail(struct source *s, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(s->error, sizeof s->error, format, args);
    va_end(args);
    return -1;
}

// Bytes read, 0 at the end, or -1. What is no file is asked first, so that a stop is seen.
static ssize_t source_read_some(struct source *s, uint8_t *to, size_t n) {
    for (;;) {
        struct pollfd p = {.fd = s->fd, .events = POLLIN};
        if (source_stopped(s))
            return 0;
        if (!s->regular && poll(&p, 1, LOOK_MS) <= 0)
            continue;
        ssize_t got = read(s->fd, to, n);
        if (got >= 0) {
            s->taken += (uint64_t)got;
            return got;
        }
        if (errno != EINTR && errno != EAGAIN)
            return source_fail(s, "%s", strerror(errno));
    }
}

// ---- gzip ----

static void start_gzip(struct source *s) {
    struct gzip *g = calloc(1, sizeof *g);
    if (!g || inflateInit2(&g->z, GZIP_WINDOW) != Z_OK)
        abort();
    g->z.next_in = g->input;
    g->z.avail_in = (unsigned)source_waiting(s);
    memcpy(g->input, source_at(s), source_waiting(s));
    s->gzip = g;
    s->from = s->to = 0;
}

// Another member, or the end: zeros may stand after it, as tapes had them.
static int next_member(struct source *s) {
    struct gzip *g = s->gzip;
    while (g->z.avail_in && *g->z.next_in == 0) {
        g->z.next_in++;
        g->z.avail_in--;
    }
    if (g->z.avail_in == 0)
        return 0;
    g->between = false;
    if (inflateReset(&g->z) != Z_OK)
        abort();
    return 1;
}

static ssize_t inflate_some(struct source *s, uint8_t *to, size_t n) {
    struct gzip *g = s->gzip;
    g->z.next_out = to;
    g->z.avail_out = (unsigned)n;
    while (g->z.avail_out == n) {
        if (g->z.avail_in == 0) {
            ssize_t got = source_read_some(s, g->input, sizeof g->input);
            if (got < 0)
                return -1;
            if (got == 0)
                return g->between || source_stopped(s)
                           ? 0
                           : source_fail(s, "the compressed file ends too early");
            g->z.next_in = g->input;
            g->z.avail_in = (unsigned)got;
        }
        if (g->between && next_member(s) == 0)
            continue;
        int rc = inflate(&g->z, Z_NO_FLUSH);
        if (rc == Z_STREAM_END)
            g->between = true;
        else if (rc == Z_MEM_ERROR)
            abort();
        else if (rc != Z_OK && rc != Z_BUF_ERROR)
            return source_fail(s, "the compressed file is corrupt: %s",
                               g->z.msg ? g->z.msg : "bad data");
    }
    return (ssize_t)(n - g->z.avail_out);
}

// ---- the buffer ----

// 1 when at least a byte came, 0 at the end, -1.
static int source_more(struct source *s) {
    size_t room = s->capacity - s->to;
    ssize_t n = s->gzip ? inflate_some(s, s->buffer + s->to, room)
                        : source_read_some(s, s->buffer + s->to, room);
    if (n <= 0) {
        s->end = n == 0;
        return (int)n;
    }
    s->to += (size_t)n;
    return 1;
}

static void source_allocate(struct source *s) {
    s->memory = sk_resize(s->memory, CAPTURE_FRONT + s->capacity + CAPTURE_BEHIND, 1);
    s->buffer = s->memory + CAPTURE_FRONT;
}

static void source_make_room(struct source *s, size_t n) {
    memmove(s->buffer, source_at(s), source_waiting(s));
    s->before += s->from;
    s->to -= s->from;
    s->from = 0;
    if (n <= s->capacity)
        return;
    while (s->capacity < n)
        s->capacity *= 2;
    source_allocate(s);
}

int source_fill(struct source *s, size_t n) {
    int rc = 1;
    if (source_waiting(s) < n)
        source_make_room(s, n);
    while (rc > 0 && source_waiting(s) < n)
        rc = s->end ? 0 : source_more(s);
    return rc;
}

int source_skip(struct source *s, uint64_t n) {
    while (n > source_waiting(s)) {
        n -= source_waiting(s);
        s->from = s->to;
        int rc = source_fill(s, 1);
        if (rc <= 0)
            return rc;
    }
    s->from += n;
    return 1;
}

// What still waits in the buffer is thought to be compressed as well as what was before.
void source_position(const struct source *s, uint64_t *done, uint64_t *size) {
    const uint64_t taken = s->taken - (s->gzip ? s->gzip->z.avail_in : 0);
    const uint64_t over = s->before + s->from, all = s->before + s->to;
    *done = all ? (uint64_t)((double)taken * (double)over / (double)all) : 0;
    *size = s->size;
}

int source_open(struct source *s, const char *path, const volatile sig_atomic_t *stop) {
    struct stat st;
    *s = (struct source){.stop = stop, .capacity = BUFFER};
    // Opening a FIFO would wait for a writer: it is polled for one instead.
    s->fd =
        strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (s->fd < 0 || fstat(s->fd, &st))
        return source_fail(s, "%s", strerror(errno));
    if (S_ISDIR(st.st_mode))
        return source_fail(s, "%s", strerror(EISDIR));
    s->regular = S_ISREG(st.st_mode);
    s->size = s->regular ? (uint64_t)st.st_size : 0;
    source_allocate(s);
    // not more than gzip's buffer takes
    s->capacity = GZIP_INPUT;
    int rc = source_fill(s, 2);
    s->capacity = BUFFER;
    if (rc > 0 && source_at(s)[0] == 0x1f && source_at(s)[1] == 0x8b)
        start_gzip(s);
    return rc < 0 ? -1 : 0;
}

void source_close(struct source *s) {
    if (s->gzip)
        inflateEnd(&s->gzip->z);
    free(s->gzip);
    free(s->memory);
    if (s->fd >= 0)
        close(s->fd);
}
