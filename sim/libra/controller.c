// SPDX-License-Identifier: Apache-2.0
//
// The controller of two switches (`silken libra control` in virtual time): heartbeats, copies of
// the jobs, and their move to the standby when the switch is about to fail, or is dead. It moves
// them once. A request takes 'request_ns', and longer where the CPU port is busy.
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "base/error.h"
#include "control/tables/control.h"
#include "control/tables/names.h"
#include "sim/cpu.h"
#include "sim/libra/job.h"

#define MS        UINT64_C(1000000)
#define SAVE_NS   (2 * MS)    // until a switch that refused a job for now is asked again
#define SETTLE_NS (2000 * MS) // it is not asked longer

enum control_does {
    CONTROL_WATCHES,
    CONTROL_COPIES,
    CONTROL_MOVES,
    CONTROL_REVIVES,
    CONTROL_IS_DONE
};
struct lsim_control_copy {
    json_t *state; // owned; null: none
    uint64_t at;
};
struct lsim_control {
    struct sim *sim;
    const struct scn_controller *as;
    enum control_does does;
    size_t job;         // that is copied or moved
    json_t *state;      // of a job that is moved, and not loaded yet; owned
    uint64_t until;     // it is asked for its state, or the standby to load it
    uint64_t copied_at; // when the last round of copies began
    unsigned missed;
    uint64_t lost_before;
    bool moved; // the address
    struct lsim_control_copy *copies;
    uint64_t heartbeats, n_copies, n_moves, n_revived, n_ended, n_refused, n_again;
    struct sk_error err; // why something was refused last
};

static void lsim_control_step(void *who, void *unused);

static uint64_t lsim_control_now(const struct lsim_control *c) {
    return c->sim->events.now;
}

static void lsim_control_say(struct lsim_control *c, const char *what) {
    sim_trace_add(&c->sim->trace, lsim_control_now(c), "controller", what, NULL, 0);
}

static void lsim_control_later(struct lsim_control *c, double ns) {
    sim_at(&c->sim->events, lsim_control_now(c) + (uint64_t)ns, lsim_control_step, c, NULL);
}

// ---- requests ----

static struct libra_s *lsim_control_switch(const struct lsim_control *c, bool standby) {
    return lsim_switch(c->sim, standby ? c->as->standby : c->as->from);
}

static struct lsim_job *lsim_control_job(const struct lsim_control *c) {
    return &c->sim->libra->jobs[c->job];
}

// Whether the controller has to do with it.
static bool lsim_control_has(const struct lsim_control *c, const struct lsim_job *j) {
    return j->as->hot && j->at == c->as->from && j->added;
}

static json_t *lsim_control_named(struct lsim_control *c, bool standby, const char *op) {
    struct libra_s *l = lsim_control_switch(c, standby);
    if (!l) {
        sk_fail(&c->err, "the switch does not answer");
        return NULL;
    }
    libra_s_run(l, lsim_control_now(c));
    json_t *reply = lsim_ask(
        l, json_pack("{s:s, s:s}", "op", op, "name", lsim_control_job(c)->as->name), &c->err);
    c->n_refused += !reply;
    return reply;
}

static bool lsim_control_done(json_t *reply) {
    json_decref(reply);
    return reply;
}

static bool lsim_control_admit(struct lsim_control *c, bool standby, long long epoch) {
    struct libra_s *l = lsim_control_switch(c, standby);
    return l && lsim_control_done(
                    lsim_ask(l,
                             json_pack("{s:s, s:s, s:I}", "op", "libra.admit", "name",
                                       lsim_control_job(c)->as->name, "epoch", (json_int_t)epoch),
                             &c->err));
}

static void lsim_control_run_cpu(struct lsim_control *c, bool standby) {
    struct sim_node *n = c->sim->stations[standby ? c->as->standby : c->as->from].node;
    if (n->cpu && n->cpu->on)
        cpu_turn(n->cpu);
}

enum control_load { LOAD_IS_DONE, LOAD_LATER, LOAD_FAILED };

// Later: packets of a job that was removed there are to leave it first, and a step is due.
static enum control_load lsim_control_load(struct lsim_control *c, json_t *state) {
    struct libra_s *l = lsim_control_switch(c, true);
    if (!l) {
        sk_fail(&c->err, "the standby does not answer");
        return LOAD_FAILED;
    }
    json_t *request = lsim_job_request(lsim_control_job(c), c->sim->stations[c->as->standby].node);
    json_object_set_new(request, "op", json_string("libra.load"));
    json_object_set(request, "state", state);
    const bool loaded = lsim_control_done(lsim_ask(l, request, &c->err));
    if (loaded || lsim_control_now(c) >= c->until || !strstr(c->err.text, "a little later"))
        return loaded ? LOAD_IS_DONE : LOAD_FAILED;
    c->n_again++;
    lsim_control_run_cpu(c, true);
    lsim_control_later(c, SAVE_NS);
    return LOAD_LATER;
}

static long long lsim_control_next_epoch(const json_t *state) {
    return (sk_json_number(state, "epoch") + 1) & 0xffff;
}

// ---- the address ----

// A switch that forwards learns by which port the address is now.
static void lsim_control_rewrite(struct lsim_control *c, uint32_t at) {
    struct sim *s = c->sim;
    const struct sim_node *n = s->stations[at].node;
    struct sk_object object;
    struct sk_error err;
    char mac[SK_MAC_TEXT], port[16];
    if (!n || !n->sw || !n->configured || at == c->as->from || at == c->as->standby)
        return;
    const bool macs = sk_find_object(n->sw, SK_TABLE, "macs", &object, &err) >= 0;
    const struct sk_named_value key = {"hdr.ethernet.dst_addr",
                                       sk_mac_text(s->stations[c->as->from].mac, mac)},
                                arg = {"port", port};
    struct sk_entry_spec e = {.table = macs ? "macs" : "forward",
                              .keys = &key,
                              .n_keys = 1,
                              .action = macs ? "to_port" : "send",
                              .pipe = -1};
    snprintf(port, sizeof port, "%u", node_port_to(n, c->as->standby));
    if (sk_control_entry_delete(n->sw, &e, &err) == 0) {
        e.args = &arg;
        e.n_args = 1;
        if (sk_control_entry_add(n->sw, &e, &err) == 0)
            return;
    }
    sim_violate(s, NULL, "switch %s does not learn where Libra's address is: %s",
                s->stations[at].as->name, err.text);
}

static void lsim_control_learn(void *who, void *unused) {
    struct lsim_control *c = who;
    (void)unused;
    c->moved = true;
    lsim_control_say(c, "address learned");
    for (uint32_t i = 0; i < c->sim->scenario->n_stations; i++)
        lsim_control_rewrite(c, i);
}

static void lsim_control_announce(struct lsim_control *c) {
    sim_at(&c->sim->events, lsim_control_now(c) + (uint64_t)c->as->learn_ns, lsim_control_learn, c,
           NULL);
}

// ---- the next job ----

static void lsim_control_watch(struct lsim_control *c) {
    c->does = CONTROL_WATCHES;
    lsim_control_later(c, c->as->heartbeat_ns);
}

// Of the jobs from 'first' on the next one that is not over; false: there is none.
static bool lsim_control_choose(struct lsim_control *c, size_t first) {
    for (c->job = first; c->job < c->sim->libra->n; c->job++)
        if (lsim_control_has(c, lsim_control_job(c)) && !lsim_control_job(c)->ended)
            break;
    c->until = lsim_control_now(c) + SETTLE_NS;
    return c->job < c->sim->libra->n;
}

static void lsim_control_begin(struct lsim_control *c, enum control_does what) {
    c->does = what;
    if (lsim_control_choose(c, 0)) {
        lsim_control_later(c, c->as->request_ns);
    } else if (what == CONTROL_COPIES) {
        lsim_control_watch(c);
    } else {
        c->does = CONTROL_IS_DONE;
    }
}

static void lsim_control_next(struct lsim_control *c) {
    if (lsim_control_choose(c, c->job + 1))
        lsim_control_later(c, c->as->request_ns);
    else if (c->does == CONTROL_COPIES)
        lsim_control_watch(c);
    else
        c->does = CONTROL_IS_DONE;
}

// The state of the job, which is held; null: not yet, and then *gives_up tells.
static json_t *lsim_control_save(struct lsim_control *c, bool *gives_up) {
    json_t *state = lsim_control_done(lsim_control_named(c, false, "libra.hold"))
                        ? lsim_control_named(c, false, "libra.save")
                        : NULL;
    *gives_up = !state && (lsim_control_now(c) >= c->until || !strstr(c->err.text, "being added"));
    if (!state && !*gives_up)
        lsim_control_later(c, SAVE_NS);
    return state;
}

static void lsim_control_copy(struct lsim_control *c) {
    struct lsim_control_copy *copy = &c->copies[c->job];
    bool gives_up;
    json_t *state = lsim_control_save(c, &gives_up);
    if (!state && !gives_up)
        return;
    if (state) {
        json_decref(copy->state);
        copy->state = state;
        copy->at = lsim_control_now(c);
        c->n_copies++;
    }
    json_t *job = lsim_control_named(c, false, "job.show");
    if (job && sk_json_is(job, "held"))
        lsim_control_admit(c, false, sk_json_number(job, "epoch"));
    json_decref(job);
    lsim_control_run_cpu(c, false);
    lsim_control_next(c);
}

static void lsim_control_move(struct lsim_control *c) {
    bool gives_up = false;
    json_t *state = c->state ? c->state : lsim_control_save(c, &gives_up);
    if (!state && !gives_up)
        return;
    if (!c->state)
        c->until = lsim_control_now(c) + SETTLE_NS;
    c->state = state;
    const enum control_load load = state ? lsim_control_load(c, state) : LOAD_FAILED;
    if (load == LOAD_LATER)
        return;
    if (load == LOAD_IS_DONE && lsim_control_admit(c, true, lsim_control_next_epoch(state))) {
        lsim_control_say(c, "has moved a job");
        c->n_moves++;
        lsim_control_job(c)->moves++;
        lsim_control_job(c)->here = c->as->standby;
        lsim_control_announce(c);
        lsim_control_done(lsim_control_named(c, false, "job.remove"));
        lsim_control_run_cpu(c, true);
    } else {
        sim_violate(c->sim, NULL, "job %s is not moved: %s", lsim_control_job(c)->as->name,
                    c->err.text);
    }
    json_decref(state);
    c->state = NULL;
    lsim_control_next(c);
}

// ---- a dead switch ----

// False: later.
static bool lsim_control_revive_one(struct lsim_control *c) {
    struct lsim_job *j = lsim_control_job(c);
    const struct lsim_control_copy *copy = &c->copies[c->job];
    const enum control_load load = copy->state ? lsim_control_load(c, copy->state) : LOAD_FAILED;
    if (load == LOAD_FAILED && copy->state)
        sim_violate(c->sim, NULL, "job %s is not loaded from its copy: %s", j->as->name,
                    c->err.text);
    if (load != LOAD_IS_DONE)
        return load == LOAD_FAILED; // its members reach their hard limit
    j->here = c->as->standby;
    if (c->as->lossless) {
        j->ended = lsim_control_done(lsim_control_named(c, true, "libra.end"));
        c->n_ended++;
        lsim_control_say(c, "has ended a job");
    } else if (lsim_control_admit(c, true, lsim_control_next_epoch(copy->state))) {
        j->lost_from = copy->at;
        j->lost_to = lsim_control_now(c);
        c->n_revived++;
        lsim_control_say(c, "has revived a job");
    } else {
        sim_violate(c->sim, NULL, "job %s is not admitted: %s", j->as->name, c->err.text);
    }
    lsim_control_announce(c);
    lsim_control_run_cpu(c, true);
    return true;
}

// From c->job on, if there is 'more'. Those that were moved before it died are at the standby
// already.
static void lsim_control_revive_from(struct lsim_control *c, bool more) {
    for (; more; more = lsim_control_choose(c, c->job + 1))
        if (lsim_control_job(c)->here != c->as->standby && !lsim_control_revive_one(c))
            return;
    c->does = CONTROL_IS_DONE;
}

static void lsim_control_revive(struct lsim_control *c) {
    c->does = CONTROL_REVIVES;
    lsim_control_say(c, "the switch is dead");
    lsim_control_revive_from(c, lsim_control_choose(c, 0));
}

// ---- heartbeats ----

static bool lsim_control_is_dead(const struct lsim_control *c) {
    const struct libra_s *l = lsim_control_switch(c, false);
    bool has = false;
    for (size_t i = 0; i < c->sim->libra->n; i++)
        has |= c->sim->libra->jobs[i].here == c->as->from;
    return !l || !has; // one that was restarted has no jobs
}

static bool lsim_control_about_to_fail(struct lsim_control *c) {
    const struct sim_cpu *cpu = c->sim->stations[c->as->from].node->cpu;
    const uint64_t lost = cpu->stats.lost + cpu->stats.refused, added = lost - c->lost_before;
    c->lost_before = lost;
    return added > c->as->lost ||
           (double)cpu_answer_ns(cpu) + 2 * c->as->request_ns > c->as->delay_ns;
}

static void lsim_control_look(struct lsim_control *c) {
    c->heartbeats++;
    if (lsim_control_is_dead(c)) {
        if (++c->missed >= c->as->misses)
            lsim_control_revive(c);
        else
            lsim_control_watch(c);
        return;
    }
    c->missed = 0;
    if (lsim_control_about_to_fail(c)) {
        lsim_control_say(c, "the switch is about to fail");
        lsim_control_begin(c, CONTROL_MOVES);
    } else if (c->as->checkpoint_ns > 0 &&
               (double)(lsim_control_now(c) - c->copied_at) >= c->as->checkpoint_ns) {
        c->copied_at = lsim_control_now(c);
        lsim_control_begin(c, CONTROL_COPIES);
    } else {
        lsim_control_watch(c);
    }
}

static void lsim_control_step(void *who, void *unused) {
    struct lsim_control *c = who;
    (void)unused;
    const bool works = c->does == CONTROL_COPIES || c->does == CONTROL_MOVES;
    if (c->does == CONTROL_IS_DONE || (c->sim->done_at && c->does == CONTROL_WATCHES))
        return;
    if (works && !c->state && lsim_control_is_dead(c))
        c->does = CONTROL_WATCHES; // it misses its heartbeats
    if (c->does == CONTROL_REVIVES)
        lsim_control_revive_from(c, true);
    else if (c->does == CONTROL_WATCHES)
        lsim_control_look(c);
    else if (c->does == CONTROL_COPIES)
        lsim_control_copy(c);
    else
        lsim_control_move(c);
}

// While it copies a job it does that first: then its moves are for another time.
void libra_move(struct sim *s) {
    struct lsim_control *c = s->libra->control;
    if (c->does == CONTROL_WATCHES && !lsim_control_is_dead(c)) {
        c->does = CONTROL_MOVES;
        lsim_control_say(c, "moves the jobs");
        if (!lsim_control_choose(c, 0))
            c->does = CONTROL_IS_DONE;
        // the event that is due anyway is the first step
    }
}

void lsim_control_make(struct sim *s) {
    struct lsim_control *c = s->libra->control = calloc(1, sizeof *c);
    if (!c || !(c->copies = calloc(s->libra->n + 1, sizeof *c->copies)))
        abort();
    c->sim = s;
    c->as = s->scenario->controller;
    lsim_control_later(c, c->as->heartbeat_ns);
}

void lsim_control_free(struct lsim_control *c) {
    for (size_t i = 0; c && i < c->sim->libra->n; i++)
        json_decref(c->copies[i].state);
    if (c) {
        json_decref(c->state);
        free(c->copies);
    }
    free(c);
}

bool lsim_control_moved(const struct lsim_control *c) {
    return c->moved;
}

json_t *libra_controller_result(const struct sim *s) {
    const struct lsim_control *c = s->libra->control;
    if (!c)
        return NULL;
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "heartbeats", (json_int_t)c->heartbeats,
                     "copies", (json_int_t)c->n_copies, "moved", (json_int_t)c->n_moves, "revived",
                     (json_int_t)c->n_revived, "ended", (json_int_t)c->n_ended, "loads_repeated",
                     (json_int_t)c->n_again);
}
