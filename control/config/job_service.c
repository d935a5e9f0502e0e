// SPDX-License-Identifier: Apache-2.0
#include "base/address.h"
#include "control/config/watch.h"

#define MOST_SLOTS 8192u
#define HOUR       3600u

static uint64_t job_service_number(const struct sk_at *at, const char *key, uint64_t least,
                                   uint64_t most, uint64_t otherwise) {
    const struct sk_at value = sk_at_member(at, key);
    return value.value ? sk_at_between(&value, true, least, most) : otherwise;
}

// Whoever has the token may ask; so it may listen at any address.
void sk_config_read_job_service(const struct sk_at *root, struct sk_config *c) {
    static const char *const keys[] = {"listen", "token_file", "slots", "wait",
                                       "grace",  "silence",    NULL};
    const struct sk_at at = sk_at_member(root, "job_service");
    if (!at.value)
        return;
    sk_at_keys(&at, keys);
    const struct sk_at listen = sk_at_member(&at, "listen"),
                       token = sk_at_member(&at, "token_file");
    struct sk_config_job_service *j = &c->job_service;
    j->listen = sk_at_string(&listen, true);
    j->token_file = sk_at_string(&token, true);
    j->slots = (uint32_t)job_service_number(&at, "slots", 1, MOST_SLOTS, 128);
    j->wait = job_service_number(&at, "wait", 1, 24 * HOUR, 300);
    j->grace = job_service_number(&at, "grace", 0, HOUR, 2);
    j->silence = job_service_number(&at, "silence", 2, HOUR, 10);
    if (!at.doc->failed && !sk_socket_address(j->listen, &j->address))
        sk_at_fail(&listen, "'%.60s' is not ADDRESS:PORT; an IPv6 address is written in brackets",
                   j->listen);
    if (!c->tor)
        sk_at_fail(&at, "jobs are admitted by the control plane of a ToR: \"job_service\" needs "
                        "\"tor\"");
}
