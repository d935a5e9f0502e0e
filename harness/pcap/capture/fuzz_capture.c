// SPDX-License-Identifier: Apache-2.0
//
// fuzz_capture: any bytes as a capture and as entries, replayed through a program that has
// something of everything. The first byte says which map gives its packets their ports, two more
// how many bytes of JSON follow, and what follows them is the capture. A replay that is refused
// says why, and what is written can be read. A bit says whether it is done again, with nobody
// watching, which takes packets in several at a time: it must give the same packets.
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/control/fuzz_program.h"
#include "pcap/capture/capture.h"
#include "pcap/replay/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// A packet generator may be told to send for years: more than so much is not looked at.
#define MOST_EVENTS 2000u
#define N_OUT       3u

static const char *const maps[] = {
    NULL,
    "interface:0=1,port-2=2,*=3",
    "vlan:10=1,none=2,*=3",
    "src-mac:02:00:00:00:00:00/24=1,*=2",
    "src-ip:10.0.0.0/8=1,10.0.0.0/24=2,2001:db8::/32=3",
};
#define N_MAPS (sizeof maps / sizeof *maps)

struct watcher {
    struct sk_observer observer; // first
    uint64_t events;
};

static volatile sig_atomic_t stop;

static void on_event(struct sk_observer *o, const struct sk_packet *p, const struct sk_event *e) {
    (void)p;
    (void)e;
    if (++((struct watcher *)o)->events > MOST_EVENTS)
        stop = 1;
}

// A file in memory, by a name.
static int memory(char path[32]) {
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0)
        abort();
    snprintf(path, 32, "/proc/self/fd/%d", fd);
    return fd;
}

struct outputs {
    int fds[N_OUT];
    char paths[N_OUT][32];
    struct replay_file files[N_OUT];
    struct replay_counts counts;
    bool stopped; // there was too much to look at
};

static enum replay_result play(const struct sk_program *prog, const char *path, uint8_t how,
                               struct sk_config *config, bool watched, struct outputs *out) {
    struct watcher watcher = {.observer = {.everything = true, .event = on_event}};
    struct replay_file in = {how % (N_MAPS + 1) == N_MAPS ? 1 : REPLAY_MAPPED, path};
    char *said = NULL;
    size_t length = 0;
    FILE *messages = open_memstream(&said, &length);
    stop = 0;
    for (uint16_t i = 0; i < N_OUT; i++) {
        out->fds[i] = memory(out->paths[i]);
        out->files[i] = (struct replay_file){(uint16_t)(i + 1), out->paths[i]};
    }
    const struct replay_options opt = {.program = prog,
                                       .configs = {config},
                                       .in = {&in, 1},
                                       .out = {out->files, N_OUT},
                                       .form = how & 0x80 ? REPLAY_PCAPNG : REPLAY_PCAP,
                                       .map = in.port == REPLAY_MAPPED ? maps[how % N_MAPS] : NULL,
                                       .strict_map = how & 0x40,
                                       .stop = &stop,
                                       .drops = watched && how & 0x20 ? "/dev/null" : NULL,
                                       .buffers = 64,
                                       .observer = watched ? &watcher.observer : NULL};
    enum replay_result result = replay_run(&opt, &out->counts, messages);
    fclose(messages);
    out->stopped = stop;
    if (result == REPLAY_DIFFERS || (result == REPLAY_UNUSABLE && length == 0))
        abort();
    free(said);
    return result;
}

// Packets of our own capture; any fault in it is one of ours.
static uint64_t count_packets(const char *path) {
    struct sk_error err;
    struct capture_frame frame;
    struct capture *c = capture_open(path, &err);
    int rc = -1;
    while (c && (rc = capture_next(c, &frame, &err)) > 0)
        if (frame.length != frame.wire_length)
            abort();
    if (rc < 0) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    uint64_t n = capture_count(c);
    capture_close(c);
    return n;
}

static void compare(const struct outputs *a, const struct outputs *b) {
    uint64_t packets = 0;
    for (unsigned i = 0; i < N_OUT; i++) {
        off_t n = lseek(a->fds[i], 0, SEEK_END);
        if (n != lseek(b->fds[i], 0, SEEK_END))
            abort();
        const void *one = n ? mmap(NULL, (size_t)n, PROT_READ, MAP_SHARED, a->fds[i], 0) : NULL;
        const void *other = n ? mmap(NULL, (size_t)n, PROT_READ, MAP_SHARED, b->fds[i], 0) : NULL;
        if (n && memcmp(one, other, (size_t)n) != 0)
            abort();
        if (n) {
            munmap((void *)one, (size_t)n);
            munmap((void *)other, (size_t)n);
            packets += count_packets(a->paths[i]);
        }
    }
    if (packets > a->counts.out || a->counts.out != b->counts.out || a->counts.in != b->counts.in ||
        a->counts.dropped != b->counts.dropped)
        abort();
}

static void close_all(const struct outputs *o) {
    for (unsigned i = 0; i < N_OUT; i++)
        close(o->fds[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct sk_program *prog;
    if (!prog)
        prog = fuzz_program();
    if (size < 3)
        return 0;
    size_t n = (size_t)data[1] | (size_t)data[2] << 8;
    struct sk_error err = {""};
    struct sk_config *config = NULL;
    if (n > size - 3)
        n = size - 3;
    if (n && !(config = sk_config_parse_part("fuzz.json", (const char *)data + 3, n, &err)))
        return 0; // fuzz_config's
    char path[32];
    int fd = memory(path);
    if (write(fd, data + 3 + n, size - 3 - n) != (ssize_t)(size - 3 - n))
        abort();
    struct outputs first = {0}, second = {0};
    enum replay_result result = play(prog, path, data[0], config, true, &first);
    if (data[0] & 0x10) {
        if (play(prog, path, data[0], config, first.stopped, &second) != result)
            abort();
        compare(&first, &second);
        close_all(&second);
    }
    close_all(&first);
    close(fd);
    sk_config_free(config);
    return 0;
}
