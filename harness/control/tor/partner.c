// SPDX-License-Identifier: Apache-2.0
#include "harness/control/tor/partner.h"

#include <stdlib.h>
#include <string.h>

#include "dp-packet.h"
#include "lacp.h"

#define PORTS 8u
#define STEP  100u // ms

struct partner_port {
    struct partner *p;
    uint16_t port;
    bool plugged, up, silent;
    size_t heard;
};
struct partner {
    struct rig *r;
    struct lacp *lacp;
    uint8_t system[6];
    struct partner_port ports[PORTS];
};

struct partner *partner_new(struct rig *r, const uint8_t system[6], struct partner_options o) {
    struct partner *p = calloc(1, sizeof *p);
    struct lacp_settings s = {
        .name = (char *)"partner", .priority = 40000, .active = o.active, .fast = o.fast};
    if (!p)
        abort();
    p->r = r;
    memcpy(&s.id, system, 6);
    memcpy(p->system, system, 6);
    p->lacp = lacp_create();
    lacp_configure(p->lacp, &s);
    for (uint16_t i = 0; i < PORTS; i++)
        p->ports[i] = (struct partner_port){.p = p, .port = i};
    return p;
}

void partner_free(struct partner *p) {
    if (!p)
        return;
    lacp_unref(p->lacp);
    free(p);
}

void partner_plug(struct partner *p, uint16_t port, uint16_t id, uint16_t key) {
    const struct lacp_member_settings s = {
        .name = (char *)"port", .id = id, .priority = 100, .key = key};
    lacp_member_register(p->lacp, &p->ports[port], &s);
    if (!p->ports[port].plugged)
        partner_carrier(p, port, true);
    p->ports[port].plugged = true;
}

void partner_carrier(struct partner *p, uint16_t port, bool up) {
    p->ports[port].up = up;
    lacp_member_carrier_changed(p->lacp, &p->ports[port], up);
}

void partner_silence(struct partner *p, uint16_t port, bool silent) {
    p->ports[port].silent = silent;
}

bool partner_carries(const struct partner *p, uint16_t port) {
    return p->ports[port].up && lacp_member_may_enable(p->lacp, &p->ports[port]);
}

size_t partner_heard(const struct partner *p, uint16_t port) {
    return p->ports[port].heard;
}

static void send_pdu(void *aux, const void *pdu, size_t length) {
    struct partner_port *port = aux;
    uint8_t frame[256] = {0x01, 0x80, 0xc2, 0, 0, 2};
    if (port->silent)
        return;
    memcpy(frame + 6, port->p->system, 6);
    frame[11] ^= (uint8_t)(port->port + 1); // of the port
    frame[12] = 0x88;
    frame[13] = 0x09;
    memcpy(frame + 14, pdu, length);
    rig_send(port->p->r, port->port, frame, 14 + length);
}

static void hear(struct partner_port *port) {
    uint8_t frame[RIG_FRAME];
    for (size_t n; (n = rig_take(port->p->r, port->port, frame)) > 0;) {
        struct dp_packet packet;
        if (frame[12] != 0x88 || frame[13] != 0x09 || frame[14] != 1)
            continue;
        port->heard++;
        if (port->silent)
            continue;
        dp_packet_use_const(&packet, frame, n);
        dp_packet_set_l3(&packet, (char *)dp_packet_data(&packet) + 14);
        lacp_process_packet(port->p->lacp, port, &packet);
    }
}

void partner_wait(struct partner *p, uint64_t ms) {
    for (uint64_t passed = 0; passed < ms; passed += STEP) {
        for (size_t i = 0; i < PORTS; i++)
            if (p->ports[i].plugged)
                hear(&p->ports[i]);
        lacp_run(p->lacp, send_pdu);
        rig_wait(p->r, ms - passed < STEP ? ms - passed : STEP);
    }
}
