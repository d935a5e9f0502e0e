// SPDX-License-Identifier: Apache-2.0
#define ALLOW_EXPERIMENTAL_API // what of SWX is not
#include "bench/swx.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_swx_ctl.h>
#include <rte_swx_pipeline.h>

#include "bench/loop.h"

#define DEVICE       "net_ring_swx"
#define QUANTUM      1000u // instructions of a run, as DPDK's own example has it
#define POOL_FRAMES  2047u
#define RING_ENTRIES 512u

struct swx {
    struct rte_mempool *pool;
    struct rte_swx_pipeline *pipeline;
    struct rte_swx_ctl_pipeline *ctl;
};

static bool fail(char *why, size_t why_size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool fail(char *why, size_t why_size, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    vsnprintf(why, why_size, format, ap);
    va_end(ap);
    return false;
}

// ---- the device ----

static bool open_device(struct swx *s, char *why, size_t why_size) {
    uint16_t id;
    const struct rte_eth_conf conf = {0};
    s->pool = rte_pktmbuf_pool_create("swx", POOL_FRAMES, 128, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
                                      SOCKET_ID_ANY);
    if (!s->pool)
        return fail(why, why_size, "no memory for its packets");
    if (rte_dev_probe(DEVICE) || rte_eth_dev_get_port_by_name(DEVICE, &id) ||
        rte_eth_dev_configure(id, 1, 1, &conf) ||
        rte_eth_rx_queue_setup(id, 0, RING_ENTRIES, SOCKET_ID_ANY, NULL, s->pool) ||
        rte_eth_tx_queue_setup(id, 0, RING_ENTRIES, SOCKET_ID_ANY, NULL) || rte_eth_dev_start(id))
        return fail(why, why_size, "cannot open its ring device");
    return loop_fill(DEVICE, s->pool) || fail(why, why_size, "cannot fill its ring with frames");
}

// ---- the code ----

static bool generate(const char *c_path, char *why, size_t why_size) {
    uint32_t line = 0;
    const char *message = NULL;
    FILE *spec = fopen("bench/forward.spec", "r"), *code = fopen(c_path, "w");
    int rc = spec && code ? rte_swx_pipeline_codegen(spec, code, &line, &message) : -1;
    if (spec)
        fclose(spec);
    if (code)
        fclose(code);
    return rc == 0 || fail(why, why_size, "bench/forward.spec:%u: %s", line,
                           message ? message : "cannot generate code");
}

static bool compile(const char *folder, const char *c_path, const char *so_path, char *why,
                    size_t why_size) {
    char command[8192];
    // the shell splits pkg-config's answer; nothing here comes from outside
    snprintf(command, sizeof command,
             "cc -O3 -march=native -shared -fPIC -w -I%s/dpdk $(pkg-config --cflags libdpdk) -o %s "
             "%s",
             folder, so_path, c_path);
    int status = system(command);
    return status == 0 || fail(why, why_size,
                               "its generated code does not compile; is %s/dpdk "
                               "there? (bench/swx_headers.sh)",
                               folder);
}

// ---- the pipeline ----

static bool build(struct swx *s, const char *so_path, char *why, size_t why_size) {
    char io[] = "port in 0 ethdev " DEVICE " rxq 0 bsz 32\n"
                "port out 0 ethdev " DEVICE " txq 0 bsz 32\n";
    FILE *f = fmemopen(io, sizeof io - 1, "r");
    int rc = f ? rte_swx_pipeline_build_from_lib(&s->pipeline, "forward", so_path, f, 0) : -1;
    if (f)
        fclose(f);
    return rc == 0 || fail(why, why_size, "its pipeline cannot be built: %d", rc);
}

static bool add_entries(struct swx *s, char *why, size_t why_size) {
    s->ctl = rte_swx_ctl_pipeline_create(s->pipeline);
    if (!s->ctl)
        return fail(why, why_size, "its control plane cannot be made");
    for (unsigned i = 0; i < LOOP_ENTRIES; i++) {
        uint8_t m[6];
        char text[128];
        int blank;
        loop_address(i, m);
        snprintf(text, sizeof text, "match 0x%02x%02x%02x%02x%02x%02x action send port 0x0", m[0],
                 m[1], m[2], m[3], m[4], m[5]);
        struct rte_swx_table_entry *e =
            rte_swx_ctl_pipeline_table_entry_read(s->ctl, "forward", text, &blank);
        if (!e || rte_swx_ctl_pipeline_table_entry_add(s->ctl, "forward", e))
            return fail(why, why_size, "its table refuses entry %u", i);
    }
    return rte_swx_ctl_pipeline_commit(s->ctl, 1) == 0 ||
           fail(why, why_size, "its table refuses the entries");
}

static uint64_t received(const struct swx *s) {
    struct rte_swx_port_in_stats stats = {0};
    rte_swx_ctl_pipeline_port_in_stats_read(s->pipeline, 0, &stats);
    return stats.n_pkts;
}

// The table knows every frame.
static bool misses_none(const struct swx *s) {
    uint64_t per_action[2] = {0};
    struct rte_swx_table_stats stats = {.n_pkts_action = per_action};
    return rte_swx_ctl_pipeline_table_stats_read(s->pipeline, "forward", &stats) == 0 &&
           stats.n_pkts_hit > 0 && stats.n_pkts_miss == 0;
}

uint64_t swx_work(void *aux, uint64_t times) {
    struct swx *s = aux;
    const uint64_t before = received(s);
    uint64_t done = 0, last = 0, idle = 0;
    while (done < times * LOOP_FRAMES && idle < 1000) {
        rte_swx_pipeline_run(s->pipeline, QUANTUM);
        last = done;
        done = received(s) - before;
        idle = done == last ? idle + 1 : 0;
    }
    rte_swx_pipeline_flush(s->pipeline);
    return idle ? 0 : done;
}

struct swx *swx_new(const char *folder, char *why, size_t why_size) {
    char c_path[2048], so_path[2048];
    struct swx *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    snprintf(c_path, sizeof c_path, "%s/forward_swx.c", folder);
    snprintf(so_path, sizeof so_path, "%s/forward_swx.so", folder);
    if (generate(c_path, why, why_size) && compile(folder, c_path, so_path, why, why_size) &&
        open_device(s, why, why_size) && build(s, so_path, why, why_size) &&
        add_entries(s, why, why_size)) {
        if (swx_work(s, 2) > 0 && misses_none(s))
            return s;
        fail(why, why_size, "it does not forward every frame");
    }
    swx_free(s);
    return NULL;
}

void swx_free(struct swx *s) {
    if (!s)
        return;
    if (s->ctl)
        rte_swx_ctl_pipeline_free(s->ctl);
    rte_swx_pipeline_free(s->pipeline);
    free(s);
}
