// SPDX-License-Identifier: Apache-2.0
//
// capture_impl: what the files of reading captures share. Nobody else includes it. capture.h lists
// the files.
#ifndef SILKEN_PCAP_CAPTURE_CAPTURE_IMPL_H
#define SILKEN_PCAP_CAPTURE_CAPTURE_IMPL_H

#include <string.h>

#include "pcap/capture/capture.h"

#define NS_PER_S   UINT64_C(1000000000)
#define LINK_ETHER 1u

// ---- source.c
//
// Packets are looked at where they lie in the buffer. It is smaller than a core's second cache, so
// that what the system has just copied there is still near.
struct source {
    int fd;
    bool regular;
    uint64_t size;             // of a regular file
    uint64_t taken;            // bytes read from 'fd'
    uint8_t *memory, *buffer;  // the latter in the former, with CAPTURE_FRONT in front
    size_t capacity, from, to; // bytes [from, to) wait
    uint64_t before;           // bytes before the buffer's first
    bool end;                  // nothing comes behind 'to'
    struct gzip *gzip;         // null: not compressed
    const volatile sig_atomic_t *stop;
    char error[128]; // why it could not be read on
};

// 0, or -1 and 'error'.
int source_open(struct source *s, const char *path, const volatile sig_atomic_t *stop);
void source_close(struct source *s);
// Waits for more: 1 when at least 'n' bytes wait; 0 when the end comes before; -1 and 'error'.
int source_fill(struct source *s, size_t n);
// Goes 'n' bytes on; as source_fill.
int source_skip(struct source *s, uint64_t n);
// Bytes of the file that what was gone over takes there, and the file's; 0: no regular file.
void source_position(const struct source *s, uint64_t *done, uint64_t *size);

static inline uint8_t *source_at(const struct source *s) {
    return s->buffer + s->from;
}
static inline size_t source_waiting(const struct source *s) {
    return s->to - s->from;
}
static inline int source_need(struct source *s, size_t n) {
    return source_waiting(s) >= n ? 1 : source_fill(s, n);
}
static inline bool source_stopped(const struct source *s) {
    return s->stop && *s->stop;
}

// ---- read.c
// A packet's lengths are that of its bytes and that on the wire. Before version 2.3 they were the
// other way round, and tools that wrote 2.3 disagreed.
enum capture_length_order { LENGTHS_IN_ORDER, LENGTHS_EXCHANGED, LENGTHS_PERHAPS_EXCHANGED };

struct capture {
    struct source source;
    char *path;
    bool ng, swapped;
    uint64_t count, time_ns; // of the packet before
    char why[128];           // the last packet that is foreign is so
    // pcap
    uint32_t unit_ns, record; // bytes of a packet's header
    uint16_t link;
    enum capture_length_order lengths;
    struct capture_interface interface;
    uint8_t fcs;
    // pcapng
    struct ng_interface *interfaces;
    uint32_t n_interfaces, serials;
};

static inline uint16_t capture_get16(const struct capture *c, const uint8_t *at) {
    uint16_t v;
    memcpy(&v, at, sizeof v);
    return c->swapped ? __builtin_bswap16(v) : v;
}
static inline uint32_t capture_get32(const struct capture *c, const uint8_t *at) {
    uint32_t v;
    memcpy(&v, at, sizeof v);
    return c->swapped ? __builtin_bswap32(v) : v;
}
static inline uint64_t get64(const struct capture *c, const uint8_t *at) {
    uint64_t v;
    memcpy(&v, at, sizeof v);
    return c->swapped ? __builtin_bswap64(v) : v;
}
// Says what is wrong with the packet or block that begins where the source is; -1.
int capture_bad(const struct capture *c, struct sk_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// The same for bytes that source_fill did not bring (its result 'rc').
int capture_short(const struct capture *c, int rc, const char *what, struct sk_error *err);
int capture_wrong_link(const struct capture *c, const char *whose, unsigned link,
                       struct sk_error *err);
// Checks and fills in lengths; 'fcs' bytes at the end of the whole packet are taken off.
int capture_lengths(const struct capture *c, struct capture_frame *out, uint32_t length,
                    uint32_t wire_length, uint32_t fcs, struct sk_error *err);

// ---- link.c
// Whether packets of this link type can be had as Ethernet frames, and such a frame of a packet, or
// why it is foreign; -1 with a sentence.
bool capture_link_is_known(unsigned link);
int capture_link_to_ethernet(struct capture *c, unsigned link, struct capture_frame *out,
                             struct sk_error *err);

// ---- ng.c
int ng_next(struct capture *c, struct capture_frame *out, struct sk_error *err);
// Whether what comes is a packet that is there as a whole.
bool ng_waits(const struct capture *c);
void ng_forget_interfaces(struct capture *c);

#endif
