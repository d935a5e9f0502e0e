// SPDX-License-Identifier: Apache-2.0
#include "pipeline/lcores.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Turns without work until an lcore gives its processor away, and until it sleeps.
#define SPIN_TURNS  200u
#define YIELD_TURNS 400u

struct lcore {
    struct sk_lcores *all;
    unsigned number;
    pthread_t thread;
    bool started;
};

struct sk_lcores {
    struct sk_lcores_options opt;
    int *cpus;
    cpu_set_t anywhere; // the processors that the process may use
    struct lcore *list;
    atomic_bool stopped;
    atomic_bool wanted; // a pause: looked at between turns, the rest is under the lock
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool paused;
    bool failed;               // one could not enter
    unsigned running, waiting; // lcores but the first
};

struct sk_lcores *sk_lcores_new(const struct sk_lcores_options *opt, char *error,
                                size_t error_size) {
    struct sk_lcores *l = calloc(1, sizeof *l);
    if (l) {
        l->list = calloc(opt->n, sizeof *l->list);
        l->cpus = calloc(opt->n, sizeof *l->cpus);
    }
    if (!l || !l->list || !l->cpus) {
        snprintf(error, error_size, "not enough memory for %u lcores", opt->n);
        sk_lcores_free(l);
        return NULL;
    }
    l->opt = *opt;
    for (unsigned i = 0; i < opt->n; i++) {
        l->list[i] = (struct lcore){.all = l, .number = i};
        l->cpus[i] = opt->cpus ? opt->cpus[i] : -1;
    }
    if (sched_getaffinity(0, sizeof l->anywhere, &l->anywhere))
        memset(&l->anywhere, 0xff, sizeof l->anywhere);
    atomic_init(&l->stopped, false);
    atomic_init(&l->wanted, false);
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->changed, NULL);
    return l;
}

void sk_lcores_free(struct sk_lcores *l) {
    if (!l)
        return;
    if (l->list && l->cpus) {
        pthread_mutex_destroy(&l->lock);
        pthread_cond_destroy(&l->changed);
    }
    free(l->list);
    free(l->cpus);
    free(l);
}

void sk_lcores_stop(struct sk_lcores *l) {
    atomic_store_explicit(&l->stopped, true, memory_order_relaxed);
}

// ---- pauses ----

static void wait_if_wanted(struct sk_lcores *l) {
    if (!atomic_load_explicit(&l->wanted, memory_order_relaxed))
        return;
    pthread_mutex_lock(&l->lock);
    l->waiting++;
    pthread_cond_broadcast(&l->changed);
    while (l->paused)
        pthread_cond_wait(&l->changed, &l->lock);
    l->waiting--;
    pthread_mutex_unlock(&l->lock);
}

void sk_lcores_pause(struct sk_lcores *l) {
    if (l->opt.n == 1)
        return;
    pthread_mutex_lock(&l->lock);
    l->paused = true;
    atomic_store_explicit(&l->wanted, true, memory_order_relaxed);
    while (l->waiting < l->running)
        pthread_cond_wait(&l->changed, &l->lock);
    pthread_mutex_unlock(&l->lock);
}

void sk_lcores_resume(struct sk_lcores *l) {
    if (l->opt.n == 1)
        return;
    pthread_mutex_lock(&l->lock);
    l->paused = false;
    atomic_store_explicit(&l->wanted, false, memory_order_relaxed);
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
}

// ---- turns ----

static void rest(const struct sk_lcores *l, unsigned empty) {
    if (l->opt.idle_sleep_us == 0 || empty <= SPIN_TURNS)
        return;
    if (empty > YIELD_TURNS)
        usleep(l->opt.idle_sleep_us);
    else
        sched_yield();
}

static void take_turns(struct sk_lcores *l, unsigned number) {
    unsigned empty = 0;
    while (!atomic_load_explicit(&l->stopped, memory_order_relaxed)) {
        if (number > 0)
            wait_if_wanted(l);
        bool worked = l->opt.turn(l->opt.aux, number);
        empty = worked ? 0 : empty <= YIELD_TURNS ? empty + 1 : empty;
        rest(l, empty);
    }
}

// One that is done is no longer waited for; one that waits for others does so until they are.
static void set_running(struct sk_lcores *l, int by, bool failed) {
    pthread_mutex_lock(&l->lock);
    l->running += (unsigned)by;
    l->failed |= failed;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
}

static void *other_lcore(void *aux) {
    const struct lcore *one = aux;
    struct sk_lcores *l = one->all;
    bool entered = !l->opt.enter || l->opt.enter(l->opt.aux, one->number);
    if (!entered) {
        sk_lcores_stop(l);
        set_running(l, -1, true);
        return NULL;
    }
    take_turns(l, one->number);
    if (l->opt.leave)
        l->opt.leave(l->opt.aux, one->number);
    set_running(l, -1, false);
    return NULL;
}

static int bind_to(const struct sk_lcores *l, pthread_t thread, int cpu) {
    cpu_set_t set;
    if (cpu < 0) // a new thread is where the first one is
        return pthread_setaffinity_np(thread, sizeof l->anywhere, &l->anywhere);
    CPU_ZERO(&set);
    if (cpu < CPU_SETSIZE)
        CPU_SET((unsigned)cpu, &set);
    return pthread_setaffinity_np(thread, sizeof set, &set);
}

static bool start_others(struct sk_lcores *l, char *error, size_t error_size) {
    int rc = bind_to(l, pthread_self(), l->cpus[0]);
    unsigned i = 0;
    for (i = 1; rc == 0 && i < l->opt.n; i++) {
        struct lcore *one = &l->list[i];
        set_running(l, 1, false); // before it runs: a pause waits for it
        rc = pthread_create(&one->thread, NULL, other_lcore, one);
        one->started = rc == 0;
        if (rc)
            set_running(l, -1, false);
        else
            rc = bind_to(l, one->thread, l->cpus[i]);
    }
    if (rc)
        snprintf(error, error_size, "cannot run lcore %u%s: %s", i > 0 ? i - 1 : 0,
                 rc == EINVAL ? " on its processor" : "",
                 rc == EINVAL ? "there is no such processor, or this process may not use it"
                              : strerror(rc));
    return rc == 0;
}

bool sk_lcores_run(struct sk_lcores *l, char *error, size_t error_size) {
    bool good = start_others(l, error, error_size);
    if (good)
        take_turns(l, 0);
    sk_lcores_stop(l);
    for (unsigned i = 1; i < l->opt.n; i++)
        if (l->list[i].started)
            pthread_join(l->list[i].thread, NULL);
    if (good && l->failed)
        snprintf(error, error_size, "an lcore could not be started");
    return good && !l->failed;
}
