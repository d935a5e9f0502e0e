// SPDX-License-Identifier: Apache-2.0
//
// fuzz_recorded: recordings of a ToR with any notes about its control plane between packets, at
// times that go on and sometimes back, replayed through p4/tor: notes of each kind with numbers of
// the input's, any text as a note, in parts too, and packets of hosts and of the control plane. A
// replay that is refused says why; done twice it gives the same packets.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compiler/compile.h"
#include "control/journal/journal.h"
#include "harness/control/tor/fuzz_input.h"
#include "pcap/capture/capture.h"
#include "pcap/replay/replay.h"
#include "pipeline/program.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define T0    UINT64_C(1700000000000000000)
#define STEPS 200u
#define CPU   64u
#define FRAME 60u

static const char config_text[] =
    "{\"ports\": [{\"port\": 1, \"device\": \"d1\", \"name\": \"a\"}, {\"port\": 2, \"device\": "
    "\"d2\", \"name\": \"b\"}, {\"port\": 3, \"device\": \"d3\", \"name\": \"c\"}], \"tor\": "
    "{\"mac\": \"02:00:00:00:00:fe\", \"vlans\": [{\"vid\": 10, \"addresses\": "
    "[\"10.0.10.1/24\"]}, {\"vid\": 20, \"addresses\": [\"10.0.20.1/24\"]}], \"links\": "
    "[{\"name\": \"a\", \"port\": \"a\", \"access\": 10}, {\"name\": \"b\", \"port\": \"b\", "
    "\"access\": 10}, {\"name\": \"c\", \"port\": \"c\", \"access\": 20}]}}";

static struct sk_program *prog; // as long as the process

// It takes longer than an input may.
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    const struct compile_options opt = {
        .path = "p4/tor/tor.p4", .cache_dir = "build/fuzz/cache", .sanitize = true};
    char error[256] = "it does not compile";
    (void)argc, (void)argv;
    setenv("CC", "clang -fsanitize=fuzzer-no-link", 0);
    char *path = compile_p4(&opt, stderr);
    prog = path ? sk_program_load(path, error, sizeof error) : NULL;
    if (!prog)
        fprintf(stderr, "p4/tor/tor.p4: %s\n", error);
    must(prog);
    free(path);
    return 0;
}

// ---- the recording ----

static uint64_t some_number(struct input *in) {
    const unsigned kind = byte(in);
    uint64_t n = byte(in);
    for (unsigned i = 0; i < kind % 9; i++)
        n = n << 8 | byte(in);
    return n;
}

static char *some_note(struct input *in, uint64_t now) {
    static const char *const ops[] = {"job.add", "job.remove", "tor.status", "fdb.list", "x"};
    uint64_t list[4] = {now, now + 1000, now + 1000, now + 5000};
    struct journal_note n = {.kind = (enum journal_kind)(byte(in) % JOURNAL_KINDS),
                             .now = byte(in) % 8 ? now : some_number(in),
                             .number = some_number(in),
                             .interval = 4000000,
                             .port = (uint16_t)(byte(in) % 4),
                             .up = byte(in) & 1};
    if (n.kind == JOURNAL_RUN) {
        n.list = list;
        n.n = 1 + byte(in) % 4;
        if (byte(in) % 8 == 0)
            list[n.n - 1] = some_number(in);
    }
    if (n.kind == JOURNAL_REQUEST)
        n.text = (char *)ops[byte(in) % 5];
    if (n.kind == JOURNAL_REQUEST || n.kind == JOURNAL_SECTION)
        n.value = json_object();
    if (n.kind == JOURNAL_PORTS)
        n.value = json_array();
    char *text = journal_write(&n);
    json_decref(n.value);
    return text;
}

static char *some_text(struct input *in) {
    char *text = calloc(1, 65);
    must(text);
    for (unsigned i = 0, n = byte(in) % 64; i < n; i++)
        text[i] = (char)byte(in);
    return text;
}

static void some_frame(struct input *in, uint8_t f[FRAME]) {
    static const uint8_t arp[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0,  1, 8,  6,
                                  0,    1,    8,    0,    6,    4,    0, 1, 2, 0, 0,  0, 0,  1,
                                  10,   0,    10,   2,    0,    0,    0, 0, 0, 0, 10, 0, 10, 1};
    memset(f, 0, FRAME);
    memcpy(f, arp, sizeof arp);
    for (unsigned i = 0, n = byte(in) % 8; i < n; i++)
        f[byte(in) % FRAME] = (uint8_t)byte(in);
}

static void record(struct input *in, struct capture_writer *w) {
    static const uint16_t ports[] = {1, 2, 3, CPU};
    static const char begin[] =
        JOURNAL_NOTE "{\"control\":1,\"secret\":1,\"interval\":4000000,\"down\":[]}";
    struct capture_record r = {.time_ns = T0, .port = CPU, .comment = begin};
    uint8_t frame[FRAME];
    must(capture_write(w, &r, NULL) == 0);
    for (unsigned i = 0; i < STEPS && in->left; i++) {
        const unsigned kind = byte(in);
        char *text = NULL, *comment = NULL;
        r.time_ns += kind & 0x80 ? UINT64_C(1000) * byte(in) : UINT64_C(100000) * byte(in);
        if (kind % 32 == 31)
            r.time_ns -= 500000;
        r.bytes = NULL;
        r.length = 0;
        r.direction = CAPTURE_UNKNOWN;
        if (kind % 4 < 2) {
            text = kind % 4 == 0 ? some_note(in, r.time_ns) : some_text(in);
            must(asprintf(&comment, "%s%s", byte(in) % 8 ? JOURNAL_NOTE : JOURNAL_PART, text) > 0);
            r.port = CPU;
        } else {
            some_frame(in, frame);
            r.bytes = frame;
            r.length = FRAME;
            r.port = ports[byte(in) % 4];
            r.direction = CAPTURE_INBOUND;
        }
        r.comment = comment;
        must(capture_write(w, &r, NULL) == 0);
        free(text);
        free(comment);
    }
}

// ---- the replay ----

static int memory(char path[32]) {
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    must(fd >= 0);
    snprintf(path, 32, "/proc/self/fd/%d", fd);
    return fd;
}

static enum replay_result play(const char *path, struct sk_config *config, int *out_fd,
                               struct replay_counts *counts) {
    struct replay_file in = {REPLAY_MAPPED, path}, out = {.port = 3};
    char out_path[32], *said = NULL;
    size_t length = 0;
    FILE *messages = open_memstream(&said, &length);
    *out_fd = memory(out_path);
    out.path = out_path;
    const struct replay_options opt = {
        .program = prog, .configs = {config}, .in = {&in, 1}, .out = {&out, 1}, .buffers = 64};
    const enum replay_result result = replay_run(&opt, counts, messages);
    fclose(messages);
    must(result == REPLAY_GOOD || (result == REPLAY_UNUSABLE && length > 0));
    free(said);
    return result;
}

static void same(int a, int b) {
    const off_t n = lseek(a, 0, SEEK_END);
    must(n == lseek(b, 0, SEEK_END));
    if (n == 0)
        return;
    void *one = mmap(NULL, (size_t)n, PROT_READ, MAP_SHARED, a, 0),
         *other = mmap(NULL, (size_t)n, PROT_READ, MAP_SHARED, b, 0);
    must(one != MAP_FAILED && other != MAP_FAILED && memcmp(one, other, (size_t)n) == 0);
    munmap(one, (size_t)n);
    munmap(other, (size_t)n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct input in = {data, size};
    struct sk_error err = {""};
    struct sk_config *config =
        sk_config_parse_part("fuzz.json", config_text, sizeof config_text - 1, &err);
    struct replay_counts counts, again;
    char path[32];
    int first, second;
    const int fd = memory(path);
    struct capture_writer *w = capture_create_in(dup(fd), path, CAPTURE_PCAPNG);
    must(config && w);
    record(&in, w);
    must(capture_finish(w, NULL) == 0);
    must(play(path, config, &first, &counts) == play(path, config, &second, &again));
    must(counts.in == again.in && counts.out == again.out);
    same(first, second);
    close(first);
    close(second);
    close(fd);
    sk_config_free(config);
    return 0;
}
