// SPDX-License-Identifier: Apache-2.0
#include "pcap/replay/map.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "pipeline/abi.h"

#define VLANS        4096u
#define NO_TAG       VLANS // the key "none"
#define KEY_BYTES    16u
#define IPV4_PREFIX  96u // IPv4 addresses are ::ffff:a.b.c.d
#define DROP_NOTE    "silken drop:"
#define ETHER_HEADER 14u
#define TYPE_ARP     0x0806u
#define TYPE_IPV4    0x0800u
#define TYPE_IPV6    0x86ddu

enum kind { BY_INTERFACE, BY_VLAN, BY_MAC, BY_IP };
static const char *const kinds[] = {"interface", "vlan", "src-mac", "src-ip"};
#define N_KINDS (sizeof kinds / sizeof *kinds)

// The first 'bits' of 'key', or an interface's name.
struct pair {
    uint8_t key[KEY_BYTES];
    unsigned bits;
    char *name;
    uint16_t port;
};

struct replay_map {
    enum kind kind;
    bool by_names;      // interfaces "port-N"
    struct pair *pairs; // longer ones first
    size_t n;
    uint16_t other; // REPLAY_NO_PORT: none
    uint16_t vlan[VLANS + 1];
    // what was asked last, and the answer
    uint8_t last[KEY_BYTES];
    uint32_t last_serial;
    bool asked;
    uint16_t answer;
};

// ---- parsing ----

static int bad(struct sk_error *err, const char *what, const char *word) {
    return sk_fail(err, "--map: '%s' %s", word, what);
}

// Decimal digits only, below 'limit'.
static bool replay_map_number(const char *text, unsigned long limit, unsigned long *out) {
    size_t n = strspn(text, "0123456789");
    if (n == 0 || n > 6 || text[n])
        return false;
    *out = strtoul(text, NULL, 10);
    return *out < limit;
}

static bool replay_map_mac(const char *text, uint8_t *out) {
    for (unsigned i = 0; i < 6; i++, text += 3) {
        static const char digits[] = "0123456789abcdefABCDEF";
        if (strspn(text, digits) != 2 || text[2] != (i < 5 ? ':' : 0))
            return false;
        out[i] = (uint8_t)strtoul(text, NULL, 16);
    }
    return true;
}

static void map_ipv4(uint8_t *key, const uint8_t *address) {
    memset(key, 0, 10);
    memset(key + 10, 0xff, 2);
    memcpy(key + 12, address, 4);
}

// "ADDRESS" or "ADDRESS/BITS"; bits after the prefix must be 0.
static int replay_map_address(struct pair *p, enum kind kind, char *word, struct sk_error *err) {
    unsigned long bits, longest = 48, before = 0;
    uint8_t ipv4[4];
    char *slash = strchr(word, '/');
    if (slash)
        *slash = 0;
    if (kind == BY_MAC && !replay_map_mac(word, p->key))
        return bad(err, "is not a MAC address", word);
    if (kind == BY_IP && inet_pton(AF_INET, word, ipv4) == 1) {
        map_ipv4(p->key, ipv4);
        longest = 32;
        before = IPV4_PREFIX;
    } else if (kind == BY_IP && inet_pton(AF_INET6, word, p->key) == 1) {
        longest = 128;
    } else if (kind == BY_IP) {
        return bad(err, "is not an IP address", word);
    }
    bits = longest;
    if (slash && !replay_map_number(slash + 1, longest + 1, &bits))
        return bad(err, "is not a prefix length of this address", slash + 1);
    p->bits = (unsigned)(before + bits);
    for (unsigned bit = p->bits; bit < 8 * KEY_BYTES; bit++)
        if (p->key[bit / 8] >> (7 - bit % 8) & 1)
            return bad(err, "has bits set after its prefix", word);
    return 0;
}

static int replay_map_key_of(struct replay_map *m, struct pair *p, char *word,
                             struct sk_error *err) {
    unsigned long v;
    if (m->kind == BY_MAC || m->kind == BY_IP)
        return replay_map_address(p, m->kind, word, err);
    if (m->kind == BY_VLAN) {
        bool none = strcmp(word, "none") == 0;
        if (!none && !replay_map_number(word, VLANS, &v))
            return bad(err, "is not a VLAN (0 to 4095, or none)", word);
        uint16_t *slot = &m->vlan[none ? NO_TAG : v];
        if (*slot != REPLAY_NO_PORT)
            return bad(err, "is listed twice", word);
        *slot = p->port;
        return 0;
    }
    if (!*word)
        return bad(err, "is not an interface", word);
    if (!(p->name = strdup(word)))
        abort();
    return 0;
}

static bool replay_map_same_key(const struct pair *a, const struct pair *b) {
    return a->name ? strcmp(a->name, b->name) == 0
                   : a->bits == b->bits && memcmp(a->key, b->key, KEY_BYTES) == 0;
}

static int replay_map_add_pair(struct replay_map *m, char *word, struct sk_error *err) {
    struct pair p = {0};
    unsigned long port;
    char *equals = strrchr(word, '=');
    if (!equals)
        return bad(err, "is not KEY=PORT", word);
    if (!replay_map_number(equals + 1, SK_PORTS, &port) || !sk_port_exists((unsigned)port))
        return bad(err, "is not a device port", equals + 1);
    *equals = 0;
    p.port = (uint16_t)port;
    if (strcmp(word, "*") == 0) {
        if (m->other != REPLAY_NO_PORT)
            return bad(err, "is listed twice", word);
        m->other = p.port;
        return 0;
    }
    if (replay_map_key_of(m, &p, word, err))
        return -1;
    bool twice = false;
    size_t at = m->n;
    for (size_t i = 0; m->kind != BY_VLAN && i < m->n; i++)
        twice |= replay_map_same_key(&p, &m->pairs[i]);
    m->pairs = sk_resize(m->pairs, m->n + 1, sizeof *m->pairs);
    for (; at > 0 && m->pairs[at - 1].bits < p.bits; at--)
        m->pairs[at] = m->pairs[at - 1];
    m->pairs[at] = p;
    m->n++;
    return twice ? bad(err, "is listed twice", word) : 0;
}

static int parse_pairs(struct replay_map *m, char *text, struct sk_error *err) {
    for (char *word = text, *next; word; word = next) {
        next = strchr(word, ',');
        if (next)
            *next++ = 0;
        if (replay_map_add_pair(m, word, err))
            return -1;
    }
    return 0;
}

static int replay_map_parse_text(struct replay_map *m, char *text, struct sk_error *err) {
    char *colon = strchr(text, ':');
    if (colon)
        *colon++ = 0;
    unsigned kind = 0;
    while (kind < N_KINDS && strcmp(text, kinds[kind]) != 0)
        kind++;
    if (kind == N_KINDS)
        return bad(err, "is not one of interface, vlan, src-mac and src-ip", text);
    m->kind = (enum kind)kind;
    m->by_names = m->kind == BY_INTERFACE && !colon;
    if (!colon && !m->by_names)
        return bad(err, "needs keys and ports, as in vlan:10=1,20=2", text);
    return colon ? parse_pairs(m, colon, err) : 0;
}

struct replay_map *replay_map_parse(const char *text, struct sk_error *err) {
    struct replay_map *m = calloc(1, sizeof *m);
    char *copy = strdup(text ? text : kinds[BY_INTERFACE]);
    if (!m || !copy)
        abort();
    m->other = REPLAY_NO_PORT;
    for (unsigned i = 0; i <= VLANS; i++)
        m->vlan[i] = REPLAY_NO_PORT;
    int rc = replay_map_parse_text(m, copy, err);
    free(copy);
    if (rc == 0)
        return m;
    replay_map_free(m);
    return NULL;
}

void replay_map_free(struct replay_map *m) {
    if (!m)
        return;
    for (size_t i = 0; i < m->n; i++)
        free(m->pairs[i].name);
    free(m->pairs);
    free(m);
}

bool replay_map_knows(const struct replay_map *m, enum capture_form form) {
    return !m->by_names || form == CAPTURE_PCAPNG;
}

void replay_map_ports(const struct replay_map *m, void (*each)(void *aux, uint16_t port),
                      void *aux) {
    for (size_t i = 0; i < m->n; i++)
        each(aux, m->pairs[i].port);
    if (m->other != REPLAY_NO_PORT)
        each(aux, m->other);
}

// ---- looking up ----

static uint16_t replay_map_word_at(const uint8_t *at) {
    return (uint16_t)(at[0] << 8 | at[1]);
}

static bool is_tag(uint16_t type) {
    return type == 0x8100 || type == 0x88a8 || type == 0x9100;
}

// Where the type is that no tag has; 0: the packet ends before.
static uint32_t type_at(const struct capture_frame *f) {
    uint32_t at = ETHER_HEADER - 2;
    while (at + 2 <= f->length && is_tag(replay_map_word_at(f->bytes + at)))
        at += 4;
    return at + 2 <= f->length ? at : 0;
}

// The IP source of the packet, or the sender that its ARP names.
static bool source_ip(const struct capture_frame *f, uint8_t *key) {
    const uint32_t at = type_at(f);
    if (!at)
        return false;
    const uint8_t *body = f->bytes + at + 2;
    const uint32_t n = f->length - at - 2;
    switch (replay_map_word_at(f->bytes + at)) {
    case TYPE_IPV4:
        if (n >= 16)
            map_ipv4(key, body + 12);
        return n >= 16;
    case TYPE_IPV6:
        if (n >= 24)
            memcpy(key, body + 8, 16);
        return n >= 24;
    case TYPE_ARP: // of Ethernet and IPv4
        if (n < 18 || replay_map_word_at(body + 2) != TYPE_IPV4 || body[4] != 6 || body[5] != 4)
            return false;
        map_ipv4(key, body + 14);
        return true;
    default:
        return false;
    }
}

static bool replay_map_begins_with(const uint8_t *key, const struct pair *p) {
    unsigned whole = p->bits / 8, rest = p->bits % 8;
    return memcmp(key, p->key, whole) == 0 &&
           (rest == 0 || (key[whole] ^ p->key[whole]) >> (8 - rest) == 0);
}

static uint16_t replay_map_by_address(struct replay_map *m, const struct capture_frame *f) {
    uint8_t key[KEY_BYTES] = {0};
    bool there = m->kind == BY_IP ? source_ip(f, key) : f->length >= 12;
    if (!there)
        return m->other;
    if (m->kind == BY_MAC)
        memcpy(key, f->bytes + 6, 6);
    if (m->asked && memcmp(key, m->last, KEY_BYTES) == 0)
        return m->answer;
    memcpy(m->last, key, KEY_BYTES);
    m->asked = true;
    m->answer = m->other;
    for (size_t i = 0; i < m->n; i++)
        if (replay_map_begins_with(key, &m->pairs[i])) {
            m->answer = m->pairs[i].port;
            break;
        }
    return m->answer;
}

static uint16_t by_vlan(const struct replay_map *m, const struct capture_frame *f) {
    uint32_t vlan = NO_TAG;
    if (f->length >= ETHER_HEADER + 2 && is_tag(replay_map_word_at(f->bytes + 12)))
        vlan = replay_map_word_at(f->bytes + 14) & (VLANS - 1);
    return m->vlan[vlan] == REPLAY_NO_PORT ? m->other : m->vlan[vlan];
}

static uint16_t port_named(const char *name) {
    static const char prefix[] = "port-";
    unsigned long port;
    if (!name || strncmp(name, prefix, sizeof prefix - 1) != 0)
        return REPLAY_NO_PORT;
    name += sizeof prefix - 1;
    return replay_map_number(name, SK_PORTS, &port) && sk_port_exists((unsigned)port)
               ? (uint16_t)port
               : REPLAY_NO_PORT;
}

static uint16_t of_interface(const struct replay_map *m, const struct capture_interface *i) {
    if (m->by_names)
        return port_named(i->name);
    for (size_t p = 0; i->name && p < m->n; p++)
        if (strcmp(m->pairs[p].name, i->name) == 0)
            return m->pairs[p].port;
    for (size_t p = 0; p < m->n; p++) {
        unsigned long index;
        const char *name = m->pairs[p].name;
        if (replay_map_number(name + (name[0] == '#'), UINT32_MAX, &index) && index == i->index)
            return m->pairs[p].port;
    }
    return m->other;
}

// A note, about a packet that was dropped or the control plane, says so in its comment, and in no
// direction.
static bool is_note(const struct capture_frame *f) {
    static const char drop[] = DROP_NOTE;
    return f->direction == CAPTURE_UNKNOWN &&
           (replay_is_control(f) || (f->comment_length >= sizeof drop - 1 &&
                                     memcmp(f->comment, drop, sizeof drop - 1) == 0));
}

static uint16_t by_interface(struct replay_map *m, const struct capture_frame *f) {
    if (f->direction == CAPTURE_OUTBOUND || (f->comment && is_note(f)))
        return REPLAY_SENT;
    if (!m->asked || m->last_serial != f->interface->serial) {
        m->asked = true;
        m->last_serial = f->interface->serial;
        m->answer = of_interface(m, f->interface);
    }
    return m->answer;
}

uint16_t replay_map_port(struct replay_map *m, const struct capture_frame *f) {
    return m->kind == BY_INTERFACE ? by_interface(m, f)
           : m->kind == BY_VLAN    ? by_vlan(m, f)
                                   : replay_map_by_address(m, f);
}
