// SPDX-License-Identifier: Apache-2.0
//
// replay: a capture of SwitchML packets, a gigabyte of them, through `silken replay`'s own
// function.
//
// The capture is made from the rack's packets, the same bytes each time, as eight workers with
// 100 Gb/s each would send them, and put into the bench's folder, of which the page cache has it
// after it was written; and into /dev/shm, if there is room, where pages are small and take longer
// to read. What is written while it is measured goes to /dev/shm, too. All is removed at the end.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/rack.h"
#include "control/config/config.h"
#include "pcap/capture/capture.h"
#include "pcap/replay/replay.h"
#include "stages/state.h"

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
    char capture[4096], shm[64]; // the latter empty: no room
    char out[4096];              // what names of written ones begin with
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

// Pages that are still to be written to a disk are not read in peace.
static void settle(const char *path) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) || close(fd))
        give_up("the capture cannot be brought to the disk");
}

static void write_capture(struct rig *r, const char *path) {
    struct sk_error err;
    struct capture_writer *w = capture_create(path, CAPTURE_PCAP, &err);
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
    settle(path);
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

static uint64_t read_all(const char *path, uint64_t times) {
    struct sk_error err;
    uint64_t n = 0;
    for (uint64_t i = 0; i < times; i++) {
        struct capture_frame frames[32];
        struct capture *c = capture_open(path, &err);
        if (!c)
            give_up(err.text);
        for (int got; (got = capture_next_few(c, frames, 32, &err)) > 0;)
            n += (uint64_t)got;
        capture_close(c);
    }
    return n;
}

static uint64_t reads(void *aux, uint64_t times) {
    return read_all(((struct rig *)aux)->capture, times);
}

static uint64_t reads_shm(void *aux, uint64_t times) {
    return read_all(((struct rig *)aux)->shm, times);
}

static uint64_t replay(struct rig *r, const char *path, bool writes, uint64_t limit) {
    struct replay_file in = {0, path}, out[RACK_WORKERS];
    char paths[RACK_WORKERS][sizeof r->out + 8];
    struct replay_counts counts;
    for (unsigned w = 0; w < RACK_WORKERS; w++) {
        snprintf(paths[w], sizeof paths[w], "%s.%u", r->out, w);
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
    struct rig *r = aux;
    uint64_t n = 0;
    while (times-- > 0)
        n += replay(r, r->capture, false, 0);
    return n;
}

static uint64_t replays_shm(void *aux, uint64_t times) {
    struct rig *r = aux;
    uint64_t n = 0;
    while (times-- > 0)
        n += replay(r, r->shm, false, 0);
    return n;
}

static uint64_t replays_and_writes(void *aux, uint64_t times) {
    struct rig *r = aux;
    uint64_t n = 0;
    while (times-- > 0)
        n += replay(r, r->capture, true, 0);
    return n;
}

// Of a process that replays so many packets (0: all), in KiB.
static double peak_memory(struct rig *r, uint64_t limit) {
    struct rusage used;
    int status;
    const pid_t child = fork();
    if (child == 0) {
        replay(r, r->capture, true, limit);
        _exit(0);
    }
    if (child < 0 || wait4(child, &status, 0, &used) != child || status != 0)
        give_up("a replay in a process of its own failed");
    return (double)used.ru_maxrss;
}

void measure_replay(const struct bench_options *opt, json_t *result) {
    sk_state_lazily(SK_STATE_HUGE_PAGES); // as `silken replay` does
    struct rig r = {.rack = rack_new(256, false), .config = configuration()};
    const bool memory = has_room("/dev/shm", 3 * (uint64_t)BYTES);
    snprintf(r.capture, sizeof r.capture, "%s/replay-%d.pcap", opt->folder, (int)getpid());
    snprintf(r.out, sizeof r.out, "%s", r.capture);
    write_capture(&r, r.capture);
    if (memory) {
        snprintf(r.shm, sizeof r.shm, "/dev/shm/silken-bench-%d.pcap", (int)getpid());
        snprintf(r.out, sizeof r.out, "%s", r.shm);
        write_capture(&r, r.shm);
    }
    const double few = peak_memory(&r, FEW), all = peak_memory(&r, 0);
    struct bench_side sides[] = {
        {.name = "replay", .work = replays, .aux = &r},
        {.name = "write", .work = replays_and_writes, .aux = &r},
        {.name = "read", .work = reads, .aux = &r},
        {.name = "switch", .work = rack_work_copied, .aux = r.rack},
        {.name = "replay from /dev/shm", .work = replays_shm, .aux = &r},
        {.name = "read from /dev/shm", .work = reads_shm, .aux = &r},
    };
    const size_t n = bench_trials(sides, memory ? 6 : 4, opt->seconds, TRIAL_NS);
    unlink(r.capture);
    if (memory)
        unlink(r.shm);
    bench_put_packets(result, sides[0].ns, n, r.rack->frame_bytes);
    bench_put(result, "written_ns_per_packet", bench_stat(sides[1].ns, n));
    bench_put(result, "read_ns_per_packet", bench_stat(sides[2].ns, n));
    if (memory) {
        bench_put(result, "shm_ns_per_packet", bench_stat(sides[4].ns, n));
        bench_put(result, "shm_read_ns_per_packet", bench_stat(sides[5].ns, n));
    }
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
        "the page cache; replayed with nothing written, and (written_) with a capture for each "
        "worker; read_: only read; switch_: the rack's packets in memory; shm_: from /dev/shm",
        (unsigned long long)r.packets, r.rack->frame_bytes, BYTES, RACK_WORKERS, GBPS);
    bench_sides_free(sides, 6);
    sk_config_free(r.config);
    rack_free(r.rack);
}
