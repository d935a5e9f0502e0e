// SPDX-License-Identifier: Apache-2.0
//
// pace: replays as fast as the packets came, or a multiple of that.
#include <errno.h>
#include <time.h>

#include "base/clock.h"
#include "pcap/replay/replay_impl.h"

#define NS_PER_S UINT64_C(1000000000)
#define STEP_NS  (NS_PER_S / 10) // how long it waits before it looks around

bool replay_pace_wait(struct replay_pace *p, double speed, uint64_t time_ns) {
    uint64_t now = sk_clock_now();
    if (!p->started) {
        p->started = true;
        p->start = now;
        p->first = time_ns;
    }
    double after = (double)(time_ns - p->first) / speed;
    if (after <= (double)(now - p->start))
        return false;
    double left = after - (double)(now - p->start);
    uint64_t step = left < (double)STEP_NS ? (uint64_t)left : STEP_NS;
    nanosleep(&(struct timespec){.tv_sec = 0, .tv_nsec = (long)step}, NULL);
    return true;
}
