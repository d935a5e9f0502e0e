// SPDX-License-Identifier: Apache-2.0
#include "dpdk/eal.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

#include <rte_eal.h>

#define MOST_ARGUMENTS 12

struct eal_arguments {
    char text[MOST_ARGUMENTS][2048];
    char *list[MOST_ARGUMENTS + 1];
    int n;
};

struct eal_arguments *eal_arguments(void) {
    static struct eal_arguments a;
    a.n = 0;
    eal_add(&a, "silken");
    return &a;
}

void eal_add(struct eal_arguments *a, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    vsnprintf(a->text[a->n], sizeof a->text[0], format, ap);
    va_end(ap);
    a->list[a->n] = a->text[a->n];
    a->list[++a->n] = NULL;
}

void eal_add_cores(struct eal_arguments *a, int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (cpu >= 0 || sched_getaffinity(0, sizeof set, &set)) {
        eal_add(a, "--lcores=0@%d", cpu >= 0 ? cpu : 0);
        return;
    }
    char cores[2000] = "";
    size_t used = 0;
    for (int i = 0; i < CPU_SETSIZE && used < sizeof cores - 16; i++)
        if (CPU_ISSET(i, &set))
            used += (size_t)snprintf(cores + used, sizeof cores - used, "%s%d", used ? "," : "", i);
    eal_add(a, "--lcores=0@(%s)", cores);
}

// rte_eal_init permutes the list; the text stays where it is as long as the process lives.
bool eal_start(struct eal_arguments *a) {
    sigset_t ours, before;
    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &ours, &before);
    const bool good = rte_eal_init(a->n, a->list) >= 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return good;
}
