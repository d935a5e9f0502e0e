// SPDX-License-Identifier: Apache-2.0
//
// What a worker waits for, in words. As of SwitchML (hosts/switchml/explain.c), what has been seen
// so far rules out most causes of silence.
#include "hosts/atp/worker_impl.h"
#include "hosts/core/udp.h"

#define LISTED_FRAGMENTS 6

static double atp_explain_milliseconds(uint64_t ns) {
    return (double)ns / 1e6;
}

static uint64_t atp_explain_ignored_total(const struct atp_worker_stats *stats) {
    uint64_t total = 0;

    for (int i = 0; i < ATP_REASON_COUNT; i++)
        total += stats->ignored[i];
    return total;
}

static void atp_explain_say_summary(const struct atp_worker *w, uint64_t now, struct sk_text *t) {
    const struct atp_flow *flow = &w->config.flow;

    sk_say(t,
           "worker %u, job %u, flow %u: %sno parameters accepted for %.1f ms; %llu fragments wait, "
           "the window is %u\n",
           w->config.rank, flow->job, flow->flow, w->failed ? "gave up, " : "",
           atp_explain_milliseconds(now - w->watch.since), (unsigned long long)(w->next - w->base),
           w->window.packets);
    sk_say(t,
           "  sent %llu packets, %llu of them again; accepted %llu parameter packets, ignored %llu "
           "frames\n",
           (unsigned long long)w->stats.packets_sent, (unsigned long long)w->stats.retransmissions,
           (unsigned long long)w->stats.acks,
           (unsigned long long)atp_explain_ignored_total(&w->stats));
}

static void say_fragment(const struct atp_worker *w, uint64_t position, uint64_t now,
                         struct sk_text *t) {
    const struct atp_slot *s = atp_slot_at(w, position);

    sk_say(t, "  sequence %u, aggregator %u: tensor %llu at element %llu of %zu, ", s->sequence,
           s->index, (unsigned long long)s->job->number,
           (unsigned long long)((position - s->job->first) * ATP_VALUES), s->job->tensor.count);
    if (s->tries == 0) {
        sk_say(t, "to be sent as floats\n");
    } else {
        sk_say(t, "sent %u times%s, last %.1f ms ago\n", s->tries, s->floats ? " as floats" : "",
               atp_explain_milliseconds(now - s->sent_at));
    }
}

static void say_fragments(const struct atp_worker *w, uint64_t now, struct sk_text *t) {
    uint32_t seen = 0;

    for (uint64_t p = w->base; p < w->next; p++)
        if (!atp_slot_at(w, p)->acked && seen++ < LISTED_FRAGMENTS)
            say_fragment(w, p, now, t);
    if (seen > LISTED_FRAGMENTS)
        sk_say(t, "  and %u more fragments\n", seen - LISTED_FRAGMENTS);
}

static void atp_explain_say_nothing_came(const struct atp_worker *w, struct sk_text *t) {
    sk_say(t, "  No packet has been received. Are the switches running, their ports up, and can "
              "they reach the server and the job's group?\n");
    sk_say_endpoint(t, "  worker", &w->config.flow.worker);
    sk_say_endpoint(t, "; server", &w->config.flow.server);
    sk_say_endpoint(t, "; group", &w->config.flow.group);
    sk_say(t, "\n  Have the server and all workers started?\n");
}

static void atp_explain_say_hints(const struct atp_worker *w, struct sk_text *t) {
    if (w->stats.acks > 0) {
        sk_say(t, "  Parameters came before: another worker or the server may have stopped, or has "
                  "submitted other tensors, or the same tensors in another order.\n");
    } else if (atp_explain_ignored_total(&w->stats) == 0) {
        atp_explain_say_nothing_came(w, t);
    } else {
        sk_say(t, "  Frames arrive, but none of them is for this worker.\n");
    }
    for (int i = 0; i < ATP_REASON_COUNT; i++) {
        if (w->stats.ignored[i]) {
            sk_say(t, "  ignored %llu: %s\n", (unsigned long long)w->stats.ignored[i],
                   atp_reason_text((enum atp_reason)i));
        }
    }
}

void atp_worker_explain(const struct atp_worker *w, uint64_t now, char *buf, size_t cap) {
    struct sk_text t = SK_TEXT(buf, cap);

    atp_explain_say_summary(w, now, &t);
    say_fragments(w, now, &t);
    atp_explain_say_hints(w, &t);
}
