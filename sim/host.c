// SPDX-License-Identifier: Apache-2.0
//
// A host: what runs on it, and its network card.
//
// The card pulls: whoever has something to send is asked for it only when the card's queue is
// short, so nobody's time-out starts while the packet waits behind thousands of others. Those that
// have something to send take turns, a turn being as many bytes for each (deficit round robin).
#include <stdlib.h>

#include "sim/sim.h"

#define AHEAD 4096u // bytes that wait in the card; more is asked for at half of that
#define TURN  1500  // bytes

void host_add(struct sim_host *h, struct sim_app *a) {
    a->host = h;
    a->next = h->apps;
    a->credit = 0;
    h->apps = a;
}

static struct sim_app *sim_host_after(const struct sim_host *h, const struct sim_app *a) {
    return a && a->next ? a->next : h->apps;
}

// The next frame in turn; 0: nobody has one.
static size_t next_frame(struct sim_host *h, uint8_t *buf, uint64_t now) {
    struct sim_app *a = h->turn ? h->turn : h->apps;
    const struct sim_app *first = NULL; // of those in a row that had nothing
    while (a && a != first) {
        while (a->credit <= 0)
            a->credit += TURN;
        const size_t length = a->ops->next(a, buf, SIM_MAX_FRAME, now);
        if (length) {
            a->credit -= (int64_t)length;
            h->turn = a->credit > 0 ? a : sim_host_after(h, a);
            return length;
        }
        a->credit = 0;
        first = first ? first : a;
        a = sim_host_after(h, a);
    }
    return 0;
}

static uint64_t deadline_of(struct sim_host *h) {
    uint64_t first = SIM_NEVER;
    for (struct sim_app *a = h->apps; a; a = a->next) {
        const uint64_t t = a->ops->deadline(a);
        first = t < first ? t : first;
    }
    return first;
}

void host_serve(struct sim_host *h) {
    struct sim_events *e = &h->sim->events;
    uint8_t frame[SIM_MAX_FRAME];
    size_t length = 1;
    if (h->down)
        return;
    while (sim_link_backlog(h->out) < AHEAD && (length = next_frame(h, frame, e->now)) > 0)
        sim_link_send(h->out, frame, (uint32_t)length);
    if (length) {
        const uint64_t half = sim_link_time(h->out, AHEAD / 2);
        sim_timer_set(&h->timer, h->out->free_at > half ? h->out->free_at - half : 0);
    }
    sim_timer_set(&h->timer, deadline_of(h));
}

static void sim_host_wake(void *who, void *what) {
    struct sim_host *h = who;
    const uint64_t now = h->sim->events.now;
    (void)what;
    if (h->down)
        return;
    for (struct sim_app *a = h->apps; a; a = a->next)
        if (a->ops->deadline(a) <= now)
            a->ops->expire(a, now);
    host_serve(h);
}

bool host_deliver(void *station, uint32_t port, const uint8_t *bytes, uint32_t length) {
    struct sim_host *h = ((struct sim_station *)station)->host;
    const uint64_t now = h->sim->events.now;
    bool claimed = false;
    (void)port;
    if (h->down)
        return false;
    for (struct sim_app *a = h->apps; a; a = a->next)
        if (a->ops->wants(a, bytes, length)) {
            a->ops->deliver(a, bytes, length, now);
            claimed = true;
        }
    h->unclaimed += !claimed;
    // nobody's: a damaged header, perhaps; all must refuse it by themselves
    for (struct sim_app *a = h->apps; a && !claimed; a = a->next)
        a->ops->deliver(a, bytes, length, now);
    host_serve(h);
    return true;
}

void host_make(struct sim *s, struct sim_station *st) {
    struct sim_host *h = st->host = calloc(1, sizeof *h);
    if (!h)
        abort();
    h->sim = s;
    sim_timer_init(&h->timer, &s->events, sim_host_wake, h);
    for (uint32_t l = 0; l < s->n_links; l++)
        if (link_to(s, l ^ 1) == st->id) {
            h->out = &s->links[l];
            h->out->queue_bytes = 0; // the card pulls
            s->links[l ^ 1].station = st;
            s->links[l ^ 1].deliver = host_deliver;
        }
}

static void free_apps(struct sim_host *h) {
    while (h->apps) {
        struct sim_app *a = h->apps;
        h->apps = a->next;
        a->ops->free(a);
    }
    h->turn = NULL;
}

void host_crash(struct sim_host *h) {
    free_apps(h);
    h->down = true;
    h->crashes++;
}

void host_free(struct sim_host *h) {
    if (!h)
        return;
    free_apps(h);
    free(h);
}
