// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "hosts/keyvalue/keyvalue.h"

#define IDLE_NS UINT64_C(1000000) // at most, until it looks again

struct silken_kv_server {
    struct keyvalue_setup setup;
    struct libra_server *server;
    bool failed;
};

static struct libra_server_config kv_server_config(const struct keyvalue_setup *s) {
    const uint32_t number = s->config.worker;
    struct libra_server_config c = {
        .self = s->self,
        .job = s->config.job,
        .epoch = s->switches ? s->at[0].layout.epoch : 0,
        .workers = s->config.workers,
        .first_key = keyvalue_first(s, number),
        .last_key = keyvalue_first(s, number + 1) - 1,
        .optimiser = s->config.optimiser,
        .aux = s->config.optimiser_aux,
        .layout = s->switches ? &s->at[0].layout : NULL,
        .hot = keyvalue_switch_link(s, 0, (uint16_t)(s->config.workers + number)),
    };
    c.hot.first_sequence = s->switches ? s->at[0].first_sequence : s->config.first_sequence;
    c.self.port = LIBRA_COLD_PORT;
    return c;
}

int silken_kv_server_open(struct silken_kv_server **server, const struct silken_kv_config *config,
                          char *why, size_t why_cap) {
    struct silken_kv_server *s = calloc(1, sizeof *s);
    const char *refused = NULL;
    if (!s) {
        snprintf(why, why_cap, "%s", silken_strerror(SILKEN_ERR_NOMEM));
        return SILKEN_ERR_NOMEM;
    }
    int rc = keyvalue_setup(&s->setup, config, true, why, why_cap);
    if (rc == 0)
        rc = keyvalue_join(&s->setup, (uint16_t)(config->workers + config->worker), why, why_cap);
    if (rc == 0) {
        const struct libra_server_config c = kv_server_config(&s->setup);
        rc = libra_server_new(&s->server, &c, &refused);
        if (rc)
            snprintf(why, why_cap, "%s", refused ? refused : silken_strerror(rc));
    }
    if (rc) {
        silken_kv_server_close(s);
        return rc;
    }
    *server = s;
    return 0;
}

void silken_kv_server_close(struct silken_kv_server *s) {
    if (!s)
        return;
    libra_server_free(s->server);
    keyvalue_clear(&s->setup);
    free(s);
}

static size_t kv_server_write(void *machine, uint8_t *buf, size_t cap, uint64_t now) {
    return libra_server_write(machine, buf, cap, now);
}

static void kv_server_turn(struct silken_kv_server *s) {
    struct sk_frame frames[SK_BURST];
    size_t n = sk_transport_recv(s->setup.transport, frames, SK_BURST);
    uint64_t now = sk_clock_now();
    for (size_t i = 0; i < n; i++)
        libra_server_read(s->server, frames[i].data, frames[i].len, now);
    s->failed = libra_server_expire(s->server, now);
    keyvalue_send(s->setup.transport, kv_server_write, s->server, now);
    if (n == 0)
        sk_transport_wait(s->setup.transport, IDLE_NS);
}

int silken_kv_server_run(struct silken_kv_server *s, uint32_t milliseconds) {
    const uint64_t end = sk_clock_now() + milliseconds * UINT64_C(1000000);
    do
        kv_server_turn(s);
    while (!s->failed && sk_clock_now() < end);
    if (s->failed)
        return libra_server_stats(s->server).lost ? SILKEN_ERR_OVER : SILKEN_ERR_STALLED;
    return 0;
}

int silken_kv_server_finished(const struct silken_kv_server *s) {
    return libra_server_finished(s->server);
}

double silken_kv_server_sum(const struct silken_kv_server *s, uint64_t parameter) {
    return libra_server_sum(s->server, parameter);
}

size_t silken_kv_server_parameters(const struct silken_kv_server *s) {
    return libra_server_keys(s->server);
}
