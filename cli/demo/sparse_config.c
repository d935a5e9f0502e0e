// SPDX-License-Identifier: Apache-2.0
//
// The switch's configuration, in the words of p4/libra/README.md.
#include "cli/demo/shared.h"
#include "cli/demo/sparse.h"

#include <jansson.h>
#include <stdio.h>

#define FIRST_PORT   1u
#define FIRST_UPLINK 50u // the link to rack r: r more
#define CELLS        16384

const struct silken_address sparse_switch[DEMO_MAX_RACKS] = {
    {"02:00:00:00:00:fe", "10.0.1.254"},
    {"02:00:00:00:00:fd", "10.0.1.253"},
    {"02:00:00:00:00:fc", "10.0.1.252"},
    {"02:00:00:00:00:fb", "10.0.1.251"},
};

unsigned sparse_rack(const struct sparse_job *job, unsigned station) {
    const unsigned workers = job->o->workers;
    return (station < workers ? station : station - workers) % job->o->racks;
}

// Servers have equal ranges, the first ones a key more where they are not (hosts/keyvalue).
unsigned sparse_rack_of_key(const struct sparse_job *job, uint64_t key) {
    const uint64_t servers = job->o->servers, each = SPARSE_KEYS / servers,
                   more = SPARSE_KEYS % servers, longer = more * (each + 1);
    const uint64_t server = key < longer ? key / (each + 1) : more + (key - longer) / each;
    return sparse_rack(job, job->o->workers + (unsigned)server);
}

void sparse_uplink(const struct sparse_job *job, unsigned rack, unsigned other, char *path,
                   size_t size) {
    snprintf(path, size, "%s/rack-%u-%u.sock", job->folder, rack > other ? rack : other,
             rack > other ? other : rack);
}

struct sparse_address sparse_address(const struct sparse_job *job, unsigned station) {
    struct sparse_address a = {.port = FIRST_PORT + station};
    snprintf(a.mac, sizeof a.mac, "02:00:00:00:01:%02x", a.port & 0xff);
    snprintf(a.ip, sizeof a.ip, "10.0.0.%u", a.port & 0xff);
    snprintf(a.socket, sizeof a.socket, "%s/port-%u.sock", job->folder, a.port);
    snprintf(a.device, sizeof a.device,
             "net_memif%u,role=client,id=0,rsize=9,socket-abstract=no,socket=%s", a.port, a.socket);
    return a;
}

static json_t *config_port(const struct sparse_address *a) {
    char device[256];
    snprintf(device, sizeof device, "net_memif%u,role=server,id=0,socket-abstract=no,socket=%s",
             a->port, a->socket);
    return json_pack("{s:i, s:s}", "port", a->port, "device", device);
}

static json_t *config_uplink(const struct sparse_job *job, unsigned rack, unsigned other) {
    char path[128], device[256];
    sparse_uplink(job, rack, other, path, sizeof path);
    snprintf(device, sizeof device, "net_memif%u,role=%s,id=0,socket-abstract=no,socket=%s",
             FIRST_UPLINK + other, rack > other ? "server" : "client", path);
    return json_pack("{s:i, s:s}", "port", FIRST_UPLINK + other, "device", device);
}

// The job, which Libra_s admits: members in other racks come by the link to there.
static json_t *config_job(const struct sparse_job *job, unsigned rack) {
    json_t *workers = json_array(), *servers = json_array();
    for (unsigned i = 0; i < job->o->workers + job->o->servers; i++) {
        const struct sparse_address a = sparse_address(job, i);
        const unsigned its = sparse_rack(job, i);
        json_array_append_new(
            i < job->o->workers ? workers : servers,
            json_sprintf("%u:%s/%s", its == rack ? a.port : FIRST_UPLINK + its, a.ip, a.mac));
    }
    return json_pack("{s:s, s:s, s:I, s:i, s:o, s:o}", "name", "demo", "layout", job->layout[rack],
                     "parameters", (json_int_t)SPARSE_KEYS, "cells", CELLS, "workers", workers,
                     "servers", servers);
}

// What is for another rack's switch goes there.
static void config_others(json_t *root, unsigned rack, unsigned racks) {
    json_t *entries = json_array(), *others = json_array();
    for (unsigned r = 0; r < racks; r++) {
        if (r == rack)
            continue;
        json_array_append_new(entries,
                              json_pack("{s:s, s:{s:s}, s:s, s:{s:i}}", "table", "forward.macs",
                                        "key", "hdr.ethernet.dst_addr", sparse_switch[r].mac,
                                        "action", "to_port", "args", "port", FIRST_UPLINK + r));
        json_array_append_new(others, json_pack("{s:s, s:{s:s}}", "name", "others", "key", "f1",
                                                sparse_switch[r].ip));
    }
    json_object_set_new(root, "entries", entries);
    json_object_set_new(root, "value_sets", others);
}

static json_t *config_root(const struct sparse_job *job, unsigned rack) {
    json_t *ports = json_array();
    for (unsigned i = 0; i < job->o->workers + job->o->servers; i++) {
        const struct sparse_address a = sparse_address(job, i);
        if (sparse_rack(job, i) == rack)
            json_array_append_new(ports, config_port(&a));
    }
    for (unsigned r = 0; r < job->o->racks; r++)
        if (r != rack)
            json_array_append_new(ports, config_uplink(job, rack, r));
    json_t *root = json_pack("{s:o, s:{s:s, s:s, s:[o]}, s:o}", "ports", ports, "libra", "mac",
                             sparse_switch[rack].mac, "address", sparse_switch[rack].ip, "jobs",
                             config_job(job, rack), "control_socket",
                             rack ? json_sprintf("%s/control-%u.sock", job->folder, rack)
                                  : json_sprintf("%s/control.sock", job->folder));
    if (root && job->o->racks > 1)
        config_others(root, rack, job->o->racks);
    return root;
}

int sparse_write_config(const struct sparse_job *job, unsigned rack, const char *path, char *error,
                        size_t error_size) {
    return demo_write_config(config_root(job, rack), job->program, job->o->loss,
                             job->o->seed + rack, path, error, error_size);
}
