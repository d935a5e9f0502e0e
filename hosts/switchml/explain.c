// SPDX-License-Identifier: Apache-2.0
//
// What a worker waits for, in words. A stalled all-reduce has many possible causes and one symptom,
// silence; what the worker has seen so far rules most of them out:
//
//      nothing ever came           the switch does not know us, or not all workers are there
//      frames came, none accepted  the reasons for ignoring them name the wrong setting
//      answers came, then none     another worker stopped, or submitted something else
#include "hosts/switchml/worker_impl.h"
#include "hosts/core/udp.h"

#define LISTED_SLOTS 6

static double swml_explain_milliseconds(uint64_t ns) {
    return (double)ns / 1e6;
}

static uint64_t swml_explain_ignored_total(const struct swml_stats *stats) {
    uint64_t total = 0;

    for (int i = 0; i < SWML_REASON_COUNT; i++)
        total += stats->ignored[i];
    return total;
}

static uint32_t slots_in_flight(const struct swml_worker *w) {
    uint32_t n = 0;

    for (uint32_t i = 0; i < w->config.pool_size; i++)
        n += w->slots[i].job != NULL;
    return n;
}

static void swml_explain_say_summary(const struct swml_worker *w, uint64_t now, struct sk_text *t) {
    const struct swml_config *c = &w->config;

    sk_say(t, "worker %u of %u, job %u: %sno answer accepted for %.1f ms; %u of %u slots wait\n",
           c->rank, c->workers, c->flow.job, w->failed ? "gave up, " : "",
           swml_explain_milliseconds(now - w->watch.since), slots_in_flight(w), c->pool_size);
    sk_say(t,
           "  sent %llu packets, %llu of them again; accepted %llu answers, ignored %llu frames\n",
           (unsigned long long)w->stats.packets_sent, (unsigned long long)w->stats.retransmissions,
           (unsigned long long)w->stats.answers,
           (unsigned long long)swml_explain_ignored_total(&w->stats));
}

static void say_slot(const struct swml_worker *w, uint32_t index, uint64_t now, struct sk_text *t) {
    const struct swml_slot *s = &w->slots[index];

    sk_say(t, "  slot %u version %u: %s of tensor %llu at element %llu of %zu, ",
           w->config.pool_base + index, s->uses & 1, s->exponent_round ? "exponent" : "block",
           (unsigned long long)s->job->number, (unsigned long long)(s->block * w->config.flow.k),
           s->job->tensor.count);
    if (s->tries == 0) {
        sk_say(t, "not sent yet\n");
    } else {
        sk_say(t, "sent %u times, last %.1f ms ago\n", s->tries,
               swml_explain_milliseconds(now - s->sent_at));
    }
}

static void say_slots(const struct swml_worker *w, uint64_t now, struct sk_text *t) {
    uint32_t seen = 0;

    for (uint32_t i = 0; i < w->config.pool_size; i++)
        if (w->slots[i].job && seen++ < LISTED_SLOTS)
            say_slot(w, i, now, t);
    if (seen > LISTED_SLOTS)
        sk_say(t, "  and %u more slots\n", seen - LISTED_SLOTS);
}

static void swml_explain_say_nothing_came(const struct swml_worker *w, struct sk_text *t) {
    sk_say(t,
           "  No packet has been received. Is the switch running, and is its port for this worker "
           "up?\n");
    sk_say(t, "  Does the switch know the job and the worker by these numbers? job %u, ",
           w->config.flow.job);
    sk_say_endpoint(t, "worker", &w->config.flow.worker);
    sk_say(t, "; ");
    sk_say_endpoint(t, "switch", &w->config.flow.fabric);
    sk_say(t, "\n");
    if (w->config.workers > 1) {
        sk_say(t, "  Have all %u workers started? The switch answers when the last one has sent.\n",
               w->config.workers);
    }
}

static void say_ignored(const struct swml_worker *w, struct sk_text *t) {
    for (int i = 0; i < SWML_REASON_COUNT; i++) {
        if (w->stats.ignored[i]) {
            sk_say(t, "  ignored %llu: %s\n", (unsigned long long)w->stats.ignored[i],
                   swml_reason_text((enum swml_reason)i));
        }
    }
}

static void swml_explain_say_hints(const struct swml_worker *w, struct sk_text *t) {
    if (w->stats.asked > 0) {
        sk_say(t,
               "  The switch has asked %llu times how far this worker got: it was restarted, and "
               "continues when all workers have answered.\n",
               (unsigned long long)w->stats.asked);
    }
    if (w->stats.answers > 0) {
        sk_say(t, "  Answers came before: another worker may have stopped, or has submitted other "
                  "tensors, or the same tensors in another order.\n");
    } else if (swml_explain_ignored_total(&w->stats) == 0) {
        swml_explain_say_nothing_came(w, t);
    } else {
        sk_say(t, "  Frames arrive, but none of them is an answer for this worker.\n");
    }
    say_ignored(w, t);
}

void swml_worker_explain(const struct swml_worker *w, uint64_t now, char *buf, size_t cap) {
    struct sk_text t = SK_TEXT(buf, cap);

    swml_explain_say_summary(w, now, &t);
    say_slots(w, now, &t);
    swml_explain_say_hints(w, &t);
}
