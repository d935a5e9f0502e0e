// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "base/clock.h"
#include "hosts/keyvalue/keyvalue.h"

#define AGAIN_NS UINT64_C(50000000)
#define IDLE_NS  UINT64_C(1000000)
#define MS       UINT64_C(1000000)

// The kind of the reply, 0: none came yet.
static unsigned join_hear(struct keyvalue_setup *s, const struct libra_flow *flow, uint32_t *number,
                          uint16_t *epoch) {
    struct sk_frame frames[SK_BURST];
    const size_t n = sk_transport_recv(s->transport, frames, SK_BURST);
    unsigned kind = 0;
    for (size_t i = 0; i < n && !kind; i++)
        kind = libra_frame_read_joined(frames[i].data, frames[i].len, flow, number, epoch);
    return kind;
}

static void join_ask(struct keyvalue_setup *s, const struct libra_flow *flow) {
    struct sk_frame frame;
    if (sk_transport_lend(s->transport, &frame, 1) < 1)
        return; // the next time
    libra_frame_write_join(frame.data, flow, s->config.incarnation);
    frame.len = LIBRA_HEADERS;
    sk_transport_post(s->transport, &frame, 1);
}

static int join_one(struct keyvalue_setup *s, unsigned at, uint16_t number, char *why, size_t cap) {
    const struct libra_flow flow = keyvalue_switch_link(s, at, number).flow;
    const uint64_t end = sk_clock_now() + s->config.hard_limit_ms * MS;
    uint64_t again = 0, now;
    uint32_t said = 0;
    unsigned kind = 0;
    while (!kind && (now = sk_clock_now()) < end) {
        if (now >= again) {
            join_ask(s, &flow);
            again = now + AGAIN_NS;
        }
        kind = join_hear(s, &flow, &said, &s->at[at].epoch);
        if (!kind)
            sk_transport_wait(s->transport, IDLE_NS);
    }
    if (kind == LIBRA_JOINED && said >= 1 && said <= LIBRA_SEQUENCE_LAST) {
        s->at[at].first_sequence = said;
        return 0;
    }
    if (kind == LIBRA_REFUSED) {
        snprintf(why, cap,
                 "job %u has begun as incarnation %u, and this is %u: the switch has its sums "
                 "still; remove the job and add it again (silken ctl job) first",
                 s->config.job, said, s->config.incarnation);
        return SILKEN_ERR_REFUSED;
    }
    snprintf(why, cap,
             kind ? "the sequence numbers of member %u of job %u are used up: remove the job and "
                    "add it again (silken ctl job)"
                  : "the CPU of the switch does not answer member %u of job %u: has it admitted "
                    "the job, with this layout (silken ctl job list)?",
             number, s->config.job);
    return kind ? SILKEN_ERR_REFUSED : SILKEN_ERR_STALLED;
}

int keyvalue_join(struct keyvalue_setup *s, uint16_t number, char *why, size_t cap) {
    int rc = 0;
    for (unsigned i = 0; rc == 0 && s->config.switch_cpu && i < s->switches; i++)
        rc = join_one(s, i, number, why, cap);
    return rc;
}
