// SPDX-License-Identifier: Apache-2.0
//
// replay: a capture of SwitchML packets, a gigabyte of them, through `silken replay`'s own function.
//
// The capture is made from the rack's packets, the same bytes each time, as eight workers with
// 100 Gb/s each would send them, and put where it stays in memory: /dev/shm, or else the bench's folder,
// which the page cache holds after it was written. It is removed at the end.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/rack.h"
#include "control/config.h"
#include "pcap/capture.h"
#include "pcap/replay.h"

#define BYTES    1000000000u
#define FIRST    UINT64_C(1700000000000000000) // time of the first packet, ns
#define GBPS     100u                          // of each worker
#define GAP      24u                           // bytes between frames on a wire
#define FEW      20000u // packets of a replay whose memory is taken for the start's
#define TRIAL_NS 5e8
#define FLAT_KIB 2048.0 // buffers of captures that are written, pages of the heap

struct rig {
    struct rack *rack;
    struct sk_config *config;
    char capture[4096];
    uint64_t packets;
};

static void give_up(const char *sentence) __attribute__((noreturn));
static void give_up(const char *sentence) {
    fprintf(stderr, "bench: %s\n", sentence);
    exit(1);
}

// ---- the capture ----

static bool has_room(const char *folder, uint64_t bytes) {
    struct statvfs s;
    return statvfs(folder, &s) == 0 && (uint64_t)s.f_bavail * s.f_frsize > bytes;
}

static void write_capture(struct rig *r) {
    struct sk_error err;
    struct capture_writer *w = capture_create(r->capture, CAPTURE_PCAP, &err);
    const uint64_t slot_ns = (r->rack->frame_bytes + GAP) * 8u / GBPS;
    uint64_t n = 0;
    if (!w)
        give_up(err.text);
    for (uint64_t i = 0; capture_size(w) < BYTES; i++)
        for (unsigned worker = 0; worker < RACK_WORKERS; worker++, n++) {
            const struct capture_record record = {
                .time_ns = FIRST + i * slot_ns + worker * slot_ns / RACK_WORKERS,
                .bytes = rack_frame(r->rack, (unsigned)(i / RACK_SLOTS % 2), worker,
                                    (unsigned)(i % RACK_SLOTS)),
                .length = r->rack->frame_bytes};
            if (capture_write(w, &record, &err))
                give_up(err.text);
        }
    if (capture_finish(w, &err))
        give_up(err.text);
    r->packets = n;
}

// All workers are behind port 0: they are in one capture.
static struct sk_config *configuration(void) {
    static const char *const devices[RACK_WORKERS] = {"m0", "m1", "m2", "m3",
                                                      "m4", "m5", "m6", "m7"};
    json_t *root = rack_configuration("switchml.p4", RACK_WORKERS, RACK_SLOTS, devices), *entry;
    size_t i;
    json_array_foreach(json_object_get(root, "entries"), i, entry) {
        json_t *key = json_object_get(entry, "key");
        if (json_object_get(key, "ig_intr_md.ingress_port"))
            json_object_set_new(key, "ig_intr_md.ingress_port", json_integer(0));
    }
    char *text = json_dumps(root, 0);
    struct sk_error err;
    struct sk_config *c = text ? sk_config_parse("bench", text, strlen(text), &err) : NULL;
    if (!c)
        give_up("the configuration of the replay");
    free(text);
    json_decref(root);
    return c;
}

// ---- work ----

static uint64_t read_only(void *aux, uint64_t times) {
    struct rig *r = aux;
    struct sk_error err;
    uint64_t n = 0;
    for (uint64_t i = 0; i < times; i++) {
        struct capture_frame frame;
        struct capture *c = capture_open(r->capture, &err);
        if (!c)
            give_up(err.text);
        while (capture_next(c, &frame, &err) > 0)
            n++;
        capture_close(c);
    }
    return n;
}

static uint64_t replay(struct rig *r, bool writes, uint64_t limit) {
    struct replay_file in = {0, r->capture}, out[RACK_WORKERS];
    char paths[RACK_WORKERS][sizeof r->capture + 8];
    struct replay_counts counts;
    for (unsigned w = 0; w < RACK_WORKERS; w++) {
        snprintf(paths[w], sizeof paths[w], "%s.%u", r->capture, w);
        out[w] = (struct replay_file){(uint16_t)w, paths[w]};
    }
    const struct replay_options opt = {.program = r->rack->program,
                                       .configs = {r->config},
                                       .in = {&in, 1},
                                       .out = {out, writes ? RACK_WORKERS : 0},
                                       .limit = limit};
    if (replay_run(&opt, &counts, stderr) != REPLAY_GOOD)
        give_up("the capture cannot be replayed");
    for (unsigned w = 0; writes && w < RACK_WORKERS; w++)
        unlink(paths[w]);
    if (!limit && (counts.in != r->packets || counts.out != counts.in))
        give_up("not all packets were taken, or not all results sent");
    return counts.in;
}

static uint64_t replays(void *aux, uint64_t times) {
    uint64_t n = 0;
    while (times-- > 0)
        n += replay(aux, false, 0);
    return n;
}

static uint64_t replays_and_writes(void *aux, uint64_t times) {
    uint64_t n = 0;
    while (times-- > 0)
        n += replay(aux, true, 0);
    return n;
}

// Of a process that replays so many packets (0: all), in KiB.
static double peak_memory(struct rig *r, uint64_t limit) {
    struct rusage used;
    int status;
    const pid_t child = fork();
    if (child == 0) {
        replay(r, true, limit);
        _exit(0);
    }
    if (child < 0 || wait4(child, &status, 0, &used) != child || status != 0)
        give_up("a replay in a process of its own failed");
    return (double)used.ru_maxrss;
}

void measure_replay(const struct bench_options *opt, json_t *result) {
    struct rig r = {.rack = rack_new(256, false), .config = configuration()};
    const bool memory = has_room("/dev/shm", 3 * (uint64_t)BYTES);
    snprintf(r.capture, sizeof r.capture, "%s/silken-bench-%d.pcap",
             memory ? "/dev/shm" : opt->folder, (int)getpid());
    write_capture(&r);
    const double few = peak_memory(&r, FEW), all = peak_memory(&r, 0);
    struct bench_side sides[] = {
        {.name = "replay", .work = replays, .aux = &r},
        {.name = "write", .work = replays_and_writes, .aux = &r},
        {.name = "read", .work = read_only, .aux = &r},
        {.name = "switch", .work = rack_work, .aux = r.rack},
    };
    const size_t n = bench_trials(sides, 4, opt->seconds, TRIAL_NS);
    unlink(r.capture);
    bench_put_packets(result, sides[0].ns, n, r.rack->frame_bytes);
    bench_put(result, "written_ns_per_packet", bench_stat(sides[1].ns, n));
    bench_put(result, "read_ns_per_packet", bench_stat(sides[2].ns, n));
    bench_put(result, "switch_ns_per_packet", bench_stat(sides[3].ns, n));
    bench_put(result, "ratio_switch", bench_ratio(sides[0].ns, sides[3].ns, n));
    bench_put(result, "peak_kib", (struct bench_stat){.median = all});
    bench_put(result, "peak_kib_of_2_percent", (struct bench_stat){.median = few});
    if (all > few + FLAT_KIB)
        bench_error(result, "peak_kib",
                    "memory grows with the capture: %.0f KiB, and %.0f at %u packets", all, few,
                    FEW);
    bench_note(
        result,
        "one capture of %llu packets of %u bytes, %u bytes, of %u workers with %u Gb/s each, in "
        "%s; replayed with nothing written, and (written_) with a capture for each worker; read_: "
        "only read; switch_: the rack's packets in memory",
        (unsigned long long)r.packets, r.rack->frame_bytes, BYTES, RACK_WORKERS, GBPS,
        memory ? "/dev/shm" : "the page cache");
    bench_sides_free(sides, 4);
    sk_config_free(r.config);
    rack_free(r.rack);
}
