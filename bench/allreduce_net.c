// SPDX-License-Identifier: Apache-2.0
#include "bench/allreduce_net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/rack.h"

#define LIMIT "60" // seconds that one system may take

const char *const reduce_names[SYSTEMS] = {"memif", "udp", "af_packet", "gloo", "openmpi"};

static int run_script(const struct reduce_net *r, const char *what, const char *log,
                      const char *small) {
    char path[4096], slots[16];
    snprintf(path, sizeof path, "%s/%s", r->folder, log);
    snprintf(slots, sizeof slots, "%u", REDUCE_SLOTS);
    pid_t pid = fork();
    if (pid == 0) {
        if (freopen(path, "w", stdout) && dup2(1, 2) == 2)
            execlp("timeout", "timeout", "-k", "5", LIMIT, "sh", "bench/allreduce/run.sh", what,
                   r->net, r->programs, r->folder, slots, small, (char *)NULL);
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

static void write_configuration(const struct reduce_net *r, int system) {
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
    json_t *c = rack_configuration(SILKEN_PROGRAM_DIR "/switchml/switchml.p4", REDUCE_WORKERS,
                                   REDUCE_SLOTS, list);
    json_object_set_new(c, "sessions",
                        json_pack("{s:s, s:s}", "mac", "02:00:00:00:00:fe", "ip", "10.0.0.254"));
    snprintf(path, sizeof path, "%s/%s.json", r->folder, reduce_names[system]);
    if (json_dump_file(c, path, JSON_INDENT(1))) {
        fprintf(stderr, "bench: cannot write %s\n", path);
        exit(1);
    }
    json_decref(c);
}

bool reduce_net_up(struct reduce_net *r, const char *folder, char *why, size_t why_size) {
    char path[4096];
    char *absolute = realpath(folder, NULL);
    if (!absolute)
        abort();
    snprintf(r->net, sizeof r->net, "sb%d-", (int)getpid() % 100000);
    snprintf(r->programs, sizeof r->programs, "%s", absolute);
    snprintf(r->folder, sizeof r->folder, "%s/allreduce", absolute);
    free(absolute);
    if (run_script(r, "up", "up.log", NULL)) {
        snprintf(path, sizeof path, "%s/up.log", r->folder);
        last_line(path, why, why_size);
        run_script(r, "down", "down.log", NULL);
        return false;
    }
    write_configuration(r, MEMIF);
    write_configuration(r, UDP);
    write_configuration(r, AF_PACKET);
    return true;
}

void reduce_net_down(struct reduce_net *r) {
    run_script(r, "down", "down.log", NULL);
}

bool reduce_net_run(struct reduce_net *r, int system, const char *small) {
    char path[4096], log[64];
    snprintf(log, sizeof log, "%s.log", reduce_names[system]);
    if (run_script(r, reduce_names[system], log, small) == 0)
        return true;
    // what a rank says is nearer to the cause than what the script says
    snprintf(path, sizeof path, "%s/%s.0", r->folder, reduce_names[system]);
    last_line(path, r->why[system], sizeof r->why[system]);
    if (strcmp(r->why[system], "?") == 0) {
        snprintf(path, sizeof path, "%s/%s.log", r->folder, reduce_names[system]);
        last_line(path, r->why[system], sizeof r->why[system]);
    }
    return false;
}

static size_t times_of_rank(const char *path, size_t n, uint64_t *start, uint64_t *end) {
    char line[512];
    unsigned long long a, b;
    size_t found = 0;
    FILE *f = fopen(path, "r");
    while (f && found < n && fgets(line, sizeof line, f))
        if (sscanf(line, "timed %llu %llu", &a, &b) == 2) {
            start[found] = a;
            end[found++] = b;
        }
    if (f)
        fclose(f);
    return found;
}

bool reduce_net_times(struct reduce_net *r, int system, size_t n, uint64_t *start, uint64_t *end) {
    char path[4096];
    for (size_t rank = 0; rank < REDUCE_WORKERS; rank++) {
        snprintf(path, sizeof path, "%s/%s.%zu", r->folder, reduce_names[system], rank);
        if (times_of_rank(path, n, start + rank * n, end + rank * n) < n) {
            last_line(path, r->why[system], sizeof r->why[system]);
            return false;
        }
    }
    return true;
}
