/* SPDX-License-Identifier: Apache-2.0 */
#include "hosts/lane.h"

#include <stdio.h>
#include <string.h>

#include "hosts/clock.h"

#define MS UINT64_C(1000000)

/* The driver looks for new shares at least this often, in ns. */
#define LONGEST_WAIT MS

#define EXPLANATION 4096 /* bytes of a stall's explanation */

_Static_assert(SILKEN_IGNORED_KINDS == SWML_REASON_COUNT, "public counters cover all reasons");

/* ---- lists ----------------------------------------------------------------------------------- */

static void put(struct sk_shares *list, struct sk_share *r) {
    r->next = NULL;
    *(list->first ? &list->last->next : &list->first) = r;
    list->last = r;
}

static struct sk_share *take(struct sk_shares *list) {
    struct sk_share *r = list->first;

    if (r) {
        list->first = r->next;
    }
    return r;
}

static void take_out(struct sk_shares *list, struct sk_share *r) {
    struct sk_shares rest = {NULL, NULL};
    struct sk_share *other;

    while ((other = take(list))) {
        if (other != r) {
            put(&rest, other);
        }
    }
    *list = rest;
}

/* ---- one step of the driver; without the lock unless it says so ------------------------------ */

/* With the lock: ends a share. */
static void end_share(struct sk_lane *l, struct sk_share *r, int result) {
    take_out(&l->active, r);
    r->result = result;
    r->ended = true;
    pthread_cond_broadcast(&l->changed);
}

/* With the lock: the job is over; everything ends. */
static void fail_all(struct sk_lane *l, int fault) {
    struct sk_share *r;

    l->fault = fault;
    while ((r = take(&l->fresh))) {
        put(&l->active, r);
    }
    while (l->active.first) {
        end_share(l, l->active.first, fault);
    }
}

/* With the lock: gives new shares to the worker. */
static void take_fresh(struct sk_lane *l, uint64_t now) {
    struct sk_share *r;

    while ((r = take(&l->fresh))) {
        int rc = swml_worker_submit(l->worker, &r->tensor, now);
        put(&l->active, r);
        if (rc != 0) { /* the other workers have it and go on: this job cannot */
            fail_all(l, rc);
            return;
        }
    }
}

static size_t receive(struct sk_lane *l, uint64_t now) {
    struct sk_frame frames[SK_BURST];
    size_t n = sk_transport_recv(l->transport, frames, SK_BURST);

    for (size_t i = 0; i < n; i++) {
        swml_worker_read(l->worker, frames[i].data, frames[i].len, now);
    }
    return n;
}

/* Builds packets in the transport's buffers. Returns how many; 0 also when it has none left. */
static uint32_t write_burst(struct sk_lane *l, uint64_t now) {
    size_t lent = sk_transport_lend(l->transport, l->frames, SK_BURST);

    l->refused = lent == 0 ? swml_worker_queued(l->worker) : 0;
    l->unsent = l->unsent_from = 0;
    while (l->unsent < lent) {
        struct sk_frame *frame = &l->frames[l->unsent];
        frame->len = (uint32_t)swml_worker_write(l->worker, frame->data, SK_MAX_FRAME, now);
        if (frame->len == 0) {
            break;
        }
        l->unsent++;
    }
    return l->unsent;
}

/* Sends what is built. Returns how much of it the transport has taken. */
static uint32_t post_burst(struct sk_lane *l) {
    uint32_t n = l->unsent - l->unsent_from;
    uint32_t sent = (uint32_t)sk_transport_post(l->transport, l->frames + l->unsent_from, n);

    l->unsent_from += sent;
    l->refused = n - sent;
    return sent;
}

/* Sends until the worker has nothing more or the transport takes no more. */
static size_t send_all(struct sk_lane *l, uint64_t now) {
    size_t total = 0;

    do {
        bool written = l->unsent_from < l->unsent ||
                       (swml_worker_queued(l->worker) > 0 && write_burst(l, now) > 0);
        if (!written) {
            return total;
        }
        total += post_burst(l);
    } while (l->unsent_from == l->unsent);
    return total;
}

/* The worker knows the protocol's side of it, and we whether its packets leave at all. */
static void log_stall(struct sk_lane *l, uint64_t now) {
    char text[EXPLANATION];
    size_t length;

    swml_worker_explain(l->worker, now, text, sizeof text);
    length = strlen(text);
    if (l->refused > 0) {
        snprintf(text + length, sizeof text - length,
                 "  The transport (%s) takes no more frames, %u wait: the link is down, or the "
                 "switch does not read.\n",
                 l->transport->ops->name, l->refused);
    }
    l->say(l->say_context, text);
}

static void count_busy_time(struct sk_lane *l, uint64_t now) {
    if (l->busy_since) {
        l->busy_ns += now - l->busy_since;
    }
    l->busy_since = swml_worker_busy(l->worker) ? now : 0;
}

/* With the lock. */
static void publish_stats(struct sk_lane *l) {
    struct swml_stats w = swml_worker_stats(l->worker);
    const struct sk_transport_stats *t = &l->transport->stats;

    l->stats = (struct silken_stats){
        .tensors = w.tensors_done,
        .elements = w.elements_done,
        .busy_ns = l->busy_ns,
        .packets_sent = w.packets_sent,
        .retransmissions = w.retransmissions,
        .answers = w.answers,
        .rtt_ns = w.rtt,
        .rto_ns = w.rto,
        .tx_bytes = t->tx_bytes,
        .rx_bytes = t->rx_bytes,
        .tx_full = t->tx_full,
        .rx_dropped = t->rx_dropped,
    };
    memcpy(l->stats.ignored, w.ignored, sizeof l->stats.ignored);
}

/* With the lock: what the others get to see of this step. */
static void publish(struct sk_lane *l, unsigned events) {
    void *share;

    while (swml_worker_done(l->worker, &share)) {
        end_share(l, share, 0);
    }
    if ((events & SWML_FAILED) && !l->fault) {
        fail_all(l, SILKEN_ERR_STALLED);
    }
    publish_stats(l);
}

/* Everything that can be done now. Returns whether anything moved. */
static bool step(struct sk_lane *l) {
    uint64_t now = sk_clock_now();
    unsigned events;
    size_t moved;

    pthread_mutex_lock(&l->lock);
    take_fresh(l, now);
    pthread_mutex_unlock(&l->lock);
    moved = receive(l, now);
    events = swml_worker_expire(l->worker, now);
    moved += send_all(l, now);
    if (events) {
        log_stall(l, now);
    }
    count_busy_time(l, now);
    pthread_mutex_lock(&l->lock);
    publish(l, events);
    pthread_mutex_unlock(&l->lock);
    return moved > 0;
}

static void rest(struct sk_lane *l) {
    uint64_t deadline = swml_worker_deadline(l->worker), now = sk_clock_now();
    uint64_t span = deadline > now ? deadline - now : 0;

    sk_transport_wait(l->transport, span < LONGEST_WAIT ? span : LONGEST_WAIT);
}

/* ---- drivers --------------------------------------------------------------------------------- */

/* Called and left with the lock by a thread that has found no driver: drives until the share ends. */
static void drive_until_ended(struct sk_lane *l, const struct sk_share *r) {
    l->driven = true;
    while (!r->ended) {
        pthread_mutex_unlock(&l->lock);
        if (!step(l)) {
            rest(l);
        }
        pthread_mutex_lock(&l->lock);
    }
    l->driven = false;
    pthread_cond_broadcast(&l->changed);
}

/* The lane's own thread. */
static void *drive_always(void *argument) {
    struct sk_lane *l = argument;

    pthread_setaffinity_np(pthread_self(), sizeof l->processors, &l->processors);
    pthread_mutex_lock(&l->lock);
    while (!l->closing) {
        if (!l->fresh.first && !l->active.first) {
            pthread_cond_wait(&l->changed, &l->lock);
            continue;
        }
        pthread_mutex_unlock(&l->lock);
        if (!step(l)) {
            rest(l);
        }
        pthread_mutex_lock(&l->lock);
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

/* ---- making and freeing ---------------------------------------------------------------------- */

int sk_lane_init(struct sk_lane *l, const struct swml_config *config,
                 void (*say)(void *context, const char *text), void *say_context,
                 const char **why) {
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->changed, NULL);
    l->has_lock = true;
    l->say = say;
    l->say_context = say_context;
    *why = "out of memory";
    return swml_worker_new(&l->worker, config, why);
}

int sk_lane_start(struct sk_lane *l, const cpu_set_t *processors) {
    l->processors = *processors;
    l->driven = true;
    if (pthread_create(&l->thread, NULL, drive_always, l) != 0) {
        return SILKEN_ERR_NOMEM;
    }
    l->has_thread = true;
    return 0;
}

void sk_lane_stop(struct sk_lane *l) {
    if (!l->has_thread) {
        return;
    }
    pthread_mutex_lock(&l->lock);
    l->closing = true;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
    pthread_join(l->thread, NULL);
    l->has_thread = false;
}

void sk_lane_free(struct sk_lane *l) {
    sk_lane_stop(l);
    sk_transport_close(l->transport);
    swml_worker_free(l->worker);
    if (l->has_lock) {
        pthread_cond_destroy(&l->changed);
        pthread_mutex_destroy(&l->lock);
    }
}

/* ---- shares ---------------------------------------------------------------------------------- */

void sk_lane_submit(struct sk_lane *l, struct sk_share *share) {
    pthread_mutex_lock(&l->lock);
    if (l->fault) {
        share->result = SILKEN_ERR_CLOSED;
        share->ended = true;
    } else {
        put(&l->fresh, share);
        pthread_cond_broadcast(&l->changed);
    }
    pthread_mutex_unlock(&l->lock);
}

int sk_lane_wait(struct sk_lane *l, struct sk_share *share) {
    int result;

    pthread_mutex_lock(&l->lock);
    while (!share->ended) {
        if (l->driven) {
            pthread_cond_wait(&l->changed, &l->lock);
        } else {
            drive_until_ended(l, share);
        }
    }
    result = share->result;
    pthread_mutex_unlock(&l->lock);
    return result;
}

bool sk_lane_test(struct sk_lane *l, const struct sk_share *share) {
    bool ended;

    pthread_mutex_lock(&l->lock);
    if (!share->ended && !l->driven) {
        l->driven = true;
        pthread_mutex_unlock(&l->lock);
        step(l);
        pthread_mutex_lock(&l->lock);
        l->driven = false;
        pthread_cond_broadcast(&l->changed);
    }
    ended = share->ended;
    pthread_mutex_unlock(&l->lock);
    return ended;
}

int sk_lane_fault(struct sk_lane *l) {
    int fault;

    pthread_mutex_lock(&l->lock);
    fault = l->fault;
    pthread_mutex_unlock(&l->lock);
    return fault;
}

struct silken_stats sk_lane_stats(struct sk_lane *l) {
    struct silken_stats stats;

    pthread_mutex_lock(&l->lock);
    stats = l->stats;
    pthread_mutex_unlock(&l->lock);
    return stats;
}
