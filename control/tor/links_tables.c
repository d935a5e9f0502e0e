// SPDX-License-Identifier: Apache-2.0
//
// links_tables: what the section says of links, as entries: ports, VLANs, LAGs, storm control,
// mirrors.
//
// A port alone is a member of the selector that its entry of 'interfaces' names; the ports of a LAG
// are members of a group. What carries no traffic has no entry there, since a group must keep a
// member that is up: packets to it are dropped and counted (NO_PORT). Frames that come in by a port
// of a LAG which LACP has not agreed on are in no VLAN.
#include <stdlib.h>

#include "control/tor/links_impl.h"
#include "openvswitch/dynamic-string.h"
#include "util.h"

#define MIRROR_HEADER 1u // byte before a mirrored packet, which its session's length counts

// ---- ports and their VLANs ----

// The mirror session for what comes in by the link, or goes out; 0: none.
static unsigned links_tables_mirrored(const struct tor_section *s, uint32_t link, bool in) {
    for (size_t m = 0; m < s->n_mirrors; m++)
        for (size_t i = 0; i < s->mirrors[m].n_sources; i++) {
            const struct tor_mirror_source *source = &s->mirrors[m].sources[i];
            if (source->link == link && (in ? source->in : source->out))
                return s->mirrors[m].session;
        }
    return 0;
}

static bool has_storm(const struct tor_link_section *s) {
    return s->storm[0] || s->storm[1] || s->storm[2];
}

static void say_port(struct tor *t, const struct tor_link *link, uint16_t port) {
    const struct tor_link_section *s = link->section;
    tor_want(t->wanted, TOR_LINKS,
             "entry ports ingress_port=%u -> port interface=%u acl_group=%u learns=%u "
             "storm_port=%u session=%u",
             port, link->interface, tor_acl_group(t, s->acl), s->learn,
             has_storm(s) ? link->interface : 0,
             links_tables_mirrored(t->section, link->index, true));
    tor_want(t->wanted, TOR_LINKS, "member Ingress.members %u -> leave_by port=%u", port, port);
    tor_want(t->wanted, TOR_LINKS, "entry vlans_out egress_port=%u vid=0 -> untagged", port);
    for (size_t i = 0; i < s->n_vids; i++)
        if (s->vids[i] != s->untagged)
            tor_want(t->wanted, TOR_LINKS, "entry vlans_out egress_port=%u vid=%u -> tagged", port,
                     s->vids[i]);
    if (s->untagged)
        tor_want(t->wanted, TOR_LINKS, "entry vlans_out egress_port=%u vid=%u -> untagged", port,
                 s->untagged);
}

static void say_vlan_in(struct tor *t, uint16_t port, uint16_t tag, uint16_t vid, bool wanted) {
    if (wanted)
        tor_want(t->wanted, TOR_LINKS, "entry vlans_in ingress_port=%u tag=%u -> join vid=%u", port,
                 tag, vid);
    else
        tor_unwant(t->wanted, "entry vlans_in ingress_port=%u tag=%u", port, tag);
}

static void say_vlans_in(struct tor *t, const struct tor_link_section *s, uint16_t port,
                         bool wanted) {
    for (size_t i = 0; i < s->n_vids; i++)
        say_vlan_in(t, port, s->vids[i], s->vids[i], wanted);
    if (s->untagged)
        say_vlan_in(t, port, 0, s->untagged, wanted);
}

// ---- which port a packet leaves by ----

static void say_alone(struct tor *t, const struct tor_link *link) {
    if (link->up)
        tor_want(t->wanted, TOR_LINKS, "entry interfaces out_interface=%u -> member=%u",
                 link->interface, link->section->ports[0]);
    else
        tor_unwant(t->wanted, "entry interfaces out_interface=%u", link->interface);
}

static void say_lag(struct tor *t, const struct own_link *own) {
    const struct tor_link *link = &own->link;
    struct ds members = DS_EMPTY_INITIALIZER, ports = DS_EMPTY_INITIALIZER;
    for (size_t i = 0; i < link->section->n_ports; i++) {
        const uint16_t port = link->section->ports[i];
        ds_put_format(&members, "%s%u%s", i ? " " : "", port, link->active[i] ? "" : "!");
        if (link->active[i])
            ds_put_format(&ports, "%s%u", ports.length ? "," : "", port);
    }
    if (own->lag == LINKS_NO_LAG || !link->up) {
        tor_unwant(t->wanted, "entry interfaces out_interface=%u", link->interface);
        tor_unwant(t->wanted, "group Ingress.lag %u", link->interface);
    } else {
        tor_want(t->wanted, TOR_LINKS, "group Ingress.lag %u -> %s", link->interface,
                 ds_cstr(&members));
        tor_want(t->wanted, TOR_LINKS, "entry interfaces out_interface=%u -> group=%u",
                 link->interface, link->interface);
    }
    if (own->lag != LINKS_NO_LAG)
        tor_want(t->wanted, TOR_LINKS, "lag %u -> ports=%s", own->lag, ds_cstr(&ports));
    ds_destroy(&members);
    ds_destroy(&ports);
}

void tor_links_say_active(struct tor *t, const struct own_link *own) {
    const struct tor_link_section *s = own->link.section;
    for (size_t i = 0; i < s->n_ports; i++)
        say_vlans_in(t, s, s->ports[i], !s->lacp || own->link.active[i]);
    if (s->lag)
        say_lag(t, own);
    else
        say_alone(t, &own->link);
}

// ---- storm control ----

// Bursts of a tenth of a second, and of eight packets at least. Green and yellow pass alike.
static void say_storm(struct tor *t, const struct tor_link *link) {
    for (unsigned class = 0; class < 3; class ++) {
        const uint32_t rate = link->section->storm[class];
        const uint32_t burst = rate / 10 < 8 ? 8 : rate / 10;
        if (rate)
            tor_want(t->wanted, TOR_LINKS,
                     "meter storm %u -> cir_pps=%u pir_pps=%u cbs_pkts=%u pbs_pkts=%u",
                     link->interface * 4u + class + 1, rate, rate, burst, burst);
    }
}

// ---- claims ----

// What is beyond the rate: important packets are yellow in their queue, signals are in queue 0,
// too. Bursts of 10 ms, of some dozens of packets at least.
static void say_claims(struct tor *t, const struct tor_link *link, uint16_t port) {
    static const char *const over[TOR_CLAIMS] = {"recolour colour=1", "demote qid=0 colour=1"};
    for (unsigned i = 0; i < TOR_CLAIMS; i++) {
        const unsigned mbps = link->section->claims[i], burst = mbps < 10 ? 100 : mbps * 10;
        if (mbps)
            tor_want(t->wanted, TOR_LINKS,
                     "entry limits port=%u claim=%u -> %s $METER_SPEC_CIR_KBPS=%u "
                     "$METER_SPEC_PIR_KBPS=%u $METER_SPEC_CBS_KBITS=%u $METER_SPEC_PBS_KBITS=%u",
                     port, i + 1, over[i], mbps * 1000, mbps * 1000, burst, burst);
    }
}

// ---- mirrors ----

static uint16_t links_tables_port_of(const struct tor_link *link) {
    for (size_t i = 0; i < link->section->n_ports; i++)
        if (link->active[i])
            return link->section->ports[i];
    return link->section->ports[0];
}

static void say_mirror(struct tor *t, size_t m) {
    const struct tor_mirror *mirror = &t->section->mirrors[m];
    const struct tor_link *to = tor_link_by_index(t, mirror->to);
    struct ds length = DS_EMPTY_INITIALIZER;
    if (mirror->length)
        ds_put_format(&length, " length=%u", mirror->length + MIRROR_HEADER);
    tor_want(t->wanted, TOR_MIRRORS, "session %u -> port=%u%s direction=both", mirror->session,
             links_tables_port_of(to), ds_cstr(&length));
    ds_destroy(&length);
}

void tor_links_say_mirrors_to(struct tor *t, const struct own_link *own) {
    for (size_t m = 0; m < t->section->n_mirrors; m++)
        if (t->section->mirrors[m].to == own->link.index)
            say_mirror(t, m);
}

static void say_mirrors(struct tor *t, const struct links *l) {
    for (size_t m = 0; m < t->section->n_mirrors; m++)
        say_mirror(t, m);
    for (size_t i = 0; i < l->n; i++) {
        const struct tor_link_section *s = l->list[i]->link.section;
        const unsigned session = links_tables_mirrored(t->section, (uint32_t)i, false);
        for (size_t p = 0; session && p < s->n_ports; p++)
            tor_want(t->wanted, TOR_MIRRORS, "entry mirrored egress_port=%u -> copy session=%u",
                     s->ports[p], session);
    }
}

// ---- all of it ----

static void say_isolated(struct tor *t, const struct links *l) {
    struct ds ports = DS_EMPTY_INITIALIZER;
    for (size_t i = 0; i < l->n; i++) {
        const struct tor_link_section *s = l->list[i]->link.section;
        for (size_t p = 0; s->isolated && p < s->n_ports; p++)
            ds_put_format(&ports, "%s%u", ports.length ? "," : "", s->ports[p]);
    }
    if (ports.length)
        tor_want(t->wanted, TOR_LINKS, "prune %u -> ports=%s", LINKS_PRUNE_SET, ds_cstr(&ports));
    ds_destroy(&ports);
}

void tor_links_say(struct tor *t, struct links *l) {
    for (size_t i = 0; i < l->n; i++) {
        const struct own_link *own = l->list[i];
        for (size_t p = 0; p < own->link.section->n_ports; p++) {
            say_port(t, &own->link, own->link.section->ports[p]);
            say_claims(t, &own->link, own->link.section->ports[p]);
        }
        tor_links_say_active(t, own);
        say_storm(t, &own->link);
    }
    say_isolated(t, l);
    say_mirrors(t, l);
}
