// SPDX-License-Identifier: Apache-2.0
//
// udp_worker: a SwitchML worker on kernel UDP sockets, over a veth pair between two network
// namespaces. The other end is a process that sends each packet back, which is what a switch does
// for a job of one worker; and what came as one message goes as one, as at a switch's port that
// joins what it has cut. Processor time is the worker's thread alone; with veth it includes the
// kernel's way of a packet into the other end's socket. iperf3 sends packets of the same size over
// the same pair, one way, without looking at them.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"
#include "hosts/switchml/frame.h"
#include "hosts/transport/segments.h"
#include "silken/allreduce.h"

#define COUNT     ((size_t)1 << 20)
#define SLOTS     64u
#define K         256u
#define BURST     64u
#define LARGE     65536u
#define OURS      "10.99.0.1"
#define THEIRS    "10.99.0.2"
#define PORT      0xbee0
#define IPERF     2 // seconds
#define IPERF_LEN (SWML_OWN_BYTES + 4 * K)

struct udp_bench {
    struct silken_comm *comm;
    float *tensor;
    pid_t echo;
};

static void udp_bench_fail(const char *what) {
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

// ---- the other end ----

// Messages of up to 64 KB, with the length of their datagrams if they are several.
static void udp_bench_echo(int fd) {
    static uint8_t room[BURST][LARGE];
    static union sk_segments_control control[BURST];
    struct mmsghdr messages[BURST];
    struct sockaddr_in from[BURST];
    struct iovec parts[BURST];
    struct sk_segments s;
    for (;;) {
        for (unsigned i = 0; i < BURST; i++) {
            parts[i] = (struct iovec){room[i], sizeof room[i]};
            messages[i].msg_hdr = (struct msghdr){.msg_name = &from[i],
                                                  .msg_namelen = sizeof from[i],
                                                  .msg_iov = &parts[i],
                                                  .msg_iovlen = 1,
                                                  .msg_control = control[i].room,
                                                  .msg_controllen = sizeof control[i].room};
        }
        const int n = recvmmsg(fd, messages, BURST, MSG_WAITFORONE, NULL);
        for (int i = 0; i < n; i++) {
            struct msghdr *m = &messages[i].msg_hdr;
            parts[i].iov_len = messages[i].msg_len;
            sk_segments_received(&s, m, messages[i].msg_len);
            m->msg_controllen = 0;
            if (s.size < s.length)
                sk_segments_put(m, &control[i], (uint16_t)s.size);
        }
        for (int sent = 0, now; n > 0 && sent < n; sent += now)
            if ((now = sendmmsg(fd, messages + sent, (unsigned)(n - sent), 0)) <= 0)
                break;
    }
}

static void udp_bench_other_end(int ready, int go) {
    const struct sockaddr_in self = {
        .sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr.s_addr = inet_addr(THEIRS)};
    int on = 1;
    char c = 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (unshare(CLONE_NEWNET) < 0 || write(ready, &c, 1) != 1 || read(go, &c, 1) != 1)
        _exit(1);
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || setsockopt(fd, IPPROTO_UDP, SK_UDP_GRO, &on, sizeof on) < 0 ||
        bind(fd, (const struct sockaddr *)&self, sizeof self) < 0 || write(ready, &c, 1) != 1)
        _exit(1);
    udp_bench_echo(fd);
}

// ---- both ends ----

static void udp_bench_link(pid_t other) {
    char command[512];
    snprintf(command, sizeof command,
             "ip link add bench0 type veth peer name bench1 netns %d && "
             "ip address add " OURS "/24 dev bench0 && ip link set bench0 up && "
             "nsenter -t %d -n sh -c 'ip address add " THEIRS
             "/24 dev bench1 && ip link set bench1 up'",
             (int)other, (int)other);
    if (system(command) != 0)
        udp_bench_fail("no veth pair: root is needed");
}

static pid_t udp_bench_start(void) {
    int ready[2], go[2];
    char c = 0;
    if (pipe(ready) < 0 || pipe(go) < 0)
        udp_bench_fail("no pipe");
    const pid_t child = fork();
    if (child == 0)
        udp_bench_other_end(ready[1], go[0]);
    if (child < 0 || unshare(CLONE_NEWNET) < 0 || read(ready[0], &c, 1) != 1)
        udp_bench_fail("no network namespace: root is needed");
    udp_bench_link(child);
    if (write(go[1], &c, 1) != 1 || read(ready[0], &c, 1) != 1)
        udp_bench_fail("the other end does not start");
    return child;
}

// ---- the worker ----

static uint64_t udp_bench_work(void *aux, uint64_t times) {
    struct udp_bench *b = aux;
    for (uint64_t t = 0; t < times; t++)
        if (silken_allreduce_f32(b->comm, b->tensor, b->tensor, COUNT))
            udp_bench_fail("the worker's tensor is not reduced");
    return times * COUNT * sizeof(float);
}

static void udp_bench_open(struct udp_bench *b) {
    struct silken_config config;
    char why[256];
    silken_config_init(&config);
    config.workers = 1;
    config.pool_size = SLOTS;
    config.k = K;
    config.no_session = true;
    config.device = "udp:";
    config.switch_ip = THEIRS;
    if (silken_open(&b->comm, &config, why, sizeof why))
        udp_bench_fail(why);
    b->tensor = aligned_alloc(64, COUNT * sizeof(float));
    if (!b->tensor)
        udp_bench_fail("no memory");
    for (size_t i = 0; i < COUNT; i++)
        b->tensor[i] = (float)(i % 1000) * 1e-3f;
}

// ---- iperf3 ----

// Bits a second of the sender for each second of its processor time, from its report.
static double udp_bench_iperf_rate(json_t *report) {
    json_t *end = json_object_get(report, "end");
    double bps = json_number_value(json_object_get(json_object_get(end, "sum"), "bits_per_second"));
    double cpu = json_number_value(
        json_object_get(json_object_get(end, "cpu_utilization_percent"), "host_total"));
    return cpu > 0 ? bps / (cpu / 100) : 0;
}

static void udp_bench_iperf(pid_t other, json_t *result) {
    char command[256];
    snprintf(command, sizeof command,
             "nsenter -t %d -n iperf3 -s -1 -D >/dev/null 2>&1; sleep 0.3; iperf3 -u -b 0 -l %u -t "
             "%d -J -c " THEIRS " 2>/dev/null",
             (int)other, (unsigned)IPERF_LEN, IPERF);
    FILE *f = popen(command, "r");
    json_t *report = f ? json_loadf(f, 0, NULL) : NULL;
    double rate = udp_bench_iperf_rate(report) / 1e9;
    if (f)
        pclose(f);
    json_decref(report);
    if (rate > 0)
        bench_put(result, "iperf3_gbps", (struct bench_stat){rate, 0});
    else
        bench_error(result, "iperf3_gbps", "iperf3 gives no report: is it installed?");
}

void measure_udp_worker(const struct bench_options *opt, json_t *result) {
    struct udp_bench b = {.echo = udp_bench_start()};
    udp_bench_open(&b);
    struct bench_side side = {.name = "udp_worker", .work = udp_bench_work, .aux = &b};
    const size_t n = bench_trials(&side, 1, opt->seconds * 0.7, 1e8);
    double *v = calloc(n, sizeof *v);
    if (!v)
        abort();
    for (size_t i = 0; i < n; i++)
        v[i] = 8 / side.ns[i];
    bench_put(result, "gbps", bench_stat(v, n));
    for (size_t i = 0; i < n; i++)
        v[i] = side.ns[i] * 4 * K;
    bench_put(result, "ns_per_packet", bench_stat(v, n));
    silken_close(b.comm);
    bench_unpin();
    udp_bench_iperf(b.echo, result);
    bench_note(result,
               "a tensor of %zu MiB of float32 in place over kernel UDP sockets and a veth pair, "
               "packets of %u elements, %u slots, sent back by another process; gbps are of the "
               "tensor, for a second of the worker's processor time; iperf3 sends packets of %u "
               "bytes one way, for a second of its sender's",
               COUNT * sizeof(float) >> 20, K, SLOTS, (unsigned)IPERF_LEN);
    kill(b.echo, SIGKILL);
    waitpid(b.echo, NULL, 0);
    bench_sides_free(&side, 1);
    free(b.tensor);
    free(v);
}
