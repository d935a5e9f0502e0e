// SPDX-License-Identifier: Apache-2.0
//
// The time that Open vSwitch's library sees. The Makefile gives its clock_gettime() this name, so
// that within a call of the control plane the library's time is that of the call, and a run can be
// done again. Outside of such calls, where only its log and the log's socket work, it is the
// system's.
#include <time.h>

#include "control/tor/tor_impl.h"

static _Thread_local uint64_t now;

void tor_time_is(uint64_t now_ns) {
    now = now_ns;
}

int ovs_clock_gettime(clockid_t clock, struct timespec *out);

int ovs_clock_gettime(clockid_t clock, struct timespec *out) {
    if (now == 0 || clock == CLOCK_REALTIME)
        return clock_gettime(clock, out);
    *out = (struct timespec){.tv_sec = (time_t)(now / 1000000000u),
                             .tv_nsec = (long)(now % 1000000000u)};
    return 0;
}
