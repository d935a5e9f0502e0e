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
    if (c->more_switches &&
        (server || !c->layout || !c->more_switch || c->more_switches > KEYVALUE_SWITCHES - 1))
        return setup_refuse(why, cap,
                            "more_switches is for workers that have a layout, and at most %u",
                            KEYVALUE_SWITCHES - 1);
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
    for (unsigned i = 0; rc == 0 && i < s->switches; i++)
        rc = setup_address(&s->at[i].end, i ? &c->more_switch[i - 1].address : &c->switch_address,
                           LIBRA_PORT, "switch", why, cap);
    for (uint32_t i = 0; rc == 0 && i < c->servers; i++)
        rc = setup_address(&s->server[i], &c->server[i], LIBRA_COLD_PORT, "server", why, cap);
    return rc;
}

static int setup_layout(struct keyvalue_setup *s, unsigned at, const char *path, char *why,
                        size_t cap) {
    struct libra_layout *layout = &s->at[at].layout;
    struct sk_error err;
    uint32_t rank;
    if (!path)
        return setup_refuse(why, cap, "switch %u has no layout", at);
    if (libra_layout_read(layout, path, &err))
        return setup_refuse(why, cap, "%s", err.text);
    s->at[at].has_layout = true;
    s->at[at].epoch = layout->epoch;
    if (layout->job != s->config.job)
        return setup_refuse(why, cap, "%s is the layout of job %u, and this is job %u", path,
                            layout->job, s->config.job);
    if (layout->epoch != s->at[0].layout.epoch)
        return setup_refuse(why, cap, "%s is of epoch %u, and the first switch's of %u", path,
                            layout->epoch, s->at[0].layout.epoch);
    if (layout->registers != LIBRA_PLACES)
        return setup_refuse(why, cap, "%s is for %u registers, and the switch has %u", path,
                            layout->registers, LIBRA_PLACES);
    for (size_t i = 0; i < layout->n; i++)
        if (layout->keys[i] >= s->parameters)
            return setup_refuse(why, cap, "%s has parameter %llu, and the job has %llu", path,
                                (unsigned long long)layout->keys[i],
                                (unsigned long long)s->parameters);
        else if (keyvalue_switch_of(s, layout->keys[i], &rank) < (int)at)
            return setup_refuse(why, cap, "%s has parameter %llu, which another switch has", path,
                                (unsigned long long)layout->keys[i]);
    return 0;
}

static int setup_layouts(struct keyvalue_setup *s, char *why, size_t cap) {
    const struct silken_kv_config *c = &s->config;
    int rc = 0;
    for (unsigned i = 0; rc == 0 && i < s->switches; i++)
        rc = setup_layout(s, i, i ? c->more_switch[i - 1].layout : c->layout, why, cap);
    return rc;
}

int keyvalue_switch_of(const struct keyvalue_setup *s, uint64_t parameter, uint32_t *rank) {
    for (unsigned i = 0; i < s->switches && s->at[i].has_layout; i++) {
        const int64_t r = libra_layout_rank(&s->at[i].layout, parameter);
        if (r >= 0) {
            *rank = (uint32_t)r;
            return (int)i;
        }
    }
    return -1;
}

int keyvalue_setup(struct keyvalue_setup *s, const struct silken_kv_config *config, bool server,
                   char *why, size_t why_cap) {
    *s = (struct keyvalue_setup){.config = *config};
    int rc = setup_numbers(config, server, why, why_cap);
    s->switches = rc == 0 && config->layout ? 1 + config->more_switches : 0;
    for (unsigned i = 0; i < s->switches; i++)
        s->at[i].first_sequence = config->first_sequence;
    if (rc == 0)
        rc = setup_addresses(s, why, why_cap);
    s->parameters = rc == 0 ? config->keys * config->width : 0;
    if (rc == 0)
        rc = setup_layouts(s, why, why_cap);
    if (rc == 0 && !config->device)
        rc = setup_refuse(why, why_cap, "device is missing");
    if (rc == 0)
        rc = sk_transport_open_at(&s->transport, config->device, -1,
                                  &(struct sk_transport_station){.self = s->self}, why, why_cap);
    if (rc)
        keyvalue_clear(s);
    return rc;
}

void keyvalue_clear(struct keyvalue_setup *s) {
    sk_transport_close(s->transport);
    for (unsigned i = 0; i < s->switches; i++)
        if (s->at[i].has_layout)
            libra_layout_clear(&s->at[i].layout);
    s->transport = NULL;
    s->switches = 0;
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
                 .epoch = s->switches ? s->at[0].layout.epoch : 0},
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

struct libra_worker_config keyvalue_switch_link(const struct keyvalue_setup *s, unsigned at,
                                                uint16_t number) {
    struct libra_worker_config c = keyvalue_link(
        s, &s->at[at].end, (uint16_t)(at ? KEYVALUE_PORT_MORE + at : KEYVALUE_PORT), number);
    c.flow.epoch = s->at[at].epoch;
    c.first_sequence = s->at[at].first_sequence;
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
