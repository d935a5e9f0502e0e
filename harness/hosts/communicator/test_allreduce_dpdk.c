// SPDX-License-Identifier: Apache-2.0
//
// A whole job as it is deployed on one machine: each worker is a process with a communicator on
// net_memif, and the switch is a process with a memif port for each. The switch is the model; what
// is tested is everything around it. The workers start before the switch does.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "harness/hosts/model_switch.h"
#include "harness/hosts/netsim.h"
#include "harness/hosts/communicator/switch_loop.h"
#include "silken/allreduce.h"

#define WORKERS 4
#define K       256
#define SLOTS   64
#define COUNT   (1 << 20)
#define ROUNDS  3

static pid_t children[WORKERS + 1];

static void device_of(char *device, size_t cap, unsigned worker, const char *role) {
    snprintf(device, cap,
             "net_memif%u,role=%s,id=0,socket-abstract=no,socket=/tmp/silken-job-%d-%u", worker,
             role, (int)getppid(), worker);
}

static void run_switch(void) {
    struct sut_job job = netsim_default_job(WORKERS, K, 0, SLOTS);
    struct switch_under_test sut = model_switch_new();
    static struct switch_loop loop;
    char device[128], why[256];

    usleep(200000);
    loop.sut = &sut;
    loop.ports = WORKERS;
    sut.reset(sut.state, &job);
    for (unsigned i = 0; i < WORKERS; i++) {
        device_of(device, sizeof device, i, "server");
        if (sk_transport_open(&loop.port[i], device, -1, why, sizeof why) != 0) {
            fprintf(stderr, "switch: %s\n", why);
            _exit(1);
        }
    }
    switch_loop_run(&loop);
}

static struct silken_comm *open_worker(unsigned rank) {
    struct silken_config config;
    struct silken_comm *comm;
    char device[128], why[256], mac[18], ip[16];

    silken_config_init(&config);
    config.no_session = true; // harness/session has the others
    device_of(device, sizeof device, rank, "client");
    snprintf(mac, sizeof mac, "02:00:00:00:01:%02x", rank);
    snprintf(ip, sizeof ip, "10.0.0.%u", rank + 1);
    config.rank = rank;
    config.workers = WORKERS;
    config.job = 5;
    config.k = K;
    config.pool_size = SLOTS;
    config.worker_mac = mac;
    config.worker_ip = ip;
    config.worker_port = (uint16_t)(0xbee0 + rank);
    config.switch_mac = "02:00:00:00:00:fe";
    config.switch_ip = "10.0.0.254";
    config.device = device;
    if (silken_open(&comm, &config, why, sizeof why) != 0) {
        fprintf(stderr, "worker %u: %s\n", rank, why);
        _exit(1);
    }
    return comm;
}

static int sums_are_right(const float *out, unsigned round) {
    for (size_t i = 0; i < COUNT; i++) {
        float want = (float)((i % 1000) * (1 + 2 + 3 + 4) + round * WORKERS);
        if (out[i] < want - 0.01f || out[i] > want + 0.01f) {
            fprintf(stderr, "element %zu is %g, not %g\n", i, (double)out[i], (double)want);
            return 0;
        }
    }
    return 1;
}

static void run_worker(unsigned rank) {
    struct silken_comm *comm = open_worker(rank);
    float *x = malloc(COUNT * sizeof *x);
    struct silken_stats s;

    for (unsigned round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < COUNT; i++)
            x[i] = (float)((i % 1000) * (rank + 1) + round);
        if (silken_allreduce_f32(comm, x, x, COUNT) != 0 || !sums_are_right(x, round))
            _exit(1);
    }
    silken_stats(comm, &s);
    fprintf(stderr,
            "worker %u: %.1f million elements/s, %llu packets, %llu of them again, rtt %.0f us\n",
            rank, (double)s.elements * 1e3 / (double)s.busy_ns, (unsigned long long)s.packets_sent,
            (unsigned long long)s.retransmissions, (double)s.rtt_ns / 1e3);
    silken_close(comm);
    _exit(s.tensors == ROUNDS ? 0 : 1);
}

static pid_t start(void (*run)(unsigned), unsigned argument) {
    pid_t pid = fork();

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        run(argument);
        _exit(1);
    }
    return pid;
}

static void run_switch_process(unsigned unused) {
    (void)unused;
    run_switch();
}

static void test_job_of_processes(void **state) {
    (void)state;
    for (unsigned i = 0; i < WORKERS; i++) {
        children[i] = start(run_worker, i);
        assert_true(children[i] > 0);
    }
    children[WORKERS] = start(run_switch_process, 0);
    for (unsigned i = 0; i < WORKERS; i++) {
        int status;
        assert_int_equal(children[i], waitpid(children[i], &status, 0));
        children[i] = 0;
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

static int stop_children(void **state) {
    char path[64];

    (void)state;
    for (unsigned i = 0; i <= WORKERS; i++) {
        if (children[i] > 0) {
            kill(children[i], SIGKILL);
            waitpid(children[i], NULL, 0);
        }
        snprintf(path, sizeof path, "/tmp/silken-job-%d-%u", (int)getpid(), i);
        unlink(path);
    }
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_job_of_processes, stop_children),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
