// SPDX-License-Identifier: Apache-2.0
#include "cli/run/run.h"

#include <libgen.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "base/file.h"
#include "base/random.h"
#include "control/socket/recording.h"
#include "control/tor/log.h"
#include "pipeline/switch/core.h"

static uint64_t clock_offset;

void run_clock_start(void) {
    clock_offset = sk_clock_wall() - sk_clock_now();
}

uint64_t run_now(void) {
    return sk_clock_now() + clock_offset;
}

bool run_say(const char *sentence) {
    fprintf(stderr, "silken run: %s\n", sentence);
    return false;
}

struct sk_config *run_read_config(const struct run *r, struct sk_error *err) {
    size_t length;
    char *text = r->config ? sk_read_regular_file(r->opt.config_path, &length, err)
                           : sk_read_file(r->opt.config_path, &length, err);
    struct sk_config *c = text ? sk_config_parse(r->opt.config_path, text, length, err) : NULL;
    free(text);
    return c;
}

static bool run_start_load_config(struct run *r) {
    struct sk_error err;
    r->config = run_read_config(r, &err);
    return r->config || run_say(err.text);
}

char *run_beside_config(const struct run *r, const char *path) {
    char *config = strdup(r->opt.config_path), *joined = NULL;
    if (!config || asprintf(&joined, "%s%s%s", path[0] == '/' ? "" : dirname(config),
                            path[0] == '/' ? "" : "/", path) < 0)
        abort();
    free(config);
    return joined;
}

static bool load_program(struct run *r) {
    struct sk_program *parts[SK_PIPES];
    struct sk_error err;
    size_t n = 0;
    bool good = true;
    r->source = run_source_new(r, r->config, NULL);
    for (struct run_source *s = r->source; s && good; s = run_source_next(s)) {
        struct compile_options opt = *run_source_options(s);
        opt.checked = r->opt.checked;
        opt.colour = cli_in_colour(STDERR_FILENO);
        struct run_description description;
        parts[n] = run_compile_now(r, &opt, &description);
        run_source_describe(s, description);
        good = parts[n] != NULL;
        n += good;
    }
    if (good && !(r->program = run_source_join(r->source, parts, &err))) {
        sk_error_prefix(&err, "%s: programs", r->opt.config_path);
        run_say(err.text);
    }
    while (!r->program && n > 0)
        sk_program_free(parts[--n]);
    return r->program;
}

static bool run_start_tx(void *aux, uint16_t dev_port, const uint8_t *frame, uint32_t length) {
    return sk_ports_tx(((struct run *)aux)->ports, dev_port, frame, length);
}

static void observe(struct run *r) {
    if (!r->opt.checked)
        return;
    r->violations = sk_violations_new(stderr);
    if (!r->violations)
        abort();
    struct sk_observer *o = sk_violations_observer(r->violations);
    if (r->opt.trace && (r->tracer = sk_tracer_new(stdout, r->opt.trace_form, o)))
        o = sk_tracer_observer(r->tracer);
    sk_core_observe(sk_switch_core(r->sw, 0), o);
}

static bool run_start_make_switch(struct run *r) {
    char error[256];
    struct sk_error err;
    struct sk_switch_options opt = {.tx = run_start_tx,
                                    .aux = r,
                                    .packet_bytes = SK_PORTS_FRAME,
                                    .single_packets = r->opt.strict,
                                    .n_cores = r->opt.n_lcores};
    r->hash_secret = opt.hash_secret = sk_random_secret();
    for (unsigned i = 0; i < SK_PIPES; i++)
        opt.core_of[i] = (uint8_t)(i % r->opt.n_lcores);
    r->sw = sk_switch_new(r->program, &opt, error, sizeof error);
    if (!r->sw)
        return run_say(error);
    observe(r);
    r->recording = sk_recording_new(r->sw);
    r->configured_at = run_now();
    sk_core_run(sk_switch_core(r->sw, 0), r->configured_at); // entries begin to age
    return sk_config_apply(r->config, r->sw, &err) == 0 || run_say(err.text);
}

// Whether the kernel lets this process run on all processors that were named.
static bool may_run_on(const int *cpus, size_t n) {
    cpu_set_t set;
    char all[160] = "";
    if (sched_getaffinity(0, sizeof set, &set))
        return true; // more processors than the set has room for
    for (size_t i = 0; i < n; i++) {
        if (cpus[i] < 0 || (cpus[i] < CPU_SETSIZE && CPU_ISSET((unsigned)cpus[i], &set)))
            continue;
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
            const size_t used = strlen(all);
            if (CPU_ISSET((unsigned)cpu, &set) && used + 8 < sizeof all)
                snprintf(all + used, sizeof all - used, "%s%d", used ? ", " : "", cpu);
        }
        fprintf(stderr,
                "silken run: this process cannot use processor %d (\"cpus\"); it can use: %s\n",
                cpus[i], all);
        return false;
    }
    return true;
}

// What the command line says goes before the configuration.
static bool plan_lcores(struct run *r) {
    const struct sk_config *c = r->config;
    unsigned wanted = r->opt.n_lcores ? r->opt.n_lcores : c->lcores;
    r->opt.n_lcores = r->opt.checked ? 1 : wanted;
    if (r->opt.n_lcores > c->pipes)
        return run_say("there are more lcores than pipes to run on them (\"pipes\")");
    if (r->opt.n_lcores < wanted)
        fprintf(stderr, "silken run: the checked build runs on one lcore\n");
    if (r->opt.n_cpus == 0 && (c->n_cpus == 1 || c->n_cpus == r->opt.n_lcores)) {
        r->opt.n_cpus = c->n_cpus;
        memcpy(r->opt.cpus, c->cpus, c->n_cpus * sizeof *c->cpus);
    }
    if (r->opt.n_cpus > 1 && r->opt.n_cpus != r->opt.n_lcores)
        return run_say("name one processor for all lcores, or one for each");
    for (size_t i = r->opt.n_cpus; r->opt.n_cpus == 1 && i < SK_PIPES; i++)
        r->opt.cpus[i] = r->opt.cpus[0];
    if (!may_run_on(r->opt.cpus, r->opt.n_cpus))
        return false;
    r->opt.idle_sleep_us =
        r->opt.idle_sleep_us >= 0 ? r->opt.idle_sleep_us : (long)c->idle_sleep_us;
    return true;
}

static bool open_socket(struct run *r) {
    struct sk_error err;
    if (!r->config->control_socket)
        return true;
    char *path = run_beside_config(r, r->config->control_socket);
    r->server = sk_server_open(path, &err);
    free(path);
    return r->server || run_say(err.text);
}

// ---- lcores ----

// An lcore does not sleep when something is about to happen by itself.
static bool run_start_turn(void *aux, unsigned lcore) {
    struct run *r = aux;
    uint64_t now = run_now();
    bool worked = sk_ports_poll(r->ports, lcore, now) > 0;
    return worked || sk_core_next(sk_switch_core(r->sw, lcore), true) <=
                         now + (uint64_t)r->opt.idle_sleep_us * 1000;
}

static bool run_start_enter(void *aux, unsigned lcore) {
    (void)aux;
    (void)lcore;
    return sk_ports_enter();
}
static void run_start_leave(void *aux, unsigned lcore) {
    (void)aux;
    (void)lcore;
    sk_ports_leave();
}

static bool make_lcores(struct run *r) {
    char error[256];
    const struct sk_lcores_options opt = {.n = r->opt.n_lcores,
                                          .cpus = r->opt.n_cpus ? r->opt.cpus : NULL,
                                          .idle_sleep_us = (uint32_t)r->opt.idle_sleep_us,
                                          .turn = run_start_turn,
                                          .enter = run_start_enter,
                                          .leave = run_start_leave,
                                          .aux = r};
    r->lcores = sk_lcores_new(&opt, error, sizeof error);
    return r->lcores || run_say(error);
}

// ---- the whole ----

// Looks whether the switch can record itself, or begins to. A file of the command line is relative
// to here.
static bool run_start_record(struct run *r, bool begin) {
    struct sk_error err;
    const struct sk_config *c = r->config;
    if (!c->record.file && !r->opt.record_path)
        return true;
    if (c->n_programs)
        return run_say("a recording is of a switch with one program");
    char *path =
        r->opt.record_path ? strdup(r->opt.record_path) : run_beside_config(r, c->record.file);
    char *program = run_beside_config(r, c->program);
    if (begin)
        r->record =
            run_record_start(r->recording, c, path, program, r->configured_at, r->journal, &err);
    const bool good = begin ? r->record != NULL
                            : run_record_check(c, path, r->opt.config_path, program, &err) == 0;
    free(path);
    free(program);
    return good || run_say(err.text);
}

static bool open_log(struct run *r) {
    struct sk_error err;
    const struct sk_config_daemon *d = &r->config->daemon;
    for (size_t i = 0; i < d->n_log; i++)
        if (tor_log_set(d->log[i], &err))
            return run_say(err.text);
    if (r->opt.log && tor_log_set(r->opt.log, &err))
        return run_say(err.text);
    if (!d->log_socket)
        return true;
    char *path = run_beside_config(r, d->log_socket);
    r->log = tor_log_open(path, &err);
    free(path);
    return r->log || run_say(err.text);
}

bool run_start(struct run *r) {
    // ports last: peers take an open port for a switch that is ready; but for the recording, whose
    // files take the place of older ones
    return run_start_load_config(r) && plan_lcores(r) && run_start_record(r, false) &&
           load_program(r) && run_start_make_switch(r) && open_socket(r) && run_watch_start(r) &&
           run_page_start(r) && run_open_ports(r) && run_sample_start(r) && open_log(r) &&
           run_tor_start(r) && run_jobs_start(r) && run_published_start(r) &&
           run_sessions_start(r) && run_libra_start(r) && run_brt_start(r) && run_p4rt_start(r) &&
           make_lcores(r) && run_service_start(r) && run_start_record(r, true);
}
