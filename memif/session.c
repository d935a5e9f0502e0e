// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "memif/memif_impl.h"

#define LAST_RING (MEMIF_QUEUES - 1)

// ---- fields ----

static uint64_t memif_get(const uint8_t *message, size_t at, size_t n) {
    uint64_t value = 0;
    for (size_t i = n; i-- > 0;)
        value = value << 8 | message[at + i];
    return value;
}

static void memif_session_put(struct memif_reply *r, size_t at, size_t n, uint64_t value) {
    for (size_t i = 0; i < n; i++)
        r->bytes[at + i] = (uint8_t)(value >> 8 * i);
}

static void memif_put_text(struct memif_reply *r, size_t at, size_t room, const char *text) {
    const size_t n = strnlen(text, room - 1);
    memcpy(r->bytes + at, text, n);
}

static void memif_start(struct memif_reply *r, enum memif_type type) {
    *r = (struct memif_reply){.there = true, .fd = -1};
    memif_session_put(r, MEMIF_AT_TYPE, 2, type);
}

void memif_clean(char *out, size_t size, const uint8_t *text, size_t n) {
    size_t i = 0;
    for (; i < n && i + 1 < size && text[i]; i++)
        out[i] = text[i] >= ' ' && text[i] <= '~' ? (char)text[i] : '?';
    out[i] = '\0';
}

static enum memif_result __attribute__((format(printf, 2, 3)))
memif_broken(struct memif_session *s, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    vsnprintf(s->wrong, sizeof s->wrong, format, ap);
    va_end(ap);
    return MEMIF_BROKEN;
}

static enum memif_result memif_over(struct memif_session *s, const char *why) {
    snprintf(s->wrong, sizeof s->wrong, "%s", why);
    return MEMIF_OVER;
}

// ---- beginning and end ----

static void memif_say_hello(struct memif_reply *r) {
    memif_start(r, MEMIF_HELLO);
    memif_put_text(r, MEMIF_AT_HELLO_NAME, MEMIF_NAME, "Silken " SILKEN_VERSION);
    memif_session_put(r, MEMIF_AT_HELLO_LEAST, 2, MEMIF_VERSION);
    memif_session_put(r, MEMIF_AT_HELLO_MOST, 2, MEMIF_VERSION);
    memif_session_put(r, MEMIF_AT_HELLO_REGION, 2, MEMIF_MOST_REGIONS - 1);
    memif_session_put(r, MEMIF_AT_HELLO_M2S, 2, LAST_RING);
    memif_session_put(r, MEMIF_AT_HELLO_S2M, 2, LAST_RING);
    memif_session_put(r, MEMIF_AT_HELLO_LOG2_RING, 1, MEMIF_MOST_LOG2);
}

void memif_session_begin(struct memif_session *s, const struct memif_options *o,
                         struct memif_reply *reply) {
    *s = (struct memif_session){
        .step = o ? MEMIF_WANTS_HELLO : MEMIF_WANTS_INIT, .o = o, .memory = -1};
    *reply = (struct memif_reply){.fd = -1};
    if (!o)
        memif_say_hello(reply);
}

static void memif_close_bells(struct memif_ring_place *rings, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        if (rings[i].bell >= 0)
            close(rings[i].bell);
}

void memif_session_end(struct memif_session *s) {
    for (unsigned i = 0; i < s->n_regions; i++)
        memif_region_drop(&s->regions[i]);
    memif_close_bells(s->s2m, s->n_s2m);
    memif_close_bells(s->m2s, s->n_m2s);
    if (s->memory >= 0)
        close(s->memory);
    s->n_regions = s->n_s2m = s->n_m2s = 0;
    s->memory = -1;
}

void memif_session_goodbye(const char *why, struct memif_reply *reply) {
    memif_start(reply, MEMIF_DISCONNECT);
    memif_put_text(reply, MEMIF_AT_DISCONNECT_REASON, MEMIF_REASON, why);
}

// ---- a server: what a client says ----

// In a time that does not tell how much of it is right. Both ends are filled with zeros.
static bool memif_secret_is(const char secret[MEMIF_SECRET + 1], const uint8_t *said) {
    uint8_t differs = 0;
    for (size_t i = 0; i < MEMIF_SECRET; i++)
        differs |= (uint8_t)secret[i] ^ said[i];
    return differs == 0;
}

static enum memif_result memif_hear_init(struct memif_session *s, const uint8_t *m) {
    const uint16_t version = (uint16_t)memif_get(m, MEMIF_AT_INIT_VERSION, 2);
    const uint32_t id = (uint32_t)memif_get(m, MEMIF_AT_INIT_ID, 4);
    const char *why = NULL;
    memif_clean(s->peer, sizeof s->peer, m + MEMIF_AT_INIT_NAME, MEMIF_NAME);
    if (version != MEMIF_VERSION)
        return memif_broken(s, "speaks version %u.%u and not 2.0", version >> 8, version & 255);
    if (m[MEMIF_AT_INIT_MODE] != MEMIF_MODE_ETHERNET)
        return memif_broken(s, "asks for mode %u, which is not Ethernet", m[MEMIF_AT_INIT_MODE]);
    const struct memif_options *o = s->find(s->aux, id, &why);
    if (!o)
        return memif_over(s, why);
    if (o->secret[0] && !memif_secret_is(o->secret, m + MEMIF_AT_INIT_SECRET))
        return memif_broken(s, "does not know the secret");
    s->o = o;
    s->step = MEMIF_WANTS_SETUP;
    return MEMIF_GO_ON;
}

static enum memif_result memif_hear_region(struct memif_session *s, const uint8_t *m, int fd) {
    const unsigned index = (unsigned)memif_get(m, MEMIF_AT_REGION_INDEX, 2);
    const uint64_t size = memif_get(m, MEMIF_AT_REGION_SIZE, 8);
    if (index != s->n_regions)
        return memif_broken(s, "adds region %u, and %u is next", index, s->n_regions);
    if (index >= MEMIF_MOST_REGIONS)
        return memif_broken(s, "adds more than %u regions", MEMIF_MOST_REGIONS);
    if (size == 0 || size > MEMIF_MOST_BYTES - s->bytes)
        return memif_broken(s, "adds a region of %llu bytes; all together have 1 byte to 1 GiB",
                            (unsigned long long)size);
    const char *wrong = memif_region_take(fd, size, &s->regions[index]);
    if (wrong)
        return memif_broken(s, "adds a region %s", wrong);
    s->n_regions++;
    s->bytes += size;
    return MEMIF_GO_ON;
}

static enum memif_result memif_check_ring(struct memif_session *s, const uint8_t *m, bool s2m,
                                          const struct memif_ring_place *p) {
    const unsigned index = (unsigned)memif_get(m, MEMIF_AT_RING_INDEX, 2),
                   next = s2m ? s->n_s2m : s->n_m2s,
                   most = s2m ? (s->o->queues ? s->o->queues : 1) : MEMIF_QUEUES;
    if (index != next)
        return memif_broken(s, "adds ring %u, and %u is next", index, next);
    if (index >= most)
        return memif_broken(s, "sends on more than %u rings, which the port receives on", most);
    if (p->log2 > MEMIF_MOST_LOG2)
        return memif_broken(s, "adds a ring of 2 to the power of %u descriptors; it has at most %u",
                            p->log2, MEMIF_MOST_LOG2);
    if (p->region >= s->n_regions)
        return memif_broken(s, "puts a ring into region %u, and has passed %u", p->region,
                            s->n_regions);
    const uint64_t bytes = sizeof(struct memif_head) + (sizeof(struct memif_desc) << p->log2),
                   there = s->regions[p->region].size;
    if (p->offset % sizeof(struct memif_desc))
        return memif_broken(s, "puts a ring at %u, which is not a multiple of 16", p->offset);
    if (bytes > there || p->offset > there - bytes)
        return memif_broken(s, "puts a ring of %llu bytes at %u into a region of %llu",
                            (unsigned long long)bytes, p->offset, (unsigned long long)there);
    return MEMIF_GO_ON;
}

static enum memif_result memif_hear_ring(struct memif_session *s, const uint8_t *m, int fd) {
    const unsigned flags = (unsigned)memif_get(m, MEMIF_AT_RING_FLAGS, 2),
                   metadata = (unsigned)memif_get(m, MEMIF_AT_RING_PRIVATE, 2);
    const bool s2m = flags & MEMIF_RING_S2M;
    const struct memif_ring_place place = {
        .region = (uint16_t)memif_get(m, MEMIF_AT_RING_REGION, 2),
        .offset = (uint32_t)memif_get(m, MEMIF_AT_RING_OFFSET, 4),
        .log2 = m[MEMIF_AT_RING_LOG2],
        .bell = fd};
    if (flags & ~MEMIF_RING_S2M)
        return memif_broken(s, "adds a ring with flags 0x%x", flags);
    if (metadata)
        return memif_broken(s, "wants %u bytes of metadata with a frame", metadata);
    if (memif_check_ring(s, m, s2m, &place) != MEMIF_GO_ON)
        return MEMIF_BROKEN;
    if (!memif_bell_is_eventfd(fd))
        return memif_broken(s, "adds a ring whose descriptor is not an eventfd");
    if (s2m)
        s->s2m[s->n_s2m++] = place;
    else
        s->m2s[s->n_m2s++] = place;
    return MEMIF_GO_ON;
}

static bool memif_has_cookies(const struct memif_session *s, const struct memif_ring_place *rings,
                              unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        const void *at = s->regions[rings[i].region].at + rings[i].offset;
        const struct memif_head *ring = at;
        if (__atomic_load_n(&ring->cookie, __ATOMIC_RELAXED) != MEMIF_COOKIE)
            return false;
    }
    return true;
}

static enum memif_result memif_hear_connect(struct memif_session *s) {
    if (s->n_s2m == 0 || s->n_m2s == 0)
        return memif_broken(s, "connects without a ring %s", s->n_s2m ? "to itself" : "to us");
    if (!memif_has_cookies(s, s->s2m, s->n_s2m) || !memif_has_cookies(s, s->m2s, s->n_m2s))
        return memif_broken(s, "has a ring without the protocol's mark (0x3e31f20)");
    s->step = MEMIF_IS_UP;
    return MEMIF_UP;
}

static enum memif_result memif_server_hears(struct memif_session *s, unsigned type,
                                            const uint8_t *m, int fd, struct memif_reply *reply) {
    enum memif_result result;
    if (s->step == MEMIF_WANTS_INIT && type == MEMIF_INIT)
        result = memif_hear_init(s, m);
    else if (s->step == MEMIF_WANTS_SETUP && type == MEMIF_ADD_REGION)
        result = memif_hear_region(s, m, fd);
    else if (s->step == MEMIF_WANTS_SETUP && type == MEMIF_ADD_RING)
        result = memif_hear_ring(s, m, fd);
    else if (s->step == MEMIF_WANTS_SETUP && type == MEMIF_CONNECT)
        result = memif_hear_connect(s);
    else
        return memif_broken(s, "sends a message of type %u %s", type,
                            s->step == MEMIF_WANTS_INIT    ? "first"
                            : s->step == MEMIF_WANTS_SETUP ? "while it sets up"
                                                           : "while connected");
    if (result == MEMIF_GO_ON) {
        memif_start(reply, MEMIF_ACK);
    } else if (result == MEMIF_UP) {
        memif_start(reply, MEMIF_CONNECTED);
        memif_put_text(reply, MEMIF_AT_CONNECT_NAME, MEMIF_NAME, s->o->name);
    }
    return result;
}

// ---- a client: what a server says ----

static uint64_t memif_ring_bytes(uint8_t log2) {
    return sizeof(struct memif_head) + (sizeof(struct memif_desc) << log2);
}

// Slots of a ring have their buffers one after the other; those of ring 'r' (first those to the
// server) begin here.
static uint32_t memif_buffer_place(const struct memif_session *s, unsigned r) {
    return s->buffers + (s->o->buffer << s->s2m[0].log2) * r;
}

static void memif_lay_ring(struct memif_session *s, struct memif_ring_place *p, unsigned r) {
    void *at = s->regions[0].at + p->offset;
    struct memif_head *ring = at;
    for (uint32_t i = 0; i < UINT32_C(1) << p->log2; i++)
        ring->desc[i] = (struct memif_desc){.length = s->o->buffer,
                                            .offset = memif_buffer_place(s, r) + i * s->o->buffer};
    ring->cookie = MEMIF_COOKIE;
}

static void memif_place_ring(struct memif_session *s, struct memif_ring_place *p, unsigned r,
                             uint8_t log2) {
    *p = (struct memif_ring_place){.offset = (uint32_t)(memif_ring_bytes(log2) * r),
                                   .log2 = log2,
                                   .bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    (void)s;
}

static bool memif_make_rings(struct memif_session *s, unsigned to_us, uint8_t log2) {
    const unsigned rings = 1 + to_us;
    bool good = true;
    s->buffers = (uint32_t)(memif_ring_bytes(log2) * rings + 63) & ~UINT32_C(63);
    for (unsigned r = 0; r < rings; r++)
        memif_place_ring(s, r ? &s->m2s[r - 1] : &s->s2m[0], r, log2);
    s->n_s2m = 1;
    s->n_m2s = to_us;
    s->memory =
        memif_region_make(s->buffers + ((uint64_t)s->o->buffer << log2) * rings, &s->regions[0]);
    if (s->memory < 0)
        return false;
    s->n_regions = 1;
    for (unsigned r = 0; r < rings; r++) {
        struct memif_ring_place *p = r ? &s->m2s[r - 1] : &s->s2m[0];
        memif_lay_ring(s, p, r);
        good &= p->bell >= 0;
    }
    return good;
}

static void memif_say_init(struct memif_session *s, struct memif_reply *r) {
    memif_start(r, MEMIF_INIT);
    memif_session_put(r, MEMIF_AT_INIT_VERSION, 2, MEMIF_VERSION);
    memif_session_put(r, MEMIF_AT_INIT_ID, 4, s->o->id);
    memcpy(r->bytes + MEMIF_AT_INIT_SECRET, s->o->secret, MEMIF_SECRET);
    memif_put_text(r, MEMIF_AT_INIT_NAME, MEMIF_NAME, "Silken " SILKEN_VERSION);
}

static enum memif_result memif_hear_hello(struct memif_session *s, const uint8_t *m,
                                          struct memif_reply *reply) {
    const unsigned least = (unsigned)memif_get(m, MEMIF_AT_HELLO_LEAST, 2),
                   most = (unsigned)memif_get(m, MEMIF_AT_HELLO_MOST, 2),
                   m2s = (unsigned)memif_get(m, MEMIF_AT_HELLO_M2S, 2),
                   queues = s->o->queues ? s->o->queues : 1;
    uint8_t log2 = (uint8_t)memif_get(m, MEMIF_AT_HELLO_LOG2_RING, 1);
    memif_clean(s->peer, sizeof s->peer, m + MEMIF_AT_HELLO_NAME, MEMIF_NAME);
    if (least > MEMIF_VERSION || most < MEMIF_VERSION)
        return memif_broken(s, "speaks versions %u.%u to %u.%u and not 2.0", least >> 8,
                            least & 255, most >> 8, most & 255);
    log2 = log2 < s->o->log2_ring ? log2 : (uint8_t)s->o->log2_ring;
    if (!memif_make_rings(s, queues <= m2s ? queues : m2s + 1, log2))
        return memif_over(s, "out of memory");
    memif_say_init(s, reply);
    s->step = MEMIF_WANTS_ACK;
    return MEMIF_GO_ON;
}

static void memif_say_ring(const struct memif_ring_place *p, unsigned index, bool s2m,
                           struct memif_reply *r) {
    memif_start(r, MEMIF_ADD_RING);
    memif_session_put(r, MEMIF_AT_RING_FLAGS, 2, s2m ? MEMIF_RING_S2M : 0);
    memif_session_put(r, MEMIF_AT_RING_INDEX, 2, index);
    memif_session_put(r, MEMIF_AT_RING_REGION, 2, p->region);
    memif_session_put(r, MEMIF_AT_RING_OFFSET, 4, p->offset);
    memif_session_put(r, MEMIF_AT_RING_LOG2, 1, p->log2);
    r->fd = p->bell;
}

// What comes after the message that was just acknowledged: the region, the rings, CONNECT.
static enum memif_result memif_hear_ack(struct memif_session *s, struct memif_reply *r) {
    const unsigned i = s->sent++;
    if (i == 0) {
        memif_start(r, MEMIF_ADD_REGION);
        memif_session_put(r, MEMIF_AT_REGION_SIZE, 8, s->regions[0].size);
        r->fd = s->memory;
    } else if (i <= s->n_s2m) {
        memif_say_ring(&s->s2m[i - 1], i - 1, true, r);
    } else if (i <= s->n_s2m + s->n_m2s) {
        memif_say_ring(&s->m2s[i - 1 - s->n_s2m], i - 1 - s->n_s2m, false, r);
    } else {
        memif_start(r, MEMIF_CONNECT);
        memif_put_text(r, MEMIF_AT_CONNECT_NAME, MEMIF_NAME, s->o->name);
        s->step = MEMIF_WANTS_CONNECTED;
    }
    return MEMIF_GO_ON;
}

static enum memif_result memif_client_hears(struct memif_session *s, unsigned type,
                                            const uint8_t *m, struct memif_reply *reply) {
    if (s->step == MEMIF_WANTS_HELLO && type == MEMIF_HELLO)
        return memif_hear_hello(s, m, reply);
    if (s->step == MEMIF_WANTS_ACK && type == MEMIF_ACK)
        return memif_hear_ack(s, reply);
    if (s->step != MEMIF_WANTS_CONNECTED || type != MEMIF_CONNECTED)
        return memif_broken(s, "sends a message of type %u %s", type,
                            s->step == MEMIF_IS_UP ? "while connected" : "out of turn");
    s->step = MEMIF_IS_UP;
    return MEMIF_UP;
}

// ---- both ----

static bool memif_takes_descriptor(const struct memif_session *s, unsigned type) {
    return s->step == MEMIF_WANTS_SETUP && (type == MEMIF_ADD_REGION || type == MEMIF_ADD_RING);
}

static enum memif_result memif_hear(struct memif_session *s, const uint8_t *message, size_t length,
                                    const int *fds, unsigned n_fds, struct memif_reply *reply) {
    if (length != MEMIF_MESSAGE)
        return memif_broken(s, "sends a message of %zu bytes and not 128", length);
    const unsigned type = (unsigned)memif_get(message, MEMIF_AT_TYPE, 2);
    const unsigned wanted = memif_takes_descriptor(s, type);
    if (n_fds != wanted)
        return memif_broken(s, "sends %u descriptors with a message of type %u, which has %u",
                            n_fds, type, wanted);
    if (type == MEMIF_DISCONNECT) {
        memif_clean(s->wrong, sizeof s->wrong, message + MEMIF_AT_DISCONNECT_REASON, MEMIF_REASON);
        return MEMIF_OVER;
    }
    const bool client = s->step >= MEMIF_WANTS_HELLO && s->step <= MEMIF_WANTS_CONNECTED;
    if (client || (s->step == MEMIF_IS_UP && s->o && !s->o->server))
        return memif_client_hears(s, type, message, reply);
    return memif_server_hears(s, type, message, wanted ? fds[0] : -1, reply);
}

enum memif_result memif_session_hear(struct memif_session *s, const uint8_t *message, size_t length,
                                     const int *fds, unsigned n_fds, struct memif_reply *reply) {
    const unsigned rings = s->n_s2m + s->n_m2s;
    *reply = (struct memif_reply){.fd = -1};
    const enum memif_result result = memif_hear(s, message, length, fds, n_fds, reply);
    const bool kept = result == MEMIF_GO_ON && n_fds > 0 && s->n_s2m + s->n_m2s > rings;
    if (result == MEMIF_GO_ON && n_fds > 0 && !kept)
        close(fds[0]); // of a region, which is mapped: known to be ordinary memory
    for (unsigned i = 0; i < n_fds && result != MEMIF_GO_ON; i++)
        memif_let_go(fds[i]);
    return result;
}
