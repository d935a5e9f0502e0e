// SPDX-License-Identifier: Apache-2.0
//
// A rank that reduces through a Silken switch: reduce_silken RANK SLOTS DEVICE [small]
#include "bench/allreduce/reduce.h"
#include "bench/rack.h"
#include "silken/allreduce.h"

static void sum(void *aux, float *in, float *out, size_t n) {
    int rc = silken_allreduce_f32(aux, in, out, n);
    if (rc) {
        fprintf(stderr, "the all-reduce failed: %s\n", silken_strerror(rc));
        exit(1);
    }
}

int main(int argc, char **argv) {
    char why[256], mac[32], ip[32];
    struct silken_config config;
    struct silken_comm *comm;
    if (argc < 4)
        return 2;
    int rank = atoi(argv[1]);
    snprintf(mac, sizeof mac, "02:00:00:00:00:%02x", (unsigned)rank & 0xff);
    snprintf(ip, sizeof ip, "10.0.0.%d", rank + 1);
    silken_config_init(&config);
    config.rank = (uint32_t)rank;
    config.workers = REDUCE_WORKERS;
    config.job = RACK_JOB;
    config.pool_size = (uint32_t)atoi(argv[2]);
    config.worker_mac = mac;
    config.worker_ip = ip;
    config.switch_mac = "02:00:00:00:00:fe";
    config.switch_ip = "10.0.0.254";
    config.device = argv[3];
    // five processes share what may be two processors, with others: an answer can take some time
    // slices, and a link of shared memory loses nothing
    config.rto_min_us = 100000;
    config.rto_max_us = 500000;
    config.rto_initial_us = 500000;
    if (silken_open(&comm, &config, why, sizeof why)) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    int rc = reduce_run(rank, sum, comm, argv[argc - 1]);
    struct silken_stats s;
    silken_stats(comm, &s);
    printf("packets %llu, sent again %llu\n", (unsigned long long)s.packets_sent,
           (unsigned long long)s.retransmissions);
    silken_close(comm);
    return rc;
}
