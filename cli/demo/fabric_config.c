// SPDX-License-Identifier: Apache-2.0
//
// The switch's configuration (control/config.h) for the job: the tables, groups and ports that
// p4/switchml/README.md lists, in its words.
#include "cli/demo/fabric.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUP 100 // the multicast group of the workers' first lanes

// A link's replication id and multicast node have its port's number.

static json_t *port_of(const struct fabric *f, unsigned link) {
    struct fabric_address a = fabric_address(f, link);
    char device[512], name[32];

    snprintf(device, sizeof device, "net_memif%u,role=server,id=0,socket-abstract=no,socket=%s",
             a.port, a.socket);
    snprintf(name, sizeof name, "worker %u lane %u", a.rank, a.lane);
    return json_pack("{s:i, s:s, s:s}", "port", a.port, "name", name, "device", device);
}

// Who may aggregate, and where.
static json_t *admission_of(const struct fabric *f, unsigned link) {
    struct fabric_address a = fabric_address(f, link);

    return json_pack("{s:s, s:{s:i, s:s, s:i}, s:s, s:{s:I, s:i, s:i, s:i, s:i, s:i, s:i}}", //
                     "table", "pipe.Ingress.admission.workers",                              //
                     "key",                                                                  //
                     "hdr.switchml.job_number", FABRIC_JOB,                                  //
                     "hdr.ipv4.src_addr", a.ip,                                              //
                     "ig_intr_md.ingress_port", a.port,                                      //
                     "action", "admit",                                                      //
                     "args",                                                                 //
                     "worker_bit", (json_int_t)1 << a.rank,                                  //
                     "num_workers", f->workers,                                              //
                     "group", GROUP + a.lane,                                                //
                     "rid", a.port,                                                          //
                     "port", a.port,                                                         //
                     "pool_base", 0,                                                         //
                     "pool_last", FABRIC_POOL - 1);
}

// The addresses that a copy of the result gets.
static json_t *receiver_of(const struct fabric *f, unsigned link) {
    struct fabric_address a = fabric_address(f, link);

    return json_pack("{s:s, s:{s:i}, s:s, s:{s:s, s:s, s:i}}", //
                     "table", "pipe.Egress.receivers",         //
                     "key", "md.rid", a.port,                  //
                     "action", "address",                      //
                     "args", "mac", a.mac, "ip", a.ip, "udp_port", FABRIC_UDP_PORT);
}

// What is not aggregation is forwarded.
static json_t *station_of(const struct fabric *f, unsigned link) {
    struct fabric_address a = fabric_address(f, link);

    return json_pack("{s:s, s:{s:s}, s:s, s:{s:i}}",        //
                     "table", "pipe.Ingress.forward.macs",  //
                     "key", "hdr.ethernet.dst_addr", a.mac, //
                     "action", "to_port",                   //
                     "args", "port", a.port);
}

// One item for each link.
static json_t *each(const struct fabric *f,
                    json_t *(*item)(const struct fabric *f, unsigned link)) {
    json_t *list = json_array();

    for (unsigned link = 0; link < f->workers * f->lanes; link++) {
        json_array_append_new(list, item(f, link));
    }
    return list;
}

static json_t *entries(const struct fabric *f) {
    json_t *list = each(f, admission_of), *receivers = each(f, receiver_of),
           *stations = each(f, station_of);

    json_array_extend(list, receivers);
    json_array_extend(list, stations);
    json_decref(receivers);
    json_decref(stations);
    return list;
}

static json_t *node_of(const struct fabric *f, unsigned link) {
    struct fabric_address a = fabric_address(f, link);
    return json_pack("{s:i, s:i, s:[i]}", "id", a.port, "rid", a.port, "ports", a.port);
}

// The links of all workers' lanes of this number.
static json_t *group_of(const struct fabric *f, unsigned lane) {
    json_t *nodes = json_array();

    for (unsigned rank = 0; rank < f->workers; rank++) {
        json_array_append_new(nodes, json_integer(fabric_address(f, rank * f->lanes + lane).port));
    }
    return json_pack("{s:i, s:o}", "id", GROUP + lane, "nodes", nodes);
}

static json_t *multicast(const struct fabric *f) {
    json_t *groups = json_array();

    for (unsigned lane = 0; lane < f->lanes; lane++) {
        json_array_append_new(groups, group_of(f, lane));
    }
    return json_pack("{s:o, s:o}", "nodes", each(f, node_of), "groups", groups);
}

static json_t *configuration(const struct fabric *f, const char *program) {
    json_t *root = json_pack("{s:s, s:o, s:o, s:o, s:o}", //
                             "program", program,          //
                             "ports", each(f, port_of),   //
                             "multicast", multicast(f),   //
                             "entries", entries(f),       //
                             "control_socket", json_sprintf("%s/control.sock", f->folder));

    if (root && f->loss > 0) {
        json_object_set_new(root, "faults",
                            json_pack("{s:f, s:I}", "loss", f->loss, //
                                      "seed", (json_int_t)(f->seed & INT64_MAX)));
    }
    return root;
}

// Paths in a configuration count from its folder, so the program's is made absolute.
int fabric_write_config(const struct fabric *f, const char *path, char *error, size_t error_size) {
    char *program = realpath(f->program, NULL);
    json_t *root = program ? configuration(f, program) : NULL;
    int failed = 0;

    if (!program) {
        snprintf(error, error_size, "%s: %s", f->program, strerror(errno));
        failed = -1;
    } else if (!root || json_dump_file(root, path, JSON_INDENT(2))) {
        snprintf(error, error_size, "cannot write the switch's configuration to %s", path);
        failed = -1;
    }
    json_decref(root);
    free(program);
    return failed;
}
