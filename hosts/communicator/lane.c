// SPDX-License-Identifier: Apache-2.0
#include "hosts/communicator/lane.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "hosts/communicator/service.h"

#define EXPLANATION 4096 // bytes of a stall's explanation

// ---- lists -----------------------------------------------------------------------------------

static void lane_put(struct sk_shares *list, struct sk_share *r) {
    r->next = NULL;
    *(list->first ? &list->last->next : &list->first) = r;
    list->last = r;
}

static struct sk_share *lane_take(struct sk_shares *list) {
    struct sk_share *r = list->first;

    if (r)
        list->first = r->next;
    return r;
}

static void lane_take_out(struct sk_shares *list, struct sk_share *r) {
    struct sk_shares rest = {NULL, NULL};
    struct sk_share *other;

    while ((other = lane_take(list)))
        if (other != r)
            lane_put(&rest, other);
    *list = rest;
}

// ---- one step of the driver; without the lock unless it says so ------------------------------

// With the lock: ends a share.
static void end_share(struct sk_lane *l, struct sk_share *r, int result) {
    lane_take_out(&l->active, r);
    r->result = result;
    r->ended = true;
    pthread_cond_broadcast(&l->changed);
}

// With the lock: the job is over; everything ends.
static void fail_all(struct sk_lane *l, int fault) {
    struct sk_share *r;

    l->fault = fault;
    while ((r = lane_take(&l->fresh)))
        lane_put(&l->active, r);
    while (l->active.first)
        end_share(l, l->active.first, fault);
}

// With the lock: gives new shares, and what it has to know, to the engine.
static void take_fresh(struct sk_lane *l, uint64_t now) {
    struct sk_engine *engine = l->drive.engine;
    struct sk_share *r;

    if (l->places) {
        engine->ops->move(engine, l->places);
        free(l->places);
        l->places = NULL;
    }
    while ((r = lane_take(&l->fresh))) {
        int rc = engine->ops->submit(engine, &r->tensor, now);
        lane_put(&l->active, r);
        if (rc != 0) { // the other workers have it and go on: this job cannot
            fail_all(l, rc);
            return;
        }
    }
}

// The engine knows the protocol's side of it, and we whether its packets leave at all.
static void log_stall(struct sk_lane *l, uint64_t now) {
    char text[EXPLANATION];
    size_t length;

    l->drive.engine->ops->explain(l->drive.engine, now, text, sizeof text);
    length = strlen(text);
    if (l->drive.refused > 0) {
        snprintf(text + length, sizeof text - length,
                 "  The transport (%s) does not accept frames, %u wait: the link is down, or the "
                 "switch does not read them.\n",
                 l->drive.transport->ops->name, l->drive.refused);
    }
    l->say(l->say_context, text);
}

static void count_busy_time(struct sk_lane *l, uint64_t now) {
    if (l->busy_since)
        l->busy_ns += now - l->busy_since;
    l->busy_since = l->drive.engine->ops->busy(l->drive.engine) ? now : 0;
}

// With the lock.
static void publish_stats(struct sk_lane *l) {
    const struct sk_transport_stats *t = &l->drive.transport->stats;

    l->stats = (struct silken_stats){
        .busy_ns = l->busy_ns,
        .tx_bytes = t->tx_bytes,
        .rx_bytes = t->rx_bytes,
        .tx_full = t->tx_full,
        .rx_dropped = t->rx_dropped,
    };
    l->tx_joined = t->tx_joined;
    l->rx_joined = t->rx_joined;
    l->drive.engine->ops->stats(l->drive.engine, &l->stats);
}

// With the lock: what the others get to see of this step.
static void lane_publish(struct sk_lane *l, unsigned events) {
    void *share;

    while (l->drive.engine->ops->done(l->drive.engine, &share))
        end_share(l, share, 0);
    if (l->joining && !l->drive.engine->ops->joining(l->drive.engine)) {
        l->joining = false;
        l->audiences =
            l->drive.engine->ops->audiences && l->drive.engine->ops->audiences(l->drive.engine);
        pthread_cond_broadcast(&l->changed);
    }
    if ((events & SK_ENGINE_FAILED) && !l->fault)
        fail_all(l, l->drive.engine->fault ? l->drive.engine->fault : SILKEN_ERR_STALLED);
    publish_stats(l);
}

// Whether the lane's place in its job is lost; then everything has ended.
static bool lost_place(struct sk_lane *l, uint64_t now) {
    const char *why = l->lease && !l->over ? sk_lease_over(l->lease, now) : NULL;
    char text[EXPLANATION];

    if (why) {
        l->over = true;
        snprintf(text, sizeof text, "the job is over: %s\n", why);
        l->say(l->say_context, text);
        pthread_mutex_lock(&l->lock);
        if (!l->fault)
            fail_all(l, SILKEN_ERR_OVER);
        pthread_mutex_unlock(&l->lock);
    }
    return l->over;
}

// Everything that can be done now. Returns whether anything moved.
static bool lane_step(struct sk_lane *l) {
    uint64_t now = sk_clock_now();
    unsigned events;
    bool moved;

    if (lost_place(l, now))
        return false;
    pthread_mutex_lock(&l->lock);
    take_fresh(l, now);
    pthread_mutex_unlock(&l->lock);
    moved = sk_drive_step(&l->drive, now, &events);
    if (events)
        log_stall(l, now);
    count_busy_time(l, now);
    pthread_mutex_lock(&l->lock);
    lane_publish(l, events);
    pthread_mutex_unlock(&l->lock);
    return moved;
}

// ---- drivers ---------------------------------------------------------------------------------

// Whether there is something to wait for: the share, or, without one, that the lane is in the
// session.
static bool is_awaited(const struct sk_lane *l, const struct sk_share *r) {
    return r ? !r->ended : l->joining && !l->fault;
}

// Called and left with the lock by a thread that has found no driver: drives until then.
static void drive_until_ended(struct sk_lane *l, const struct sk_share *r) {
    l->driven = true;
    while (is_awaited(l, r)) {
        pthread_mutex_unlock(&l->lock);
        if (!lane_step(l))
            sk_drive_rest(&l->drive);
        pthread_mutex_lock(&l->lock);
    }
    l->driven = false;
    pthread_cond_broadcast(&l->changed);
}

// With the lock: nothing is to be done until somebody says so.
static bool lane_is_idle(const struct sk_lane *l) {
    const struct sk_engine *e = l->drive.engine;

    return !l->fresh.first && !l->active.first && !(l->begun && l->joining && !l->fault) &&
           !(e->ops->lingers && e->ops->lingers(e));
}

// The lane's own thread.
static void *drive_always(void *argument) {
    struct sk_lane *l = argument;

    pthread_setaffinity_np(pthread_self(), sizeof l->processors, &l->processors);
    pthread_mutex_lock(&l->lock);
    while (!l->closing) {
        if (lane_is_idle(l)) {
            pthread_cond_wait(&l->changed, &l->lock);
            continue;
        }
        pthread_mutex_unlock(&l->lock);
        if (!lane_step(l))
            sk_drive_rest(&l->drive);
        pthread_mutex_lock(&l->lock);
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

// ---- making and freeing ----------------------------------------------------------------------

void sk_lane_init(struct sk_lane *l, void (*say)(void *context, const char *text),
                  void *say_context) {
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->changed, NULL);
    l->has_lock = true;
    l->joining = true;
    l->say = say;
    l->say_context = say_context;
}

int sk_lane_start(struct sk_lane *l, const cpu_set_t *processors) {
    l->processors = *processors;
    l->driven = true;
    if (pthread_create(&l->thread, NULL, drive_always, l) != 0)
        return SILKEN_ERR_NOMEM;
    l->has_thread = true;
    return 0;
}

void sk_lane_stop(struct sk_lane *l) {
    if (!l->has_thread)
        return;
    pthread_mutex_lock(&l->lock);
    l->closing = true;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
    pthread_join(l->thread, NULL);
    l->has_thread = false;
}

void sk_lane_free(struct sk_lane *l) {
    sk_lane_stop(l);
    sk_drive_leave(&l->drive);
    sk_drive_free(&l->drive);
    free(l->places);
    if (l->has_lock) {
        pthread_cond_destroy(&l->changed);
        pthread_mutex_destroy(&l->lock);
    }
}

// ---- shares ----------------------------------------------------------------------------------

void sk_lane_submit(struct sk_lane *l, struct sk_share *share) {
    pthread_mutex_lock(&l->lock);
    if (l->fault) {
        share->result = SILKEN_ERR_CLOSED;
        share->ended = true;
    } else {
        lane_put(&l->fresh, share);
        pthread_cond_broadcast(&l->changed);
    }
    pthread_mutex_unlock(&l->lock);
}

// With the lock.
static void await(struct sk_lane *l, const struct sk_share *share) {
    while (is_awaited(l, share))
        if (l->driven)
            pthread_cond_wait(&l->changed, &l->lock);
        else
            drive_until_ended(l, share);
}

void sk_lane_begin(struct sk_lane *l) {
    pthread_mutex_lock(&l->lock);
    if (!l->begun) {
        l->begun = true;
        pthread_cond_broadcast(&l->changed);
    }
    pthread_mutex_unlock(&l->lock);
}

void sk_lane_join(struct sk_lane *l) {
    pthread_mutex_lock(&l->lock);
    await(l, NULL);
    pthread_mutex_unlock(&l->lock);
}

bool sk_lane_audiences(struct sk_lane *l) {
    bool audiences;

    sk_lane_begin(l);
    sk_lane_join(l);
    pthread_mutex_lock(&l->lock);
    audiences = l->audiences;
    pthread_mutex_unlock(&l->lock);
    return audiences;
}

int sk_lane_wait(struct sk_lane *l, struct sk_share *share) {
    int result;

    pthread_mutex_lock(&l->lock);
    await(l, share);
    result = share->result;
    pthread_mutex_unlock(&l->lock);
    return result;
}

bool sk_lane_test(struct sk_lane *l, const struct sk_share *share) {
    bool ended;

    pthread_mutex_lock(&l->lock);
    if ((!share->ended || l->joining) && !l->driven) {
        l->driven = true;
        pthread_mutex_unlock(&l->lock);
        lane_step(l);
        pthread_mutex_lock(&l->lock);
        l->driven = false;
        pthread_cond_broadcast(&l->changed);
    }
    ended = share->ended;
    pthread_mutex_unlock(&l->lock);
    return ended;
}

void sk_lane_move(struct sk_lane *l, void *places) {
    pthread_mutex_lock(&l->lock);
    free(l->places); // of a shape that was over before anybody drove
    l->places = places;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
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

void sk_lane_segments(struct sk_lane *l, uint64_t *sent, uint64_t *received) {
    pthread_mutex_lock(&l->lock);
    *sent += l->tx_joined;
    *received += l->rx_joined;
    pthread_mutex_unlock(&l->lock);
}
