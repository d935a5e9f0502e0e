// SPDX-License-Identifier: Apache-2.0
//
// The invariants that are not about sums (those are in job.c, where sums come in).
#include <inttypes.h>
#include <string.h>

#include "control/tables/control.h"
#include "control/tables/names.h"
#include "hosts/atp/frame.h"
#include "sim/exchange/exchange.h"
#include "sim/job.h"
#include "sim/libra/libra.h"

#define EVERY             4096u    // events between two looks at the whole network
#define TOO_MANY          4000000u // events at one time
#define AGGREGATORS       16384u
#define ABANDONED_UNIT_NS 65536u
#define SWITCHML_POOL     8192u
// No job of a scenario has this number, and no session is asked of it.
#define NOBODY 127u

static void check_network(struct sim *s) {
    for (uint32_t l = 0; l < s->n_links; l++)
        if (!sim_link_conserves(&s->links[l]))
            sim_violate(s, NULL, "link %s: frames sent are not those delivered, lost and in flight",
                        s->links[l].name);
    for (uint32_t i = 0; i < s->scenario->n_stations; i++)
        if (s->stations[i].node && !node_conserves(s->stations[i].node))
            sim_violate(s, NULL,
                        "switch %s: packets received and copied are not those sent, dropped and "
                        "waiting",
                        s->stations[i].as->name);
}

void check_step(struct sim *s) {
    if (s->events.late)
        sim_violate(s, NULL, "an event was due in the past");
    s->stands = s->events.now == s->stood_at ? s->stands + 1 : 0;
    s->stood_at = s->events.now;
    if (s->stands > TOO_MANY)
        sim_violate(s, NULL, "%u events, and time does not advance", TOO_MANY);
    if (s->events.ran - s->checked < EVERY)
        return;
    s->checked = s->events.ran;
    check_network(s);
}

// ---- aggregators ----

static bool has_register(const struct sk_switch *sw, const char *name) {
    struct sk_object object;
    return sk_has_object(sw, SK_REGISTER, name, &object);
}

// 0 when it cannot be read, too: then nobody owns it.
static uint64_t sim_check_owner(const struct sim_node *n, uint32_t index) {
    uint64_t values[SK_PIPES] = {0};
    struct sk_error err;
    if (sk_control_register_read(n->sw, "owners", index % AGGREGATORS, "fragment", values, &err) <
        0)
        return 0;
    return values[index / AGGREGATORS];
}

static uint64_t abandoned_after(const struct sim_node *n) {
    uint64_t values[SK_PIPES] = {0};
    struct sk_error err;
    if (sk_control_register_read(n->sw, "abandoned_after", 0, NULL, values, &err) < 0)
        values[0] = 15259;
    return (values[0] + 2) * ABANDONED_UNIT_NS;
}

// Asks for the aggregator with parameters of a fragment that it does not have, after its time-out.
static void sim_check_ask_again(struct sim_node *n, uint32_t index) {
    const uint8_t group[6] = {0x01, 0x00, 0x5e, 0x01, 0xff, 0xff};
    struct atp_flow flow = {.job = NOBODY, .server.port = ATP_UDP_PORT, .group.port = ATP_UDP_PORT};
    uint8_t frame[ATP_FRAME_BYTES] = {0};
    memcpy(flow.group.mac, group, 6); // nobody's: it ends here
    atp_frame_init(frame, &flow, false);
    const struct atp_packet p = {.is_ack = true,
                                 .edge = true,
                                 .fan_in0 = 1,
                                 .fan_in1 = 1,
                                 .index = (uint16_t)index,
                                 .job = NOBODY,
                                 .sequence = 0xfffffe};
    atp_frame_set(frame, &p);
    sk_switch_rx(n->sw, n->ports[0].dev_port, frame, sizeof frame, n->sim->events.now);
    sk_switch_run(n->sw, n->sim->events.now);
}

struct used {
    uint32_t first, end;
};

static struct used indices_used(const struct sim *s) {
    struct used u = {ATP_INDICES, 0};
    for (uint32_t i = 0; i < s->scenario->n_jobs; i++) {
        const struct sim_job *job = s->jobs[i];
        if (job->as->protocol != SIM_ATP)
            continue;
        u.first = job->first_index < u.first ? job->first_index : u.first;
        u.end = job->first_index + job->indices > u.end ? job->first_index + job->indices : u.end;
    }
    return u;
}

static void check_aggregators(struct sim *s, struct sim_node *n, const char *name) {
    const struct used u = indices_used(s);
    static _Thread_local uint32_t left[ATP_INDICES];
    uint32_t n_left = 0;
    for (uint32_t i = u.first; i < u.end; i++)
        if (sim_check_owner(n, i))
            left[n_left++] = i;
    s->abandoned += n_left;
    if (n_left)
        s->events.now += abandoned_after(n); // nothing else will happen
    for (uint32_t i = 0; i < n_left; i++) {
        sim_check_ask_again(n, left[i]);
        const uint64_t fragment = sim_check_owner(n, left[i]);
        const struct sim_key key = {SIM_ATP, (uint8_t)(fragment >> 24 & 0x7f),
                                    (uint32_t)fragment & 0xffffff};
        if (fragment)
            sim_violate(s, &key,
                        "switch %s: aggregator %u belongs to fragment %08" PRIx64
                        " though no worker sends, and is not released after its time-out",
                        name, left[i], fragment);
    }
}

// ---- SwitchML's slots ----

static void check_slots_at(struct sim *s, const struct sim_job *job, uint32_t at) {
    const struct sim_station *st = &s->stations[at];
    struct sk_error err;
    if (!st->node->sw || !has_register(st->node->sw, "tally0.cells"))
        return;
    for (uint32_t i = 0; i < 2 * job->slots; i++) {
        const uint32_t slot = i % job->slots,
                       cell = i / job->slots * SWITCHML_POOL + job->pool_base + slot;
        const struct sim_key key = {SIM_SWITCHML, job->number, slot};
        uint64_t missing[SK_PIPES] = {0};
        if (sk_control_register_read(st->node->sw, "tally0.cells", cell, "missing", missing, &err) <
            0)
            return;
        for (unsigned p = 0; p < SK_PIPES; p++)
            if (missing[p])
                sim_violate(s, &key,
                            "switch %s: slot %u of job %s waits for %" PRIu64
                            " workers though all are done",
                            st->as->name, slot, job->as->name, missing[p]);
    }
}

static void check_slots(struct sim *s, const struct sim_job *job) {
    if (!job->levels)
        check_slots_at(s, job, job->at);
    for (size_t i = 0; job->levels && i < job->levels->n; i++)
        check_slots_at(s, job, job->levels->level[i].station);
}

void check_end(struct sim *s) {
    check_network(s);
    for (uint32_t i = 0; i < s->scenario->n_jobs; i++)
        if (s->jobs[i]->exchange)
            exchange_check_end(s->jobs[i]->exchange);
    libra_check_end(s);
    if (!s->scenario->check_aggregators || !s->done_at || s->violated)
        return;
    for (uint32_t i = 0; i < s->scenario->n_jobs; i++)
        if (s->jobs[i]->as->protocol == SIM_SWITCHML && !s->jobs[i]->failed)
            check_slots(s, s->jobs[i]);
    for (uint32_t i = 0; i < s->scenario->n_stations; i++) {
        struct sim_node *n = s->stations[i].node;
        if (n && n->sw && has_register(n->sw, "owners"))
            check_aggregators(s, n, s->stations[i].as->name);
    }
}
