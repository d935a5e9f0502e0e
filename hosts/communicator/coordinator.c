// SPDX-License-Identifier: Apache-2.0
#include "hosts/communicator/coordinator.h"

#include <pthread.h>
#include <stdlib.h>

// Numbers of sessions are UDP source ports: those that are nobody's (RFC 6335, dynamic ports).
#define FIRST_NUMBER 0xc000u
#define NUMBERS      0x4000u

struct sk_coordinator {
    pthread_mutex_t lock;
    struct gather *gather; // of the first server; else NULL
    struct sk_randomness random;
    uint32_t number; // of the next session
    uint32_t lanes;
    // The session that this server is in, or goes to, and how many of its lanes are there.
    uint16_t session;
    uint64_t id;
    uint32_t entered;
};

struct sk_coordinator *sk_coordinator_new(const struct gather_config *gather, uint32_t lanes,
                                          const struct sk_randomness *random) {
    struct sk_coordinator *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    pthread_mutex_init(&c->lock, NULL);
    c->lanes = lanes;
    c->random = *random;
    c->number = (uint32_t)(sk_randomness_next(random) % NUMBERS);
    if (gather)
        c->gather = gather_new(gather);
    return c;
}

void sk_coordinator_free(struct sk_coordinator *c) {
    if (c) {
        gather_free(c->gather);
        pthread_mutex_destroy(&c->lock);
    }
    free(c);
}

bool sk_coordinator_is_first(const struct sk_coordinator *c) {
    return c->gather != NULL;
}

unsigned sk_coordinator_hear(struct sk_coordinator *c, const struct session_message *m,
                             uint64_t now, struct session_message answers[GATHER_MAX_ANSWERS]) {
    unsigned n;

    pthread_mutex_lock(&c->lock);
    n = gather_hear(c->gather, m, now, answers);
    if (gather_is_full(c->gather, now)) {
        gather_start(c->gather, (uint16_t)(FIRST_NUMBER + c->number),
                     sk_randomness_next(&c->random));
        c->number = (c->number + 1) % NUMBERS;
    }
    pthread_mutex_unlock(&c->lock);
    return n;
}

void sk_coordinator_enter(struct sk_coordinator *c, uint16_t session, uint64_t id) {
    pthread_mutex_lock(&c->lock);
    if (c->id != id) {
        c->id = id;
        c->session = session;
        c->entered = 0;
    }
    pthread_mutex_unlock(&c->lock);
}

bool sk_coordinator_next(struct sk_coordinator *c, uint64_t *id, uint16_t *session) {
    bool other;

    pthread_mutex_lock(&c->lock);
    other = c->id != *id;
    if (other) {
        *id = c->id;
        *session = c->session;
        c->entered++;
    }
    pthread_mutex_unlock(&c->lock);
    return other;
}

bool sk_coordinator_all_in(struct sk_coordinator *c, uint64_t id) {
    bool all;

    pthread_mutex_lock(&c->lock);
    all = c->id == id && c->entered == c->lanes;
    pthread_mutex_unlock(&c->lock);
    return all;
}
