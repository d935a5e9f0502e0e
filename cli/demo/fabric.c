// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/fabric.h"

#include "cli/demo/options.h"
#include "hosts/atp/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// Bounds of the retransmission timeout. The processes share what may be two processors, so an
// answer can take some time slices though nothing is lost; who sends again then only adds to the
// work. Under loss, however, each lost packet costs a timeout. The measured timeout is of little
// help there: it includes the other workers' waits for their lost packets, and grows to whatever it
// may.
#define RTO_MIN_US      20000
#define RTO_MAX_US      100000
#define RTO_MIN_LOSS_US 4000
#define RTO_MAX_LOSS_US 8000

// Packets in a link's ring each way, 2^9, and bytes for each: a little more than a frame has. The
// defaults, 2^10 and 2048, make the rings larger than what is cached near a core.
#define MEMIF_RING "rsize=9,bsize=1152"

// A worker without progress gives up, and says what it waits for, before the demo does.
#define STALL_WARNING_MS 2000
#define HARD_LIMIT_MS    15000

// Packets of ATP that a worker has in flight: at first as in its paper, and at most what the rings
// of all links can hold.
#define WINDOW     200
#define WINDOW_MAX 384

// Aggregators of the first pipe that has some: those of others would cost the packets of all ports
// a way there.
#define INDICES 16384

// ---- names --------------------------------------------------------------------------------------

unsigned fabric_links(const struct fabric *f) {
    return (f->workers + f->servers) * f->lanes;
}

unsigned fabric_rack_of(const struct fabric *f, unsigned worker) {
    return worker * f->racks / f->workers;
}

unsigned fabric_above(const struct fabric *f, unsigned rack) {
    const unsigned lowest = f->racks - f->levels; // the last of the lowest level

    return rack <= lowest ? lowest + 1 : rack + 1;
}

struct fabric_address fabric_address(const struct fabric *f, unsigned link) {
    unsigned station = link / f->lanes;
    bool server = station >= f->workers;
    struct fabric_address a = {
        .station = server ? station - f->workers : station,
        .lane = link % f->lanes,
        .rack = server ? f->racks - 1 : fabric_rack_of(f, station),
        .port = f->first_port + link,
        .server = server,
    };
    const char *kind = server ? "server" : "worker";
    const char *job = !f->shared ? "" : f->protocol == SILKEN_ATP ? "ATP " : "SwitchML ";

    snprintf(a.name, sizeof a.name, "%s%s %u lane %u", job, kind, a.station, a.lane);
    snprintf(a.mac, sizeof a.mac, "02:00:00:00:01:%02x", a.port & 0xff);
    snprintf(a.ip, sizeof a.ip, "10.0.0.%u", a.port & 0xff);
    snprintf(a.socket, sizeof a.socket, "%s/port-%u.sock", f->folder, a.port);
    snprintf(a.switch_end, sizeof a.switch_end, "port%u", a.port & 0xffff);
    snprintf(a.station_end, sizeof a.station_end, "link%u", a.port & 0xffff);
    return a;
}

struct fabric_group fabric_group(unsigned lane) {
    struct fabric_group g;

    snprintf(g.mac, sizeof g.mac, "01:00:5e:00:01:%02x", lane & 0xff);
    snprintf(g.ip, sizeof g.ip, "239.0.1.%u", lane & 0xff);
    return g;
}

struct fabric_group fabric_switch(unsigned rack) {
    struct fabric_group g;

    snprintf(g.mac, sizeof g.mac, "02:00:00:00:00:%02x", (0xfe - rack) & 0xff);
    snprintf(g.ip, sizeof g.ip, "10.0.1.%u", (254 - rack) & 0xff);
    return g;
}

void fabric_uplink(const struct fabric *f, unsigned rack, char socket[256]) {
    snprintf(socket, 256, "%s/rack-%u.sock", f->folder, rack);
}

void fabric_uplink_end(unsigned rack, char name[16]) {
    snprintf(name, 16, "rack%u", rack & 0xffff);
}

static bool fabric_exists(const char *path) {
    struct stat st;

    return stat(path, &st) == 0;
}

// A switch makes a socket for each port, in order, and those of the links to the racks below.
bool fabric_ready(const struct fabric *f, unsigned rack) {
    char uplink[256];

    for (unsigned link = 0; link < fabric_links(f); link++) {
        struct fabric_address a = fabric_address(f, link);
        if (a.rack == rack && !fabric_exists(a.socket)) {
            return false;
        }
    }
    for (unsigned other = 0; other < rack; other++) {
        fabric_uplink(f, other, uplink);
        if (fabric_above(f, other) == rack && !fabric_exists(uplink)) {
            return false;
        }
    }
    return true;
}

static void fabric_device_of(const struct fabric *f, const struct fabric_address *a,
                             char device[512]) {
    const char *roce = f->rdma ? "roce:" : "";

    if (f->veth) {
        snprintf(device, 512, "%safpacket:%s", roce, a->station_end);
        return;
    }
    snprintf(device, 512,
             "%sdpdk:net_memif%u,role=client,id=0," MEMIF_RING ",socket-abstract=no,socket=%s",
             roce, a->lane, a->socket);
}

// ---- the all-reduce of a worker -----------------------------------------------------------------

struct station {
    struct silken_comm *comm;
    unsigned buckets;
};

// As frameworks do it: the gradient in buckets. SwitchML, whose lanes share every tensor, needs
// one; ATP as many as there are lanes, each of which gets whole tensors.
static int fabric_sum(void *self, float *tensor, size_t n, char *error, size_t error_size) {
    const struct station *station = self;
    struct silken_request *request[DEMO_MAX_LANES];
    unsigned begun = 0;
    int rc = 0;

    for (unsigned i = 0; i < station->buckets && rc == 0; i++) {
        size_t from = n * i / station->buckets, to = n * (i + 1) / station->buckets;
        rc = silken_submit_f32(station->comm, tensor + from, tensor + from, to - from, &request[i]);
        begun += rc == 0;
    }
    for (unsigned i = 0; i < begun; i++) {
        int ended = silken_wait(request[i]);
        rc = rc ? rc : ended;
    }
    if (rc) {
        snprintf(error, error_size, "the all-reduce failed: %s", silken_strerror(rc));
    }
    return rc ? -1 : 0;
}

static void fabric_counts(void *self, struct reduce_counts *out) {
    const struct station *station = self;
    struct silken_stats s;

    silken_stats(station->comm, &s);
    *out =
        (struct reduce_counts){s.packets_sent, s.answers, s.retransmissions, s.losses, s.timeouts};
}

// What a station's configuration points to.
struct description {
    struct fabric_address own[DEMO_MAX_LANES], server[DEMO_MAX_LANES * DEMO_MAX_SERVERS];
    struct fabric_group group[DEMO_MAX_LANES];
    char device[DEMO_MAX_LANES][512];
    struct silken_lane lane[DEMO_MAX_LANES];
    struct silken_server_lane server_lane[DEMO_MAX_LANES];
    struct silken_address servers[DEMO_MAX_LANES * DEMO_MAX_SERVERS], groups[DEMO_MAX_LANES];
    uint32_t rack[DEMO_MAX_WORKERS], server_rack[DEMO_MAX_SERVERS];
    struct fabric_group fabric; // the switch's address
};

static void fabric_describe(const struct fabric *f, unsigned station, struct description *d) {
    d->fabric = fabric_switch(fabric_address(f, station * f->lanes).rack);
    for (unsigned i = 0; i < f->lanes; i++) {
        const struct fabric_address own = fabric_address(f, station * f->lanes + i);
        fabric_device_of(f, &own, d->device[i]);
        d->own[i] = own;
        d->lane[i] = (struct silken_lane){
            .worker_mac = d->own[i].mac,
            .worker_ip = d->own[i].ip,
            .worker_port = FABRIC_UDP_PORT,
            .device = d->device[i],
            .cpu = -1,
        };
        d->group[i] = fabric_group(i);
        d->groups[i] = (struct silken_address){d->group[i].mac, d->group[i].ip};
        d->server_lane[i] = (struct silken_server_lane){
            .address = {d->own[i].mac, d->own[i].ip},
            .group = d->groups[i],
            .device = d->device[i],
            .cpu = -1,
        };
        for (unsigned s = 0; s < f->servers; s++) {
            unsigned flow = i * f->servers + s;
            d->server[flow] = fabric_address(f, (f->workers + s) * f->lanes + i);
            d->servers[flow] = (struct silken_address){d->server[flow].mac, d->server[flow].ip};
        }
    }
    for (unsigned w = 0; w < f->workers; w++) {
        d->rack[w] = fabric_rack_of(f, w);
    }
    for (unsigned s = 0; s < f->servers; s++) {
        d->server_rack[s] = f->racks - 1;
    }
}

static void open_options(const struct fabric *f, unsigned rank, const struct description *d,
                         struct silken_config *config) {
    silken_config_init(config);
    config->protocol = f->protocol;
    config->rank = rank;
    config->workers = f->workers;
    config->job = FABRIC_JOB;
    config->pool_size = FABRIC_POOL;
    config->k = (uint16_t)f->elements;
    config->f16 = f->f16;
    config->rdma.pairs = FABRIC_PAIRS;
    config->rdma.own = FABRIC_QUEUE_PAIR;
    config->rdma.queue_pair = 64 * d->own[0].port; // its replication id
    config->rdma.rkey = FABRIC_RKEY;
    config->switch_port = FABRIC_UDP_PORT;
    config->switch_mac = d->fabric.mac;
    config->switch_ip = d->fabric.ip;
    config->rto_min_us = f->loss > 0 ? RTO_MIN_LOSS_US : RTO_MIN_US;
    config->rto_max_us = f->loss > 0 ? RTO_MAX_LOSS_US : RTO_MAX_US;
    config->rto_initial_us = config->rto_max_us;
    config->stall_warning_ms = STALL_WARNING_MS;
    config->hard_limit_ms = HARD_LIMIT_MS;
    config->lanes = f->lanes;
    config->lane = d->lane;
    config->no_session = f->protocol == SILKEN_SWITCHML && f->racks > 1;
    config->atp.servers = f->servers;
    config->atp.server = d->servers;
    config->atp.group = d->groups;
    config->atp.server_rack = d->server_rack;
    config->atp.rack = d->rack;
    config->atp.indices = INDICES;
    config->atp.window = WINDOW / (f->servers ? f->servers : 1);
    config->atp.window_max = WINDOW_MAX / (f->servers ? f->servers : 1);
}

int fabric_open(const struct fabric *f, unsigned rank, struct reducer *r, char *error,
                size_t error_size) {
    struct station *station = calloc(1, sizeof *station);
    struct silken_config config;
    struct description d;

    if (!station) {
        snprintf(error, error_size, "out of memory");
        return -1;
    }
    fabric_describe(f, rank, &d);
    open_options(f, rank, &d, &config);
    if (silken_open(&station->comm, &config, error, error_size)) {
        free(station);
        return -1;
    }
    station->buckets = f->protocol == SILKEN_ATP ? f->lanes : 1;
    *r = (struct reducer){.self = station,
                          .block =
                              f->rdma ? f->elements * (FABRIC_POOL / FABRIC_PAIRS) : f->elements,
                          .halves = f->f16,
                          .sum = fabric_sum,
                          .counts = fabric_counts};
    r->scale = f->protocol == SILKEN_ATP ? ATP_SCALE : 0;
    return 0;
}

void fabric_close(struct reducer *r) {
    struct station *station = r->self;

    silken_close(station->comm);
    free(station);
}

// ---- a parameter server -------------------------------------------------------------------------

int fabric_serve(const struct fabric *f, unsigned number, struct silken_server **server,
                 char *error, size_t error_size) {
    struct silken_server_config config;
    struct description d;

    fabric_describe(f, f->workers + number, &d);
    silken_server_config_init(&config);
    config.job = FABRIC_JOB;
    config.workers = f->workers;
    config.rack = d.rack;
    config.server_rack = d.server_rack[number];
    config.servers = f->servers;
    config.number = number;
    config.indices = INDICES;
    config.window_max = WINDOW_MAX / f->servers;
    config.lanes = f->lanes;
    config.lane = d.server_lane;
    config.switch_mac = d.fabric.mac;
    config.switch_ip = d.fabric.ip;
    config.first = d.servers[0];
    return silken_server_open(server, &config, error, error_size) ? -1 : 0;
}
