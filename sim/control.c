// SPDX-License-Identifier: Apache-2.0
//
// A switch's part in the sessions of jobs, as `silken run` has it: frames that the program sends to
// the CPU port go to control/sessions, its answers come in there, and it has its turn every
// millisecond. It starts again with the switch.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/sessions/sessions.h"
#include "control/tables/control.h"
#include "control/tables/names.h"
#include "session/frame.h"
#include "sim/job.h"
#include "sim/real.h"

#define TURN_NS UINT64_C(1000000)
#define WAITING 256u // frames; what comes while as many wait is lost, as in the port's ring

struct taken {
    uint32_t length;
    uint8_t bytes[SESSION_FRAME_BYTES];
};

struct sim_control {
    struct sim_node *node;
    struct sessions *sessions;
    struct sim_random random;
    struct taken waiting[WAITING];
    unsigned n;
};

static bool sim_control_send_frame(void *aux, const uint8_t *frame, uint32_t length) {
    return node_give(((struct sim_control *)aux)->node, frame, length);
}

static uint64_t sim_control_random_number(void *aux) {
    struct sim_control *c = aux;
    const uint64_t number = sim_random_next(&c->random);
    return number + !number;
}

void control_wake(void *node, void *unused) {
    struct sim_node *n = node;
    const uint64_t now = n->sim->events.now;
    (void)unused;
    if (!n->control)
        return;
    sessions_run(n->control->sessions, now);
    sim_timer_set(&n->control_timer, now + TURN_NS);
    node_run(n);
}

static bool has_table(struct sim_node *n, const char *name) {
    struct sk_object object;
    return sk_has_object(n->sw, SK_TABLE, name, &object);
}

// Of jobs that have no sessions packets pass without. False: no job has any.
static bool sim_control_except(const struct sim *s, struct sk_config_sessions *config) {
    bool any = false;
    memset(config->excepted, 1, sizeof config->excepted);
    for (uint32_t i = 0; i < s->scenario->n_jobs; i++) {
        const struct sim_job *job = s->jobs[i];
        any |= job->as->sessions;
        config->excepted[job->as->protocol == SIM_ATP][job->number] = !job->as->sessions;
    }
    return any;
}

bool control_has_sessions(struct sim_node *n) {
    return has_table(n, SESSIONS_OF_SWITCHML) || has_table(n, SESSIONS_OF_ATP);
}

int control_start(struct sim_station *st, struct sk_error *err) {
    struct sim_node *n = st->node;
    struct sk_config_sessions config = {.ip = st->ip};
    char name[64];
    control_stop(n);
    memcpy(config.mac, st->mac, 6);
    // the sessions of a switch that is a process are its own
    if (!sim_control_except(n->sim, &config) || !control_has_sessions(n) || n->sim->real)
        return 0;
    struct sim_control *c = calloc(1, sizeof *c);
    if (!c)
        abort();
    c->node = n;
    snprintf(name, sizeof name, "control %u of %s", n->restarts, st->as->name);
    c->random = sim_random_of(n->sim->seed, name);
    const struct sessions_host host = {.on.sw = n->sw,
                                       .send = sim_control_send_frame,
                                       .random = sim_control_random_number,
                                       .aux = c};
    c->sessions = sessions_new(&host, &config, SK_CPU_PORT, n->sim->events.now, err);
    if (!c->sessions) {
        free(c);
        return -1;
    }
    sk_switch_port_up(n->sw, SK_CPU_PORT, true);
    n->control = c;
    sim_timer_set(&n->control_timer, n->sim->events.now + TURN_NS);
    return 0;
}

void control_stop(struct sim_node *n) {
    if (!n->control)
        return;
    sessions_free(n->control->sessions);
    free(n->control);
    n->control = NULL;
}

void control_take(struct sim_control *c, const uint8_t *frame, uint32_t length) {
    if (c->n == WAITING || length > sizeof c->waiting->bytes)
        return;
    c->waiting[c->n].length = length;
    memcpy(c->waiting[c->n++].bytes, frame, length);
}

bool control_turn(struct sim_control *c) {
    const unsigned n = c->n;
    // answers go into the switch, which sends nothing before it runs
    for (unsigned i = 0; i < n; i++)
        sessions_frame(c->sessions, c->waiting[i].bytes, c->waiting[i].length,
                       c->node->sim->events.now);
    c->n = 0;
    return n > 0;
}
