// SPDX-License-Identifier: Apache-2.0
//
// What a worker takes for lost (worker.h, LOSS).
//
// Every transmission has a serial number. The network keeps the order, so when three fragments are
// acknowledged which were sent after another one, that one is taken for lost, or its aggregation
// for stalled: its serial is below the third greatest that has been acknowledged. Only fragments
// that were sent once say so; of others it is not known which transmission was acknowledged. As
// first transmissions are in order, one pointer passes over all; what was sent again and is lost
// again is found when it is the first one missing.
#include "hosts/atp/worker_impl.h"

static void note_serial(struct atp_worker *w, uint64_t serial) {
    for (int i = 0; i < 3; i++) {
        if (serial > w->seen[i]) {
            uint64_t smaller = w->seen[i];
            w->seen[i] = serial;
            serial = smaller;
        }
    }
}

static bool is_overtaken(const struct atp_worker *w, const struct atp_slot *slot) {
    return slot->tries > 0 && !slot->acked && slot->serial < w->seen[2];
}

static void atp_loss_lose(struct atp_worker *w, uint64_t position) {
    if (!atp_slot_at(w, position)->queued) {
        w->stats.losses++;
        sk_window_cut(&w->window, position, w->next);
        atp_resend(w, position);
    }
}

static void resend_overtaken(struct atp_worker *w) {
    if (w->base < w->next && is_overtaken(w, atp_slot_at(w, w->base)))
        atp_loss_lose(w, w->base);
    if (w->suspect < w->base)
        w->suspect = w->base;
    for (; w->suspect < w->next; w->suspect++) {
        const struct atp_slot *slot = atp_slot_at(w, w->suspect);
        if (slot->tries == 1 && slot->serial >= w->seen[2])
            break;
        if (is_overtaken(w, slot))
            atp_loss_lose(w, w->suspect);
    }
}

// After a timeout: two more for each that is acknowledged.
static void atp_loss_recover(struct atp_worker *w) {
    unsigned left = 2;

    if (w->recover_at < w->base)
        w->recover_at = w->base;
    for (; left > 0 && w->recover_at < w->next; w->recover_at++) {
        const struct atp_slot *slot = atp_slot_at(w, w->recover_at);
        if (!slot->acked && !slot->queued && slot->serial < w->recover_until) {
            atp_resend(w, w->recover_at);
            left--;
        }
    }
}

void atp_judge_losses(struct atp_worker *w, const struct atp_slot *slot) {
    w->backoff = 0;
    if (slot->tries == 1) {
        w->recovering = false;
        note_serial(w, slot->serial);
        resend_overtaken(w);
    } else {
        if (w->base < w->next && is_overtaken(w, atp_slot_at(w, w->base)))
            atp_loss_lose(w, w->base);
        if (w->recovering)
            atp_loss_recover(w);
    }
}

uint64_t atp_loss_deadline(const struct atp_worker *w) {
    const struct atp_slot *first = atp_slot_at(w, w->base);
    uint64_t since = first->sent_at > w->last_ack ? first->sent_at : w->last_ack;

    if (w->base == w->next || first->queued)
        return ATP_NEVER;
    return sk_time_add(since, sk_rto_backed_off(&w->rto, w->backoff));
}

void atp_loss_expire(struct atp_worker *w, uint64_t now) {
    if (now < atp_loss_deadline(w))
        return;
    w->stats.timeouts++;
    w->backoff++;
    w->recovering = true;
    w->recover_until = w->serial + 1;
    w->recover_at = w->base + 1;
    sk_window_cut(&w->window, w->base, w->next);
    atp_resend(w, w->base);
}
