// SPDX-License-Identifier: Apache-2.0
#include "cli/run/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "control/config/ports.h"

#define MORE_PORTS 8u // memory for so many is set aside

static struct sk_port_spec spec_of(const struct sk_config_port *p) {
    return (struct sk_port_spec){.dev_port = p->port,
                                 .device = p->device,
                                 .mtu = p->mtu,
                                 .queues = p->queues,
                                 .not_promiscuous = p->not_promiscuous};
}

// ---- the list ----

static void list_port(struct run *r, const struct sk_config_port *p) {
    r->port_list = sk_resize(r->port_list, r->n_port_list + 1, sizeof *r->port_list);
    r->port_list[r->n_port_list++] = (struct sk_config_port){.port = p->port,
                                                             .device = sk_copy_text(p->device),
                                                             .name = sk_copy_text(p->name),
                                                             .mtu = p->mtu,
                                                             .queues = p->queues,
                                                             .not_promiscuous = p->not_promiscuous};
}

static void unlist_port(struct run *r, uint16_t port) {
    size_t kept = 0;
    for (size_t i = 0; i < r->n_port_list; i++) {
        struct sk_config_port *p = &r->port_list[i];
        if (p->port != port) {
            r->port_list[kept++] = *p;
            continue;
        }
        free((char *)p->device);
        free((char *)p->name);
    }
    r->n_port_list = kept;
}

void run_free_port_list(struct run *r) {
    while (r->n_port_list > 0)
        unlist_port(r, r->port_list[r->n_port_list - 1].port);
    free(r->port_list);
}

const struct sk_config_port *run_port_of(const struct run *r, uint16_t port) {
    for (size_t i = 0; i < r->n_port_list; i++)
        if (r->port_list[i].port == port)
            return &r->port_list[i];
    return NULL;
}

const struct sk_config_port *run_port_named(const struct run *r, const char *name) {
    for (size_t i = 0; i < r->n_port_list; i++)
        if (r->port_list[i].name && strcmp(r->port_list[i].name, name) == 0)
            return &r->port_list[i];
    return NULL;
}

bool run_link_is_up(const struct run *r, uint16_t port) {
    return sk_ports_link(r->ports, port) && sk_switch_port_is_up(r->sw, port);
}

// ---- from the start ----

bool run_open_ports(struct run *r) {
    char error[512];
    const struct sk_config *c = r->config;
    struct sk_port_spec *specs = calloc(c->n_ports + 1, sizeof *specs);
    if (!specs)
        abort();
    for (size_t i = 0; i < c->n_ports; i++)
        specs[i] = spec_of(&c->ports[i]);
    r->opt.ports.cpu = r->opt.n_cpus == 1 ? r->opt.cpus[0] : -1;
    r->opt.ports.telemetry = c->telemetry;
    r->opt.ports.own_processors = r->opt.idle_sleep_us == 0;
    r->opt.ports.more_ports = c->control_socket ? MORE_PORTS : 0;
    r->ports = sk_ports_open(specs, c->n_ports, &r->opt.ports, error, sizeof error);
    free(specs);
    if (!r->ports)
        return run_say(error);
    for (size_t i = 0; i < c->n_ports; i++)
        list_port(r, &c->ports[i]);
    sk_ports_attach(r->ports, r->sw);
    return true;
}

// ---- while it runs ----

static struct sk_ports_pause pausing(struct run *r) {
    return (struct sk_ports_pause){run_pause, run_resume, r};
}

static int set_metadata(struct run *r, const struct sk_config_port *p, struct sk_error *err) {
    run_pause(r);
    const int rc = sk_config_set_metadata(r->sw, p, err);
    run_resume(r);
    return rc;
}

// Its metadata is there before its first packet.
int run_add_port(struct run *r, const struct sk_config_port *p, struct sk_error *err) {
    const struct sk_port_spec spec = spec_of(p);
    const struct sk_ports_pause pause = pausing(r);
    uint8_t before[SK_RESUBMIT_BYTES];
    if (sk_switch_port_is_internal(r->sw, p->port))
        return sk_fail(err, "port %u recirculates; no device can be attached to it", p->port);
    memcpy(before, sk_switch_port_metadata_of(r->sw, p->port), sizeof before);
    if (p->has_metadata && set_metadata(r, p, err))
        return -1;
    if (!sk_ports_add(r->ports, &spec, &pause, err->text, sizeof err->text)) {
        run_pause(r);
        sk_switch_port_metadata(r->sw, p->port, before, sizeof before);
        run_resume(r);
        return -1;
    }
    list_port(r, p);
    run_tor_ports_changed(r);
    run_tor_port(r, p->port, run_link_is_up(r, p->port));
    run_tor_link(r, p->port, run_link_is_up(r, p->port));
    return 0;
}

static void tell_gone(struct run *r, uint16_t port, bool gone) {
    char what[96], text[256];
    if (r->control.gone[port] == gone)
        return;
    r->control.gone[port] = gone;
    const struct sk_config_port *p = run_port_of(r, port);
    snprintf(what, sizeof what, p && p->name ? "port %u (%.64s)" : "port %u", port,
             p && p->name ? p->name : "");
    snprintf(text, sizeof text,
             "the interface of %s was deleted or moved to another network namespace; remove the "
             "port and add it again",
             what);
    run_event(r, json_pack("{s:s, s:s, s:s, s:s, s:b}", "event", "alarm", "alarm",
                           "deleted-interface", "what", what, "text", text, "on", gone));
}

void run_follow_interfaces(struct run *r) {
    for (size_t i = 0; i < r->n_port_list; i++) {
        const uint16_t port = r->port_list[i].port;
        tell_gone(r, port, sk_ports_interface_is_gone(r->ports, port));
    }
}

bool run_reopen_port(struct run *r) {
    const struct sk_ports_pause pause = pausing(r);
    char text[512];
    for (size_t i = 0; i < r->n_port_list; i++) {
        const struct sk_config_port *p = &r->port_list[i];
        const bool there = sk_ports_has(r->ports, p->port);
        if (there && !sk_ports_interface_is_back(r->ports, p->port))
            continue;
        const struct sk_port_spec spec = spec_of(p);
        if (there)
            run_trace_disarm(r); // it may hold packets of the port
        const bool good = sk_ports_reopen(r->ports, &spec, &pause, text, sizeof text);
        if (good)
            snprintf(text, sizeof text,
                     "port %u: its interface was recreated, and the port is open again", p->port);
        if (good || there) { // else that was said
            run_say(text);
            return true;
        }
    }
    return false;
}

void run_keep_port(struct run *r, const struct sk_config_port *p) {
    list_port(r, p);
    sk_ports_wait(r->ports, p->port);
    run_tor_ports_changed(r);
}

void run_describe_port(struct run *r, const struct sk_config_port *p) {
    static const uint8_t nothing[SK_RESUBMIT_BYTES];
    struct sk_error ignored; // it was tried beforehand
    for (size_t i = 0; i < r->n_port_list; i++)
        if (r->port_list[i].port == p->port) {
            free((char *)r->port_list[i].name);
            r->port_list[i].name = sk_copy_text(p->name);
        }
    run_pause(r);
    if (p->has_metadata)
        sk_config_set_metadata(r->sw, p, &ignored);
    else
        sk_switch_port_metadata(r->sw, p->port, nothing, sizeof nothing);
    run_resume(r);
}

int run_remove_port(struct run *r, uint16_t port, struct sk_error *err) {
    const struct sk_ports_pause pause = pausing(r);
    run_trace_disarm(r); // it may hold packets of the port
    if (!sk_ports_remove(r->ports, port, &pause, err->text, sizeof err->text))
        return -1;
    tell_gone(r, port, false);
    run_tor_port(r, port, false);
    run_tor_link(r, port, false);
    unlist_port(r, port);
    run_tor_ports_changed(r);
    return 0;
}

int run_enable_port(struct run *r, uint16_t port, bool enabled) {
    run_pause(r);
    if (!sk_ports_enable(r->ports, port, enabled)) // one without a device
        sk_switch_port_up(r->sw, port, enabled);
    run_tor_port(r, port, run_link_is_up(r, port));
    run_resume(r);
    run_tor_link(r, port, run_link_is_up(r, port));
    return 0;
}
