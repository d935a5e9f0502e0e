// SPDX-License-Identifier: Apache-2.0
#include <getopt.h>
#include <inttypes.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/run_record.h"
#include "control/file.h"
#include "control/idle.h"
#include "control/recording.h"
#include "control/socket.h"
#include "control/tm.h"
#include "pipeline/lcores.h"
#include "pipeline/ports.h"
#include "pipeline/tracer.h"
#include "pipeline/violations.h"

static const char usage[] =
    "usage: silken run [OPTION]... -c CONFIG.json\n\n"
    "Runs a P4 program as a switch on the ports of a configuration file until it is interrupted.\n"
    "Prints 'ready' when packets flow, and at the end where each received packet went.\n\n"
    "  -c FILE         the configuration (program, ports, tables, multicast groups, ...)\n"
    "  --checked       run the checked build: what the program should not do is reported on "
    "standard\n"
    "                  error, once per place, and counted at the end; it is several times slower\n"
    "  --trace[=json]  --checked, and print the way of every packet; for tests, not for traffic\n"
    "  --stats         print packet rates every second also when standard output is no terminal\n"
    "  --lcores N      threads that the pipes run on, 1 to 4; pipe P on thread P modulo N\n"
    "  --cpu N[,N]...  run on this processor only; several: one for each thread\n"
    "  --idle-sleep US a thread without packets sleeps so many microseconds at a time (50); 0: it "
    "keeps\n"
    "                  its processor\n"
    "  --memory MIB    memory for packet buffers of ports (what they need, at least 256)\n"
    "  --record FILE   record what ports receive and send, from the first packet on, into a "
    "pcapng;\n"
    "                  FILE.config.json beside it has what 'silken replay --config' needs\n"
    "  --verbose       show what DPDK has to say\n";

enum { STATS = 256, CPU, MEMORY, VERBOSE, CHECKED, TRACE, LCORES, IDLE_SLEEP, RECORD };

static const struct option options[] = {
    {"help", no_argument, NULL, 'h'},
    {"stats", no_argument, NULL, STATS},
    {"cpu", required_argument, NULL, CPU},
    {"memory", required_argument, NULL, MEMORY},
    {"verbose", no_argument, NULL, VERBOSE},
    {"checked", no_argument, NULL, CHECKED},
    {"trace", optional_argument, NULL, TRACE},
    {"lcores", required_argument, NULL, LCORES},
    {"idle-sleep", required_argument, NULL, IDLE_SLEEP},
    {"record", required_argument, NULL, RECORD},
    {NULL, 0, NULL, 0},
};

#define CONTROL_INTERVAL_NS UINT64_C(1000000)
#define LINKS_INTERVAL_NS   UINT64_C(10000000)
#define IDLE_INTERVAL_NS    UINT64_C(100000000)
#define DIGESTS_AT_ONCE     256u
#define STATS_INTERVAL_NS   UINT64_C(1000000000)

struct run {
    const char *config_path;
    struct sk_config *config;
    struct sk_program *program;
    struct sk_switch *sw;
    struct sk_ports *ports;
    struct sk_server *server;
    struct sk_ports_options port_options;
    struct sk_lcores *lcores;
    struct sk_recording *recording;
    struct run_record *record;
    const char *record_path; // of the command line, or null
    uint64_t configured_at;
    unsigned n_lcores; // 0 until it is known
    int cpus[SK_PIPES];
    size_t n_cpus;
    long idle_sleep_us; // -1: as the configuration has it
    bool stats, checked, trace;
    enum sk_trace_form trace_form;
    struct sk_violations *violations;
    struct sk_tracer *tracer;
    uint64_t control_due, stats_due, stats_from, idle_due, links_due;
    struct sk_digest_reader digests;
    uint64_t digests_lost; // told to the listeners
    struct sk_switch_stats last;
};

static volatile sig_atomic_t stopped;

static void stop(int signal_number) {
    (void)signal_number;
    stopped = 1;
}

static uint64_t clock_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// The switch's clock: the time of day when it was started, and from there on without any jumps, so that
// captures of it have dates and a replay of them has the same times.
static uint64_t clock_offset;

static uint64_t now_ns(void) {
    return clock_ns(CLOCK_MONOTONIC) + clock_offset;
}

static bool say(const char *sentence) {
    fprintf(stderr, "silken run: %s\n", sentence);
    return false;
}

// ---- starting ----

static bool load_config(struct run *r) {
    struct sk_error err;
    size_t length;
    char *text = sk_read_file(r->config_path, &length, &err);
    if (text)
        r->config = sk_config_parse(r->config_path, text, length, &err);
    free(text);
    return r->config || say(err.text);
}

// Paths in the file are relative to it.
static char *beside_config(const struct run *r, const char *path) {
    char *config = strdup(r->config_path), *joined = NULL;
    if (!config || asprintf(&joined, "%s%s%s", path[0] == '/' ? "" : dirname(config),
                            path[0] == '/' ? "" : "/", path) < 0)
        abort();
    free(config);
    return joined;
}

static bool load_program(struct run *r) {
    const struct sk_config *c = r->config;
    char *path = beside_config(r, c->program);
    struct cli_list includes = {0};
    for (size_t i = 0; i < c->n_include; i++)
        cli_push(&includes, beside_config(r, c->include[i]));
    struct compile_options opt = {.path = path,
                                  .include_dirs = includes.items,
                                  .n_include_dirs = includes.n,
                                  .defines = c->define,
                                  .n_defines = c->n_define,
                                  .checked = r->checked,
                                  .colour = isatty(STDERR_FILENO)};
    r->program = cli_load_program(&opt);
    for (size_t i = 0; i < includes.n; i++)
        free((char *)includes.items[i]);
    free(includes.items);
    free(path);
    return r->program;
}

static bool tx(void *aux, uint16_t dev_port, const uint8_t *frame, uint32_t length) {
    return sk_ports_tx(((struct run *)aux)->ports, dev_port, frame, length);
}

static void observe(struct run *r) {
    if (!r->checked)
        return;
    r->violations = sk_violations_new(stderr);
    if (!r->violations)
        abort();
    struct sk_observer *o = sk_violations_observer(r->violations);
    if (r->trace && (r->tracer = sk_tracer_new(stdout, r->trace_form, o)))
        o = sk_tracer_observer(r->tracer);
    sk_switch_observe(r->sw, o);
}

static bool make_switch(struct run *r) {
    char error[256];
    struct sk_error err;
    struct sk_switch_options opt = {
        .tx = tx, .aux = r, .packet_bytes = SK_PORTS_FRAME, .n_cores = r->n_lcores};
    for (unsigned i = 0; i < SK_PIPES; i++)
        opt.core_of[i] = (uint8_t)(i % r->n_lcores);
    r->sw = sk_switch_new(r->program, &opt, error, sizeof error);
    if (!r->sw)
        return say(error);
    observe(r);
    r->recording = sk_recording_new(r->sw);
    r->configured_at = now_ns();
    sk_switch_run(r->sw, r->configured_at); // entries begin to age
    return sk_config_apply(r->config, r->sw, &err) == 0 || say(err.text);
}

// What the command line says goes before the configuration.
static bool plan_lcores(struct run *r) {
    const struct sk_config *c = r->config;
    unsigned wanted = r->n_lcores ? r->n_lcores : c->lcores;
    r->n_lcores = r->checked ? 1 : wanted;
    if (r->n_lcores > c->pipes)
        return say("there are more lcores than pipes to run on them (\"pipes\")");
    if (r->n_lcores < wanted)
        fprintf(stderr, "silken run: the checked build runs on one lcore\n");
    if (r->n_cpus == 0 && (c->n_cpus == 1 || c->n_cpus == r->n_lcores)) {
        r->n_cpus = c->n_cpus;
        memcpy(r->cpus, c->cpus, c->n_cpus * sizeof *c->cpus);
    }
    if (r->n_cpus > 1 && r->n_cpus != r->n_lcores)
        return say("give one processor for all lcores, or one for each");
    for (size_t i = r->n_cpus; r->n_cpus == 1 && i < SK_PIPES; i++)
        r->cpus[i] = r->cpus[0];
    r->idle_sleep_us = r->idle_sleep_us >= 0 ? r->idle_sleep_us : (long)c->idle_sleep_us;
    return true;
}

static bool open_socket(struct run *r) {
    struct sk_error err;
    if (!r->config->control_socket)
        return true;
    char *path = beside_config(r, r->config->control_socket);
    r->server = sk_server_open(path, &err);
    free(path);
    return r->server || say(err.text);
}

static bool open_ports(struct run *r) {
    char error[512];
    const struct sk_config *c = r->config;
    struct sk_port_spec *specs = calloc(c->n_ports + 1, sizeof *specs);
    if (!specs)
        abort();
    for (size_t i = 0; i < c->n_ports; i++)
        specs[i] = (struct sk_port_spec){.dev_port = c->ports[i].port,
                                         .device = c->ports[i].device,
                                         .mtu = c->ports[i].mtu,
                                         .queues = c->ports[i].queues,
                                         .not_promiscuous = c->ports[i].not_promiscuous};
    r->port_options.cpu = r->n_cpus == 1 ? r->cpus[0] : -1;
    r->ports = sk_ports_open(specs, c->n_ports, &r->port_options, error, sizeof error);
    free(specs);
    if (!r->ports)
        return say(error);
    sk_ports_attach(r->ports, r->sw);
    return true;
}

static void catch_signals(void) {
    const struct sigaction action = {.sa_handler = stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    // a peer that goes away (of vhost, of the control socket) is no reason to end
    signal(SIGPIPE, SIG_IGN);
}

// ---- what is printed ----

static void print_start(const struct run *r) {
    const struct sk_config *c = r->config;
    printf("program %s\n", sk_switch_program(r->sw)->path);
    for (size_t i = 0; i < c->n_ports; i++)
        printf("port %3u  %s%s%s\n", c->ports[i].port, c->ports[i].device,
               c->ports[i].name ? "  " : "", c->ports[i].name ? c->ports[i].name : "");
    if (r->n_lcores > 1)
        for (unsigned i = 0; i < c->pipes; i++)
            printf("pipe %u    lcore %u\n", i, sk_switch_core_of(r->sw, i));
    if (c->control_socket)
        printf("control socket %s\n", c->control_socket);
    puts("ready");
}

static uint64_t all_drops(const struct sk_switch_stats *s) {
    uint64_t n = 0;
    for (int i = 0; i < SK_DROP_COUNT; i++)
        n += s->drops[i];
    return n;
}

static void print_rates(struct run *r, uint64_t now) {
    struct sk_switch_stats s;
    sk_lcores_pause(r->lcores);
    sk_switch_stats(r->sw, &s);
    sk_lcores_resume(r->lcores);
    double seconds = (double)(now - r->stats_from) / 1e9;
    printf("received %9.0f/s  sent %9.0f/s  recirculated %9.0f/s  dropped %9.0f/s\n",
           (double)(s.rx_packets - r->last.rx_packets) / seconds,
           (double)(s.tx_packets - r->last.tx_packets) / seconds,
           (double)(s.recirculated - r->last.recirculated) / seconds,
           (double)(all_drops(&s) - all_drops(&r->last)) / seconds);
    r->last = s;
    r->stats_from = now;
}

static bool print_violation(void *aux, const struct sk_violation_view *v) {
    (void)aux;
    printf("checked: %s:%u:%u: %s %s: %" PRIu64 " times, first in packet %" PRIu64 "\n",
           v->at ? v->at->file : "?", v->at ? v->at->line : 0, v->at ? v->at->column : 0, v->name,
           sk_violation_word(v->violation), v->count, v->first_packet);
    return true;
}

// False when a packet or a buffer is missing: a fault of ours or of a driver.
static bool print_end(const struct run *r, uint32_t lost_buffers) {
    struct sk_switch_stats s;
    sk_switch_stats(r->sw, &s);
    uint64_t in = s.rx_packets + s.copies + s.generated, out = s.tx_packets + all_drops(&s);
    printf("received %" PRIu64 " + copies %" PRIu64, s.rx_packets, s.copies);
    if (s.generated)
        printf(" + generated %" PRIu64, s.generated);
    printf(" = sent %" PRIu64 " + dropped %" PRIu64, s.tx_packets, all_drops(&s));
    putchar('\n');
    for (int i = 0; i < SK_DROP_COUNT; i++)
        if (s.drops[i] > 0)
            printf("  %-40s %" PRIu64 "\n", sk_drop_text((enum sk_drop_reason)i), s.drops[i]);
    if (r->violations)
        sk_violations_each(r->violations, print_violation, NULL);
    uint32_t inside = sk_switch_inside(r->sw);
    if (in != out || inside > 0)
        fprintf(stderr,
                "silken run: fault: %" PRIu64 " packets in and %" PRIu64 " out, %u still inside\n",
                in, out, inside);
    if (lost_buffers > 0)
        fprintf(stderr, "silken run: fault: %u packet buffers of ports did not come back\n",
                lost_buffers);
    return in == out && inside == 0 && lost_buffers == 0;
}

// ---- running ----

static bool device_of(void *aux, uint16_t port, struct sk_port_device *out) {
    const struct run *r = aux;
    return sk_ports_device(r->ports, port, out);
}
static void pause_lcores(void *aux) {
    sk_lcores_pause(((struct run *)aux)->lcores);
}
static void resume_lcores(void *aux) {
    sk_lcores_resume(((struct run *)aux)->lcores);
}

static void publish(void *aux, const struct sk_idle_event *event) {
    sk_server_publish(aux, sk_idle_event_json(event));
}

static void look_for_idle(struct run *r, uint64_t now) {
    if (now < r->idle_due || !sk_server_has_listeners(r->server))
        return;
    sk_lcores_pause(r->lcores);
    sk_control_idle_poll(r->sw, publish, r->server);
    sk_lcores_resume(r->lcores);
    r->idle_due = now + IDLE_INTERVAL_NS;
}

// To all that listen to events; those that come while nobody does are gone.
static void publish_digests(struct run *r) {
    struct sk_digest d;
    if (!sk_digest_waits(r->sw, &r->digests))
        return;
    if (!sk_server_has_listeners(r->server)) {
        sk_digest_reader_init(r->sw, &r->digests);
        return;
    }
    sk_lcores_pause(r->lcores);
    for (unsigned i = 0; i < DIGESTS_AT_ONCE && sk_digest_read(r->sw, &r->digests, &d); i++)
        sk_server_publish(r->server, sk_digest_json(&d));
    sk_lcores_resume(r->lcores);
    if (r->digests.lost > r->digests_lost)
        sk_server_publish(r->server, json_pack("{s:s, s:I}", "event", "digest", "lost",
                                               (json_int_t)r->digests.lost));
    r->digests_lost = r->digests.lost;
}

static void follow_record(struct run *r) {
    if (!run_record_failed(r->record))
        return;
    sk_lcores_pause(r->lcores);
    sk_recording_own_stop(r->recording);
    sk_lcores_resume(r->lcores);
}

static void follow_links(struct run *r, uint64_t now) {
    if (now < r->links_due)
        return;
    r->links_due = now + LINKS_INTERVAL_NS;
    follow_record(r);
    if (!sk_ports_links_changed(r->ports))
        return;
    sk_lcores_pause(r->lcores);
    sk_ports_follow_links(r->ports);
    sk_lcores_resume(r->lcores);
}

static void look_aside(struct run *r, uint64_t now) {
    follow_links(r, now);
    if (r->server && now >= r->control_due) {
        const struct sk_service service = {.sw = r->sw,
                                           .now = now,
                                           .config = r->config,
                                           .recording = r->recording,
                                           .device = device_of,
                                           .pause = pause_lcores,
                                           .resume = resume_lcores,
                                           .aux = r};
        sk_server_poll(r->server, &service);
        look_for_idle(r, now);
        publish_digests(r);
        r->control_due = now + CONTROL_INTERVAL_NS;
    }
    if (r->stats && now >= r->stats_due) {
        print_rates(r, now);
        r->stats_due = now + STATS_INTERVAL_NS;
    }
}

// An lcore does not sleep when something is about to happen by itself.
static bool turn(void *aux, unsigned lcore) {
    struct run *r = aux;
    uint64_t now = now_ns();
    bool worked = sk_ports_poll(r->ports, lcore, now) > 0;
    if (lcore == 0) {
        look_aside(r, now);
        if (stopped)
            sk_lcores_stop(r->lcores);
    }
    return worked || sk_switch_next(sk_switch_core(r->sw, lcore), true) <=
                         now + (uint64_t)r->idle_sleep_us * 1000;
}

static bool enter(void *aux, unsigned lcore) {
    (void)aux;
    (void)lcore;
    return sk_ports_enter();
}
static void leave(void *aux, unsigned lcore) {
    (void)aux;
    (void)lcore;
    sk_ports_leave();
}

static bool make_lcores(struct run *r) {
    char error[256];
    const struct sk_lcores_options opt = {.n = r->n_lcores,
                                          .cpus = r->n_cpus ? r->cpus : NULL,
                                          .idle_sleep_us = (uint32_t)r->idle_sleep_us,
                                          .turn = turn,
                                          .enter = enter,
                                          .leave = leave,
                                          .aux = r};
    r->lcores = sk_lcores_new(&opt, error, sizeof error);
    return r->lcores || say(error);
}

static bool loop(struct run *r) {
    char error[256];
    r->stats_from = now_ns();
    r->stats_due = r->stats_from + STATS_INTERVAL_NS;
    bool good = sk_lcores_run(r->lcores, error, sizeof error) || say(error);
    sk_switch_stop(r->sw, now_ns());
    return good;
}

// Looks whether the switch can record itself, or begins to. A file of the command line is relative to
// here.
static bool record(struct run *r, bool begin) {
    struct sk_error err;
    const struct sk_config *c = r->config;
    if (!c->record.file && !r->record_path)
        return true;
    char *path = r->record_path ? strdup(r->record_path) : beside_config(r, c->record.file);
    char *program = beside_config(r, c->program);
    if (begin)
        r->record = run_record_start(r->recording, c, path, program, r->configured_at, &err);
    const bool good =
        begin ? r->record != NULL : run_record_check(c, path, r->config_path, program, &err) == 0;
    free(path);
    free(program);
    return good || say(err.text);
}

static bool start(struct run *r) {
    // ports last: peers take an open port for a switch that is ready; but for the recording, whose
    // files take the place of older ones
    return load_config(r) && plan_lcores(r) && record(r, false) && load_program(r) &&
           make_switch(r) && open_socket(r) && open_ports(r) && make_lcores(r) && record(r, true);
}

static int run(struct run *r) {
    clock_offset = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
    catch_signals();
    setvbuf(stdout, NULL, _IOLBF, 0);
    bool started = start(r);
    int status = started ? EXIT_GOOD : EXIT_UNUSABLE;
    if (started) {
        print_start(r);
        status = loop(r) ? EXIT_GOOD : EXIT_UNUSABLE;
    }
    if (r->recording)
        sk_recording_own_stop(r->recording);
    run_record_end(r->record);
    sk_server_close(r->server);
    uint32_t lost = sk_ports_close(r->ports);
    if (started && !print_end(r, lost))
        status = EXIT_FAILED;
    sk_lcores_free(r->lcores);
    sk_recording_free(r->recording);
    sk_switch_free(r->sw);
    sk_tracer_free(r->tracer);
    sk_violations_free(r->violations);
    sk_program_free(r->program);
    sk_config_free(r->config);
    return status;
}

static bool number(const char *text, long max, long *out) {
    char *end;
    *out = strtol(text, &end, 10);
    return *text && !*end && *out >= 0 && *out <= max;
}

// N or N,N,...: at most one for each pipe.
static bool cpus(struct run *r, const char *text) {
    for (;; text++) {
        char *end;
        long n = strtol(text, &end, 10);
        if (r->n_cpus == SK_PIPES || end == text || n < 0 || n > (long)SK_MAX_CPU)
            return false;
        r->cpus[r->n_cpus++] = (int)n;
        if (*end != ',')
            return !*end;
        text = end;
    }
}

static long most(int option) {
    return option == MEMORY ? 1 << 20 : option == LCORES ? (long)SK_PIPES : 1000000;
}

int cmd_run(int argc, char **argv) {
    struct run r = {.stats = isatty(STDOUT_FILENO), .port_options.cpu = -1, .idle_sleep_us = -1};
    long n = 0;
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":hc:", options, NULL)) != -1;) {
        if (c == '?' || c == ':')
            return cli_bad_option("run", c, argv);
        if (c == 'h') {
            fputs(usage, stdout);
            return EXIT_GOOD;
        }
        bool numbers = c == MEMORY || c == LCORES || c == IDLE_SLEEP;
        if ((c == CPU && !cpus(&r, optarg)) || (numbers && !number(optarg, most(c), &n)) ||
            (c == LCORES && n == 0))
            return cli_misused("run", "'%s' is no usable number", optarg);
        if (c == 'c')
            r.config_path = optarg;
        r.stats |= c == STATS;
        r.trace |= c == TRACE;
        r.checked |= c == CHECKED || c == TRACE;
        if (c == TRACE && !cli_trace_form(optarg, &r.trace_form))
            return cli_misused("run", "the forms of a trace are text and json, not '%s'", optarg);
        r.port_options.verbose |= c == VERBOSE;
        if (c == RECORD)
            r.record_path = optarg;
        if (c == LCORES)
            r.n_lcores = (unsigned)n;
        if (c == IDLE_SLEEP)
            r.idle_sleep_us = n;
        if (c == MEMORY)
            r.port_options.memory = (uint32_t)n;
    }
    if (optind != argc)
        return cli_misused("run", "there is nothing to do with '%s'", argv[optind]);
    if (!r.config_path)
        return cli_misused("run", "a configuration is missing (-c FILE)");
    return run(&r);
}
