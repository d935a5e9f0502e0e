// SPDX-License-Identifier: Apache-2.0
#include "pipeline/cores/lcores.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "stages/table.h"

// Turns without work until an lcore gives its processor away, until it sleeps, and until it sleeps
// for longer.
#define SPIN_TURNS    200u
#define YIELD_TURNS   400u
#define SLEEP_TURNS   2400u
#define LONG_SLEEP_US 500u
#define SLACK_NS      1000L // by which the system may end a sleep late; usually 50,000
// Of one that waits in a pause which is not short.
#define PAUSE_SLEEP_US 20u
// How long one looks in a pause, who needs no processor of another, before it gives its own away: a
// turn takes some microseconds, and so do most pauses. Few take as long as an lcore that never
// sleeps looks for their end.
#define LOOK_NS      UINT64_C(20000)
#define LONG_LOOK_NS UINT64_C(1000000)

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
    cpu_set_t theirs;   // of the lcores
    bool have_own;      // each lcore has one
    struct lcore *list;
    atomic_bool stopped;
    atomic_bool failed;  // one could not enter
    atomic_bool wanted;  // a pause: looked at between turns
    atomic_uint running; // lcores that take turns, or are about to
    atomic_uint waiting; // of those: for the end of a pause
    atomic_uint resting; // of those that run: with nothing to do for a while
    atomic_bool apart;   // the one who pauses is on none of the lcores' own processors
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
        if (l->cpus[i] >= 0 && l->cpus[i] < CPU_SETSIZE)
            CPU_SET((unsigned)l->cpus[i], &l->theirs);
    }
    l->have_own = (unsigned)CPU_COUNT(&l->theirs) == opt->n;
    if (sched_getaffinity(0, sizeof l->anywhere, &l->anywhere))
        memset(&l->anywhere, 0xff, sizeof l->anywhere);
    atomic_init(&l->stopped, false);
    atomic_init(&l->failed, false);
    atomic_init(&l->wanted, false);
    atomic_init(&l->running, 0);
    atomic_init(&l->waiting, 0);
    atomic_init(&l->resting, 0);
    atomic_init(&l->apart, false);
    return l;
}

void sk_lcores_free(struct sk_lcores *l) {
    if (!l)
        return;
    free(l->list);
    free(l->cpus);
    free(l);
}

void sk_lcores_stop(struct sk_lcores *l) {
    atomic_store_explicit(&l->stopped, true, memory_order_relaxed);
}

// ---- waiting ----

struct lcores_wait {
    uint64_t look;  // ns
    uint64_t since; // 0: it begins
    unsigned times;
};

// Does the one who pauses run where no lcore needs it?
static bool is_apart(const struct sk_lcores *l) {
    const int cpu = sched_getcpu();
    return l->have_own && cpu >= 0 && cpu < CPU_SETSIZE && !CPU_ISSET((unsigned)cpu, &l->theirs);
}

// With a processor for each, the one that is waited for answers soon, while one that was given away
// comes back when the system likes: a client's reply, or packets, would wait for that.
static bool looks_on(const struct sk_lcores *l, struct lcores_wait *w) {
    if (!atomic_load_explicit(&l->apart, memory_order_relaxed))
        return false;
    const uint64_t now = sk_clock_now();
    w->since = w->since ? w->since : now;
    return now - w->since < w->look;
}

// Else a processor that has other work is given to it at once: the one who pauses may need it.
static void wait_once(const struct sk_lcores *l, struct lcores_wait *w) {
    if (looks_on(l, w)) {
        __builtin_ia32_pause();
        return;
    }
    if (l->opt.idle_sleep_us > 0 && w->times > YIELD_TURNS)
        usleep(PAUSE_SLEEP_US);
    else
        sched_yield();
    w->times += w->times <= YIELD_TURNS;
}

// ---- pauses ----
//
// One who pauses says that he wants it and then counts those who wait; an lcore says that it does
// not wait any more and then looks whether a pause is wanted. So either sees the other, in whatever
// order that happens, and an lcore that is on its way out of one pause is never taken for one that
// waits in the next. All of that is sequentially consistent, but for the look between two turns:
// nobody goes on before that lcore has answered.

static void wait_while_wanted(struct sk_lcores *l) {
    while (atomic_load(&l->wanted)) {
        struct lcores_wait w = {.look = l->opt.idle_sleep_us ? LOOK_NS : LONG_LOOK_NS};
        atomic_fetch_add(&l->waiting, 1);
        while (atomic_load(&l->wanted))
            wait_once(l, &w);
        atomic_fetch_sub(&l->waiting, 1);
    }
}

// One that sleeps counts as one that waits: a pause begins at once on an idle switch.
static void lcores_sleep(struct sk_lcores *l, unsigned empty) {
    uint32_t us = l->opt.idle_sleep_us;
    if (empty > SLEEP_TURNS && us < LONG_SLEEP_US)
        us = LONG_SLEEP_US;
    atomic_fetch_add(&l->waiting, 1);
    usleep(us);
    atomic_fetch_sub(&l->waiting, 1);
    wait_while_wanted(l);
}

// After so many turns without work. Returns how many they are taken for.
static unsigned lcores_rest(struct sk_lcores *l, unsigned empty) {
    if (l->opt.idle_sleep_us == 0 || empty <= SPIN_TURNS)
        return empty;
    if (empty > YIELD_TURNS) {
        lcores_sleep(l, empty);
        return empty;
    }
    return sk_clock_yield() ? empty : YIELD_TURNS;
}

void sk_lcores_pause(struct sk_lcores *l) {
    struct lcores_wait w = {.look = LOOK_NS};
    atomic_store_explicit(&l->apart, is_apart(l), memory_order_relaxed);
    atomic_store(&l->wanted, true);
    while (atomic_load(&l->waiting) < atomic_load(&l->running))
        wait_once(l, &w);
}

bool sk_lcores_idle(struct sk_lcores *l) {
    const unsigned running = atomic_load(&l->running);
    return atomic_load(&l->waiting) == running || atomic_load(&l->resting) == running;
}

void sk_lcores_resume(struct sk_lcores *l, bool changed) {
    if (changed)
        sk_tables_changed(); // who paused them may have changed anything
    atomic_store(&l->wanted, false);
}

// ---- turns ----

static void take_turns(struct sk_lcores *l, unsigned number) {
    unsigned empty = 0;
    prctl(PR_SET_TIMERSLACK, SLACK_NS);
    wait_while_wanted(l); // it has been counted as running since a moment ago
    while (!atomic_load_explicit(&l->stopped, memory_order_relaxed)) {
        if (atomic_load_explicit(&l->wanted, memory_order_relaxed))
            wait_while_wanted(l);
        bool worked = l->opt.turn(l->opt.aux, number);
        if (worked && empty >= SPIN_TURNS)
            atomic_fetch_sub(&l->resting, 1);
        empty = worked ? 0 : empty <= SLEEP_TURNS ? empty + 1 : empty;
        if (empty == SPIN_TURNS)
            atomic_fetch_add(&l->resting, 1);
        empty = lcores_rest(l, empty);
    }
    if (empty >= SPIN_TURNS)
        atomic_fetch_sub(&l->resting, 1);
}

static void *other_lcore(void *aux) {
    const struct lcore *one = aux;
    struct sk_lcores *l = one->all;
    bool entered = !l->opt.enter || l->opt.enter(l->opt.aux, one->number);
    if (!entered) {
        atomic_store(&l->failed, true);
        sk_lcores_stop(l);
        atomic_fetch_sub(&l->running, 1);
        return NULL;
    }
    take_turns(l, one->number);
    if (l->opt.leave)
        l->opt.leave(l->opt.aux, one->number);
    atomic_fetch_sub(&l->running, 1);
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
        atomic_fetch_add(&l->running, 1); // before it runs: a pause waits for it
        rc = pthread_create(&one->thread, NULL, other_lcore, one);
        one->started = rc == 0;
        if (rc)
            atomic_fetch_sub(&l->running, 1);
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
    if (good) {
        atomic_fetch_add(&l->running, 1);
        take_turns(l, 0);
        atomic_fetch_sub(&l->running, 1);
    }
    sk_lcores_stop(l);
    for (unsigned i = 1; i < l->opt.n; i++)
        if (l->list[i].started)
            pthread_join(l->list[i].thread, NULL);
    bool failed = atomic_load(&l->failed);
    if (good && failed)
        snprintf(error, error_size, "an lcore could not be started");
    return good && !failed;
}
