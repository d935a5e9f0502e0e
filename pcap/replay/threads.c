// SPDX-License-Identifier: Apache-2.0
#include "pcap/replay/threads.h"
#include "pipeline/switch/core.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define READ_PACKETS 1024u // that are read at once, at most,
#define READ_FEW     128u  // where rounds are short: what has been read stays in cache
#define READ_BYTES   (1u << 20)
#define MAX_FRAME    (64u << 10) // no switch takes a longer one, so its bytes do not matter
#define ENOUGH       4u          // packets in a round that are worth waking a thread for
#define SPIN_TURNS   2000u       // without work, until a thread gives its processor away,
#define YIELD_TURNS  200u        // and then until it sleeps

struct received {
    uint64_t time_ns, serial;
    uint32_t offset, length;
    uint16_t port;
};

// A pipe, and which of the packets that were read it is to receive.
struct lane {
    struct sk_core *core;
    uint32_t *queue, n, at;
    uint64_t next; // when something happens next, as far as this pipe knows
};

struct worker {
    struct replay_threads *all;
    unsigned number;
    pthread_t thread;
};

struct replay_threads {
    const struct replay_threads_options *opt;
    struct lane lanes[SK_PIPES];
    struct received list[READ_PACKETS];
    uint32_t n;
    uint8_t *bytes;
    uint64_t serial;  // of the last packet that was read
    uint64_t last;    // its time
    bool end;         // no packet is left to be read
    uint64_t numbers; // one_by_one: of the last packet that was received or generated
    // the round
    uint64_t round, until; // until before this time
    struct worker workers[SK_PIPES];
    unsigned started;
    _Atomic(uint32_t) go, done;
    atomic_bool stop;
    _Atomic(uint32_t) asleep;
    pthread_mutex_t lock;
    pthread_cond_t woken;
};

// ---- reading ----

static void replay_threads_take(struct replay_threads *t, const struct replay_packet *p,
                                uint32_t offset) {
    struct lane *lane = &t->lanes[sk_port_pipe(p->port)];
    const uint32_t kept = p->length < MAX_FRAME ? p->length : MAX_FRAME;
    memcpy(t->bytes + offset, p->bytes, kept);
    t->list[t->n] = (struct received){p->time_ns, ++t->serial, offset, p->length, p->port};
    lane->queue[lane->n++] = t->n++;
    t->last = p->time_ns;
}

static void replay_threads_read_some(struct replay_threads *t) {
    struct replay_packet p;
    t->n = 0;
    for (unsigned i = 0; i < SK_PIPES; i++)
        t->lanes[i].n = t->lanes[i].at = 0;
    const uint32_t most = t->opt->crossing_ns == UINT64_MAX ? READ_PACKETS : READ_FEW;
    for (uint32_t used = 0; t->n < most && used < READ_BYTES;) {
        if (!t->opt->next(t->opt->aux, &p)) {
            const uint64_t until = t->opt->until(t->opt->aux);
            t->last = until > t->last ? until : t->last;
            t->end = true;
            break;
        }
        replay_threads_take(t, &p, used);
        used += p.length < MAX_FRAME ? p.length : MAX_FRAME;
    }
    for (unsigned i = 0; i < SK_PIPES; i++) {
        struct lane *lane = &t->lanes[i];
        const uint64_t first = lane->n ? t->list[lane->queue[0]].time_ns : UINT64_MAX;
        lane->next = first < lane->next ? first : lane->next;
    }
}

static bool all_taken(const struct replay_threads *t) {
    for (unsigned i = 0; i < SK_PIPES; i++)
        if (t->lanes[i].at < t->lanes[i].n)
            return false;
    return true;
}

// ---- a pipe's part of a round ----

static void replay_threads_receive(struct replay_threads *t, struct lane *lane,
                                   const struct received *p) {
    if (!t->opt->count_generated)
        sk_core_set_serial(lane->core, p->serial - 1);
    sk_core_rx(lane->core, p->port, t->bytes + p->offset, p->length, p->time_ns);
    sk_core_run(lane->core, p->time_ns);
}

static void run_lane(struct replay_threads *t, struct lane *lane) {
    const uint64_t until = t->until;
    uint64_t event;
    sk_core_round(lane->core, t->round);
    while (lane->at < lane->n && t->list[lane->queue[lane->at]].time_ns < until)
        replay_threads_receive(t, lane, &t->list[lane->queue[lane->at++]]);
    while ((event = sk_core_next(lane->core, true)) < until)
        sk_core_run(lane->core, event);
    lane->next = event;
    if (lane->at < lane->n && t->list[lane->queue[lane->at]].time_ns < event)
        lane->next = t->list[lane->queue[lane->at]].time_ns;
}

static void run_share(struct replay_threads *t, unsigned number) {
    for (unsigned i = number; i < SK_PIPES; i += t->opt->threads)
        run_lane(t, &t->lanes[i]);
}

static void replay_threads_run_all(struct replay_threads *t) {
    for (unsigned i = 0; i < SK_PIPES; i++) {
        struct lane *lane = &t->lanes[i];
        if (t->opt->count_generated)
            sk_core_set_serial(lane->core, t->numbers);
        run_lane(t, lane);
        t->numbers = sk_core_serial(lane->core);
    }
}

// ---- threads ----

static void pause_processor(void) {
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
}

static void sleep_until_go(struct replay_threads *t, uint32_t seen) {
    pthread_mutex_lock(&t->lock);
    // either this is seen by the one who starts the round, or the round by this thread
    atomic_fetch_add(&t->asleep, 1);
    while (atomic_load(&t->go) == seen)
        pthread_cond_wait(&t->woken, &t->lock);
    atomic_fetch_sub(&t->asleep, 1);
    pthread_mutex_unlock(&t->lock);
}

static uint32_t wait_for_go(struct replay_threads *t, uint32_t seen) {
    for (unsigned i = 0; atomic_load_explicit(&t->go, memory_order_acquire) == seen; i++) {
        if (i < SPIN_TURNS)
            pause_processor();
        else if (i < SPIN_TURNS + YIELD_TURNS)
            sched_yield();
        else
            sleep_until_go(t, seen);
    }
    return atomic_load_explicit(&t->go, memory_order_acquire);
}

static void *replay_threads_main(void *aux) {
    const struct worker *w = aux;
    struct replay_threads *t = w->all;
    for (uint32_t seen = 0;;) {
        seen = wait_for_go(t, seen);
        if (atomic_load_explicit(&t->stop, memory_order_relaxed))
            return NULL;
        run_share(t, w->number);
        atomic_fetch_add_explicit(&t->done, 1, memory_order_release);
    }
}

static void replay_threads_let_go(struct replay_threads *t) {
    atomic_store_explicit(&t->done, 0, memory_order_relaxed);
    atomic_fetch_add(&t->go, 1);
    if (atomic_load(&t->asleep) == 0)
        return;
    pthread_mutex_lock(&t->lock);
    pthread_cond_broadcast(&t->woken);
    pthread_mutex_unlock(&t->lock);
}

static void run_together(struct replay_threads *t) {
    replay_threads_let_go(t);
    run_share(t, 0);
    for (unsigned i = 0; atomic_load_explicit(&t->done, memory_order_acquire) < t->started; i++)
        if (i < SPIN_TURNS)
            pause_processor();
        else
            sched_yield();
}

static bool replay_threads_start(struct replay_threads *t) {
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->woken, NULL);
    if (t->opt->one_by_one)
        return true;
    for (unsigned i = 1; i < t->opt->threads; i++) {
        struct worker *w = &t->workers[i];
        *w = (struct worker){.all = t, .number = i};
        if (pthread_create(&w->thread, NULL, replay_threads_main, w))
            return false;
        t->started++;
    }
    return true;
}

static void replay_threads_join(struct replay_threads *t) {
    atomic_store_explicit(&t->stop, true, memory_order_relaxed);
    replay_threads_let_go(t);
    for (unsigned i = 1; i <= t->started; i++)
        pthread_join(t->workers[i].thread, NULL);
    pthread_cond_destroy(&t->woken);
    pthread_mutex_destroy(&t->lock);
}

// ---- rounds ----

// Whether more than one thread has something to do in the round.
static bool worth_it(const struct replay_threads *t) {
    uint32_t n[SK_PIPES] = {0}, busy = 0, sent = 0;
    for (unsigned i = 0; i < SK_PIPES; i++) {
        const struct lane *lane = &t->lanes[i];
        uint32_t *own = &n[i % t->opt->threads], more;
        sk_core_sent(lane->core, &more);
        sent += more;
        for (uint32_t k = lane->at; *own < ENOUGH && k < lane->n; k++, ++*own)
            if (t->list[lane->queue[k]].time_ns >= t->until)
                break;
    }
    for (unsigned i = 0; i < SK_PIPES; i++)
        busy += n[i] >= ENOUGH;
    return busy > 1 || sent >= ENOUGH;
}

// When the next round begins; UINT64_MAX: there is nothing left.
static uint64_t next_time(const struct replay_threads *t) {
    uint64_t first = UINT64_MAX;
    for (unsigned i = 0; i < SK_PIPES; i++) {
        const struct lane *lane = &t->lanes[i];
        uint32_t n;
        const uint64_t sent = sk_core_sent(lane->core, &n);
        first = sent < first ? sent : first;
        first = lane->next < first ? lane->next : first;
    }
    return first;
}

// After the last packet nothing is generated any more.
static uint64_t end_generators(struct replay_threads *t) {
    sk_pktgen_end(t->opt->sw);
    for (unsigned i = 0; i < SK_PIPES; i++)
        t->lanes[i].next = sk_core_next(t->lanes[i].core, true);
    return next_time(t);
}

static uint64_t longest_round(const struct replay_threads_options *opt) {
    if (opt->one_by_one)
        return 1;
    return sk_pktgen_any(opt->sw) && opt->longest_ns < opt->crossing_ns ? opt->longest_ns
                                                                        : opt->crossing_ns;
}

static void replay_threads_run_rounds(struct replay_threads *t) {
    const uint64_t longest = longest_round(t->opt);
    bool generates = true;
    for (;;) {
        if (!t->end && all_taken(t))
            replay_threads_read_some(t);
        uint64_t from = next_time(t);
        if (t->end && generates && from > t->last && all_taken(t)) {
            generates = false;
            from = end_generators(t);
        }
        if (from == UINT64_MAX)
            return;
        t->until = longest < UINT64_MAX - from ? from + longest : UINT64_MAX;
        if (generates && t->until > t->last + 1)
            t->until = t->last + 1;
        t->round++;
        if (t->started && worth_it(t))
            run_together(t);
        else
            replay_threads_run_all(t);
        if (!t->opt->between(t->opt->aux))
            return;
    }
}

bool replay_threads_run(const struct replay_threads_options *opt) {
    struct replay_threads *t = calloc(1, sizeof *t);
    uint32_t *queues = calloc((size_t)SK_PIPES * READ_PACKETS, sizeof *queues);
    if (!t || !queues || !(t->bytes = malloc(READ_BYTES + MAX_FRAME)))
        abort();
    t->opt = opt;
    t->last = sk_switch_now(opt->sw);
    for (unsigned i = 0; i < SK_PIPES; i++) {
        struct sk_core *core = sk_switch_core(opt->sw, i);
        t->lanes[i] = (struct lane){
            .core = core, .queue = queues + i * READ_PACKETS, .next = sk_core_next(core, true)};
    }
    bool good = replay_threads_start(t);
    if (good)
        replay_threads_run_rounds(t);
    replay_threads_join(t);
    free(t->bytes);
    free(queues);
    free(t);
    return good;
}
