// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/tor/ip.h"
#include "control/tor/section_impl.h"

bool read_flag(const struct sk_at *at, const char *key, bool otherwise) {
    struct sk_at flag = sk_at_member(at, key);
    if (flag.value && !json_is_boolean(flag.value))
        sk_at_fail(&flag, "it must be true or false");
    return flag.value ? json_is_true(flag.value) : otherwise;
}

uint32_t read_between(const struct sk_at *at, uint32_t low, uint32_t high, uint32_t otherwise) {
    if (!at->value)
        return otherwise;
    const uint64_t v = sk_at_between(at, true, low, high);
    return at->doc->failed ? otherwise : (uint32_t)v;
}

uint32_t read_member_between(const struct sk_at *at, const char *key, uint32_t low, uint32_t high,
                             uint32_t otherwise) {
    struct sk_at member = sk_at_member(at, key);
    return read_between(&member, low, high, otherwise);
}

unsigned read_word(const struct sk_at *at, const char *key, const char *const *words,
                   unsigned otherwise) {
    struct sk_at member = sk_at_member(at, key);
    const char *text = sk_at_string(&member, false);
    if (!text)
        return otherwise;
    char known[128] = "";
    for (unsigned i = 0; words[i]; i++) {
        if (strcmp(words[i], text) == 0)
            return i;
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "",
                 words[i]);
    }
    sk_at_fail(&member, "'%.40s' is not one of: %s", text, known);
    return otherwise;
}

static void section_text_check_name(const struct sk_at *at, const char *name) {
    if (strlen(name) >= TOR_NAME)
        sk_at_fail(at, "a name has at most %u characters", TOR_NAME - 1);
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            sk_at_fail(at, "a name has no control characters");
}

void read_name(const struct sk_at *at, const char *key, struct simap *names, size_t number,
               char out[TOR_NAME]) {
    struct sk_at member = sk_at_member(at, key);
    const char *name = sk_at_string(&member, true);
    section_text_check_name(&member, name);
    if (at->doc->failed)
        return;
    if (simap_contains(names, name))
        sk_at_fail(&member, "the name '%s' is given twice", name);
    simap_put(names, name, (unsigned)number);
    memcpy(out, name, strlen(name) + 1);
}

uint32_t read_named(const struct sk_at *at, const struct simap *names, const char *what) {
    const char *name = sk_at_string(at, true);
    if (at->doc->failed)
        return 0;
    const struct simap_node *node = simap_find(names, name);
    if (!node)
        sk_at_fail(at, "there is no %s '%.63s'", what, name);
    return node ? node->data : 0;
}

uint16_t read_vlan_number(const struct sk_at *at) {
    const json_int_t number = json_integer_value(at->value);
    if (json_is_integer(at->value) && (number < 1 || number >= VIDS - 1))
        sk_at_fail(at, "it is %lld; VLANs are 1 to 4094", (long long)number);
    return (uint16_t)sk_at_number(at, true, VIDS - 2);
}

uint16_t read_vid(const struct reading *r, const struct sk_at *at) {
    const uint16_t vid = read_vlan_number(at);
    if (!at->doc->failed && !r->vlans[vid])
        sk_at_fail(at, "VLAN %u is not among tor.vlans", vid);
    return at->doc->failed ? 0 : vid;
}

static bool section_text_parse_mac(const char *text, uint8_t mac[6]) {
    static const char digits[] = "0123456789abcdef";
    if (strlen(text) != 17)
        return false;
    for (unsigned i = 0; i < 17; i++) {
        const char c = (char)(text[i] >= 'A' && text[i] <= 'F' ? text[i] + 'a' - 'A' : text[i]);
        const char *digit = strchr(digits, c);
        if (i % 3 == 2 ? c != ':' : !digit)
            return false;
        if (i % 3 != 2)
            mac[i / 3] = (uint8_t)(mac[i / 3] << 4 | (digit - digits));
    }
    return true;
}

struct tor_mac read_any_mac(const struct sk_at *at) {
    struct tor_mac mac = {{0}};
    const char *text = sk_at_string(at, true);
    if (!at->doc->failed && !section_text_parse_mac(text, mac.bytes))
        sk_at_fail(at, "'%.40s' is not a MAC address like 02:00:00:00:00:01", text);
    return mac;
}

struct tor_mac read_mac(const struct sk_at *at) {
    static const struct tor_mac nobody;
    const struct tor_mac mac = read_any_mac(at);
    if (mac.bytes[0] & 1)
        sk_at_fail(at, "it is the address of a group");
    else if (memcmp(&mac, &nobody, sizeof mac) == 0)
        sk_at_fail(at, "it is not the address of a host");
    return mac;
}

void read_once(const struct sk_at *at, struct simap *seen, const char *key, const char *what) {
    if (!simap_put(seen, key, 0))
        sk_at_fail(at, "%s is given twice", what);
}

// ---- addresses ----

bool parse_address(const char *text, struct in6_addr *out) {
    uint8_t four[4];
    *out = (struct in6_addr){.s6_addr = {[10] = 0xff, [11] = 0xff}};
    if (inet_pton(AF_INET, text, four) == 1) {
        memcpy(&out->s6_addr[12], four, 4);
        return true;
    }
    return inet_pton(AF_INET6, text, out) == 1 && !tor_is_ipv4(out);
}

const char *prefix_text(const struct tor_prefix *prefix, char out[TOR_TEXT]) {
    const bool four = tor_is_ipv4(&prefix->address);
    tor_address_text(&prefix->address, out);
    const size_t used = strlen(out);
    snprintf(out + used, TOR_TEXT - used, "/%u", prefix->length - (four ? 96u : 0u));
    return out;
}

struct in6_addr network_of(const struct in6_addr *address, uint8_t length) {
    struct in6_addr a = *address;
    for (unsigned i = 0; i < 16; i++) {
        const unsigned bits = length > 8 * i ? length - 8 * i : 0;
        if (bits < 8)
            a.s6_addr[i] &= (uint8_t) ~(0xffu >> bits);
    }
    return a;
}

bool prefix_has(const struct tor_prefix *prefix, const struct in6_addr *address) {
    const struct in6_addr a = network_of(&prefix->address, prefix->length),
                          b = network_of(address, prefix->length);
    return memcmp(&a, &b, sizeof a) == 0;
}

const char *no_host_of(const struct tor_prefix *prefix, const struct in6_addr *address) {
    if (prefix->length >= 127)
        return NULL;
    const struct in6_addr network = network_of(address, prefix->length);
    if (memcmp(&network, address, sizeof network) == 0)
        return "the subnet's own address";
    if (!tor_is_ipv4(address))
        return NULL;
    for (unsigned bit = prefix->length; bit < 128; bit++)
        if (!(address->s6_addr[bit / 8] & 0x80 >> bit % 8))
            return NULL;
    return "the subnet's broadcast address";
}

// What an address is that no host can have; null: nothing of the kind.
static const char *no_host(const struct in6_addr *a) {
    const struct ip_special *s = ip_special_of(a);
    return s && !s->link ? s->address : NULL;
}

struct in6_addr read_address(const struct sk_at *at) {
    struct in6_addr a = IN6ADDR_ANY_INIT;
    const char *text = sk_at_string(at, true);
    if (at->doc->failed)
        return a;
    if (!parse_address(text, &a))
        sk_at_fail(at, "'%.50s' is not an IPv4 or IPv6 address", text);
    else if (no_host(&a))
        sk_at_fail(at, "%.50s is %s, not of a host", text, no_host(&a));
    return a;
}

// The length after the '/', of the address's family; false: it is none.
static bool parse_length(const char *text, bool four, uint8_t *out) {
    const size_t n = strspn(text, "0123456789");
    if (n == 0 || n > 3 || text[n])
        return false;
    const unsigned length = (unsigned)atoi(text);
    *out = (uint8_t)(length + (four ? 96 : 0));
    return length <= (four ? 32u : 128u);
}

struct tor_prefix read_prefix(const struct sk_at *at, bool host, bool bare) {
    struct tor_prefix p = {.length = 0};
    const char *text = sk_at_string(at, true);
    char address[TOR_TEXT] = "", own[TOR_TEXT];
    if (at->doc->failed)
        return p;
    const char *slash = strchr(text, '/');
    const size_t length = slash ? (size_t)(slash - text) : strlen(text);
    if (length < sizeof address)
        memcpy(address, text, length);
    if (!*address || !parse_address(address, &p.address)) {
        sk_at_fail(at, "'%.50s' is not a prefix like 10.0.0.0/8 or 2001:db8::/32", text);
        return p;
    }
    const bool four = tor_is_ipv4(&p.address);
    p.length = 128;
    if (slash ? !parse_length(slash + 1, four, &p.length) : !bare) {
        sk_at_fail(at, "'%.50s' needs a prefix length of 0 to %u after a /", text, four ? 32 : 128);
        return p;
    }
    const struct in6_addr network = network_of(&p.address, p.length);
    if (!host && memcmp(&network, &p.address, sizeof network) != 0)
        sk_at_fail(at, "%.50s has bits set after its length: the prefix is %s", text,
                   prefix_text(&(struct tor_prefix){network, p.length}, own));
    if (host && no_host(&p.address))
        sk_at_fail(at, "%s is %s, not of a host", address, no_host(&p.address));
    else if (host && no_host_of(&p, &p.address))
        sk_at_fail(at, "%s is %s, not of a host", address, no_host_of(&p, &p.address));
    return p;
}
