// SPDX-License-Identifier: Apache-2.0
//
// A copy has its place by the member's window and the sequence number modulo its size: a member
// that uses a number again modulo 512 has had the answer before (hosts/libra/worker.h, ONCE), so
// the old copy goes.
#include <stdlib.h>
#include <string.h>

#include "control/libra/libra_impl.h"
#include "hosts/core/udp.h"
#include "libra_wire.h"

#define FIRST_NS   (5 * LIBRA_S_MS) // until a copy is sent; doubles
#define MOST_NS    (200 * LIBRA_S_MS)
#define TRIES_MOST 50u // then nobody is there any more: some 9 seconds

static uint32_t copies_place(const struct libra_s_frame *f) {
    return f->member->window * LIBRA_S_WINDOW + f->sequence % LIBRA_S_WINDOW;
}

static uint64_t copies_wait(uint32_t tries) {
    const uint64_t wait = FIRST_NS << (tries < 6 ? tries : 6);
    return wait < MOST_NS ? wait : MOST_NS;
}

static void copies_free(struct libra_s *l, uint32_t place) {
    struct libra_s_copy *c = &l->copies[place];
    if (!c->frame)
        return;
    free(c->frame);
    *c = (struct libra_s_copy){0};
    sk_timers_cancel(&l->timers, place);
    l->n_copies--;
}

void libra_s_copies_forget(struct libra_s *l, unsigned window) {
    for (uint32_t i = 0; i < LIBRA_S_WINDOW; i++)
        copies_free(l, window * LIBRA_S_WINDOW + i);
}

// A copy for which there is no memory is as one that was lost on the way here.
void libra_s_copies_take(struct libra_s *l, const struct libra_s_frame *f) {
    const uint32_t place = copies_place(f);
    struct libra_s_copy *c = &l->copies[place];
    if (c->frame && c->sequence == f->sequence)
        return;
    copies_free(l, place);
    c->frame = malloc(LIBRA_FRAME_BYTES);
    if (!c->frame)
        return;
    memcpy(c->frame, f->bytes, LIBRA_FRAME_BYTES);
    c->sequence = f->sequence;
    l->n_copies++;
    f->job->stats.copies++;
    sk_timers_arm(&l->timers, place, l->now + copies_wait(0));
}

void libra_s_copies_ack(struct libra_s *l, const struct libra_s_frame *f) {
    const uint32_t place = copies_place(f);
    if (!l->copies[place].frame || l->copies[place].sequence != f->sequence)
        return; // acknowledged before
    copies_free(l, place);
    f->job->stats.acks++;
}

// Under the epoch that the job has now: it may have moved here with its copies.
static void copies_send(struct libra_s *l, struct libra_s_job *j, const struct libra_s_copy *c) {
    j->stats.repeated++;
    libra_h_set_epoch(c->frame + SK_UDP_BYTES, j->epoch);
    libra_s_send(l, c->frame, LIBRA_FRAME_BYTES);
}

// A collect that is repeated, after its cells were cleared.
void libra_s_copies_ask(struct libra_s *l, const struct libra_s_frame *f) {
    const struct libra_s_copy *c = &l->copies[copies_place(f)];
    if (c->frame && c->sequence == f->sequence) {
        copies_send(l, f->job, c);
        return;
    }
    // either its answer was acknowledged, and nobody waits for what this says
    f->job->stats.lost++;
    libra_s_tell(l, f, LIBRA_LOST, 0);
}

static struct libra_s_job *copies_job(const struct libra_s *l, unsigned window, bool *server) {
    for (struct libra_s_job *j = l->jobs; j; j = j->next)
        for (uint32_t m = 0; m < j->workers + j->servers; m++)
            if (j->members[m].window == window) {
                *server = j->members[m].server;
                return j;
            }
    return NULL;
}

// Copies of servers are kept: they have what was collected.
static void copies_due(struct libra_s *l, uint32_t place) {
    struct libra_s_copy *c = &l->copies[place];
    bool server = false;
    struct libra_s_job *j = copies_job(l, place / LIBRA_S_WINDOW, &server);
    if (!c->frame || !j)
        return;
    if (++c->tries > TRIES_MOST && !server) {
        j->stats.given_up++;
        copies_free(l, place);
        return;
    }
    copies_send(l, j, c);
    sk_timers_arm(&l->timers, place, l->now + copies_wait(c->tries));
}

void libra_s_copies_run(struct libra_s *l) {
    uint32_t place;
    while (sk_timers_expire(&l->timers, l->now, &place))
        copies_due(l, place);
}
