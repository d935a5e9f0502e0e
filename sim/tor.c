// SPDX-License-Identifier: Apache-2.0
//
// The control plane of a ToR at a switch's CPU port (control/tor/tor.h), in virtual time: frames
// take the port's time both ways, timers are looked at each millisecond, and what it writes is
// written at once.
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "control/tor/log.h"
#include "control/tor/tor.h"
#include "sim/cpu.h"
#include "sim/sim.h"

#define TICK_NS UINT64_C(1000000)

struct sim_tor {
    struct sim_node *node;
    const char *name;
    struct tor *tor;
    struct sk_config_port *ports;
    struct sk_digest_reader digests;
    struct sim_random random;
    uint64_t tick; // the next one
    // the section
    json_t *section;
    struct sk_json doc;
    struct sk_error err;
};

// ---- what it stands on ----

static bool sim_tor_send(void *aux, const uint8_t *frame, uint32_t length) {
    return cpu_give(((struct sim_tor *)aux)->node->cpu, frame, length);
}

// Cables that are cut lose what they carry, and no port notices.
static bool sim_tor_link(void *aux, uint16_t port) {
    (void)aux;
    (void)port;
    return true;
}

// Whoever runs a scenario has to see that a job was refused, or whatever else a ToR complains of.
static void keep_alarm(struct sim_node *n, const json_t *event) {
    json_t *alarm;
    if (!n->alarms)
        n->alarms = json_array();
    if (json_array_size(n->alarms) >= SIM_ALARMS) {
        n->more_alarms++;
        return;
    }
    alarm = json_copy((json_t *)event);
    json_object_del(alarm, "event");
    json_object_set_new(alarm, "at_us", json_real((double)n->sim->events.now / 1000));
    json_array_append_new(n->alarms, alarm);
}

static void sim_tor_event(void *aux, json_t *event) {
    const struct sim_tor *t = aux;
    const char *alarm = json_string_value(json_object_get(event, "alarm"));
    if (alarm) {
        sim_trace_add(&t->node->sim->trace, t->node->sim->events.now, t->name, alarm, NULL, 0);
        keep_alarm(t->node, event);
    }
    json_decref(event);
}

static bool sim_tor_recall(void *aux, enum tor_fact fact, uint64_t *value) {
    struct sim_tor *t = aux;
    *value = fact == TOR_FACT_RANDOM ? sim_random_next(&t->random) | 1 : 0;
    return fact != TOR_FACT_WRITES;
}

// ---- the program ----

static void sim_tor_frame(void *aux, const uint8_t *frame, uint32_t length, uint64_t now) {
    tor_frame(((struct sim_tor *)aux)->tor, frame, length, now);
}

static void sim_tor_run(void *aux, uint64_t now) {
    struct sim_tor *t = aux;
    struct sk_digest d;
    while (sk_digest_read(t->node->sw, &t->digests, &d))
        tor_digest(t->tor, &d, now);
    tor_run(t->tor, now);
    if (now >= t->tick)
        t->tick = now + TICK_NS;
}

static uint64_t sim_tor_deadline(void *aux) {
    return ((const struct sim_tor *)aux)->tick;
}

static void sim_tor_free(void *aux) {
    struct sim_tor *t = aux;
    tor_free(t->tor);
    sk_json_release(&t->doc);
    json_decref(t->section);
    free(t->ports);
    free(t);
}

// ---- on and off ----

// Called after the stations at their other ends.
static void sim_tor_name_ports(struct sim_tor *t) {
    const struct sim_node *n = t->node;
    t->ports = sk_resize(NULL, n->n_ports + 1, sizeof *t->ports);
    for (size_t i = 0; i < n->n_ports; i++) {
        const uint32_t link = (uint32_t)(n->ports[i].out - n->sim->links);
        t->ports[i] =
            (struct sk_config_port){.port = n->ports[i].dev_port,
                                    .name = n->sim->scenario->stations[link_to(n->sim, link)].name};
    }
}

static struct sim_tor *sim_tor_new(struct sim_station *st) {
    struct sim_tor *t = calloc(1, sizeof *t);
    if (!t)
        abort();
    t->node = st->node;
    t->name = st->as->name;
    t->tick = st->node->sim->events.now + TICK_NS;
    t->random = sim_random_of(st->node->sim->seed, st->as->name);
    t->section = json_loads(st->as->tor, 0, NULL);
    json_object_del(t->section, "state"); // a file of the machine's
    t->doc = (struct sk_json){.name = "config", .err = &t->err};
    sim_tor_name_ports(t);
    sk_digest_reader_init(st->node->sw, &t->digests);
    return t;
}

static int sim_tor_begin(struct sim_tor *t, struct sk_error *err) {
    const struct sk_at root = {.doc = &t->doc},
                       at = {.doc = &t->doc, .value = t->section, .parent = &root, .key = "tor"};
    const struct tor_host host = {.sw = t->node->sw,
                                  .ports = t->ports,
                                  .n_ports = t->node->n_ports,
                                  .send = sim_tor_send,
                                  .link = sim_tor_link,
                                  .event = sim_tor_event,
                                  .recall = sim_tor_recall,
                                  .aux = t};
    if (tor_program_check(t->node->sw, err))
        return -1;
    t->tor = tor_new(&host, &at, err);
    return t->tor ? 0 : -1;
}

int sim_tor_start(struct sim_station *st, struct sk_error *err) {
    struct sim_node *n = st->node;
    struct sk_error ignored;
    if (!st->as->tor)
        return 0;
    if (n->cpu && n->cpu->on && n->cpu->program.frame != sim_tor_frame)
        return sk_fail(err, "its CPU port is Libra's already, so it cannot have a \"tor\"");
    sim_tor_stop(n);
    tor_log_set("ANY:ANY:off", &ignored); // what it does is in the trace
    if (!n->cpu)
        n->cpu = cpu_new(n, st->as, n->sim->seed);
    struct sim_tor *t = sim_tor_new(st);
    const struct sim_cpu_program program = {sim_tor_frame, sim_tor_run, sim_tor_deadline,
                                            sim_tor_free, t};
    cpu_on(n->cpu, &program); // what it sends at its start goes out
    if (sim_tor_begin(t, err) < 0) {
        cpu_off(n->cpu);
        return -1;
    }
    cpu_turn(n->cpu);
    return 0;
}

void sim_tor_stop(struct sim_node *n) {
    if (n->cpu && n->cpu->on && n->cpu->program.frame == sim_tor_frame)
        cpu_off(n->cpu);
}

json_t *sim_tor_ask(struct sim_node *n, const char *op, json_t *request, struct sk_error *err) {
    struct sim_tor *t = n->cpu->program.aux;
    json_t *result = tor_request(t->tor, op, request, n->sim->events.now, err);
    json_decref(request);
    cpu_turn(n->cpu); // what it has to do is due earlier, maybe
    return result;
}
