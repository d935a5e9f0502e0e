// SPDX-License-Identifier: Apache-2.0
//
// The lab's network: a namespace for each station and one for the carrier, and a veth pair from
// each end of a cable to the carrier, which is the cable (carrier.c).
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/address.h"
#include "cli/lab/lab.h"

// ---- names and addresses ----

unsigned lab_carrier_space(const struct lab *l) {
    return (unsigned)l->sc->n_stations;
}

void lab_far_end(uint32_t link, char name[LAB_INTERFACE]) {
    snprintf(name, LAB_INTERFACE, "end%u", link);
}

// Called after the station at the other end, as long as that is no other cable's name, and fits.
void lab_interface(const struct scenario *sc, uint32_t cable, uint32_t station,
                   char name[LAB_INTERFACE]) {
    const struct scn_cable *c = &sc->cables[cable];
    const uint32_t other = c->a == station ? c->b : c->a;
    const char *wanted = sc->stations[other].name;
    bool good = strlen(wanted) < LAB_INTERFACE && strcmp(wanted, "lo") != 0 &&
                strcmp(wanted, "all") != 0 && strcmp(wanted, "default") != 0;
    for (const char *x = wanted; *x; x++)
        good &= (*x >= 'a' && *x <= 'z') || (*x >= 'A' && *x <= 'Z') || (*x >= '0' && *x <= '9') ||
                *x == '_';
    for (uint32_t i = 0; i < cable && good; i++)
        good = !((sc->cables[i].a == station && sc->cables[i].b == other) ||
                 (sc->cables[i].b == station && sc->cables[i].a == other));
    if (good)
        snprintf(name, LAB_INTERFACE, "%s", wanted);
    else
        snprintf(name, LAB_INTERFACE, "cable-%u", cable);
}

// A station's address is 10.0.x.y, and belongs to the jobs; its kernel has 10.128.x.y at the same
// MAC address.
void lab_kernel_address(const struct sim_station *st, char text[20]) {
    const uint32_t ip = st->ip | UINT32_C(0x00800000);
    snprintf(text, 20, "%u.%u.%u.%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255);
}

// ---- interfaces ----

// What leaves by an interface has to be what is on a cable: frames with their checksums, none
// longer than the interface says.
static int net_plain(const struct lab *l, uint32_t station, const char *name) {
    static const uint32_t off[] = {ETHTOOL_STXCSUM, ETHTOOL_STSO, ETHTOOL_SGSO};
    spaces_enter(&l->spaces, station);
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int status = fd < 0 ? -1 : 0;
    for (size_t i = 0; i < sizeof off / sizeof *off && status == 0; i++) {
        struct ethtool_value value = {.cmd = off[i], .data = 0};
        struct ifreq request = {.ifr_data = (void *)&value};
        snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
        // without checksums in the card the second may be off already, and fixed
        if (ioctl(fd, SIOCETHTOOL, &request) < 0 && off[i] == ETHTOOL_STXCSUM)
            status = -1;
    }
    if (fd >= 0)
        close(fd);
    spaces_leave(&l->spaces);
    return status;
}

// Nothing that a kernel says by itself shall be in the lab.
static int net_quiet(const struct lab *l, unsigned space) {
    spaces_enter(&l->spaces, space);
    FILE *f = fopen("/proc/sys/net/ipv6/conf/default/disable_ipv6", "we");
    const bool absent = !f && errno == ENOENT; // a kernel without IPv6
    const bool written = f && fputs("1\n", f) >= 0;
    const bool closed = !f || fclose(f) == 0;
    const bool up = system("ip link set lo up") == 0;
    spaces_leave(&l->spaces);
    return (absent || written) && closed && up ? 0 : -1;
}

static uint32_t net_cable_of(const struct lab *l, uint32_t host) {
    return (uint32_t)(l->sim->stations[host].host->out - l->sim->links) / 2;
}

// Addresses, and those of all others, so that nobody has to ask.
static int net_host(const struct lab *l, uint32_t host) {
    const struct sim_station *st = &l->sim->stations[host];
    char name[LAB_INTERFACE], address[20], mac[SK_MAC_TEXT];
    spaces_enter(&l->spaces, host);
    FILE *f = popen("ip -batch - >/dev/null", "we");
    spaces_leave(&l->spaces);
    if (!f)
        return -1;
    lab_interface(l->sc, net_cable_of(l, host), host, name);
    lab_kernel_address(st, address);
    fprintf(f, "link set dev %s address %s\n", name, sk_mac_text(st->mac, mac));
    fprintf(f, "link set dev %s up\n", name);
    if (st->as->address) { // others are found by asking, as the scenario's own network has it
        fprintf(f, "address add %s dev %s\n", st->as->address, name);
        if (st->as->gateway)
            fprintf(f, "route add default via %s\n", st->as->gateway);
        return pclose(f) == 0 ? 0 : -1;
    }
    fprintf(f, "address add %s/9 dev %s\n", address, name);
    for (uint32_t i = 0; i < l->sc->n_stations; i++) {
        const struct sim_station *to = &l->sim->stations[i];
        if (to == st || to->as->is_switch)
            continue;
        lab_kernel_address(to, address);
        fprintf(f, "neigh replace %s lladdr %s dev %s nud permanent\n", address,
                sk_mac_text(to->mac, mac), name);
    }
    return pclose(f) == 0 ? 0 : -1;
}

int lab_net_make(struct lab *l, struct sk_error *err) {
    const struct scenario *sc = l->sc;
    char text[256], near[LAB_INTERFACE], far[LAB_INTERFACE];
    if (spaces_make(&l->spaces, (unsigned)sc->n_stations + 1, text, sizeof text) < 0)
        return sk_fail(err, "%s", text);
    for (unsigned i = 0; i <= sc->n_stations; i++)
        if (net_quiet(l, i) < 0)
            return sk_fail(err, "cannot configure a network namespace (ip)");
    for (uint32_t link = 0; link < l->sim->n_links; link++) {
        const uint32_t station = link_to(l->sim, link);
        lab_interface(sc, link / 2, station, near);
        lab_far_end(link, far);
        if (spaces_join(&l->spaces, station, near, lab_carrier_space(l), far, text, sizeof text) <
            0)
            return sk_fail(err, "%s", text);
        if (net_plain(l, station, near) < 0)
            return sk_fail(err, "interface %s of %s: %s", near, sc->stations[station].name,
                           strerror(errno));
    }
    for (uint32_t i = 0; i < sc->n_stations; i++)
        if (!sc->stations[i].is_switch && net_host(l, i) < 0)
            return sk_fail(err, "cannot give host %s its addresses (ip)", sc->stations[i].name);
    return 0;
}
