// SPDX-License-Identifier: Apache-2.0
#include "hosts/keyvalue/keyvalue.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

#define MS UINT64_C(1000000)

__attribute__((format(printf, 3, 4))) static int setup_refuse(char *why, size_t cap,
                                                              const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(why, cap, format, args);
    va_end(args);
    return SILKEN_ERR_INVALID;
}

void silken_kv_config_init(struct silken_kv_config *config) {
    *config = (struct silken_kv_config){
        .workers = 1, .width = 1, .servers = 1, .first_sequence = 1, .hard_limit_ms = 10000};
}

static int setup_numbers(const struct silken_kv_config *c, bool server, char *why, size_t cap) {
    if (c->workers < 1 || c->workers > LIBRA_SERVER_WORKERS)
        return setup_refuse(why, cap, "workers is %u; it must be from 1 to %u", c->workers,
                            LIBRA_SERVER_WORKERS);
    if (c->servers < 1 || c->servers > KEYVALUE_SERVERS || !c->server)
        return setup_refuse(why, cap, "servers is %u; it must be from 1 to %u, with addresses",
                            c->servers, KEYVALUE_SERVERS);
    if (c->worker >= (server ? c->servers : c->workers))
        return setup_refuse(why, cap, "number %u is not one of the %u %s", c->worker,
                            server ? c->servers : c->workers, server ? "servers" : "workers");
    if (c->width < 1 || c->keys < 1 || c->keys > UINT64_MAX / c->width)
        return setup_refuse(why, cap,
                            "keys and width must be above 0, and their product below 2^64");
    if (c->first_sequence < 1 || c->first_sequence > LIBRA_SEQUENCE_LAST)
        return setup_refuse(why, cap, "first_sequence must be from 1 to %u", LIBRA_SEQUENCE_LAST);
    if (!c->optimised != !c->optimiser && server)
        return setup_refuse(why, cap,
                            "a server of a job has an optimiser if the job is 'optimised'");
    if (c->optimised && c->layout && !c->switch_cpu)
        return setup_refuse(why, cap, "servers collect hot parameters only with 'switch_cpu'");
    return c->hard_limit_ms ? 0 : setup_refuse(why, cap, "hard_limit_ms must be above 0");
}

static int setup_address(struct sk_endpoint *e, const struct silken_address *a, uint16_t port,
                         const char *whose, char *why, size_t cap) {
    return sk_endpoint_parse(e, a->mac, a->ip, port)
               ? 0
               : setup_refuse(why, cap,
                              "the %s's address is not like 02:00:00:00:00:01 and 10.0.0.1", whose);
}

static int setup_addresses(struct keyvalue_setup *s, char *why, size_t cap) {
    const struct silken_kv_config *c = &s->config;
    int rc = setup_address(&s->self, &c->self, 0, "station", why, cap);
    if (rc == 0 && c->layout)
        rc = setup_address(&s->switch_end, &c->switch_address, LIBRA_PORT, "switch", why, cap);
    for (uint32_t i = 0; rc == 0 && i < c->servers; i++)
        rc = setup_address(&s->server[i], &c->server[i], LIBRA_COLD_PORT, "server", why, cap);
    return rc;
}

static int setup_layout(struct keyvalue_setup *s, char *why, size_t cap) {
    struct sk_error err;
    if (!s->config.layout)
        return 0;
    if (libra_layout_read(&s->layout, s->config.layout, &err))
        return setup_refuse(why, cap, "%s", err.text);
    s->has_layout = true;
    if (s->layout.job != s->config.job)
        return setup_refuse(why, cap, "%s is the layout of job %u, and this is job %u",
                            s->config.layout, s->layout.job, s->config.job);
    if (s->layout.registers != LIBRA_PLACES)
        return setup_refuse(why, cap, "%s is for %u registers, and the switch has %u",
                            s->config.layout, s->layout.registers, LIBRA_PLACES);
    for (size_t i = 0; i < s->layout.n; i++)
        if (s->layout.keys[i] >= s->parameters)
            return setup_refuse(why, cap, "%s has parameter %llu, and the job has %llu",
                                s->config.layout, (unsigned long long)s->layout.keys[i],
                                (unsigned long long)s->parameters);
    return 0;
}

int keyvalue_setup(struct keyvalue_setup *s, const struct silken_kv_config *config, bool server,
                   char *why, size_t why_cap) {
    *s = (struct keyvalue_setup){.config = *config, .first_sequence = config->first_sequence};
    int rc = setup_numbers(config, server, why, why_cap);
    if (rc == 0)
        rc = setup_addresses(s, why, why_cap);
    s->parameters = rc == 0 ? config->keys * config->width : 0;
    if (rc == 0)
        rc = setup_layout(s, why, why_cap);
    if (rc == 0 && !config->device)
        rc = setup_refuse(why, why_cap, "device is missing");
    if (rc == 0)
        rc = sk_transport_open_at(&s->transport, config->device, -1, &s->self, why, why_cap);
    if (rc)
        keyvalue_clear(s);
    return rc;
}

void keyvalue_clear(struct keyvalue_setup *s) {
    sk_transport_close(s->transport);
    if (s->has_layout)
        libra_layout_clear(&s->layout);
    s->transport = NULL;
    s->has_layout = false;
}

// Rounded, without a product that could overflow.
uint64_t keyvalue_first(const struct keyvalue_setup *s, uint32_t server) {
    uint64_t each = s->parameters / s->config.servers, more = s->parameters % s->config.servers;
    return server * each + (server < more ? server : more);
}

uint32_t keyvalue_server_of(const struct keyvalue_setup *s, uint64_t parameter) {
    uint32_t server = s->config.servers - 1;
    while (parameter < keyvalue_first(s, server))
        server--;
    return server;
}

struct libra_worker_config keyvalue_link(const struct keyvalue_setup *s,
                                         const struct sk_endpoint *to, uint16_t port,
                                         uint16_t number) {
    struct libra_worker_config c = {
        .flow = {.worker = s->self,
                 .fabric = *to,
                 .job = s->config.job,
                 .number = number,
                 .epoch = s->has_layout ? s->layout.epoch : 0},
        .floats = true,
        .cpu = s->config.switch_cpu,
        .first_sequence = s->config.first_sequence,
        .window = 16,
        .window_max = 128,
        .rto_initial = 20 * MS,
        .rto_min = 2 * MS,
        .rto_max = 200 * MS,
        .hard_limit = s->config.hard_limit_ms * MS,
    };
    c.flow.worker.port = port;
    return c;
}

void keyvalue_send(struct sk_transport *t, keyvalue_write *write, void *machine, uint64_t now) {
    struct sk_frame frames[SK_BURST];
    for (;;) {
        size_t lent = sk_transport_lend(t, frames, SK_BURST), n = 0;
        while (n < lent &&
               (frames[n].len = (uint32_t)write(machine, frames[n].data, SK_MAX_FRAME, now)) > 0)
            n++;
        // what has not gone is lost: its timer brings it again
        if (n == 0 || sk_transport_post(t, frames, n) < n || n < lent)
            return;
    }
}
