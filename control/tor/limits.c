// SPDX-License-Identifier: Apache-2.0
//
// limits: how much of what all links share one of them may use (tor_impl.h: enum tor_limit): how
// fast it may take more, and how much it may have. What is refused is counted by link, and an alarm
// says which link it is, until nothing was refused for LIMITS_QUIET_SECONDS.
#include <stdio.h>

#include "control/tor/tor_impl.h"

#define LIMITS_SECOND        UINT64_C(1000000000)
#define LIMITS_QUIET_SECONDS 60u

static void limits_tell(struct tor *t, const struct tor_link *link, enum tor_limit which, bool on,
                        const char *why) {
    static const char *const alarms[TOR_LIMITS] = {"address limit", "neighbour limit"};
    tor_event(t, "alarm", "{s:s, s:s, s:b, s:s}", "alarm", alarms[which], "link", link->name, "on",
              on, "why", why);
}

void tor_limits_over(struct tor *t, struct tor_link *link, enum tor_limit which,
                     enum tor_limit_kind kind) {
    static const char *const names[TOR_LIMITS] = {"addresses", "neighbours"};
    struct tor_use *use = &link->use[which];
    const struct tor_link_limit *limit = &link->section->limits[which];
    char why[2 * TOR_NAME];
    use->n_limited++;
    use->last = t->now;
    if (use->told)
        return;
    use->told = true;
    if (kind == TOR_LIMIT_RATE)
        snprintf(why, sizeof why, "new %s come faster than %u a second", names[which], limit->rate);
    else
        snprintf(why, sizeof why, "it needs more %s than %u, its limit", names[which], limit->most);
    limits_tell(t, link, which, true, why);
}

bool tor_limits_take(struct tor *t, struct tor_link *link, enum tor_limit which) {
    struct tor_use *use = &link->use[which];
    const uint64_t cost = LIMITS_SECOND / link->section->limits[which].rate, most = LIMITS_SECOND;
    const uint64_t earned = t->now - use->at;
    // a link that was never heard has saved up all it can
    use->credit =
        use->at && use->credit < most && earned < most - use->credit ? use->credit + earned : most;
    use->at = t->now ? t->now : 1;
    if (use->credit < cost) {
        tor_limits_over(t, link, which, TOR_LIMIT_RATE);
        return false;
    }
    use->credit -= cost;
    return true;
}

void tor_limits_run(struct tor *t, struct tor_link *link) {
    for (unsigned i = 0; i < TOR_LIMITS; i++) {
        struct tor_use *use = &link->use[i];
        if (!use->told || t->now - use->last < LIMITS_QUIET_SECONDS * LIMITS_SECOND)
            continue;
        use->told = false;
        limits_tell(t, link, (enum tor_limit)i, false, "nothing was refused for a minute");
    }
}
