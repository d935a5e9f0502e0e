// SPDX-License-Identifier: Apache-2.0
//
// Addresses, and the switches' configurations in the words of p4/dlcp/README.md. Each station is at
// a port of its rack's leaf; leaves have a port to each spine, and choose among these packet by
// packet.
#include "cli/demo/shared.h"
#include "cli/demo/lossy.h"

#include <jansson.h>
#include <stdio.h>
#include <sys/stat.h>

#define FIRST_PORT  1u
#define FIRST_SPINE 40u // port of a leaf
#define SPINES_SET  1   // of next hops
#define GREEN       0
#define YELLOW      1
#define ECT_0       2
#define LINK        "id=0,socket-abstract=no,socket="
#define CLASSES     7u
#define SIGNALS     31u   // DSCP
#define SLOTS       64u   // of a set
#define CELLS       13107 // of 80 bytes that a port may hold: 1 MB

unsigned lossy_stations(const struct lossy_job *job) {
    return job->o->workers + !job->o->ring;
}

unsigned lossy_switches(const struct lossy_job *job) {
    return job->o->racks + job->o->spines;
}

struct lossy_address lossy_address(const struct lossy_job *job, unsigned station) {
    const bool server = station == job->o->workers;
    struct lossy_address a = {.port = FIRST_PORT + station};
    a.rack = server ? job->o->racks - 1 : station * job->o->racks / job->o->workers;
    snprintf(a.mac, sizeof a.mac, "02:00:00:00:01:%02x", a.port & 0xff);
    snprintf(a.ip, sizeof a.ip, "10.0.0.%u", a.port & 0xff);
    snprintf(a.socket, sizeof a.socket, "%s/port-%u.sock", job->folder, a.port);
    snprintf(a.switch_end, sizeof a.switch_end, "port%u", a.port & 0xffff);
    snprintf(a.station_end, sizeof a.station_end, "link%u", a.port & 0xffff);
    if (job->o->veth)
        snprintf(a.device, sizeof a.device, "afpacket:%s", a.station_end);
    else
        snprintf(a.device, sizeof a.device, "net_memif%u,role=client,rsize=10," LINK "%s", a.port,
                 a.socket);
    return a;
}

static void config_link(const struct lossy_job *job, unsigned leaf, unsigned spine, char *socket,
                        size_t size) {
    snprintf(socket, size, "%s/leaf-%u-spine-%u.sock", job->folder, leaf, spine);
}

static bool config_is_spine(const struct lossy_job *job, unsigned number) {
    return number >= job->o->racks;
}

static bool config_is_there(const char *socket) {
    struct stat st;
    return stat(socket, &st) == 0;
}

bool lossy_switch_is_ready(const struct lossy_job *job, unsigned number) {
    char socket[128];
    bool ready = true;
    for (unsigned i = 0; i < job->o->racks && config_is_spine(job, number); i++) {
        config_link(job, i, number - job->o->racks, socket, sizeof socket);
        ready &= config_is_there(socket);
    }
    for (unsigned i = 0; i < lossy_stations(job); i++) {
        const struct lossy_address a = lossy_address(job, i);
        ready &= a.rack != number || config_is_there(a.socket);
    }
    return ready;
}

// ---- ports ----

// An end of a link: of a veth pair, or of shared memory in a socket's name.
static json_t *lossy_config_port(const struct lossy_job *job, unsigned port, const char *interface,
                                 const char *role, const char *socket) {
    char device[256];
    if (job->o->veth)
        snprintf(device, sizeof device, "net_af_packet%u,iface=%s", port, interface);
    else
        snprintf(device, sizeof device, "net_memif%u,role=%s,rsize=10," LINK "%s", port, role,
                 socket);
    return json_pack("{s:i, s:s}", "port", port, "device", device);
}

// Interfaces of a link between a leaf and a spine, the same word at both ends.
static void config_link_end(unsigned leaf, unsigned spine, char name[16]) {
    snprintf(name, 16, "leaf%u-%u", leaf & 0xff, spine & 0xff);
}

static json_t *config_spine_link(const struct lossy_job *job, unsigned leaf, unsigned spine,
                                 bool at_spine) {
    char socket[128], name[16];
    config_link(job, leaf, spine, socket, sizeof socket);
    config_link_end(leaf, spine, name);
    return lossy_config_port(job, at_spine ? FIRST_PORT + leaf : FIRST_SPINE + spine, name,
                             at_spine ? "server" : "client", socket);
}

static json_t *config_ports(const struct lossy_job *job, unsigned number) {
    json_t *ports = json_array();
    for (unsigned i = 0; config_is_spine(job, number) && i < job->o->racks; i++)
        json_array_append_new(ports, config_spine_link(job, i, number - job->o->racks, true));
    for (unsigned i = 0; !config_is_spine(job, number) && i < job->o->spines; i++)
        json_array_append_new(ports, config_spine_link(job, number, i, false));
    for (unsigned i = 0; i < lossy_stations(job); i++) {
        const struct lossy_address a = lossy_address(job, i);
        if (a.rack == number)
            json_array_append_new(ports,
                                  lossy_config_port(job, a.port, a.switch_end, "server", a.socket));
    }
    return ports;
}

int lossy_make_spaces(const struct lossy_job *job, struct spaces *s, char *error,
                      size_t error_size) {
    const unsigned switches = lossy_switches(job), stations = lossy_stations(job);
    int rc = spaces_make(s, switches + stations, error, error_size);
    for (unsigned i = 0; i < stations && rc == 0; i++) {
        const struct lossy_address a = lossy_address(job, i);
        rc = spaces_join(s, a.rack, a.switch_end, switches + i, a.station_end, error, error_size);
    }
    for (unsigned i = 0; i < job->o->racks * job->o->spines && rc == 0; i++) {
        const unsigned leaf = i / job->o->spines, spine = i % job->o->spines;
        char name[16];
        config_link_end(leaf, spine, name);
        rc = spaces_join(s, leaf, name, job->o->racks + spine, name, error, error_size);
    }
    return rc;
}

// Signals go first, then the classes from the front one to the back one. The back ones have room
// for more unimportant packets.
static json_t *config_queues(const json_t *ports) {
    json_t *queues = json_array(), *port;
    size_t i;
    json_array_foreach((json_t *)ports, i, port) {
        json_t *schedule =
            json_pack("[{s:i, s:i, s:i}]", "qid", CLASSES, "priority", CLASSES, "guaranteed", 128);
        for (unsigned class = 0; class < CLASSES; class ++)
            json_array_append_new(schedule, json_pack("{s:i, s:i, s:i}", "qid", CLASSES - 1 - class,
                                                      "priority", CLASSES - 1 - class, "yellow",
                                                      CELLS / 16 * (2 + class) / 2));
        json_array_append_new(queues,
                              json_pack("{s:O, s:i, s:i, s:i, s:o}", "port",
                                        json_object_get(port, "port"), "speed", LOSSY_LINK_MBPS,
                                        "limit", CELLS, "pool", 0, "schedule", schedule));
    }
    return queues;
}

// ---- entries ----

static json_t *config_address(const char *ip, const char *action, const char *argument,
                              unsigned value) {
    return json_pack("{s:s, s:{s:s}, s:s, s:{s:i}}", "table", "addresses", "key",
                     "hdr.ipv4.dst_addr", ip, "action", action, "args", argument, value);
}

static void config_addresses(const struct lossy_job *job, unsigned number, json_t *entries) {
    for (unsigned i = 0; i < lossy_stations(job); i++) {
        const struct lossy_address a = lossy_address(job, i);
        json_t *entry = config_is_spine(job, number)
                            ? config_address(a.ip, "to_port", "port", FIRST_PORT + a.rack)
                        : a.rack == number ? config_address(a.ip, "to_port", "port", a.port)
                                           : config_address(a.ip, "by_slot", "hops", SPINES_SET);
        json_array_append_new(entries, entry);
    }
}

static json_t *config_queue(unsigned dscp, unsigned ecn, unsigned qid, unsigned colour) {
    return json_pack("{s:s, s:{s:i, s:i}, s:s, s:{s:i, s:i}}", "table", "queues_of", "key", "dscp",
                     dscp, "ecn", ecn, "action", "queue", "args", "qid", qid, "colour", colour);
}

static void config_classes(json_t *entries) {
    for (unsigned class = 0; class < CLASSES; class ++) {
        const unsigned dscp = 4 * class + 3;
        json_array_append_new(entries, config_queue(dscp, 0, CLASSES - 1 - class, YELLOW));
        json_array_append_new(entries, config_queue(dscp, ECT_0, CLASSES - 1 - class, GREEN));
        json_array_append_new(entries, json_pack("{s:s, s:{s:i}, s:s}", "table", "sprayed", "key",
                                                 "dscp", dscp, "action", "spray"));
    }
    for (unsigned ecn = 0; ecn < 4; ecn++)
        json_array_append_new(entries, config_queue(SIGNALS, ecn, CLASSES, GREEN));
}

// A leaf's way to the others: all spines by turns.
static void config_spines(const struct lossy_job *job, json_t *entries) {
    for (unsigned slot = 0; slot < SLOTS; slot++)
        json_array_append_new(entries, json_pack("{s:s, s:{s:i, s:i}, s:s, s:{s:i}}", "table",
                                                 "paths", "key", "hops", SPINES_SET, "slot", slot,
                                                 "action", "to_port", "args", "port",
                                                 FIRST_SPINE + slot % job->o->spines));
}

static json_t *lossy_config_root(const struct lossy_job *job, unsigned number) {
    json_t *entries = json_array(), *ports = config_ports(job, number);
    json_t *root =
        json_pack("{s:o, s:[{s:i, s:i}], s:o, s:o, s:o}", "ports", ports, "pools", "id", 0, "cells",
                  8 * CELLS, "queues", config_queues(ports), "entries", entries, "control_socket",
                  json_sprintf("%s/control-%u.sock", job->folder, number));
    if (!root)
        return NULL;
    config_addresses(job, number, entries);
    config_classes(entries);
    if (!config_is_spine(job, number) && job->o->spines)
        config_spines(job, entries);
    return root;
}

int lossy_write_config(const struct lossy_job *job, unsigned number, const char *path, char *error,
                       size_t error_size) {
    return demo_write_config(lossy_config_root(job, number), job->program, job->o->loss,
                             job->o->seed + number, path, error, error_size);
}
