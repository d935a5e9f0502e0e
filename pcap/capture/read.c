// SPDX-License-Identifier: Apache-2.0
#include "pcap/capture/capture_impl.h"

#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define MAGIC_US       0xa1b2c3d4u
#define MAGIC_NS       0xa1b23c4du
#define MAGIC_LONG     0xa1b2cd34u // microseconds, records with 8 bytes more
#define MAGIC_SECTION  0x0a0d0d0au // pcapng; the same in both byte orders
#define PCAP_HEAD      24u
#define PCAP_RECORD    16u
#define LONG_RECORD    24u
#define FCS_LENGTH_SET (1u << 26) // in the link type's word, with the length in units of 2 bytes

// ---- errors ----

int capture_bad(const struct capture *c, struct sk_error *err, const char *format, ...) {
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return sk_fail(err, "%s: after %" PRIu64 " packets, at byte %" PRIu64 ": %s", c->path, c->count,
                   c->source.before + c->source.from, text);
}

int capture_short(const struct capture *c, int rc, const char *what, struct sk_error *err) {
    if (rc == 0 && source_stopped(&c->source))
        return 0;
    if (rc < 0)
        return sk_fail(err, "%s: after %" PRIu64 " packets: %s", c->path, c->count,
                       c->source.error);
    return capture_bad(c, err, "the file ends in the middle of %s", what);
}

int capture_wrong_link(const struct capture *c, const char *whose, unsigned link,
                       struct sk_error *err) {
    const char *name = pcap_datalink_val_to_name((int)link);
    return sk_fail(
        err,
        "%s: %s link type is %s (%u), in which Silken finds neither Ethernet nor IP; if these are "
        "there after N bytes, 'editcap -C N -T ether' (or -T rawip) of Wireshark takes them off",
        c->path, whose, name ? name : "unknown", link);
}

static inline void set_lengths(struct capture_frame *out, uint32_t length, uint32_t wire_length,
                               uint32_t fcs) {
    if (wire_length < length)
        wire_length = length;
    if (fcs) {
        wire_length -= wire_length < fcs ? wire_length : fcs;
        length = length < wire_length ? length : wire_length;
    }
    out->length = length;
    out->wire_length = wire_length;
}

int capture_lengths(const struct capture *c, struct capture_frame *out, uint32_t length,
                    uint32_t wire_length, uint32_t fcs, struct sk_error *err) {
    if (length > CAPTURE_LONGEST)
        return capture_bad(c, err, "a packet of %u bytes; a packet has at most %u", length,
                           CAPTURE_LONGEST);
    set_lengths(out, length, wire_length, fcs);
    return 0;
}

// ---- pcap ----

static int capture_pcap_open(struct capture *c, struct sk_error *err) {
    const uint8_t *at = source_at(&c->source);
    uint32_t magic = capture_get32(c, at), link = capture_get32(c, at + 20);
    const unsigned minor = capture_get16(c, at + 6);
    if (capture_get16(c, at + 4) != 2 || minor > 4)
        return sk_fail(err, "%s: it is a pcap of version %u.%u; 2.0 to 2.4 can be read", c->path,
                       capture_get16(c, at + 4), minor);
    c->lengths = minor < 3    ? LENGTHS_EXCHANGED
                 : minor == 3 ? LENGTHS_PERHAPS_EXCHANGED
                              : LENGTHS_IN_ORDER;
    c->unit_ns = magic == MAGIC_NS ? 1 : 1000;
    c->record = magic == MAGIC_LONG ? LONG_RECORD : PCAP_RECORD;
    c->fcs = link & FCS_LENGTH_SET ? (uint8_t)(2 * (link >> 28)) : 0;
    c->source.from += PCAP_HEAD;
    c->link = (uint16_t)link;
    return capture_link_is_known(c->link) ? 0 : capture_wrong_link(c, "its", c->link, err);
}

// Where a packet is expected another file's head begins, as it does when captures are put together
// byte by byte. Read as a packet's it would be of the year 2055 and empty, and all after it would
// be out of step.
static inline bool is_another_file(const uint8_t *at) {
    static const uint32_t magics[] = {MAGIC_US, MAGIC_NS, MAGIC_LONG};
    static const uint16_t version[] = {2, 4};
    uint32_t magic;
    memcpy(&magic, at, sizeof magic);
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        const bool swapped = magic == __builtin_bswap32(magics[i]);
        if (magic != magics[i] && !swapped)
            continue;
        uint16_t said[2];
        memcpy(said, at + 4, sizeof said);
        for (unsigned k = 0; swapped && k < 2; k++)
            said[k] = __builtin_bswap16(said[k]);
        return memcmp(said, version, sizeof said) == 0;
    }
    return false;
}

static inline int capture_pcap_next(struct capture *c, struct capture_frame *out,
                                    struct sk_error *err) {
    int rc = source_need(&c->source, c->record);
    if (rc == 0 && source_waiting(&c->source) == 0)
        return 0;
    if (rc <= 0)
        return capture_short(c, rc, "a packet's header", err);
    const uint8_t *at = source_at(&c->source);
    const uint32_t seconds = capture_get32(c, at), part = capture_get32(c, at + 4);
    uint32_t length = capture_get32(c, at + 8), wire_length = capture_get32(c, at + 12);
    if (c->lengths == LENGTHS_EXCHANGED ||
        (c->lengths == LENGTHS_PERHAPS_EXCHANGED && length > wire_length)) {
        const uint32_t first = length;
        length = wire_length;
        wire_length = first;
    }
    if (is_another_file(at))
        return capture_bad(c, err,
                           "another pcap starts here: captures cannot be joined by cat; give them "
                           "as several files, or merge them by mergecap");
    if (capture_lengths(c, out, length, wire_length, c->fcs, err))
        return -1;
    if (part >= NS_PER_S / c->unit_ns)
        return capture_bad(c, err, "the packet's time is invalid: %u s and %u %s", seconds, part,
                           c->unit_ns == 1 ? "ns" : "us");
    rc = source_need(&c->source, c->record + length);
    if (rc <= 0)
        return capture_short(c, rc, "a packet", err);
    out->time_ns = seconds * NS_PER_S + part * (uint64_t)c->unit_ns;
    out->bytes = source_at(&c->source) + c->record;
    out->interface = &c->interface;
    out->comment = NULL;
    out->comment_length = 0;
    out->packet_id = out->lost = 0;
    out->direction = CAPTURE_UNKNOWN;
    out->timeless = false;
    if (capture_link_to_ethernet(c, c->link, out, err))
        return -1;
    c->source.from += c->record + length;
    c->count++;
    return 1;
}

// As many of the packets that are there as a whole and in order, at most 'n'. What is wrong with
// the one behind is said when it is its turn: nothing has changed then.
static inline int pcap_few(struct capture *c, struct capture_frame *out, int n,
                           const bool swapped) {
    const uint32_t record = c->record, unit_ns = c->unit_ns, units = NS_PER_S / unit_ns;
    struct sk_error later; // said when it is that packet's turn
    int got = 0;
    for (; got < n && source_waiting(&c->source) >= record; got++) {
        uint8_t *at = source_at(&c->source);
        uint32_t head[4]; // seconds, part of one, length, length on the wire
        memcpy(head, at, sizeof head);
        for (unsigned i = 0; swapped && i < 4; i++)
            head[i] = __builtin_bswap32(head[i]);
        if (source_waiting(&c->source) - record < head[2] || head[2] > CAPTURE_LONGEST ||
            head[1] >= units || is_another_file(at))
            break;
        out[got] = (struct capture_frame){
            .time_ns = head[0] * NS_PER_S + head[1] * (uint64_t)unit_ns,
            .bytes = at + record,
            .interface = &c->interface,
        };
        set_lengths(&out[got], head[2], head[3], c->fcs);
        if (c->link != LINK_ETHER &&
            (capture_link_to_ethernet(c, c->link, &out[got], &later) || out[got].foreign))
            break;
        c->source.from += record + head[2];
    }
    c->count += (uint64_t)got;
    return got;
}

// ---- both ----

static bool is_pcap(struct capture *c) {
    static const uint32_t magics[] = {MAGIC_US, MAGIC_NS, MAGIC_LONG};
    for (unsigned swapped = 0; swapped < 2; swapped++) {
        c->swapped = swapped;
        for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
            if (capture_get32(c, source_at(&c->source)) == magics[i])
                return true;
    }
    return false;
}

static int open_format(struct capture *c, struct sk_error *err) {
    int rc = source_need(&c->source, 4);
    if (rc < 0)
        return sk_fail(err, "%s: %s", c->path, c->source.error);
    if (rc == 0 && source_stopped(&c->source))
        return 0;
    if (source_waiting(&c->source) == 0)
        return sk_fail(err, "%s: it is empty, not a capture", c->path);
    if (rc && capture_get32(c, source_at(&c->source)) == MAGIC_SECTION) {
        c->ng = true;
        return 0;
    }
    if (rc == 0 || !is_pcap(c))
        return sk_fail(err,
                       "%s: it is not a capture: it starts neither like a pcap nor like a pcapng",
                       c->path);
    rc = source_need(&c->source, PCAP_HEAD);
    return rc <= 0 ? capture_short(c, rc, "its header", err) : capture_pcap_open(c, err);
}

struct capture *capture_open_until(const char *path, const volatile sig_atomic_t *stop,
                                   struct sk_error *err) {
    struct capture *c = calloc(1, sizeof *c);
    if (!c || !(c->path = strdup(path)))
        abort();
    c->unit_ns = 1;
    c->record = PCAP_RECORD;
    int rc = source_open(&c->source, path, stop);
    if (rc)
        sk_fail(err, "%s: %s", path, c->source.error);
    if (rc == 0 && open_format(c, err) == 0)
        return c;
    capture_close(c);
    return NULL;
}

struct capture *capture_open(const char *path, struct sk_error *err) {
    return capture_open_until(path, NULL, err);
}

void capture_close(struct capture *c) {
    if (!c)
        return;
    ng_forget_interfaces(c);
    free(c->interfaces);
    source_close(&c->source);
    free(c->path);
    free(c);
}

int capture_next(struct capture *c, struct capture_frame *out, struct sk_error *err) {
    if (source_stopped(&c->source))
        return 0;
    return c->ng ? ng_next(c, out, err) : capture_pcap_next(c, out, err);
}

int capture_next_few(struct capture *c, struct capture_frame *out, int n, struct sk_error *err) {
    int got = capture_next(c, out, err);
    if (got <= 0 || out[0].foreign)
        return got;
    if (!c->ng && c->lengths != LENGTHS_IN_ORDER)
        return got;
    if (!c->ng)
        return got + (c->swapped ? pcap_few(c, out + got, n - got, true)
                                 : pcap_few(c, out + got, n - got, false));
    for (struct sk_error later;
         got < n && !out[got - 1].foreign && ng_waits(c) && ng_next(c, &out[got], &later) > 0;)
        got++;
    return got;
}

const char *capture_path(const struct capture *c) {
    return c->path;
}

enum capture_form capture_form(const struct capture *c) {
    return c->ng ? CAPTURE_PCAPNG : CAPTURE_PCAP;
}

uint64_t capture_count(const struct capture *c) {
    return c->count;
}

void capture_position(const struct capture *c, uint64_t *done, uint64_t *size) {
    source_position(&c->source, done, size);
}
