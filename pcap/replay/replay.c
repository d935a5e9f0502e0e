// SPDX-License-Identifier: Apache-2.0
#include "pcap/replay/replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pcap/replay/replay_impl.h"
#include "control/sessions/sessions.h"
#include "pcap/replay/log.h"
#include "pcap/replay/threads.h"
#include "pipeline/switch/core.h"

#define LONG_NS          UINT64_C(20000) // without packets
#define PROGRESS_PACKETS 64u

#define ALONE_PACKETS 1024u // buffers of a pipe: a quarter of what a switch has

// How the pipes run: as one switch; each for itself with a time between them; each for itself as
// long as none sends a packet to another (pcap/replay/threads.h).
enum way { TOGETHER, APART, ALONE };

// What a pipe sent, on whatever thread it runs.
struct share {
    const struct sk_core *core;
    uint64_t out;
    bool failed;
    struct sk_error err;
};

struct replay {
    const struct replay_options *opt;
    struct replay_counts *counts;
    FILE *messages;
    struct sk_switch *sw;
    struct sessions *sessions; // of aggregation jobs, as the recorded switch had them; or null
    struct replay_tor *tor;    // the control plane of a ToR; or null
    uint16_t cpu_port;
    struct replay_inputs *inputs;
    enum way way;
    const char *doubt; // ALONE: why it cannot be known that one thread would do the same; or null
    struct share shares[SK_PIPES];
    struct replay_log *log; // what pipes tell in the same round; or null
    bool one_by_one;        // somebody observes everything
    bool taken, then;       // the next packet is in the switch, so is opt->then
    struct replay_pace pace;
    struct replay_update update;
    struct replay_out out;
    struct replay_drops *drops;
    struct replay_compare *compare;
    uint64_t
        until; // when a recorded switch ended; of a second run that of the first one, which read
               // all
    struct replay_state state;
    bool second;                // run, which tells nothing but
    struct replay_trace *again; // the ways of a few packets; or null
    struct replay_drops *found; // the places of drops; or null
    struct sk_error err;        // the first one
    bool bursts; // packets of a port at the same time came together: of a recorded run
    bool burst;  // some have come and the switch has not run yet
    bool failed;
};

static bool compares(const struct replay_options *opt) {
    return opt->expect_dir || opt->expect.n || opt->expect_recorded;
}

static bool replay_fail(struct replay *r, const char *sentence) {
    fprintf(r->messages, "silken %s: %s\n", r->opt->command ? r->opt->command : "replay", sentence);
    r->failed = true;
    return false;
}

static bool replay_tx(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    struct replay *r = aux;
    struct share *s = &r->shares[sk_port_pipe(port)];
    s->out++;
    if (r->tor && port == r->cpu_port)
        replay_tor_frame(r->tor, frame, length, sk_core_now(s->core));
    if (!s->failed)
        s->failed =
            replay_out_packet(&r->out, port, sk_core_now(s->core), frame, length, &s->err) ||
            (r->compare && replay_compare_packet(r->compare, port, frame, length, &s->err));
    return true;
}

// Nobody looks at it.
static bool tx_nowhere(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    struct replay *r = aux;
    struct share *s = &r->shares[sk_port_pipe(port)];
    s->out++;
    if (r->tor && port == r->cpu_port)
        replay_tor_frame(r->tor, frame, length, sk_core_now(s->core));
    return true;
}

// False when something that a pipe sent could not be written or compared.
static bool sent_well(struct replay *r) {
    for (unsigned i = 0; i < SK_PIPES && !r->failed; i++)
        if (r->shares[i].failed)
            replay_fail(r, r->shares[i].err.text);
    return !r->failed;
}

// Everything is done again on one thread, and nothing more is said.
static bool doubt(struct replay *r, const char *why) {
    r->doubt = r->doubt ? r->doubt : why;
    r->failed = true;
    return false;
}

static bool open_inputs(struct replay *r) {
    r->inputs = replay_inputs_open(r->opt, &r->err);
    return r->inputs || replay_fail(r, r->err.text);
}

// ---- the switch ----

static void replay_port_up(void *aux, uint16_t port) {
    sk_switch_port_up(aux, port, true);
}

static void ports_up(struct replay *r) {
    const struct replay_options *opt = r->opt;
    bool listed = false;
    for (size_t i = 0; i < 2; i++)
        listed |= opt->configs[i] && opt->configs[i]->n_ports > 0;
    for (uint16_t port = 0; !listed && port < SK_PORTS; port++)
        if (sk_port_exists(port))
            sk_switch_port_up(r->sw, port, true);
    replay_inputs_ports(r->inputs, replay_port_up, r->sw);
    if (opt->then)
        sk_switch_port_up(r->sw, opt->then->port, true);
    for (size_t i = 0; i < opt->out.n; i++)
        sk_switch_port_up(r->sw, opt->out.items[i].port, true);
    for (size_t i = 0; i < opt->expect.n; i++)
        sk_switch_port_up(r->sw, opt->expect.items[i].port, true);
}

// The control plane only follows, so nobody has anything to guess.
static uint64_t no_secret(void *aux) {
    (void)aux;
    return 1;
}

// What the control plane of a recorded run did for aggregation jobs is done again, at the messages
// that say so.
static bool replay_make_sessions(struct replay *r) {
    const struct sessions_host host = {.on = {.sw = r->sw}, .random = no_secret};
    const struct sk_config *c = NULL;
    for (size_t i = 0; i < 2; i++)
        if (r->opt->configs[i] && r->opt->configs[i]->sessions)
            c = r->opt->configs[i];
    if (!c)
        return true;
    if (r->way != TOGETHER)
        return replay_fail(
            r, "\"sessions\" in the configuration excludes a time between pipes (--crossing)");
    r->cpu_port = c->has_cpu_port ? c->cpu_port : SK_CPU_PORT;
    r->sessions = sessions_new(&host, c->sessions, r->cpu_port, sk_switch_now(r->sw), &r->err);
    return r->sessions || replay_fail(r, r->err.text);
}

static void advance(void *aux, uint64_t until);

// The ToR's: with a part of it in each of two configurations nobody would know which is meant.
static bool make_tor(struct replay *r) {
    const struct sk_config *c = NULL;
    for (size_t i = 0; i < 2; i++) {
        const struct sk_config *own = r->opt->configs[i];
        if (own && own->tor && c)
            return replay_fail(r, "\"tor\" is in both configurations");
        c = own && own->tor ? own : c;
    }
    if (!c)
        return true;
    if (r->sessions)
        return replay_fail(r, "\"sessions\" and \"tor\" are two control planes of one switch");
    if (r->way != TOGETHER)
        return replay_fail(
            r, "\"tor\" in the configuration excludes a time between pipes (--crossing)");
    r->cpu_port = c->has_cpu_port ? c->cpu_port : SK_CPU_PORT;
    sk_switch_port_up(r->sw, r->cpu_port, true);
    const struct replay_tor_host host = {.sw = r->sw,
                                         .cpu_port = r->cpu_port,
                                         .config = c,
                                         .advance = advance,
                                         .aux = r,
                                         .messages = r->second ? NULL : r->messages};
    r->tor = replay_tor_new(&host, r->opt, &r->err);
    return r->tor || replay_fail(r, r->err.text);
}

static bool replay_make_switch(struct replay *r) {
    const struct replay_options *opt = r->opt;
    char error[256];
    const bool kept = opt->out_dir || opt->out.n || compares(opt);
    struct sk_switch_options so = {
        .tx = kept ? replay_tx : tx_nowhere, .aux = r, .n_packets = opt->buffers};
    if (r->way != TOGETHER) {
        so.crossing_ns = r->way == APART ? opt->crossing_ns : 1;
        so.n_cores = SK_PIPES;
        // no more of them alone than together, so that whoever lacks one notices
        if (r->way == ALONE)
            so.n_packets = ALONE_PACKETS;
        for (unsigned i = 0; i < SK_PIPES; i++)
            so.core_of[i] = (uint8_t)i;
    }
    for (size_t i = 0; i < 2; i++)
        if (opt->configs[i] && opt->configs[i]->cpu_port)
            so.cpu_port = opt->configs[i]->cpu_port;
    r->sw = sk_switch_new(opt->program, &so, error, sizeof error);
    if (!r->sw)
        return replay_fail(r, error);
    const struct replay_packet *first = replay_inputs_peek(r->inputs);
    first = first ? first : opt->then;
    uint64_t begin = first ? first->time_ns : replay_inputs_heard(r->inputs);
    for (size_t i = 0; i < 2; i++) // of a recorded run: when its switch began
        if (opt->configs[i] && opt->configs[i]->has_clock && opt->configs[i]->clock < begin)
            begin = opt->configs[i]->clock;
    for (size_t i = 0; i < 2; i++)
        if (opt->expect_recorded && opt->configs[i] && opt->configs[i]->has_clock &&
            begin < opt->configs[i]->clock)
            return replay_fail(
                r, "the first packet is older than the configuration's clock: it does not "
                   "belong to that recording");
    for (size_t i = 0; i < 2; i++)
        r->bursts |= opt->configs[i] && opt->configs[i]->has_clock;
    r->bursts |= opt->expect_recorded;
    for (unsigned i = 0; i < SK_PIPES; i++) {
        struct sk_core *core = sk_switch_core(r->sw, sk_switch_core_of(r->sw, i));
        r->shares[i].core = core;
        sk_core_run(core, begin); // entries begin to age
    }
    ports_up(r);
    for (size_t i = 0; i < 2; i++)
        if (opt->configs[i] && sk_config_apply(opt->configs[i], r->sw, &r->err))
            return replay_fail(r, r->err.text);
    return replay_make_sessions(r) && make_tor(r);
}

static void observe_all(struct replay *r, struct sk_observer *o) {
    r->one_by_one = o != NULL;
    for (unsigned core = 0; o && core < sk_switch_cores(r->sw); core++)
        sk_core_observe(sk_switch_core(r->sw, core), o);
}

// A first run's own, or what a second one looks for places of; null: nobody wants them.
static struct replay_drops *drops_of(const struct replay *r) {
    return r->found ? r->found : r->drops;
}

// Each pipe has its own, and what they tell is put in order afterwards.
static void observe_each(struct replay *r) {
    for (unsigned i = 0; i < SK_PIPES; i++)
        sk_core_observe(sk_switch_core(r->sw, i), drops_of(r)
                                                      ? replay_drops_observer(drops_of(r), i)
                                                      : replay_log_observer(r->log, i));
}

static uint64_t replay_time(void *aux, uint16_t port) {
    return sk_core_now(((struct replay *)aux)->shares[sk_port_pipe(port)].core);
}

// All that is read, before anything that is there is written over.
static bool open_golden(struct replay *r) {
    const struct replay_options *opt = r->opt;
    if (!replay_inputs_peek(r->inputs) && replay_inputs_unmapped(r->inputs))
        return false; // which replay_finish() has a sentence for
    if (replay_state_open(&r->state, opt, r->sw, &r->err))
        return replay_fail(r, r->err.text);
    if (compares(opt) && !(r->compare = replay_compare_open(opt, r->messages, &r->err)))
        return replay_fail(r, r->err.text);
    if (r->compare)
        replay_compare_times(r->compare, replay_time, r);
    return true;
}

static bool open_outputs(struct replay *r) {
    r->out.update = r->opt->update ? &r->update : NULL;
    return replay_out_open(&r->out, r->opt, &r->err) == 0 || replay_fail(r, r->err.text);
}

static bool open_observers(struct replay *r) {
    const struct replay_options *opt = r->opt;
    char *path = replay_drops_path(opt);
    struct sk_observer *o = opt->observer;
    bool good = true;
    if (r->way != TOGETHER && (path || o) && !compares(opt) && !(o && o->everything) &&
        !sk_pktgen_any(r->sw))
        r->log = replay_log_new(r->sw, r->way == ALONE);
    if (path) {
        r->drops = replay_drops_open(opt->update ? replay_update_add(&r->update, path) : path,
                                     r->sw, r->log, o, &r->err);
        good = r->drops;
        if (good)
            o = replay_drops_observer(r->drops, 0);
    }
    free(path);
    // the fast build has nothing to learn from, and goes faster with nobody watching
    if (good && r->compare && o)
        o = replay_compare_observer(r->compare, o);
    if (r->log)
        observe_each(r);
    else
        observe_all(r, o);
    r->one_by_one |= r->compare != NULL;
    if (good && r->one_by_one && r->way == ALONE)
        return doubt(r, "generated packets are numbered in order of time");
    return good || replay_fail(r, r->err.text);
}

// ---- running ----

static bool stopped(const struct replay *r) {
    return r->opt->stop && *r->opt->stop;
}

// A second run has found what it is for.
static bool is_done(const struct replay *r) {
    return replay_trace_done(r->again) || replay_drops_done(r->found);
}

// What happens by itself before 'until'. Packet generators may have a lot to do until then: a
// switch does that all at once, and this in steps, so that it can be stopped.
static void pass_time(struct replay *r, uint64_t until) {
    uint64_t next;
    while (!stopped(r) && (next = sk_core_next(sk_switch_core(r->sw, 0), true)) < until)
        sk_switch_run(r->sw, next > sk_switch_now(r->sw) ? next : sk_switch_now(r->sw));
}

// A live switch takes what waits at a port as one burst before it runs, all at the same time. Which
// of them recirculates, or is lost by injected faults, depends on that.
static void replay_end_burst(struct replay *r) {
    if (!r->burst)
        return;
    sk_switch_run(r->sw, r->counts->last.time_ns);
    r->burst = false;
    if (r->tor && r->opt->only_last)
        r->opt->observer->everything = false; // what follows from it are other packets
    if (r->tor)
        replay_tor_settle(r->tor, r->counts->last.time_ns);
}

static void replay_put_in(struct replay *r, const struct replay_packet *p) {
    if (p->port != r->counts->last.port || p->time_ns != r->counts->last.time_ns)
        replay_end_burst(r);
    if (p->time_ns - sk_switch_now(r->sw) > LONG_NS) {
        pass_time(r, p->time_ns);
        if (stopped(r))
            return;
    }
    r->counts->in++;
    r->counts->last = *p;
    if (r->opt->only_last)
        r->opt->observer->everything =
            r->opt->then ? p->bytes == r->opt->then->bytes : r->counts->in == r->opt->limit;
    if (r->sessions && p->port == r->cpu_port)
        sessions_follow(r->sessions, p->bytes, p->length);
    sk_switch_rx(r->sw, p->port, p->bytes, p->length, p->time_ns);
    r->burst = true;
    if (!r->bursts)
        replay_end_burst(r);
}

static bool replay_skip(struct replay *r) {
    return replay_inputs_skip(r->inputs, r->opt->skip, &r->err) == 0 || replay_fail(r, r->err.text);
}

// What the control plane does by itself before 'until': the next of it.
static bool tor_steps(struct replay *r, uint64_t until) {
    const uint64_t at = r->tor && !r->failed ? replay_tor_next(r->tor) : UINT64_MAX;
    if (at >= until)
        return false;
    replay_end_burst(r);
    if (at > sk_switch_now(r->sw)) {
        pass_time(r, at);
        sk_switch_run(r->sw, at);
    }
    if (replay_tor_step(r->tor, &r->err))
        replay_fail(r, r->err.text);
    return true;
}

static void play_then(struct replay *r) {
    struct replay_packet p = *r->opt->then;
    uint64_t now = sk_switch_now(r->sw);
    p.time_ns = p.time_ns < now ? now : p.time_ns;
    while (!stopped(r) && tor_steps(r, p.time_ns))
        ;
    replay_put_in(r, &p);
}

static void show_progress(struct replay *r) {
    uint64_t done, size;
    replay_inputs_position(r->inputs, &done, &size);
    replay_progress_show(r->opt->progress, done, size, r->counts->in, r->opt->limit);
}

static void wait_for_turn(struct replay *r, uint64_t time_ns) {
    while (!stopped(r) && replay_pace_wait(&r->pace, r->opt->speed, time_ns))
        if (r->opt->progress)
            show_progress(r);
}

static void keep_time(struct replay *r, const struct replay_packet *next) {
    if (r->opt->speed > 0)
        wait_for_turn(r, next->time_ns);
    if (r->opt->progress && r->counts->in % PROGRESS_PACKETS == 0)
        show_progress(r);
}

// ---- on threads ----

// The next packet; false: there is none.
static bool next_packet(void *aux, struct replay_packet *out) {
    struct replay *r = aux;
    const bool more = !r->opt->limit || r->counts->in < r->opt->limit;
    if (r->taken && replay_inputs_take(r->inputs, more, &r->err))
        return replay_fail(r, r->err.text);
    const struct replay_packet *p = more ? replay_inputs_peek(r->inputs) : NULL;
    if (stopped(r))
        p = NULL;
    r->taken = p != NULL;
    if (p && !r->again)
        keep_time(r, p);
    if (!p && !r->then && !stopped(r) && (p = r->opt->then))
        r->then = true;
    if (!p)
        return false;
    *out = *p;
    if (out->time_ns < r->counts->last.time_ns)
        out->time_ns = r->counts->last.time_ns;
    r->counts->in++;
    r->counts->last = *out;
    return true;
}

// A recorded switch went on after the last packet that it received, and so do its generators.
static uint64_t goes_on_until(void *aux) {
    struct replay *r = aux;
    const bool all = !r->opt->limit || r->counts->in < r->opt->limit;
    if (!r->second)
        r->until = all && !stopped(r) ? replay_inputs_heard(r->inputs) : 0;
    return r->until;
}

// Whether no pipe has sent a packet to another one.
static bool are_alone(struct replay *r) {
    uint32_t n = 0, all = 0;
    for (unsigned i = 0; i < SK_PIPES; i++) {
        sk_core_sent(sk_switch_core(r->sw, i), &n);
        all += n;
    }
    return !all || doubt(r, "pipes pass packets to each other");
}

static bool goes_on(void *aux) {
    struct replay *r = aux;
    if (r->way == ALONE && !are_alone(r))
        return false;
    if (r->log && !replay_log_merge(r->log, replay_drops_file(drops_of(r)), r->opt->observer))
        return doubt(r, "reports of different pipes at the same time have no order");
    // closing the drops says why
    return sent_well(r) && !replay_drops_failed(r->drops) && !is_done(r) && !stopped(r);
}

static void play_on_threads(struct replay *r) {
    const struct replay_threads_options o = {
        .sw = r->sw,
        .crossing_ns = r->way == ALONE ? UINT64_MAX : r->opt->crossing_ns,
        .longest_ns = LONG_NS,
        .threads = r->opt->threads ? r->opt->threads : 1,
        .one_by_one = r->one_by_one,
        .count_generated = r->one_by_one && sk_pktgen_any(r->sw),
        .next = next_packet,
        .until = goes_on_until,
        .between = goes_on,
        .aux = r};
    if (!replay_threads_run(&o))
        replay_fail(r, "a thread could not be started");
}

// Whether it can be tried: everything can be done again, and nobody observes packets one by one.
static bool can_be_alone(const struct replay_options *opt) {
    for (size_t i = 0; i < 2; i++)
        if (opt->configs[i] &&
            (opt->configs[i]->loss > 0 || opt->configs[i]->has_clock || opt->configs[i]->sessions ||
             opt->configs[i]->tor || sk_config_has_pools(opt->configs[i])))
            return false; // one sequence of random numbers, of bursts, of what is changed in
                          // between, or of what is free in a pool
    return opt->threads > 1 && !opt->crossing_ns && !opt->buffers && !compares(opt) &&
           !(opt->observer && opt->observer->everything) && opt->speed <= 0 &&
           replay_trace_possible(opt);
}

// ---- on one ----

static bool goes_in(const struct replay *r) {
    return !r->opt->limit || r->counts->in < r->opt->limit;
}

// Null: nothing goes in any more.
static const struct replay_packet *next_in(struct replay *r) {
    // closing the drops says why
    const bool more =
        sent_well(r) && !replay_drops_failed(r->drops) && goes_in(r) && !is_done(r) && !stopped(r);
    return more ? replay_inputs_peek(r->inputs) : NULL;
}

static void play_one(struct replay *r, const struct replay_packet *p) {
    if (!r->again)
        keep_time(r, p);
    const bool goes = !r->tor || p->port != r->cpu_port || replay_tor_takes(r->tor, p);
    if (goes)
        replay_put_in(r, p);
    else
        r->counts->in++; // by its number captures' packets are found
    r->counts->last_left_out = !goes;
    if (!replay_drops_failed(r->drops) && replay_inputs_take(r->inputs, goes_in(r), &r->err))
        replay_fail(r, r->err.text);
}

// While the recorded control plane did something, packets came.
static void advance(void *aux, uint64_t until) {
    struct replay *r = aux;
    const struct replay_packet *p;
    while ((p = next_in(r)) && p->time_ns <= until)
        play_one(r, p);
    replay_end_burst(r);
    if (until > sk_switch_now(r->sw)) {
        pass_time(r, until);
        sk_switch_run(r->sw, until);
    }
}

static bool tor_comes_first(struct replay *r, const struct replay_packet *p) {
    if (tor_steps(r, p->time_ns))
        return true;
    if (!r->tor || r->failed || p->port != r->cpu_port || !replay_tor_is_behind(r->tor))
        return false;
    replay_end_burst(r);
    if (replay_tor_step(r->tor, &r->err))
        replay_fail(r, r->err.text);
    return true;
}

static void play_each(struct replay *r) {
    const struct replay_packet *p;
    while ((p = next_in(r)))
        if (!tor_comes_first(r, p))
            play_one(r, p);
    // a recorded control plane went on
    const uint64_t heard = r->tor && goes_in(r) ? replay_inputs_heard(r->inputs) : 0;
    while (sent_well(r) && !is_done(r) && !stopped(r) && tor_steps(r, heard))
        ;
}

// Packets need not be looked at one by one. Each has its own time all the same.
static bool can_take_few(const struct replay *r) {
    return !r->bursts && !r->sessions && !r->tor && !r->one_by_one && !r->second && !r->drops &&
           !r->opt->only_last && r->opt->speed <= 0 && !sk_pktgen_any(r->sw);
}

static void play_few(struct replay *r) {
    struct sk_lent_frame frames[REPLAY_FEW];
    while (sent_well(r) && goes_in(r) && !stopped(r)) {
        const uint64_t left = r->opt->limit ? r->opt->limit - r->counts->in : REPLAY_FEW;
        const unsigned n =
            replay_inputs_few(r->inputs, frames, left < REPLAY_FEW ? (unsigned)left : REPLAY_FEW);
        if (!n)
            return;
        const struct sk_lent_frame *last = &frames[n - 1];
        if (r->opt->progress &&
            r->counts->in / PROGRESS_PACKETS != (r->counts->in + n) / PROGRESS_PACKETS)
            show_progress(r);
        r->counts->in += n;
        r->counts->last =
            (struct replay_packet){last->port, last->time_ns, last->bytes, last->length,
                                   replay_inputs_wire_length(r->inputs)};
        sk_core_rx_lent(sk_switch_core(r->sw, 0), frames, n);
        if (replay_inputs_take_few(r->inputs, goes_in(r), &r->err)) {
            replay_fail(r, r->err.text);
            return;
        }
    }
}

static void play(struct replay *r) {
    if (r->way != TOGETHER) {
        play_on_threads(r);
        return;
    }
    if (can_take_few(r))
        play_few(r);
    else
        play_each(r);
    if (r->failed)
        return;
    replay_end_burst(r);
    if (r->opt->then)
        play_then(r);
    replay_end_burst(r);
    if (sent_well(r) && !is_done(r) && sk_pktgen_any(r->sw))
        pass_time(r, goes_on_until(r) + 1);
    sk_pktgen_end(r->sw);
    // what waited when a recorded switch was stopped waits here, too
    const uint64_t end = r->opt->expect_recorded ? goes_on_until(r) : 0;
    for (uint64_t t; sent_well(r) &&
                     (t = sk_core_next(sk_switch_core(r->sw, 0), false)) != UINT64_MAX &&
                     !(end && t > end);)
        sk_switch_run(r->sw, t > sk_switch_now(r->sw) ? t : sk_switch_now(r->sw));
}

static void replay_finish(struct replay *r) {
    struct sk_error err;
    if (r->sw) {
        struct sk_switch_stats stats;
        sk_switch_stop(r->sw, sk_switch_now(r->sw));
        sk_switch_stats(r->sw, &stats);
        for (size_t i = 0; i < SK_DROP_COUNT; i++)
            r->counts->dropped += stats.drops[i];
        for (unsigned i = 0; i < SK_PIPES; i++)
            r->counts->out += r->shares[i].out;
        sent_well(r);
        if (r->way == ALONE && !r->failed && stats.drops[SK_DROP_NO_BUFFER])
            doubt(r, "there were not enough packet buffers for each pipe");
        if (!r->second && !r->failed &&
            replay_state_end(&r->state, r->opt, r->sw, stopped(r), &r->update, r->messages, &err))
            replay_fail(r, err.text);
    }
    if (replay_out_close(&r->out, &err) && !r->failed)
        replay_fail(r, err.text);
    if (r->inputs && !r->second && replay_inputs_report(r->inputs, r->counts, r->messages, &err) &&
        !r->failed)
        replay_fail(r, err.text);
    if (r->tor && !r->second)
        replay_tor_report(r->tor, replay_inputs_control(r->inputs), r->opt->expect_recorded,
                          r->messages);
    replay_inputs_close(r->inputs);
    replay_log_free(r->log);
    sessions_free(r->sessions);
    replay_tor_free(r->tor);
    sk_switch_free(r->sw);
}

// Golden captures are replaced all or not at all.
static void finish_update(struct replay *r) {
    struct sk_error err;
    if (r->failed)
        replay_update_abandon(&r->update);
    else if (replay_update_commit(&r->update, &err))
        replay_fail(r, err.text);
}

static void say_stopped(struct replay *r) {
    const struct replay_options *opt = r->opt;
    if (opt->update)
        replay_fail(r, "stopped; the golden captures are unchanged");
    else if (opt->expect_dir || opt->expect.n || opt->expect_recorded || opt->expect_state)
        replay_fail(r, "stopped before everything was compared");
    else
        fprintf(r->messages, "silken %s: stopped\n", opt->command ? opt->command : "replay");
}

// ---- what differs from golden captures ----

// The same packets, also when somebody ended the first run.
static void run_again(const struct replay *first, struct replay_trace *t) {
    struct replay_counts counts = {0};
    struct replay_options opt = *first->opt;
    opt.stop = NULL;
    opt.limit = first->counts->in;
    struct replay r = {.opt = &opt,
                       .counts = &counts,
                       .messages = first->messages,
                       .way = first->way,
                       .second = true,
                       .until = first->until,
                       .again = t};
    if (open_inputs(&r) && replay_skip(&r) && replay_make_switch(&r)) {
        observe_all(&r, replay_trace_observer(t));
        play(&r);
    }
    replay_finish(&r);
}

static void show_differences(struct replay *r) {
    const struct replay_wanted *wanted;
    struct replay_trace *t = NULL;
    struct sk_error err;
    if (replay_compare_settle(r->compare, stopped(r), &err) && !r->failed)
        replay_fail(r, err.text);
    size_t n = replay_compare_wanted(r->compare, &wanted);
    if (n && !replay_trace_possible(r->opt)) {
        fprintf(r->messages,
                "the paths of packets are not shown: the captures cannot be read again\n");
    } else if (n) {
        t = replay_trace_new(wanted, n);
        run_again(r, t);
    }
    if (replay_compare_end(r->compare, t, stopped(r), &err) && !r->failed)
        replay_fail(r, err.text);
    replay_trace_free(t);
}

// ---- where packets were dropped ----

// The same packets in the checked build, until as many were dropped.
static void find_places(struct replay *first, const struct sk_program *checked) {
    struct replay_counts counts = {0};
    struct replay_options opt = *first->opt;
    opt.program = checked;
    opt.limit = first->counts->in;
    opt.speed = 0;
    opt.threads = 1;
    opt.observer = NULL;
    if (stopped(first))
        opt.stop = NULL;
    FILE *nobody =
        fopen("/dev/null", "we"); // one sentence says why a capture could not be read to its end
    struct replay r = {.opt = &opt,
                       .counts = &counts,
                       .messages = first->failed ? nobody : first->messages,
                       .way = first->way == APART ? APART : TOGETHER,
                       .second = true,
                       .until = first->until,
                       .found = first->drops};
    if (!nobody)
        abort();
    replay_progress_begin(opt.progress);
    bool good = open_inputs(&r) && replay_skip(&r) && replay_make_switch(&r);
    if (good && r.way == APART && !sk_pktgen_any(r.sw))
        r.log = replay_log_new(r.sw, false);
    if (good && replay_drops_again(r.found, r.sw, r.log, &r.err))
        good = replay_fail(&r, r.err.text);
    if (good) {
        if (r.log)
            observe_each(&r);
        else
            observe_all(&r, replay_drops_observer(r.found, 0));
        play(&r);
        if (stopped(&r))
            replay_fail(&r, "stopped before it was known where packets were dropped");
    }
    replay_finish(&r);
    if (!r.failed && !replay_drops_failed(r.found) && replay_drops_same(r.found, &r.err))
        replay_fail(&r, r.err.text);
    fclose(nobody);
    first->failed |= r.failed;
}

static void complete_drops(struct replay *r) {
    const struct replay_options *opt = r->opt;
    if (r->doubt || !opt->checked || replay_drops_failed(r->drops) ||
        !replay_drops_lack_places(r->drops) || r->counts->in == 0)
        return;
    const struct sk_program *checked = opt->checked(opt->checked_aux);
    if (checked)
        find_places(r, checked);
    else
        r->failed = true;
}

static enum replay_result replay_run_one_way(const struct replay_options *opt, enum way way,
                                             struct replay_counts *counts, FILE *messages,
                                             const char **why) {
    struct replay r = {.opt = opt, .counts = counts, .messages = messages, .way = way};
    *counts = (struct replay_counts){0};
    if (open_inputs(&r) && replay_skip(&r) && replay_make_switch(&r) && open_golden(&r) &&
        open_outputs(&r) && open_observers(&r))
        play(&r);
    replay_finish(&r);
    complete_drops(&r);
    if (replay_drops_close(r.drops, &r.err) && !r.failed)
        replay_fail(&r, r.err.text);
    if (r.compare)
        show_differences(&r);
    if (stopped(&r) && !r.failed)
        say_stopped(&r);
    finish_update(&r);
    bool differs = replay_compare_differences(r.compare) > 0 || r.state.differences > 0;
    replay_state_close(&r.state);
    replay_compare_close(r.compare);
    *why = r.doubt;
    return r.failed ? REPLAY_UNUSABLE : differs ? REPLAY_DIFFERS : REPLAY_GOOD;
}

// Which takes a second run, of what can be read and written twice; else the first one is of the
// checked build.
static bool places_take_the_checked(const struct replay_options *opt) {
    char *path = opt->checked ? replay_drops_path(opt) : NULL;
    bool so = path && !(replay_trace_possible(opt) && replay_drops_can_be_anew(path));
    free(path);
    return so;
}

static enum replay_result run_some_way(const struct replay_options *opt,
                                       struct replay_counts *counts, FILE *messages) {
    const char *why = NULL;
    if (!can_be_alone(opt))
        return replay_run_one_way(opt, opt->crossing_ns ? APART : TOGETHER, counts, messages, &why);
    if (!replay_files_can_be_anew(opt)) {
        fprintf(messages, "silken replay: on one thread, because output into a pipe or a device "
                          "cannot be undone\n");
        return replay_run_one_way(opt, TOGETHER, counts, messages, &why);
    }
    char *text = NULL;
    size_t length;
    FILE *held = open_memstream(&text, &length);
    if (!held)
        abort();
    enum replay_result result = replay_run_one_way(opt, ALONE, counts, held, &why);
    fclose(held);
    if (why) {
        fprintf(messages, "silken replay: on one thread, because %s\n", why);
        result = replay_run_one_way(opt, TOGETHER, counts, messages, &why);
    } else {
        fwrite(text, 1, length, messages);
    }
    free(text);
    return result;
}

enum replay_result replay_run(const struct replay_options *opt, struct replay_counts *counts,
                              FILE *messages) {
    struct sk_error err;
    struct replay_options o = *opt;
    *counts = (struct replay_counts){0};
    if (replay_files_check(opt, &err)) {
        fprintf(messages, "silken %s: %s\n", opt->command ? opt->command : "replay", err.text);
        return REPLAY_UNUSABLE;
    }
    if (places_take_the_checked(opt)) {
        o.program = opt->checked(opt->checked_aux);
        o.checked = NULL;
        if (!o.program)
            return REPLAY_UNUSABLE;
    }
    if (opt->expect_recorded && replay_trace_possible(opt))
        o.in = replay_files_by_time(opt);
    const enum replay_result result = run_some_way(&o, counts, messages);
    if (o.in.items != opt->in.items)
        free(o.in.items);
    return result;
}
