// SPDX-License-Identifier: Apache-2.0
//
// addresses: those of the switch itself. A VLAN has those that the section gives it and, with an
// IPv6 one among them, the switch's link-local address too.
#include <string.h>

#include "control/tor/ip.h"
#include "control/tor/tor_impl.h"

struct in6_addr tor_link_local(const struct tor *t) {
    const uint8_t *m = t->section->mac.bytes;
    // RFC 4291 appendix A: the EUI-64 of a MAC address, its universal bit turned over.
    return (struct in6_addr){.s6_addr = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, m[0] ^ 2, m[1], m[2], 0xff,
                                         0xfe, m[3], m[4], m[5]}};
}

bool tor_address_is_own(const struct tor *t, const struct in6_addr *address, uint16_t *vid) {
    for (size_t i = 0; i < t->section->n_vlans; i++) {
        const struct tor_vlan *v = &t->section->vlans[i];
        for (size_t k = 0; k < v->n_addresses; k++)
            if (ip_equal(address, &v->addresses[k].address)) {
                if (vid)
                    *vid = v->vid;
                return true;
            }
    }
    struct in6_addr local = tor_link_local(t);
    if (!ip_equal(address, &local))
        return false;
    for (size_t i = 0; i < t->section->n_vlans; i++)
        for (size_t k = 0; k < t->section->vlans[i].n_addresses; k++)
            if (!tor_is_ipv4(&t->section->vlans[i].addresses[k].address)) {
                if (vid)
                    *vid = t->section->vlans[i].vid; // one of those that have it
                return true;
            }
    return false;
}

bool tor_address_is_end(const struct tor *t, const struct in6_addr *a) {
    for (size_t i = 0; tor_is_ipv4(a) && i < t->section->n_vlans; i++)
        for (size_t k = 0; k < t->section->vlans[i].n_addresses; k++) {
            const struct tor_prefix *p = &t->section->vlans[i].addresses[k];
            if (ip_is_net_or_broadcast(a, &p->address, p->length))
                return true;
        }
    return false;
}

bool tor_address_for(const struct tor *t, uint16_t vid, const struct in6_addr *to,
                     struct in6_addr *own) {
    const struct tor_vlan *v = tor_section_vlan(t->section, vid);
    const struct tor_prefix *any = NULL;
    for (size_t k = 0; v && k < v->n_addresses; k++) {
        const struct tor_prefix *p = &v->addresses[k];
        if (tor_is_ipv4(&p->address) != tor_is_ipv4(to))
            continue;
        if (ip_in(to, &p->address, p->length)) {
            *own = p->address;
            return true;
        }
        if (!any)
            any = p;
    }
    if (!any)
        return false;
    *own = ip_is_link_local(to) ? tor_link_local(t) : any->address;
    return true;
}
