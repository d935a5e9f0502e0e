// SPDX-License-Identifier: Apache-2.0
//
// allreduce: 100 MB of float32 summed over four workers in network namespaces: through a Silken
// switch, whose ports are shared memory (memif) or the kernel's links, with workers on the kernel's
// sockets (udp) or on packet sockets (af_packet), with Gloo's ring and with Open MPI, over TCP on
// those links. All processes share the machine. The systems take
// turns, each started anew; bench/allreduce/run.sh starts them.
//
// The time of an all-reduce is from when the first rank begins to when the last one ends.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/allreduce/reduce.h"
#include "bench/bench.h"
#include "bench/rack.h"

#define SLOTS      512u
#define MAX_ROUNDS 20
#define MAX_TIMES  (MAX_ROUNDS * REDUCE_TIMED)
#define OF_TIME    0.7  // of the time, for rounds without af_packet
#define LIMIT      "60" // seconds that one system may take

enum { MEMIF, UDP, AF_PACKET, GLOO, OPENMPI, SYSTEMS };
static const char *const names[SYSTEMS] = {"memif", "udp", "af_packet", "gloo", "openmpi"};

struct runs {
    char net[16], folder[2048], programs[2048];
    double seconds[SYSTEMS][MAX_TIMES]; // of each round REDUCE_TIMED; 0: not measured
    int rounds;
    char why[SYSTEMS][512];
};

static int script(const struct runs *r, const char *what, const char *log) {
    char path[4096], slots[16];
    snprintf(path, sizeof path, "%s/%s", r->folder, log);
    snprintf(slots, sizeof slots, "%u", SLOTS);
    pid_t pid = fork();
    if (pid == 0) {
        if (freopen(path, "w", stdout) && dup2(1, 2) == 2)
            execlp("timeout", "timeout", "-k", "5", LIMIT, "sh", "bench/allreduce/run.sh", what,
                   r->net, r->programs, r->folder, slots, (char *)NULL);
        _exit(127);
    }
    int status = -1;
    return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

// The last line of a file, for messages.
static void last_line(const char *path, char *out, size_t size) {
    char line[512];
    FILE *f = fopen(path, "r");
    snprintf(out, size, "?");
    while (f && fgets(line, sizeof line, f))
        if (line[0] != '\n')
            snprintf(out, size, "%.*s", (int)strcspn(line, "\n"), line);
    if (f)
        fclose(f);
}

// The i-th all-reduce that a rank has timed.
static bool stamps(const struct runs *r, const char *system, int rank, int i, uint64_t *start,
                   uint64_t *end) {
    char path[4096], line[512];
    unsigned long long a, b;
    snprintf(path, sizeof path, "%s/%s.%d", r->folder, system, rank);
    FILE *f = fopen(path, "r");
    bool found = false;
    while (f && !found && fgets(line, sizeof line, f))
        if (sscanf(line, "timed %llu %llu", &a, &b) == 2)
            found = i-- == 0;
    if (f)
        fclose(f);
    if (found) {
        *start = a;
        *end = b;
    }
    return found;
}

static bool take_times(struct runs *r, int system) {
    for (int i = 0; i < REDUCE_TIMED; i++) {
        uint64_t first = UINT64_MAX, last = 0;
        for (int rank = 0; rank < REDUCE_WORKERS; rank++) {
            uint64_t start, end;
            if (!stamps(r, names[system], rank, i, &start, &end))
                return false;
            first = start < first ? start : first;
            last = end > last ? end : last;
        }
        r->seconds[system][r->rounds * REDUCE_TIMED + i] = (double)(last - first) / 1e9;
    }
    return true;
}

static void run_system(struct runs *r, int system) {
    char path[4096], log[64];
    snprintf(log, sizeof log, "%s.log", names[system]);
    if (script(r, names[system], log) == 0 && take_times(r, system))
        return;
    // what a rank says is nearer to the cause than what the script says
    snprintf(path, sizeof path, "%s/%s.0", r->folder, names[system]);
    last_line(path, r->why[system], sizeof r->why[system]);
    if (strcmp(r->why[system], "?") == 0) {
        snprintf(path, sizeof path, "%s/%s.log", r->folder, names[system]);
        last_line(path, r->why[system], sizeof r->why[system]);
    }
}

static void write_configuration(const struct runs *r, int system) {
    char devices[REDUCE_WORKERS][2200], path[4096];
    const char *list[REDUCE_WORKERS];
    for (int w = 0; w < REDUCE_WORKERS; w++) {
        list[w] = devices[w];
        if (system == MEMIF)
            snprintf(devices[w], sizeof devices[w],
                     "net_memif%d,role=server,id=0,socket-abstract=no,socket=%s/memif%d.sock", w,
                     r->folder, w);
        else
            snprintf(devices[w], sizeof devices[w], "net_af_packet%d,iface=p%d", w, w);
    }
    json_t *c =
        rack_configuration(SILKEN_PROGRAM_DIR "/switchml/switchml.p4", REDUCE_WORKERS, SLOTS, list);
    json_object_set_new(c, "sessions",
                        json_pack("{s:s, s:s}", "mac", "02:00:00:00:00:fe", "ip", "10.0.0.254"));
    snprintf(path, sizeof path, "%s/%s.json", r->folder, names[system]);
    if (json_dump_file(c, path, JSON_INDENT(1))) {
        fprintf(stderr, "bench: cannot write %s\n", path);
        exit(1);
    }
    json_decref(c);
}

// Of the times at which both were measured. How many that are.
static size_t both(const struct runs *r, int a, int b, double *of_a, double *of_b) {
    size_t n = 0;
    for (int i = 0; i < r->rounds * REDUCE_TIMED; i++)
        if (r->seconds[a][i] > 0 && r->seconds[b][i] > 0) {
            of_a[n] = r->seconds[a][i];
            of_b[n++] = r->seconds[b][i];
        }
    return n;
}

static void put_ratio(json_t *result, const struct runs *r, const char *field, int theirs,
                      int ours) {
    double a[MAX_TIMES], b[MAX_TIMES];
    const size_t n = both(r, theirs, ours, a, b);
    if (n > 0) {
        bench_put(result, field, bench_ratio(a, b, n));
        return;
    }
    const int bad = both(r, theirs, theirs, a, b) > 0 ? ours : theirs;
    bench_error(result, field, "%s: %s", names[bad], r->why[bad]);
}

static void put_seconds(json_t *result, const struct runs *r, const char *field, int system) {
    double a[MAX_TIMES], b[MAX_TIMES];
    const size_t n = both(r, system, system, a, b);
    if (n > 0)
        bench_put(result, field, bench_stat(a, n));
    else
        bench_error(result, field, "%s", r->why[system]);
}

void measure_allreduce(const struct bench_options *opt, json_t *result) {
    struct runs *r = calloc(1, sizeof *r);
    char *absolute = realpath(opt->folder, NULL);
    if (!r || !absolute)
        abort();
    snprintf(r->net, sizeof r->net, "sb%d-", (int)getpid() % 100000);
    snprintf(r->programs, sizeof r->programs, "%s", absolute);
    snprintf(r->folder, sizeof r->folder, "%s/allreduce", absolute);
    free(absolute);
    bench_unpin();
    if (script(r, "up", "up.log")) {
        static const char *const fields[] = {"seconds", "ratio_gloo", "ratio_openmpi"};
        char path[4096], why[512];
        snprintf(path, sizeof path, "%s/up.log", r->folder);
        last_line(path, why, sizeof why);
        for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
            bench_error(result, fields[i], "no network namespaces: %s", why);
        script(r, "down", "down.log");
        free(r);
        return;
    }
    write_configuration(r, MEMIF);
    write_configuration(r, UDP);
    write_configuration(r, AF_PACKET);
    const double from = bench_wall_ns();
    for (; r->rounds < MAX_ROUNDS; r->rounds++) {
        const double spent = bench_wall_ns() - from;
        if (r->rounds > 0 && spent + spent / r->rounds > OF_TIME * opt->seconds * 1e9)
            break;
        run_system(r, MEMIF);
        run_system(r, UDP);
        run_system(r, GLOO);
        run_system(r, OPENMPI);
    }
    // takes as long as a round of the others, so it belongs to the last one only
    r->rounds--;
    run_system(r, AF_PACKET);
    r->rounds++;
    script(r, "down", "down.log");
    put_seconds(result, r, "seconds", MEMIF);
    put_seconds(result, r, "udp_seconds", UDP);
    put_seconds(result, r, "af_packet_seconds", AF_PACKET);
    put_seconds(result, r, "gloo_seconds", GLOO);
    put_seconds(result, r, "openmpi_seconds", OPENMPI);
    put_ratio(result, r, "ratio_gloo", GLOO, MEMIF);
    put_ratio(result, r, "ratio_openmpi", OPENMPI, MEMIF);
    put_ratio(result, r, "udp_ratio_gloo", GLOO, UDP);
    put_ratio(result, r, "udp_ratio_openmpi", OPENMPI, UDP);
    put_ratio(result, r, "af_packet_ratio_gloo", GLOO, AF_PACKET);
    put_ratio(result, r, "af_packet_ratio_openmpi", OPENMPI, AF_PACKET);
    bench_note(
        result,
        "%u float32 over %d workers in namespaces; seconds: Silken with memif ports, packets "
        "of 256 elements, %u slots; udp: kernel sockets on veth links; Gloo and Open MPI over TCP "
        "on veth links and a bridge; "
        "%d rounds of %d",
        REDUCE_COUNT, REDUCE_WORKERS, SLOTS, r->rounds, REDUCE_TIMED);
    free(r);
}
