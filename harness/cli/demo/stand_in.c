// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/demo/stand_in.h"

#include "hosts/dpdk/dpdk.h"
#include "hosts/transport/transport.h"
#include "session/frame.h"
#include "session/gather.h"

#include <jansson.h>
#include <rte_eal.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WORKERS    16
#define SLOTS      256
#define FRAME      1100
#define MS         UINT64_C(1000000)
#define TROUBLE_AT 3000 // packets, for the kinds of trouble that come later

// Where things are in a frame (hosts/switchml/frame.h).
#define MAC_DST  0
#define MAC_SRC  6
#define IP_SRC   26
#define IP_DST   30
#define UDP_SRC  34
#define UDP_DST  36
#define UDP_SUM  40
#define INDEX    48
#define EXPONENT 50
#define ELEMENTS 52

struct slot {
    uint32_t seen; // workers
    int8_t exponent;
    uint8_t frame[WORKERS][FRAME]; // each worker's last one
    uint32_t sum[(FRAME - ELEMENTS) / 4];
};

struct stand_in {
    const char *mood;
    unsigned workers;
    struct sk_transport *port[WORKERS];
    struct slot slot[2][SLOTS];
    uint64_t packets, sums;
    struct session_end self;
    struct gather *gather;
};

static bool is(const struct stand_in *x, const char *mood) {
    return strcmp(x->mood, mood) == 0;
}

_Noreturn static void give_up(const char *why) {
    fprintf(stderr, "%s\n", why);
    exit(3);
}

// ---- ports --------------------------------------------------------------------------------------

static void start_dpdk(void) {
    char *args[] = {"stand-in",
                    "--no-huge",
                    "-m",
                    "512",
                    "--no-shconf",
                    "--no-pci",
                    "--no-telemetry",
                    "--iova-mode=va",
                    "--log-level=critical",
                    NULL};

    if (rte_eal_init((int)(sizeof args / sizeof *args) - 1, args) < 0) {
        give_up("DPDK cannot be started");
    }
}

static void begin_sessions(struct stand_in *x, const json_t *config) {
    const struct gather_config gather = {
        .protocol = SESSION_SWITCHML, .workers = x->workers, .lanes = 1, .slots = SLOTS};
    const char *mac = json_string_value(json_object_get(config, "mac")),
               *ip = json_string_value(json_object_get(config, "ip"));
    unsigned b[10];

    if (!mac || !ip ||
        sscanf(mac, "%x:%x:%x:%x:%x:%x", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5]) != 6 ||
        sscanf(ip, "%u.%u.%u.%u", &b[6], &b[7], &b[8], &b[9]) != 4) {
        give_up("the configuration has no sessions");
    }
    for (unsigned i = 0; i < 6; i++) {
        x->self.mac[i] = (uint8_t)b[i];
    }
    x->self.ip = b[6] << 24 | b[7] << 16 | b[8] << 8 | b[9];
    x->gather = gather_new(&gather);
}

static void open_ports(struct stand_in *x, const char *config) {
    json_t *root = json_load_file(config, 0, NULL), *port;
    char why[256] = "the configuration cannot be read";
    size_t i;

    json_array_foreach(json_object_get(root, "ports"), i, port) {
        const char *device = json_string_value(json_object_get(port, "device"));
        if (sk_transport_dpdk_open(&x->port[i], device, -1, why, sizeof why)) {
            give_up(why);
        }
        x->workers++;
    }
    if (x->workers == 0) {
        give_up(why);
    }
    begin_sessions(x, json_object_get(root, "sessions"));
    json_decref(root);
}

// ---- adding up ----------------------------------------------------------------------------------

static uint32_t load(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void store(uint8_t *p, uint32_t v) {
    for (int i = 0; i < 4; i++) {
        p[i] = (uint8_t)(v >> (24 - 8 * i));
    }
}

static void swap(uint8_t *a, uint8_t *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint8_t kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

// The answer is the worker's own frame, turned round.
static void answer(struct stand_in *x, struct slot *s, unsigned worker, size_t len) {
    uint8_t f[FRAME];
    struct sk_frame frame = {f, (uint32_t)len};

    memcpy(f, s->frame[worker], len);
    swap(f + MAC_DST, f + MAC_SRC, 6);
    swap(f + IP_SRC, f + IP_DST, 4);
    swap(f + UDP_SRC, f + UDP_DST, 2);
    memset(f + UDP_SUM, 0, 2);
    f[EXPONENT] = (uint8_t)s->exponent;
    for (size_t i = 0; ELEMENTS + 4 * i < len; i++) {
        store(f + ELEMENTS + 4 * i, s->sum[i]);
    }
    sk_transport_send(x->port[worker], &frame, 1);
}

static void answer_all(struct stand_in *x, struct slot *s, size_t len) {
    // Sums before this one are exponents only, where an error may go unnoticed.
    if (is(x, "lie") && ++x->sums == 1000) {
        s->sum[5] += 1 << 16;
    }
    for (unsigned w = 0; w < x->workers; w++) {
        if (s->seen >> w & 1) {
            answer(x, s, w, len);
        }
    }
}

static void add(struct slot *s, const uint8_t *f, size_t len) {
    int8_t exponent = (int8_t)f[EXPONENT];

    s->exponent = exponent > s->exponent ? exponent : s->exponent;
    for (size_t i = 0; ELEMENTS + 4 * i < len; i++) {
        s->sum[i] += load(f + ELEMENTS + 4 * i);
    }
}

static void deliver(struct stand_in *x, unsigned worker, const uint8_t *f, size_t len) {
    unsigned version = f[INDEX] >> 7, index = f[INDEX + 1]; // 256 slots are enough
    struct slot *s = &x->slot[version][index];
    uint32_t bit = UINT32_C(1) << worker, all = (UINT32_C(1) << x->workers) - 1;
    uint32_t due = all;

    if (is(x, "early") && x->packets > TROUBLE_AT) {
        due &= ~(UINT32_C(1) << (worker + 1) % x->workers);
    }
    memcpy(s->frame[worker], f, len);
    if (s->seen & bit) {
        if (s->seen == all) {
            answer(x, s, worker, len);
        }
        return;
    }
    if (s->seen == 0 || s->seen == all) {
        memset(s->sum, 0, sizeof s->sum);
        s->exponent = INT8_MIN;
        s->seen = 0;
    }
    s->seen |= bit;
    x->slot[!version][index].seen &= ~bit;
    add(s, f, len);
    if ((s->seen & due) == due) {
        answer_all(x, s, len);
    }
}

// ---- trouble ------------------------------------------------------------------------------------

// The demo's children; the last one started is a worker.
static pid_t last_sibling(void) {
    char path[64];
    int pid = 0, last = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)getppid(), (int)getppid());
    f = fopen(path, "r");
    while (f && fscanf(f, "%d", &pid) == 1) {
        last = pid;
    }
    if (f) {
        fclose(f);
    }
    return last;
}

static void make_trouble(const struct stand_in *x) {
    if (is(x, "die")) {
        signal(SIGSEGV, SIG_DFL);
        kill(getpid(), SIGSEGV);
    } else if (is(x, "murder")) {
        kill(last_sibling(), SIGKILL);
    } else if (is(x, "stop")) {
        kill(getppid(), SIGINT);
    }
}

// Whether the frame was about the job's session, which starts as soon as all are there.
static bool is_about_session(struct stand_in *x, unsigned worker, const uint8_t *f, size_t len) {
    struct session_message m, answers[GATHER_MAX_ANSWERS];
    struct session_end from;
    uint8_t out[SESSION_FRAME_BYTES];
    struct timespec now;

    if (!session_frame_read(f, len, &x->self, &from, &m)) {
        return false;
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    const uint64_t ns = (uint64_t)now.tv_sec * 1000 * MS + (uint64_t)now.tv_nsec;
    const unsigned n = gather_hear(x->gather, &m, ns, answers);
    if (gather_is_full(x->gather, ns)) {
        gather_start(x->gather, 1, 1);
    }
    for (unsigned i = 0; i < n; i++) {
        const size_t bytes = session_frame_write(out, &x->self, &from, &answers[i]);
        struct sk_frame frame = {out, (uint32_t)bytes};
        sk_transport_send(x->port[worker], &frame, 1);
    }
    return true;
}

static size_t serve(struct stand_in *x, unsigned worker) {
    struct sk_frame frames[SK_BURST];
    size_t n = sk_transport_recv(x->port[worker], frames, SK_BURST);

    for (size_t i = 0; i < n; i++) {
        if (!is(x, "deaf") && is_about_session(x, worker, frames[i].data, frames[i].len)) {
            continue;
        }
        if (frames[i].len > ELEMENTS && frames[i].len <= FRAME && !is(x, "deaf")) {
            deliver(x, worker, frames[i].data, frames[i].len);
        }
        if (++x->packets == TROUBLE_AT) {
            make_trouble(x);
        }
    }
    return n;
}

void stand_in_run(const char *config) {
    struct stand_in *x = calloc(1, sizeof *x);
    const char *mood = getenv("STAND_IN");

    if (!x) {
        give_up("out of memory");
    }
    x->mood = mood ? mood : "good";
    if (is(x, "fail")) {
        give_up(STAND_IN_COMPLAINT);
    }
    start_dpdk();
    open_ports(x, config);
    for (;;) {
        size_t n = 0;
        for (unsigned w = 0; w < x->workers; w++) {
            n += serve(x, w);
        }
        if (n == 0) {
            sk_transport_wait(x->port[0], MS / 10);
        }
    }
}
