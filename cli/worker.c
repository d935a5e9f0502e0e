// SPDX-License-Identifier: Apache-2.0
//
// silken worker: one worker of a SwitchML job, with made-up tensors: shows that a switch and its
// links work, and how fast they are. The library is hosts/allreduce.h.
#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "hosts/allreduce.h"
#include "hosts/clock.h"

static const char usage[] =
    "usage: silken worker [OPTION]... --rank N --workers N --device DEVICE --mac MAC --ip IP...\n\n"
    "Is one worker of a SwitchML job: sums made-up tensors with the other workers, through the\n"
    "switch, checks every element and says how long it took. All workers have the same options "
    "but\n"
    "for rank, devices and addresses.\n\n"
    "  --rank N            this worker's number, from 0\n"
    "  --workers N         workers of the job\n"
    "  --device DEVICE     how to reach the switch: a DPDK device such as\n"
    "                      net_memif0,role=client,id=0,socket=/run/w0.sock, or "
    "afpacket:INTERFACE.\n"
    "                      Each further one begins another lane, with its own thread, part of the\n"
    "                      tensor and part of the pool; --mac, --ip and --cpu belong to the "
    "device\n"
    "                      before them\n"
    "  --mac MAC --ip IP   the worker's addresses on that device\n"
    "  --cpu N             processor of that lane's thread (any)\n"
    "  --port N            the worker's UDP port, 0xbee0 to 0xbeef (0xbee0)\n"
    "  --switch-mac MAC    (02:00:00:00:00:fe)\n"
    "  --switch-ip IP      (10.0.0.254)\n"
    "  --job N             the job's number (1)\n"
    "  --pool N            slots of the job, that is packets in flight (128)\n"
    "  --packet N          elements in a packet: 32, 64, 128 or 256 (256)\n"
    "  --elements N        elements of a tensor (25000000)\n"
    "  --type f32|i32      their type (f32)\n"
    "  --rounds N          tensors to sum (5)\n"
    "  --rto-min US, --rto-max US   bounds of the retransmission timeout\n"
    "  --limit MS          without progress for so long the job is over (30000)\n";

enum {
    RANK = 256,
    WORKERS,
    DEVICE,
    MAC,
    IP,
    CPU,
    PORT,
    SWITCH_MAC,
    SWITCH_IP,
    JOB,
    POOL,
    PACKET,
    ELEMENTS,
    TYPE,
    ROUNDS,
    RTO_MIN,
    RTO_MAX,
    LIMIT
};

static const struct option options[] = {
    {"help", no_argument, NULL, 'h'},
    {"rank", required_argument, NULL, RANK},
    {"workers", required_argument, NULL, WORKERS},
    {"device", required_argument, NULL, DEVICE},
    {"mac", required_argument, NULL, MAC},
    {"ip", required_argument, NULL, IP},
    {"cpu", required_argument, NULL, CPU},
    {"port", required_argument, NULL, PORT},
    {"switch-mac", required_argument, NULL, SWITCH_MAC},
    {"switch-ip", required_argument, NULL, SWITCH_IP},
    {"job", required_argument, NULL, JOB},
    {"pool", required_argument, NULL, POOL},
    {"packet", required_argument, NULL, PACKET},
    {"elements", required_argument, NULL, ELEMENTS},
    {"type", required_argument, NULL, TYPE},
    {"rounds", required_argument, NULL, ROUNDS},
    {"rto-min", required_argument, NULL, RTO_MIN},
    {"rto-max", required_argument, NULL, RTO_MAX},
    {"limit", required_argument, NULL, LIMIT},
    {NULL, 0, NULL, 0},
};

struct work {
    struct silken_config config;
    struct silken_lane lane[SILKEN_MAX_LANES];
    struct silken_comm *comm;
    bool integers;
    uint64_t elements, rounds;
    void *tensor;
};

// ---- options ------------------------------------------------------------------------------------

static bool number(const char *text, uint64_t max, uint64_t *out) {
    char *end;

    errno = 0;
    *out = strtoull(text, &end, 0);
    return text[0] >= '0' && text[0] <= '9' && !*end && !errno && *out <= max;
}

// An option of a lane.
static int take_lane_option(struct work *w, int option, char *value) {
    struct silken_lane *lane = &w->lane[w->config.lanes ? w->config.lanes - 1 : 0];
    uint64_t n;

    if (option == DEVICE) {
        if (w->config.lanes == SILKEN_MAX_LANES) {
            return cli_misused("worker", "there can be %d devices", SILKEN_MAX_LANES);
        }
        w->lane[w->config.lanes++] = (struct silken_lane){.device = value, .cpu = -1};
        return 0;
    }
    if (w->config.lanes == 0) {
        return cli_misused("worker", "--mac, --ip and --cpu belong behind a --device");
    }
    if (option == CPU) {
        if (!number(value, 1023, &n)) {
            return cli_misused("worker", "'%s' is no processor", value);
        }
        lane->cpu = (int)n;
    } else {
        *(option == MAC ? &lane->worker_mac : &lane->worker_ip) = value;
    }
    return 0;
}

static int take_number(struct work *w, int option, const char *value) {
    static const uint64_t largest[] = {
        [RANK - RANK] = 254,         [WORKERS - RANK] = 255,       [PORT - RANK] = 65535,
        [JOB - RANK] = 255,          [POOL - RANK] = 16384,        [PACKET - RANK] = 256,
        [ELEMENTS - RANK] = 1 << 30, [ROUNDS - RANK] = 1000000000, [RTO_MIN - RANK] = 60000000,
        [RTO_MAX - RANK] = 60000000, [LIMIT - RANK] = 86400000,
    };
    struct silken_config *c = &w->config;
    uint64_t n;

    if (!number(value, largest[option - RANK], &n)) {
        return cli_misused("worker", "'%s' is no number from 0 to %llu", value,
                           (unsigned long long)largest[option - RANK]);
    }
    switch (option) {
    case RANK:
        c->rank = (uint32_t)n;
        break;
    case WORKERS:
        c->workers = (uint32_t)n;
        break;
    case PORT:
        c->worker_port = (uint16_t)n;
        break;
    case JOB:
        c->job = (uint8_t)n;
        break;
    case POOL:
        c->pool_size = (uint32_t)n;
        break;
    case PACKET:
        c->k = (uint16_t)n;
        break;
    case ELEMENTS:
        w->elements = n;
        break;
    case ROUNDS:
        w->rounds = n;
        break;
    case RTO_MIN:
        c->rto_min_us = (uint32_t)n;
        break;
    case RTO_MAX:
        c->rto_max_us = (uint32_t)n;
        break;
    default:
        c->hard_limit_ms = (uint32_t)n;
    }
    return 0;
}

static int take_option(struct work *w, int option, char *value) {
    switch (option) {
    case DEVICE:
    case MAC:
    case IP:
    case CPU:
        return take_lane_option(w, option, value);
    case SWITCH_MAC:
        w->config.switch_mac = value;
        return 0;
    case SWITCH_IP:
        w->config.switch_ip = value;
        return 0;
    case TYPE:
        w->integers = strcmp(value, "i32") == 0;
        return w->integers || strcmp(value, "f32") == 0
                   ? 0
                   : cli_misused("worker", "--type is f32 or i32, not '%s'", value);
    default:
        return take_number(w, option, value);
    }
}

static int take_options(struct work *w, int argc, char **argv) {
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
        int status = c == '?' || c == ':' ? cli_bad_option("worker", c, argv)
                     : c == 'h'           ? -1
                                          : take_option(w, c, optarg);
        if (status) {
            return status;
        }
    }
    if (optind != argc) {
        return cli_misused("worker", "there is nothing to do with '%s'", argv[optind]);
    }
    if (w->config.lanes == 0 || w->config.workers == 0) {
        return cli_misused("worker", "--workers and at least one --device are needed");
    }
    if (w->config.rto_min_us > w->config.rto_max_us) {
        return cli_misused("worker", "--rto-min is above --rto-max");
    }
    return 0;
}

// ---- tensors whose sums are known ---------------------------------------------------------------

// Element i of worker 'rank': 17 bits, so that as a float, times a power of two, neither it nor the
// sum of 255 of them is rounded anywhere.
static int32_t value_of(uint32_t rank, uint64_t i, uint64_t round) {
    uint32_t x = (uint32_t)i * 2654435761u + rank * 40503u + (uint32_t)round * 97u;

    return (int32_t)(x >> 15) - 65536;
}

#define SCALE 0x1p-16f

static void fill(struct work *w, uint64_t round) {
    float *f = w->tensor;
    int32_t *n = w->tensor;

    for (uint64_t i = 0; i < w->elements; i++) {
        int32_t v = value_of(w->config.rank, i, round);
        if (w->integers) {
            n[i] = v;
        } else {
            f[i] = (float)v * SCALE;
        }
    }
}

static int check(const struct work *w, uint64_t round) {
    const float *f = w->tensor;
    const int32_t *n = w->tensor;

    for (uint64_t i = 0; i < w->elements; i++) {
        double sum = 0, got = w->integers ? n[i] : (double)f[i] / SCALE;
        for (uint32_t rank = 0; rank < w->config.workers; rank++) {
            sum += value_of(rank, i, round);
        }
        if (got != sum) {
            fprintf(stderr, "silken worker: round %llu, element %llu is %.9g, not %.9g\n",
                    (unsigned long long)round, (unsigned long long)i, got, sum);
            return EXIT_FAILED;
        }
    }
    return EXIT_GOOD;
}

// ---- working ------------------------------------------------------------------------------------

static int reduce(const struct work *w, void *values, uint64_t n) {
    int rc = w->integers ? silken_allreduce_i32(w->comm, values, values, n)
                         : silken_allreduce_f32(w->comm, values, values, n);

    if (rc) {
        fprintf(stderr, "silken worker: the all-reduce failed: %s\n", silken_strerror(rc));
    }
    return rc ? EXIT_FAILED : EXIT_GOOD;
}

// Processor time of all threads so far.
static double cpu_seconds(void) {
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

// The time is taken from when all workers are there, which the sum of one element tells.
static int one_round(struct work *w, uint64_t round) {
    int32_t one = 0;
    uint64_t began, ns;
    double cpu;

    fill(w, round);
    if (reduce(w, &one, 1)) {
        return EXIT_FAILED;
    }
    cpu = cpu_seconds();
    began = sk_clock_now();
    if (reduce(w, w->tensor, w->elements)) {
        return EXIT_FAILED;
    }
    ns = sk_clock_now() - began;
    printf("round %llu: %.6f s, %.2f Gbit/s of tensor, %.6f s of processors\n",
           (unsigned long long)round, (double)ns / 1e9,
           (double)w->elements * 32 / (double)(ns ? ns : 1), cpu_seconds() - cpu);
    return check(w, round);
}

static void print_end(const struct work *w) {
    struct silken_stats s;

    silken_stats(w->comm, &s);
    printf("%llu packets, %llu of them again, %llu answers, round trip %.0f us\n",
           (unsigned long long)s.packets_sent, (unsigned long long)s.retransmissions,
           (unsigned long long)s.answers, (double)s.rtt_ns / 1e3);
}

static int work(struct work *w) {
    char why[512];
    int status = EXIT_GOOD;

    w->tensor = calloc(w->elements ? w->elements : 1, 4);
    if (!w->tensor) {
        fprintf(stderr, "silken worker: not enough memory for the tensor\n");
        return EXIT_UNUSABLE;
    }
    if (silken_open(&w->comm, &w->config, why, sizeof why)) {
        fprintf(stderr, "silken worker: %s\n", why);
        free(w->tensor);
        return EXIT_UNUSABLE;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (uint64_t round = 0; round < w->rounds && !status; round++) {
        status = one_round(w, round);
    }
    print_end(w);
    silken_close(w->comm);
    free(w->tensor);
    return status;
}

int cmd_worker(int argc, char **argv) {
    static struct work w = {.elements = 25000000, .rounds = 5};
    int status;

    silken_config_init(&w.config);
    w.config.job = 1;
    w.config.switch_mac = "02:00:00:00:00:fe";
    w.config.switch_ip = "10.0.0.254";
    w.config.lane = w.lane;
    status = take_options(&w, argc, argv);
    if (status < 0) {
        fputs(usage, stdout);
        return EXIT_GOOD;
    }
    for (uint32_t i = 0; i < w.config.lanes; i++) {
        w.lane[i].worker_port = w.config.worker_port;
    }
    return status ? status : work(&w);
}
