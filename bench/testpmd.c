// SPDX-License-Identifier: Apache-2.0
#include "bench/testpmd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"

#define PROMPT     "testpmd> "
#define PATIENCE   20000 // ms until an answer is no longer waited for
#define TX_FIRST   31    // bursts of 32 frames: loop.h's LOOP_FRAMES
#define MAX_ANSWER 65536u

struct testpmd {
    pid_t pid;
    int in, out;
    char schedstat[128]; // of its forwarding thread
    bool filled;
    char answer[MAX_ANSWER];
};

// Up to the next prompt. False when it does not come.
static bool read_answer(struct testpmd *t) {
    size_t n = 0;
    for (;;) {
        struct pollfd p = {.fd = t->out, .events = POLLIN};
        if (n + 1 >= sizeof t->answer || poll(&p, 1, PATIENCE) <= 0)
            return false;
        ssize_t got = read(t->out, t->answer + n, sizeof t->answer - 1 - n);
        if (got <= 0)
            return false;
        n += (size_t)got;
        t->answer[n] = 0;
        if (n >= strlen(PROMPT) && strcmp(t->answer + n - strlen(PROMPT), PROMPT) == 0)
            return true;
    }
}

static bool ask(struct testpmd *t, const char *line) {
    size_t n = strlen(line);
    return write(t->in, line, n) == (ssize_t)n && read_answer(t);
}

// Never returns.
static void become(int cpu, int in, int out) {
    char lcores[64];
    snprintf(lcores, sizeof lcores, "--lcores=0@%d,1@%d", cpu, cpu);
    dup2(in, 0);
    dup2(out, 1);
    dup2(out, 2);
    // its statistics go through stdio, its prompt does not: without stdbuf they come in any order
    execlp("stdbuf", "stdbuf", "-oL", "dpdk-testpmd", "--no-huge", "-m", "256", "--no-pci",
           "--no-telemetry", "--no-shconf", "--iova-mode=va", lcores, "--vdev=net_ring0", "--",
           "-i", "--forward-mode=macswap", "--port-topology=loop", "--no-flush-rx", "--nb-cores=1",
           "--burst=32", "--total-num-mbufs=4096", (char *)NULL);
    perror("dpdk-testpmd");
    _exit(127);
}

static bool start(struct testpmd *t, int cpu) {
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
        return false;
    t->pid = fork();
    if (t->pid == 0)
        become(cpu, in[0], out[1]);
    close(in[0]);
    close(out[1]);
    t->in = in[1];
    t->out = out[0];
    return t->pid > 0;
}

// The thread that forwards: the one DPDK names after its second logical core.
static bool find_thread(struct testpmd *t) {
    char path[300], name[64] = "";
    snprintf(path, sizeof path, "/proc/%d/task", (int)t->pid);
    DIR *d = opendir(path);
    bool found = false;
    for (struct dirent *e; d && !found && (e = readdir(d));) {
        snprintf(path, sizeof path, "/proc/%d/task/%s/comm", (int)t->pid, e->d_name);
        FILE *f = fopen(path, "r");
        if (f && fgets(name, sizeof name, f) && strstr(name, "worker-1")) {
            snprintf(t->schedstat, sizeof t->schedstat, "/proc/%d/task/%.20s/schedstat",
                     (int)t->pid, e->d_name);
            found = true;
        }
        if (f)
            fclose(f);
    }
    if (d)
        closedir(d);
    return found;
}

static double thread_ns(const struct testpmd *t) {
    double ns = 0;
    FILE *f = fopen(t->schedstat, "r");
    if (f && fscanf(f, "%lf", &ns) != 1)
        ns = 0;
    if (f)
        fclose(f);
    return ns;
}

struct testpmd *testpmd_new(int cpu, char *why, size_t why_size) {
    struct testpmd *t = calloc(1, sizeof *t);
    if (!t)
        abort();
    signal(SIGPIPE, SIG_IGN);
    if (start(t, cpu) && read_answer(t) && find_thread(t) && testpmd_trial(t, 0.05) > 0)
        return t;
    // its last words, on one line
    size_t n = strlen(t->answer), from = n > 200 ? n - 200 : 0;
    for (char *c = t->answer; *c; c++)
        *c = *c == '\n' ? ' ' : *c;
    snprintf(why, why_size, "dpdk-testpmd does not forward: %s", t->answer + from);
    testpmd_free(t);
    return NULL;
}

double testpmd_trial(struct testpmd *t, double seconds) {
    char line[64] = "start\n";
    unsigned long long packets = 0;
    if (!t->filled)
        snprintf(line, sizeof line, "start tx_first %d\n", TX_FIRST);
    const double before = thread_ns(t);
    if (!ask(t, line))
        return 0;
    t->filled = true;
    usleep((useconds_t)(seconds * 1e6));
    if (!ask(t, "stop\n"))
        return 0;
    const char *sum = strstr(t->answer, "Accumulated forward statistics");
    const char *rx = sum ? strstr(sum, "RX-packets:") : NULL;
    if (!rx || sscanf(rx, "RX-packets: %llu", &packets) != 1 || packets == 0)
        return 0;
    return (thread_ns(t) - before) / (double)packets;
}

void testpmd_free(struct testpmd *t) {
    if (!t)
        return;
    if (t->pid > 0) {
        ask(t, "quit\n");
        close(t->in);
        close(t->out);
        kill(t->pid, SIGTERM);
        waitpid(t->pid, NULL, 0);
    }
    free(t);
}
