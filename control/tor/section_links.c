// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/tor/section_impl.h"

// ---- ports ----

static const struct sk_config_port *section_links_find_port(const struct reading *r,
                                                            const struct sk_at *at) {
    const char *name = json_is_string(at->value) ? sk_at_string(at, true) : NULL;
    const uint64_t number = name ? 0 : sk_at_number(at, true, SK_PORTS - 1);
    for (size_t i = 0; i < r->host->n_ports && reading_good(r); i++) {
        const struct sk_config_port *p = &r->host->ports[i];
        if (name ? p->name && strcmp(p->name, name) == 0 : p->port == number)
            return p;
    }
    if (name)
        sk_at_fail(at, "the switch has no port '%.63s'", name);
    else
        sk_at_fail(at, "the switch has no port %u", (unsigned)number);
    return NULL;
}

static void section_links_read_port(struct reading *r, const struct sk_at *at,
                                    struct tor_link_section *link) {
    const struct sk_config_port *p = section_links_find_port(r, at);
    if (!p)
        return;
    const uint32_t index = (uint32_t)(link - r->s->links), other = r->links[p->port];
    if (p->port == CPU_PORT)
        sk_at_fail(at, "port %u is the control plane's own", CPU_PORT);
    else if (other == index + 1)
        sk_at_fail(at, "port %u is given twice", p->port);
    else if (other)
        sk_at_fail(at, "port %u is link '%s''s already", p->port, r->s->links[other - 1].name);
    r->links[p->port] = index + 1;
    link->ports[link->n_ports++] = p->port;
}

static void read_link_ports(struct reading *r, const struct sk_at *at,
                            struct tor_link_section *link) {
    struct sk_at port = sk_at_member(at, "port"), ports = sk_at_member(at, "ports");
    if (!port.value == !ports.value)
        sk_at_fail(at, port.value ? "it has both \"port\" and \"ports\""
                                  : "it needs \"port\", or \"ports\" of a LAG");
    if (port.value)
        section_links_read_port(r, &port, link);
    link->lag = ports.value != NULL;
    const size_t n = sk_at_length(&ports);
    if (ports.value && (n == 0 || n > TOR_LAG_PORTS))
        sk_at_fail(&ports, "it has %zu ports; a LAG has 1 to %u", n, TOR_LAG_PORTS);
    for (size_t i = 0; i < n && reading_good(r); i++) {
        struct sk_at item = sk_at_item(&ports, i);
        section_links_read_port(r, &item, link);
    }
}

static void read_lacp(const struct sk_at *at, struct tor_link_section *link) {
    static const char *const keys[] = {"active", "fast", "priority", NULL};
    struct sk_at lacp = sk_at_member(at, "lacp");
    sk_at_keys(&lacp, keys);
    link->lacp = lacp.value != NULL;
    if (link->lacp && !link->lag)
        sk_at_fail(&lacp, "it is for LAGs: links with \"ports\"");
    link->lacp_active = read_flag(&lacp, "active", true);
    link->lacp_fast = read_flag(&lacp, "fast", false);
    link->lacp_priority = (uint16_t)read_member_between(&lacp, "priority", 0, UINT16_MAX, 32768);
}

// ---- VLANs of a link ----

static void set_vids(struct reading *r, struct tor_link_section *link, const bool *tagged) {
    link->vids = reading_keep(r, VIDS * sizeof *link->vids);
    for (uint16_t vid = 1; vid < VIDS; vid++)
        if (tagged[vid])
            link->vids[link->n_vids++] = vid;
}

static void read_trunk(struct reading *r, const struct sk_at *at, struct tor_link_section *link) {
    bool tagged[VIDS] = {false};
    struct sk_at trunk = sk_at_member(at, "trunk"), native = sk_at_member(at, "native");
    if (native.value)
        link->untagged = read_vid(r, &native);
    if (json_is_string(trunk.value)) {
        if (strcmp(json_string_value(trunk.value), "all") != 0)
            sk_at_fail(&trunk, "it must be a list of VLANs or \"all\"");
        for (size_t vid = 1; vid < VIDS; vid++)
            tagged[vid] = r->vlans[vid] && vid != link->untagged;
        set_vids(r, link, tagged);
        return;
    }
    const size_t n = sk_at_length(&trunk);
    if (trunk.value && n == 0)
        sk_at_fail(&trunk, "it is empty");
    for (size_t i = 0; i < n && reading_good(r); i++) {
        struct sk_at item = sk_at_item(&trunk, i);
        const uint16_t vid = read_vid(r, &item);
        if (vid && tagged[vid])
            sk_at_fail(&item, "VLAN %u is given twice", vid);
        if (vid && vid == link->untagged)
            sk_at_fail(&item, "VLAN %u is the native one: it has no tag here", vid);
        tagged[vid] = true;
    }
    if (reading_good(r))
        set_vids(r, link, tagged);
}

static void read_link_vlans(struct reading *r, const struct sk_at *at,
                            struct tor_link_section *link) {
    struct sk_at access = sk_at_member(at, "access"), trunk = sk_at_member(at, "trunk"),
                 native = sk_at_member(at, "native");
    if (access.value && trunk.value)
        sk_at_fail(at, "it has both \"access\" and \"trunk\"");
    if (native.value && !trunk.value)
        sk_at_fail(&native, "it is for links with \"trunk\"");
    if (access.value)
        link->untagged = read_vid(r, &access);
    else if (trunk.value && reading_good(r))
        read_trunk(r, at, link);
}

static void read_storm(const struct sk_at *at, struct tor_link_section *link) {
    static const char *const keys[] = {"broadcast", "multicast", "unknown", NULL};
    struct sk_at storm = sk_at_member(at, "storm");
    sk_at_keys(&storm, keys);
    for (unsigned i = 0; i < 3; i++)
        link->storm[i] = read_member_between(&storm, keys[i], 0, 1000000000, 0);
}

static void read_claims(const struct sk_at *at, struct tor_link_section *link) {
    static const char *const keys[] = {"important", "signal", NULL};
    struct sk_at claims = sk_at_member(at, "claims");
    sk_at_keys(&claims, keys);
    for (unsigned i = 0; i < TOR_CLAIMS; i++)
        link->claims[i] = read_member_between(&claims, keys[i], 0, 1000000, 0);
}

// By default a link may have half of all entries, so that it leaves entries for other links.
static void read_limits(const struct sk_at *at, struct tor_link_section *link) {
    static const char *const keys[] = {"addresses", "address_rate", "neighbours", "neighbour_rate",
                                       NULL};
    struct sk_at limits = sk_at_member(at, "limits");
    sk_at_keys(&limits, keys);
    link->limits[TOR_LIMIT_ADDRESSES] = (struct tor_link_limit){
        .most = read_member_between(&limits, keys[0], 1, DESTINATIONS, DESTINATIONS / 2),
        .rate = read_member_between(&limits, keys[1], 1, ADDRESS_RATE, ADDRESS_RATE / 4)};
    link->limits[TOR_LIMIT_NEIGHBOURS] = (struct tor_link_limit){
        .most = read_member_between(&limits, keys[2], 1, NEIGHBOURS, (NEIGHBOURS + 1) / 2),
        .rate = read_member_between(&limits, keys[3], 1, NEIGHBOUR_RATE, NEIGHBOUR_RATE / 4)};
}

static void section_links_read(struct reading *r, const struct sk_at *at, size_t i) {
    static const char *const keys[] = {
        "name",  "port", "ports",        "lacp",    "access",   "trunk",  "native", "learn",
        "storm", "acl",  "querier_port", "querier", "isolated", "limits", "claims", NULL};
    struct tor_link_section *link = &r->s->links[i];
    if (!json_is_object(at->value))
        sk_at_fail(at, "it must be an object");
    sk_at_keys(at, keys);
    read_name(at, "name", &r->link_names, i, link->name);
    read_link_ports(r, at, link);
    read_lacp(at, link);
    read_link_vlans(r, at, link);
    read_storm(at, link);
    read_claims(at, link);
    read_limits(at, link);
    struct sk_at acl = sk_at_member(at, "acl");
    link->acl = acl.value ? read_named(&acl, &r->acl_names, "access list") : TOR_NONE;
    link->learn = read_flag(at, "learn", true);
    link->router = read_flag(at, "querier_port", false);
    link->guarded = !read_flag(at, "querier", true);
    if (link->router && link->guarded) {
        const struct sk_at querier = sk_at_member(at, "querier");
        sk_at_fail(&querier, "\"querier_port\" says that a multicast router is there");
    }
    link->isolated = read_flag(at, "isolated", false);
}

static void section_links_check_room(struct reading *r, const struct sk_at *list) {
    size_t entries = 0, lags = 0;
    for (size_t i = 0; i < r->s->n_links; i++) {
        const struct tor_link_section *link = &r->s->links[i];
        // and VLAN 0, in which the control plane's own frames leave
        entries += link->n_ports * (link->n_vids + (link->untagged ? 1 : 0) + 1);
        lags += link->lag;
    }
    if (entries > VLAN_ENTRIES)
        sk_at_fail(list, "the VLANs of all ports need %zu entries; a table holds %u", entries,
                   VLAN_ENTRIES);
    if (lags > LAGS)
        sk_at_fail(list, "%zu LAGs; there can be at most %u", lags, LAGS);
}

void read_links(struct reading *r) {
    struct sk_at list = sk_at_member(r->at, "links");
    const size_t n = sk_at_length(&list);
    r->s->links = reading_keep(r, n * sizeof *r->s->links);
    for (size_t i = 0; i < n && reading_good(r); i++) {
        struct sk_at at = sk_at_item(&list, i);
        r->s->n_links = i + 1;
        section_links_read(r, &at, i);
    }
    section_links_check_room(r, &list);
}

static bool section_links_carries(const struct tor_link_section *link, uint16_t vid) {
    if (link->untagged == vid)
        return true;
    for (size_t i = 0; i < link->n_vids; i++)
        if (link->vids[i] == vid)
            return true;
    return false;
}

static uint32_t read_carrier(struct reading *r, const struct sk_at *at, uint16_t vid) {
    const uint32_t link = read_named(at, &r->link_names, "link");
    if (reading_good(r) && !section_links_carries(&r->s->links[link], vid))
        sk_at_fail(at, "link '%s' does not carry VLAN %u", r->s->links[link].name, vid);
    return link;
}

// ---- static addresses ----

void read_macs(struct reading *r) {
    static const char *const keys[] = {"vid", "mac", "link", NULL};
    struct sk_at list = sk_at_member(r->at, "macs");
    const size_t n = sk_at_length(&list);
    struct simap seen = SIMAP_INITIALIZER(&seen);
    r->s->macs = reading_keep(r, n * sizeof *r->s->macs);
    for (size_t i = 0; i < n && reading_good(r); i++) {
        struct sk_at at = sk_at_item(&list, i), vid = sk_at_member(&at, "vid"),
                     mac = sk_at_member(&at, "mac"), link = sk_at_member(&at, "link");
        struct tor_static_mac *m = &r->s->macs[i];
        char text[TOR_TEXT], key[TOR_TEXT + 8], what[TOR_TEXT + 32];
        sk_at_keys(&at, keys);
        m->vid = read_vid(r, &vid);
        m->mac = read_mac(&mac);
        m->link = read_carrier(r, &link, m->vid);
        tor_mac_text(m->mac.bytes, text);
        snprintf(key, sizeof key, "%u %s", m->vid, text);
        snprintf(what, sizeof what, "%s in VLAN %u", text, m->vid);
        if (memcmp(&m->mac, &r->s->mac, sizeof m->mac) == 0)
            sk_at_fail(&mac, "%s is the switch's own address", text);
        read_once(&at, &seen, key, what);
        r->s->n_macs = i + 1;
    }
    simap_destroy(&seen);
    size_t groups = 0;
    for (size_t i = 0; i < r->s->n_vlans; i++)
        groups += r->s->vlans[i].n_groups;
    if (n + groups + r->s->n_vlans > DESTINATIONS)
        sk_at_fail(
            &list,
            "%zu addresses, with the groups and the switch's own in each VLAN: a table holds %u",
            n + groups + r->s->n_vlans, DESTINATIONS);
}

// ---- groups that are joined by configuration ----

// Null, or why nobody can join it.
static const char *no_group(const struct in6_addr *a) {
    const uint8_t *b = a->s6_addr;
    if (tor_is_ipv4(a))
        return b[12] < 224 || b[12] > 239 ? "is not the address of a group"
               : b[12] == 224 && b[13] == 0 && b[14] == 0
                   ? "is in 224.0.0.0/24, which is always flooded"
                   : NULL;
    static const struct in6_addr all_nodes = {.s6_addr = {0xff, 2, [15] = 1}};
    return !IN6_IS_ADDR_MULTICAST(a) ? "is not the address of a group"
           : (b[1] & 15) < 2         ? "does not leave a host"
           : memcmp(a, &all_nodes, sizeof all_nodes) == 0
               ? "is the address of all nodes, which is always flooded"
               : NULL;
}

static void section_links_read_group(struct reading *r, const struct sk_at *at, uint16_t vid,
                                     struct simap *seen, struct tor_static_group *g) {
    static const char *const keys[] = {"group", "links", NULL};
    struct sk_at group = sk_at_member(at, "group"), links = sk_at_member(at, "links");
    char text[TOR_TEXT], what[TOR_TEXT + 32];
    if (!json_is_object(at->value))
        sk_at_fail(at, "it must be an object");
    sk_at_keys(at, keys);
    const char *address = sk_at_string(&group, true);
    if (!reading_good(r))
        return;
    if (!parse_address(address, &g->group))
        sk_at_fail(&group, "'%.50s' is not an IPv4 or IPv6 address", address);
    else if (no_group(&g->group))
        sk_at_fail(&group, "%s %s", address, no_group(&g->group));
    snprintf(what, sizeof what, "group %s", tor_address_text(&g->group, text));
    read_once(&group, seen, text, what);
    const size_t n = sk_at_length(&links);
    if (n == 0)
        sk_at_fail(&links, "it needs at least one link");
    g->links = reading_keep(r, n * sizeof *g->links);
    for (; g->n_links < n && reading_good(r); g->n_links++) {
        struct sk_at item = sk_at_item(&links, g->n_links);
        const uint32_t link = g->links[g->n_links] = read_carrier(r, &item, vid);
        for (size_t i = 0; i < g->n_links; i++)
            if (g->links[i] == link)
                sk_at_fail(&item, "link '%s' is given twice", r->s->links[link].name);
    }
}

void read_groups(struct reading *r, const struct sk_at *at, struct tor_vlan *vlan) {
    struct sk_at list = sk_at_member(at, "static_groups");
    const size_t n = sk_at_length(&list);
    struct simap seen = SIMAP_INITIALIZER(&seen);
    vlan->groups = reading_keep(r, n * sizeof *vlan->groups);
    for (; vlan->n_groups < n && reading_good(r); vlan->n_groups++) {
        struct sk_at item = sk_at_item(&list, vlan->n_groups);
        section_links_read_group(r, &item, vlan->vid, &seen, &vlan->groups[vlan->n_groups]);
    }
    simap_destroy(&seen);
}

// ---- mirrors ----

// A port has one session for what comes in and one for what leaves.
static void check_source(struct reading *r, const struct sk_at *at, const struct tor_mirror *m,
                         const struct tor_mirror_source *source) {
    const char *name = r->s->links[source->link].name;
    for (const struct tor_mirror *other = r->s->mirrors; other <= m; other++) {
        for (size_t i = 0; i < other->n_sources; i++) {
            const struct tor_mirror_source *s = &other->sources[i];
            if (s == source || s->link != source->link)
                continue;
            if (other == m)
                sk_at_fail(at, "link '%s' is given twice", name);
            else if ((s->in && source->in) || (s->out && source->out))
                sk_at_fail(at, "mirror '%s' already copies the frames that %s link '%s'",
                           other->name, s->in && source->in ? "enter by" : "leave by", name);
        }
    }
}

static void section_links_read_source(struct reading *r, const struct sk_at *at,
                                      struct tor_mirror *m) {
    static const char *const keys[] = {"link", "direction", NULL}, *const directions[] = {
                                                                       "in", "out", "both", NULL};
    struct sk_at link = sk_at_member(at, "link");
    struct tor_mirror_source *source = &m->sources[m->n_sources++];
    if (!json_is_object(at->value))
        sk_at_fail(at, "it must be an object");
    sk_at_keys(at, keys);
    source->link = read_named(&link, &r->link_names, "link");
    const unsigned direction = read_word(at, "direction", directions, 2);
    source->in = direction != 1;
    source->out = direction != 0;
    if (!reading_good(r))
        return;
    if (source->link == m->to)
        sk_at_fail(&link, "link '%s' is the destination of the mirror", r->s->links[m->to].name);
    check_source(r, &link, m, source);
}

static void section_links_read_mirror(struct reading *r, const struct sk_at *at, size_t i) {
    struct tor_mirror *m = &r->s->mirrors[i];
    struct sk_at to = sk_at_member(at, "to"), length = sk_at_member(at, "length"),
                 links = sk_at_member(at, "links");
    m->to = read_named(&to, &r->link_names, "link");
    m->length = (uint16_t)read_between(&length, 0, 9198, 0);
    if (m->length && m->length < 64)
        sk_at_fail(&length, "it is %u; a frame has at least 64 bytes (0: all of it)", m->length);
    const size_t n = sk_at_length(&links);
    m->sources = reading_keep(r, n * sizeof *m->sources);
    for (size_t k = 0; k < n && reading_good(r); k++) {
        struct sk_at item = sk_at_item(&links, k);
        section_links_read_source(r, &item, m);
    }
    if (!reading_good(r))
        return;
    const struct tor_link_section *link = &r->s->links[m->to];
    if (link->n_vids || link->untagged)
        sk_at_fail(&to, "link '%s' carries VLANs: a mirror needs a link of its own", link->name);
}

// Their names are known before: access lists name them.
void read_mirrors(struct reading *r) {
    struct sk_at list = sk_at_member(r->at, "mirrors");
    for (size_t i = 0; i < r->s->n_mirrors && reading_good(r); i++) {
        struct sk_at at = sk_at_item(&list, i);
        section_links_read_mirror(r, &at, i);
        r->s->mirrors[i].session = (uint16_t)(i + 1);
    }
}

static uint16_t session_in(const struct tor_section *s, const char *name) {
    for (size_t i = 0; i < s->n_mirrors; i++)
        if (strcmp(s->mirrors[i].name, name) == 0)
            return s->mirrors[i].session;
    return 0;
}

void tor_section_keep_sessions(struct tor_section *s, const struct tor_section *old) {
    bool taken[TOR_MIRRORS_MOST + 1] = {true};
    uint16_t next = 0;
    for (size_t i = 0; i < s->n_mirrors; i++) {
        s->mirrors[i].session = session_in(old, s->mirrors[i].name);
        taken[s->mirrors[i].session] = true;
    }
    for (size_t i = 0; i < s->n_mirrors; i++) {
        if (s->mirrors[i].session)
            continue;
        while (taken[next])
            next++;
        taken[next] = true;
        s->mirrors[i].session = next;
    }
}

// A link of no VLAN is one that a mirror goes to.
void check_links(struct reading *r) {
    struct sk_at list = sk_at_member(r->at, "links");
    bool *mirrored = calloc(r->s->n_links + 1, sizeof *mirrored);
    if (!mirrored)
        abort();
    for (size_t i = 0; i < r->s->n_mirrors && reading_good(r); i++)
        mirrored[r->s->mirrors[i].to] = true;
    for (size_t i = 0; i < r->s->n_links && reading_good(r); i++) {
        const struct tor_link_section *link = &r->s->links[i];
        struct sk_at at = sk_at_item(&list, i);
        if (!link->n_vids && !link->untagged && !mirrored[i])
            sk_at_fail(&at, "it is in no VLAN and is not the destination of a mirror: it needs "
                            "\"access\" or \"trunk\"");
    }
    free(mirrored);
}
