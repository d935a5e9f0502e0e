// SPDX-License-Identifier: Apache-2.0
#include <getopt.h>
#include <inttypes.h>
#include <libgen.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "control/file.h"
#include "control/idle.h"
#include "control/socket.h"
#include "control/tm.h"
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
    "  --cpu N         run on this processor only\n"
    "  --memory MIB    memory for packet buffers of ports (256)\n"
    "  --verbose       show what DPDK has to say\n";

enum { STATS = 256, CPU, MEMORY, VERBOSE, CHECKED, TRACE };

static const struct option options[] = {
    {"help", no_argument, NULL, 'h'},          {"stats", no_argument, NULL, STATS},
    {"cpu", required_argument, NULL, CPU},     {"memory", required_argument, NULL, MEMORY},
    {"verbose", no_argument, NULL, VERBOSE},   {"checked", no_argument, NULL, CHECKED},
    {"trace", optional_argument, NULL, TRACE}, {NULL, 0, NULL, 0},
};

// Empty polls until the loop gives its turn away, and until it sleeps: a switch shares its
// processor with hosts on small machines, and answers within microseconds on large ones.
#define SPIN_POLLS  200u
#define YIELD_POLLS 400u
#define SLEEP_US    50

#define CONTROL_INTERVAL_NS UINT64_C(1000000)
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
    bool stats, checked, trace;
    enum sk_trace_form trace_form;
    struct sk_violations *violations;
    struct sk_tracer *tracer;
    uint64_t control_due, stats_due, stats_from, idle_due;
    struct sk_digest_reader digests;
    uint64_t digests_lost; // told to the listeners
    struct sk_switch_stats last;
};

static volatile sig_atomic_t stopped;

static void stop(int signal_number) {
    (void)signal_number;
    stopped = 1;
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
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
    const struct sk_switch_options opt = {
        .tx = tx, .aux = r, .packet_bytes = SK_PORTS_FRAME, .cpu_port = r->config->cpu_port};
    r->sw = sk_switch_new(r->program, &opt, error, sizeof error);
    if (!r->sw)
        return say(error);
    observe(r);
    sk_switch_run(r->sw, now_ns()); // entries begin to age
    return sk_config_apply(r->config, r->sw, &err) == 0 || say(err.text);
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
        specs[i] = (struct sk_port_spec){c->ports[i].port, c->ports[i].device, c->ports[i].mtu};
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
}

// ---- what is printed ----

static void print_start(const struct run *r) {
    const struct sk_config *c = r->config;
    printf("program %s\n", sk_switch_program(r->sw)->path);
    for (size_t i = 0; i < c->n_ports; i++)
        printf("port %3u  %s%s%s\n", c->ports[i].port, c->ports[i].device,
               c->ports[i].name ? "  " : "", c->ports[i].name ? c->ports[i].name : "");
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
    sk_switch_stats(r->sw, &s);
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

static void print_end(const struct run *r) {
    struct sk_switch_stats s;
    sk_switch_stats(r->sw, &s);
    printf("received %" PRIu64 " + copies %" PRIu64, s.rx_packets, s.copies);
    if (s.generated)
        printf(" + generated %" PRIu64, s.generated);
    printf(" = sent %" PRIu64 " + dropped %" PRIu64, s.tx_packets, all_drops(&s));
    uint64_t waiting =
        s.rx_packets + s.copies + s.generated - s.tx_packets - all_drops(&s); // in queues of ports
    if (waiting)
        printf(" + waiting %" PRIu64, waiting);
    putchar('\n');
    for (int i = 0; i < SK_DROP_COUNT; i++)
        if (s.drops[i] > 0)
            printf("  %-40s %" PRIu64 "\n", sk_drop_text((enum sk_drop_reason)i), s.drops[i]);
    if (r->violations)
        sk_violations_each(r->violations, print_violation, NULL);
}

// ---- running ----

static bool link_of(const void *aux, uint16_t port) {
    return sk_ports_link(aux, port);
}

static void publish(void *aux, const struct sk_idle_event *event) {
    sk_server_publish(aux, sk_idle_event_json(event));
}

static void look_for_idle(struct run *r, uint64_t now) {
    if (now < r->idle_due || !sk_server_has_listeners(r->server))
        return;
    sk_control_idle_poll(r->sw, publish, r->server);
    r->idle_due = now + IDLE_INTERVAL_NS;
}

// To all that listen to events; those that come while nobody does are gone.
static void publish_digests(struct run *r) {
    struct sk_digest d;
    if (!sk_server_has_listeners(r->server)) {
        sk_digest_reader_init(r->sw, &r->digests);
        return;
    }
    for (unsigned i = 0; i < DIGESTS_AT_ONCE && sk_digest_read(r->sw, &r->digests, &d); i++)
        sk_server_publish(r->server, sk_digest_json(&d));
    if (r->digests.lost > r->digests_lost)
        sk_server_publish(r->server, json_pack("{s:s, s:I}", "event", "digest", "lost",
                                               (json_int_t)r->digests.lost));
    r->digests_lost = r->digests.lost;
}

static void look_aside(struct run *r, uint64_t now) {
    if (r->server && now >= r->control_due) {
        sk_switch_run(r->sw, now); // its clock goes on without packets
        const struct sk_service service = {
            .sw = r->sw, .now = now, .config = r->config, .link = link_of, .aux = r->ports};
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

static void loop(struct run *r) {
    unsigned empty = 0;
    uint64_t now = now_ns();
    r->stats_from = now;
    r->stats_due = now + STATS_INTERVAL_NS;
    while (!stopped) {
        now = now_ns();
        empty = sk_ports_poll(r->ports, now) > 0 ? 0 : empty + 1;
        look_aside(r, now);
        if (empty > YIELD_POLLS)
            usleep(SLEEP_US);
        else if (empty > SPIN_POLLS)
            sched_yield();
    }
}

static bool start(struct run *r) {
    // ports last: peers take an open port for a switch that is ready
    return load_config(r) && load_program(r) && make_switch(r) && open_socket(r) && open_ports(r);
}

static int run(struct run *r) {
    catch_signals();
    setvbuf(stdout, NULL, _IOLBF, 0);
    bool started = start(r);
    if (started) {
        print_start(r);
        loop(r);
    }
    sk_server_close(r->server);
    sk_ports_close(r->ports);
    if (started)
        print_end(r);
    sk_switch_free(r->sw);
    sk_tracer_free(r->tracer);
    sk_violations_free(r->violations);
    sk_program_free(r->program);
    sk_config_free(r->config);
    return started ? EXIT_GOOD : EXIT_UNUSABLE;
}

static bool number(const char *text, long max, long *out) {
    char *end;
    *out = strtol(text, &end, 10);
    return *text && !*end && *out >= 0 && *out <= max;
}

int cmd_run(int argc, char **argv) {
    struct run r = {.stats = isatty(STDOUT_FILENO), .port_options.cpu = -1};
    long n = 0;
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":hc:", options, NULL)) != -1;) {
        if (c == '?' || c == ':')
            return cli_bad_option("run", c, argv);
        if (c == 'h') {
            fputs(usage, stdout);
            return EXIT_GOOD;
        }
        if ((c == CPU || c == MEMORY) && !number(optarg, c == CPU ? 1023 : 1 << 20, &n))
            return cli_misused("run", "'%s' is no usable number", optarg);
        if (c == 'c')
            r.config_path = optarg;
        r.stats |= c == STATS;
        r.trace |= c == TRACE;
        r.checked |= c == CHECKED || c == TRACE;
        if (c == TRACE && !cli_trace_form(optarg, &r.trace_form))
            return cli_misused("run", "the forms of a trace are text and json, not '%s'", optarg);
        r.port_options.verbose |= c == VERBOSE;
        if (c == CPU)
            r.port_options.cpu = (int)n;
        if (c == MEMORY)
            r.port_options.memory = (uint32_t)n;
    }
    if (optind != argc)
        return cli_misused("run", "there is nothing to do with '%s'", argv[optind]);
    if (!r.config_path)
        return cli_misused("run", "a configuration is missing (-c FILE)");
    return run(&r);
}
