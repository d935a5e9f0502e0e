// SPDX-License-Identifier: Apache-2.0
//
// The configuration of a rack's switch (control/config/config.h) for its jobs: the tables, groups
// and ports that the READMEs of p4/switchml, p4/atp and p4/ina list, in their words.
#include "cli/demo/shared.h"
#include "cli/demo/fabric.h"

#include <jansson.h>
#include <stdio.h>

// The multicast group of the workers' first lanes.
static unsigned group_of_lane(const struct fabric *f, unsigned lane) {
    return (f->shared && f->protocol == SILKEN_ATP ? 200 : 100) + lane;
}

// Tables by the names that they have in a program of one protocol, or in p4/ina.
static const char *fabric_config_table(const struct fabric *f, const char *alone,
                                       const char *shared) {
    return f->shared ? shared : alone;
}

// A link's replication id and multicast node have its port's number.

static json_t *port_at(unsigned port, const char *name, const char *role, const char *socket) {
    char device[512];

    snprintf(device, sizeof device, "net_memif%u,role=%s,id=0,socket-abstract=no,socket=%s", port,
             role, socket);
    return json_pack("{s:i, s:s, s:s}", "port", port, "name", name, "device", device);
}

static json_t *veth_at(unsigned port, const char *name, const char *interface) {
    char device[512];

    snprintf(device, sizeof device, "net_af_packet%u,iface=%s", port, interface);
    return json_pack("{s:i, s:s, s:s}", "port", port, "name", name, "device", device);
}

static json_t *fabric_config_port_of(const struct fabric *f, unsigned link) {
    struct fabric_address a = fabric_address(f, link);

    if (f->veth) {
        return veth_at(a.port, a.name, a.switch_end);
    }
    return port_at(a.port, a.name, "server", a.socket);
}

// ---- links between racks ------------------------------------------------------------------------

static unsigned uplink_port(unsigned rack) {
    return FABRIC_PORTS - rack;
}

// The upper rack's end makes the socket.
static json_t *uplink_of(const struct fabric *f, unsigned rack, unsigned other) {
    bool here = rack < other;
    char socket[256], name[32], end[16];

    fabric_uplink(f, here ? rack : other, socket);
    snprintf(name, sizeof name, "rack %u", other);
    if (f->veth) {
        fabric_uplink_end(here ? rack : other, end);
        return veth_at(uplink_port(here ? rack : other), name, end);
    }
    return port_at(uplink_port(here ? rack : other), name, here ? "client" : "server", socket);
}

// The port at which a switch has a station's link, or what leads to its rack.
static unsigned way_to(const struct fabric *f, unsigned rack, const struct fabric_address *a) {
    if (a->rack == rack) {
        return a->port;
    }
    for (unsigned below = a->rack; below < rack; below = fabric_above(f, below)) {
        if (fabric_above(f, below) == rack) {
            return uplink_port(below);
        }
    }
    return uplink_port(rack);
}

// ---- SwitchML -----------------------------------------------------------------------------------

#define SHARED "switchml.SwitchmlPipe.Ingress."

// Who may aggregate, and where.
static json_t *admission_of(const struct fabric *f, unsigned link) {
    struct fabric_address a = fabric_address(f, link);

    return json_pack(
        "{s:s, s:{s:i, s:s, s:i}, s:s, s:{s:I, s:i, s:i, s:i, s:i, s:i, s:i}}", //
        "table",
        fabric_config_table(f, "pipe.Ingress.admission.workers", SHARED "admission.workers"), //
        "key",                                                                                //
        "hdr.switchml.job_number", FABRIC_JOB,                                                //
        "hdr.ipv4.src_addr", a.ip,                                                            //
        "ig_intr_md.ingress_port", a.port,                                                    //
        "action", "admit",                                                                    //
        "args",                                                                               //
        "worker_bit", (json_int_t)1 << a.station,                                             //
        "num_workers", f->workers,                                                            //
        "group", group_of_lane(f, a.lane),                                                    //
        "rid", a.port,                                                                        //
        "port", a.port,                                                                       //
        "pool_base", 0,                                                                       //
        "pool_last", FABRIC_POOL - 1);
}

// The addresses that a copy of the result gets.
static json_t *receiver_of(const struct fabric *f, unsigned link) {
    struct fabric_address a = fabric_address(f, link);

    return json_pack(
        "{s:s, s:{s:i}, s:s, s:{s:s, s:s, s:i}}", //
        "table",
        fabric_config_table(f, "pipe.Egress.receivers", "switchml.Egress.switchml.receivers"), //
        "key", "md.rid", a.port,                                                               //
        "action", "address",                                                                   //
        "args", "mac", a.mac, "ip", a.ip, "udp_port", f->rdma ? FABRIC_ROCE_PORT : FABRIC_UDP_PORT);
}

// ---- SwitchML by RoCEv2 -------------------------------------------------------------------------

// What first packets of a worker's messages, or the others, are for.
static json_t *writer_of(const struct fabric *f, unsigned link, bool begins) {
    const struct fabric_address a = fabric_address(f, link);
    const int end = 2 * (FABRIC_POOL - 1);
    json_t *args = json_pack("{s:I, s:i, s:i, s:i, s:i, s:i}",         //
                             "worker_bit", (json_int_t)1 << a.station, //
                             "num_workers", f->workers,                //
                             "group", group_of_lane(f, a.lane),        //
                             "rid", a.port,                            //
                             "port", a.port,                           //
                             begins ? "first" : "end", 0x8000 + (begins ? 0 : end));

    if (begins) {
        json_object_set_new(args, "last", json_integer(end + 1));
    }
    return json_pack("{s:s, s:{s:s, s:s, s:i, s:i, s:i}, s:s, s:o}", //
                     "table", "pipe.Ingress.writes.writers",         //
                     "key",                                          //
                     "hdr.ipv4.src_addr", a.ip,                      //
                     "hdr.ipv4.dst_addr", fabric_switch(a.rack).ip,  //
                     "ig_intr_md.ingress_port", a.port,              //
                     "queue_pairs", a.port,                          //
                     "begins", begins,                               //
                     "action", begins ? "begin" : "go_on",           //
                     "args", args);
}

static json_t *queue_pair_of(const struct fabric *f, unsigned link, unsigned pair) {
    const struct fabric_address a = fabric_address(f, link);

    return json_pack("{s:s, s:{s:i, s:i}, s:s, s:{s:i, s:i, s:i}}", //
                     "table", "pipe.Egress.results.queue_pairs",    //
                     "key", "md.rid", a.port, "queue_pair", pair,   //
                     "action", "queue_pair",                        //
                     "args", "qpn", FABRIC_QUEUE_PAIR + pair, "rkey_high", FABRIC_RKEY >> 16,
                     "rkey", FABRIC_RKEY & 0xffff);
}

static void rdma_entries(const struct fabric *f, json_t *list) {
    for (unsigned link = 0; link < fabric_links(f); link++) {
        json_array_append_new(list, writer_of(f, link, true));
        json_array_append_new(list, writer_of(f, link, false));
        json_array_append_new(list, receiver_of(f, link));
        for (unsigned pair = 0; pair < FABRIC_PAIRS; pair++) {
            json_array_append_new(list, queue_pair_of(f, link, pair));
        }
    }
}

// ---- SwitchML over several racks ----------------------------------------------------------------

#define ABOVE_GROUP 300 // the switch above alone

static bool has_above(const struct fabric *f, unsigned rack) {
    return rack + 1 < f->racks;
}

// What a switch sums: 'number' of all that is below it, at this port.
static void level_below(const struct fabric *f, unsigned rack, unsigned number, unsigned all,
                        unsigned port, const char *mac, const char *ip, json_t *list) {
    const bool above = has_above(f, rack);

    json_array_append_new(
        list,
        json_pack("{s:s, s:{s:i, s:s, s:i}, s:s, s:{s:I, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i}}",
                  "table", "pipe.Ingress.admission.workers", //
                  "key",                                     //
                  "hdr.switchml.job_number", FABRIC_JOB,     //
                  "hdr.ipv4.src_addr", ip,                   //
                  "ig_intr_md.ingress_port", port,           //
                  "action", "admit",                         //
                  "args",                                    //
                  "worker_bit", (json_int_t)1 << number,     //
                  "num_workers", all,                        //
                  "group", group_of_lane(f, 0),              //
                  "rid", port,                               //
                  "port", port,                              //
                  "pool_base", 0,                            //
                  "pool_last", FABRIC_POOL - 1,              //
                  "way", above ? 2 : 0,                      //
                  "above", above ? ABOVE_GROUP : 0));
    json_array_append_new(list,
                          json_pack("{s:s, s:{s:i}, s:s, s:{s:s, s:s, s:i}}", //
                                    "table", "pipe.Egress.receivers",         //
                                    "key", "md.rid", port,                    //
                                    "action", "address",                      //
                                    "args", "mac", mac, "ip", ip, "udp_port", FABRIC_UDP_PORT));
}

// Where partial sums go, and from where all sums come.
static void level_above(const struct fabric *f, unsigned rack, json_t *list) {
    const struct fabric_group above = fabric_switch(fabric_above(f, rack)),
                              own = fabric_switch(rack);

    json_array_append_new(list, json_pack("{s:s, s:{s:i, s:s, s:i}, s:s, s:{s:i, s:i, s:i}}",   //
                                          "table", "pipe.Ingress.admission.workers",            //
                                          "key",                                                //
                                          "hdr.switchml.job_number", FABRIC_JOB,                //
                                          "hdr.ipv4.src_addr", above.ip,                        //
                                          "ig_intr_md.ingress_port", uplink_port(rack),         //
                                          "action", "result",                                   //
                                          "args", "group", group_of_lane(f, 0), "pool_base", 0, //
                                          "pool_last", FABRIC_POOL - 1));
    json_array_append_new(list, json_pack("{s:s, s:{s:i}, s:s, s:{s:s, s:s, s:s, s:s}}", //
                                          "table", "pipe.Egress.receivers",              //
                                          "key", "md.rid", uplink_port(rack),            //
                                          "action", "above",                             //
                                          "args", "mac", above.mac, "ip", above.ip,      //
                                          "own_mac", own.mac, "own_ip", own.ip));
}

// One lane: a switch has one address for the one above it.
static void level_entries(const struct fabric *f, unsigned rack, json_t *list) {
    unsigned all = 0, number = 0;

    for (unsigned link = 0; link < f->workers; link++) {
        all += fabric_address(f, link).rack == rack;
    }
    for (unsigned other = 0; other < rack; other++) {
        all += fabric_above(f, other) == rack;
    }
    for (unsigned link = 0; link < f->workers; link++) {
        const struct fabric_address a = fabric_address(f, link);
        if (a.rack == rack) {
            level_below(f, rack, number++, all, a.port, a.mac, a.ip, list);
        }
    }
    for (unsigned other = 0; other < rack; other++) {
        const struct fabric_group below = fabric_switch(other);
        if (fabric_above(f, other) == rack) {
            level_below(f, rack, number++, all, uplink_port(other), below.mac, below.ip, list);
        }
    }
    if (has_above(f, rack)) {
        level_above(f, rack, list);
    }
}

static json_t *level_group(unsigned rack) {
    return json_pack("{s:i, s:[i]}", "id", ABOVE_GROUP, "nodes", uplink_port(rack));
}

static void switchml_entries(const struct fabric *f, json_t *list) {
    for (unsigned link = 0; link < fabric_links(f); link++) {
        json_array_append_new(list, admission_of(f, link));
        json_array_append_new(list, receiver_of(f, link));
    }
}

// ---- addresses ----------------------------------------------------------------------------------

static json_t *mac_entry(const struct fabric *f, const char *mac, const char *action,
                         const char *parameter, unsigned value) {
    const char *shared = f->protocol == SILKEN_ATP ? "atp.AtpPipe.Ingress.forward.macs"
                                                   : "switchml.SwitchmlPipe.Ingress.forward.macs";

    return json_pack("{s:s, s:{s:s}, s:s, s:{s:i}}",                                       //
                     "table", fabric_config_table(f, "pipe.Ingress.forward.macs", shared), //
                     "key", "hdr.ethernet.dst_addr", mac,                                  //
                     "action", action,                                                     //
                     "args", parameter, value);
}

// What is not aggregation is forwarded; ATP's gradients go to their server, wherever it is, and its
// parameters to their lane's group.
static void address_entries(const struct fabric *f, unsigned rack, json_t *list) {
    for (unsigned link = 0; link < fabric_links(f); link++) {
        struct fabric_address a = fabric_address(f, link);
        json_array_append_new(list, mac_entry(f, a.mac, "to_port", "port", way_to(f, rack, &a)));
    }
    for (unsigned lane = 0; f->protocol == SILKEN_ATP && lane < f->lanes; lane++) {
        struct fabric_group g = fabric_group(lane);
        json_array_append_new(list,
                              mac_entry(f, g.mac, "to_group", "group", group_of_lane(f, lane)));
    }
}

// ---- ports and groups ---------------------------------------------------------------------------

static json_t *node_at(unsigned port) {
    return json_pack("{s:i, s:i, s:[i]}", "id", port, "rid", port, "ports", port);
}

// The links of this lane of all workers in the rack, and the ways to the racks below.
static json_t *fabric_config_group_of(const struct fabric *f, unsigned rack, unsigned lane) {
    json_t *nodes = json_array();

    for (unsigned worker = 0; worker < f->workers; worker++) {
        struct fabric_address a = fabric_address(f, worker * f->lanes + lane);
        if (a.rack == rack) {
            json_array_append_new(nodes, json_integer(a.port));
        }
    }
    for (unsigned other = 0; other < rack; other++) {
        if (fabric_above(f, other) == rack) {
            json_array_append_new(nodes, json_integer(uplink_port(other)));
        }
    }
    return json_pack("{s:i, s:o}", "id", group_of_lane(f, lane), "nodes", nodes);
}

static void fabric_config_add_port(json_t *ports, json_t *nodes, json_t *port) {
    unsigned number = (unsigned)json_integer_value(json_object_get(port, "port"));

    json_array_append_new(ports, port);
    json_array_append_new(nodes, node_at(number));
}

static void ports_and_nodes(const struct fabric *f, unsigned rack, json_t *ports, json_t *nodes) {
    for (unsigned link = 0; link < fabric_links(f); link++) {
        if (fabric_address(f, link).rack == rack) {
            fabric_config_add_port(ports, nodes, fabric_config_port_of(f, link));
        }
    }
    for (unsigned other = 0; other < f->racks; other++) {
        if ((other < rack && fabric_above(f, other) == rack) ||
            (other > rack && fabric_above(f, rack) == other)) {
            fabric_config_add_port(ports, nodes, uplink_of(f, rack, other));
        }
    }
}

static json_t *fabric_config_configuration(const struct fabric *const *f, unsigned jobs,
                                           unsigned rack) {
    json_t *ports = json_array(), *nodes = json_array(), *groups = json_array();
    json_t *entries = json_array(), *root;

    for (unsigned i = 0; i < jobs; i++) {
        ports_and_nodes(f[i], rack, ports, nodes);
        for (unsigned lane = 0; lane < f[i]->lanes; lane++) {
            json_array_append_new(groups, fabric_config_group_of(f[i], rack, lane));
        }
        if (f[i]->rdma) {
            rdma_entries(f[i], entries);
        } else if (f[i]->protocol == SILKEN_SWITCHML && f[i]->racks > 1) {
            level_entries(f[i], rack, entries);
            if (has_above(f[i], rack)) {
                json_array_append_new(groups, level_group(rack));
            }
        } else if (f[i]->protocol == SILKEN_SWITCHML) {
            switchml_entries(f[i], entries);
        }
        address_entries(f[i], rack, entries);
    }
    const struct fabric_group here = fabric_switch(rack);
    root = json_pack("{s:o, s:{s:o, s:o}, s:o, s:o}",               //
                     "ports", ports,                                //
                     "multicast", "nodes", nodes, "groups", groups, //
                     "entries", entries,                            //
                     "control_socket", json_sprintf("%s/control-%u.sock", f[0]->folder, rack));
    if (f[0]->protocol == SILKEN_ATP || f[0]->racks == 1) {
        json_object_set_new(root, "sessions",
                            json_pack("{s:s, s:s}", "mac", here.mac, "ip", here.ip));
    }
    if (f[0]->f16) {
        json_object_set_new(root, "filled", json_pack("[{s:s}]", "tables", "halves"));
    }
    return root;
}

int fabric_write_config(const struct fabric *const *f, unsigned jobs, unsigned rack,
                        const char *path, char *error, size_t error_size) {
    return demo_write_config(fabric_config_configuration(f, jobs, rack), f[0]->program, f[0]->loss,
                             f[0]->seed + rack, path, error, error_size);
}
