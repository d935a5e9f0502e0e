// SPDX-License-Identifier: Apache-2.0
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pcap/capture/capture.h"
#include "pipeline/program.h"

#define MAGIC_NS     0xa1b23c4du
#define SNAPLEN      65535u
#define LINK_ETHER   1u
#define NS_PER_S     UINT64_C(1000000000)
#define WRITE_BUFFER (64u << 10)
#define NO_INTERFACE UINT16_MAX

enum { BLOCK_SECTION = 0x0a0d0d0a, BLOCK_INTERFACE = 1, BLOCK_STATISTICS = 5, BLOCK_PACKET = 6 };
enum { OPT_COMMENT = 1, OPT_NAME = 2, OPT_DESCRIPTION = 3, OPT_RESOLUTION = 9 }; // of interfaces
enum { OPT_FLAGS = 2, OPT_LOST = 4, OPT_PACKET_ID = 5 };                         // of packets
enum { OPT_FROM = 2, OPT_TO = 3, OPT_RECEIVED = 4, OPT_DROPPED = 5 };            // of statistics
#define BYTE_ORDER_MAGIC 0x1a2b3c4du

struct capture_writer {
    int fd;
    char *path;
    enum capture_form form;
    int error; // errno of what was not written; 0
    uint64_t size;
    uint16_t n_interfaces, interface_of[SK_PORTS];
    // The file is written in blocks that begin at multiples of their size: the system keeps such a
    // block as one piece, and whoever reads the file soon is faster by a third than with pieces of
    // a page or two.
    size_t used, room; // of the buffer: up to where the block ends
    uint8_t buffer[WRITE_BUFFER];
};

// ---- bytes ----

static void write_out(struct capture_writer *w, const uint8_t *bytes, size_t n) {
    while (n && !w->error) {
        ssize_t done = write(w->fd, bytes, n);
        if (done < 0 && errno != EINTR)
            w->error = errno;
        bytes += done > 0 ? done : 0;
        n -= done > 0 ? (size_t)done : 0;
    }
}

static void write_buffer(struct capture_writer *w) {
    write_out(w, w->buffer, w->used);
    w->used = 0;
    w->room = WRITE_BUFFER - w->size % WRITE_BUFFER;
}

static void capture_write_put(struct capture_writer *w, const void *bytes, size_t n) {
    const uint8_t *from = bytes;
    while (n >= w->room - w->used) {
        const size_t part = w->room - w->used;
        memcpy(w->buffer + w->used, from, part);
        w->used += part;
        w->size += part;
        from += part;
        n -= part;
        write_buffer(w);
    }
    if (n) {
        memcpy(w->buffer + w->used, from, n);
        w->used += n;
        w->size += n;
    }
}

static void put_padded(struct capture_writer *w, const void *bytes, size_t n) {
    static const uint8_t zeros[4];
    capture_write_put(w, bytes, n);
    capture_write_put(w, zeros, -n & 3);
}

static int capture_write_result(const struct capture_writer *w, struct sk_error *err) {
    return w->error ? sk_fail(err, "cannot write %s: %s", w->path, strerror(w->error)) : 0;
}

// ---- pcapng ----

static uint32_t option_word(unsigned code, size_t n) {
    return htole32(code | (uint32_t)n << 16);
}

static uint32_t padded(size_t n) {
    return (uint32_t)((n + 3) & ~(size_t)3);
}

static void put_section(struct capture_writer *w) {
    const uint32_t block[] = {htole32(BLOCK_SECTION),
                              htole32(28),
                              htole32(BYTE_ORDER_MAGIC),
                              htole32(1), // version 1.0
                              UINT32_MAX, // a length that nobody knows yet
                              UINT32_MAX,
                              htole32(28)};
    capture_write_put(w, block, sizeof block);
}

static void capture_write_put_text(struct capture_writer *w, unsigned code, const char *text,
                                   size_t n) {
    capture_write_put(w, (uint32_t[]){option_word(code, n)}, 4);
    put_padded(w, text, n);
}

static void capture_write_put_number(struct capture_writer *w, unsigned code, uint64_t v) {
    const uint32_t option[] = {option_word(code, 8), htole32((uint32_t)v),
                               htole32((uint32_t)(v >> 32))};
    capture_write_put(w, option, sizeof option);
}

static uint32_t capture_write_interface_of(struct capture_writer *w, uint16_t port,
                                           const char *description) {
    if (w->interface_of[port] != NO_INTERFACE)
        return w->interface_of[port];
    char name[16];
    size_t n = (size_t)snprintf(name, sizeof name, "port-%u", port);
    size_t described = description ? strnlen(description, UINT16_MAX) : 0;
    const uint32_t length =
        12 + 8 + 4 + padded(n) + (described ? 4 + padded(described) : 0) + 8 + 4;
    const uint32_t head[] = {htole32(BLOCK_INTERFACE), htole32(length), htole32(LINK_ETHER),
                             htole32(SNAPLEN), option_word(OPT_NAME, n)};
    const uint32_t tail[] = {option_word(OPT_RESOLUTION, 1), htole32(9), 0, htole32(length)};
    capture_write_put(w, head, sizeof head);
    put_padded(w, name, n);
    if (described)
        capture_write_put_text(w, OPT_DESCRIPTION, description, described);
    capture_write_put(w, tail, sizeof tail);
    return w->interface_of[port] = w->n_interfaces++;
}

static uint32_t wire_length(const struct capture_record *r) {
    return r->wire_length > r->length ? r->wire_length : r->length;
}

static void put_packet_ng(struct capture_writer *w, const struct capture_record *r) {
    size_t comment = r->comment ? strnlen(r->comment, UINT16_MAX) : 0;
    const uint32_t interface = capture_write_interface_of(w, r->port, NULL);
    const uint32_t options = (r->direction ? 8 : 0) + (comment ? 4 + padded(comment) : 0) +
                             (r->lost ? 12 : 0) + (r->packet_id ? 12 : 0);
    const uint32_t length = 12 + 20 + padded(r->length) + options + (options ? 4 : 0);
    const uint32_t head[] = {htole32(BLOCK_PACKET),
                             htole32(length),
                             htole32(interface),
                             htole32((uint32_t)(r->time_ns >> 32)),
                             htole32((uint32_t)r->time_ns),
                             htole32(r->length),
                             htole32(wire_length(r))};
    capture_write_put(w, head, sizeof head);
    put_padded(w, r->bytes, r->length);
    if (r->direction)
        capture_write_put(w, (uint32_t[]){option_word(OPT_FLAGS, 4), htole32(r->direction)}, 8);
    if (comment)
        capture_write_put_text(w, OPT_COMMENT, r->comment, comment);
    if (r->lost)
        capture_write_put_number(w, OPT_LOST, r->lost);
    if (r->packet_id)
        capture_write_put_number(w, OPT_PACKET_ID, r->packet_id);
    if (options)
        capture_write_put(w, (uint32_t[]){0}, 4);
    capture_write_put(w, (uint32_t[]){htole32(length)}, 4);
}

void capture_describe(struct capture_writer *w, uint16_t port, const char *description) {
    if (w->form == CAPTURE_PCAPNG)
        capture_write_interface_of(w, port, description);
}

// A time as the format wants it: the upper half first.
static void put_time(struct capture_writer *w, unsigned code, uint64_t ns) {
    capture_write_put_number(w, code, ns << 32 | ns >> 32);
}

int capture_write_statistics(struct capture_writer *w, const struct capture_statistics *s,
                             struct sk_error *err) {
    if (w->form != CAPTURE_PCAPNG)
        return capture_write_result(w, err);
    const uint32_t length = 12 + 12 + 4 * 12 + 4;
    const uint32_t head[] = {htole32(BLOCK_STATISTICS), htole32(length),
                             htole32(capture_write_interface_of(w, s->port, NULL)),
                             htole32((uint32_t)(s->to_ns >> 32)), htole32((uint32_t)s->to_ns)};
    capture_write_put(w, head, sizeof head);
    put_time(w, OPT_FROM, s->from_ns);
    put_time(w, OPT_TO, s->to_ns);
    capture_write_put_number(w, OPT_RECEIVED, s->packets);
    capture_write_put_number(w, OPT_DROPPED, s->lost);
    capture_write_put(w, (uint32_t[]){0, htole32(length)}, 8);
    return capture_write_result(w, err);
}

// ---- pcap ----

static void put_head(struct capture_writer *w) {
    const uint32_t head[] = {htole32(MAGIC_NS),
                             htole32(2 | 4 << 16), // version 2.4
                             0,
                             0,
                             htole32(SNAPLEN),
                             htole32(LINK_ETHER)};
    capture_write_put(w, head, sizeof head);
}

static void put_packet(struct capture_writer *w, const struct capture_record *r) {
    const uint32_t head[] = {htole32((uint32_t)(r->time_ns / NS_PER_S)),
                             htole32((uint32_t)(r->time_ns % NS_PER_S)), htole32(r->length),
                             htole32(wire_length(r))};
    capture_write_put(w, head, sizeof head);
    capture_write_put(w, r->bytes, r->length);
}

// ---- both ----

struct capture_writer *capture_create_in(int fd, const char *path, enum capture_form form) {
    struct capture_writer *w = malloc(sizeof *w);
    if (!w || !(w->path = strdup(path)))
        abort();
    w->form = form;
    w->error = 0;
    w->size = w->used = 0;
    w->room = WRITE_BUFFER;
    w->n_interfaces = 0;
    memset(w->interface_of, 0xff, sizeof w->interface_of);
    w->fd = fd;
    if (form == CAPTURE_PCAPNG)
        put_section(w);
    else
        put_head(w);
    return w;
}

struct capture_writer *capture_create(const char *path, enum capture_form form,
                                      struct sk_error *err) {
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        sk_fail(err, "cannot write %s: %s", path, strerror(errno));
    return fd < 0 ? NULL : capture_create_in(fd, path, form);
}

int capture_write(struct capture_writer *w, const struct capture_record *r, struct sk_error *err) {
    if (w->form == CAPTURE_PCAPNG)
        put_packet_ng(w, r);
    else
        put_packet(w, r);
    return capture_write_result(w, err);
}

uint64_t capture_size(const struct capture_writer *w) {
    return w->size;
}

int capture_flush(struct capture_writer *w, struct sk_error *err) {
    write_buffer(w);
    return capture_write_result(w, err);
}

int capture_finish(struct capture_writer *w, struct sk_error *err) {
    if (!w)
        return 0;
    write_out(w, w->buffer, w->used);
    if (close(w->fd) && !w->error)
        w->error = errno;
    int rc = capture_write_result(w, err);
    free(w->path);
    free(w);
    return rc;
}

enum capture_form capture_form_of(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot, ".pcapng") == 0 ? CAPTURE_PCAPNG : CAPTURE_PCAP;
}
