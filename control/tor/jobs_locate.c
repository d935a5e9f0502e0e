// SPDX-License-Identifier: Apache-2.0
//
// jobs_locate: where a host is that only its address is known of: its VLAN is the one whose
// addresses it has, its MAC address what it answers (ARP) or the section says, and its link where
// that was seen last.
#include "base/address.h"
#include "control/tor/jobs_impl.h"
#include "control/tor/neighbours.h"

static json_t *locate_found(struct tor *t, uint16_t vid, const struct in6_addr *address,
                            const uint8_t mac[6], struct sk_error *err) {
    const struct tor_link *link = tor_fdb_find(t, vid, mac);
    char text[TOR_TEXT], to_text[TOR_TEXT], own_text[TOR_TEXT];
    struct in6_addr to;
    if (!link || !tor_link_carries(link, vid)) {
        sk_fail(err, "no frame of %s has been seen in VLAN %u", tor_mac_text(mac, text), vid);
        return NULL;
    }
    if (!tor_address_for(t, vid, address, &to)) {
        sk_fail(err, "the switch has no IPv4 address in VLAN %u", vid);
        return NULL;
    }
    return json_pack("{s:s, s:i, s:s, s:s, s:s}", "link", link->name, "vlan", vid, "mac",
                     tor_mac_text(mac, text), "switch_ip", tor_address_text(&to, to_text),
                     "switch_mac", tor_mac_text(t->section->mac.bytes, own_text));
}

json_t *jobs_locate(struct tor *t, const json_t *request, struct sk_error *err) {
    const char *text = json_string_value(json_object_get(request, "address"));
    struct sk_error waits = {.text = ""};
    struct in6_addr address;
    bool possible = false;
    uint32_t ip;
    if (!text || !sk_ip_parse(text, &ip)) {
        sk_fail(err, "address: should be an IPv4 address");
        return NULL;
    }
    address = tor_ipv4(ip);
    for (size_t i = 0; i < t->section->n_vlans; i++) {
        const uint16_t vid = t->section->vlans[i].vid;
        uint8_t mac[6];
        if (!neighbours_possible(t, vid, &address))
            continue;
        possible = true;
        if (!tor_neighbour_find(t, vid, &address, mac)) {
            sk_fail(&waits, "no host has answered for its address in VLAN %u", vid);
            continue;
        }
        json_t *found = locate_found(t, vid, &address, mac, &waits);
        if (found)
            return found;
    }
    if (possible)
        return json_pack("{s:s}", "waits", waits.text);
    sk_fail(err, "it is outside the switch's IPv4 subnets, or is an address of the switch");
    return NULL;
}
