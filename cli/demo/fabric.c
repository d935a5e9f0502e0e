// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/fabric.h"

#include "hosts/allreduce.h"

#include <stdio.h>
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

struct fabric_address fabric_address(const struct fabric *f, unsigned link) {
    struct fabric_address a = {link / f->lanes, link % f->lanes, link + 1, "", "", ""};

    snprintf(a.mac, sizeof a.mac, "02:00:00:00:01:%02x", a.port & 0xff);
    snprintf(a.ip, sizeof a.ip, "10.0.0.%u", a.port & 0xff);
    snprintf(a.socket, sizeof a.socket, "%s/worker-%u-%u.sock", f->folder, a.rank, a.lane);
    return a;
}

// The switch makes a socket for each port, in order.
bool fabric_ready(const struct fabric *f) {
    for (unsigned link = 0; link < f->workers * f->lanes; link++) {
        struct fabric_address a = fabric_address(f, link);
        struct stat st;
        if (stat(a.socket, &st)) {
            return false;
        }
    }
    return true;
}

// ---- the all-reduce of a worker -----------------------------------------------------------------

static int sum(void *self, float *tensor, size_t n, char *error, size_t error_size) {
    int rc = silken_allreduce_f32(self, tensor, tensor, n);

    if (rc) {
        snprintf(error, error_size, "the all-reduce failed: %s", silken_strerror(rc));
    }
    return rc ? -1 : 0;
}

static void counts(void *self, struct reduce_counts *out) {
    struct silken_stats s;

    silken_stats(self, &s);
    *out = (struct reduce_counts){s.packets_sent, s.answers, s.retransmissions};
}

static void open_options(const struct fabric *f, unsigned rank, struct silken_config *config) {
    silken_config_init(config);
    config->rank = rank;
    config->workers = f->workers;
    config->job = FABRIC_JOB;
    config->pool_size = FABRIC_POOL;
    config->k = (uint16_t)f->elements;
    config->switch_port = FABRIC_UDP_PORT;
    config->switch_mac = FABRIC_SWITCH_MAC;
    config->switch_ip = FABRIC_SWITCH_IP;
    config->rto_min_us = f->loss > 0 ? RTO_MIN_LOSS_US : RTO_MIN_US;
    config->rto_max_us = f->loss > 0 ? RTO_MAX_LOSS_US : RTO_MAX_US;
    config->rto_initial_us = config->rto_max_us;
    config->stall_warning_ms = STALL_WARNING_MS;
    config->hard_limit_ms = HARD_LIMIT_MS;
}

int fabric_open(const struct fabric *f, unsigned rank, struct reducer *r, char *error,
                size_t error_size) {
    struct fabric_address address[SILKEN_MAX_LANES];
    struct silken_lane lane[SILKEN_MAX_LANES];
    char device[SILKEN_MAX_LANES][512];
    struct silken_config config;
    struct silken_comm *comm;

    open_options(f, rank, &config);
    for (unsigned i = 0; i < f->lanes; i++) {
        address[i] = fabric_address(f, rank * f->lanes + i);
        snprintf(device[i], sizeof device[i],
                 "dpdk:net_memif%u,role=client,id=0," MEMIF_RING ",socket-abstract=no,socket=%s", i,
                 address[i].socket);
        lane[i] = (struct silken_lane){
            .worker_mac = address[i].mac,
            .worker_ip = address[i].ip,
            .worker_port = FABRIC_UDP_PORT,
            .device = device[i],
            .cpu = -1,
        };
    }
    config.lanes = f->lanes;
    config.lane = lane;
    if (silken_open(&comm, &config, error, error_size)) {
        return -1;
    }
    *r = (struct reducer){.self = comm, .block = f->elements, .sum = sum, .counts = counts};
    return 0;
}

void fabric_close(struct reducer *r) {
    silken_close(r->self);
}
