// SPDX-License-Identifier: Apache-2.0
//
// lag: LACP (IEEE 802.1AX) on Open vSwitch's lacp: which members of LAGs carry traffic. LAGs
// without "lacp" go by their ports' links alone (links.c).
//
// A member carries traffic when its link is up and its partner agrees. There is no fallback: a LAG
// with LACP whose partner does not speak it carries nothing, or two sides that are cabled wrongly
// would make a loop.
//
// All ports of LAGs answer markers (6.5), with LACP or without.
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "control/tor/tor_impl.h"
#include "dp-packet.h"
#include "lacp.h"
#include "util.h"

#define RUN_NS UINT64_C(50000000)
// A frame of the slow protocols: 14 bytes of Ethernet and 110 after them, of which the first is the
// subtype.
#define FRAME     124u
#define ETHERNET  14u
#define SLOW_TYPE 0x8809
enum { SUBTYPE_LACP = 1, SUBTYPE_MARKER = 2 };
enum { MARKER_REQUEST = 1, MARKER_RESPONSE = 2, MARKER_LENGTH = 16 };

static const uint8_t slow_protocols[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x02};

struct lag;
struct member {
    struct tor *t;
    uint16_t port;
    bool there;
    uint64_t markers;
};
struct lag {
    struct lag *next;
    struct lacp *lacp; // null: the LAG is static, and only answers markers
    char name[TOR_NAME];
    uint16_t interface;
    bool negotiated;
    size_t n_members;
    struct member *members[TOR_LAG_PORTS]; // Open vSwitch's library knows them by their place
};
struct lags {
    struct lag *first;
    uint64_t run_at, bad;
};

static bool carrier(struct tor *t, uint16_t port) {
    return t->host.link(t->host.aux, port);
}

// ---- frames ----

static void send_slow(struct tor *t, uint16_t port, const void *pdu, size_t length) {
    uint8_t frame[FRAME] = {0};
    memcpy(frame, slow_protocols, 6);
    memcpy(frame + 6, t->section->mac.bytes, 6);
    frame[12] = SLOW_TYPE >> 8;
    frame[13] = SLOW_TYPE & 0xff;
    memcpy(frame + ETHERNET, pdu, MIN(length, FRAME - ETHERNET));
    tor_send_port(t, port, 0, frame, FRAME);
}

static void send_pdu(void *aux, const void *pdu, size_t length) {
    const struct member *m = aux;
    send_slow(m->t, m->port, pdu, length);
}

// IEEE 802.1AX 6.5.3: the request, with another type.
static void answer_marker(struct tor *t, struct member *m, const uint8_t *pdu) {
    uint8_t answer[FRAME - ETHERNET];
    if (pdu[2] != MARKER_REQUEST || pdu[3] != MARKER_LENGTH)
        return;
    memcpy(answer, pdu, sizeof answer);
    answer[2] = MARKER_RESPONSE;
    m->markers++;
    send_slow(t, m->port, answer, sizeof answer);
}

static struct member *find_member(struct lags *lags, uint16_t port, struct lag **lag) {
    for (struct lag *l = lags->first; l; l = l->next)
        for (size_t i = 0; i < l->n_members; i++)
            if (l->members[i]->port == port) {
                *lag = l;
                return l->members[i];
            }
    return NULL;
}

static void run_lag(struct tor *t, struct lag *l);

static void lag_frame(struct tor *t, void *state, const struct tor_frame *f) {
    struct lags *lags = state;
    struct lag *l;
    if (f->reason != TOR_REASON_LINK || memcmp(f->bytes, slow_protocols, 6) != 0 ||
        get16(f->bytes + 12) != SLOW_TYPE)
        return;
    struct member *m = find_member(lags, f->port, &l);
    if (!m)
        return;
    if (f->length < FRAME || (f->bytes[6] & 1)) {
        lags->bad++;
        return;
    }
    const uint8_t subtype = f->bytes[ETHERNET];
    if (subtype == SUBTYPE_MARKER)
        answer_marker(t, m, f->bytes + ETHERNET);
    if (subtype != SUBTYPE_LACP || !l->lacp || !carrier(t, m->port))
        return;
    // It reads 110 bytes from where the third layer begins, and looks at the types and lengths of
    // actor and partner.
    struct dp_packet p;
    dp_packet_use_const(&p, f->bytes, f->length);
    dp_packet_set_l3(&p, (char *)dp_packet_data(&p) + ETHERNET);
    lacp_process_packet(l->lacp, m, &p);
    run_lag(t, l);
}

// ---- what it comes to ----

// What becomes of single members is told by links.c. (The library takes a member for negotiated
// that has not heard anything yet.)
static void set_negotiated(struct tor *t, struct lag *l, bool negotiated) {
    if (negotiated == l->negotiated)
        return;
    l->negotiated = negotiated;
    tor_event(t, "lacp", "{s:s, s:b}", "link", l->name, "negotiated", negotiated);
}

// The library takes a member that it is asked about for one whose link is up.
static bool may_carry(struct tor *t, const struct lag *l, const struct member *m) {
    return carrier(t, m->port) && lacp_member_may_enable(l->lacp, m);
}

static bool lag_carries(const struct tor_link *link, uint16_t port) {
    for (size_t i = 0; i < link->section->n_ports; i++)
        if (link->section->ports[i] == port)
            return link->active[i];
    return false;
}

static void run_lag(struct tor *t, struct lag *l) {
    struct tor_link *link = tor_link_by_name(t, l->name);
    if (!l->lacp || !link)
        return;
    lacp_run(l->lacp, send_pdu);
    bool any = false;
    for (size_t i = 0; i < l->n_members; i++) {
        const struct member *m = l->members[i];
        const bool active = may_carry(t, l, m);
        if (active != lag_carries(link, m->port))
            tor_link_set_active(t, link, m->port, active);
        any |= active;
    }
    set_negotiated(t, l, any);
}

static void lag_run(struct tor *t, void *state, uint64_t now) {
    struct lags *lags = state;
    if (now < lags->run_at)
        return;
    lags->run_at = now + RUN_NS;
    for (struct lag *l = lags->first; l; l = l->next)
        run_lag(t, l);
}

static void lag_link_changed(struct tor *t, void *state, struct tor_link *link, uint16_t port,
                             bool up) {
    struct lag *l;
    struct member *m = find_member(state, port, &l);
    (void)link;
    if (!m || !l->lacp)
        return;
    lacp_member_carrier_changed(l->lacp, m, up);
    run_lag(t, l);
}

// ---- configurations ----

static void member_free(struct lag *l, size_t i) {
    struct member *m = l->members[i];
    if (l->lacp)
        lacp_member_unregister(l->lacp, m);
    l->members[i] = l->members[--l->n_members];
    free(m);
}

static void lag_free(struct lag *l) {
    while (l->n_members > 0)
        member_free(l, 0);
    lacp_unref(l->lacp);
    free(l);
}

static struct lag *need_lag(struct lags *lags, const struct tor_link *link) {
    struct lag *l;
    for (l = lags->first; l; l = l->next)
        if (strcmp(l->name, link->name) == 0)
            return l;
    l = xzalloc(sizeof *l);
    ovs_strlcpy(l->name, link->name, TOR_NAME);
    l->next = lags->first;
    lags->first = l;
    return l;
}

static struct member *need_member(struct tor *t, struct lag *l, uint16_t port) {
    for (size_t i = 0; i < l->n_members; i++)
        if (l->members[i]->port == port)
            return l->members[i];
    struct member *m = xzalloc(sizeof *m);
    *m = (struct member){.t = t, .port = port};
    l->members[l->n_members++] = m;
    return m;
}

// Ports have a number that is not 0; a LAG's key is its interface, so that no two of ours are
// alike.
static void configure_member(struct tor *t, struct lag *l, struct member *m) {
    char name[TOR_NAME + 16];
    const struct lacp_member_settings settings = {
        .name = name, .id = (uint16_t)(m->port + 1), .priority = 32768, .key = l->interface};
    snprintf(name, sizeof name, "%s.%u", l->name, m->port);
    lacp_member_register(l->lacp, m, &settings);
    if (!m->there)
        lacp_member_carrier_changed(l->lacp, m, carrier(t, m->port));
    m->there = true;
}

static void configure_lacp(struct tor *t, struct lag *l, const struct tor_link_section *section) {
    struct lacp_settings settings = {.name = l->name,
                                     .priority = section->lacp_priority,
                                     .active = section->lacp_active,
                                     .fast = section->lacp_fast,
                                     .fallback_ab_cfg = false};
    memcpy(&settings.id, t->section->mac.bytes, 6);
    if (!l->lacp)
        l->lacp = lacp_create();
    lacp_configure(l->lacp, &settings);
    for (size_t i = 0; i < l->n_members; i++)
        configure_member(t, l, l->members[i]);
}

static bool has_port(const struct tor_link_section *section, uint16_t port) {
    for (size_t i = 0; i < section->n_ports; i++)
        if (section->ports[i] == port)
            return true;
    return false;
}

static void configure_lag(struct tor *t, struct lags *lags, const struct tor_link *link) {
    const struct tor_link_section *section = link->section;
    struct lag *l = need_lag(lags, link);
    l->interface = link->interface;
    for (size_t i = l->n_members; i-- > 0;)
        if (!has_port(section, l->members[i]->port))
            member_free(l, i);
    if (!section->lacp && l->lacp) {
        while (l->n_members > 0)
            member_free(l, 0);
        lacp_unref(l->lacp);
        l->lacp = NULL;
    }
    for (size_t i = 0; i < section->n_ports; i++)
        need_member(t, l, section->ports[i]);
    if (section->lacp)
        configure_lacp(t, l, section);
}

static void lag_configure(struct tor *t, void *state, const struct tor_section *old) {
    struct lags *lags = state;
    (void)old;
    for (struct lag **at = &lags->first; *at;) {
        struct lag *l = *at;
        const struct tor_link *link = tor_link_by_name(t, l->name);
        if (link && link->section->lag) {
            at = &l->next;
            continue;
        }
        *at = l->next;
        lag_free(l);
    }
    for (uint32_t i = 0; i < t->section->n_links; i++) {
        const struct tor_link *link = tor_link_by_index(t, i);
        if (link && link->section->lag)
            configure_lag(t, lags, link);
    }
    lags->run_at = t->now;
}

static void *lag_create(struct tor *t) {
    static bool once;
    (void)t;
    if (!once)
        lacp_init(); // its commands: ovs-appctl lacp/show
    once = true;
    return xzalloc(sizeof(struct lags));
}

static void lag_destroy(struct tor *t, void *state) {
    struct lags *lags = state;
    (void)t;
    while (lags->first) {
        struct lag *l = lags->first;
        lags->first = l->next;
        lag_free(l);
    }
    free(lags);
}

// ---- tor.lacp ----
//
//     {"lags": [{"link": "up", "lacp": true, "negotiated": true, "active": true, "fast": false,
//                "system": "02:00:00:00:00:01", "priority": 32768, "key": 3,
//                "members": [{"port": 1, "active": true, "link": true, "current": true, "state":
//                             ["activity", ...],
//                             "partner": "02:..", "partner_state": [...],
//                             "received": 12, "sent": 11, "bad": 0, "markers": 0}]}],
//      "bad": 0}
//
// A static LAG's members have port, active, link and markers.

static json_t *show_state(uint8_t state) {
    static const char *const names[8] = {"activity",     "timeout",    "aggregation",
                                         "synchronized", "collecting", "distributing",
                                         "defaulted",    "expired"};
    json_t *list = json_array();
    for (int i = 0; i < 8; i++)
        if (state >> i & 1)
            json_array_append_new(list, json_string(names[i]));
    return list;
}

static void show_lacp_member(const struct lag *l, const struct member *m, json_t *out) {
    struct lacp_member_stats s;
    char partner[TOR_TEXT];
    if (!lacp_get_member_stats(l->lacp, m, &s))
        return;
    const uint8_t *p = (const uint8_t *)&s.dot3adAggPortPartnerOperSystemID;
    json_t *more = json_pack(
        "{s:b, s:o, s:s, s:o, s:I, s:I, s:I}", "current", lacp_member_is_current(l->lacp, m),
        "state", show_state(s.dot3adAggPortActorOperState), "partner", tor_mac_text(p, partner),
        "partner_state", show_state(s.dot3adAggPortPartnerOperState), "received",
        (json_int_t)s.dot3adAggPortStatsLACPDUsRx, "sent",
        (json_int_t)s.dot3adAggPortStatsLACPDUsTx, "bad",
        (json_int_t)s.dot3adAggPortStatsIllegalRx);
    json_object_update(out, more);
    json_decref(more);
}

static json_t *show_lag(struct tor *t, const struct lag *l, const struct tor_link *link) {
    char system[TOR_TEXT];
    json_t *members = json_array();
    for (size_t i = 0; i < link->section->n_ports; i++)
        for (size_t j = 0; j < l->n_members; j++) {
            const struct member *m = l->members[j];
            if (m->port != link->section->ports[i])
                continue;
            json_t *out =
                json_pack("{s:i, s:b, s:b, s:I}", "port", m->port, "active", link->active[i],
                          "link", carrier(t, m->port), "markers", (json_int_t)m->markers);
            if (l->lacp)
                show_lacp_member(l, m, out);
            json_array_append_new(members, out);
        }
    json_t *out =
        json_pack("{s:s, s:b, s:o}", "link", l->name, "lacp", l->lacp != NULL, "members", members);
    if (l->lacp) {
        json_t *more =
            json_pack("{s:b, s:b, s:b, s:s, s:i, s:i}", "negotiated", l->negotiated, "active",
                      link->section->lacp_active, "fast", link->section->lacp_fast, "system",
                      tor_mac_text(t->section->mac.bytes, system), "priority",
                      link->section->lacp_priority, "key", l->interface);
        json_object_update(out, more);
        json_decref(more);
    }
    return out;
}

static json_t *lag_request(struct tor *t, void *state, const char *op, json_t *request,
                           struct sk_error *err) {
    const struct lags *lags = state;
    (void)request, (void)err;
    if (strcmp(op, "tor.lacp") != 0)
        return NULL;
    json_t *list = json_array();
    for (uint32_t i = 0; i < t->section->n_links; i++)
        for (const struct lag *l = lags->first; l; l = l->next) {
            const struct tor_link *link = tor_link_by_index(t, i);
            if (link && strcmp(link->name, l->name) == 0)
                json_array_append_new(list, show_lag(t, l, link));
        }
    return json_pack("{s:o, s:I}", "lags", list, "bad", (json_int_t)lags->bad);
}

const struct tor_module tor_lag_module = {.name = "lag",
                                          .create = lag_create,
                                          .destroy = lag_destroy,
                                          .configure = lag_configure,
                                          .run = lag_run,
                                          .frame = lag_frame,
                                          .link = lag_link_changed,
                                          .request = lag_request};
