// SPDX-License-Identifier: Apache-2.0
//
// ng: reading pcapng. A file is blocks: type, length, what the type says, padding to four bytes,
// options, the length again. A section header gives the byte order of what follows, and the numbers
// of interfaces begin again at 0.
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "pcap/capture/capture_impl.h"

enum {
    BLOCK_SECTION = 0x0a0d0d0a,
    BLOCK_INTERFACE = 1,
    BLOCK_OLD_PACKET = 2,
    BLOCK_SIMPLE_PACKET = 3,
    BLOCK_PACKET = 6,
};
enum { OPT_END, OPT_COMMENT, OPT_NAME = 2, OPT_FLAGS = 2, OPT_RESOLUTION = 9, OPT_FCS = 13 };
enum { OPT_LOST = 4, OPT_PACKET_ID = 5 }; // of packets
#define OPT_OFFSET 14u

#define BYTE_ORDER_MAGIC 0x1a2b3c4du
#define FRAME_BYTES      12u         // of a block: type and both lengths
#define LONGEST_BLOCK    (16u << 20) // of those that are looked into
#define MOST_INTERFACES  65536u

struct ng_interface {
    struct capture_interface shown;
    uint16_t link;
    uint8_t fcs;
    uint32_t snaplen;
    uint64_t mul, div; // a tick is mul / div nanoseconds
    int64_t offset_s;
};

struct block {
    uint32_t type, length; // as the file has it
    uint8_t *body;
    uint32_t n; // bytes of 'body'
};

void ng_forget_interfaces(struct capture *c) {
    for (uint32_t i = 0; i < c->n_interfaces; i++)
        free((char *)c->interfaces[i].shown.name);
    c->n_interfaces = 0;
}

// ---- blocks ----

// Reads type and length, which no check has seen yet.
static int read_head(struct capture *c, struct block *b, struct sk_error *err) {
    int rc = source_need(&c->source, 8);
    if (rc == 0 && source_waiting(&c->source) == 0)
        return 0;
    if (rc <= 0)
        return capture_short(c, rc, "a block's header", err);
    b->type = capture_get32(c, source_at(&c->source));
    if (b->type == BLOCK_SECTION) {
        rc = source_need(&c->source, 12);
        if (rc <= 0)
            return capture_short(c, rc, "a section header", err);
        c->swapped = false;
        if (capture_get32(c, source_at(&c->source) + 8) != BYTE_ORDER_MAGIC) {
            c->swapped = true;
            if (capture_get32(c, source_at(&c->source) + 8) != BYTE_ORDER_MAGIC)
                return capture_bad(c, err, "a section header without its byte-order magic");
        }
    }
    b->length = capture_get32(c, source_at(&c->source) + 4);
    if (b->length < FRAME_BYTES || b->length % 4)
        return capture_bad(c, err, "a block gives its length as %u bytes, which is not valid",
                           b->length);
    return 1;
}

static bool ng_is_known(uint32_t type) {
    return type == BLOCK_SECTION || type == BLOCK_INTERFACE || type == BLOCK_OLD_PACKET ||
           type == BLOCK_SIMPLE_PACKET || type == BLOCK_PACKET;
}

static int ng_check_end(struct capture *c, const struct block *b, const uint8_t *end,
                        struct sk_error *err) {
    uint32_t again = capture_get32(c, end);
    return again == b->length
               ? 1
               : capture_bad(c, err,
                             "a block gives its length as %u bytes at its start, but %u at its end",
                             b->length, again);
}

// 1 with a whole block in the buffer that is one of packets, interfaces or sections; 0 at the end;
// -1.
static int ng_read_block(struct capture *c, struct block *b, struct sk_error *err) {
    for (;;) {
        int rc = read_head(c, b, err);
        if (rc <= 0)
            return rc;
        if (ng_is_known(b->type))
            break;
        rc = source_skip(&c->source, b->length - 4);
        if (rc > 0)
            rc = source_need(&c->source, 4);
        if (rc <= 0)
            return capture_short(c, rc, "a block", err);
        if (ng_check_end(c, b, source_at(&c->source), err) < 0)
            return -1;
        c->source.from += 4;
    }
    if (b->length > LONGEST_BLOCK)
        return capture_bad(c, err, "a block of %u bytes; blocks of its type have at most %u",
                           b->length, LONGEST_BLOCK);
    int rc = source_need(&c->source, b->length);
    if (rc <= 0)
        return capture_short(c, rc, "a block", err);
    b->body = source_at(&c->source) + 8;
    b->n = b->length - FRAME_BYTES;
    return ng_check_end(c, b, b->body + b->n, err);
}

static int too_short(const struct capture *c, const struct block *b, struct sk_error *err) {
    return capture_bad(c, err, "a block of type %u with %u bytes is too short", b->type, b->length);
}

struct option {
    uint32_t code, n;
    const uint8_t *value;
};

// Takes the option at '*at'; 1, 0 when there is none, -1.
static int next_option(const struct capture *c, const struct block *b, uint32_t *at,
                       struct option *o, struct sk_error *err) {
    if (b->n < *at + 4)
        return 0;
    o->code = capture_get16(c, b->body + *at);
    o->n = capture_get16(c, b->body + *at + 2);
    o->value = b->body + *at + 4;
    if (o->code == OPT_END)
        return 0;
    if (o->n > b->n - *at - 4)
        return capture_bad(c, err, "an option of %u bytes does not fit in its block", o->n);
    *at += 4 + (o->n + 3) / 4 * 4; // a multiple of four, as the block's end
    return 1;
}

// ---- sections and interfaces ----

static int take_section(struct capture *c, const struct block *b, struct sk_error *err) {
    if (b->n < 16)
        return too_short(c, b, err);
    if (capture_get16(c, b->body + 4) != 1)
        return capture_bad(c, err, "a section of pcapng version %u.%u; only 1.0 can be read",
                           capture_get16(c, b->body + 4), capture_get16(c, b->body + 6));
    ng_forget_interfaces(c);
    return 1;
}

// Ten to the power of 'n', at most 19.
static uint64_t ten_to(unsigned n) {
    uint64_t v = 1;
    while (n--)
        v *= 10;
    return v;
}

static int set_resolution(const struct capture *c, struct ng_interface *i, uint8_t as,
                          struct sk_error *err) {
    const unsigned n = as & 0x7f;
    const bool binary = as & 0x80;
    if (n > (binary ? 63 : 19))
        return capture_bad(c, err, "interface %u has times in units of %u^-%u s", i->shown.index,
                           binary ? 2 : 10, n);
    i->mul = binary ? NS_PER_S : n < 9 ? ten_to(9 - n) : 1;
    i->div = binary ? UINT64_C(1) << n : n > 9 ? ten_to(n - 9) : 1;
    return 1;
}

static int interface_option(struct capture *c, struct ng_interface *i, const struct option *o,
                            struct sk_error *err) {
    if (o->code == OPT_NAME && !i->shown.name) {
        if (!(i->shown.name = strndup((const char *)o->value, o->n)))
            abort();
    } else if (o->code == OPT_RESOLUTION && o->n >= 1) {
        return set_resolution(c, i, o->value[0], err);
    } else if (o->code == OPT_FCS && o->n >= 1) {
        i->fcs = o->value[0];
    } else if (o->code == OPT_OFFSET && o->n >= 8) {
        i->offset_s = (int64_t)get64(c, o->value);
    }
    return 1;
}

static int take_interface(struct capture *c, const struct block *b, struct sk_error *err) {
    if (b->n < 8)
        return too_short(c, b, err);
    if (c->n_interfaces == MOST_INTERFACES)
        return capture_bad(c, err, "a section with more than %u interfaces", MOST_INTERFACES);
    if ((c->n_interfaces & (c->n_interfaces - 1)) == 0) { // twice as many
        size_t room = c->n_interfaces ? 2 * (size_t)c->n_interfaces : 1;
        c->interfaces = sk_resize(c->interfaces, room, sizeof *c->interfaces);
    }
    struct ng_interface *i = &c->interfaces[c->n_interfaces];
    *i = (struct ng_interface){.shown = {c->n_interfaces, c->serials++, NULL},
                               .link = capture_get16(c, b->body),
                               .snaplen = capture_get32(c, b->body + 4),
                               .mul = 1000,
                               .div = 1};
    c->n_interfaces++;
    struct option o;
    int rc;
    for (uint32_t at = 8; (rc = next_option(c, b, &at, &o, err)) > 0;)
        if (interface_option(c, i, &o, err) < 0)
            return -1;
    return rc < 0 ? -1 : 1;
}

bool capture_has_interface(const struct capture *c, const char *name) {
    for (uint32_t i = 0; i < c->n_interfaces; i++)
        if (c->interfaces[i].shown.name && strcmp(c->interfaces[i].shown.name, name) == 0)
            return true;
    return false;
}

// ---- packets ----

static int ng_interface_of(const struct capture *c, uint32_t index, const struct ng_interface **out,
                           struct sk_error *err) {
    if (index >= c->n_interfaces)
        return capture_bad(c, err, "a packet of interface %u, but its section has %u interfaces",
                           index, c->n_interfaces);
    *out = &c->interfaces[index];
    if (capture_link_is_known((*out)->link))
        return 0;
    char whose[96];
    snprintf(whose, sizeof whose, "its interface %u%s%.40s%s", index,
             (*out)->shown.name ? " (" : "", (*out)->shown.name ? (*out)->shown.name : "",
             (*out)->shown.name ? ")'s" : "'s");
    return capture_wrong_link(c, whose, (*out)->link, err);
}

static int set_time(const struct capture *c, const struct ng_interface *i, uint64_t ticks,
                    struct capture_frame *out, struct sk_error *err) {
    unsigned __int128 since = (unsigned __int128)ticks * i->mul;
    if (i->div != 1)
        since /= i->div;
    __int128 ns = (__int128)since + (__int128)i->offset_s * (int64_t)NS_PER_S;
    if (ns < 0 || ns >= (__int128)NS_PER_S << 32)
        return capture_bad(c, err, "the packet's time is not between 1970 and 2106");
    out->time_ns = (uint64_t)ns;
    return 0;
}

// What is after the bytes of a packet: its direction, the FCS's length, a comment.
static int packet_options(const struct capture *c, const struct block *b, uint32_t at,
                          struct capture_frame *out, uint32_t *fcs, struct sk_error *err) {
    struct option o;
    int rc;
    while ((rc = next_option(c, b, &at, &o, err)) > 0) {
        if (o.code == OPT_COMMENT && !out->comment) {
            out->comment = (const char *)o.value;
            out->comment_length = o.n;
        } else if (o.code == OPT_FLAGS && o.n >= 4) {
            uint32_t flags = capture_get32(c, o.value);
            out->direction =
                (flags & 3) == 3 ? CAPTURE_UNKNOWN : (enum capture_direction)(flags & 3);
            if (flags >> 5 & 15)
                *fcs = flags >> 5 & 15;
        } else if (b->type == BLOCK_PACKET && o.code == OPT_LOST && o.n >= 8) {
            out->lost = get64(c, o.value);
        } else if (b->type == BLOCK_PACKET && o.code == OPT_PACKET_ID && o.n >= 8) {
            out->packet_id = get64(c, o.value);
        }
    }
    return rc;
}

// An enhanced packet, or the packet block before it.
static int ng_take_packet(struct capture *c, const struct block *b, struct capture_frame *out,
                          struct sk_error *err) {
    if (b->n < 20)
        return too_short(c, b, err);
    const uint32_t index = b->type == BLOCK_PACKET
                               ? capture_get32(c, b->body)
                               : capture_get16(c, b->body); // and a count of drops
    const uint32_t length = capture_get32(c, b->body + 12);
    const struct ng_interface *i;
    if (ng_interface_of(c, index, &i, err) ||
        set_time(c, i,
                 (uint64_t)capture_get32(c, b->body + 4) << 32 | capture_get32(c, b->body + 8), out,
                 err))
        return -1;
    if (length > b->n - 20)
        return capture_bad(c, err, "a packet of %u bytes in a block of %u", length, b->length);
    uint32_t fcs = i->fcs, options = 20 + (length + 3) / 4 * 4;
    out->comment = NULL;
    out->comment_length = 0;
    out->packet_id = out->lost = 0;
    out->direction = CAPTURE_UNKNOWN;
    if (b->n > options && packet_options(c, b, options, out, &fcs, err) < 0)
        return -1;
    out->bytes = b->body + 20;
    out->interface = &i->shown;
    out->timeless = false;
    return capture_lengths(c, out, length, capture_get32(c, b->body + 16), fcs, err) ||
                   capture_link_to_ethernet(c, i->link, out, err)
               ? -1
               : 1;
}

static int take_simple(struct capture *c, const struct block *b, struct capture_frame *out,
                       struct sk_error *err) {
    const struct ng_interface *i;
    if (b->n < 4)
        return too_short(c, b, err);
    if (ng_interface_of(c, 0, &i, err))
        return -1;
    // as many bytes as the packet has, the block has room for, the interface takes
    uint32_t wire = capture_get32(c, b->body), length = b->n - 4;
    if (i->snaplen && length > i->snaplen)
        length = i->snaplen;
    if (length > wire)
        length = wire;
    *out = (struct capture_frame){
        .time_ns = c->time_ns, .bytes = b->body + 4, .interface = &i->shown, .timeless = true};
    return capture_lengths(c, out, length, wire, i->fcs, err) ||
                   capture_link_to_ethernet(c, i->link, out, err)
               ? -1
               : 1;
}

int ng_next(struct capture *c, struct capture_frame *out, struct sk_error *err) {
    for (;;) {
        struct block b = {0};
        bool packet = false;
        int rc = ng_read_block(c, &b, err);
        if (rc <= 0)
            return rc;
        switch (b.type) {
        case BLOCK_SECTION:
            rc = take_section(c, &b, err);
            break;
        case BLOCK_INTERFACE:
            rc = take_interface(c, &b, err);
            break;
        case BLOCK_SIMPLE_PACKET:
            packet = true;
            rc = take_simple(c, &b, out, err);
            break;
        default:
            packet = true;
            rc = ng_take_packet(c, &b, out, err);
            break;
        }
        if (rc < 0)
            return -1;
        c->source.from += b.length; // the bytes stay until the buffer is filled again
        if (!packet)
            continue;
        c->time_ns = out->time_ns;
        c->count++;
        return 1;
    }
}

bool ng_waits(const struct capture *c) {
    const size_t n = source_waiting(&c->source);
    if (n < FRAME_BYTES || n < capture_get32(c, source_at(&c->source) + 4))
        return false;
    const uint32_t type = capture_get32(c, source_at(&c->source));
    return type == BLOCK_PACKET || type == BLOCK_SIMPLE_PACKET || type == BLOCK_OLD_PACKET;
}
