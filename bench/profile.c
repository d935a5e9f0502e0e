// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "bench/atp_hosts.h"
#include "bench/dlcp_hosts.h"
#include "bench/atp_rack.h"
#include "bench/bench.h"
#include "bench/libra_rack.h"
#include "bench/loop.h"
#include "bench/rack.h"

// By name, so that callgrind can count what is inside of it and nothing else.
__attribute__((noinline)) void profile_repeat(uint64_t (*work)(void *aux, uint64_t times),
                                              void *aux, double seconds);
void profile_repeat(uint64_t (*work)(void *aux, uint64_t times), void *aux, double seconds) {
    uint64_t packets = work(aux, 2);
    const double from = bench_cpu_ns();
    double spent = 0;
    while (spent < seconds * 1e9) {
        packets += work(aux, 8);
        spent = bench_cpu_ns() - from;
    }
    printf("%llu packets, %.1f ns each\n", (unsigned long long)packets,
           spent / (double)(packets > 0 ? packets : 1));
}

// The work, and what it was made of.
static void profile_switch(struct sk_switch *sw, uint64_t (*work)(void *aux, uint64_t times),
                           void *aux, double seconds) {
    struct sk_switch_stats before, after;
    sk_switch_stats(sw, &before);
    profile_repeat(work, aux, seconds);
    sk_switch_stats(sw, &after);
    const double n = (double)(after.rx_packets - before.rx_packets);
    const double again = (double)(after.recirculated - before.recirculated +
                                  (after.resubmitted - before.resubmitted));
    printf("per packet received: %.2f passes of ingress, %.2f copies, %.2f sent\n", 1 + again / n,
           (double)(after.copies - before.copies) / n,
           (double)(after.tx_packets - before.tx_packets) / n);
}

bool bench_profile(const char *key, double seconds) {
    if (strcmp(key, "forward64") == 0) {
        struct loop *l = loop_new(bench_pin());
        profile_repeat(loop_work, l, seconds);
        loop_free(l);
        return true;
    }
    if (strcmp(key, "atp") == 0) {
        struct atp_rack *r = atp_rack_new();
        profile_switch(r->rig.sw, atp_rack_work, r, seconds);
        printf("%.1f ns each without laying out the frames, in the last rounds\n",
               atp_rack_took(r));
        atp_rack_free(r);
        return true;
    }
    if (strcmp(key, "roce") == 0) {
        struct rack *r = rack_new_roce(256, false);
        profile_switch(r->sw, rack_work, r, seconds);
        printf("%.1f ns each without laying out the frames, in the last rounds\n", rack_took(r));
        rack_free(r);
        return true;
    }
    if (strcmp(key, "libra") == 0 || strcmp(key, "libra_integer") == 0) {
        struct libra_rack *r = libra_rack_new(strcmp(key, "libra") == 0);
        profile_switch(r->rig.sw, libra_rack_work, r, seconds);
        printf("%.1f ns each without laying out the frames, in the last rounds\n",
               libra_rack_took(r));
        libra_rack_free(r);
        return true;
    }
    if (strcmp(key, "atp_worker") == 0) {
        struct atp_bench_worker *w = atp_bench_worker_new();
        profile_repeat(atp_bench_worker_work, w, seconds);
        atp_bench_worker_free(w);
        return true;
    }
    if (strcmp(key, "atp_server") == 0) {
        struct atp_bench_server *s = atp_bench_server_new(1);
        profile_repeat(atp_bench_server_work, s, seconds);
        atp_bench_server_free(s);
        return true;
    }
    if (strcmp(key, "dlcp_worker") == 0) {
        struct dlcp_bench_worker *w = dlcp_bench_worker_new();
        profile_repeat(dlcp_bench_worker_work, w, seconds);
        dlcp_bench_worker_free(w);
        return true;
    }
    if (strcmp(key, "dlcp_server") == 0) {
        struct dlcp_bench_server *s = dlcp_bench_server_new();
        profile_repeat(dlcp_bench_server_work, s, seconds);
        dlcp_bench_server_free(s);
        return true;
    }
    const bool large = strcmp(key, "switchml256") == 0;
    if (!large && strcmp(key, "switchml64") != 0)
        return false;
    struct rack *r = rack_new(large ? 256 : 64, false);
    profile_switch(r->sw, rack_work, r, seconds);
    printf("%.1f ns each without laying out the frames, in the last rounds\n", rack_took(r));
    rack_free(r);
    return true;
}
