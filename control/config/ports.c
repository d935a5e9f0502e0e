// SPDX-License-Identifier: Apache-2.0
#include "control/config/ports.h"

#include <string.h>

#include "base/json.h"
#include "control/tables/names.h"
#include "control/tables/port_metadata.h"
#include "control/tables/values.h"
#include "pipeline/ports/ports.h"

#define MAX_QUEUES 64u // of a port

static void read_metadata(const struct sk_at *at, struct sk_config_port *p) {
    const struct sk_field_desc f = {.width = 8 * SK_RESUBMIT_BYTES}; // the program may have less
    struct sk_error why;
    uint64_t words[SK_RESUBMIT_BYTES / 8];
    p->has_metadata = at->value;
    if (json_is_object(at->value)) {
        p->metadata_fields = sk_at_values(at, &p->n_metadata);
        return;
    }
    p->metadata = at->value ? sk_at_text(at) : NULL;
    if (at->value && !at->doc->failed && sk_value_parse(p->metadata, &f, words, &why))
        sk_at_fail(at, "%s", why.text);
}

void sk_config_read_port(const struct sk_at *at, struct sk_config_port *p) {
    struct sk_at port = sk_at_member(at, "port"), device = sk_at_member(at, "device"),
                 name = sk_at_member(at, "name"), mtu = sk_at_member(at, "mtu"),
                 metadata = sk_at_member(at, "metadata"), queues = sk_at_member(at, "queues"),
                 promiscuous = sk_at_member(at, "promiscuous");
    p->port = sk_at_port(&port);
    p->device = sk_at_string(&device, true);
    p->name = sk_at_string(&name, false);
    if (p->name && sk_is_number(p->name))
        sk_at_fail(&name, "'%.40s' would be taken for a number where ports are named", p->name);
    p->mtu = (uint32_t)sk_at_number(&mtu, false, 9198);
    p->queues = (uint32_t)sk_at_between(&queues, false, 1, MAX_QUEUES);
    if (promiscuous.value && !json_is_boolean(promiscuous.value))
        sk_at_fail(&promiscuous, "it must be true or false");
    p->not_promiscuous = json_is_false(promiscuous.value);
    read_metadata(&metadata, p);
}

void sk_config_check_port(const struct sk_at *at, const struct sk_config_port *p,
                          const struct sk_config_port *others, size_t n, unsigned pipes) {
    const size_t length = strcspn(p->device, ",");
    for (size_t j = 0; j < n; j++) {
        const char *other = others[j].device;
        if (others[j].port == p->port)
            sk_at_fail(at, at->parent ? "port %u is given twice" : "port %u exists already",
                       p->port); // in a file; of a request
        if (strcspn(other, ",") == length && memcmp(other, p->device, length) == 0)
            sk_at_fail(at, "device '%.*s' is port %u's already", (int)length, other,
                       others[j].port);
        if (p->name && others[j].name && strcmp(p->name, others[j].name) == 0)
            sk_at_fail(at, "port %u has the name '%s' already", others[j].port, p->name);
    }
    if (sk_port_pipe(p->port) >= pipes)
        sk_at_fail(at, "port %u is in pipe %u, and \"pipes\" is %u", p->port, sk_port_pipe(p->port),
                   pipes);
}

static void read_front_ports(const struct sk_at *root, struct sk_config *c) {
    static const char *const keys[] = {"port",     "device", "name",        "mtu",
                                       "metadata", "queues", "promiscuous", NULL};
    struct sk_at list = sk_at_member(root, "ports");
    c->n_ports = sk_at_length(&list);
    c->ports = sk_json_keep(root->doc, (c->n_ports + 1) * sizeof *c->ports); // and of "tor"
    for (size_t i = 0; i < c->n_ports && !root->doc->failed; i++) {
        struct sk_at at = sk_at_item(&list, i);
        sk_at_keys(&at, keys);
        sk_config_read_port(&at, &c->ports[i]);
        sk_config_check_port(&at, &c->ports[i], c->ports, i, c->pipes);
    }
}

// A ToR's control plane sits at the CPU port, and so does who coordinates sessions.
static void add_cpu_port(const struct sk_at *root, struct sk_config *c) {
    struct sk_at at = sk_at_member(root, "tor");
    if (!at.value)
        at = sk_at_member(root, "sessions");
    if (!at.value)
        at = sk_at_member(root, "libra");
    const uint16_t cpu = c->has_cpu_port ? c->cpu_port : SK_CPU_PORT;
    if (at.doc->failed) // then ports may have no device
        return;
    for (size_t i = 0; at.value && i < c->n_ports; i++)
        if (c->ports[i].port == cpu && strcmp(c->ports[i].device, SK_PORTS_INSIDE) != 0)
            sk_at_fail(&at,
                       "port %u receives the copies to the CPU, but has device '%s'; it must be "
                       "\"inside\"",
                       cpu, c->ports[i].device);
        else if (c->ports[i].port == cpu)
            return;
    if (at.value && sk_port_pipe(cpu) >= c->pipes)
        sk_at_fail(&at,
                   "port %u receives the copies to the CPU, but is in pipe %u, and \"pipes\" is %u",
                   cpu, sk_port_pipe(cpu), c->pipes);
    if (at.value)
        c->ports[c->n_ports++] =
            (struct sk_config_port){.port = cpu, .device = SK_PORTS_INSIDE, .name = "cpu"};
}

void sk_config_read_ports(const struct sk_at *root, struct sk_config *c) {
    read_front_ports(root, c);
    add_cpu_port(root, c);
}

int sk_config_set_metadata(struct sk_switch *sw, const struct sk_config_port *p,
                           struct sk_error *err) {
    return p->metadata
               ? sk_control_port_metadata_raw(sw, p->port, p->metadata, err)
               : sk_control_port_metadata(sw, p->port, p->metadata_fields, p->n_metadata, err);
}

int sk_config_apply_ports(const struct sk_config *c, struct sk_switch *sw, struct sk_error *err) {
    for (size_t i = 0; i < c->n_ports; i++) {
        if (sk_switch_port_is_internal(sw, c->ports[i].port))
            return sk_fail(err, "ports[%zu]: port %u recirculates; no device can be attached to it",
                           i, c->ports[i].port);
        sk_switch_port_up(sw, c->ports[i].port, true);
        if (c->ports[i].has_metadata && sk_config_set_metadata(sw, &c->ports[i], err)) {
            sk_error_prefix(err, "ports[%zu].metadata", i);
            return -1;
        }
    }
    return 0;
}
