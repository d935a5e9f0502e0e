// SPDX-License-Identifier: Apache-2.0
#include "cli/run/journal.h"
#include "cli/run/run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "control/tables/idle.h"
#include "control/socket/recording.h"
#include "control/tables/tm.h"
#include "control/tor/log.h"
#include "control/watch/telemetry.h"

#define TICK_MS            1  // while there was something to do lately
#define QUIET_TICK_MS      10 // else: each tick takes time from somebody, and lines out of caches
#define QUIET_AFTER_NS     UINT64_C(50000000)
#define LINKS_INTERVAL_NS  UINT64_C(10000000)
#define REOPEN_INTERVAL_NS UINT64_C(500000000)
#define IDLE_INTERVAL_NS   UINT64_C(100000000)
#define STATS_INTERVAL_NS  UINT64_C(1000000000)
#define TIMER_SLACK_NS     1000L
#define BREATH_NS          UINT64_C(1000000)  // at most so long without looking at the socket
#define UNASKED_NS         UINT64_C(10000000) // or so long, if a wait said that there was nothing
#define CALLS_NS           UINT64_C(1000000)  // at most so long, nothing but controllers' calls

// Written by signal handlers on the main thread, without a lock.
static atomic_bool stopped, hung_up;

void run_stop(int signal_number) {
    (void)signal_number;
    atomic_store(&stopped, true);
}

bool run_is_stopped(void) {
    return atomic_load(&stopped);
}

void run_hang_up(int signal_number) {
    (void)signal_number;
    atomic_store(&hung_up, true);
}

void run_pause(void *aux) {
    run_watch_pause_wanted(aux);
    sk_lcores_pause(((struct run *)aux)->lcores);
    run_watch_paused(aux);
}
void run_resume(void *aux) {
    sk_lcores_resume(((struct run *)aux)->lcores, true);
    run_watch_resumed(aux);
}
void run_resume_same(void *aux) {
    sk_lcores_resume(((struct run *)aux)->lcores, false);
    run_watch_resumed(aux);
}

bool run_idle(void *aux) {
    return sk_lcores_idle(((struct run *)aux)->lcores);
}

struct sk_pauses run_pauses(struct run *r) {
    return (struct sk_pauses){
        .pause = run_pause, .resume = run_resume_same, .idle = run_idle, .aux = r};
}

// ---- the socket ----

static bool run_control_device_of(void *aux, uint16_t port, struct sk_port_device *out) {
    const struct run *r = aux;
    return sk_ports_device(r->ports, port, out);
}

static void ports_of(void *aux, const struct sk_config_port **ports, size_t *n) {
    const struct run *r = aux;
    *ports = r->port_list;
    *n = r->n_port_list;
}

static void client_asks(void *aux, uint64_t client) {
    ((struct run *)aux)->control.client = client;
}

static void client_left(void *aux, uint64_t client) {
    run_compile_left(aux, client);
    run_trace_left(aux, client);
}

struct sk_service run_service(struct run *r, uint64_t now) {
    return (struct sk_service){.sw = r->sw,
                               .now = now,
                               .ports = r->port_list,
                               .n_ports = r->n_port_list,
                               .list = ports_of,
                               .recording = r->recording,
                               .device = run_control_device_of,
                               .other = run_request,
                               .alarms = run_watch_alarms,
                               .aggregators = run_watch_aggregators,
                               .asks = client_asks,
                               .left = client_left,
                               .pause = run_pause,
                               .resume = run_resume,
                               .resume_same = run_resume_same,
                               .aux = r};
}

// Clients that ask without end leave packets half of the time. Who asks nothing takes none of it:
// else a thread that has little else to do would look again and again.
static void run_control_serve(struct run *r, uint64_t now) {
    const struct sk_service service = run_service(r, now);
    if (!r->server || now < r->control.server_due)
        return;
    if (r->control.is_unasked && now < r->control.looked + UNASKED_NS)
        return;
    r->control.looked = now;
    const bool served = sk_server_poll(r->server, &service);
    r->control.client = 0;
    if (!served)
        return;
    const uint64_t end = run_now(), took = end - now;
    r->control.server_due = end + (took < BREATH_NS ? took : BREATH_NS);
}

static bool has_listeners(const struct run *r) {
    return r->server && sk_server_has_listeners(r->server);
}

static void run_control_publish(void *aux, const struct sk_idle_event *event) {
    struct run *r = aux;
    run_brt_idle(r, event);
    run_p4rt_idle(r, event);
    if (has_listeners(r))
        sk_server_publish(r->server, sk_idle_event_json(event));
}

// P4Runtime's clients are told after each time to live.
static void run_control_publish_again(void *aux, const struct sk_idle_event *event) {
    run_p4rt_idle(aux, event);
}

// All entries are looked at, and packets wait: with a ToR, whose control plane asks its entries one
// by one and does not need it, there may be tens of thousands.
static void look_for_idle(struct run *r, uint64_t now) {
    const bool wanted =
        run_brt_wants_idle(r) || run_p4rt_wants_idle(r) || (has_listeners(r) && !r->tor);
    if (now < r->control.idle_due || !wanted)
        return;
    struct sk_pauses pauses = run_pauses(r);
    sk_control_idle_poll(r->sw, &pauses,
                         &(struct sk_idle_listener){.fn = run_control_publish,
                                                    .again = run_control_publish_again,
                                                    .is_asymmetric = run_brt_is_asymmetric,
                                                    .aux = r});
    r->control.idle_due = now + IDLE_INTERVAL_NS;
}

// To the ToR's control plane and to all that listen to events; those that come while nobody does
// are gone.
static void publish_digests(struct run *r) {
    struct run_control *c = &r->control;
    unsigned n = 0;
    if (!sk_digest_waits(r->sw, &c->digests))
        return;
    c->worked = run_now();
    if (!has_listeners(r) && !r->tor && !run_brt_wants_digests(r) && !run_p4rt_wants_digests(r))
        sk_digest_reader_init(r->sw, &c->digests);
    while (n < RUN_DIGESTS && sk_digest_read(r->sw, &c->digests, &c->read[n]))
        n++;
    for (unsigned i = 0; i < n; i++)
        run_tor_digest(r, &c->read[i]);
    run_brt_digests(r, c->read, n);
    run_p4rt_digests(r, c->read, n);
    if (!has_listeners(r))
        return;
    for (unsigned i = 0; i < n; i++)
        sk_server_publish(r->server, sk_digest_json(&c->read[i]));
    if (c->digests.lost > c->digests_lost)
        sk_server_publish(r->server, json_pack("{s:s, s:I}", "event", "digest", "lost",
                                               (json_int_t)c->digests.lost));
    c->digests_lost = c->digests.lost;
}

// ---- ports and files ----

static void follow_record(struct run *r) {
    if (!run_record_failed(r->record))
        return;
    run_pause(r);
    sk_recording_own_stop(r->recording);
    run_journal_into(r->journal, NULL, 0);
    run_resume(r);
}

static void run_control_link_changed(void *aux, uint16_t port, bool up) {
    struct run_control *c = &((struct run *)aux)->control;
    c->changes[c->n_changes].port = port;
    c->changes[c->n_changes++].up = up;
}

static void follow_links(struct run *r, uint64_t now) {
    struct run_control *c = &r->control;
    if (now < c->links_due)
        return;
    c->links_due = now + LINKS_INTERVAL_NS;
    follow_record(r);
    if (now >= c->reopen_due && !run_reopen_port(r)) {
        c->reopen_due = now + REOPEN_INTERVAL_NS;
        run_follow_interfaces(r);
    }
    if (!sk_ports_links_changed(r->ports))
        return;
    c->n_changes = 0;
    run_pause(r);
    sk_ports_follow_links(r->ports, run_control_link_changed, r);
    for (unsigned i = 0; i < c->n_changes; i++)
        run_tor_port(r, c->changes[i].port, run_link_is_up(r, c->changes[i].port));
    run_resume(r);
    for (unsigned i = 0; i < c->n_changes; i++) {
        run_tor_link(r, c->changes[i].port, run_link_is_up(r, c->changes[i].port));
        run_event(r, json_pack("{s:s, s:i, s:b}", "event", "link", "port", (int)c->changes[i].port,
                               "up", c->changes[i].up));
    }
}

static void print_rates(struct run *r, uint64_t now) {
    if (!r->opt.stats || now < r->control.stats_due)
        return;
    run_print_rates(r, now);
    r->control.stats_due = now + STATS_INTERVAL_NS;
}

// ---- the file ----

static void reload_when_told(struct run *r) {
    struct sk_error err;
    json_t *done = NULL;
    if (!atomic_exchange(&hung_up, false))
        return;
    if (!r->control.reloading)
        run_notify_reloading();
    const int rc = run_reload(r, &done, &err);
    const char *state = rc ? NULL : json_string_value(json_object_get(done, "state"));
    r->control.reloading = state && strcmp(state, "compiling") == 0;
    if (r->control.reloading) { // asked again when it can be done
        atomic_store(&hung_up, true);
        json_decref(done);
        return;
    }
    run_notify("READY=1");
    if (rc) {
        run_say(err.text);
        return;
    }
    char *text = json_dumps(done, JSON_COMPACT);
    fprintf(stderr, "silken run: %s was read again: %s\n", r->opt.config_path, text ? text : "");
    free(text);
    json_decref(done);
}

// ---- the thread ----

// Packets wait in a trap, or samples in a ring that is short.
static bool is_waited_for(const struct run *r) {
    return r->trace || r->sample || r->control.reloading;
}

static bool has_asked(const struct pollfd *fds, nfds_t n) {
    for (nfds_t i = 0; i < n; i++)
        if (fds[i].revents)
            return true;
    return false;
}

// What the control thread waits for between two turns.
struct control_wait {
    struct pollfd fds[SK_SERVER_FDS + 5];
    nfds_t of_server, n; // descriptors: of the socket, and all
    struct pollfd *of_controllers;
    uint64_t most; // ns
    bool deaf;     // to the socket, for a breath
};

// False: there is something to do already.
static bool control_wait_begin(struct run *r, struct control_wait *w) {
    w->n = r->server ? sk_server_fds(r->server, w->fds) : 0;
    w->of_server = w->n;
    r->control.is_unasked = false;
    if (!sk_ports_inside_sleep(r->ports))
        return false;
    const uint64_t now = run_now();
    const int jobs = run_jobs_fd(r, now);
    if (jobs >= 0)
        w->fds[w->n++] = (struct pollfd){.fd = jobs, .events = POLLIN};
    w->of_controllers = &w->fds[w->n];
    w->fds[w->n++] = (struct pollfd){.fd = run_published_fd(r), .events = POLLIN};
    w->fds[w->n++] = (struct pollfd){.fd = run_p4rt_fd(r), .events = POLLIN};
    w->fds[w->n++] = (struct pollfd){.fd = run_brt_fd(r), .events = POLLIN};
    w->fds[w->n++] = (struct pollfd){.fd = sk_ports_inside_fd(r->ports), .events = POLLIN};
    const bool quiet = now - r->control.worked > QUIET_AFTER_NS && !is_waited_for(r);
    const uint64_t tick = (quiet ? QUIET_TICK_MS : TICK_MS) * UINT64_C(1000000);
    // nobody is heard for a while after a request, and then at once
    const uint64_t breath = now < r->control.server_due ? r->control.server_due - now : 0;
    w->deaf = breath > 0;
    w->most = breath && breath < tick ? breath : tick;
    return true;
}

// Until something comes, or a tick; whether it is a controller's call and nothing else.
static bool control_wait(struct run *r, struct control_wait *w) {
    const uint64_t of_brt = run_brt_wait(r), of_p4rt = run_p4rt_wait(r),
                   of_published = run_published_wait(r),
                   earlier = of_brt < of_p4rt ? of_brt : of_p4rt,
                   wait = earlier < of_published ? earlier : of_published;
    const struct timespec timeout = {.tv_nsec = (long)(wait < w->most ? wait : w->most)};
    const struct pollfd *c = w->of_controllers;
    r->control.is_unasked = false;
    const int n = ppoll(w->deaf ? w->of_controllers : w->fds, w->deaf ? 4 : w->n, &timeout, NULL);
    if (n <= 0)
        return n == 0 && earlier == 0; // the rest of a call
    r->control.is_unasked = !w->deaf && !has_asked(w->fds, w->of_server);
    // What controllers ask is heard without a tick. Short ticks beside their calls would cost each
    // of them a timer that comes before the kernel's own.
    const int calls = (c[1].revents != 0) + (c[2].revents != 0);
    if (calls == 0 || c[0].revents || c[3].revents)
        r->control.worked = run_now();
    return calls == n;
}

// Between two turns. Calls of controllers are answered at once: a client that sends the next one
// when the last was answered would else wait for a turn of everything each time.
static void wait_for_work(struct run *r) {
    struct control_wait w;
    uint64_t end = 0;
    if (!control_wait_begin(r, &w))
        return;
    while (control_wait(r, &w)) {
        const uint64_t now = run_now();
        end = end ? end : now + CALLS_NS;
        if (w.deaf || now >= end)
            return;
        run_brt_turn(r);
        run_p4rt_turn(r);
    }
}

static void *control(void *aux) {
    struct run *r = aux;
    // breaths are shorter than the 50 us by which the kernel may be late
    prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS, 0, 0, 0);
    while (!atomic_load(&r->control.ended)) {
        const uint64_t now = run_now();
        if (run_is_stopped())
            sk_lcores_stop(r->lcores);
        reload_when_told(r);
        follow_links(r, now);
        run_control_serve(r, now);
        run_watch_turn(r, now);
        run_page_turn(r, now);
        run_trace_turn(r, now);
        run_compile_turn(r, now);
        run_sample_turn(r, now);
        look_for_idle(r, now);
        publish_digests(r);
        run_tor_turn(r, now);
        run_jobs_turn(r, run_now());
        run_published_turn(r);
        run_sessions_turn(r, now);
        run_libra_turn(r, now);
        run_brt_turn(r);
        run_p4rt_turn(r);
        print_rates(r, now);
        tor_log_turn(r->log);
        run_watchdog(r, now);
        wait_for_work(r);
    }
    return NULL;
}

// Where it may run: not where lcores do that have processors of their own, if there are others.
static cpu_set_t beside_lcores(const struct run *r) {
    cpu_set_t set = r->anywhere;
    for (size_t i = 0; i < r->opt.n_cpus; i++)
        if (r->opt.cpus[i] >= 0 && r->opt.cpus[i] < CPU_SETSIZE)
            CPU_CLR((unsigned)r->opt.cpus[i], &set);
    return CPU_COUNT(&set) > 0 ? set : r->anywhere;
}

bool run_control_start(struct run *r) {
    const cpu_set_t set = beside_lcores(r);
    pthread_attr_t attr;
    char sentence[128];
    atomic_init(&r->control.ended, false);
    if (r->config->telemetry)
        telemetry_begin();
    run_watchdog_begin(r);
    r->control.stats_from = run_now();
    r->control.stats_due = r->control.stats_from + STATS_INTERVAL_NS;
    if (pthread_attr_init(&attr))
        abort();
    pthread_attr_setaffinity_np(&attr, sizeof set, &set);
    const int rc = pthread_create(&r->control.thread, &attr, control, r);
    if (rc == 0)
        pthread_setname_np(r->control.thread, "control"); // for top -H and its kind
    pthread_attr_destroy(&attr);
    snprintf(sentence, sizeof sentence, "cannot start the control thread: %s", strerror(rc));
    return rc == 0 || run_say(sentence);
}

void run_control_end(struct run *r) {
    telemetry_end();
    atomic_store(&r->control.ended, true);
    pthread_join(r->control.thread, NULL);
}
