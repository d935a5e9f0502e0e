// SPDX-License-Identifier: Apache-2.0
#include "sim/real.h"

#include "base/error.h"
#include "sim/libra/libra.h"
#include "sim/notes.h"

int real_refuses(const struct scenario *sc, struct sk_error *err) {
    if (sc->controller)
        return sk_fail(err, "its controller of Libra runs in virtual time only");
    if (libra_is_at_a_tor(sc))
        return sk_fail(err, "its jobs of Libra are at a switch with a \"tor\", whose control plane "
                            "does not admit them: they run in virtual time only");
    for (size_t i = 0; i < sc->n_faults; i++)
        if (sc->faults[i].kind == SCN_SLOW_CPU)
            return sk_fail(err, "\"slow_cpu\": the CPU of a running switch is as fast as it is");
    return 0;
}

// ---- ends of links ----

static bool real_to_switch(void *station, uint32_t port, const uint8_t *bytes, uint32_t length) {
    const struct sim_node *n = ((struct sim_station *)station)->node;
    const struct sim_real *r = n->sim->real;
    const uint32_t out = (uint32_t)(n->ports[port].out - n->sim->links);
    // one that nobody has configured yet forwards nothing
    return n->configured && r->leave(r->aux, out ^ 1, bytes, length);
}

static bool real_to_host(void *station, uint32_t port, const uint8_t *bytes, uint32_t length) {
    const struct sim_host *h = ((struct sim_station *)station)->host;
    const struct sim_real *r = h->sim->real;
    const bool arp = length >= 14 && bytes[12] == 0x08 && bytes[13] == 0x06;
    for (const struct sim_app *a = h->apps; a && !h->down; a = a->next)
        if (a->ops->wants(a, bytes, length)) {
            if (!arp)
                return host_deliver(station, port, bytes, length);
            host_deliver(station, port, bytes, length); // and the kernel wants to know it, too
            break;
        }
    return r->leave(r->aux, (uint32_t)(h->out - h->sim->links) ^ 1, bytes, length);
}

static void real_take(struct sim *s) {
    const struct sim_real *r = s->real;
    const uint8_t *frame;
    uint32_t link, length;
    while (r->enter(r->aux, &link, &frame, &length)) {
        const struct sim_node *from = s->stations[link_to(s, link ^ 1)].node;
        if (length <= SIM_MAX_FRAME && (!from || from->configured))
            sim_link_send(&s->links[link], frame, length);
    }
}

// ---- switches ----

bool real_power(struct sim_station *st, bool on) {
    struct sim_node *n = st->node;
    const struct sim_real *r = n->sim->real;
    if (!r)
        return false;
    if (n->configured == on)
        return true;                    // at the start it is on
    const bool process = !on || n->off; // of a control plane that was late it is there
    if (on && process)
        node_restart(st);
    n->configured = on;
    if (process) {
        n->off = !on;
        r->power(r->aux, st->id, on);
    }
    return true;
}

void real_entry(const struct sim_node *n, const struct sk_entry_spec *e, bool anew) {
    const struct sim_real *r = n->sim->real;
    struct sk_error err;
    uint32_t station = 0;
    if (!r || n->sim->notes)
        return;
    while (n->sim->stations[station].node != n)
        station++;
    json_t *request = note_entry_json(e);
    json_object_set_new(request, "op", json_string(anew ? "table.add" : "table.modify"));
    json_t *reply = r->ask(r->aux, station, request, &err);
    if (!reply)
        sim_violate(n->sim, NULL, "switch %s: table %s: %s", n->sim->stations[station].as->name,
                    e->table, err.text);
    json_decref(reply);
}

// ---- running ----

static void real_begin(struct sim *s) {
    for (uint32_t i = 0; i < s->scenario->n_stations; i++) {
        struct sim_node *n = s->stations[i].node;
        if (!n)
            continue;
        control_stop(n); // `silken run` has its own, and Libra_s, and a ToR's
        sim_tor_stop(n);
        libra_stop(&s->stations[i]);
        n->configured = !n->configured_at;
    }
    for (uint32_t l = 0; l < s->n_links; l++)
        s->links[l].deliver =
            s->stations[link_to(s, l)].as->is_switch ? real_to_switch : real_to_host;
    libra_is_elsewhere(s);
    s->ended = sim_is_endless(s);
}

// Whatever is due, after a violation, too: links carry on.
static void real_step(struct sim *s, uint64_t now) {
    while (sim_next(&s->events) <= now)
        sim_step(&s->events);
    if (s->events.now < now)
        s->events.now = now;
}

void real_run(struct sim *s, const struct sim_real *real) {
    const uint64_t quiet = (uint64_t)(s->scenario->quiet_ms * 1e6);
    bool over = false, wanted = true;
    s->real = real;
    real_begin(s);
    while (wanted) {
        real_step(s, real->now(real->aux));
        if (!over && !s->violated && s->unfinished && s->events.now >= s->limit_ns)
            sim_explain(s);
        if (!over && (s->violated || s->events.now >= s->limit_ns ||
                      (s->done_at && !s->ended && s->events.now >= s->done_at + quiet))) {
            over = true;
            if (!s->violated)
                libra_check_sums(s);
            real->over(real->aux);
        }
        real_take(s);
        wanted = real->rest(real->aux, sim_next(&s->events));
    }
    s->real = NULL;
}
